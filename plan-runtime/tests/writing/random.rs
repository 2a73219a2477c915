//! Random plans, and strings full of the marks of dialects.

use super::{DIALECTS, plans, read};
use plan_runtime::Plan;
use plan_runtime::dynamic::Dialect;
use plan_runtime::plan::{
    Action, Input, Number, Optional, Output, Part, Policy, Reference, Segment, Selector, Source,
    Step, Template, ToolInfo,
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

/// Returns a reference to one of 2 inputs, or to an earlier step.
fn reference(place: usize, inputs: usize) -> impl Strategy<Value = Option<Reference>> {
    let segment = prop_oneof![
        3 => name().prop_map(Selector::Key),
        2 => any::<u16>().prop_map(|index| Selector::Index(index.into())),
        1 => Just(Selector::Each),
    ];
    let path = prop::collection::vec(segment.prop_map(Segment::new), 0..4);
    (0..place + inputs, path).prop_map(move |(at, path)| {
        let (source, path) = match at.checked_sub(place) {
            Some(input) => (Source::Input(input), Vec::new()),
            None => (Source::Step(at), path),
        };
        let mut reference = Reference::new(source);
        reference.path = path;
        Some(reference)
    })
}

fn template(place: usize, inputs: usize) -> BoxedStrategy<Template> {
    let references = match place + inputs {
        0 => Just(None).boxed(),
        _ => reference(place, inputs).boxed(),
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

fn step(place: usize, inputs: usize, rich: bool) -> impl Strategy<Value = Step> {
    let after = prop::collection::btree_set(0..place.max(1), 0..2);
    let policy = if rich {
        policy().boxed()
    } else {
        Just(Policy::DEFAULT).boxed()
    };
    let names = (id(), text(), text());
    (names, members(template(place, inputs)), after, policy).prop_map(
        move |((id, intent, about), args, after, policy)| {
            let after: Vec<usize> = after
                .into_iter()
                .filter(|&after| rich && after < place)
                .collect();
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

/// A plan that a dialect can hold, but for odd names: with inputs or without, with policies and order or without.
fn plan(inputs: usize, rich: bool) -> impl Strategy<Value = Plan> {
    let steps = (
        step(0, inputs, rich),
        step(1, inputs, rich),
        step(2, inputs, rich),
    );
    let chosen = prop::option::of(prop::sample::subsequence(vec![0, 1, 2], 0..=3));
    let types = prop::sample::select(vec!["", "String", "u64"]);
    let output = (chosen, template(3, inputs), types);
    (steps, output, text(), text(), prop::option::of(name())).prop_map(
        move |((a, b, c), (chosen, value, type_name), name, description, input)| {
            let mut steps = vec![a, b, c];
            for place in 1..3 {
                if steps[..place].iter().any(|step| step.id == steps[place].id) {
                    steps[place].id.push_str(&place.to_string());
                }
            }
            // No input has the name of a step.
            let mut names = [name.clone(), "x".to_owned()];
            for input in &mut names {
                while steps.iter().any(|step| step.id == *input) {
                    input.push('_');
                }
            }
            let value = match chosen {
                Some(chosen) => outputs(&steps, &chosen),
                None => value,
            };
            let said = input.is_some();
            let input = |name: String| {
                let mut input = Input::new(name, if said { type_name } else { "String" });
                if said {
                    input.description = description.clone().into();
                }
                input
            };
            let mut plan = Plan::new(name);
            plan.description = description.clone().into();
            plan.inputs = names.map(input)[..inputs].to_vec();
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

/// Returns `true` for a construct that such a plan may lack.
fn is_known(construct: &str) -> bool {
    [
        "an empty name",
        "an empty id",
        "the name of another input",
        "a name that looks like a reference",
        "which has the name of an input",
    ]
    .iter()
    .any(|known| construct.contains(known))
}

fn check(dialect: Dialect, plan: &Plan, strict: bool) -> bool {
    match dialect.write(plan) {
        Ok(text) => {
            assert_eq!(&read(&text, dialect), plan, "{text}");
            true
        }
        Err(unsupported) => {
            assert!(!unsupported.all().is_empty());
            for lack in unsupported.all() {
                assert!(!strict || is_known(&lack.construct), "{lack}");
            }
            false
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

fn many<T: std::fmt::Debug>(least: u32, plans: impl Strategy<Value = T>, f: impl Fn(T) -> bool) {
    let written = Cell::new(0);
    let mut runner = proptest::test_runner::TestRunner::new(config(400));
    let result = runner.run(&plans, |plan| {
        written.set(written.get() + u32::from(f(plan)));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(
        written.get() >= least,
        "only {} were written",
        written.get()
    );
}

#[test]
fn tool_plans_read_back() {
    many(60, plan(0, false), |plan| {
        check(Dialect::ToolPlan, &plan, false)
    });
}

#[test]
fn blueprints_read_back() {
    many(100, plan(0, true), |plan| {
        check(Dialect::Blueprint, &plan, true)
    });
}

#[test]
fn action_plans_read_back() {
    many(100, plan(2, false), |plan| {
        check(Dialect::ActionPlan, &plan, true)
    });
}

#[test]
fn any_plan_is_written_or_said_to_lack_something() {
    let [tool_plan, blueprint, action_plan] = DIALECTS;
    let dialects = [tool_plan, blueprint, action_plan, Dialect::PlanJson];
    let written = dialects.each_ref().map(|_| Cell::new(0));
    many(400, prop_oneof![plans::plan(), plans::plain()], |plan| {
        for (dialect, written) in dialects.iter().zip(&written) {
            let is_written = match dialect {
                Dialect::PlanJson => is_plan_json(&plan),
                dialect => check(*dialect, &plan, false),
            };
            written.set(written.get() + u32::from(is_written));
        }
        true
    });
    let counts = written.map(|count| count.get());
    assert!(counts.iter().all(|count| *count > 40), "{counts:?}");
}

/// Returns whether plan JSON can express a plan, which then reads back as an equal plan.
fn is_plan_json(plan: &Plan) -> bool {
    match Dialect::PlanJson.write(plan) {
        Ok(text) => {
            assert_eq!(&serde_json::from_str::<Plan>(&text).unwrap(), plan);
            true
        }
        Err(unsupported) => {
            let text = unsupported.to_string();
            assert!(text.contains("twice"), "{text}");
            false
        }
    }
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
    let mut runner =
        proptest::test_runner::TestRunner::new(config(crate::common::cases(600, 4_000)));
    let result = runner.run(&plans, |plan| {
        for dialect in DIALECTS {
            prop_assert!(check(dialect, &plan, true));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
