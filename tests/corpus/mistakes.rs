//! Errors, planted one at a time.

use crate::corpus::forms::{Written, WrittenArgument, WrittenStep, header, written};
use crate::corpus::model::{Corpus, Given, Plan};
use crate::corpus::random::Random;
use crate::corpus::scratch::Place;
use crate::corpus::types::Type;
use crate::corpus::write::{Hop, Way, walk};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mistake {
    UnknownStep,
    UnknownField,
    WrongReference,
    WrongLiteral,
    MissingArgument,
    UnknownArgument,
    DuplicateStep,
    CycleThroughAfter,
    /// A field that may be absent, into an argument that is required.
    AbsentField,
    /// A step that may fail, where its output is required.
    OptionalStep,
}

impl Mistake {
    pub(crate) const ALL: [Mistake; 10] = [
        Mistake::UnknownStep,
        Mistake::UnknownField,
        Mistake::WrongReference,
        Mistake::WrongLiteral,
        Mistake::MissingArgument,
        Mistake::UnknownArgument,
        Mistake::DuplicateStep,
        Mistake::CycleThroughAfter,
        Mistake::AbsentField,
        Mistake::OptionalStep,
    ];
}

/// The marks around the token that is wrong.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

fn mark(text: &str) -> String {
    format!("{OPEN}{text}{CLOSE}")
}

/// Removes the marks, and returns the positions between them.
pub(crate) fn unmark(marked: &str, file: &str) -> (String, Vec<Place>) {
    let mut text = String::new();
    let mut places: Vec<Place> = Vec::new();
    let (mut line, mut column) = (1, 1);
    for char in marked.chars() {
        match char {
            OPEN => places.push(Place {
                file: file.to_owned(),
                line,
                start: column,
                end: column,
            }),
            CLOSE => {
                places
                    .iter_mut()
                    .next_back()
                    .expect("a mark opens before it closes")
                    .end = column;
            }
            other => {
                text.push(other);
                (line, column) = if other == '\n' {
                    (line + 1, 1)
                } else {
                    (line, column + 1)
                };
            }
        }
    }
    (text, places)
}

/// Returns the plan with these errors, each marked and in a step of its own, in one of the notations. Returns `None` if an
/// error has no position in the plan.
pub(crate) fn plant(
    corpus: &Corpus,
    plan: &Plan,
    mistakes: &[Mistake],
    random: &mut Random,
) -> Option<String> {
    let mut broken = written(corpus, plan).ok()?;
    if random.below(2) == 1 {
        broken.shuffle();
    }
    for mistake in mistakes {
        break_with(*mistake, corpus, plan, &mut broken, random)?;
    }
    let in_place = plan.inputs.is_empty() && random.below(3) == 0;
    let text = if in_place {
        broken.expression()
    } else {
        broken.item()
    };
    Some(header() + &text)
}

fn break_with(
    mistake: Mistake,
    corpus: &Corpus,
    plan: &Plan,
    broken: &mut Written,
    random: &mut Random,
) -> Option<()> {
    match mistake {
        Mistake::UnknownStep => reference(corpus, plan, broken, random, |at| {
            let typo = typo(at.root, at.random);
            vec![mark(&typo) + &text(at.hops)]
        }),
        Mistake::UnknownField => reference(corpus, plan, broken, random, |at| {
            let fields: Vec<usize> = (0..at.hops.len())
                .filter(|hop| at.hops[*hop].field_of.is_some())
                .collect();
            let Some(&hop) = at.random.choose(&fields) else {
                return Vec::new();
            };
            let (before, after) = (text(&at.hops[..hop]), text(&at.hops[hop + 1..]));
            let name = typo(at.hops[hop].text.trim_start_matches('.'), at.random);
            vec![format!("{}{before}.{}{after}", at.root, mark(&name))]
        }),
        Mistake::WrongReference => reference(corpus, plan, broken, random, |at| {
            let wrong = at
                .others()
                .into_iter()
                .filter(|(_, ty)| ty.present().0 != at.wanted.present().0);
            wrong.map(|(text, _)| mark(&text)).collect()
        }),
        Mistake::AbsentField => reference(corpus, plan, broken, random, |at| {
            let absent = at
                .others()
                .into_iter()
                .filter(|(_, ty)| *ty == at.wanted.clone().maybe() && *ty != *at.wanted);
            absent.map(|(text, _)| mark(&text)).collect()
        }),
        Mistake::OptionalStep => optional(corpus, plan, broken, random),
        Mistake::WrongLiteral => {
            let is_literal = |argument: &WrittenArgument| {
                matches!(&argument.given, Given::Literal(_))
                    && *argument.argument.ty.present().0 != Type::Json
                    && argument.text != "None"
            };
            let argument = argument(broken, random, is_literal)?;
            argument.text = mark(match argument.argument.ty.present().0 {
                Type::Text => "42",
                Type::Int | Type::Bool => "\"soon\"",
                Type::Float => "true",
                _ => "7",
            });
            Some(())
        }
        Mistake::MissingArgument => {
            let is_required = |argument: &WrittenArgument| !argument.argument.ty.present().1;
            let (step, argument) = place(broken, random, is_required)?;
            let step = &mut broken.steps[step];
            step.arguments.remove(argument);
            match &mut step.rest {
                Some(rest) => *rest = mark(rest),
                None => step.tool = mark(&step.tool),
            }
            Some(())
        }
        Mistake::UnknownArgument => {
            let (step, argument) = place(broken, random, |_| true)?;
            let step = &mut broken.steps[step];
            if random.below(2) == 0 {
                let name = &mut step.arguments[argument].name;
                *name = mark(&typo(name, random));
            } else {
                let mut extra = step.arguments[argument].clone();
                (extra.name, extra.text) = (mark("urgency"), "3".to_owned());
                step.arguments.push(extra);
            }
            Some(())
        }
        Mistake::DuplicateStep => {
            let whole: Vec<&WrittenStep> = broken
                .steps
                .iter()
                .filter(|step| !is_marked(step))
                .collect();
            let mut copy = (*random.choose(&whole)?).clone();
            copy.name = mark(&copy.name);
            broken.steps.push(copy);
            Some(())
        }
        Mistake::CycleThroughAfter => {
            let ways: Vec<(usize, usize)> = (0..plan.steps.len())
                .flat_map(|from| reachable(plan, from).into_iter().map(move |to| (from, to)))
                .collect();
            let &(from, to) = random.choose(&ways)?;
            let mut steps = broken.steps.iter_mut();
            let step = steps.find(|step| step.index == to && !is_marked(step))?;
            step.after.push(mark(&plan.steps[from].name));
            Some(())
        }
    }
}

/// A reference, for one who wants to break it.
struct At<'a> {
    corpus: &'a Corpus,
    root: &'a str,
    source: &'a Type,
    path: &'a crate::corpus::model::Reference,
    hops: &'a [Hop],
    wanted: &'a Type,
    random: &'a mut Random,
}

impl At<'_> {
    /// Returns references to nearby values: the values that this reference goes through, and their other fields.
    fn others(&self) -> Vec<(String, Type)> {
        let mut others = Vec::new();
        let structs = &self.corpus.structs;
        for length in 0..self.path.path.len() {
            let mut path = self.path.clone();
            path.path.truncate(length);
            let Ok(outer) = walk(structs, self.source, &path) else {
                continue;
            };
            others.push((outer.text(self.root), outer.ty.clone()));
            if let Type::Struct(index) = outer.ty {
                let fields = structs.0[index].fields.iter();
                others.extend(fields.map(|field| {
                    (
                        format!("{}.{}", outer.text(self.root), field.ident),
                        field.ty.clone(),
                    )
                }));
            }
        }
        others
    }
}

/// Breaks one reference: `choices` are the possible replacements.
fn reference(
    corpus: &Corpus,
    plan: &Plan,
    broken: &mut Written,
    random: &mut Random,
    choices: impl Fn(&mut At<'_>) -> Vec<String>,
) -> Option<()> {
    let all = (0..broken.steps.len()).flat_map(|step| {
        (0..broken.steps[step].arguments.len()).map(move |argument| (step, argument))
    });
    let mut all: Vec<(usize, usize)> = all.collect();
    random.shuffle(&mut all);
    for (step, argument) in all {
        if is_marked(&broken.steps[step]) {
            continue;
        }
        let at = &mut broken.steps[step].arguments[argument];
        let Given::Reference(path) = &at.given else {
            continue;
        };
        if at.way != Way::Direct || *at.argument.ty.present().0 == Type::Json {
            continue;
        }
        let source = corpus.source(plan, &path.root)?;
        let walked = walk(&corpus.structs, &source, path).ok()?;
        let (root, hops, wanted) = (&*path.root, &*walked.hops, &at.argument.ty);
        let choices = choices(&mut At {
            corpus,
            root,
            source: &source,
            path,
            hops,
            wanted,
            random,
        });
        if let Some(text) = random.choose(&choices) {
            at.text.clone_from(text);
            return Some(());
        }
    }
    None
}

/// Makes a step optional that one argument refers to, which is required.
fn optional(corpus: &Corpus, plan: &Plan, broken: &mut Written, random: &mut Random) -> Option<()> {
    let mut names: Vec<String> = broken.steps.iter().map(|step| step.name.clone()).collect();
    random.shuffle(&mut names);
    for name in names {
        if name.contains(OPEN) || name == broken.tail {
            continue;
        }
        let mentions = |text: &str| {
            let mut words =
                text.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '#');
            words.any(|word| word == name)
        };
        let steps = broken.steps.iter().enumerate();
        let users = steps.flat_map(|(step, one)| {
            let arguments = one.arguments.iter().enumerate();
            arguments
                .filter(|(_, one)| mentions(&one.text))
                .map(move |(argument, _)| (step, argument))
        });
        let [(step, argument)] = users.collect::<Vec<_>>()[..] else {
            continue;
        };
        if is_marked(&broken.steps[step]) {
            continue;
        }
        let at = &mut broken.steps[step].arguments[argument];
        let (Given::Reference(path), (wanted, false)) = (&at.given, at.argument.ty.present())
        else {
            continue;
        };
        if at.way != Way::Direct || *wanted == Type::Json {
            continue;
        }
        let source = corpus.source(plan, &path.root)?;
        let walked = walk(&corpus.structs, &source, path).ok()?;
        at.text = match &*walked.hops {
            [] => mark(&name),
            [first, others @ ..] => format!("{name}{}{}", mark(&first.text), text(others)),
        };
        let mut steps = broken.steps.iter_mut();
        steps.find(|step| step.name == name)?.optional = true;
        return Some(());
    }
    None
}

fn place(
    broken: &Written,
    random: &mut Random,
    wanted: impl Fn(&WrittenArgument) -> bool,
) -> Option<(usize, usize)> {
    let steps = broken.steps.iter().enumerate();
    let steps = steps.filter(|(_, step)| !is_marked(step));
    let all = steps.flat_map(|(step, one)| {
        one.arguments
            .iter()
            .enumerate()
            .map(move |(argument, one)| (step, argument, one))
    });
    let all: Vec<(usize, usize)> = all
        .filter(|(.., one)| wanted(one))
        .map(|(step, argument, _)| (step, argument))
        .collect();
    random.choose(&all).copied()
}

fn argument<'a>(
    broken: &'a mut Written,
    random: &mut Random,
    wanted: impl Fn(&WrittenArgument) -> bool,
) -> Option<&'a mut WrittenArgument> {
    let (step, argument) = place(broken, random, wanted)?;
    Some(&mut broken.steps[step].arguments[argument])
}

/// Returns `true` if the step contains an error.
fn is_marked(step: &WrittenStep) -> bool {
    let arguments = step.arguments.iter().flat_map(|one| [&one.name, &one.text]);
    let texts = arguments.chain(&step.after).chain(&step.rest);
    texts
        .chain([&step.name, &step.tool])
        .any(|text| text.contains(OPEN))
}

/// The steps that this one waits for, itself among them.
fn reachable(plan: &Plan, from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(step) = open.pop() {
        let step = &plan.steps[step];
        let names = step
            .references()
            .map(|reference| &reference.root)
            .chain(&step.after);
        let next = names.filter_map(|name| plan.steps.iter().position(|step| step.name == *name));
        open.extend(next.filter(|step| found.insert(*step)).collect::<Vec<_>>());
    }
    found
}

fn text(hops: &[Hop]) -> String {
    hops.iter().map(|hop| &*hop.text).collect()
}

/// The name as a hurried author writes it: two letters swapped, one missing, one twice.
fn typo(name: &str, random: &mut Random) -> String {
    let name = name.trim_start_matches("r#");
    let last = name.chars().next_back().unwrap_or('x');
    let short = &name[..name.len() - last.len_utf8()];
    match random.below(3) {
        0 if short.len() > 2 && !short.ends_with('_') => format!("{short}x"),
        1 => format!("{name}{last}{last}"),
        _ => format!("{name}_x"),
    }
}
