//! Steps that undo others, and steps that always run: what they are for, and who may refer to them.

use super::{Names, Source};
use crate::ast::{Body, Mention, Plan, Role, Step};
use crate::docs::text_of;
use crate::report::Report;
use std::collections::{HashMap, HashSet};
use syn::Ident;

/// What a step is for, with the place of the one that it undoes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reader {
    Work,
    Undo(usize),
    Always,
}

/// What the step at a place is for; `Work` if it undoes a step that does not exist.
pub(crate) fn reader(step: &Step, names: &Names) -> Reader {
    match &step.role {
        Role::Work => Reader::Work,
        Role::Always => Reader::Always,
        Role::Undo(name) => match names.get(name) {
            Some(Source::Step(undone)) => Reader::Undo(undone),
            _ => Reader::Work,
        },
    }
}

/// Says what is wrong about the roles of steps. `is_needed` says whether a step needs another.
pub(crate) fn check(
    plan: &Plan,
    names: &Names,
    is_needed: impl Fn(usize, usize) -> bool,
    report: &mut Report,
) {
    if plan
        .steps
        .iter()
        .all(|step| matches!(step.role, Role::Work))
    {
        return;
    }
    let mut undone_by: HashMap<usize, usize> = HashMap::new();
    for (place, step) in plan.steps.iter().enumerate() {
        let Role::Undo(name) = &step.role else {
            let mut seen = HashSet::new();
            for Mention { name, .. } in &step.mentions {
                if seen.insert(text_of(name)) {
                    refers(Some(step), name, plan, names, report);
                }
            }
            for name in &step.after {
                refers(Some(step), name, plan, names, report);
            }
            continue;
        };
        let undone = match names.get(name) {
            Some(Source::Step(undone)) => undone,
            Some(Source::Input(_)) => {
                let text = text_of(name);
                let message = format!("`{text}` is an input, which nothing can undo");
                report.error(
                    name,
                    format!("{message}\nhelp: name a step that calls a tool"),
                );
                continue;
            }
            None => {
                report.error(name, names.unknown_after(name, &step.name));
                continue;
            }
        };
        if let Some(message) = cannot_be_undone(plan, place, undone) {
            report.error(name, message);
            continue;
        }
        if let Some(first) = undone_by.insert(undone, place) {
            let (text, first) = (text_of(name), text_of(&plan.steps[first].name));
            report.error(
                name,
                format!("`{text}` has an undo step already: `{first}`\nhelp: remove one of them"),
            );
            continue;
        }
        let text = text_of(name);
        let mut seen = HashSet::new();
        for mention in step.mentions.iter().map(|mention| &mention.name) {
            let Some(Source::Step(read)) = names.get(mention) else {
                continue;
            };
            if read == undone || is_needed(undone, read) || !seen.insert(read) {
                continue;
            }
            let other = text_of(mention);
            report.error(
                mention,
                format!(
                    "`{text}` does not need `{other}`, which may be missing here\n\
                     help: use `{text}`, a step that it needs, or an input"
                ),
            );
        }
    }
    let mut seen = HashSet::new();
    for Mention { name, .. } in plan.tail.iter().flat_map(|tail| &tail.mentions) {
        if seen.insert(text_of(name)) {
            refers(None, name, plan, names, report);
        }
    }
}

/// What is wrong with a name in a step that undoes none, or in the output.
fn refers(by: Option<&Step>, name: &Ident, plan: &Plan, names: &Names, report: &mut Report) {
    let Some(Source::Step(to)) = names.get(name) else {
        return;
    };
    let text = text_of(name);
    let is_always = by.is_some_and(|step| matches!(step.role, Role::Always));
    match &plan.steps[to].role {
        Role::Undo(undone) => {
            let undone = text_of(undone);
            report.error(
                name,
                format!(
                    "nothing can refer to the undo step `{text}`, which may never run\n\
                     help: refer to `{undone}`"
                ),
            );
        }
        Role::Always if !is_always => {
            let this = match by {
                Some(step) => format!("`{}`", text_of(&step.name)),
                None => "the output".to_owned(),
            };
            report.error(
                name,
                format!("`{text}` runs after {this}\nhelp: only always steps can refer to it"),
            );
        }
        Role::Always | Role::Work => {}
    }
}

/// Why a step cannot be undone by the one at this place.
fn cannot_be_undone(plan: &Plan, place: usize, undone: usize) -> Option<String> {
    let step = &plan.steps[undone];
    let name = text_of(&step.name);
    let help = "help: name a step that calls a tool";
    if undone == place {
        return Some(format!("a step cannot undo itself\n{help}"));
    }
    match (&step.role, &step.body) {
        (Role::Undo(_), _) => Some(format!("`{name}` is an undo step itself\n{help}")),
        (Role::Always, _) => Some(format!("`{name}` always runs, and is not undone\n{help}")),
        (Role::Work, Body::Compute(_)) => Some(format!(
            "`{name}` is a value: there is nothing to undo\n{help}"
        )),
        (Role::Work, body) if repeats(body) => Some(format!(
            "`{name}` may be half done when it fails: it makes a call for each element\n\
             help: an undo step is for a step that makes one call"
        )),
        (Role::Work, _) => None,
    }
}

fn repeats(body: &Body) -> bool {
    match body {
        Body::For(_) => true,
        Body::If(branches) => branches.iter().any(|branch| repeats(&branch.body)),
        Body::Call(_) | Body::Compute(_) | Body::Broken(_) => false,
    }
}
