//! Mistakes, each with the number of errors that it gives, their tokens and their words: `cases/README.md` says how they are written.
//!
//! All cases are programs of one generated package, which cargo checks together. `tests/ui` has the messages that people should read whole.
#![forbid(unsafe_code)]

mod applied;
mod case;
mod program;
pub(crate) mod rustc;
mod verdict;

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
    let sources: Vec<_> = programs
        .iter()
        .map(|program| (program.name.clone(), program.source.clone()))
        .collect();
    let said = rustc.check(&sources);
    let mut wrong = Vec::new();
    // Of a case that is known to be worse, one program is enough.
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
        if *count == 0 {
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
