//! Limits, gates, throttles, secrets, reports and toolboxes for blocks.

use super::blocks::{
    RETRY, block, call, failed, holding, input, out, outer, played, played_with, taking, undo,
};
use super::stage::{End, Stage, act, each, list, local, ms, step, string, value, with};
use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{Action, Body, Optional, Policy, Step, Template};
use plan_runtime::run::{
    CallContext, Decision, Gate, Limits, ManualTimer, OnFailure, PendingCall, Run, RunErrorKind,
    Throttle,
};
use plan_runtime::{Call, Result, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn deep(levels: usize, key: &str) -> Body {
    let mut body = act(string(key));
    for level in 0..levels {
        body = block(vec![step(&format!("in{level}"), body, &[])]);
    }
    body
}

#[test]
fn blocks_are_deep_in_each_other() {
    let plan = outer(vec![step("trip", deep(60, "a"), &[])]);
    // A block does not count as a plan inside the plan.
    let limits = Limits::DEFAULT.depth(0);
    let (output, _) = played_with(&Stage::default(), &plan, |run| run.limits(limits));
    assert_eq!(output.unwrap(), "a");
    let stage = Stage::default().with("a", &[(10, End::Permanent)]);
    let error = failed(&stage, &plan);
    assert!(
        error.failures()[0]
            .step()
            .starts_with("trip.in59.in58.in57.")
    );
    let plan = outer(vec![step("trip", deep(64, "a"), &[])]);
    let (output, _) = played_with(&Stage::default(), &plan, |run| run);
    assert_eq!(output.unwrap(), "a");
}

#[test]
fn calls_inside_count() {
    let plan = outer(vec![
        step("trip", block(holding("b")), &[]),
        call("next", "n", &[0]),
    ]);
    let limits = Limits::DEFAULT.calls(1);
    let stage = Stage::default();
    let (result, report) = played_with(&stage, &plan, |run| run.limits(limits));
    let error = result.unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit);
    assert_eq!(
        error.to_string(),
        "plan `test` was ended: step `trip._` (act): the run has made 1 call, its limit; iterate over less, or raise `run::Limits::calls`; not undone: `trip.held`"
    );
    assert_eq!(stage.log(), "hold@0");
    assert_eq!(
        report.step("next").unwrap().status().to_string(),
        "blocked by `trip`"
    );
}

#[test]
fn values_inside_count() {
    let text = "x".repeat(1000);
    let inner = || {
        taking(
            vec![("text", out(0))],
            vec![step("_", value(input(0)), &[])],
        )
    };
    let plan = outer(vec![
        step("text", value(string(&text)), &[]),
        step("one", inner(), &[]),
    ]);
    let (output, _) = played_with(&Stage::default(), &plan, |run| {
        run.limits(Limits::DEFAULT.total(100_000))
    });
    assert_eq!(output.unwrap(), json!(text));
    let (result, _) = played_with(&Stage::default(), &plan, |run| {
        run.limits(Limits::DEFAULT.total(3_000))
    });
    assert_eq!(result.unwrap_err().kind(), RunErrorKind::Limit);
    // The memory of consecutive blocks is freed.
    let many = each(
        list(vec![1.into(); 200]),
        taking(
            vec![("text", out(0))],
            vec![step("_", value(1.into()), &[])],
        ),
    );
    let many = with(step("many", many, &[]), Policy::DEFAULT.concurrency(1));
    let plan = outer(vec![step("text", value(string(&text)), &[]), many]);
    let (output, _) = played_with(&Stage::default(), &plan, |run| {
        // The report keeps something of each.
        run.limits(Limits::DEFAULT.total(500_000))
    });
    assert!(output.is_ok(), "{output:?}");
}

/// Allows calls unless their key is `no`.
struct Desk(Mutex<Vec<String>>);

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        self.0.lock().unwrap().push(call.to_string());
        if call.arguments()["key"] == "no" {
            return Decision::Refuse("no".into());
        }
        Decision::Allow
    }
}

#[test]
fn gates_are_asked_about_the_calls_inside() {
    let inner = vec![call("a", "yes", &[]), call("_", "no", &[0])];
    let policy = Policy::DEFAULT.optional(Optional::Whole);
    let plan = outer(vec![with(step("trip", block(inner), &[]), policy)]);
    let desk = Arc::new(Desk(Mutex::default()));
    let stage = Stage::default();
    let (output, report) = played_with(&stage, &plan, |run| run.gate(desk.clone()));
    assert_eq!(output.unwrap(), Value::Null);
    assert_eq!(
        *desk.0.lock().unwrap(),
        [
            r#"trip.a: act {"key":"yes"}"#,
            r#"trip._: act {"key":"no"}"#
        ]
    );
    assert_eq!(stage.log(), "yes@0");
    assert_eq!(
        report.step("trip").unwrap().error().unwrap().code(),
        "REFUSED"
    );
}

/// Answers no question about the key `open`.
struct Silent;

impl Gate for Silent {
    async fn ask(&self, call: PendingCall) -> Decision {
        if call.arguments()["key"] == "open" {
            return std::future::pending().await;
        }
        Decision::Allow
    }
}

/// A failed step sends no more questions, which makes room for the steps after it.
#[test]
fn a_failure_makes_room_for_other_questions() {
    let mut keys = vec![string("no")];
    keys.resize(80, string("open"));
    let all = with(
        step("all", each(list(keys), act(local(0))), &[]),
        Policy::DEFAULT.optional(Optional::Whole),
    );
    let plan = outer(vec![all, call("_", "a", &[])]);
    let stage = Stage::default().with("no", &[(10, End::Permanent)]);
    let (output, _) = played_with(&stage, &plan, |run| run.gate(Silent));
    assert_eq!(output.unwrap(), json!("a"));
    assert_eq!(stage.log(), "no@0 a@10");
}

#[test]
fn throttles_hold_inside() {
    let inner = || block(vec![call("_", "a", &[])]);
    let plan = outer(vec![step("one", inner(), &[]), step("two", inner(), &[])]);
    let stage = Stage::default();
    let throttle = Throttle::new().rate("act", 1, ms(100));
    played_with(&stage, &plan, |run| run.throttle(&throttle))
        .0
        .unwrap();
    assert_eq!(stage.log(), "a@0 a@100");
}

#[test]
fn what_the_report_says_of_a_block() {
    let names = list(vec![string("a"), string("b")]);
    let inner = taking(
        vec![("name", local(0))],
        vec![step("_", act(input(0)), &[])],
    );
    let plan = outer(vec![step("pages", each(names, inner), &[])]);
    let stage = Stage::default();
    let (_, report) = played_with(&stage, &plan, |run| {
        run.capture_arguments(true).capture_outputs(true)
    });
    let pages = report.step("pages").unwrap();
    assert_eq!(pages.output(), Some(&json!(["a", "b"])));
    let attempts: Vec<_> = pages
        .attempts()
        .iter()
        .map(|it| (it.element(), it.tool(), it.arguments()))
        .collect();
    assert_eq!(
        attempts,
        [
            (&[0][..], None, Some(&json!({"name": "a"}))),
            (&[1][..], None, Some(&json!({"name": "b"}))),
        ]
    );
}

#[test]
fn what_is_secret_outside_is_secret_inside() {
    let mut plan = outer(vec![step(
        "trip",
        taking(
            vec![("token", input(0))],
            // The value is not the object that the pattern of a loop needs.
            vec![step("_", each(input(0), act(local(0))), &[])],
        ),
        &[],
    )]);
    plan.inputs = vec![plan_runtime::plan::Input::new("token", "String")];
    plan.inputs[0].secrets = plan_runtime::plan::Secrets::whole();
    let stage = Stage::default();
    let inputs = Ok(vec![plan_runtime::resolve::StoredValue::json(
        "hunter2".into(),
    )]);
    let run = Run::<Stage, Value>::new(&plan, inputs, &stage, super::stage::start);
    let run = run.timer(stage.timer.clone()).capture_arguments(true);
    let (result, report) = stage.play(run.with_report());
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("trip._") && !error.contains("hunter2"),
        "{error}"
    );
    assert!(!format!("{report:?}").contains("hunter2"));
}

/// A tool that returns the path of its call.
#[derive(Serialize, Deserialize)]
struct Locate {}

impl plan_runtime::Shape for Locate {
    const SHAPE: plan_runtime::shape::TypeShape = plan_runtime::shape::TypeShape::Opaque;
}

impl Tool for Locate {
    type Output = String;
    const NAME: &'static str = "locate";
}

impl Call<()> for Locate {
    async fn call(self, (): &()) -> Result<String> {
        Ok("nowhere".into())
    }

    async fn call_in(self, (): &(), context: CallContext) -> Result<String> {
        let outer = context.outer().map(ToString::to_string);
        Ok(format!("{context} of {}, in {outer:?}", context.plan()))
    }
}

#[test]
fn a_call_inside_knows_where_it_is() {
    let locate = || Action::call("locate", Template::Object(vec![]));
    let inner = block(vec![Step::new("chunks", locate())]);
    let plan = outer(vec![step("pages", each(list(vec![1.into()]), inner), &[])]);
    let run = Run::<(), Value>::new(&plan, Ok(vec![]), &(), |_, request, app| {
        request.call::<Locate, ()>(app)
    });
    let output = super::support::Driven::new(run).ended().unwrap();
    assert_eq!(
        output,
        json!(["pages[0].chunks of test, in Some(\"pages[0]\")"])
    );
}

/// Runs a plan in the run that calls it, or hangs outside of one.
#[derive(Serialize, Deserialize)]
struct Nest {}

impl plan_runtime::Shape for Nest {
    const SHAPE: plan_runtime::shape::TypeShape = plan_runtime::shape::TypeShape::Opaque;
}

impl Tool for Nest {
    type Output = Value;
    const NAME: &'static str = "nest";
}

fn places<'x>(_: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
    match request.action().tool.as_ref().map(|tool| &*tool.name) {
        Some("nest") => request.call::<Nest, ()>(app),
        _ => request.call::<Locate, ()>(app),
    }
}

impl Call<()> for Nest {
    async fn call(self, (): &()) -> Result<Value> {
        std::future::pending().await
    }

    async fn call_in(self, app: &(), context: CallContext) -> Result<Value> {
        if context.step() == "never" {
            return self.call(app).await;
        }
        let locate = Action::call("locate", Template::Object(vec![]));
        let plan = outer(vec![Step::new("inner", locate)]);
        let run = Run::<(), Value>::new(&plan, Ok(vec![]), app, places);
        Ok(run.inside(&context).await?)
    }
}

#[test]
fn plans_run_in_the_grace() {
    let step = |id: &str, tool: &str, after: &[usize]| {
        step(
            id,
            Action::call(tool, Template::Object(vec![])).into(),
            after,
        )
    };
    let inner = vec![
        step("second", "locate", &[]),
        undo(0, step("unsecond", "nest", &[])),
        step("never", "nest", &[0]),
    ];
    let plan = outer(vec![
        step("first", "locate", &[]),
        undo(0, step("unfirst", "nest", &[])),
        super::stage::step("trip", block(inner), &[0]),
    ]);
    let timer = ManualTimer::new();
    let run = Run::<(), Value>::new(&plan, Ok(vec![]), &(), places);
    let run = run.timer(timer.clone()).deadline(ms(40));
    let mut driven = super::support::Driven::new(run);
    driven.pending();
    timer.advance(ms(40));
    let error = driven.ended().unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["first", "trip.second"]);
}

#[cfg(feature = "dynamic")]
#[test]
fn a_toolbox_runs_blocks() {
    use plan_runtime::dynamic::{Contract, Toolbox};
    let toolbox =
        Toolbox::<()>::new().with_fn(
            Contract::new("act"),
            |it| async move { Ok(it["key"].clone()) },
        );
    let inner = vec![call("a", "a", &[]), step("_", act(out(0)), &[])];
    let plan = outer(vec![
        step("trip", block(inner), &[]),
        step("last", act(out(0)), &[]),
    ]);
    let run = toolbox.run(&plan, (), &());
    assert_eq!(super::support::Driven::new(run).ended().unwrap(), "a");
}

#[test]
fn the_same_seed_gives_the_same_waits_inside() {
    let mut policy = RETRY;
    policy.jitter = true;
    let inner = vec![with(call("_", "a", &[]), policy)];
    let plan = outer(vec![step("trip", block(inner), &[])]);
    let log = |seed: u64| {
        let stage = Stage::default().with("a", &[(10, End::Transient), (10, End::Ok)]);
        played_with(&stage, &plan, |run| run.seed(seed)).0.unwrap();
        stage.log()
    };
    assert_eq!(log(7), log(7));
}

#[test]
fn what_runs_beside_a_failure_inside_goes_on_or_not() {
    let inner = vec![
        call("bad", "x", &[]),
        call("a", "a", &[]),
        call("b", "b", &[1]),
        step("_", value(1.into()), &[0, 2]),
    ];
    let plan = outer(vec![
        step("trip", block(inner), &[]),
        call("beside", "s", &[]),
    ]);
    for (on_failure, log, dropped) in [
        (OnFailure::Stop, "x@0 a@0 s@0", 0),
        (OnFailure::Continue, "x@0 a@0 s@0 b@20", 0),
        (OnFailure::Cancel, "x@0 a@0 s@0", 2),
    ] {
        let stage = Stage::default()
            .with("x", &[(10, End::Permanent)])
            .with("a", &[(20, End::Ok)])
            .with("s", &[(50, End::Ok)]);
        let (result, _) = played_with(&stage, &plan, |run| run.on_failure(on_failure));
        assert!(result.is_err());
        assert_eq!((&*stage.log(), stage.dropped()), (log, dropped));
    }
}

#[test]
fn undo_steps_are_kept_through_all_attempts_around_them() {
    // The block inside succeeds in each attempt, and is undone before the next one.
    let inner = vec![
        step("deep", block(holding("b")), &[]),
        undo(0, call("undeep", "u", &[])),
        call("_", "c", &[0]),
    ];
    let plan = outer(vec![with(step("trip", block(inner), &[]), RETRY)]);
    let stage = Stage::default().with("c", &[(10, End::Transient)]);
    let error = failed(&stage, &plan);
    assert_eq!(
        stage.log(),
        "hold@0 b@10 close@20 c@30 u@40 hold@50 hold@160 b@170 close@180 c@190 u@200 hold@210"
    );
    assert_eq!(
        error.undone().collect::<Vec<_>>(),
        ["trip.deep", "trip.deep.held"]
    );
    let stage = Stage::default();
    played(&stage, &plan).0.unwrap();
    assert_eq!(stage.log(), "hold@0 b@10 close@20 c@30");
}
