//! What happens when a step fails or takes long.

use super::types::may_be_absent;
use super::value::Builder;
use crate::ast::Given;
use crate::ast::{Amount, Catch, Optional, Policy, Step, Value};
use crate::names::Source;
use crate::parse::value_text;
use plan_graph::LONGEST_WAIT;
use proc_macro2::TokenStream;
use quote::quote;

impl Builder<'_> {
    /// Writes the policy of the step at this place, and checks its fallback.
    pub(super) fn policy(&mut self, policy: &Policy, step: usize) {
        if let Some(attempts) = policy.count(Amount::Attempts) {
            self.data.tag('a').number(attempts);
        }
        // Who asks for a long first wait does not ask for a shorter one.
        let backoff = policy.time(Amount::Backoff);
        let longer = backoff.filter(|backoff| *backoff > LONGEST_WAIT);
        for (tag, duration) in [
            ('b', backoff),
            ('m', policy.time(Amount::Max).or(longer)),
            ('t', policy.time(Amount::Timeout)),
            ('d', policy.time(Amount::Deadline)),
        ] {
            if let Some(duration) = duration {
                self.data.tag(tag).duration(duration);
            }
        }
        if let Some(jitter) = policy.jitter {
            self.data.tag('j').tag(if jitter { '1' } else { '0' });
        }
        match policy.optional {
            Optional::No => &mut *self.data,
            Optional::Whole => self.data.tag('w'),
            Optional::Each(_) => self.data.tag('e'),
        };
        match policy.catch {
            Catch::No => &mut *self.data,
            Catch::Whole(_) => self.data.tag('C'),
            Catch::Each => self.data.tag('E'),
        };
        let mut amounts: Vec<_> = policy.amounts.iter().collect();
        amounts.sort_by_key(|(amount, _)| *amount);
        for (amount, given) in amounts {
            if let Given::Value(value) = given {
                self.amount(*amount, value);
            }
        }
        if let Some((at, fallback)) = &policy.fallback {
            self.data.tag('f');
            let check = self.value(fallback);
            let mut ty = self.cx.type_of(Source::Step(step));
            ty.set_span(*at);
            self.bindings.extend(quote!(let _ = || -> #ty { #check };));
        }
        if let Some(concurrency) = policy.count(Amount::Concurrency) {
            self.data.tag('c').number(concurrency);
        }
        if let Some(at_most) = policy.count(Amount::AtMost) {
            self.data.tag('l').number(at_most);
        }
        if let Some(every) = policy.time(Amount::Every) {
            self.data.tag('y').duration(every);
        }
        if policy.collect.is_some() {
            self.data.tag('k');
        }
        self.data.tag(';');
    }
}

impl Builder<'_> {
    /// Writes an amount that is not a literal: a constant of the program, or what reads inputs.
    fn amount(&mut self, amount: Amount, value: &Value) {
        let ty = match amount {
            Amount::Attempts | Amount::AtMost => quote!(::core::primitive::u32),
            Amount::Concurrency => quote!(::core::primitive::usize),
            Amount::Backoff | Amount::Max | Amount::Timeout | Amount::Deadline | Amount::Every => {
                quote!(::core::time::Duration)
            }
        };
        match value {
            Value::Broken => {}
            Value::Computed(computed) if computed.names.is_empty() && !computed.asks => {
                let expr = &computed.expr;
                let made = match amount {
                    Amount::Attempts | Amount::AtMost => quote!(Count(|| {
                        let count: #ty = #expr;
                        count as ::core::primitive::usize
                    })),
                    Amount::Concurrency => quote!(Count(|| -> #ty { #expr })),
                    _ => quote!(Time(|| -> #ty { #expr })),
                };
                self.data.tag('N').number(amount as usize);
                self.data.text(&value_text(&computed.written));
                let constant = self.constant(quote!(__plan::Constant::#made));
                self.data.number(constant);
            }
            value => {
                self.data.tag('G').number(amount as usize);
                let check = self.value(value);
                self.bindings.extend(quote!(let _ = || -> #ty { #check };));
            }
        }
    }
}

/// Whether the output of the step is an `Option` or a `Result` because of its policy.
pub(super) fn wraps(step: &Step) -> bool {
    is_caught(step) || is_optional(step)
}

fn is_caught(step: &Step) -> bool {
    matches!(step.policy.catch, Catch::Whole(_))
}

fn is_optional(step: &Step) -> bool {
    matches!(step.policy.optional, Optional::Whole)
        && step.policy.fallback.is_none()
        && !may_be_absent(&step.body)
}

/// Wraps a type as the step's policy does.
pub(super) fn with_policy(ty: TokenStream, step: &Step) -> TokenStream {
    if is_caught(step) {
        quote!(__plan::Caught<#ty>)
    } else if is_optional(step) {
        quote!(::core::option::Option<#ty>)
    } else {
        ty
    }
}
