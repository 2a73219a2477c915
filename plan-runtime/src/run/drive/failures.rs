//! Turns the failures of the machine into the errors of the run.

use crate::error::{
    BlockPlace, Cause, Error, FailedStep, Interrupt, RunError, StepError, StepPath, Undoing,
};
use crate::machine::{
    CallError, Cutoff, ErrorId, FailureRole, Failures, MachineView, Reason, StepFailure, StepId,
    Trail, TrailPart,
};
use crate::plan::{Plan, Role, Step};
use crate::resolve::{ResolveError, drop_quietly};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The driver keeps outdated errors up to this number of errors.
const FEW: usize = 64;

/// The errors of a run, and the names of its steps.
pub(super) struct Errors<'x> {
    kept: Vec<Option<StepError>>,
    /// The free indexes of `kept`.
    free: Vec<usize>,
    /// The number of errors at the next search for outdated errors.
    most: usize,
    /// The plan, and the plans that calls may be.
    plans: Vec<StepNames<'x>>,
    /// The paths of undone steps, each with its number in the order of time.
    undone: HashMap<String, usize>,
    /// The number of undo steps that have succeeded.
    undos: usize,
}

/// The names of the steps of a plan and of its blocks.
struct StepNames<'x> {
    /// The address of the plan, available before the plan itself.
    address: usize,
    plan: Option<&'x Plan>,
    /// The label of the first step.
    first: u32,
    steps: OnceCell<Vec<&'x Step>>,
}

impl<'x> Errors<'x> {
    pub(super) fn new(plan: &'x Plan, plans: &[(usize, u32)]) -> Self {
        let plans = plans
            .iter()
            .enumerate()
            .map(|(place, (address, first))| StepNames {
                address: *address,
                plan: (place == 0).then_some(plan),
                first: *first,
                steps: OnceCell::new(),
            });
        Self {
            kept: Vec::new(),
            free: Vec::new(),
            most: FEW,
            plans: plans.collect(),
            undone: HashMap::new(),
            undos: 0,
        }
    }

    /// Returns the plan of the run.
    pub(super) fn plan(&self) -> &'x Plan {
        let plan = self.plans.first().and_then(|names| names.plan);
        plan.expect("the first plan is that of the run")
    }

    /// Records the plan behind a call. Returns `false` if the machine has the steps of another plan at this index.
    pub(super) fn knows(&mut self, place: usize, plan: &'x Plan) -> bool {
        let names = &mut self.plans[place];
        let is_same = names.address == std::ptr::from_ref(plan).addr();
        if is_same {
            names.plan = Some(plan);
        }
        is_same
    }

    /// Keeps an error for the machine, which gets the error before the next call of this method.
    #[cold]
    pub(super) fn keep(&mut self, view: MachineView<'_>, error: StepError) -> CallError {
        if self.free.is_empty() && self.kept.len() >= self.most {
            self.sweep(view);
        }
        let (transient, lasting) = (error.is_transient(), error.leaves_work());
        let place = self.free.pop().unwrap_or(self.kept.len());
        if place == self.kept.len() {
            self.kept.push(None);
        }
        self.kept[place] = Some(error);
        CallError {
            error: ErrorId(crate::plan::number(place)),
            transient,
            lasting,
        }
    }

    /// Drops the errors of failures that no longer count, such as recovered failures. The next call waits until the errors have doubled, or the machine has
    /// grown, so the calls take constant time for each error.
    fn sweep(&mut self, view: MachineView<'_>) {
        let mut counts = vec![false; self.kept.len()];
        view.errors()
            .for_each(|error| counts[error.0 as usize] = true);
        for (place, counts) in counts.into_iter().enumerate() {
            if let Some(error) = self.kept[place].take_if(|_| !counts) {
                drop_quietly(error);
                self.free.push(place);
            }
        }
        let left = self.kept.len() - self.free.len();
        self.most = FEW.max(2 * left).max(view.rows().iter().sum());
    }

    /// Drops the errors. Their types are types of tools, whose destructors may panic.
    pub(super) fn clear(&mut self) {
        self.kept.drain(..).for_each(drop_quietly);
    }

    pub(super) fn note_undone(&mut self, path: String) {
        self.undone.insert(path, self.undos);
        self.undos += 1;
    }

    fn step(&self, view: MachineView<'_>, step: StepId) -> &'x Step {
        let label = view.tables().label(step);
        let after = self.plans.partition_point(|names| names.first <= label);
        // Plans without steps have the label of the plan after them.
        let names = &self.plans[after - 1];
        let steps = names.steps.get_or_init(|| {
            let plan = names.plan.expect("a step of a plan that was called");
            super::convert::steps(plan)
        });
        steps[(label - names.first) as usize]
    }

    /// Returns the path segment for a part of a trail.
    fn place(&self, view: MachineView<'_>, part: &TrailPart) -> BlockPlace {
        BlockPlace {
            step: self.step(view, part.step).id.clone(),
            element: part.element.iter().map(|at| *at as usize).collect(),
            attempt: part.attempt,
        }
    }

    /// Returns the path of a step.
    fn path(&self, view: MachineView<'_>, trail: &[TrailPart]) -> StepPath {
        let Some((last, around)) = trail.split_last() else {
            return StepPath::name("");
        };
        let mut undoing = Undoing::default();
        let id = &self.step(view, last.step).id;
        undoing.undone.push(StepPath::name(id));
        for part in around.iter().rev() {
            undoing = self.place(view, part).undoing(&undoing);
        }
        undoing.undone.remove(0)
    }

    /// Returns the reason of a failure as an error.
    fn reason(&self, failure: &StepFailure) -> StepError {
        match failure.reason {
            Reason::Error(error) => {
                let error = self.kept[error.0 as usize].as_ref();
                error.map_or(StepError::Unknown, StepError::clone)
            }
            Reason::TooManyRounds(most) => StepError::TooManyRounds(most),
            Reason::Full(full) => StepError::arguments(ResolveError::new(full.to_string())),
        }
    }

    /// Sorts undone steps: first the steps of a scope by time, then the steps of each inner scope, also by time. The
    /// machine returns them in the order of the plan.
    fn in_order<'t>(
        &self,
        view: MachineView<'_>,
        undone: Vec<&'t Trail>,
        around: usize,
    ) -> Vec<&'t Trail> {
        let time = |trail: &Trail| {
            let path = self.path(view, &trail.0).path;
            self.undone.get(&path).copied()
        };
        let is_own = |trail: &&Trail| trail.0.len() <= around + 1;
        let (mut all, inner): (Vec<_>, Vec<_>) = undone.into_iter().partition(is_own);
        all.sort_by_cached_key(|trail| time(trail));
        let scopes = inner.chunk_by(|one, next| one.0[around] == next.0[around]);
        let mut scopes: Vec<Vec<&Trail>> = scopes.map(<[&Trail]>::to_vec).collect();
        scopes.sort_by_cached_key(|scope| scope.iter().filter_map(|trail| time(trail)).min());
        for scope in scopes {
            all.extend(self.in_order(view, scope, around + 1));
        }
        all
    }

    /// Returns the failures and the undone steps of a scope with a trail of this length.
    fn failures(
        &self,
        view: MachineView<'_>,
        failures: &Failures,
        around: usize,
    ) -> (Vec<FailedStep>, Undoing) {
        let path = |trail: &Trail| self.path(view, &trail.0[around..]);
        let paths = |trails: &[Trail]| trails.iter().map(path).collect::<Vec<_>>();
        let undone = self.in_order(view, failures.undone.iter().collect(), around);
        let mut undoing = Undoing {
            undone: undone.into_iter().map(path).collect(),
            not_undone: paths(&failures.not_undone),
        };
        let mut all = Vec::new();
        for failure in &failures.steps {
            let trail = &failure.trail.0[around..];
            let Some((last, outer)) = trail.split_last() else {
                continue;
            };
            let step = self.step(view, last.step);
            let error = self.reason(failure);
            let is_left = failure.role == FailureRole::Left;
            let mut failures = if let StepError::Block(run) = &error {
                let mut left = run.undoing_of().clone();
                let inside = run.failures().iter().cloned();
                let mut inside: Vec<FailedStep> = inside
                    .filter(|failure| !is_left || failure.is_of_undo())
                    .collect();
                for part in outer.iter().rev() {
                    let place = self.place(view, part);
                    inside = place.failures(&inside).collect();
                    left = place.undoing(&left);
                }
                undoing.add(left);
                inside
            } else if is_left {
                let mut left = error.left(&self.place(view, last));
                for part in outer.iter().rev() {
                    left = self.place(view, part).undoing(&left);
                }
                undoing.add(left);
                Vec::new()
            } else {
                vec![FailedStep {
                    step: self.path(view, trail),
                    element: last.element.iter().map(|at| *at as usize).collect(),
                    // A block may fail without a call.
                    tool: step
                        .shared_tool()
                        .filter(|_| !step.body.has_blocks())
                        .cloned(),
                    error,
                    attempts: failure.attempts(),
                    blocked: Vec::new(),
                    role: Role::Work,
                }]
            };
            if let Some(first) = failures.first_mut() {
                first.blocked.extend(paths(&failure.blocked));
            }
            let role = match failure.role {
                FailureRole::Work | FailureRole::Left => None,
                FailureRole::Undo => Some(Role::Undo(0)),
                FailureRole::Always => Some(Role::Always),
            };
            if let Some(role) = role {
                failures.iter_mut().for_each(|failure| failure.role = role);
            }
            all.extend(failures);
        }
        (all, undoing)
    }

    /// Returns the failure of a step as the value of a step with `#[catch]`. `around` is the number of scopes around the step.
    pub(super) fn caught(
        &self,
        view: MachineView<'_>,
        around: usize,
        failures: &Failures,
    ) -> crate::Failure {
        let first = failures.steps.first();
        let part = first.and_then(|first| Some((first, first.trail.0.get(around)?)));
        let Some((first, part)) = part else {
            return crate::Failure::unclear();
        };
        let error = self.step_error(view, around, failures);
        let place = self.place(view, part);
        let path = format!("{}{}", place.step, crate::error::Elements(&place.element));
        crate::Failure::of_step(path, &error, first.attempts())
    }

    /// Returns the failure of a step as an error. `around` is the number of scopes around the step.
    pub(super) fn step_error(
        &self,
        view: MachineView<'_>,
        around: usize,
        failures: &Failures,
    ) -> StepError {
        let is_alone = failures.undone.is_empty() && failures.not_undone.is_empty();
        match &failures.steps[..] {
            [] => StepError::Unknown,
            [first] if is_alone && first.trail.0.len() == around + 1 => self.reason(first),
            _ => {
                let (failures, undoing) = self.failures(view, failures, around);
                let run = RunError::new(self.plan(), Cause::Steps, failures);
                StepError::Block(Arc::new(run.undoing(undoing)))
            }
        }
    }

    /// Returns the longest time without calls that a failed tool has asked for.
    pub(super) fn retry_delay(&self, failures: &Failures) -> Option<Duration> {
        let failed = failures.steps.iter();
        let delays = failed.filter_map(|failure| self.reason(failure).retry_delay());
        delays.max()
    }

    /// Returns the error of a run with a panic outside of the steps.
    pub(super) fn panicked(&self, view: MachineView<'_>, panic: StepError) -> RunError {
        let (failures, undoing) = self.failures(view, &view.so_far(), 0);
        RunError::new(self.plan(), Cause::Panicked(panic), failures).undoing(undoing)
    }

    /// Returns the failure of a run that exceeded its capacity.
    pub(super) fn exceeded(&self, view: MachineView<'_>) -> Option<StepFailure> {
        let failed = view.result().err()?.steps;
        let exceeds = |failure: &StepFailure| self.reason(failure).exceeded().is_some();
        failed
            .into_iter()
            .find(|failure| matches!(failure.reason, Reason::Full(_)) || exceeds(failure))
    }

    /// Returns the failure of a scope as the error of the attempt that has opened the scope. `around` is the number of scopes around the steps of the scope. `is_call`
    /// is `true` if the scope is a called plan, and `false` for a block. `late` replaces the error of a scope that has reached its time limit.
    pub(super) fn scope_error(
        &self,
        view: MachineView<'_>,
        (around, failures): (usize, &Failures),
        (plan, is_call): (&Plan, bool),
        late: Option<StepError>,
        place: &BlockPlace,
    ) -> StepError {
        let mut failed = failures.steps.iter();
        let own = failed.find(|failure| failure.trail.0.len() == around);
        let own = own.map(|failure| self.reason(failure));
        let (failures, undoing) = self.failures(view, failures, around);
        let is_steps = own.is_none() && late.is_none();
        let cause = own.map_or(Cause::Steps, Cause::Output);
        let run = RunError::new(plan, cause, failures).undoing(undoing);
        if is_call && is_steps {
            return StepError::tool(Error::new(run)).of_call(|| place.clone());
        }
        StepError::of_block(run, late, place)
    }

    /// Returns the error of a run that has failed.
    pub(super) fn run_error(
        &self,
        view: MachineView<'_>,
        failed: &Failures,
        stopped: Option<Interrupt>,
        has_begun: bool,
    ) -> RunError {
        let (failures, undoing) = self.failures(view, failed, 0);
        let of_output = failed
            .steps
            .iter()
            .find(|failure| failure.trail.0.is_empty());
        let cause = match (failed.cutoff, stopped, of_output) {
            (
                _,
                Some(
                    interrupt @ (Interrupt::Limit(_)
                    | Interrupt::Journal(_)
                    | Interrupt::Nested(_)
                    | Interrupt::Outer
                    | Interrupt::Outside(_)),
                ),
                _,
            ) => Cause::Interrupted(interrupt),
            (Some(Cutoff::Cancelled | Cutoff::Late), Some(interrupt), _) => {
                Cause::Interrupted(interrupt)
            }
            (_, _, Some(failure)) => Cause::Output(self.reason(failure)),
            _ => Cause::Steps,
        };
        let has_started = has_begun || !matches!(cause, Cause::Interrupted(_));
        let error = RunError::new(self.plan(), cause, failures).undoing(undoing);
        if has_started {
            error
        } else {
            error.before_the_start()
        }
    }
}

/// Returns the error of a run that cannot start.
pub(in crate::run) fn not_started(plan: &Plan, cause: Cause) -> RunError {
    RunError::new(plan, cause, Vec::new()).before_the_start()
}
