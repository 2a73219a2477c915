//! What a run does once its work has ended: if it has failed, it undoes the steps that completed, and then the steps run that always run.

use super::body_state::outcome;
use super::interrupts::Interrupts;
use super::ready::Ready;
use super::{Schedule, StepState};
use crate::error::{Cause, Interrupt, StepError, StepPath, Undoing};
use crate::failure::Failure;
use crate::plan::{Catch, ERR, OK, Role, number};
use crate::resolve::StoredValue;
use crate::run::context::CallContext;
use humantime::format_duration;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How far the ending of a run has come.
pub(super) struct Ending {
    /// What the work gave.
    result: Result<Value, Cause>,
    stage: Stage,
    /// Whether its time is limited, since the run was cancelled or passed its deadline.
    in_grace: bool,
    /// Whether it undoes a block that had succeeded, and nothing else.
    is_undo: bool,
    /// For each step of the work, how many that need it are still to be undone.
    left: Vec<u32>,
    /// For each step that always runs, how many of its kind it waits for.
    waits: HashMap<usize, u32>,
    /// For each step that always runs, those of its kind that wait for it.
    followers: HashMap<usize, Vec<usize>>,
    /// The steps that have ended since they were last looked at.
    ended: Vec<usize>,
    /// The steps that were undone, in this order.
    undone: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Undo,
    Always,
    /// Nothing is to run any more.
    Over,
}

impl Ending {
    fn new(result: Result<Value, Cause>, stage: Stage) -> Self {
        Self {
            result,
            stage,
            in_grace: false,
            is_undo: false,
            left: Vec::new(),
            waits: HashMap::new(),
            followers: HashMap::new(),
            ended: Vec::new(),
            undone: Vec::new(),
        }
    }

    /// That of a block which had succeeded, and is undone because something around it fails.
    pub(super) fn of_undo() -> Self {
        Self {
            in_grace: true,
            is_undo: true,
            ..Self::new(Err(Cause::Interrupted(Interrupt::Block)), Stage::Undo)
        }
    }

    pub(super) fn is_undo(&self) -> bool {
        self.is_undo
    }

    pub(super) fn is_in_grace(&self) -> bool {
        self.in_grace
    }

    /// A step is over.
    pub(super) fn ended(&mut self, step: usize) {
        self.ended.push(step);
    }
}

impl Schedule<'_> {
    /// Whether the work has ended, and there are steps for what comes then.
    pub(in crate::run) fn is_before_ending(&self) -> bool {
        self.ending.is_none() && (self.graph.last.is_some() || self.kept > 0)
    }

    /// Begins the ending: the work is over, and its output is made. `fits` says whether it is one.
    pub(in crate::run) fn begin_ending(
        &mut self,
        fits: impl FnOnce(&Value) -> Result<(), serde_json::Error>,
    ) {
        // The value is made once, since its code may have effects.
        let result = self
            .outcome(|output| output.read::<Value>())
            .and_then(|value| {
                // What it is has to be known before anything is undone.
                match fits(&value) {
                    Ok(()) => Ok(value),
                    Err(error) => Err(self.bad_output(&error)),
                }
            });
        let (failed, interrupt) = (result.is_err(), self.interrupts.happened().cloned());
        let stage = match interrupt {
            // The time for what comes after the interruption is over, too.
            Some(_) if self.winding.is_some() => Stage::Over,
            Some(
                Interrupt::Nested { .. }
                | Interrupt::Outer
                | Interrupt::Outside(_)
                | Interrupt::Limit(_)
                | Interrupt::Journal(_),
            ) => Stage::Over,
            _ => Stage::Undo,
        };
        self.ready = Ready::new(self.plan.steps.len());
        self.deferred.clear();
        let mut ending = Box::new(Ending::new(result, stage));
        ending.in_grace = self.winding.is_some();
        self.ending = Some(ending);
        if stage == Stage::Over {
            return;
        }
        if interrupt.is_some() {
            self.begin_grace();
        }
        if failed {
            self.note_failed();
            self.begin_unwind();
        }
    }

    /// Starts the undo steps that wait for no other.
    pub(super) fn begin_unwind(&mut self) {
        let steps = 0..self.plan.steps.len();
        let dependents = steps.map(|step| number(self.graph.dependents.of(step).len()));
        let left: Vec<u32> = dependents.collect();
        let first = (0..left.len())
            .filter(|step| left[*step] == 0 && self.plan.steps[*step].role == Role::Work);
        let first = first.collect();
        if let Some(ending) = &mut self.ending {
            ending.left = left;
        }
        self.unwind(first);
    }

    /// Why the output does not have the type that the run returns.
    pub(super) fn bad_output(&self, error: &serde_json::Error) -> Cause {
        let error = serde::de::Error::custom(error);
        Cause::Output(self.hushed_output(StepError::arguments(error)))
    }

    /// Limits the time of the ending, since the run was cancelled or passed its deadline. `false` if that time is over, too.
    #[cold]
    pub(super) fn begin_grace(&mut self) -> bool {
        let may_go_on = self.interrupts.happened_early().is_some();
        match &mut self.ending {
            Some(ending) if may_go_on && !ending.in_grace => ending.in_grace = true,
            _ => return false,
        }
        self.limit_grace();
        for step in 0..self.plan.steps.len() {
            // One whose arguments were being made has not started.
            if self.steps.states[step] == StepState::Running
                && self.steps.flow(step).is_some_and(|flow| flow.is_idle())
            {
                self.open -= 1;
                self.steps.states[step] = StepState::Waiting;
                self.drop_flow(step);
                self.ready.insert(step);
            }
        }
        true
    }

    /// Limits the time for what comes after an interruption. What a block does then is limited by what is around it.
    pub(super) fn limit_grace(&mut self) {
        let limited = if self.is_inner {
            Interrupts::new(None, None, None)
        } else {
            let grace = self.options.grace;
            // The time in which nobody ran it does not count.
            let limit = self.clock.time().saturating_add(grace);
            self.options.deadline = Some(limit);
            let outer = self.outer.as_ref().and_then(CallContext::deadline);
            let limit = Some((limit, self.clock.sleep_live(grace)));
            let limited = Interrupts::new(limit, outer, None);
            // No time at all is over immediately, after a crash as well.
            if self.clock.is_durable && !grace.is_zero() {
                limited.replaying(self.end_of_grace())
            } else {
                limited
            }
        };
        std::mem::replace(&mut self.interrupts, limited).close();
    }

    /// Starts the undo steps of these, and of the steps that they need where nothing else has to be undone first.
    fn unwind(&mut self, mut open: Vec<usize>) {
        while let Some(step) = open.pop() {
            match self.undone_by(step).filter(|_| self.has_completed(step)) {
                Some(undo) => self.make_ready(undo),
                None if self.undo_kept(step) => {}
                None => self.pass(step, &mut open),
            }
        }
    }

    /// Starts to undo the blocks of a step in the ending, if there are any.
    fn undo_kept(&mut self, step: usize) -> bool {
        let has_kept = self.kept > 0 && self.undo_blocks(step);
        self.open += usize::from(has_kept);
        has_kept
    }

    /// The blocks of a step are undone: the steps that it needs come next.
    pub(super) fn blocks_undone(&mut self, step: usize) {
        let mut open = Vec::new();
        self.pass(step, &mut open);
        self.unwind(open);
    }

    /// A step is undone, or need not be: those that it needs may come next.
    fn pass(&mut self, step: usize, open: &mut Vec<usize>) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        for &need in self.graph.needs().of(step) {
            let left = &mut ending.left[need as usize];
            *left -= 1;
            if *left == 0 {
                open.push(need as usize);
            }
        }
    }

    /// The step that undoes a step.
    pub(super) fn undone_by(&self, step: usize) -> Option<usize> {
        let last = self.graph.last.as_ref()?;
        let undo = last.undone_by.get(step).copied().flatten();
        undo.map(|undo| undo as usize)
    }

    /// Whether a step did its own work: it was not skipped, and nothing replaces its output.
    pub(super) fn has_completed(&self, step: usize) -> bool {
        self.steps.states[step] == StepState::Completed
            && self
                .steps
                .more_of(step)
                .is_none_or(|more| !more.skipped && more.recovered.is_none())
    }

    fn make_ready(&mut self, step: usize) {
        self.ready.insert(step);
        self.watch_ready(step);
    }

    /// The next step of the ending.
    #[cold]
    pub(super) fn next_of_ending(&mut self) -> Option<usize> {
        loop {
            let ending = self.ending.as_mut()?;
            let stage = ending.stage;
            let ended = std::mem::take(&mut ending.ended);
            for step in ended {
                if self.steps.states[step] == StepState::Waiting {
                    continue;
                }
                match self.plan.steps[step].role {
                    Role::Undo(undone) => {
                        self.undo_ended(step, undone);
                        // Its own undo step comes before those inside it.
                        if !self.undo_kept(undone) {
                            self.blocks_undone(undone);
                        }
                    }
                    Role::Always => self.always_ended(step),
                    Role::Work => {}
                }
            }
            let next = self.ready.pop();
            if next.is_some() || self.open > 0 {
                return next;
            }
            match stage {
                Stage::Undo if self.ending.as_ref()?.is_undo => return None,
                Stage::Undo => self.begin_always(),
                Stage::Always | Stage::Over => return None,
            }
        }
    }

    /// A step that undoes another has ended.
    fn undo_ended(&mut self, step: usize, undone: usize) {
        if self.has_completed(step)
            && let Some(ending) = &mut self.ending
        {
            ending.undone.push(undone);
            // Another attempt does it again.
            let prefix = self.lasting_prefix();
            let path = self.run.undo(&prefix, &self.plan.steps[undone].id);
            self.note_undone(step, path);
        }
    }

    /// All is undone: the steps that always run see what became of the others.
    fn begin_always(&mut self) {
        let graph = Arc::clone(&self.graph);
        let Some(ending) = &mut self.ending else {
            return;
        };
        ending.stage = Stage::Always;
        let is_success = ending.result.is_ok();
        let Some(last) = &graph.last else {
            return;
        };
        for (step, waits) in &last.always {
            let step = *step as usize;
            ending.waits.insert(step, number(waits.len()));
            for wait in waits {
                let followers = ending.followers.entry(*wait as usize);
                followers.or_default().push(step);
            }
        }
        let mut seen = Vec::new();
        seen.resize_with(self.outputs.len(), || None);
        for &step in &last.seen {
            let step = step as usize;
            if self.plan.steps[step].role == Role::Work {
                seen[step] = Some(self.seen(step));
            }
        }
        let outputs = std::mem::replace(&mut self.outputs, seen);
        self.given = (self.is_inner && is_success).then_some(outputs);
        for (step, waits) in &last.always {
            if waits.is_empty() {
                self.make_ready(*step as usize);
            }
        }
    }

    /// A step that always runs has ended: those that see it may start.
    fn always_ended(&mut self, step: usize) {
        let seen = self.seen(step);
        self.outputs[step] = Some(seen);
        let Some(ending) = &mut self.ending else {
            return;
        };
        let mut next = Vec::new();
        for follower in ending.followers.remove(&step).unwrap_or_default() {
            if let Some(waits) = ending.waits.get_mut(&follower) {
                *waits -= 1;
                if *waits == 0 {
                    next.push(follower);
                }
            }
        }
        next.into_iter().for_each(|step| self.make_ready(step));
    }

    /// What the steps that always run see of a step: a `Result`.
    fn seen(&mut self, step: usize) -> StoredValue {
        let output = self.outputs[step].as_ref();
        let seen = match (self.steps.states[step], output) {
            (StepState::Completed, Some(output)) => match output.as_json() {
                Ok(json) if self.plan.steps[step].policy.catch == Catch::Whole => json.clone(),
                Ok(json) => outcome(OK, json.clone()),
                Err(error) => self.caught(step, &[], &StepError::output(error), 1),
            },
            (StepState::Completed, None) => outcome(OK, Value::Null),
            _ => {
                let failure = self.failure_of(step);
                outcome(ERR, serde_json::to_value(failure).unwrap_or_default())
            }
        };
        let seen = StoredValue::weighed(seen, output.map_or(0, StoredValue::bytes));
        self.held.add(seen.bytes());
        seen
    }

    /// Why a step has no output.
    fn failure_of(&self, step: usize) -> Failure {
        let failed = match self.steps.states[step] {
            StepState::Failed(place) => self.failed.get(place as usize),
            StepState::Blocked(by) => self.failed.iter().find(|(it, _)| number(*it) == by),
            StepState::Waiting => {
                let work = self.failed.iter();
                let work = work.filter(|(step, _)| self.plan.steps[*step].role == Role::Work);
                work.min_by_key(|(step, _)| *step)
            }
            StepState::Running | StepState::Completed | StepState::Cancelled => None,
        };
        if let Some((step, failed)) = failed {
            return self.failure(*step, &failed.element, &failed.error, failed.attempts);
        }
        let interrupt = match self.ending.as_deref() {
            Some(Ending {
                result: Err(Cause::Interrupted(interrupt)),
                ..
            }) => Some(interrupt),
            _ => None,
        };
        let (code, message) = match interrupt {
            Some(Interrupt::Deadline(limit)) => (
                "DEADLINE",
                format!("the run took longer than {}", format_duration(*limit)),
            ),
            Some(Interrupt::Recorded(place)) => ("CANCELLED", place.to_string()),
            Some(_) => ("CANCELLED", "the run was cancelled".to_owned()),
            None => (
                "CANCELLED",
                "the step was cancelled, since the run had failed".to_owned(),
            ),
        };
        Failure {
            step: self.plan.steps[step].id.clone(),
            code: code.to_owned(),
            message,
            transient: false,
            attempts: 0,
            expression: None,
        }
    }

    /// Does `work` for a step. If that undoes a step with `#[catch]`, it sees what the call gave, and not a `Result`.
    pub(super) fn seeing(&mut self, step: usize, work: impl FnOnce(&mut Self)) {
        let undone = match self.plan.steps[step].role {
            Role::Undo(undone) if self.plan.steps[undone].policy.catch == Catch::Whole => undone,
            _ => return work(self),
        };
        let Some(caught) = self.outputs[undone].take() else {
            return work(self);
        };
        let given = caught.as_json().ok().and_then(|caught| caught.get(OK));
        let given = given.cloned().unwrap_or_default();
        self.outputs[undone] = Some(StoredValue::weighed(given, caught.bytes()));
        work(self);
        // Unless it was let go.
        if let Some(output) = &mut self.outputs[undone] {
            *output = caught;
        }
    }

    /// Nothing more runs. The steps that had nothing to undo were skipped.
    pub(super) fn close_ending(&mut self) {
        let Some(ending) = &mut self.ending else {
            return;
        };
        ending.stage = Stage::Over;
        let failed = ending.result.is_err();
        // Those that ended at the last moment.
        for step in std::mem::take(&mut ending.ended) {
            if let Role::Undo(undone) = self.plan.steps[step].role {
                self.undo_ended(step, undone);
            }
        }
        for step in 0..self.plan.steps.len() {
            if let Role::Undo(undone) = self.plan.steps[step].role
                && self.steps.states[step] == StepState::Waiting
                && !((failed || self.is_inner) && self.has_completed(undone))
            {
                self.steps.states[step] = StepState::Completed;
                self.steps.more(step).skipped = true;
                self.watch_end(step);
            }
        }
    }

    /// What was undone, and what was not.
    pub(super) fn undoing(&self) -> Undoing {
        let id = |step: usize| StepPath::name(&self.plan.steps[step].id);
        let undone: &[usize] = match &self.ending {
            Some(ending) => &ending.undone,
            None => &[],
        };
        let all: HashSet<usize> = undone.iter().copied().collect();
        let steps = 0..self.plan.steps.len();
        let not_undone = steps.filter(|step| {
            self.undone_by(*step).is_some() && self.has_completed(*step) && !all.contains(step)
        });
        Undoing {
            undone: undone.iter().map(|step| id(*step)).collect(),
            not_undone: not_undone.map(id).collect(),
        }
    }

    /// The same with what became of the blocks.
    pub(super) fn all_undoing(&self) -> Undoing {
        let mut all = self.undoing();
        for (_, failed) in &self.failed {
            if let StepError::Block(run) = &failed.error {
                all.add(run.undoing_of().clone());
            }
        }
        all.add(self.left.undoing.clone());
        for more in (0..self.plan.steps.len()).filter_map(|step| self.steps.more_of(step)) {
            let kept = more.kept.iter();
            kept.for_each(|block| all.add(block.left().undoing));
            if let Some(flow) = &more.flow {
                all.add(flow.left().undoing);
            }
        }
        let running = self.running.running_blocks();
        running.for_each(|block| all.add(block.left().undoing));
        all
    }

    /// What the work gave, once all has ended.
    pub(super) fn take_result(&mut self) -> Option<Result<Value, Cause>> {
        let ending = self.ending.as_mut()?;
        let over = Err(Cause::Interrupted(Interrupt::Outer));
        Some(std::mem::replace(&mut ending.result, over))
    }
}
