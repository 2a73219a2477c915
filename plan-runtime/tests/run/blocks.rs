//! Blocks: plans inside steps.

use super::stage::{
    End, Stage, act, branch, each, list, local, ms, of, plan, step, string, value, with,
};
use super::support::{Driven, statuses};
use plan_runtime::plan::{
    Block, Body, Catch, Condition, Input, Optional, Policy, Role, Segment, Selector, Source, Step,
    Template,
};
use plan_runtime::run::{
    Observer, OnFailure, Run, RunErrorKind, Status, StepError, StepRef, Timer,
};
use plan_runtime::{Plan, Report, RunError};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A block with these steps, which gives what the last one does.
pub(crate) fn block(steps: Vec<Step>) -> Body {
    taking(vec![], steps)
}

/// Returns a block with these inputs.
pub(crate) fn taking(inputs: Vec<(&str, Template)>, steps: Vec<Step>) -> Body {
    let last = steps.iter().rposition(|step| step.role == Role::Work);
    let mut inner = plan(steps);
    inner.name = "inner".into();
    inner.output.value = out(last.unwrap());
    inner.inputs = inputs
        .iter()
        .map(|(name, _)| Input::new(*name, "Value"))
        .collect();
    Block::new(Template::object(inputs), inner).into()
}

pub(crate) fn out(step: usize) -> Template {
    of(Source::Step(step), vec![], "step")
}

pub(crate) fn input(place: usize) -> Template {
    of(Source::Input(place), vec![], "input")
}

/// Calls the tool with this key.
pub(crate) fn call(id: &str, key: &str, after: &[usize]) -> Step {
    step(id, act(string(key)), after)
}

pub(crate) fn undo(of: usize, mut step: Step) -> Step {
    step.role = Role::Undo(of);
    step
}

fn always(mut step: Step) -> Step {
    step.role = Role::Always;
    step
}

/// A plan whose output is that of its last step of work.
pub(crate) fn outer(steps: Vec<Step>) -> Plan {
    let last = steps.iter().rposition(|step| step.role == Role::Work);
    let mut plan = plan(steps);
    plan.output.value = out(last.unwrap());
    plan
}

pub(crate) fn played(stage: &Stage, plan: &Plan) -> (Result<Value, RunError>, Report) {
    played_with(stage, plan, |run| run)
}

pub(crate) fn played_with<'a>(
    stage: &'a Stage,
    plan: &'a Plan,
    set: impl FnOnce(Run<'a, Stage, Value>) -> Run<'a, Stage, Value>,
) -> (Result<Value, RunError>, Report) {
    let played = stage.play(set(stage.run::<Value>(plan)).with_report());
    assert_eq!(stage.running(), 0);
    played
}

pub(crate) fn failed(stage: &Stage, plan: &Plan) -> RunError {
    played(stage, plan).0.unwrap_err()
}

fn undone(error: &RunError) -> Vec<&str> {
    error.undone().collect()
}

fn not_undone(error: &RunError) -> Vec<&str> {
    error.not_undone().collect()
}

pub(crate) const RETRY: Policy = Policy::DEFAULT
    .attempts(2)
    .jitter(false)
    .backoff(Duration::from_millis(100));

#[test]
fn the_steps_of_a_block_start_when_they_can() {
    let inner = vec![
        call("a", "a", &[]),
        call("b", "b", &[]),
        call("_", "c", &[0, 1]),
    ];
    let plan = outer(vec![
        call("first", "f", &[]),
        step("trip", block(inner), &[0]),
        call("last", "l", &[1]),
    ]);
    let stage = Stage::default().with("b", &[(30, End::Ok)]);
    let (output, report) = played(&stage, &plan);
    assert_eq!(output.unwrap(), "l");
    assert_eq!(stage.log(), "f@0 a@10 b@10 c@40 l@50");
    assert_eq!(
        statuses(&report),
        "first completed, trip completed, last completed"
    );
    assert_eq!(report.step("trip").unwrap().attempts().len(), 1);
    assert_eq!(report.step("trip").unwrap().duration(), Some(ms(40)));
}

#[test]
fn values_go_in_and_out() {
    let inner = taking(
        vec![("name", out(0)), ("item", local(0))],
        vec![
            step("named", act(input(0)), &[]),
            step("_", value(list(vec![out(0), input(1)])), &[]),
        ],
    );
    let items = list(vec![string("x"), string("y")]);
    let plan = outer(vec![
        call("first", "f", &[]),
        step("pairs", each(items, inner), &[]),
    ]);
    let (output, _) = played(&Stage::default(), &plan);
    assert_eq!(output.unwrap(), json!([["f", "x"], ["f", "y"]]));
}

#[test]
fn actions_have_the_numbers_of_the_whole_plan() {
    use plan_runtime::check::{Request, Started};
    fn start<'x>(number: usize, request: Request<'_>, (): &'x ()) -> Started<'x> {
        let given: Value =
            plan_runtime::resolve::resolve(&request.action().args, request.scope()).unwrap();
        let expected = given.as_u64().map(|it| it as usize);
        assert_eq!(expected, Some(number));
        request.compute::<Value>(None)
    }
    let number = |number: u64| value(number.into());
    // The blocks have the numbers 1, 3 and 7.
    let deep = block(vec![step("c", number(4), &[]), step("_", number(5), &[])]);
    let inner = block(vec![
        step("a", number(2), &[]),
        step("b", deep, &[]),
        step("_", number(6), &[]),
    ]);
    let plan = outer(vec![
        step("one", number(0), &[]),
        step("two", inner, &[]),
        step("three", block(vec![step("_", number(8), &[])]), &[]),
        step("four", number(9), &[]),
    ]);
    let run = Run::<(), u64>::new(&plan, Ok(vec![]), &(), start);
    assert_eq!(Driven::new(run).ended().unwrap(), 9);
}

#[test]
fn blocks_are_in_branches_and_in_each_other() {
    let yes = || vec![Condition::Holds(true.into())];
    let deep = block(vec![call("a", "a", &[]), call("_", "b", &[0])]);
    let body = Body::If(vec![branch(yes(), block(vec![step("_", deep, &[])]))]);
    let no = Body::If(vec![branch(
        vec![Condition::Holds(false.into())],
        block(vec![call("_", "never", &[])]),
    )]);
    let plan = outer(vec![step("no", no, &[]), step("yes", body, &[])]);
    let stage = Stage::default();
    assert_eq!(played(&stage, &plan).0.unwrap(), "b");
    assert_eq!(stage.log(), "a@0 b@10");
}

fn pages(names: &[&str]) -> Body {
    let inner = taking(
        vec![("name", local(0))],
        vec![
            step("fetched", act(input(0)), &[]),
            step("_", act(input(0)), &[0]),
        ],
    );
    each(list(names.iter().map(|name| string(name)).collect()), inner)
}

#[test]
fn there_is_no_barrier_between_elements() {
    let plan = outer(vec![step("pages", pages(&["a", "b"]), &[])]);
    let stage = Stage::default().with("b", &[(50, End::Ok)]);
    assert_eq!(played(&stage, &plan).0.unwrap(), json!(["a", "b"]));
    assert_eq!(stage.log(), "a@0 b@0 a@10 b@50");
}

#[test]
fn the_bound_is_on_calls_and_not_on_blocks() {
    let plan = outer(vec![step("pages", pages(&["a", "b", "c"]), &[])]);
    let stage = Stage::default();
    let (output, _) = played_with(&stage, &plan, |run| run.concurrency(1));
    assert_eq!(output.unwrap(), json!(["a", "b", "c"]));
    // The earliest element with a ready call goes first.
    assert_eq!(stage.log(), "a@0 a@10 b@20 b@30 c@40 c@50");
    let stage = Stage::default();
    played_with(&stage, &plan, |run| run.concurrency(2))
        .0
        .unwrap();
    assert_eq!(stage.log(), "a@0 b@0 a@10 b@10 c@20 c@30");
    assert_eq!(stage.most(), 2);
}

#[test]
fn the_earliest_element_with_a_ready_call_goes_first() {
    let names = ["a", "b", "c", "d"];
    let calls = [0_usize, 1, 2].map(|place| {
        let after: Vec<usize> = (0..place).collect();
        step(["x", "y", "_"][place], act(input(0)), &after)
    });
    let inner = taking(vec![("name", local(0))], calls.to_vec());
    let pages = each(list(names.map(string).to_vec()), inner);
    let plan = outer(vec![step("pages", pages, &[]), call("z", "z", &[])]);
    for (bound, log) in [
        (
            1,
            "a@0 a@10 a@20 b@30 b@40 b@50 c@60 c@70 c@80 d@90 d@100 d@110 z@120",
        ),
        (
            2,
            "a@0 b@0 a@10 b@10 a@20 b@20 c@30 d@30 c@40 d@40 c@50 d@50 z@60",
        ),
    ] {
        let stage = Stage::default();
        played_with(&stage, &plan, |run| run.concurrency(bound))
            .0
            .unwrap();
        assert_eq!(stage.log(), log);
    }
}

#[test]
fn elements_count_from_start_to_end() {
    let policy = Policy::DEFAULT.concurrency(1);
    let plan = outer(vec![with(step("pages", pages(&["a", "b"]), &[]), policy)]);
    let stage = Stage::default();
    played(&stage, &plan).0.unwrap();
    assert_eq!(stage.log(), "a@0 a@10 b@20 b@30");
}

#[test]
fn waits_inside_do_not_count() {
    let inner = taking(
        vec![("name", local(0))],
        vec![with(step("_", act(input(0)), &[]), RETRY)],
    );
    let names = list(vec![string("a"), string("b")]);
    let plan = outer(vec![step("pages", each(names, inner), &[])]);
    let stage = Stage::default().with("a", &[(10, End::Transient), (10, End::Ok)]);
    played_with(&stage, &plan, |run| run.concurrency(1))
        .0
        .unwrap();
    assert_eq!(stage.log(), "a@0 b@10 a@110");
}

#[test]
fn an_attempt_is_one_run_of_the_block() {
    let inner = vec![call("a", "a", &[]), call("_", "b", &[0])];
    let plan = outer(vec![with(step("trip", block(inner), &[]), RETRY)]);
    let stage = Stage::default().with("b", &[(10, End::Transient), (10, End::Ok)]);
    let (output, report) = played(&stage, &plan);
    assert_eq!(output.unwrap(), "b");
    assert_eq!(stage.log(), "a@0 b@10 a@120 b@130");
    let attempts = report.step("trip").unwrap().attempts();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        attempts[0].error().unwrap().to_string(),
        "step `trip._` (act): b is busy"
    );
    // A permanent failure inside is not retried.
    let stage = Stage::default().with("b", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(stage.log(), "a@0 b@10");
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `trip._` (act): b is gone"
    );
}

#[test]
fn a_failure_is_that_of_the_step_inside() {
    let chunks = taking(
        vec![("name", input(0))],
        vec![step("chunks", act(input(0)), &[]), call("_", "z", &[0])],
    );
    let body = taking(vec![("name", local(0))], vec![step("deep", chunks, &[])]);
    let names = list(vec![string("a"), string("b")]);
    let plan = outer(vec![
        step("pages", each(names, body), &[]),
        call("after", "z", &[0]),
    ]);
    let stage = Stage::default().with("b", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `pages[1].deep.chunks` (act): b is gone (this blocked `pages[1].deep._` and `after`)"
    );
    let [failure] = error.failures() else {
        panic!("{error}")
    };
    assert_eq!(failure.step(), "pages[1].deep.chunks");
    assert_eq!(failure.tool(), Some("act"));
    assert!(failure.error().as_tool().is_some());
}

#[test]
fn the_first_of_several_failures_counts() {
    let inner = vec![
        call("a", "a", &[]),
        call("b", "b", &[]),
        step("_", value(1.into()), &[0, 1]),
    ];
    let policy = Policy::DEFAULT.catch(Catch::Whole);
    let stage = || {
        Stage::default()
            .with("a", &[(20, End::Permanent)])
            .with("b", &[(10, End::Transient)])
    };
    let caught = outer(vec![with(step("trip", block(inner.clone()), &[]), policy)]);
    let (output, _) = played_with(&stage(), &caught, |run| run.on_failure(OnFailure::Continue));
    assert_eq!(
        output.unwrap(),
        json!({"Err": {"step": "trip.a", "code": "FAILED", "message": "a is gone", "transient": false, "attempts": 1}})
    );
    let plan = outer(vec![step("trip", block(inner), &[])]);
    let error = failed(&stage(), &plan);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `trip.a` (act): a is gone (this blocked `trip._`); step `trip.b` (act): b is busy"
    );
}

#[test]
fn null_and_a_fallback_replace_what_a_block_gives() {
    let inner = || block(vec![call("_", "a", &[])]);
    let plan = outer(vec![
        with(
            step("one", inner(), &[]),
            Policy::DEFAULT.optional(Optional::Whole),
        ),
        with(
            step("two", inner(), &[]),
            Policy::DEFAULT.fallback(string("else")),
        ),
        step("both", value(list(vec![out(0), out(1)])), &[]),
    ]);
    let stage = Stage::default().with("a", &[(10, End::Transient)]);
    let (output, report) = played(&stage, &plan);
    assert_eq!(output.unwrap(), json!([null, "else"]));
    assert_eq!(
        report.step("one").unwrap().status().to_string(),
        "recovered: step `one._` (act): a is busy"
    );
}

#[test]
fn an_element_fails_by_itself() {
    let names = ["a", "b"];
    for (policy, expected) in [
        (Policy::DEFAULT.optional(Optional::Each), json!(["a", null])),
        (
            Policy::DEFAULT.catch(Catch::Each),
            json!([{"Ok": "a"}, {"Err": {
                "step": "pages[1].fetched", "code": "FAILED", "message": "b is busy", "transient": true, "attempts": 1
            }}]),
        ),
    ] {
        let plan = outer(vec![with(step("pages", pages(&names), &[]), policy)]);
        let stage = Stage::default().with("b", &[(10, End::Transient)]);
        assert_eq!(played(&stage, &plan).0.unwrap(), expected);
    }
}

/// A block whose `held` is undone by `released`, and which ends with a call to `key`.
pub(crate) fn holding(key: &str) -> Vec<Step> {
    vec![
        call("held", "hold", &[]),
        undo(0, step("released", act(out(0)), &[])),
        call("_", key, &[0]),
        always(call("closed", "close", &[])),
    ]
}

#[test]
fn what_a_block_did_is_undone_before_the_next_attempt() {
    let plan = outer(vec![with(step("trip", block(holding("b")), &[]), RETRY)]);
    let stage = Stage::default().with("b", &[(10, End::Transient), (10, End::Ok)]);
    let (output, _) = played(&stage, &plan);
    assert_eq!(output.unwrap(), "b");
    assert_eq!(
        stage.log(),
        "hold@0 b@10 hold@20 close@30 hold@140 b@150 close@160"
    );
}

#[test]
fn what_a_block_did_is_undone_before_its_failure_is_seen() {
    let plan = outer(vec![
        with(
            step("trip", block(holding("b")), &[]),
            Policy::DEFAULT.optional(Optional::Whole),
        ),
        call("next", "n", &[0]),
    ]);
    let stage = Stage::default().with("b", &[(10, End::Transient)]);
    played(&stage, &plan).0.unwrap();
    assert_eq!(stage.log(), "hold@0 b@10 hold@20 close@30 n@40");
}

#[test]
fn nothing_makes_up_for_what_a_block_did_not_undo() {
    let policy = || RETRY.optional(Optional::Whole);
    let plan = outer(vec![with(step("trip", block(holding("b")), &[]), policy())]);
    let stage = || {
        Stage::default()
            .with("b", &[(10, End::Transient)])
            .with("hold", &[(10, End::Ok), (10, End::Transient)])
    };
    let error = failed(&stage(), &plan);
    assert_eq!(not_undone(&error), ["trip.held"]);
    assert!(error.is_permanent());
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `trip._` (act): b is busy; step `trip.released` (act): hold is busy; not undone: `trip.held`"
    );
    let plan = outer(vec![with(
        step("trip", block(holding("b")), &[]),
        Policy::DEFAULT.catch(Catch::Whole),
    )]);
    assert_eq!(
        played(&stage(), &plan).0.unwrap(),
        json!({"Err": {
            "step": "trip._", "code": "FAILED", "message": "b is busy; not undone: `trip.held`",
            "transient": false, "attempts": 1
        }})
    );
}

#[test]
fn a_block_whose_time_is_over_undoes_what_it_did() {
    let policy = RETRY.timeout(ms(50));
    let plan = outer(vec![with(step("trip", block(holding("b")), &[]), policy)]);
    let stage = Stage::default()
        .with("b", &[(0, End::Hang), (10, End::Ok)])
        // Undoing takes longer than the block may.
        .with("hold", &[(10, End::Ok), (200, End::Ok), (10, End::Ok)]);
    let (output, report) = played(&stage, &plan);
    assert_eq!(output.unwrap(), "b");
    assert_eq!(
        stage.log(),
        "hold@0 b@10 hold@50 close@250 hold@360 b@370 close@380"
    );
    let attempts = report.step("trip").unwrap().attempts();
    assert_eq!(
        attempts[0].error().unwrap().to_string(),
        "step `trip`: took longer than 50ms; undone: `trip.held`"
    );
    assert_eq!(attempts[0].error().unwrap().code(), "TIMEOUT");
}

#[test]
fn a_deadline_is_over_all_attempts() {
    let mut policy = RETRY;
    policy.deadline = Some(ms(130));
    let plan = outer(vec![with(
        step("trip", block(vec![call("_", "b", &[])]), &[]),
        policy,
    )]);
    let stage = Stage::default().with("b", &[(10, End::Transient), (100, End::Ok)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `trip`: took longer than 130ms over all attempts"
    );
    assert_eq!(stage.dropped(), 1);
}

#[test]
fn a_run_that_is_cancelled_or_late_has_its_blocks_end() {
    let plan = outer(vec![
        call("first", "f", &[]),
        undo(0, call("unfirst", "u", &[])),
        step("trip", block(holding("b")), &[0]),
        step(
            "pages",
            each(
                list(vec![1.into()]),
                block(vec![step("deep", block(holding("c")), &[])]),
            ),
            &[0],
        ),
    ]);
    let stage = || {
        Stage::default()
            .with("b", &[(0, End::Hang)])
            .with("c", &[(0, End::Hang)])
    };
    let expected = "f@0 hold@10 hold@10 b@20 c@20 hold@40 hold@40 close@50 close@50 u@60";
    let late = stage();
    let (result, report) = played_with(&late, &plan, |run| run.deadline(ms(40)));
    assert_eq!(late.log(), expected);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Deadline);
    assert_eq!(undone(&error), ["first", "trip.held", "pages[0].deep.held"]);
    assert_eq!(not_undone(&error), [""; 0]);
    assert_eq!(
        statuses(&report),
        "first completed, unfirst completed, trip cancelled, pages cancelled"
    );
    let cancelled = stage();
    let (result, _) = played_with(&cancelled, &plan, |run| {
        run.cancel_on(cancelled.timer.sleep(ms(40)))
    });
    assert_eq!(cancelled.log(), expected);
    assert_eq!(result.unwrap_err().kind(), RunErrorKind::Cancelled);
}

#[test]
fn blocks_and_the_plan_share_the_grace() {
    let plan = outer(vec![
        call("first", "f", &[]),
        undo(0, call("unfirst", "u", &[])),
        step("trip", block(holding("b")), &[0]),
    ]);
    let stage = || {
        Stage::default()
            .with("b", &[(0, End::Hang)])
            .with("hold", &[(10, End::Ok), (60, End::Ok)])
    };
    // The time is over while the block is being undone, and while the plan is.
    for (grace, log, left) in [
        (50, "f@0 hold@10 b@20 hold@40", vec!["first", "trip.held"]),
        (
            75,
            "f@0 hold@10 b@20 hold@40 close@100 u@110",
            vec!["first"],
        ),
    ] {
        let stage = stage();
        let (result, _) = played_with(&stage, &plan, |run| {
            run.deadline(ms(40)).grace_period(ms(grace))
        });
        let error = result.unwrap_err();
        assert_eq!(stage.log(), log);
        assert_eq!(not_undone(&error), left);
        assert_eq!(error.kind(), RunErrorKind::Deadline);
    }
}

#[test]
fn a_failure_beside_a_block_ends_it_or_not() {
    let plan = outer(vec![
        call("bad", "x", &[]),
        step("trip", block(holding("b")), &[]),
    ]);
    let stage = || {
        Stage::default()
            .with("x", &[(15, End::Permanent)])
            .with("b", &[(30, End::Ok)])
    };
    for (on_failure, log, status) in [
        // The block succeeds, and is undone since the plan has failed.
        (
            OnFailure::Stop,
            "x@0 hold@0 b@10 close@40 hold@50",
            "completed",
        ),
        (
            OnFailure::Cancel,
            "x@0 hold@0 b@10 hold@15 close@25",
            "cancelled",
        ),
    ] {
        let stage = stage();
        let (result, report) = played_with(&stage, &plan, |run| run.on_failure(on_failure));
        let error = result.unwrap_err();
        assert_eq!(stage.log(), log);
        assert_eq!(undone(&error), ["trip.held"]);
        assert_eq!(report.step("trip").unwrap().status().to_string(), status);
    }
}

#[test]
fn a_block_that_succeeded_is_undone_with_the_plan() {
    let trip = taking(
        vec![("key", out(0))],
        vec![
            call("flight", "f", &[]),
            call("hotel", "h", &[0]),
            undo(0, step("unflight", act(input(0)), &[])),
            undo(1, step("unhotel", act(out(1)), &[])),
            step("_", act(input(0)), &[1]),
            always(call("closed", "close", &[])),
        ],
    );
    let plan = outer(vec![
        call("key", "k", &[]),
        undo(0, call("unkey", "uk", &[])),
        step("trip", trip, &[]),
        undo(2, step("untrip", act(out(2)), &[])),
        call("after", "a", &[2]),
        undo(4, call("unafter", "ua", &[])),
        call("bad", "x", &[4]),
    ]);
    let stage = Stage::default().with("x", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        stage.log(),
        "k@0 f@10 h@20 k@30 close@40 a@50 x@60 ua@70 k@80 h@90 k@100 uk@110"
    );
    assert_eq!(
        undone(&error),
        ["after", "trip", "key", "trip.hotel", "trip.flight"]
    );
    assert_eq!(not_undone(&error), [""; 0]);
    // If the plan succeeds, nothing is undone.
    let stage = Stage::default();
    played(&stage, &plan).0.unwrap();
    assert_eq!(stage.log(), "k@0 f@10 h@20 k@30 close@40 a@50 x@60");
}

#[test]
fn undo_steps_are_handed_on_through_blocks() {
    let deep = || block(holding("b"));
    let middle = block(vec![step("deep", deep(), &[]), call("_", "c", &[0])]);
    let plan = outer(vec![step("trip", middle, &[]), call("bad", "x", &[0])]);
    let stage = Stage::default().with("x", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(stage.log(), "hold@0 b@10 close@20 c@30 x@40 hold@50");
    assert_eq!(undone(&error), ["trip.deep.held"]);
    // In the block around it, a failure undoes it before another attempt.
    let middle = block(vec![step("deep", deep(), &[]), call("_", "c", &[0])]);
    let plan = outer(vec![with(step("trip", middle, &[]), RETRY)]);
    let stage = Stage::default().with("c", &[(10, End::Transient), (10, End::Ok)]);
    played(&stage, &plan).0.unwrap();
    assert_eq!(
        stage.log(),
        "hold@0 b@10 close@20 c@30 hold@40 hold@150 b@160 close@170 c@180"
    );
}

#[test]
fn an_undo_step_that_fails_inside_is_reported() {
    let plan = outer(vec![
        step("trip", block(holding("b")), &[]),
        call("bad", "x", &[0]),
    ]);
    let stage = Stage::default()
        .with("x", &[(10, End::Permanent)])
        .with("hold", &[(10, End::Ok), (10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(not_undone(&error), ["trip.held"]);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `bad` (act): x is gone; step `trip.released` (act): hold is gone; not undone: `trip.held`"
    );
}

#[test]
fn the_elements_of_a_list_that_fails_are_undone() {
    let inner = || {
        taking(
            vec![("name", local(0))],
            vec![
                step("held", act(input(0)), &[]),
                undo(0, step("released", act(input(0)), &[])),
                step("_", act(input(0)), &[0]),
            ],
        )
    };
    let names = || list(["a", "b", "c"].map(string).to_vec());
    let ok = (10, End::Ok);
    let stage = || Stage::default().with("c", &[(30, End::Ok), (10, End::Permanent), ok]);
    let plan = outer(vec![
        with(
            step("pages", each(names(), inner()), &[]),
            Policy::DEFAULT.optional(Optional::Whole),
        ),
        call("next", "n", &[0]),
    ]);
    let at_once = stage();
    played(&at_once, &plan).0.unwrap();
    assert_eq!(
        at_once.log(),
        "a@0 b@0 c@0 a@10 b@10 c@30 c@40 a@50 b@50 n@60"
    );
    let one = Policy::DEFAULT.concurrency(1).optional(Optional::Whole);
    let plan = outer(vec![with(step("pages", each(names(), inner()), &[]), one)]);
    let stage = stage();
    played(&stage, &plan).0.unwrap();
    assert_eq!(stage.log(), "a@0 a@10 b@20 b@30 c@40 c@70 c@80 b@90 a@100");
    // A block that cannot be undone has no replacement.
    let plan = outer(vec![with(
        step("pages", each(names(), inner()), &[]),
        Policy::DEFAULT.optional(Optional::Whole),
    )]);
    let stage = Stage::default()
        .with("c", &[(30, End::Ok), (10, End::Permanent), ok])
        .with("a", &[ok, ok, (10, End::Transient)]);
    let error = failed(&stage, &plan);
    assert_eq!(not_undone(&error), ["pages[0].held"]);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `pages[2]._` (act): c is gone; step `pages[0].released` (act): a is busy; \
         undone: `pages[2].held` and `pages[1].held`; not undone: `pages[0].held`"
    );
}

#[test]
fn undo_steps_inside_undo_and_always_steps_are_dropped() {
    let plan = outer(vec![
        call("a", "a", &[]),
        undo(0, step("una", block(holding("b")), &[])),
        always(step("end", block(holding("c")), &[])),
        call("bad", "x", &[0]),
    ]);
    let stage = Stage::default().with("x", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        stage.log(),
        "a@0 x@10 hold@20 b@30 close@40 hold@50 c@60 close@70"
    );
    assert_eq!(undone(&error), ["a"]);
}

#[test]
fn a_panic_inside_is_the_failure_of_its_step() {
    let plan = outer(vec![step("trip", block(holding("b")), &[])]);
    let stage = Stage::default().with("b", &[(10, End::Panic)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `trip._` (act): panicked: b is upside down; undone: `trip.held`"
    );
}

#[test]
fn the_output_of_a_block_may_fail() {
    let mut inner = plan(vec![call("a", "a", &[])]);
    inner.output.value = of(
        Source::Step(0),
        vec![Segment::new(Selector::Key("missing".into()))],
        "a.missing",
    );
    let body = Body::from(Block::new(Template::object::<String>([]), inner));
    let plan = outer(vec![step("trip", body, &[])]);
    let error = failed(&Stage::default(), &plan);
    assert!(
        matches!(error.failures()[0].error(), StepError::Arguments(_)),
        "{error}"
    );
    assert_eq!(error.failures()[0].step(), "trip");
}

#[derive(Default)]
struct Paths(Mutex<Vec<String>>);

impl Observer for Paths {
    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        self.0.lock().unwrap().push(format!("{step}@{attempt}"));
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{step} {}", status.name()));
    }
}

#[test]
fn observers_see_the_steps_inside() {
    let plan = outer(vec![step("pages", pages(&["a"]), &[])]);
    let paths = Arc::new(Paths::default());
    let stage = Stage::default();
    played_with(&stage, &plan, |run| run.observe(paths.clone()))
        .0
        .unwrap();
    assert_eq!(
        *paths.0.lock().unwrap(),
        [
            "pages[0]@1",
            "pages[0].fetched@1",
            "pages[0].fetched completed",
            "pages[0]._@1",
            "pages[0]._ completed",
            "pages completed",
        ]
    );
}

#[test]
fn a_run_may_be_dropped_at_any_poll() {
    let plan = outer(vec![
        step("pages", pages(&["a", "b", "c"]), &[]),
        step("trip", block(holding("x")), &[0]),
    ]);
    for most in 0..40 {
        let stage = Stage::default().with("x", &[(10, End::Permanent)]);
        let mut driven = Driven::new(stage.run::<Value>(&plan).concurrency(2));
        for _ in 0..most {
            if driven.poll().is_ready() {
                break;
            }
            if let Some(next) = stage.timer.next() {
                stage.timer.advance(next);
            }
        }
        drop(driven);
        assert_eq!(stage.running(), 0);
    }
}

/// The undo of an element starts right after the undo of another element, before the undo of its whole group has ended.
#[test]
fn elements_are_undone_within_the_bound_one_after_another() {
    let inner = vec![
        step("held", act(input(0)), &[]),
        undo(0, step("undone", act(input(0)), &[])),
        step("_", act(input(1)), &[0]),
    ];
    let keys = ["a", "b", "c", "d"].map(|key| list(vec![string(key), string(&format!("{key}!"))]));
    let part = |place| {
        of(
            Source::Local(0),
            vec![Segment::new(Selector::Index(place))],
            "x",
        )
    };
    let inputs = vec![("key", part(0)), ("then", part(1))];
    let body = each(list(keys.to_vec()), taking(inputs, inner));
    let plan = plan(vec![with(
        step("all", body, &[]),
        Policy::DEFAULT.concurrency(2),
    )]);
    let stage = Stage::default()
        .with("b", &[(10, End::Ok), (100, End::Ok)])
        .with("d!", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert_eq!(undone(&error).len(), 4);
    assert_eq!(
        stage.log(),
        "a@0 b@0 a!@10 b!@10 c@20 d@20 c!@30 d!@30 d@40 b@50 c@50 a@60"
    );
}
