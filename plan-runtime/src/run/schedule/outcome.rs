//! What a run returns.

use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::durable::Durable;
use super::super::report::{Report, Status, StepReport};
use super::super::start::MadeOutput;
use super::{Schedule, StepState};
use crate::error::{Cause, Failure, Interrupt, RunError, StepError, StepPath};
use crate::journal::JournalError;
use crate::plan::{Plan, Role, Template, number};
use crate::resolve::{Handed, ResolveError, StoredValue, resolve};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl<'x> Schedule<'x> {
    pub(in crate::run) fn plan(&self) -> &'x Plan {
        self.plan
    }

    /// The journal that the end of the run is written to. A plan inside another ends nothing.
    pub(in crate::run) fn durable(&self) -> Option<Arc<Durable>> {
        // What ended it may be that the journal cannot be written.
        let is_stopped = matches!(self.interrupts.happened(), Some(Interrupt::Journal(_)));
        let durable = self.run.durable.clone();
        durable.filter(|_| self.outer.is_none() && !is_stopped)
    }

    /// Why the output does not have the type that the run returns.
    pub(in crate::run) fn unfit_output(&self, error: &serde_json::Error) -> RunError {
        self.error(self.bad_output(error))
    }

    /// What the run returns.
    pub(in crate::run) fn output<O: DeserializeOwned + 'static>(&mut self) -> Result<O, RunError> {
        self.output_with(|output| output.read())
    }

    /// The same, made of the output by `make`.
    pub(super) fn output_with<T>(
        &mut self,
        make: impl FnOnce(MadeOutput<'_>) -> Result<T, ResolveError>,
    ) -> Result<T, RunError> {
        let result = match (self.take_result(), self.interrupts.happened()) {
            // What was to run after the work may not have.
            (Some(Ok(_)), Some(stop @ Interrupt::Journal(_))) => {
                Err(Cause::Interrupted(stop.clone()))
            }
            // Nor is the rest of the failures known.
            (Some(Err(_)), Some(stop @ Interrupt::Journal(error)))
                if matches!(**error, JournalError::Ended { .. }) =>
            {
                Err(Cause::Interrupted(stop.clone()))
            }
            (Some(Ok(output)), _) => make(MadeOutput::Json(output))
                .map_err(|error| Cause::Output(self.hushed_output(StepError::arguments(error)))),
            (Some(Err(cause)), _) => Err(cause),
            (None, _) => self.outcome(make),
        };
        result.map_err(|cause| self.error(cause))
    }

    /// What the work gave.
    pub(super) fn outcome<T>(
        &mut self,
        make: impl FnOnce(MadeOutput<'_>) -> Result<T, ResolveError>,
    ) -> Result<T, Cause> {
        Err(match self.winding.as_ref().or(self.interrupts.happened()) {
            Some(interrupt) => Cause::Interrupted(interrupt.clone()),
            None if self.failed.is_empty() => {
                let output = &self.plan.output.value;
                if self.run.is_kept() && output.has_code() {
                    return self.recorded_outcome(output, make);
                }
                let given = self.give_output();
                let is_elsewhere = self.run.engine.is_some();
                let made = self.metered(|scope| {
                    make(if is_elsewhere {
                        MadeOutput::Json(resolve(output, scope)?)
                    } else {
                        MadeOutput::At(output, scope, &given)
                    })
                });
                self.take_back(Some(given));
                match made {
                    Ok((Ok(output), _)) => return Ok(output),
                    Ok((Err(error), _)) => self.no_output(error),
                    Err(panic) => Cause::Output(panic),
                }
            }
            None => Cause::Steps,
        })
    }

    /// Why there is no output.
    fn no_output(&self, error: ResolveError) -> Cause {
        if let Some(limit) = error.exceeded() {
            self.exceed(limit, &self.place_of_output(&error));
        }
        match self.interrupts.happened() {
            Some(interrupt) => Cause::Interrupted(interrupt.clone()),
            None => Cause::Output(self.hushed_output(StepError::arguments(error))),
        }
    }

    /// What the work gave, of which Rust code decides: what it has decided before a crash, if it has.
    fn recorded_outcome<T>(
        &self,
        output: &Template,
        make: impl FnOnce(MadeOutput<'_>) -> Result<T, ResolveError>,
    ) -> Result<T, Cause> {
        let decided = self.decided(
            true,
            || self.key_of_end("value"),
            || match self.metered(|scope| resolve::<Value>(output, scope)) {
                Ok((Ok(value), _)) => Ok(value),
                Ok((Err(error), _)) => Err(self.no_output(error)),
                Err(panic) => Err(Cause::Output(panic)),
            },
            (
                |cause| match cause {
                    Cause::Output(error) => Some(error),
                    _ => None,
                },
                Cause::Output,
            ),
        );
        match decided {
            Some(value) => make(MadeOutput::Json(value?)).map_err(|error| self.no_output(error)),
            None => {
                self.stopped();
                Err(match self.interrupts.happened() {
                    Some(interrupt) => Cause::Interrupted(interrupt.clone()),
                    None => Cause::Output(StepError::Unknown),
                })
            }
        }
    }

    /// The value that is the output, if it is a Rust value that nobody else is still to read.
    fn give_output(&mut self) -> Handed {
        let given = match &self.plan.output.value {
            // What is undone later may read the inputs.
            Template::Reference(reference)
                if self.handing.is_some() && reference.is_whole() && !self.graph.has_last() =>
            {
                self.give_one(reference.source)
            }
            _ => None,
        };
        Handed::one(given)
    }

    /// Why there is no output.
    fn error(&self, cause: Cause) -> RunError {
        let states = &self.steps.states;
        let has_started = states.iter().any(|state| *state != StepState::Waiting)
            || !matches!(cause, Cause::Interrupted(_));
        let error = RunError::new(self.plan, cause, self.failures());
        let error = error.undoing(self.all_undoing());
        if has_started {
            error
        } else {
            error.before_the_start()
        }
    }

    /// Why the output could not be made, without the values that were found if one of them may be secret.
    pub(super) fn hushed_output(&self, error: StepError) -> StepError {
        match &self.secrecy {
            Some(secrecy) if secrecy.output_touches() => error.without_values(),
            _ => error,
        }
    }

    /// Ends the run because something outside its steps has panicked: its timer, or the future that cancels it.
    pub(in crate::run) fn panicked(&mut self, panic: StepError) -> RunError {
        // The panic has left the work of the run unfinished, so no call continues.
        self.abandon_all();
        for state in &mut self.steps.states {
            if *state == StepState::Running {
                *state = StepState::Cancelled;
            }
        }
        let _ = catch(|| self.watch_plan_end());
        self.error(Cause::Panicked(panic))
    }

    /// Returns the failures with the steps that each blocked, in the order of the plan. The failures of the work come first, since the others follow from these.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let mut failures: BTreeMap<u32, Vec<Failure>> = BTreeMap::new();
        for (place, failed) in &self.failed {
            let step = &self.plan.steps[*place];
            if let StepError::Block(run) = &failed.error {
                let mut inside = run.failures().to_vec();
                if step.role != Role::Work {
                    inside.iter_mut().for_each(|it| it.role = step.role);
                }
                failures.insert(number(*place), inside);
                continue;
            }
            let failure = Failure {
                step: StepPath::name(&step.id),
                element: failed.element.clone(),
                // A block may fail without a call.
                tool: step
                    .shared_tool()
                    .filter(|_| !step.body.has_blocks())
                    .cloned(),
                error: failed.error.clone(),
                attempts: failed.attempts,
                blocked: Vec::new(),
                role: step.role,
            };
            failures.insert(number(*place), vec![failure]);
        }
        for (step, state) in self.plan.steps.iter().zip(&self.steps.states) {
            if let StepState::Blocked(by) = state
                && let Some(failures) = failures.get_mut(by)
                && let Some(failure) = failures.first_mut()
            {
                failure.blocked.push(StepPath::name(&step.id));
            }
        }
        let mut failures: Vec<Failure> = failures.into_values().flatten().collect();
        failures.extend(self.left.failures.iter().cloned());
        for more in (0..self.plan.steps.len()).filter_map(|step| self.steps.more_of(step)) {
            let kept = more.kept.iter();
            kept.for_each(|block| failures.extend(block.left().failures));
            if let Some(flow) = &more.flow {
                failures.extend(flow.left().failures);
            }
        }
        for block in self.running.running_blocks() {
            failures.extend(block.left().failures);
        }
        failures.sort_by_key(|failure| match failure.role {
            Role::Work => 0,
            Role::Undo(_) => 1,
            Role::Always => 2,
        });
        failures
    }

    /// Keeps an output for the report, if there is to be one.
    #[cold]
    pub(super) fn capture_output(&mut self, step: usize, output: &StoredValue) {
        if self.options.record {
            self.captured.resize(self.plan.steps.len(), None);
            let Ok(mut captured) = output.as_json().cloned() else {
                return;
            };
            if let Some(secrecy) = &self.secrecy {
                secrecy.output_of(step).mask_in(&mut captured);
            }
            self.captured[step] = Some(captured);
            self.held.add(output.bytes());
        }
    }

    /// How a step ended.
    pub(super) fn status(&self, step: usize) -> Status {
        match self.steps.states[step] {
            StepState::Waiting => Status::NotStarted,
            StepState::Completed => match self.steps.more_of(step) {
                None => Status::Completed,
                Some(more) => match &more.recovered {
                    Some(failed) => Status::Recovered(failed.error.clone()),
                    None if more.skipped => Status::Skipped,
                    None => Status::Completed,
                },
            },
            StepState::Failed(place) => Status::Failed(self.failed[place as usize].1.error.clone()),
            StepState::Blocked(by) => Status::Blocked {
                by: self.plan.steps[by as usize].id.clone(),
            },
            StepState::Running if self.shows_running() => Status::Running,
            StepState::Running | StepState::Cancelled => Status::Cancelled,
        }
    }

    /// What became of each step.
    pub(in crate::run) fn report(&mut self) -> Report {
        self.report_blocks();
        let mut inside: Vec<(usize, usize, Vec<Report>)> = Vec::with_capacity(self.inside.len());
        for (step, log, kept) in std::mem::take(&mut self.inside) {
            inside.push((step, log, kept.take()));
        }
        let with_plans: BTreeSet<usize> = inside.iter().map(|(step, ..)| *step).collect();
        let steps = 0..self.plan.steps.len();
        let steps = steps.map(|place| {
            let status = self.status(place);
            let more = self.steps.more_mut(place);
            let log = more.map_or_else(Vec::new, |more| std::mem::take(&mut more.log));
            let more = self.steps.more_of(place);
            let recovered = more.and_then(|more| more.recovered.as_ref());
            let element = match (self.steps.states[place], recovered) {
                (StepState::Failed(place), _) => self.failed[place as usize].1.element.clone(),
                (_, Some(failed)) => failed.element.clone(),
                _ => Vec::new(),
            };
            let times = self.times(place);
            let mut report = StepReport::new(&self.plan.steps[place], status, element, times, log);
            let is_secret = self.secrecy.as_ref().is_some_and(|it| it.touches(place));
            report.policy = self
                .steps
                .more_of(place)
                .and_then(|more| more.policy.clone());
            report.policy = report.policy.filter(|_| !is_secret);
            report.output = self.captured.get_mut(place).and_then(Option::take);
            // The log of a step with a question contains all attempts: none, if the question was dropped.
            let has_log = self.steps.more_of(place).is_some() && !with_plans.contains(&place);
            let is_dropped = matches!(report.status(), Status::Cancelled);
            if self.plan.steps[place].action().is_some() && !(has_log && is_dropped) {
                report.add_only_attempt(&self.plan.steps[place]);
            }
            report
        });
        let mut steps: Vec<StepReport> = steps.collect();
        for (step, log, reports) in inside {
            steps[step].add_inside(log, reports);
        }
        steps.iter_mut().for_each(StepReport::settle);
        let took = self.ended.or_else(|| catch(|| self.clock.now()).ok());
        let took = took.unwrap_or_default();
        let report = Report::new(
            self.graph.shared(self.plan),
            self.clock.started_at,
            took,
            steps,
        );
        #[cfg(feature = "html")]
        let report = report.recorded(self.options.capture, self.options.capture_outputs);
        self.has_reported = true;
        if let Some(inside) = self.outer.as_ref().and_then(CallContext::inside) {
            inside.keep(report.clone());
        }
        report
    }

    /// Has the blocks report that have succeeded and were kept, since they might have had to be undone.
    fn report_blocks(&mut self) {
        for step in 0..self.plan.steps.len() {
            let more = self.steps.more_mut(step);
            for block in more.into_iter().flat_map(|more| &mut more.kept) {
                block.schedule.report();
            }
        }
    }
}
