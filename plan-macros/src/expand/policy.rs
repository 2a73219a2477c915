//! What happens when a step fails or takes long.

use super::Context;
use super::types::may_be_absent;
use super::value::{Builder, Expanded};
use crate::ast::{Optional, Policy, Step};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::time::Duration;

impl Context<'_> {
    /// The policy of a step as data, with the check of its fallback.
    pub(super) fn policy(
        &self,
        policy: &Policy,
        ty: &Ident,
        builder: &mut Builder<'_>,
    ) -> TokenStream {
        let mut fields = Vec::new();
        if let Some(attempts) = policy.attempts {
            fields.push(quote!(attempts: #attempts));
        }
        if let Some(backoff) = policy.backoff {
            let backoff = duration(backoff);
            fields.push(quote!(backoff: #backoff));
        }
        // Who asks for a long first wait does not ask for a shorter one.
        let longer = policy.backoff.filter(|backoff| *backoff > LONGEST_WAIT);
        if let Some(max) = policy.max.or(longer) {
            let max = duration(max);
            fields.push(quote!(max: #max));
        }
        if let Some(jitter) = policy.jitter {
            fields.push(quote!(jitter: #jitter));
        }
        for (name, limit) in [("timeout", policy.timeout), ("deadline", policy.deadline)] {
            if let Some(limit) = limit {
                let (name, limit) = (Ident::new(name, Span::call_site()), duration(limit));
                fields.push(quote!(#name: ::core::option::Option::Some(#limit)));
            }
        }
        match policy.optional {
            Optional::No => {}
            Optional::Whole => fields.push(quote!(optional: __plan::Optional::Whole)),
            Optional::Each(_) => fields.push(quote!(optional: __plan::Optional::Each)),
        }
        if let Some((at, fallback)) = &policy.fallback {
            let Expanded { check, data } = builder.value(fallback);
            let mut ty = ty.clone();
            ty.set_span(*at);
            builder
                .bindings
                .extend(quote!(let _ = || -> #ty { #check };));
            fields.push(quote!(fallback: ::core::option::Option::Some(#data)));
        }
        if let Some((_, concurrency)) = policy.concurrency {
            fields.push(quote!(concurrency: ::core::option::Option::Some(#concurrency)));
        }
        if fields.is_empty() {
            quote!(__plan::NO_POLICY)
        } else {
            quote!(__plan::Shared::Static(&__plan::Policy { #(#fields,)* ..__plan::Policy::DEFAULT }))
        }
    }
}

/// The longest wait between attempts where nothing else is said, as `Policy::DEFAULT` has it.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

fn duration(duration: Duration) -> TokenStream {
    let (seconds, nanoseconds) = (duration.as_secs(), duration.subsec_nanos());
    quote!(__plan::Duration::new(#seconds, #nanoseconds))
}

/// Whether the output of the step is that of its one action, whatever happens.
pub(super) fn is_plain(step: &Step) -> bool {
    matches!(step.policy.optional, Optional::No) && step.policy.fallback.is_none()
}

/// Wraps a type as the step's policy does.
pub(super) fn with_policy(ty: TokenStream, step: &Step) -> TokenStream {
    match &step.policy.optional {
        Optional::Whole if step.policy.fallback.is_none() && !may_be_absent(&step.body) => {
            quote!(::core::option::Option<#ty>)
        }
        _ => ty,
    }
}
