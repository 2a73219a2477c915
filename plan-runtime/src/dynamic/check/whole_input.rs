//! The check of the values of inputs before a run, at the arguments that the run certainly passes them to.

use super::checked_value::CheckedValue;
use super::value::{ValueCheck, subject};
use crate::dynamic::Contracts;
use crate::dynamic::schema::{Presence, Property, Type, Types, Work};
use crate::plan::{Action, Body, Catch, Key, Optional, Plan, Role, Source, Step, Template};
use crate::resolve::describe::short;
use serde_json::Value;
use std::collections::BTreeMap;

/// A value with the index of its input in the whole plan.
pub(in crate::dynamic) type Whole<'v> = Option<(usize, &'v Value)>;

/// The errors of inputs, by their indices.
type Unfit = BTreeMap<usize, String>;

/// Returns the inputs whose values an argument does not accept, with the errors. An error contains no values, because a value may be secret.
pub(in crate::dynamic) fn unfit(plan: &Plan, given: &[Whole<'_>], contracts: &Contracts) -> Unfit {
    let unfit = Unfit::new();
    let mut uses = Uses { contracts, unfit };
    uses.plan(plan, given);
    uses.unfit
}

struct Uses<'c> {
    contracts: &'c Contracts,
    unfit: Unfit,
}

impl Uses<'_> {
    fn plan(&mut self, plan: &Plan, given: &[Whole<'_>]) {
        if given.iter().any(Option::is_some) {
            let steps = plan.steps.iter().filter(|it| is_certain(it));
            steps.for_each(|step| self.body(&step.body, given));
        }
    }

    /// A body in a branch or for an element may not run, so only other bodies are compared.
    fn body(&mut self, body: &Body, given: &[Whole<'_>]) {
        let (block, last) = match body {
            Body::Action(action) => return self.action(action, given),
            Body::Block(block) => (&**block, false),
            Body::Loop(repeat) => (&repeat.round, repeat.last),
            Body::If(_) | Body::For(_) | Body::Await(_) => return,
        };
        let reads = block.reads().unwrap_or_default().into_iter();
        let reads = reads.map(|(_, template)| whole(template, given));
        let mut reads: Vec<_> = reads.collect();
        if let (true, Some(first)) = (last, reads.first_mut()) {
            *first = None;
        }
        self.plan(&block.plan, &reads);
    }

    /// Compares the inputs that are whole arguments. The call itself checks all other parts of its arguments.
    fn action(&mut self, action: &Action, given: &[Whole<'_>]) {
        let Template::Object(entries) = &action.args else {
            return;
        };
        // A merged part may replace a named member.
        if entries.iter().any(|it| it.key == Key::Flattened) {
            return;
        }
        let tool = action.tool.as_ref();
        let contract = tool.and_then(|tool| self.contracts.get(&tool.name));
        let Some((contract, schema)) = contract.and_then(|it| Some((it, it.arguments.as_ref()?)))
        else {
            return;
        };
        let work = Work::for_values(1);
        let takes = Type::of(schema, &work);
        let forms = takes.forms().iter();
        let forms: Vec<_> = forms
            .filter(|it| it.types().overlaps(Types::OBJECT))
            .collect();
        let [form] = forms[..] else { return };
        for entry in entries {
            if let Key::Name(name) = &entry.key
                && let Some((input, value)) = whole(&entry.value, given)
                && !(value.is_null() && form.presence(name) != Presence::Sure)
                && let Property::Type(member) = form.property(name)
                && let Some(why) = wrong(&contract.name, value, &member, &work)
            {
                let place = subject(name);
                let tool = short(&contract.name);
                let why = || format!("{why} ({place} of `{tool}`)");
                self.unfit.entry(input).or_insert_with(why);
            }
        }
    }
}

/// Returns the reason why a value does not fit.
fn wrong(tool: &str, value: &Value, takes: &Type<'_>, work: &Work) -> Option<String> {
    let mut fit = ValueCheck::new(tool, 0..0, false, work);
    let problems = fit.in_call(CheckedValue::Json(value), takes).ok()?;
    if problems.is_empty() {
        return None;
    }
    let given = Types::of(value);
    let forms = takes.forms().iter();
    let forms: Vec<_> = forms.filter(|it| it.types().overlaps(given)).collect();
    let mut bounds = forms.iter().map(|it| it.bound(value));
    Some(match bounds.next().flatten() {
        _ if forms.is_empty() => format!("is {}, but must be {}", given.words(), takes.words()),
        Some(bound) if bounds.next().is_none() => bound,
        _ if forms.iter().all(|it| it.counts()) => {
            format!("must be one of {}", fit.allowed(&forms))
        }
        _ => "does not fit".to_owned(),
    })
}

/// Returns `true` if the step runs, and its failure fails the plan.
fn is_certain(step: &Step) -> bool {
    let policy = &step.policy;
    let fails =
        policy.optional == Optional::No && policy.catch == Catch::No && policy.fallback.is_none();
    fails && !matches!(step.role, Role::Undo(_))
}

/// Returns the value of a reference to a whole input.
fn whole<'v>(template: &Template, given: &[Whole<'v>]) -> Whole<'v> {
    let Template::Reference(reference) = template else {
        return None;
    };
    match reference.source {
        Source::Input(index) if reference.is_whole() => *given.get(index)?,
        _ => None,
    }
}
