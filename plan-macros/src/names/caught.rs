//! Steps whose failures are values: a reference says which of the two it means.

use crate::ast::{Body, Catch, Computed, Hop, Plan, Reference, Role, Step};
use crate::docs::text_of;
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Ident, Member};

/// The steps whose output is a `Result`, each with the number of lists around it.
pub(super) struct CaughtSteps {
    caught: HashMap<String, usize>,
    /// All steps that are work: what always runs sees `Result`s of them.
    work: HashSet<String>,
}

impl CaughtSteps {
    pub(super) fn of(plan: &Plan) -> Self {
        let steps = plan.steps.iter();
        let caught = steps.filter_map(|step| Some((text_of(&step.name), lists(step)?)));
        let steps = plan.steps.iter();
        let is_work = |step: &&Step| !matches!(step.role, Role::Undo(_));
        let has_always = |step: &Step| matches!(step.role, Role::Always);
        Self {
            caught: caught.collect(),
            work: if plan.steps.iter().any(has_always) {
                let work = steps.filter(is_work);
                work.map(|step| text_of(&step.name)).collect()
            } else {
                HashSet::new()
            },
        }
    }

    /// How many lists are around the `Result` that a step is, for a step with this role, if it is one.
    fn lists(&self, name: &Ident, role: &Role) -> Option<usize> {
        let text = text_of(name);
        match role {
            Role::Always if self.work.contains(&text) => Some(0),
            Role::Undo(undone) if text_of(undone) == text => {
                // It sees what the call gave.
                self.caught.get(&text).copied().filter(|lists| *lists > 0)
            }
            _ => self.caught.get(&text).copied(),
        }
    }

    /// What is wrong with a reference that leads into a `Result`, and where.
    pub(super) fn mistake(&self, reference: &Reference, role: &Role) -> Option<(Span, String)> {
        let lists = self.lists(&reference.root, role)?;
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
    pub(super) fn mistake_in(&self, computed: &Computed, role: &Role) -> Option<(Span, String)> {
        let is_caught = |name: &Ident| self.lists(name, role) == Some(0);
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
