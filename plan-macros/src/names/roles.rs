//! The roles of undo steps and always steps, and the steps that may refer to them.

use super::{Mention, Names, Source};
use crate::ast::{BlockTail, Body, Role, Step};
use crate::docs::text_of;
use crate::report::Report;
use std::collections::{HashMap, HashSet};
use syn::Ident;

/// The role of a step, with the number of the step that it rolls back.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reader {
    Work,
    Undo(usize),
    Always,
}

/// Returns the role of a step; `Work` if the step is the undo of a missing step.
pub(crate) fn reader(step: &Step, names: &Names<'_>) -> Reader {
    match &step.role {
        Role::Work => Reader::Work,
        Role::Always => Reader::Always,
        Role::Undo(name) => match names.own(names.scope_of(names.source(step)), name) {
            Some(Source::Step(undone)) => Reader::Undo(undone),
            _ => Reader::Work,
        },
    }
}

/// Returns `true` if a step with this role cannot refer to the source. [`check`] reports such a reference.
pub(super) fn is_late(names: &Names<'_>, source: Source, role: &Role) -> bool {
    names.step(source).is_some_and(|step| match step.role {
        Role::Undo(_) => true,
        Role::Always => !matches!(role, Role::Always),
        Role::Work => false,
    })
}

/// The check of the steps of a plan or of a block.
struct RoleCheck<'a> {
    steps: &'a [Step],
    scope: usize,
    names: &'a Names<'a>,
    report: &'a mut Report,
    /// The undo steps that are reported as interchanged with the step that they undo.
    interchanged: HashSet<usize>,
}

/// For a scope and the index of a step in the scope, returns a list that is `true` for each step that this step needs.
pub(crate) type Reached<'o> = dyn Fn(usize, usize) -> Vec<bool> + 'o;

/// Reports errors about the roles of steps.
pub(crate) fn check(names: &Names<'_>, reached: &Reached<'_>, report: &mut Report) {
    for (scope, steps, block) in names.scopes() {
        if steps.iter().all(|step| matches!(step.role, Role::Work)) {
            continue;
        }
        let mut tail = Vec::new();
        if let Some(BlockTail::Name(name)) = block.map(|block| &block.tail)
            && let Some(source) = names.own(scope, name)
        {
            tail.push((name, source));
        }
        let mentions = block.map_or(&*names.facts.output, |block| names.mentions_after(block));
        tail.extend(named(mentions));
        RoleCheck {
            steps,
            scope,
            names,
            report,
            interchanged: HashSet::new(),
        }
        .check(&tail, reached);
    }
}

fn named(mentions: &[Mention]) -> impl Iterator<Item = (&Ident, Source)> {
    mentions
        .iter()
        .map(|mention| (&mention.name, mention.source))
}

impl RoleCheck<'_> {
    /// Returns the index of a source among the steps of this scope.
    fn place(&self, source: Source) -> Option<usize> {
        match source {
            Source::Step(number) if self.names.scope_of(source) == self.scope => {
                Some(self.names.place_of(number))
            }
            _ => None,
        }
    }

    fn check(&mut self, tail: &[(&Ident, Source)], reached: &Reached<'_>) {
        let steps = self.steps;
        let mut undone_by: HashMap<usize, usize> = HashMap::new();
        for (place, step) in steps.iter().enumerate() {
            let Role::Undo(name) = &step.role else {
                self.refer_to_all(Some(step), named(self.names.mentions(step)));
                for name in self.names.after(step) {
                    if let Some(source) = self.names.own(self.scope, name) {
                        self.refers(Some(step), name, source);
                    }
                }
                self.waits_for_work(step);
                continue;
            };
            let undone = match self.undone(place, name) {
                Ok(undone) => undone,
                Err(message) => {
                    if let Some(message) = message {
                        self.report.error(name, message);
                    }
                    continue;
                }
            };
            let text = text_of(name);
            if let Some(first) = undone_by.insert(undone, place) {
                let first = text_of(&steps[first].name);
                self.report.error(
                    name,
                    format!(
                        "`{text}` has an undo step already: `{first}`\nhelp: remove one of them"
                    ),
                );
                continue;
            }
            let (mut seen, needed) = (HashSet::new(), reached(self.scope, undone));
            for mention in self.names.mentions(step) {
                let read = self.place(mention.source);
                let read = read.filter(|read| *read != undone && !needed[*read]);
                if read.is_some_and(|read| seen.insert(read)) {
                    let other = text_of(&mention.name);
                    self.report.error(
                        &mention.name,
                        format!(
                            "the undo step of `{text}` cannot refer to `{other}`, which `{text}` does not need\n\
                             help: use `{text}`, an input, or a step that `{text}` needs"
                        ),
                    );
                }
            }
        }
        self.refer_to_all(None, tail.iter().copied());
    }

    /// Returns the step that the undo step at `place` undoes. The error is the message, if there is a new one.
    fn undone(&self, place: usize, name: &Ident) -> Result<usize, Option<String>> {
        let (names, text) = (self.names, text_of(name));
        match names.own(self.scope, name) {
            Some(Source::Step(number)) => {
                let undone = names.place_of(number);
                match cannot_be_undone(self.steps, place, undone) {
                    Some(message) => Err(Some(message)),
                    None => Ok(undone),
                }
            }
            Some(Source::Input(_)) => Err(Some(format!(
                "`{text}` is an input, which nothing can undo\nhelp: name a step that calls a tool"
            ))),
            None if names.get_in(self.scope, name).is_some() => Err(Some(format!(
                "`{text}` is not a step of this block\n\
                 help: an undo step is in the block of the step that it undoes"
            ))),
            None => {
                let help =
                    |owner: &str| format!("help: put the undo step into the block of `{owner}`");
                Err(names.unknown_after(name, &self.steps[place].name, self.scope, help))
            }
        }
    }

    /// Checks each of these names once.
    fn refer_to_all<'n>(
        &mut self,
        by: Option<&Step>,
        names: impl Iterator<Item = (&'n Ident, Source)>,
    ) {
        let mut seen = HashSet::new();
        for (name, source) in names {
            if seen.insert(text_of(name)) {
                self.refers(by, name, source);
            }
        }
    }

    /// Reports the names of work steps in the `#[after(…)]` of an always step that does not read these steps.
    fn waits_for_work(&mut self, by: &Step) {
        if !matches!(by.role, Role::Always) {
            return;
        }
        let is_work = |to: usize| matches!(self.steps[to].role, Role::Work);
        let mentions = self.names.mentions(by);
        let is_read = |source| mentions.iter().any(|mention| mention.source == source);
        let is_pointless = |name: &&Ident| {
            let source = self.names.own(self.scope, name);
            source.is_some_and(|source| self.place(source).is_some_and(is_work) && !is_read(source))
        };
        let after = self.names.after(by);
        let pointless: Vec<&Ident> = after.clone().filter(is_pointless).collect();
        let mut report = |at: &Ident, names: &str, remove: &str| {
            let message = format!("an always step runs after {names} anyway");
            let help = format!("help: remove {remove}, which may name other always steps");
            self.report.error(at, format!("{message}\n{help}"));
        };
        if let Some(first) = pointless.first()
            && pointless.len() == after.count()
        {
            let texts: Vec<String> = pointless.iter().map(|name| text_of(name)).collect();
            let names: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
            let attribute = format!("`#[after({})]`", texts.join(", "));
            return report(first, &names.join(" and "), &attribute);
        }
        for name in pointless {
            let name_text = format!("`{}`", text_of(name));
            report(name, &name_text, &format!("{name_text} from `#[after(…)]`"));
        }
    }

    /// Returns `true` if the step with this name is written after the step at `place`.
    fn is_later(&self, name: &Ident, place: usize) -> bool {
        let steps = self.steps[place + 1..].iter();
        steps
            .map(|step| text_of(&step.name))
            .any(|it| it == text_of(name))
    }

    /// Reports once that the undo step at `place` and the step that it undoes are probably interchanged.
    fn interchanged(&mut self, place: usize, undone: &Ident, refers: bool) {
        if !self.interchanged.insert(place) {
            return;
        }
        let (text, by) = (text_of(&self.steps[place].name), text_of(undone));
        let message = if refers {
            format!("`{by}` refers to `{text}`, so it cannot be what `{text}` undoes")
        } else {
            format!("`{text}` undoes `{by}`, so nothing can refer to `{text}`")
        };
        let help = format!("help: write `#[undo({text})]` on `{by}`");
        self.report.error(undone, format!("{message}\n{help}"));
    }

    /// Reports an invalid name in a step that is no undo step, or in the output.
    fn refers(&mut self, by: Option<&Step>, name: &Ident, source: Source) {
        let Some(to) = self.place(source) else {
            return;
        };
        let text = text_of(name);
        let is_always = by.is_some_and(|step| matches!(step.role, Role::Always));
        match &self.steps[to].role {
            Role::Undo(undone) => {
                let is_turned = by.is_some_and(|by| text_of(&by.name) == text_of(undone));
                if is_turned || self.is_later(undone, to) {
                    self.interchanged(to, undone, is_turned);
                    return;
                }
                let undone = text_of(undone);
                self.report.error(
                    name,
                    format!(
                        "nothing can refer to the undo step `{text}`, which may never run\n\
                     help: refer to `{undone}`"
                    ),
                );
            }
            Role::Always if !is_always => {
                let this = match by {
                    Some(step) if step.is_tail => "the value of the block".to_owned(),
                    Some(step) => format!("`{}`", text_of(&step.name)),
                    None if self.scope > 0 => "the value of the block".to_owned(),
                    None => "the output".to_owned(),
                };
                self.report.error(
                    name,
                    format!("{this} cannot refer to `{text}`, which runs later\nhelp: only always steps can refer to `{text}`"),
                );
            }
            Role::Always | Role::Work => {}
        }
    }
}

/// Returns the reason why the step at this index cannot undo a step.
fn cannot_be_undone(steps: &[Step], place: usize, undone: usize) -> Option<String> {
    let step = &steps[undone];
    let name = text_of(&step.name);
    let help = "help: name a step that calls a tool";
    if undone == place {
        return Some(format!("a step cannot undo itself\n{help}"));
    }
    match (&step.role, &step.body) {
        (Role::Undo(_), _) => Some(format!("`{name}` is an undo step itself\n{help}")),
        (Role::Always, _) => Some(format!("`{name}` always runs, and is not undone\n{help}")),
        (Role::Work, Body::Compute(_) | Body::Await(_)) => Some(format!(
            "`{name}` is a value: there is nothing to undo\n{help}"
        )),
        (Role::Work, body) if body.any(|it| matches!(it, Body::For(_) | Body::Loop(_))) => {
            Some(format!(
                "`{name}` may be half done when it fails: its calls are repeated\n\
             help: put the undo step into its block, beside the step that it undoes: `{{ step one = …; #[undo(one)] step …; one }}`"
            ))
        }
        (Role::Work, body) if body.any(|it| matches!(it, Body::Compute(_))) => Some(format!(
            "`{name}` may be a value, which nothing undoes\n\
             help: put the undo step into the braces of its call: `{{ step {name} = …; #[undo({name})] step …; {name} }}`"
        )),
        (Role::Work, _) => None,
    }
}
