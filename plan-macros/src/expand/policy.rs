//! The settings of a step for failures and times.

use super::builder::{Builder, Lowered};
use crate::ast::{Amount, Extent, Given, Policy, Step, Value};
use crate::names::ComputedNames;
use crate::parse::value_text;
use plan_graph::notation::{Ended, SettingData};
use plan_graph::{LONGEST_WAIT, StepAttribute};
use proc_macro2::{Span, TokenStream};
use quote::quote;

/// Lowers the policy of a step.
pub(super) fn lower(step: &Step, builder: &mut Builder<'_>) -> Ended<SettingData<String>> {
    let policy = &step.policy;
    let mut settings = Vec::from_iter(fixed(policy).into_iter().flatten());
    // A longer first wait needs a longer limit for all waits.
    let longer = policy.time(Amount::Backoff).filter(|it| *it > LONGEST_WAIT);
    let longer = longer.filter(|_| policy.time(Amount::Max).is_none());
    settings.extend(longer.map(|wait| SettingData::Time(Amount::Max, wait)));
    let mut amounts: Vec<_> = policy.amounts.iter().collect();
    amounts.sort_by_key(|(amount, _)| *amount);
    for (amount, given) in amounts {
        settings.extend(match given {
            Given::Count(_, count) => Some(SettingData::Count(*amount, *count)),
            Given::Time(_, time) => Some(SettingData::Time(*amount, *time)),
            Given::Value(value) => self::amount(*amount, value, builder),
        });
    }
    if let (Some(fallback), Some(at)) = (&policy.fallback, policy.place(StepAttribute::Fallback)) {
        let Lowered { check, data } = builder.value(fallback);
        let mut ty = builder.cx.type_of(builder.cx.names.source(step));
        ty.set_span(at);
        builder.check_type(Span::call_site(), ty, check);
        settings.push(SettingData::Fallback(data));
    }
    Ended(settings)
}

/// Returns the settings without a value.
fn fixed(policy: &Policy) -> [Option<SettingData<String>>; 4] {
    [
        policy.jitter.map(SettingData::Jitter),
        match policy.optional {
            Extent::Nothing => None,
            Extent::Whole => Some(SettingData::Optional),
            Extent::Each => Some(SettingData::OptionalEach),
        },
        match policy.catch {
            Extent::Nothing => None,
            Extent::Whole => Some(SettingData::Catch),
            Extent::Each => Some(SettingData::CatchEach),
        },
        policy.collects().then_some(SettingData::Collect),
    ]
}

/// Lowers an amount that is not a literal: a constant of the program, or an expression that reads inputs.
fn amount(amount: Amount, value: &Value, builder: &mut Builder<'_>) -> Option<SettingData<String>> {
    let ty = match amount {
        Amount::Attempts | Amount::AtMost => quote!(::core::primitive::u32),
        Amount::Concurrency => quote!(::core::primitive::usize),
        Amount::Backoff | Amount::Max | Amount::Timeout | Amount::Deadline | Amount::Every => {
            quote!(::core::time::Duration)
        }
    };
    let names = builder.cx.names;
    let is_constant = |computed| {
        let ComputedNames { sources, asks, .. } = names.names_in(computed);
        sources.is_empty() && !asks
    };
    match names.value(value) {
        Value::Broken => None,
        Value::Computed(computed) if is_constant(computed) => {
            let expr = names.expr(computed);
            let made = match amount {
                Amount::Attempts | Amount::AtMost => quote!(Count(|| {
                    let count: #ty = #expr;
                    count as ::core::primitive::usize
                })),
                Amount::Concurrency => quote!(Count(|| -> #ty { #expr })),
                _ => quote!(Time(|| -> #ty { #expr })),
            };
            let constant = builder.constant(quote!(__plan::Constant::#made));
            let written = value_text(&computed.written);
            Some(SettingData::Constant(amount, written, constant))
        }
        value => {
            let Lowered { check, data } = builder.value(value);
            builder.check_type(Span::call_site(), ty, check);
            Some(SettingData::Given(amount, data))
        }
    }
}

/// Returns `true` if the policy of the step makes its output an `Option` or a `Result`.
pub(super) fn wraps(step: &Step) -> bool {
    is_caught(step) || is_optional(step)
}

fn is_caught(step: &Step) -> bool {
    step.policy.catch == Extent::Whole
}

fn is_optional(step: &Step) -> bool {
    step.policy.is_optional() && !step.body.may_be_absent()
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
