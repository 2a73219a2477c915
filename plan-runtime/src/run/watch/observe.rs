//! Observers of runs.

use super::super::catch::catch;
use super::super::{Status, StepError, Totals};
use crate::Plan;
use crate::error::Elements;
use crate::plan::{Step, ToolInfo};
use crate::print::MessageName;
use crate::resolve::drop_quietly;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A receiver of the events of a run, set with [`Run::observe`](crate::run::Run::observe).
///
/// The run calls the methods between the work of the steps, so a method should return quickly. Each method does nothing by default.
/// If an observer panics, the run continues, and stops notifying the observer.
///
/// ```
/// use plan_runtime::run::{Observer, Status, StepError, StepRef};
/// use plan_runtime::{Error, Result, plan, tool};
/// use std::sync::{Arc, Mutex};
/// use std::time::Duration;
///
/// #[derive(Default)]
/// struct Log(Mutex<Vec<String>>);
///
/// impl Observer for Log {
///     fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, error: &StepError, _: Duration) {
///         self.0.lock().unwrap().push(format!("{step}, attempt {attempt}: {error}"));
///     }
///
///     fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
///         self.0.lock().unwrap().push(format!("{step}: {}", status.name()));
///     }
/// }
///
/// /// Halves an even number.
/// #[tool]
/// async fn halve(number: u32) -> Result<u32> {
///     match number % 2 {
///         0 => Ok(number / 2),
///         _ => Err(Error::permanent(format!("{number} is odd"))),
///     }
/// }
///
/// let plan = plan! {
///     #[optional(each)]
///     step halves = for number in [8, 5] { Halve { number } };
///     halves
/// };
/// let log = Arc::new(Log::default());
/// assert_eq!(smol::block_on(plan.run(&()).observe(log.clone()))?, [Some(4), None]);
/// assert_eq!(*log.0.lock().unwrap(), ["halves[1], attempt 1: 5 is odd", "halves: recovered"]);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[expect(unused_variables, reason = "the names say what is given")]
pub trait Observer: Send + Sync {
    /// Called when the run starts.
    fn plan_started(&self, plan: &Plan) {}

    /// Called when the run ends, and not if you drop the run.
    fn plan_finished(&self, plan: &Plan, totals: &Totals, took: Duration) {}

    /// Called when all dependencies of a step are complete.
    fn step_ready(&self, step: &StepRef<'_>) {}

    /// Called when the step starts.
    fn step_started(&self, step: &StepRef<'_>) {}

    /// Called when the step, or an element of the step, iterates over a list of this length.
    fn list_started(&self, step: &StepRef<'_>, length: usize) {}

    /// Called when an element of a list has its output, or null after a failure.
    fn element_finished(&self, step: &StepRef<'_>) {}

    /// Called when an attempt starts. The first attempt is number 1.
    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {}

    /// Called when an attempt succeeds.
    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, took: Duration) {}

    /// Called when an attempt fails.
    fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, error: &StepError, took: Duration) {}

    /// Called after a failed attempt, if another attempt follows after this time.
    fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {}

    /// Called when the step ends: the step completed, recovered, failed, or was cancelled.
    fn step_finished(&self, step: &StepRef<'_>, status: &Status, took: Duration) {}

    /// Called when the step is skipped, because no condition of the step is true.
    fn step_skipped(&self, step: &StepRef<'_>) {}

    /// Called when a step can no longer run, because the step `by` failed. If further dependencies fail later, a report names the
    /// first of them in the order of the plan.
    fn step_blocked(&self, step: &StepRef<'_>, by: &Step) {}
}

impl<T: Observer + ?Sized> Observer for Arc<T> {
    fn plan_started(&self, plan: &Plan) {
        (**self).plan_started(plan);
    }

    fn plan_finished(&self, plan: &Plan, totals: &Totals, took: Duration) {
        (**self).plan_finished(plan, totals, took);
    }

    fn step_ready(&self, step: &StepRef<'_>) {
        (**self).step_ready(step);
    }

    fn step_started(&self, step: &StepRef<'_>) {
        (**self).step_started(step);
    }

    fn list_started(&self, step: &StepRef<'_>, length: usize) {
        (**self).list_started(step, length);
    }

    fn element_finished(&self, step: &StepRef<'_>) {
        (**self).element_finished(step);
    }

    fn attempt_started(&self, step: &StepRef<'_>, attempt: u32) {
        (**self).attempt_started(step, attempt);
    }

    fn attempt_completed(&self, step: &StepRef<'_>, attempt: u32, took: Duration) {
        (**self).attempt_completed(step, attempt, took);
    }

    fn attempt_failed(&self, step: &StepRef<'_>, attempt: u32, error: &StepError, took: Duration) {
        (**self).attempt_failed(step, attempt, error, took);
    }

    fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {
        (**self).retrying(step, attempt, wait);
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, took: Duration) {
        (**self).step_finished(step, status, took);
    }

    fn step_skipped(&self, step: &StepRef<'_>) {
        (**self).step_skipped(step);
    }

    fn step_blocked(&self, step: &StepRef<'_>, by: &Step) {
        (**self).step_blocked(step, by);
    }
}

/// The observers of a run. An observer that panics is not notified again.
#[derive(Clone, Default)]
pub(in crate::run) struct Observers(Vec<Arc<OneObserver<dyn Observer>>>);

struct OneObserver<O: ?Sized> {
    has_panicked: AtomicBool,
    observer: O,
}

impl Observers {
    pub(in crate::run) fn add(&mut self, observer: impl Observer + 'static) {
        self.0.push(Arc::new(OneObserver {
            has_panicked: AtomicBool::new(false),
            observer,
        }));
    }

    /// Returns `true` if any observer has not panicked.
    #[inline]
    pub(in crate::run) fn listen(&self) -> bool {
        let has_panicked = |one: &AtomicBool| one.load(Ordering::Relaxed);
        !self.0.iter().all(|one| has_panicked(&one.has_panicked))
    }

    /// Notifies all observers.
    #[inline]
    pub(super) fn tell(&self, tell: impl Fn(&dyn Observer)) {
        for one in &self.0 {
            let panicked = &one.has_panicked;
            if !panicked.load(Ordering::Relaxed) && catch(|| tell(&one.observer)).is_err() {
                panicked.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Observers {
    /// Drops each observer separately, so that a panic in one destructor does not skip another destructor.
    fn drop(&mut self) {
        self.0.drain(..).for_each(drop_quietly);
    }
}

/// A step of a running plan, or an element of the step. Prints as `inbox` or `inbox[3]`. In a called plan, the path of the calling step comes first: `pages[3].chunked`.
#[derive(Clone, Copy)]
pub struct StepRef<'e> {
    pub(super) plan: &'e Plan,
    pub(super) index: usize,
    pub(super) element: &'e [usize],
    pub(super) tool: Option<&'e ToolInfo>,
    /// The path of the plan, if a step calls the plan.
    pub(super) outer: Option<&'e dyn fmt::Display>,
}

impl<'e> StepRef<'e> {
    pub(super) fn whole(plan: &'e Plan, step: usize, outer: Option<&'e dyn fmt::Display>) -> Self {
        Self {
            plan,
            index: step,
            element: &[],
            tool: plan.steps[step].tool(),
            outer,
        }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &'e Plan {
        self.plan
    }

    /// Returns the step.
    pub fn step(&self) -> &'e Step {
        &self.plan.steps[self.index]
    }

    /// Returns the step's index in [`Plan::steps`].
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the index of the element in each list of a `for`, the outermost first. The list is empty for the step as
    /// a whole.
    pub fn element(&self) -> &'e [usize] {
        self.element
    }

    /// Returns `true` if the step's plan is a step of another plan.
    pub fn is_nested(&self) -> bool {
        self.outer.is_some()
    }

    /// Returns the tool of the call. For a step as a whole, returns the tool if the step can call only one.
    pub fn tool(&self) -> Option<&'e ToolInfo> {
        self.tool
    }
}

impl fmt::Display for StepRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            write!(f, "{outer}.")?;
        }
        let (step, element) = (MessageName(&self.step().id), Elements(self.element));
        write!(f, "{step}{element}")
    }
}

impl fmt::Debug for StepRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StepRef(`{self}`)")
    }
}
