//! The values that a run holds: their bytes count, each is read once, and many of them take no time.

use super::blocks::{block, input, taking};
use super::stage::{
    End, Stage, act, branch, each, ending, list, local, of, plan, step, string, value, with,
};
use crate::golden;
use plan_runtime::Plan;
use plan_runtime::plan::{
    Block, Body, Catch, Condition, Input, Loop, Policy, Role, Source, Step, Template,
};
use plan_runtime::run::Limits;
use serde_json::Value;
use std::time::Duration;

/// Returns the numbers of the actions that have started, and the end of a run with these limits. A call that has started may not have been polled when a limit is exceeded.
fn play(stage: Stage, plan: &Plan, limits: Limits) -> (Vec<usize>, String) {
    let result = stage.play(stage.run::<Value>(plan).limits(limits));
    (stage.calls().1, ending(&result))
}

fn output(step: usize) -> Template {
    of(Source::Step(step), vec![], "step")
}

/// A step that undoes the first step, and reads its output.
fn undo(key: &str) -> Step {
    let mut undo = step("back", act(list(vec![string(key), output(0)])), &[]);
    undo.role = Role::Undo(0);
    undo
}

#[test]
fn a_call_that_succeeds_after_a_failure_has_read_its_values_once() {
    let parcel = act(list(vec![string("parcel"), output(0)]));
    let mut plan = plan(vec![
        step("payment", act(string("payment")), &[]),
        step("parcel", parcel, &[]),
        step("mail", act(string("mail")), &[]),
        undo("back"),
    ]);
    plan.output.value = Template::Null;
    let stage = Stage::default()
        .with("mail", &[(20, End::Permanent)])
        .with(r#"["parcel","payment"]"#, &[(60, End::Ok)]);
    stage.play(stage.run::<Value>(&plan)).unwrap_err();
    assert_eq!(
        stage.calls().0.join(" "),
        r#"["back","payment"]@70 ["parcel","payment"]@10 mail@0 payment@0"#
    );
}

/// A loop of two rounds, each of which calls the tool with the value of the round before.
pub(super) fn rounds(collect: bool) -> Step {
    let last = of(Source::Input(0), vec![], "last");
    let bound = Condition::Let {
        pattern: "Some(_)".into(),
        value: last.clone(),
    };
    let more = Body::If(vec![
        branch(vec![bound], value(Template::Bool(false))),
        branch(vec![], value(Template::Bool(true))),
    ]);
    let mut round = plan(vec![
        step("more", more, &[]),
        step("turn", act(list(vec![string("a turn"), last])), &[]),
    ]);
    round.inputs = vec![Input::new("last", "Option<Value>")];
    let inputs = Template::object([("last", Template::Null)]);
    let more = of(Source::Step(0), vec![], "more");
    let mut repeat = Loop::new(Block::new(inputs, round), more);
    repeat.last = true;
    let mut policy = Policy::DEFAULT;
    policy.at_most = Some(3);
    policy.collect = collect;
    with(step("turns", repeat.into(), &[]), policy)
}

/// Plans in which everything counts that a run holds.
pub(super) fn holding() -> Vec<Plan> {
    let words = || list(["some", "words", "in", "a list"].map(string).to_vec());
    let each_word = |body| each(words(), body);
    let bound = |inner| {
        let condition = Condition::Let {
            pattern: "Some(y)".into(),
            value: local(0),
        };
        Body::If(vec![branch(vec![condition], inner)])
    };
    let inner = |key: &str| {
        vec![
            step(&format!("{key}1"), act(input(0)), &[]),
            step(
                &format!("{key}2"),
                act(list(vec![output(0), input(0)])),
                &[],
            ),
        ]
    };
    let limited = |body, concurrency| {
        let mut policy = Policy::DEFAULT.attempts(2).jitter(false);
        policy.concurrency = Some(concurrency);
        with(step("each", body, &[]), policy)
    };
    let all = |key: &str, count: usize| {
        let read = (0..count).map(output).collect();
        step(key, act(list(read)), &[])
    };
    let mut optional = Policy::DEFAULT.attempts(2).jitter(false);
    optional.fallback = Some(list(vec![string("instead"), string("of a value")]));
    let busy = with(step("busy", act(string("busy")), &[]), optional.clone());
    let blocked = vec![step("b", act(string("gone")), &[])];
    let blocked = with(step("blocked", block(blocked), &[]), optional);
    let mut caught = Policy::DEFAULT;
    caught.catch = Catch::Whole;
    let caught = with(step("caught", act(string("caught")), &[]), caught);
    vec![
        plan(vec![
            step("a", act(string("a")), &[]),
            step("b", act(list(vec![output(0), string("b")])), &[]),
            step("c", value(list(vec![output(0), output(1)])), &[]),
            all("d", 3),
        ]),
        plan(vec![limited(each_word(act(local(0))), 2), all("all", 1)]),
        plan(vec![
            limited(each_word(each(words(), act(local(1)))), 3),
            all("all", 1),
        ]),
        plan(vec![
            limited(each_word(bound(act(list(vec![local(1), local(0)])))), 3),
            all("all", 1),
        ]),
        plan(vec![rounds(false), all("all", 1)]),
        plan(vec![rounds(true), all("all", 1)]),
        plan(vec![
            step("a", act(string("a")), &[]),
            step("trip", taking(vec![("x", output(0))], inner("t")), &[]),
            all("all", 2),
        ]),
        plan(vec![
            limited(each_word(taking(vec![("x", local(0))], inner("t"))), 2),
            all("all", 1),
        ]),
        plan(vec![busy, blocked, caught, all("all", 3)]),
    ]
}

/// A run with more bytes starts the same actions, and maybe more. With enough bytes, the run ends as without a limit.
#[test]
fn bytes_and_elements_count() {
    let stage = || {
        Stage::default()
            .with("busy", &[(10, End::Transient)])
            .with("gone", &[(10, End::Permanent)])
    };
    let stride = crate::common::amount::<usize>(17, 1);
    let mut outcomes = Vec::new();
    for plan in holding() {
        let whole = play(stage(), &plan, Limits::DEFAULT);
        let (mut before, mut outcome) = (Vec::new(), String::new());
        for total in (0..).step_by(stride) {
            let (starts, ending) = play(stage(), &plan, Limits::DEFAULT.total(total));
            assert!(starts.starts_with(&before), "{total} {plan}");
            let is_enough = !ending.contains("was ended");
            assert!(!is_enough || (&starts, &ending) == (&whole.0, &whole.1));
            // The long form tries the totals of the quick form as well.
            if total % 17 == 0 {
                outcome += &format!("\n{total} bytes: {starts:?} {ending}");
                if is_enough && total > 500 {
                    break;
                }
            }
            before = starts;
        }
        for most in 0..8 {
            let limits = Limits::DEFAULT.elements(most).calls(12 - most);
            outcome += &format!("\n{most} elements: {:?}", play(stage(), &plan, limits));
        }
        outcomes.push(outcome);
    }
    golden::check("bytes", &outcomes);
}

/// A driver looks at each element a few times. This test lasts for minutes if a driver looks at all elements for each.
#[test]
fn many_elements_with_local_values_end() {
    let many = 100_000;
    let condition = Condition::Let {
        pattern: "Some(y)".into(),
        value: local(0),
    };
    let body = Body::If(vec![branch(vec![condition], value(local(1)))]);
    let items = (0..many).map(|number: u64| number.into()).collect();
    let mut policy = Policy::DEFAULT.timeout(Duration::from_secs(1));
    policy.deadline = Some(Duration::from_secs(2));
    let plan = plan(vec![with(
        step("each", each(list(items), body), &[]),
        policy,
    )]);
    let stage = Stage::default();
    let run = stage.run::<Vec<Value>>(&plan).concurrency(1_000_000);
    assert_eq!(stage.play(run).unwrap().len(), many as usize);
}

/// Within a bound, the first call in the plan starts first, even if another call has waited longer. The rule includes blocks, undo steps and always steps.
#[test]
fn within_a_bound_the_first_call_in_the_plan_starts_first() {
    let inner = |key: &str| {
        let first = step(&format!("{key}1"), act(string(&format!("{key}1"))), &[]);
        let second = step(&format!("{key}2"), act(string(&format!("{key}2"))), &[0]);
        let mut back = step("back", act(string(&format!("{key} back"))), &[]);
        back.role = Role::Undo(0);
        let mut last = step("last", act(string(&format!("{key} last"))), &[]);
        last.role = Role::Always;
        block(vec![first, second, back, last])
    };
    let mut plan = plan(vec![
        step("a", inner("a"), &[]),
        step("b", inner("b"), &[]),
        step("c", act(string("c")), &[]),
        step("d", act(string("d")), &[0, 1, 2]),
    ]);
    plan.output.value = Template::Null;
    for (bound, log) in [
        (1, "a1 a2 a last b1 b2 b last c d a back b back"),
        (2, "a1 b1 a2 b2 a last b last c d a back b back"),
    ] {
        let stage = Stage::default().with("d", &[(10, End::Permanent)]);
        let run = stage.run::<Value>(&plan).concurrency(bound);
        assert!(stage.play(run).is_err());
        let starts: Vec<String> = stage
            .log()
            .split(' ')
            .map(|call| call.split('@').next().unwrap().to_owned())
            .collect();
        assert_eq!(starts.join(" "), log);
    }
}
