//! Conditions and lists.

use super::stage::{
    End, Stage, act, branch, each, list, local, of, plan, step, string, text, value, with,
};
use super::support::statuses;
use plan_runtime::plan::{
    Body, Computed, Condition, Number, Policy, Segment, Selector, Source, Template,
};
use serde_json::{Value, json};

fn number(number: u64) -> Template {
    Template::Number(Number::Unsigned(number))
}

fn key(name: &'static str) -> Segment {
    Segment::new(Selector::Key(name.to_owned()))
}

/// `if first { "a" } else if let Some(x) = second { x } [else { "c" }]`
fn choice(first: Template, second: Template, last: bool) -> Body {
    let binds = Condition::Let {
        pattern: "Some(x)".into(),
        value: second,
    };
    let mut branches = vec![
        branch(vec![Condition::Holds(first)], act(string("a"))),
        branch(vec![binds], act(local(0))),
    ];
    if last {
        branches.push(branch(Vec::new(), act(string("c"))));
    }
    Body::If(branches)
}

#[test]
fn the_first_condition_that_holds_is_taken() {
    let nowhere: Template = Computed::new("nowhere", []).into();
    for (first, second, last, output, log) in [
        (Template::Bool(true), nowhere, true, json!("a"), "a@0"),
        (Template::Bool(false), string("b"), true, json!("b"), "b@0"),
        (
            Template::Bool(false),
            Template::Null,
            true,
            json!("c"),
            "c@0",
        ),
        (
            Template::Bool(false),
            Template::Null,
            false,
            json!(null),
            "",
        ),
    ] {
        let choice = step("a", choice(first, second, last), &[]);
        let plan = plan(vec![
            choice,
            step("b", value(of(Source::Step(0), vec![], "a")), &[]),
        ]);
        let stage = Stage::default();
        let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
        assert_eq!(result.unwrap(), output);
        assert_eq!(stage.log(), log);
        let expected = match log {
            "" => "a skipped, b completed",
            _ => "a completed, b completed",
        };
        assert_eq!(statuses(&report), expected);
    }
}

fn bind(value: Template) -> Condition {
    Condition::Let {
        pattern: "Some(x)".into(),
        value,
    }
}

/// `if all { body } else { "else" }`
fn all(conditions: Vec<Condition>, body: Template) -> Body {
    let branches = vec![
        branch(conditions, act(body)),
        branch(Vec::new(), act(string("else"))),
    ];
    Body::If(branches)
}

#[test]
fn conditions_are_tested_from_left_to_right_up_to_the_first_that_does_not_hold() {
    let nowhere = || Template::from(Computed::new("nowhere", []));
    let holds = |holds: bool| Condition::Holds(Template::Bool(holds));
    for (conditions, output) in [
        (vec![holds(true), holds(true)], Some("then")),
        (
            vec![holds(false), Condition::Holds(nowhere())],
            Some("else"),
        ),
        (
            vec![bind(Template::Null), Condition::Holds(nowhere())],
            Some("else"),
        ),
        (
            vec![bind(string("x")), holds(false), bind(nowhere())],
            Some("else"),
        ),
        (
            vec![holds(true), Condition::Holds(nowhere()), holds(false)],
            None,
        ),
        (vec![bind(nowhere()), holds(false)], None),
    ] {
        let plan = plan(vec![step("a", all(conditions, string("then")), &[])]);
        let stage = Stage::default();
        let result = stage.play(stage.run::<Value>(&plan));
        assert_eq!(result.ok(), output.map(Value::from));
    }
}

#[test]
fn what_a_condition_binds_is_read_by_those_after_it_and_in_the_branch() {
    // if let Some(a) = inner && a.ok && let Some(b) = a.name { [a.name, b] }
    let nested =
        |name: Template, ok: bool| Template::object([("name", name), ("ok", Template::Bool(ok))]);
    let part = |local, name| of(Source::Local(local), vec![key(name)], name);
    let conditions = |depth: usize| {
        vec![
            bind(local(depth - 1)),
            Condition::Holds(part(depth, "ok")),
            bind(part(depth, "name")),
        ]
    };
    // In a list, the element is the first local value. Those of a branch that is not taken are gone in the next.
    let refused = vec![
        bind(string("gone")),
        Condition::Holds(Template::Bool(false)),
    ];
    let branches = vec![
        branch(refused, act(local(1))),
        branch(conditions(1), value(list(vec![part(1, "name"), local(2)]))),
        branch(vec![bind(local(0))], value(part(1, "ok"))),
    ];
    let elements = list(vec![
        nested(string("n"), true),
        nested(Template::Null, true),
        nested(string("n"), false),
        Template::Null,
    ]);
    let plan = plan(vec![step("all", each(elements, Body::If(branches)), &[])]);
    let stage = Stage::default();
    let output = stage.play(stage.run::<Value>(&plan)).unwrap();
    assert_eq!(output, json!([["n", "n"], true, false, null]));
    assert_eq!(stage.log(), "");
}

/// A bound value counts toward the memory of a run until the branch ends.
#[test]
fn values_of_a_branch_that_is_not_taken_are_let_go() {
    let refused = || {
        let test = Condition::Holds(Template::Bool(false));
        branch(
            vec![bind(string(&"x".repeat(40_000))), test],
            act(string("never")),
        )
    };
    let mut branches: Vec<_> = (0..40).map(|_| refused()).collect();
    branches.push(branch(vec![bind(string("y"))], act(local(0))));
    let plan = plan(vec![step("a", Body::If(branches), &[])]);
    let stage = Stage::default();
    let limits = plan_runtime::run::Limits::DEFAULT.total(200_000);
    let output = stage.play(stage.run::<Value>(&plan).limits(limits));
    assert_eq!(output.unwrap(), json!("y"));
}

#[test]
fn a_condition_that_is_none_fails_the_step() {
    for (condition, message) in [
        (string("yes"), "expected a boolean"),
        (
            of(Source::Step(0), vec![key("x")], "first.x"),
            "`first` has no `x`",
        ),
    ] {
        let condition = Condition::Holds(condition);
        let body = Body::If(vec![branch(vec![condition], act(string("a")))]);
        let first = step("first", value(Template::Object(Vec::new())), &[]);
        let plan = plan(vec![first, step("a", body, &[])]);
        let stage = Stage::default();
        let error = stage.play(stage.run::<Value>(&plan)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(message), "{text}");
        assert!(error.is_permanent());
        assert_eq!(stage.log(), "");
    }
}

#[test]
fn one_call_an_element_in_order() {
    let keys = ["a", "b", "c", "d"].map(string).to_vec();
    let policy = Policy::DEFAULT.concurrency(2);
    let plan = plan(vec![with(
        step("all", each(list(keys), act(local(0))), &[]),
        policy,
    )]);
    let stage = Stage::default().with("a", &[(35, End::Ok)]);
    let (result, report) = stage.play(stage.run::<Value>(&plan).with_report());
    assert_eq!(result.unwrap(), json!(["a", "b", "c", "d"]));
    assert_eq!(stage.log(), "a@0 b@0 c@10 d@20");
    assert_eq!(stage.most(), 2);
    let attempts = report.steps()[0].attempts();
    let elements: Vec<_> = attempts.iter().map(|it| it.element()[0]).collect();
    assert_eq!(elements, [0, 1, 2, 3]);
}

#[test]
fn the_run_bounds_calls_and_earlier_steps_go_first() {
    let keys = |name: &str| list((0..3).map(|i| string(&format!("{name}{i}"))).collect());
    let plan = plan(vec![
        step("a", each(keys("a"), act(local(0))), &[]),
        step("b", each(keys("b"), act(local(0))), &[]),
        step("c", act(string("c")), &[]),
    ]);
    let stage = Stage::default();
    stage
        .play(stage.run::<Value>(&plan).concurrency(2))
        .unwrap();
    assert_eq!(stage.log(), "a0@0 a1@0 a2@10 b0@10 b1@20 b2@20 c@30");
    assert_eq!(stage.most(), 2);
}

#[test]
fn lists_in_lists_maps_and_conditions_inside() {
    // for x in [[1, 2], [], [3]] { for y in x { if let Some(z) = y { z } } }
    let inner = |items: &[u64]| list(items.iter().map(|it| number(*it)).collect());
    let binds = Condition::Let {
        pattern: "Some(z)".into(),
        value: local(1),
    };
    let body = Body::If(vec![branch(vec![binds], act(local(2)))]);
    let outer = list(vec![
        inner(&[1, 2]),
        inner(&[]),
        list(vec![Template::Null, number(3)]),
    ]);
    let plan1 = plan(vec![step("all", each(outer, each(local(0), body)), &[])]);
    let stage = Stage::default();
    let output = stage.play(stage.run::<Value>(&plan1)).unwrap();
    assert_eq!(output, json!([[1, 2], [], [null, 3]]));
    assert_eq!(stage.log(), "1@0 2@0 3@0");

    // for (k, v) in map { v.id }, all of which are computed
    let map = ["p", "q"].map(|name| (name, list(vec![string(name)])));
    let map = value(Template::object(map));
    let at = |index| Segment::new(Selector::Index(index));
    let pair = list(vec![
        of(Source::Local(0), vec![at(0)], "k"),
        of(Source::Local(0), vec![at(1), at(0)], "v[0]"),
    ]);
    let entries = each(of(Source::Step(0), vec![], "map"), value(pair));
    let plan2 = plan(vec![step("map", map, &[]), step("all", entries, &[])]);
    let output = stage.play(stage.run::<Value>(&plan2)).unwrap();
    assert_eq!(output, json!([["p", "p"], ["q", "q"]]));
}

#[test]
fn no_elements_give_an_empty_list() {
    let plan = plan(vec![
        step("none", each(list(vec![]), act(local(0))), &[]),
        step("after", act(of(Source::Step(0), vec![], "none")), &[]),
    ]);
    let stage = Stage::default();
    let output = stage.play(stage.run::<Value>(&plan)).unwrap();
    assert_eq!(output, json!([]));
    assert_eq!(text(&output), "[]");
}

#[test]
fn an_error_names_the_element() {
    let row = |keys: &[&str]| list(keys.iter().map(|key| string(key)).collect());
    let rows = list(vec![row(&["a"]), row(&[]), row(&["b", "c", "d"])]);
    let plan1 = plan(vec![
        step("all", each(rows, each(local(0), act(local(1)))), &[]),
        step("next", act(of(Source::Step(0), vec![], "all")), &[]),
    ]);
    let stage = Stage::default()
        .with("c", &[(5, End::Permanent)])
        .with("a", &[(7, End::Permanent)]);
    let (result, report) = stage.play(stage.run::<Value>(&plan1).concurrency(3).with_report());
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `all[0][0]` (act): a is gone (this blocked `next`)",
        "the first of the list, though another failed before it"
    );
    assert_eq!(error.failures()[0].element(), [0, 0]);
    assert_eq!(report.steps()[0].element(), [0, 0]);
    assert_eq!(
        stage.log(),
        "a@0 b@0 c@0",
        "nothing is started after a failure"
    );

    // A local value that lacks what is read of it.
    let missing = of(Source::Local(0), vec![key("id")], "x.id");
    let plan2 = plan(vec![step(
        "all",
        each(list(vec![Template::Object(Vec::new())]), act(missing)),
        &[],
    )]);
    let error = stage.play(stage.run::<Value>(&plan2)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `all[0]` (act): argument `key`: `x` has no `id`; \
         it is an empty object (reference `x.id`)"
    );

    let plan3 = plan(vec![step("all", each(string("abc"), act(local(0))), &[])]);
    let error = stage.play(stage.run::<Value>(&plan3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `all` (act): `for` iterates over a list or an object, \
         but `\"abc\"` is the string \"abc\""
    );
}

#[test]
fn long_lists_do_not_recurse() {
    let items = list((0..20_000).map(number).collect());
    let plan = plan(vec![step("all", each(items, value(local(0))), &[])]);
    let stage = Stage::default();
    let output = stage.play(stage.run::<Vec<u64>>(&plan)).unwrap();
    assert_eq!(output.len(), 20_000);
    assert_eq!(output[19_999], 19_999);
}
