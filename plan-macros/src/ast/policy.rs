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
    pub(crate) optional: Optional,
    pub(crate) catch: Catch,
    pub(crate) fallback: Option<(Span, Box<Value>)>,
    /// The span of `#[collect]`.
    pub(crate) collect: Option<Span>,
}

/// A number or a time in an attribute.
pub(crate) enum Given {
    Count(Span, usize),
    Time(Span, Duration),
    Value(Box<Value>),
}

#[derive(Default)]
pub(crate) enum Optional {
    #[default]
    No,
    /// `#[optional]`
    Whole,
    /// `#[optional(each)]` and its span.
    Each(Span),
}

#[derive(Clone, Copy, Default)]
pub(crate) enum Catch {
    #[default]
    No,
    /// `#[catch]` with its span.
    Whole(Span),
    /// `#[catch(each)]`
    Each,
}

impl Policy {
    /// Returns the span of an attribute.
    pub(crate) fn place(&self, attribute: StepAttribute) -> Option<Span> {
        let mut places = self.places.iter();
        places.find_map(|(known, place)| (*known == attribute).then_some(*place))
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
        let each = || Some("each".to_owned());
        policy_attributes(|attribute, amount| match (attribute, amount) {
            (_, Some(amount)) => Some(match self.given(amount)? {
                Given::Count(_, count) => count.to_string(),
                Given::Time(_, time) => format!("\"{}\"", format_duration(*time)),
                Given::Value(value) => text(value),
            }),
            (StepAttribute::Retry, None) => {
                (self.jitter == Some(false)).then(|| "false".to_owned())
            }
            (StepAttribute::Collect, None) => self.collect.map(|_| String::new()),
            (StepAttribute::Optional, None) => match self.optional {
                Optional::No => None,
                Optional::Whole => Some(String::new()),
                Optional::Each(_) => each(),
            },
            (StepAttribute::Catch, None) => match self.catch {
                Catch::No => None,
                Catch::Whole(_) => Some(String::new()),
                Catch::Each => each(),
            },
            (StepAttribute::Fallback, None) => self.fallback.as_ref().map(|(_, value)| text(value)),
            (_, None) => None,
        })
    }
}
