//! The policy of a step: attempts, limits, failures, elements and rounds.

use super::Value;
use humantime::format_duration;
pub(crate) use plan_graph::Amount;
use plan_graph::{StepAttribute, policy_attributes};
use proc_macro2::Span;
use std::time::Duration;

#[derive(Default)]
pub(crate) struct Policy {
    /// The attributes with their spans.
    pub(crate) places: Vec<(StepAttribute, Span)>,
    /// The amounts, in source order.
    pub(crate) amounts: Vec<(Amount, Given)>,
    pub(crate) jitter: Option<bool>,
    pub(crate) optional: Extent,
    pub(crate) catch: Extent,
    pub(crate) fallback: Option<Box<Value>>,
}

/// A number or a time in an attribute.
pub(crate) enum Given {
    Count(Span, usize),
    Time(Span, Duration),
    Value(Box<Value>),
}

/// The part of a step whose failures an attribute makes values.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Extent {
    #[default]
    Nothing,
    /// `#[optional]`, `#[catch]`
    Whole,
    /// `#[optional(each)]`, `#[catch(each)]`
    Each,
}

impl Policy {
    /// Returns the span of an attribute.
    pub(crate) fn place(&self, attribute: StepAttribute) -> Option<Span> {
        let mut places = self.places.iter();
        places.find_map(|(known, place)| (*known == attribute).then_some(*place))
    }

    /// Returns `true` if the output is an `Option` because of `#[optional]`.
    pub(crate) fn is_optional(&self) -> bool {
        self.optional == Extent::Whole && self.fallback.is_none()
    }

    /// Returns `true` if a loop returns the values of all rounds.
    pub(crate) fn collects(&self) -> bool {
        self.place(StepAttribute::Collect).is_some()
    }

    pub(crate) fn given(&self, amount: Amount) -> Option<&Given> {
        let mut amounts = self.amounts.iter();
        amounts.find_map(|(known, given)| (*known == amount).then_some(given))
    }

    /// Returns a literal time.
    pub(crate) fn time(&self, amount: Amount) -> Option<Duration> {
        match self.given(amount)? {
            Given::Time(_, time) => Some(*time),
            _ => None,
        }
    }

    /// Returns the attributes as source code. `text` writes a value.
    pub(crate) fn attributes(&self, text: impl Fn(&Value) -> String) -> Vec<String> {
        let covers = |extent| match extent {
            Extent::Nothing => None,
            Extent::Whole => Some(String::new()),
            Extent::Each => Some("each".to_owned()),
        };
        policy_attributes(|attribute, amount| match (attribute, amount) {
            (_, Some(amount)) => Some(match self.given(amount)? {
                Given::Count(_, count) => count.to_string(),
                Given::Time(_, time) => format!("\"{}\"", format_duration(*time)),
                Given::Value(value) => text(value),
            }),
            (StepAttribute::Retry, None) => {
                (self.jitter == Some(false)).then(|| "false".to_owned())
            }
            (StepAttribute::Collect, None) => self.collects().then(String::new),
            (StepAttribute::Optional, None) => covers(self.optional),
            (StepAttribute::Catch, None) => covers(self.catch),
            (StepAttribute::Fallback, None) => self.fallback.as_deref().map(&text),
            (_, None) => None,
        })
    }
}
