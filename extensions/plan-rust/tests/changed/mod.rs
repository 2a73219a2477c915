//! Changed plans of a program: they cannot run, or they run as they print.

mod says;

use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::{
    Action, Body, Condition, Executable, For, Part, Reference, RustText, Segment, Selector, Source,
    Step, Template,
};
use plan_runtime::{Plan, Result, plan, tool};
use plan_rust::to_rust;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use says::{Reading, Said};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Mutex;

type App = Mutex<Vec<String>>;

/// Records a number.
#[tool]
async fn record(app: &App, value: u64) -> Result<u64> {
    app.lock().unwrap().push(value.to_string());
    Ok(value)
}

/// Records a text.
#[tool]
async fn note(app: &App, text: String) -> Result<u64> {
    app.lock().unwrap().push(text);
    Ok(1)
}

const LIMIT: u64 = 7;

plan! {
    Pay(a: u64, b: u64, xs: Vec<u64>, ys: Vec<u64>) -> u64 {
        step plain = Record { value: a };
        step twice = Record { value: a * 2 + LIMIT };
        step sum = Record { value: twice + b };
        step each = for x in xs { Record { value: x * 3 } };
        step again = for y in ys { Record { value: y * 3 } };
        step other = for (i, y) in ys.iter().enumerate() { Record { value: y + b + i as u64 } };
        step text = Note { text: format!("{a:>4}/{:<5}|{}", b + a, sum) };
        step choice = if twice > b && let Some(x) = xs.first() { Record { value: x + a } } else { Record { value: b } };
        sum + a
    }
}

/// The inputs of a plan by the names of now.
fn inputs(plan: &Plan) -> (Value, HashMap<String, Said>) {
    let (mut data, mut said) = (json!({}), HashMap::new());
    for (place, input) in (1_u64..).zip(&plan.inputs) {
        let numbers = [place * 10 + 1, place * 10 + 2];
        let (value, meant) = if input.type_name.starts_with("Vec") {
            let meant = numbers.map(Said::Number);
            (json!(numbers), Said::List(meant.into()))
        } else {
            (json!(numbers[0]), Said::Number(numbers[0]))
        };
        data[&input.name] = value;
        said.insert(input.name.clone(), meant);
    }
    (data, said)
}

/// Returns the behavior of a run: the arguments of its calls, in order, and its output. Returns an error if the plan
/// cannot run.
fn outcome(plan: &Plan) -> std::result::Result<(Vec<String>, Value), String> {
    let app = App::default();
    let toolbox = Toolbox::<App>::new().with::<Record>().with::<Note>();
    let run = toolbox.run(plan, inputs(plan).0, &app);
    let output = smol::block_on(run).map_err(|error| error.to_string())?;
    let mut calls = app.into_inner().unwrap();
    calls.sort();
    Ok((calls, output))
}

fn bodies<'p>(body: &'p mut Body, sites: &mut Sites<'p>) {
    match body {
        Body::Action(action) => match &mut action.args {
            Template::Object(entries) => {
                let values = entries.iter_mut().map(|entry| &mut entry.value);
                sites.templates.extend(values);
            }
            args => sites.templates.push(args),
        },
        Body::If(branches) => {
            for branch in branches {
                for condition in &mut branch.conditions {
                    match condition {
                        Condition::Let { pattern, value } => {
                            sites.patterns.push(pattern);
                            sites.templates.push(value);
                        }
                        Condition::Holds(value) => sites.templates.push(value),
                        _ => {}
                    }
                }
                bodies(&mut branch.body, sites);
            }
        }
        Body::For(each) => {
            sites.patterns.push(&mut each.pattern);
            sites.templates.push(&mut each.list);
            bodies(&mut each.body, sites);
        }
        _ => {}
    }
}

/// The parts of steps to change.
#[derive(Default)]
struct Sites<'p> {
    templates: Vec<&'p mut Template>,
    patterns: Vec<&'p mut RustText>,
}

impl<'p> Sites<'p> {
    fn of(plan: &'p mut Plan) -> Self {
        let mut sites = Self::default();
        for step in &mut plan.steps {
            bodies(&mut step.body, &mut sites);
        }
        sites.templates.push(&mut plan.output.value);
        sites
    }
}

const NAMES: [&str; 12] = [
    "a", "b", "xs", "ys", "x", "i", "twice", "sum", "LIMIT", "first", "plain", "new",
];
const PATTERNS: [&str; 10] = [
    "x", "y", "a", "twice", "LIMIT", "(i, y)", "(y, i)", "Some(x)", "Some(b)", "new",
];

/// Changes one element of a list, if it has any.
fn edit<T>(list: &mut [T], place: usize, change: impl FnOnce(&mut T)) {
    let count = list.len().max(1);
    if let Some(element) = list.get_mut(place % count) {
        change(element);
    }
}

/// Makes a change. The numbers choose the part to change, and its new value.
fn change(plan: &mut Plan, kind: u8, first: usize, second: usize) {
    let (name, pattern) = (
        NAMES[second % NAMES.len()],
        PATTERNS[second % PATTERNS.len()],
    );
    let (inputs, steps) = (plan.inputs.len().max(1), plan.steps.len().max(1));
    let (one, other) = (first % steps, second % steps);
    match kind {
        0 => edit(&mut plan.inputs, first, |it| it.name = name.into()),
        1 => edit(&mut plan.steps, first, |it| it.id = name.into()),
        2 if !plan.inputs.is_empty() => plan.inputs.swap(first % inputs, second % inputs),
        3 if !plan.steps.is_empty() => plan.steps.swap(one, other),
        4 if !plan.inputs.is_empty() => drop(plan.inputs.remove(first % inputs)),
        5 if !plan.steps.is_empty() => drop(plan.steps.remove(one)),
        6 if !plan.steps.is_empty() => {
            let copy = Step::new(name, plan.steps[one].body.clone());
            plan.steps.insert(second % (steps + 1), copy);
        }
        7 if !plan.steps.is_empty() => {
            let body = plan.steps[one].body.clone();
            plan.steps[one].body = std::mem::replace(&mut plan.steps[other].body, body);
        }
        8 => edit(&mut plan.steps, first, |it| {
            let list = Reference::new(Source::Input(2));
            it.body = For::new(pattern, list, it.body.clone()).into();
        }),
        9 => edit(&mut plan.inputs, first, |it| {
            it.type_name = ["u64", "u8", "Vec<u64>"][second % 3].into();
        }),
        10 => edit(&mut Sites::of(plan).patterns, first, |it| {
            **it = pattern.into();
        }),
        11 => {
            let templates = &mut Sites::of(plan).templates;
            let copy = templates[second % templates.len()].clone();
            edit(templates, first, |it| **it = copy);
        }
        12 => {
            for template in Sites::of(plan).templates {
                let Template::Text(parts) = template else {
                    continue;
                };
                let copy = parts[second % parts.len()].clone();
                edit(parts, first, |part| match (part, copy) {
                    (Part::Value { spec, .. }, Part::Value { spec: copy, .. }) if second < 20 => {
                        *spec = copy;
                    }
                    (Part::Value { value, .. }, Part::Value { value: copy, .. }) => *value = copy,
                    (Part::Value { spec, .. }, _) => {
                        *spec = [">4", "<5", ">6", ""][second % 4].into();
                    }
                    (part, copy) => *part = copy,
                });
            }
        }
        13 => {
            let templates = &mut Sites::of(plan).templates;
            let values = templates.iter().flat_map(|template| match &**template {
                Template::Text(parts) => &parts[..],
                _ => &[],
            });
            let mut values = values.filter_map(|part| match part {
                Part::Value { value, .. } => Some(value.clone()),
                Part::Literal(_) => None,
            });
            if let Some(copy) = values.nth(second % 3) {
                edit(templates, first, |it| **it = copy);
            }
        }
        _ => {
            let templates = Sites::of(plan).templates;
            let references = templates.into_iter().filter_map(|template| match template {
                Template::Reference(reference) => Some(reference),
                _ => None,
            });
            let mut references: Vec<_> = references.collect();
            edit(&mut references, first, |reference| match second % 6 {
                0 => **reference = reference.clone().index(1),
                1 => reference.source = Source::Local(0),
                2 => reference.source = Source::Step(second % 9),
                _ => reference.source = Source::Input(second % 4),
            });
        }
    }
}

/// Returns the reason why the plan cannot run after a change.
fn mistake(change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = Pay::PLAN.clone();
    change(&mut plan);
    let mistake = Executable::new(&plan).mistake().map(str::to_owned);
    let mistake = mistake.unwrap_or_else(|| panic!("it runs:\n{plan}"));
    let error = outcome(&plan).unwrap_err();
    assert!(error.ends_with(&mistake), "{error}");
    let undo = "; undo the change, or replace the computed value";
    mistake.strip_suffix(undo).unwrap_or(&mistake).to_owned()
}

/// The template of an argument.
fn argument(plan: &mut Plan, step: usize) -> &mut Template {
    match &mut plan.steps[step].body {
        Body::Action(action) => match &mut action.args {
            Template::Object(entries) => &mut entries[0].value,
            args => args,
        },
        _ => panic!("not one action"),
    }
}

#[test]
fn what_was_changed_is_said() {
    let twice = "step `twice` computes `a * 2 + LIMIT`, which was compiled";
    let rename = |place: usize, name: &'static str| {
        move |plan: &mut Plan| plan.inputs[place].name = name.into()
    };
    assert_eq!(
        mistake(rename(0, "c")),
        format!("{twice} to read the input `a`, but in its place is `c` now")
    );
    assert_eq!(
        mistake(|plan| plan.inputs.swap(0, 1)),
        format!("{twice} to read the input `a`, but in its place is `b` now")
    );
    assert_eq!(
        mistake(|plan| plan.inputs[0].type_name = "f64".into()),
        format!("{twice} for an input `a` of the type `u64`, which is `f64` now")
    );
    assert_eq!(
        mistake(|plan| plan.steps[0].id = "LIMIT".into()),
        format!("{twice} when `LIMIT` did not mean this step")
    );
    assert_eq!(
        mistake(|plan| drop(plan.inputs.drain(1..))),
        "step `sum` reads input number 1, but the plan has only 1"
    );
    assert_eq!(
        mistake(|plan| plan.steps.swap(1, 2)),
        "step `sum` computes `twice + b`, which was compiled to read the step `twice`, but in its place is `sum` now"
    );
    assert_eq!(
        mistake(|plan| match &mut plan.steps[3].body {
            Body::For(each) => each.pattern = "z".into(),
            _ => panic!("`each` is a `for`"),
        }),
        "step `each` computes `x * 3`, which was compiled inside of the pattern `x`, which is `z` now"
    );
    assert_eq!(
        mistake(|plan| match &mut plan.steps[5].body {
            Body::For(each) => each.pattern = "(y, i)".into(),
            _ => panic!("`other` is a `for`"),
        }),
        "step `other` computes `ys.iter().enumerate()`, which was compiled for the elements of `for (i, y) in`"
    );
    assert_eq!(
        mistake(|plan| {
            let list = Reference::new(Source::Input(2));
            plan.steps[1].body = For::new("a", list, plan.steps[1].body.clone()).into();
        }),
        format!("{twice} outside of the pattern `a`")
    );
    assert_eq!(
        mistake(|plan| {
            let twice = argument(plan, 1).clone();
            match &mut plan.steps[3].body {
                Body::For(each) => each.list = twice,
                _ => panic!("`each` is a `for`"),
            }
        }),
        "step `each` computes `a * 2 + LIMIT`, which was compiled as a value, and not for a pattern"
    );
    assert_eq!(
        mistake(|plan| {
            let Template::Text(parts) = argument(plan, 6) else {
                panic!("`text` is a text")
            };
            let Part::Value { value, .. } = &parts[2] else {
                panic!("`b + a` is a value")
            };
            *argument(plan, 0) = value.clone();
        }),
        "step `plain` computes `b + a`, which was compiled as a part of a text with the format `{:<5}`"
    );
}

/// A replaced format has no code, which is an error.
#[test]
fn another_format_is_only_text() {
    let mut plan = Pay::PLAN.clone();
    let Template::Text(parts) = argument(&mut plan, 6) else {
        panic!("`text` is a text")
    };
    let Part::Value { spec, .. } = &mut parts[0] else {
        panic!("`a` is a value")
    };
    assert_eq!(&**spec, ">4");
    *spec = ">6".into();
    let error = outcome(&plan).unwrap_err();
    assert!(error.contains("no code to compute `{:>6}`"), "{error}");
}

/// A step whose output does not fit the code is an error of the run.
#[test]
fn an_output_of_another_type_is_an_error() {
    let mut plan = Pay::PLAN.clone();
    plan.steps[1].body = plan.steps[3].body.clone();
    assert_eq!(Executable::new(&plan).mistake(), None);
    let error = outcome(&plan).unwrap_err();
    let message =
        "step `sum` (record): argument `value` takes u64, but `twice` is a list of 2 elements";
    assert!(error.contains(message), "{error}");
}

/// A part without a name in the pattern cannot be printed, whatever its value.
#[test]
fn a_reference_needs_a_name_in_the_pattern() {
    let with = |pattern: &str, tokens: &[Segment]| {
        let mut plan = Pay::PLAN.clone();
        let mut reference = Reference::new(Source::Local(0));
        reference.path = tokens.into();
        let act = Action::call("record", Template::object([("value", reference.into())]));
        plan.steps[0].body = For::new(pattern, Reference::new(Source::Input(2)), act).into();
        Executable::new(&plan).mistake().map(str::to_owned)
    };
    let index = |index| Segment::new(Selector::Index(index));
    let key = || Segment::new(Selector::Key("a".into()));
    let none = "step `plain` reads a local value for which its pattern has no name";
    for (pattern, path, message) in [
        ("x", vec![], None),
        ("x", vec![key()], None),
        ("(x)", vec![], None),
        ("_", vec![], Some(none.to_owned())),
        ("_", vec![key()], Some(none.to_owned())),
        ("(i, x)", vec![index(0)], None),
        ("(i, x)", vec![index(1), key()], None),
        (
            "(i, x)",
            vec![],
            Some(format!("{none}, but only for `i` and `x`")),
        ),
        (
            "(i, x)",
            vec![index(2)],
            Some(format!("{none}, but only for `i` and `x`")),
        ),
        (
            "(i, x)",
            vec![key()],
            Some(format!("{none}, but only for `i` and `x`")),
        ),
        (
            "(_, x)",
            vec![index(0)],
            Some(format!("{none}, but only for `x`")),
        ),
        ("(x,)", vec![index(0)], None),
        ("(x,)", vec![], Some(format!("{none}, but only for `x`"))),
    ] {
        assert_eq!(with(pattern, &path), message, "{pattern} {path:?}");
    }
}

#[test]
fn a_plan_that_was_changed_runs_as_it_is_printed_or_not_at_all() {
    let (same, refused, failed) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let one_more = |count: &Cell<usize>| count.set(count.get() + 1);
    let changes = vec((0_u8..17, 0_usize..40, 0_usize..40), 0..4);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(crate::common::cases(500, 1_000))
    });
    let checked = runner.run(&changes, |changes| {
        let mut plan = Pay::PLAN.clone();
        for (kind, first, second) in changes {
            change(&mut plan, kind, first, second);
        }
        if Executable::new(&plan).mistake().is_some() {
            one_more(&refused);
            return Ok(());
        }
        let Ok((calls, output)) = outcome(&plan) else {
            one_more(&failed);
            return Ok(());
        };
        let texts = [Some(plan.to_string()), to_rust(&plan).ok()];
        for text in texts.into_iter().flatten() {
            // The output marks a reference without a notation.
            if text.contains("reference(\"") {
                continue;
            }
            let reading = Reading::of(&text, inputs(&plan).1);
            let Some((meant, result)) = reading.and_then(|reading| reading.outcome()) else {
                panic!("{text}\nmeans nothing, but runs: {calls:?}, {output}");
            };
            prop_assert_eq!(&meant, &calls, "{}", text);
            prop_assert_eq!(&result.json(), &output, "{}", text);
        }
        one_more(&same);
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
    let counts = [same.get(), refused.get(), failed.get()];
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}
