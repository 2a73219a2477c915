//! The events that observers receive.

use super::stage::{End, Stage, act, branch, each, list, local, ms, plan, step, string, with};
use plan_runtime::Plan;
use plan_runtime::plan::{Body, Condition, Optional, Policy, Step, Template};
use plan_runtime::run::{Observer, OnFailure, Status, StepError, StepRef, Totals};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// An observer that notes each event in a line.
#[derive(Default)]
pub(crate) struct Log(Mutex<Vec<String>>);

impl Log {
    fn say(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    pub(crate) fn said(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Observer for Log {
    fn plan_started(&self, plan: &Plan) {
        self.say(format!("plan {}", plan.name));
    }

    fn plan_finished(&self, _: &Plan, totals: &Totals, took: Duration) {
        self.say(format!("{totals} in {took:?}"));
    }

    fn step_ready(&self, step: &StepRef<'_>) {
        self.say(format!("{step} ready"));
    }

    fn step_started(&self, step: &StepRef<'_>) {
        self.say(format!("{step} started"));
    }

    fn list_started(&self, step: &StepRef<'_>, length: usize) {
        self.say(format!("{step} has {length}"));
    }

    fn element_finished(&self, step: &StepRef<'_>) {
        self.say(format!("{step} done"));
    }

    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        let tool = step.tool().map_or("", |tool| &*tool.name);
        self.say(format!("{step} {tool} {attempt}"));
    }

    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, took: Duration) {
        self.say(format!("{step} {attempt} ok {took:?}"));
    }

    fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, error: &StepError, took: Duration) {
        self.say(format!("{step} {attempt} {took:?}: {error}"));
    }

    fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {
        self.say(format!("{step} {attempt} in {wait:?}"));
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, took: Duration) {
        self.say(format!("{step} {status} {took:?}"));
    }

    fn step_skipped(&self, step: &StepRef<'_>) {
        self.say(format!("{step} skipped"));
    }

    fn step_blocked(&self, step: &StepRef<'_>, by: &Step) {
        self.say(format!("{step} blocked by {}", by.id));
    }
}

#[test]
fn an_observer_sees_it_all() {
    let policy = Policy::DEFAULT
        .attempts(2)
        .jitter(false)
        .optional(Optional::Each);
    let keys = list(["x", "y"].map(string).to_vec());
    let never = Condition::Holds(Template::Bool(false));
    let never = Body::If(vec![branch(vec![never], act(string("n")))]);
    let plan = plan(vec![
        with(step("all", each(keys, act(local(0))), &[]), policy),
        step("never", never, &[]),
        step("a", act(string("a")), &[0]),
        step("b", act(string("b")), &[2]),
    ]);
    let stage = Stage::default()
        .with("x", &[(10, End::Transient), (10, End::Permanent)])
        .with("a", &[(5, End::Permanent)]);
    let log = Arc::new(Log::default());
    let run = stage
        .run::<Value>(&plan)
        .observe(log.clone())
        .on_failure(OnFailure::Continue);
    stage.play(run).unwrap_err();
    assert_eq!(
        log.said(),
        [
            "plan test",
            "all ready",
            "never ready",
            "all started",
            "all has 2",
            "never started",
            "never skipped",
            "all[0] act 1",
            "all[1] act 1",
            "all[0] 1 10ms: x is busy",
            "all[0] 2 in 100ms",
            "all[1] 1 ok 10ms",
            "all[1] done",
            "all[0] act 2",
            "all[0] 2 10ms: x is gone",
            "all[0] done",
            "all recovered: x is gone 120ms",
            "a ready",
            "a started",
            "a act 1",
            "a 1 5ms: a is gone",
            "a failed: a is gone 5ms",
            "b blocked by a",
            "1 recovered, 1 skipped, 1 failed, 1 blocked in 125ms",
        ]
    );
}

#[test]
fn what_is_cancelled_has_finished() {
    let plan = plan(vec![step("a", act(string("a")), &[])]);
    let stage = Stage::default().with("a", &[(0, End::Hang)]);
    let log = Arc::new(Log::default());
    stage
        .play(
            stage
                .run::<Value>(&plan)
                .observe(log.clone())
                .deadline(ms(3)),
        )
        .unwrap_err();
    let said = log.said();
    assert_eq!(said[4..], ["a cancelled 3ms", "1 cancelled in 3ms"]);
}
