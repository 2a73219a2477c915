//! Random plans, and strings full of the marks of dialects: a written blueprint is read as an equal plan.

use super::{plans, read};
use plan_runtime::Plan;
use plan_runtime::plan::{
    Action, Number, Optional, Output, Part, Policy, Reference, Segment, Selector, Source, Step,
    Template, ToolInfo,
};
use proptest::prelude::*;
use std::cell::Cell;
use std::time::Duration;

const PIECES: &[&str] = &[
    "$ref:",
    "$ref:a",
    "$ref: a.b",
    "$refs:",
    "${",
    "${step[0].data",
    "${step[0].data}",
    "${steps[0].x}",
    "step[0]",
    "}",
    "}}",
    "{{",
    "{",
    "{{a.result}}",
    "{{a.result.x[0]}}",
    "{a.result.x}",
    "{{PLACEHOLDER_x}}",
    "PLACEHOLDER_",
    "\"",
    "\\",
    "\\\"",
    "\n",
    "\u{0}",
    "\u{2028}",
    "é",
    "😀",
    "a",
    ".",
    "..",
    "[",
    "]",
    "[*]",
    "[0]",
    "0",
    "01",
    "-",
    "$",
    "@",
    " ",
    "ref:a",
    "$a",
    "*",
];

fn text() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..7);
    prop_oneof![4 => pieces.prop_map(|pieces| pieces.concat()), 1 => ".{0,8}"]
}

fn name() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "x",
        "thread_id",
        "a-b",
        "@type",
        "$id",
        "odd key",
        "0",
        "01",
        "",
        "é",
    ]);
    prop_oneof![3 => simple.prop_map(str::to_owned), 1 => text()]
}

/// Returns a reference to an earlier step.
fn reference(place: usize) -> impl Strategy<Value = Option<Reference>> {
    let segment = prop_oneof![
        3 => name().prop_map(Selector::Key),
        2 => any::<u16>().prop_map(|index| Selector::Index(index.into())),
        1 => Just(Selector::Each),
    ];
    let path = prop::collection::vec(segment.prop_map(Segment::new), 0..4);
    (0..place, path).prop_map(|(at, path)| {
        let mut reference = Reference::new(Source::Step(at));
        reference.path = path.into();
        Some(reference)
    })
}

fn template(place: usize) -> BoxedStrategy<Template> {
    let references = match place {
        0 => Just(None).boxed(),
        _ => reference(place).boxed(),
    };
    let value = references.clone();
    let value = value.prop_map(|found| found.map_or(Template::Null, Template::Reference));
    let part = (references, text()).prop_map(|(reference, text)| match reference {
        Some(reference) => Part::value(reference, ""),
        None => Part::Literal(text),
    });
    let part = prop_oneof![part, text().prop_map(Part::Literal)];
    let leaf = prop_oneof![
        1 => Just(Template::Null),
        1 => any::<bool>().prop_map(Template::Bool),
        1 => any::<u64>().prop_map(|n| Template::Number(Number::Unsigned(n))),
        1 => any::<i64>().prop_map(|n| Template::Number(Number::Signed(n))),
        1 => (prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL).prop_map(|n| Template::Number(Number::Float(n))),
        1 => any::<i16>().prop_map(|n| Template::Number(Number::Float(n.into()))),
        3 => text().prop_map(Template::String),
        3 => value,
        2 => prop::collection::vec(part, 0..4).prop_map(Template::Text),
    ];
    let inner = leaf.prop_recursive(2, 10, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Template::List),
            members(inner),
        ]
    });
    inner.boxed()
}

fn members(inner: impl Strategy<Value = Template>) -> impl Strategy<Value = Template> {
    prop::collection::btree_map(name(), inner, 0..4).prop_map(Template::object)
}

fn policy() -> impl Strategy<Value = Policy> {
    let optional = prop::sample::select(vec![Optional::No, Optional::Whole]);
    (1..4_u32, prop::option::of(1..99_999_u64), optional).prop_map(
        |(attempts, timeout, optional)| {
            let mut policy = Policy::DEFAULT.attempts(attempts).optional(optional);
            policy.timeout = timeout.map(Duration::from_millis);
            policy
        },
    )
}

fn id() -> impl Strategy<Value = String> {
    let simple = prop::sample::select(vec![
        "a",
        "b",
        "step0",
        "step1",
        "step-1",
        "PLACEHOLDER_x",
        "result",
        "é",
        "a b",
    ]);
    prop_oneof![4 => simple.prop_map(str::to_owned), 1 => text()]
}

fn step(place: usize) -> impl Strategy<Value = Step> {
    let after = prop::collection::btree_set(0..place.max(1), 0..2);
    let names = (id(), text(), text());
    (names, members(template(place)), after, policy()).prop_map(
        move |((id, intent, about), args, after, policy)| {
            let after = after.into_iter().filter(|&after| after < place).collect();
            let mut tool = ToolInfo::new("t");
            tool.description = about;
            let mut step = Step::new(id, Action::call(tool, args));
            step.intent = intent.into();
            step.after = after;
            step.policy = policy.into();
            step
        },
    )
}

/// A plan that a blueprint can express, except for odd names.
fn plan() -> impl Strategy<Value = Plan> {
    let steps = (step(0), step(1), step(2));
    let chosen = prop::option::of(prop::sample::subsequence(vec![0, 1, 2], 0..=3));
    let types = prop::sample::select(vec!["", "String", "u64"]);
    let output = (chosen, template(3), types);
    (steps, output, text(), text()).prop_map(
        |((a, b, c), (chosen, value, type_name), name, description)| {
            let mut steps = vec![a, b, c];
            for place in 1..3 {
                if steps[..place].iter().any(|step| step.id == steps[place].id) {
                    steps[place].id.push_str(&place.to_string());
                }
            }
            let value = match chosen {
                Some(chosen) => outputs(&steps, &chosen),
                None => value,
            };
            let mut plan = Plan::new(name);
            plan.description = description.into();
            plan.steps = steps;
            plan.output = Output::new(value);
            plan.output.type_name = type_name.into();
            plan
        },
    )
}

fn outputs(steps: &[Step], chosen: &[usize]) -> Template {
    Template::object(chosen.iter().map(|&step| {
        let reference = Reference::new(Source::Step(step));
        (steps[step].id.clone(), reference.into())
    }))
}

/// Writes a plan, and reads it again. Returns `false` if a blueprint cannot express the plan.
fn check(plan: &Plan, is_expected: impl Fn(&str) -> bool) -> bool {
    match plan.to_blueprint() {
        Ok(text) => {
            assert_eq!(&read(&text), plan, "{text}");
            true
        }
        Err(unsupported) => {
            assert!(!unsupported.all().is_empty());
            for part in unsupported.all() {
                assert!(is_expected(&part.construct), "{part}");
            }
            false
        }
    }
}

/// Returns `true` for the reason of a name.
fn is_of_name(construct: &str) -> bool {
    let names = [
        "an empty name",
        "an empty id",
        "a name that looks like a reference",
    ];
    names.contains(&construct)
}

fn many<T: std::fmt::Debug>(least: u32, plans: impl Strategy<Value = T>, f: impl Fn(T) -> bool) {
    let written = Cell::new(0);
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(400)
    };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&plans, |plan| {
        written.set(written.get() + u32::from(f(plan)));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let written = written.get();
    assert!(written >= least, "only {written} were written");
}

#[test]
fn flat_plans_read_back() {
    many(100, plan(), |plan| check(&plan, is_of_name));
}

#[test]
fn other_plans_read_back_or_lack_something() {
    let plans = prop_oneof![plans::plan(), plans::plain()];
    many(40, plans, |plan| check(&plan, |_| true));
}

#[test]
fn plan_json_reads_back() {
    many(
        40,
        prop_oneof![plans::plan(), plans::plain()],
        |plan| match serde_json::to_string(&plan) {
            Ok(text) => {
                assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan, "{text}");
                true
            }
            Err(error) => {
                assert!(error.to_string().contains("twice"), "{error}");
                false
            }
        },
    );
}

#[test]
fn any_text_reads_back() {
    let step = |text: String| {
        let args = Template::object([("x", text.into())]);
        Step::new("a", Action::call("t", args))
    };
    let plans = (text(), text()).prop_map(|(one, other)| {
        let mut other = step(other);
        other.id = "step0".into();
        let mut plan = Plan::new("plan");
        plan.steps = vec![step(one), other];
        plan
    });
    many(400, plans, |plan| check(&plan, |_| false));
}
