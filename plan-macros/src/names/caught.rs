//! Steps whose failures are values: a reference says which of the two it means.

use crate::ast::{Body, Catch, Computed, Hop, Plan, Reference, Step};
use crate::docs::text_of;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Ident, Member};

/// The steps whose output is a `Result`, each with the number of lists around it.
pub(super) struct CaughtSteps(HashMap<String, usize>);

impl CaughtSteps {
    pub(super) fn of(plan: &Plan) -> Self {
        let steps = plan.steps.iter();
        let caught = steps.filter_map(|step| Some((text_of(&step.name), lists(step)?)));
        Self(caught.collect())
    }

    /// What is wrong with a reference that leads into a `Result`, and where.
    pub(super) fn mistake(&self, reference: &Reference) -> Option<(Span, String)> {
        let lists = *self.0.get(&text_of(&reference.root))?;
        let is_list = |hop: &Hop| matches!(hop, Hop::Index(..) | Hop::Each(_));
        if !reference.hops.get(..lists)?.iter().all(is_list) {
            return None;
        }
        let hop = reference.hops.get(lists)?;
        if matches!(hop, Hop::Optional(_) | Hop::Outcome(..)) {
            return None;
        }
        let at = match hop {
            Hop::Field(_, Member::Named(name)) => name.span(),
            Hop::Field(_, member) => member.span(),
            Hop::Index(bracket, _) | Hop::Key(bracket, _) | Hop::Each(bracket) => {
                bracket.span.join()
            }
            Hop::Get(_, method, _) | Hop::Pointer(_, method, _) => method.span(),
            Hop::Optional(_) | Hop::Outcome(..) => return None,
        };
        let (before, whole) = (reference.written_to(lists), reference.written());
        let rest = &whole[before.len()..];
        let message = format!(
            "`{before}` may have failed: it is a `Result`\n\
             help: write `{before}?{rest}`, which fails if `{before}` did, or `{before}.ok()?{rest}`, which is optional"
        );
        Some((at, message))
    }

    /// The same in Rust code.
    pub(super) fn mistake_in(&self, computed: &Computed) -> Option<(Span, String)> {
        let is_caught = |name: &Ident| self.0.get(&text_of(name)) == Some(&0);
        let is_local = |name: &Ident| computed.locals.iter().any(|(local, _)| local == name);
        let mut fields = computed.fields.iter();
        let (name, member) = fields.find(|(name, _)| is_caught(name) && !is_local(name))?;
        let (name, field) = (text_of(name), member.to_token_stream());
        let message = format!(
            "`{name}` may have failed: it is a `Result`\n\
             help: look which it is: `match &{name} {{ Ok(it) => it.{field}, Err(failure) => … }}`, or pass `{name}?.{field}` to a tool"
        );
        Some((member.span(), message))
    }
}

/// How many lists are around the `Result` that a step gives, if it gives one.
fn lists(step: &Step) -> Option<usize> {
    match step.policy.catch {
        Catch::No => None,
        Catch::Whole => Some(0),
        Catch::Each(_) => Some(depth(&step.body)),
    }
}

fn depth(body: &Body) -> usize {
    match body {
        Body::For(repeat) => 1 + depth(&repeat.body),
        _ => 0,
    }
}
