//! Warnings about effects that do not wait for a check.
//!
//! A *check* is a step whose output nothing uses, and whose failure fails the plan. An *effect* is a later step that
//! may run although the check fails. The macro finds the pairs of such steps. Only rustc can tell tools with effects
//! from tools without. The expansion therefore contains a `const` of type `bool` for each pair. If the `const` is
//! `true`, a path leads to a deprecated constant, so rustc warns. Otherwise, the path leads to a normal constant.

use super::Context;
use super::lints::{numbered, used};
use super::tokens::located;
use super::types::Tool;
use crate::ast::{Body, Extent, Role, Step, Value};
use crate::docs::text_of;
use crate::names::Source;
use crate::parse::tidy;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;

/// The most pairs in a plan that rustc examines. Without a limit, the expansion would grow with the square of the
/// steps.
const MOST_PAIRS: usize = 32;
/// The largest number of checks that one warning names. If an effect has more candidates, each check has a warning of its own.
const MOST_TOGETHER: usize = 3;

/// The code that lets rustc warn.
#[derive(Default)]
pub(super) struct Warnings {
    /// The deprecated constants, for an `impl` of the plan's struct.
    pub(super) constants: TokenStream,
    /// The code that uses these constants.
    pub(super) uses: TokenStream,
}

impl Warnings {
    /// Returns the code for the steps of a plan, whose struct has the name `plan`.
    pub(super) fn new(cx: &Context<'_>, plan: &Ident) -> Self {
        let mut warnings = Self::default();
        if cx.error.is_some() {
            return warnings;
        }
        let mut search = Search {
            cx,
            used: used(cx),
            pairs: Vec::new(),
        };
        for (scope, steps, _) in cx.names.scopes() {
            search.scope(steps, scope);
        }
        search.pairs.truncate(MOST_PAIRS);
        for (number, pair) in search.pairs.iter().enumerate() {
            let (name, holds) = (holds_name(number), search.holds(pair));
            warnings
                .uses
                .extend(quote!(const #name: ::core::primitive::bool = #holds;));
        }
        let mut ordered = TokenStream::new();
        let listed = listed(&search.pairs);
        for (index, (effect, checks, holds)) in listed.iter().enumerate() {
            let at = effect.name.span();
            let (name, note) = (
                numbered("UNORDERED_EFFECT", index, at),
                note(effect, checks),
            );
            let plan = located(plan.clone(), at);
            warnings.constants.extend(
                quote!(#[allow(dead_code)] #[deprecated(note = #note)] const #name: () = ();),
            );
            ordered.extend(quote!(const #name: () = ();));
            warnings.uses.extend(quote_spanned! {at=>
                const _: () = <<__plan::Select<{ #holds }> as __plan::Selected<#plan, __PlanOrdered>>::Type>::#name;
            });
        }
        if !listed.is_empty() {
            let uses = &mut warnings.uses;
            uses.extend(quote!(struct __PlanOrdered; impl __PlanOrdered { #ordered }));
        }
        warnings
    }
}

/// An effect that does not wait for a check.
struct Pair<'p> {
    effect: &'p Step,
    /// The index of the effect in its scope.
    place: usize,
    check: &'p Step,
    /// The numbers of the pairs with this check whose effects run before this effect. One warning covers all of these
    /// pairs.
    before: Vec<usize>,
}

/// The search for pairs in all scopes of a plan.
struct Search<'p> {
    cx: &'p Context<'p>,
    used: BTreeSet<Source>,
    pairs: Vec<Pair<'p>>,
}

impl<'p> Search<'p> {
    fn is_used(&self, step: &Step) -> bool {
        self.used.contains(&self.cx.names.source(step))
    }

    /// Adds the pairs of the steps of a scope.
    fn scope(&mut self, steps: &'p [Step], scope: usize) {
        let graph = self.cx.graphs.of(scope);
        let first = self.pairs.len();
        // No step waits for a check, because nothing uses the check. A check may need a later step.
        let mut checks: Vec<(&Step, Vec<bool>)> = Vec::new();
        for (place, step) in steps.iter().enumerate() {
            if self.pairs.len() > MOST_PAIRS {
                return;
            }
            let is_work = matches!(step.role, Role::Work);
            let has_effects = is_work && !called(step, self.cx).is_empty();
            for (check, needs) in checks.iter().filter(|_| has_effects) {
                if needs[place] {
                    continue;
                }
                let others = self.pairs.iter().enumerate().skip(first);
                let before = others.filter(|(_, other)| {
                    std::ptr::eq(other.check, *check) && graph.reached(place)[other.place]
                });
                self.pairs.push(Pair {
                    effect: step,
                    place,
                    check,
                    before: before.map(|(number, _)| number).collect(),
                });
            }
            // As in Rust, the underscore marks an output that has no use on purpose.
            let is_unused = !self.is_used(step) && !text_of(&step.name).starts_with('_');
            if is_unused && may_fail(step, self.cx) {
                checks.push((step, graph.reached(place)));
            }
        }
    }

    /// Returns the condition for rustc under which a pair is worth a warning.
    fn holds(&self, pair: &Pair<'_>) -> TokenStream {
        let effect = called(pair.effect, self.cx);
        let check = called(pair.check, self.cx);
        let before = pair.before.iter().map(|&number| holds_name(number));
        quote!((false #(|| __plan::may_change::<#effect>())*) #(&& !__plan::may_change::<#check>())* #(&& !#before)*)
    }
}

/// Returns each warning: the effect, its checks, and the condition. At most one of the warnings about up to [`MOST_TOGETHER`] checks holds.
fn listed<'p>(pairs: &[Pair<'p>]) -> Vec<(&'p Step, Vec<&'p Step>, TokenStream)> {
    let mut listed = Vec::new();
    let mut first = 0;
    for group in pairs.chunk_by(|one, other| std::ptr::eq(one.effect, other.effect)) {
        let own: Vec<Ident> = (first..first + group.len()).map(holds_name).collect();
        first += group.len();
        // Each bit stands for a check that the warning names.
        let masks: Vec<u64> = if group.len() <= MOST_TOGETHER {
            (1..1 << group.len()).rev().collect()
        } else {
            (0..group.len()).map(|place| 1 << place).collect()
        };
        for mask in masks {
            let is_named = |place: &usize| mask >> place & 1 == 1;
            let named = (0..group.len()).filter(is_named);
            let holds = named.clone().map(|place| &own[place]);
            let others =
                (0..group.len()).filter(|place| group.len() <= MOST_TOGETHER && !is_named(place));
            let others = others.map(|place| &own[place]);
            let condition = quote!(true #(&& #holds)* #(&& !#others)*);
            let checks = named.map(|place| group[place].check).collect();
            listed.push((group[0].effect, checks, condition));
        }
    }
    listed
}

fn holds_name(number: usize) -> Ident {
    format_ident!("__PLAN_UNORDERED_{number}")
}

/// Returns the message of a warning.
fn note(effect: &Step, checks: &[&Step]) -> String {
    let names: Vec<String> = checks.iter().map(|check| text_of(&check.name)).collect();
    let fails = format!("`{}` fails", names.join("` or `"));
    let after = format!("#[after({})]", names.join(", "));
    if !effect.is_tail {
        let name = text_of(&effect.name);
        return format!("`{name}` may run even if {fails}: write `{after}`");
    }
    match &effect.body {
        Body::Call(literal) => {
            let tool = tidy(&literal.path);
            format!(
                "`{tool}` may run even if {fails}: write `{after} step done = {tool} …;`, then `done`"
            )
        }
        _ => format!(
            "the end of this block may run even if {fails}: write `{after} step done = …;`, then `done`"
        ),
    }
}

/// Returns `true` if a failure in the step fails the steps around it.
fn may_fail(step: &Step, cx: &Context<'_>) -> bool {
    let policy = &step.policy;
    let is_kept = [policy.optional, policy.catch] == [Extent::Nothing; 2];
    let may_fail_itself = |body: &Body| match body {
        Body::Compute(Value::Computed(computed)) => cx.names.names_in(computed).asks,
        Body::Block(block) => block.steps.iter().any(|step| may_fail(step, cx)),
        Body::Loop(repeat) => repeat.round.steps.iter().any(|step| may_fail(step, cx)),
        Body::Compute(_) | Body::If(_) | Body::For(_) | Body::Broken(_) => false,
        _ => true,
    };
    is_kept
        && policy.fallback.is_none()
        && matches!(step.role, Role::Work)
        && step.body.any(may_fail_itself)
}

/// Returns the types of the tools that a step calls, including tools in its blocks.
fn called(step: &Step, cx: &Context<'_>) -> Vec<TokenStream> {
    let own = cx.tools[cx.names.number(step)]
        .iter()
        .map(|Tool { arguments, .. }| {
            let at = arguments.span();
            quote_spanned!(at=> <#arguments as __plan::IsTool>::Itself)
        });
    let mut tools: Vec<TokenStream> = own.collect();
    step.body.blocks(&mut |block| {
        tools.extend(block.steps.iter().flat_map(|step| called(step, cx)));
    });
    tools
}
