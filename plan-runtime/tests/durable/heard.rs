//! An observer that checks the order of events: each end belongs to a start.

use plan_runtime::Plan;
use plan_runtime::plan::{Role, Step};
use plan_runtime::run::{Observer, Status, StepError, StepRef, Totals};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The events of one life of a run.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Events>);

#[derive(Default)]
struct Events {
    /// The paths of the steps that have started and not ended.
    steps: BTreeSet<String>,
    /// The paths and numbers of the attempts that have started and not ended.
    attempts: BTreeSet<String>,
    /// The paths and numbers of all calls of `act` that have started.
    calls: BTreeSet<String>,
    /// The paths of the steps that have ended.
    ended: BTreeSet<String>,
    wrong: Vec<String>,
}

/// Returns `true` if a path is the path of a part, or is inside the part.
fn is_part(path: &str, part: &str) -> bool {
    let rest = path.strip_prefix(part);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['@', '[', '.']))
}

impl Events {
    fn end_step(&mut self, step: &StepRef<'_>, status: &str) {
        let path = step.to_string();
        let was_open = self.steps.remove(&path);
        let has_start = match status {
            "blocked" | "not started" => false,
            // Without its step, an undo step does not start.
            "skipped" if matches!(step.step().role, Role::Undo(_)) => was_open,
            _ => true,
        };
        if was_open != has_start {
            self.wrong.push(format!(
                "`{path}` ends as {status}, and its start is {was_open}"
            ));
        }
        if !self.ended.insert(path.clone()) {
            self.wrong
                .push(format!("`{path}` ends twice, now as {status}"));
        }
        // A failure, a time limit and a cancellation drop attempts, which then have no end.
        let may_drop = ["cancelled", "failed", "recovered"].contains(&status);
        let mut open = self.steps.union(&self.attempts);
        let open = open.find(|it| is_part(it, &path) && !may_drop);
        let open = open.map(|open| format!("`{path}` ends as {status} before `{open}`"));
        self.wrong.extend(open);
        self.attempts.retain(|it| !is_part(it, &path));
        self.steps.retain(|it| !is_part(it, &path));
    }

    fn end_attempt(&mut self, step: &StepRef<'_>, attempt: u32) {
        let key = format!("{step}@{attempt}");
        if !self.attempts.remove(&key) {
            self.wrong.push(format!("`{key}` ends without a start"));
        }
        // A dropped plan inside a call notifies nobody.
        let inside = format!("{step}.");
        self.steps.retain(|it| !it.starts_with(&inside));
        self.attempts.retain(|it| !it.starts_with(&inside));
    }
}

impl Heard {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.0.lock().unwrap()
    }

    pub(crate) fn forget(&self) {
        *self.events() = Events::default();
    }

    /// Returns the first event that is wrong, or a call that started and that is not among the calls that were `made`.
    pub(crate) fn check(&self, made: &BTreeSet<String>) -> Result<(), String> {
        let events = self.events();
        let unmade = events.calls.difference(made).next();
        let unmade = unmade.map(|call| format!("`{call}` starts, and was not made"));
        events.wrong.first().cloned().or(unmade).map_or(Ok(()), Err)
    }
}

impl Observer for Heard {
    fn plan_finished(&self, _: &Plan, _: &Totals, _: Duration) {
        let mut events = self.events();
        let open = events.steps.union(&events.attempts).next().cloned();
        let open = open.map(|path| format!("`{path}` does not end"));
        events.wrong.extend(open);
    }

    fn step_started(&self, step: &StepRef<'_>) {
        let mut events = self.events();
        if !events.steps.insert(step.to_string()) {
            events.wrong.push(format!("`{step}` starts twice"));
        }
    }

    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        let (mut events, key) = (self.events(), format!("{step}@{attempt}"));
        if step.tool().is_some_and(|tool| tool.name == "act") {
            events.calls.insert(key.clone());
        }
        // The steps inside of a further attempt run again.
        let inside = format!("{step}.");
        events.ended.retain(|it| !it.starts_with(&inside));
        if !events.attempts.insert(key) {
            events
                .wrong
                .push(format!("`{step}@{attempt}` starts twice"));
        }
    }

    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, _: Duration) {
        self.events().end_attempt(step, attempt);
    }

    fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, _: &StepError, _: Duration) {
        self.events().end_attempt(step, attempt);
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        self.events().end_step(step, status.name());
    }

    fn step_skipped(&self, step: &StepRef<'_>) {
        self.events().end_step(step, "skipped");
    }

    fn step_blocked(&self, step: &StepRef<'_>, _: &Step) {
        self.events().end_step(step, "blocked");
    }
}
