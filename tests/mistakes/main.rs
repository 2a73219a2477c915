//! Mistakes, each with the number of errors that it gives, their tokens and their words: `cases/README.md` says how they are written.
//!
//! All cases are programs of one generated package, which cargo checks together. `tests/ui` has the messages that people should read whole.
#![forbid(unsafe_code)]

mod case;
mod program;
mod rustc;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;

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
    let mut unapplied: BTreeSet<&str> = BTreeSet::new();
    let mut worse: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for (program, errors) in programs.iter().zip(&said) {
        let verdict = verdict::of(program, errors);
        if verdict::shows_code(errors) && program.case.fixes.is_empty() {
            unapplied.insert(&program.case.name);
        }
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
    if only.is_empty() {
        wrong.extend(unapplied_changes(&unapplied));
    }
    let worse: usize = worse.values().map(|(_, count)| count).sum();
    let summary = format!(
        "tests/mistakes: {} programs, {} as they should be, {worse} known to be worse; {} cases show code that no `=>` applies\n",
        programs.len(),
        programs.len() - wrong.len() - worse,
        unapplied.len(),
    );
    std::io::stderr().write_all(summary.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The cases that show code and are not in `unapplied.txt`, and the other way round: code that a help shows is applied by a `=>`.
fn unapplied_changes(found: &BTreeSet<&str>) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes/unapplied.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let names: Vec<&str> = found.iter().copied().collect();
        fs::write(file, names.join("\n") + "\n").unwrap();
        return Vec::new();
    }
    let text = fs::read_to_string(file).unwrap();
    let known: BTreeSet<&str> = text.lines().collect();
    let new = found.difference(&known);
    let new = new.map(|name| format!("{name}: its help shows code, which no `=>` applies"));
    let gone = known.difference(found);
    let gone = gone.map(|name| format!("{name}: is no longer one for `unapplied.txt`"));
    new.chain(gone).collect()
}
