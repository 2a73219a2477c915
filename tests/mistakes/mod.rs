//! Errors of authors, each with the number of compiler errors, their tokens and their messages: `cases/README.md` documents the
//! format.
//!
//! All cases are programs of one generated package. In the quick form, many cases are modules of one program. `tests/ui` has the messages that people should read whole.
#![forbid(unsafe_code)]

mod applied;
mod case;
mod pairs;
mod program;
pub(crate) mod rustc;
mod verdict;

use crate::common;
use program::Program;
use rustc::{Message, Rustc};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

#[test]
fn mistakes_give_one_error_each_at_its_token() {
    let Some(rustc) = rustc::pinned("mistakes") else {
        return;
    };
    let programs = program::all(&case::all());
    let only = std::env::var("MISTAKES").unwrap_or_default();
    let programs: Vec<_> = programs
        .into_iter()
        .filter(|program| program.name.contains(&only))
        .collect();
    let all: Vec<&Program> = programs.iter().collect();
    let said = if common::is_long() {
        alone(&rustc, &all)
    } else {
        together(&rustc, &programs)
    };
    let mut wrong = Vec::new();
    // One program is enough for a case in the list of known problems.
    let mut unapplied: BTreeSet<String> = BTreeSet::new();
    let mut worse: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for (program, errors) in programs.iter().zip(&said) {
        let verdict = verdict::of(program, errors);
        unapplied.extend(applied::complaint(&program.case, errors));
        match &program.case.worse {
            None => wrong.extend(verdict),
            Some(reason) => {
                let (_, count) = worse.entry(&program.case.name).or_insert((reason, 0));
                *count += usize::from(verdict.is_some());
            }
        }
    }
    for (name, (reason, count)) in &worse {
        // In some positions, the case may be right.
        if *count == 0 && common::is_long() {
            wrong.push(format!("{name}: is no longer worse: {reason}"));
        }
    }
    let worse: usize = worse.values().map(|(_, count)| count).sum();
    let summary = format!(
        "tests/mistakes: {} programs, {} as they should be, {worse} known to be worse\n",
        programs.len(),
        programs.len() - wrong.len() - worse,
    );
    std::io::stderr().write_all(summary.as_bytes()).unwrap();
    wrong.extend(unapplied);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the messages for each program.
fn alone(rustc: &Rustc, programs: &[&Program]) -> Vec<Vec<Message>> {
    let sources: Vec<_> = programs
        .iter()
        .map(|program| (program.name.clone(), program.source.clone()))
        .collect();
    rustc.check(&sources)
}

/// Returns the messages for each program. Many cases are modules of one program, until a case gets other messages than it should; then this
/// case is a program alone.
fn together(rustc: &Rustc, programs: &[Program]) -> Vec<Vec<Message>> {
    let mut said: Vec<Vec<Message>> = programs.iter().map(|_| Vec::new()).collect();
    let (right, mut open): (Vec<usize>, Vec<usize>) =
        (0..programs.len()).partition(|at| programs[*at].marks.is_empty());
    let modules =
        |open: &[usize]| -> Vec<&str> { open.iter().map(|at| &*programs[*at].source).collect() };
    // Correct programs are compiled separately, since the errors of others would hide theirs.
    let messages = rustc.together("", &modules(&right));
    for (at, messages) in right.into_iter().zip(messages) {
        said[at] = messages;
    }
    // Each time, errors of a later stage of the compiler come to light.
    for _ in 0..4 {
        let messages = rustc.together("", &modules(&open));
        let before = open.len();
        let mut rest = Vec::new();
        for (at, messages) in open.into_iter().zip(messages) {
            match verdict::of(&programs[at], &messages) {
                None => said[at] = messages,
                Some(_) => rest.push(at),
            }
        }
        open = rest;
        if open.is_empty() || open.len() == before {
            break;
        }
    }
    let rest: Vec<&Program> = open.iter().map(|at| &programs[*at]).collect();
    for (at, messages) in open.into_iter().zip(alone(rustc, &rest)) {
        said[at] = messages;
    }
    said
}
