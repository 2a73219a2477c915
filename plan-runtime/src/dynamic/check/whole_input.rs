//! The check of the values of inputs before a run, at the arguments that the run certainly passes them to.

use super::checked_value::CheckedValue;
use super::value::{ValueCheck, subject};
use crate::dynamic::Contracts;
use crate::dynamic::schema::{Element, Presence, Property, Type, Types, Work};
use crate::plan::{
    Action, Body, Catch, Key, Optional, Plan, Role, Source, Step, Template, push_key,
};
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

    fn action(&mut self, action: &Action, given: &[Whole<'_>]) {
        let mut has_whole = false;
        action
            .args
            .each(&mut |it| has_whole |= whole(it, given).is_some());
        let tool = action.tool.as_ref().filter(|_| has_whole);
        let contract = tool.and_then(|tool| self.contracts.get(&tool.name));
        if let Some(contract) = contract
            && let Some(schema) = &contract.arguments
        {
            let work = Work::for_values(1);
            let takes = Type::of(schema, &work);
            let mut call = Call {
                tool: &contract.name,
                given,
                place: String::new(),
                work: &work,
            };
            call.value(&action.args, &takes, &mut self.unfit);
        }
    }
}

/// The walk through the arguments of one call.
struct Call<'c> {
    tool: &'c str,
    given: &'c [Whole<'c>],
    place: String,
    work: &'c Work,
}

impl Call<'_> {
    /// Compares the inputs in a value. The parts of a value of several forms are not compared.
    fn value(&mut self, template: &Template, takes: &Type<'_>, unfit: &mut Unfit) {
        let only = |kind| {
            let mut forms = takes.forms().iter().filter(|it| it.types().overlaps(kind));
            forms.next().filter(|_| forms.next().is_none())
        };
        match template {
            // The call itself names the parts of whole arguments that do not fit.
            Template::Reference(_) if self.place.is_empty() => {}
            Template::Reference(_) => {
                if let Some((input, value)) = whole(template, self.given)
                    && !unfit.contains_key(&input)
                    && let Some(wrong) = self.wrong(value, takes)
                {
                    unfit.insert(input, wrong);
                }
            }
            Template::List(items) => {
                let Some(form) = only(Types::LIST) else {
                    return;
                };
                for (index, item) in items.iter().enumerate() {
                    if let Element::Type(element) = form.element(Some(index)) {
                        self.within(&format!("[{index}]"), |it| it.value(item, &element, unfit));
                    }
                }
            }
            Template::Object(entries) => {
                let Some(form) = only(Types::OBJECT) else {
                    return;
                };
                // A merged part may replace a named member.
                if entries.iter().any(|it| it.key == Key::Flattened) {
                    return;
                }
                for entry in entries {
                    let Key::Name(name) = &entry.key else { return };
                    let Property::Type(member) = form.property(name) else {
                        continue;
                    };
                    let is_null =
                        whole(&entry.value, self.given).is_some_and(|(_, it)| it.is_null());
                    if is_null && form.presence(name) != Presence::Sure {
                        continue;
                    }
                    let mut key = String::new();
                    push_key(&mut key, name);
                    let dot = if self.place.is_empty() { "" } else { "." };
                    self.within(&format!("{dot}{key}"), |it| {
                        it.value(&entry.value, &member, unfit);
                    });
                }
            }
            _ => {}
        }
    }

    fn within(&mut self, part: &str, inner: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push_str(part);
        inner(self);
        self.place.truncate(length);
    }

    /// Returns the reason why a value does not fit.
    fn wrong(&self, value: &Value, takes: &Type<'_>) -> Option<String> {
        let mut fit = ValueCheck::new(self.tool, 0..0, false, self.work);
        let problems = fit.in_call(CheckedValue::Json(value), takes).ok()?;
        if problems.is_empty() {
            return None;
        }
        let given = Types::of(value);
        let forms: Vec<_> = takes
            .forms()
            .iter()
            .filter(|it| it.types().overlaps(given))
            .collect();
        let mut bounds = forms.iter().map(|it| it.bound(value));
        let why = match bounds.next().flatten() {
            _ if forms.is_empty() => format!("is {}, but must be {}", given.words(), takes.words()),
            Some(bound) if bounds.next().is_none() => bound,
            _ if forms.iter().all(|it| it.counts()) => {
                format!("must be one of {}", fit.allowed(&forms))
            }
            _ => "does not fit".to_owned(),
        };
        Some(format!(
            "{why} ({} of `{}`)",
            subject(&self.place),
            short(self.tool)
        ))
    }
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
