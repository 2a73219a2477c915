//! Real plans, converted to `plan!` mechanically: they compile without warnings, and the compiler finds each planted error
//! at its position.
//!
//! The plans are in the folder `PLAN_CORPORA`, or in `../shared/corpora` beside the workspace. Without them, this test prints that it is skipped. By
//! default, the test checks a sample of the plans, with `PLAN_TESTS=all` a larger one, and with `PLAN_TESTS=2` all. `PLAN_CORPUS=time` measures
//! rustc's time per step.

mod checks;
mod dialects;
mod forms;
mod mistakes;
mod model;
mod names;
mod promote;
mod random;
mod scratch;
mod tools;
mod types;
mod write;

use crate::common::{self, skips};
use forms::Form;
use mistakes::Mistake;
use model::{Corpus, Given, Plan};
use promote::Told;
use random::Random;
use scratch::{Diagnostic, Place, Scratch};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use write::Way;

const LINTS: &str = "#![deny(warnings)]\n";

fn corpora() -> Option<PathBuf> {
    skips::unless("corpus", skips::corpora())
}

/// Prints a line even if the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Takes every plan, or every `step`-th.
fn amount() -> (usize, usize) {
    match common::times() {
        None => (24, 2),
        Some(1) => (6, 8),
        Some(_) => (1, 60),
    }
}

#[test]
fn real_plans_compile_silently_and_mistakes_in_them_are_found_where_they_are() {
    let Some(folder) = corpora() else { return };
    let corpus = Corpus::read(&folder);
    let (every, mistakes) = amount();
    let mut scratch = Scratch::new("corpus");
    scratch.package("corpus_tools", &[], &tools::source(&corpus), &[]);
    let sample: Vec<&Plan> = corpus.plans.iter().step_by(every).collect();
    let counts = plans(&corpus, &sample, &mut scratch);
    say(&arguments(&corpus, &sample));
    let planted = broken(&corpus, mistakes, &mut scratch);
    scratch.finish();

    let forms: Vec<String> = Form::ALL.iter().map(|form| form.package()).collect();
    let mut packages: Vec<&str> = forms.iter().map(|package| &**package).collect();
    packages.push("corpus_tools");
    let clean = scratch.check(&packages);
    let said: Vec<&str> = clean.diagnostics.iter().map(|one| &*one.rendered).collect();
    say(&format!(
        "{} of {} plans, {counts}: checked in {:.1?}",
        sample.len(),
        corpus.plans.len(),
        clean.took
    ));
    let kinds: BTreeSet<&str> = planted
        .keys()
        .filter_map(|file| file.split('/').next())
        .collect();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let found = scratch.check(&kinds);
    say(&format!(
        "{} plans with {} mistakes: checked in {:.1?}",
        planted.len(),
        planted.values().map(|one| one.places.len()).sum::<usize>(),
        found.took
    ));
    let wrong = compare(&planted, &found.diagnostics, &scratch);
    assert!(
        said.is_empty(),
        "{} messages about correct plans:\n{}",
        said.len(),
        said[..said.len().min(30)].join("\n")
    );
    assert!(
        wrong.is_empty(),
        "in {} plans with mistakes:\n{}",
        planted.len(),
        wrong.join("\n")
    );
}

#[test]
fn plans_out_of_json_become_rust_that_compiles() {
    let Some(folder) = corpora() else { return };
    let corpus = Corpus::read_untyped(&folder);
    let (every, _) = amount();
    let mut scratch = Scratch::new("promote");
    scratch.package("promote_tools", &[], &tools::source(&corpus), &[]);
    let sample: Vec<(usize, &Plan)> = corpus.plans.iter().enumerate().step_by(every).collect();
    let mut unclean = BTreeSet::new();
    for told in Told::ALL {
        let mut modules = Vec::new();
        for (index, plan) in &sample {
            match promote::module(&corpus, *index, plan, told) {
                Ok(text) => modules.push((names::snake_case(&plan.id), text)),
                Err(why) => {
                    unclean.insert(format!("{}: {why}", plan.id));
                }
            }
        }
        scratch.package(told.package(), &["promote_tools"], LINTS, &modules);
    }
    scratch.finish();
    let packages = Told::ALL.map(Told::package);
    let checked = scratch.check(&[packages[0], packages[1], "promote_tools"]);
    let said: Vec<&str> = checked
        .diagnostics
        .iter()
        .map(|one| &*one.rendered)
        .collect();
    let (typed, untyped) = promote::typed(&corpus);
    say(&format!(
        "{} of {} plans became Rust out of JSON, with and without schemas of their tools ({typed} typed arguments, {untyped} untyped), checked in {:.1?}; {} are not clean",
        sample.len() - unclean.len(),
        sample.len(),
        checked.took,
        unclean.len(),
    ));
    unclean.iter().for_each(|why| say(why));
    assert!(
        said.is_empty(),
        "{} messages about plans out of JSON:\n{}",
        said.len(),
        said[..said.len().min(20)].join("\n")
    );
}

/// Writes the plans in all notations, and lists the plans without such a notation.
fn plans(corpus: &Corpus, sample: &[&Plan], scratch: &mut Scratch) -> String {
    let mut counts = Vec::new();
    let mut total = 0;
    for form in Form::ALL {
        let mut modules = Vec::new();
        for plan in sample {
            match forms::module(corpus, plan, form) {
                Ok(text) => modules.push((names::snake_case(&plan.id), text)),
                Err(why) => say(&format!("{} has no {form:?} form: {why}", plan.id)),
            }
        }
        scratch.package(&form.package(), &["corpus_tools"], LINTS, &modules);
        total += modules.len();
        counts.push(format!("{form:?} {}", modules.len()));
    }
    if sample.len() == corpus.plans.len() {
        assert!(total >= 1000, "{total} plans are fewer than a thousand");
    }
    format!("{total} modules ({})", counts.join(", "))
}

/// Returns the notations of these plans' arguments.
fn arguments(corpus: &Corpus, sample: &[&Plan]) -> String {
    let (mut literals, mut direct, mut optional, mut computed, mut steps) = (0, 0, 0, 0, 0);
    for plan in sample
        .iter()
        .filter_map(|plan| forms::written(corpus, plan).ok())
    {
        steps += plan.steps.len();
        for argument in plan.steps.iter().flat_map(|step| &step.arguments) {
            let count = match (&argument.given, argument.way) {
                (Given::Literal(_), _) => &mut literals,
                (_, Way::Computed) => &mut computed,
                (_, Way::Direct) if argument.text.contains('?') => &mut optional,
                (_, Way::Direct) => &mut direct,
            };
            *count += 1;
        }
    }
    format!(
        "{} tools with {} more structs; {steps} steps with {literals} literals, {direct} references, {optional} with `?`, {computed} in computed values",
        corpus.tools.len(),
        corpus.structs.0.len(),
    )
}

/// The planted errors of a file, with their positions.
struct Planted {
    mistakes: Vec<Mistake>,
    places: Vec<Place>,
}

/// Writes plans with one error each, and with two. Returns the errors' positions in each file.
fn broken(corpus: &Corpus, count: usize, scratch: &mut Scratch) -> BTreeMap<String, Planted> {
    let mut planted = BTreeMap::new();
    for mistake in Mistake::ALL {
        let name = format!("{mistake:?}");
        plant(corpus, &name, count, scratch, &mut planted, |_| {
            vec![mistake]
        });
    }
    plant(
        corpus,
        "Pairs",
        2 * count,
        scratch,
        &mut planted,
        |random| {
            // A cycle through an unknown step is not a cycle.
            let all = Mistake::ALL.iter().copied();
            let mut all: Vec<Mistake> = all
                .filter(|mistake| *mistake != Mistake::UnknownStep)
                .collect();
            random.shuffle(&mut all);
            all.truncate(2);
            all
        },
    );
    planted
}

fn plant(
    corpus: &Corpus,
    name: &str,
    count: usize,
    scratch: &mut Scratch,
    planted: &mut BTreeMap<String, Planted>,
    mistakes: impl Fn(&mut Random) -> Vec<Mistake>,
) {
    let package = format!("corpus_{}", names::snake_case(name));
    let mut random = Random::from(name);
    let mut plans: Vec<&Plan> = corpus.plans.iter().collect();
    random.shuffle(&mut plans);
    let mut modules = Vec::new();
    for plan in plans {
        if modules.len() == count {
            break;
        }
        let mistakes = mistakes(&mut random);
        let Some(marked) = mistakes::plant(corpus, plan, &mistakes, &mut random) else {
            continue;
        };
        let module = names::snake_case(&plan.id);
        let file = format!("{package}/src/{module}.rs");
        let (text, places) = mistakes::unmark(&marked, &file);
        planted.insert(file, Planted { mistakes, places });
        modules.push((module, text));
    }
    say(&format!("{name}: {} plans", modules.len()));
    scratch.package(&package, &["corpus_tools"], LINTS, &modules);
}

/// Reports the messages of rustc that are not one error for each planted error, at the wrong token.
fn compare(
    planted: &BTreeMap<String, Planted>,
    found: &[Diagnostic],
    scratch: &Scratch,
) -> Vec<String> {
    let mut by_file = BTreeMap::<&str, Vec<&Diagnostic>>::new();
    for one in found
        .iter()
        .filter(|one| one.level != "failure-note" && !one.message.starts_with("aborting due to"))
    {
        by_file.entry(one.file()).or_default().push(one);
    }
    let mut wrong = Vec::new();
    for (file, Planted { mistakes, places }) in planted {
        let mut said = by_file.remove(&**file).unwrap_or_default();
        said.sort_by_key(|one| one.primary.first().map(|place| (place.line, place.start)));
        let right = |(one, place): (&&Diagnostic, &Place)| {
            one.level == "error" && one.primary == [place.clone()]
        };
        if said.len() == places.len() && said.iter().zip(places).all(right) {
            continue;
        }
        let text = scratch.read(file);
        wrong.push(format!("{mistakes:?} in {file}: {} messages", said.len()));
        for place in places {
            let line = text
                .lines()
                .nth(place.line as usize - 1)
                .unwrap_or_default();
            wrong.push(format!(
                "{}:{}..{}: {line}",
                place.line, place.start, place.end
            ));
        }
        wrong.extend(said.iter().map(|one| one.rendered.clone()));
    }
    for (file, said) in by_file {
        wrong.push(format!("in {file}:"));
        wrong.extend(said.iter().map(|one| one.rendered.clone()));
    }
    wrong
}
