//! Five plans with each token deleted, doubled, swapped with the next one or misspelled: one error each, on its line.
//!
//! A bracket is mutated together with its closing bracket, since rustc reads brackets before the macro does. All mutants are
//! modules of a few programs: rustc continues with the next module after every error of a plan.
//!
//! By default, the test checks one mutant in 32, always the same ones, and one in 8 with `PLAN_TESTS=all`. `PLAN_TESTS=8` checks
//! all mutants, `MUTATIONS='flow: delete'` checks the mutants with this in their name, and `MUTATIONS=exceptions` shows the errors
//! of the mutants in `exceptions.txt`. `UPDATE_EXPECT=1` records the mutants with other errors there.
#![forbid(unsafe_code)]

mod declared;
mod exceptions;
mod mutant;
mod token;
mod verdict;

use crate::common;
use crate::mistakes::rustc::{self, Message, Rustc};
use mutant::Mutant;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use verdict::Verdict;

/// The plans, with their names.
const PLANS: &[(&str, &str)] = &[
    ("references", include_str!("plans/references.rs")),
    ("flow", include_str!("plans/flow.rs")),
    ("policies", include_str!("plans/policies.rs")),
    ("computed", include_str!("plans/computed.rs")),
    ("types", include_str!("plans/types.rs")),
];

/// Returns the number of mutants for each drawn mutant.
fn drawn() -> u64 {
    common::times().map_or(32, |times| 8_u64.div_ceil(times))
}

const HEAD: &str = "#![allow(dead_code, unused_imports)]\nuse mailbox::*;\nuse serde_json::json;\nuse std::collections::BTreeMap;\n";

#[test]
fn slips_give_one_error_on_their_line() {
    let Some(rustc) = rustc::pinned("mutations") else {
        return;
    };
    let wanted = std::env::var("MUTATIONS").unwrap_or_default();
    let drawn = drawn();
    let mutants: Vec<Mutant> = PLANS
        .iter()
        .flat_map(|(name, file)| mutant::all(name, plan(file)))
        .filter(|mutant| match &*wanted {
            "" => mutant.is_first || mutant.number() % drawn == 0,
            "exceptions" => exceptions::holds(&mutant.name),
            part => mutant.name.contains(part),
        })
        .collect();
    let said = check(&rustc, &mutants);
    let mut counts: BTreeMap<Verdict, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut shown = String::new();
    for (mutant, messages) in mutants.iter().zip(&said) {
        let verdict = verdict::of(mutant, messages);
        assert!(
            !mutant.is_first || verdict == Verdict::Silent,
            "{}: {messages:?}",
            mutant.name
        );
        *counts.entry(verdict).or_default() += 1;
        if verdict.is_exception() {
            found.push(&*mutant.name);
        }
        if verdict.is_exception() && (wanted == "exceptions" || !exceptions::holds(&mutant.name)) {
            let _ = writeln!(
                shown,
                "{} ({verdict:?})\n    {}",
                mutant.name,
                mutant.line_after()
            );
            for message in messages {
                let line = verdict::line(&mutant.text, message.spans[0].start);
                let text = message.text.replace('\n', "\n        | ");
                let _ = writeln!(shown, "      line {line}: {text}");
            }
        }
    }
    let count = |verdict| counts.get(&verdict).copied().unwrap_or_default();
    let right = count(Verdict::Right) + count(Verdict::AtUses);
    let wrong = right + found.len();
    let summary = format!(
        "tests/mutations: of {} mutants, {} are still correct ({} with a warning); of {wrong} wrong ones, {right} ({:.1} %) give one error: \
         {} on the line, {} where the changed name is used; {} give one elsewhere, {} more than one, {} an internal name\n",
        mutants.len(),
        count(Verdict::Silent) + count(Verdict::Warned),
        count(Verdict::Warned),
        100.0 * right as f64 / wrong.max(1) as f64,
        count(Verdict::Right),
        count(Verdict::AtUses),
        count(Verdict::Elsewhere),
        count(Verdict::Several),
        count(Verdict::Internal),
    );
    std::io::stderr().write_all(summary.as_bytes()).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let checked: Vec<&str> = mutants.iter().map(|mutant| &*mutant.name).collect();
        exceptions::write(&found, &checked);
        return;
    }
    assert!(shown.is_empty(), "not one error on the line:\n{shown}");
    let better: Vec<_> = mutants
        .iter()
        .map(|mutant| &*mutant.name)
        // Beside few others, a mutant may give fewer errors.
        .filter(|name| common::is_long() && exceptions::holds(name) && !found.contains(name))
        .collect();
    assert!(
        better.is_empty(),
        "no longer exceptions: {}",
        better.join("\n")
    );
    if drawn == 1 {
        assert!(100 * right >= 95 * wrong, "{summary}");
    }
}

/// Returns the content of the braces of `plan!`.
fn plan(file: &str) -> &str {
    let start = file.find("plan! {").expect("a plan") + "plan! {".len();
    &file[start..file.rfind('}').expect("an end")]
}

/// Returns rustc's messages about each mutant, with ranges in its source.
fn check(rustc: &Rustc, mutants: &[Mutant]) -> Vec<Vec<Message>> {
    let all: Vec<&Mutant> = mutants.iter().collect();
    let mut said = together(rustc, &all);
    // After an error elsewhere, rustc skips some checks.
    let silent: Vec<usize> = (0..said.len()).filter(|at| said[*at].is_empty()).collect();
    let again: Vec<&Mutant> = silent.iter().map(|at| &mutants[*at]).collect();
    for (at, messages) in silent.into_iter().zip(together(rustc, &again)) {
        said[at] = messages;
    }
    said
}

fn together(rustc: &Rustc, mutants: &[&Mutant]) -> Vec<Vec<Message>> {
    const BEFORE: &str = " use super::*; plan_runtime::plan! {";
    let modules: Vec<String> = mutants
        .iter()
        .map(|mutant| format!("{BEFORE}{}}} ", mutant.text))
        .collect();
    let modules: Vec<&str> = modules.iter().map(|module| &**module).collect();
    let mut said = rustc.together(HEAD, &modules);
    for message in said.iter_mut().flatten() {
        for span in &mut message.spans {
            *span = span.start.saturating_sub(BEFORE.len())..span.end.saturating_sub(BEFORE.len());
        }
    }
    said
}
