//! A progress bar for runs.

use super::super::StepError;
use super::super::catch::locked;
use super::super::report::{Status, Totals};
use super::observe::{Observer, StepRef};
use crate::Plan;
use crate::plan::Step;
use crate::print::{self, MessageName};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// An [`Observer`] that draws progress bars: one line for the plan, and one for each step that runs.
///
/// It draws on the standard error stream, if that is a terminal.
///
/// ```
/// use plan_runtime::{plan, run::Progress};
/// # use plan_runtime::{Result, tool};
/// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
///
/// let plan = plan! { step six = Double { number: 3 }; six };
/// assert_eq!(smol::block_on(plan.run(&()).observe(Progress::new()))?, 6);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
pub struct Progress {
    bars: MultiProgress,
    state: Mutex<BarState>,
}

#[derive(Default)]
struct BarState {
    plan: Option<ProgressBar>,
    /// The bars of the running steps. A bar with a length counts elements.
    steps: HashMap<usize, ProgressBar>,
    /// The number of failed steps.
    failed: usize,
}

/// The time between two drawings of a bar, whose time passes without an event.
const TICK: Duration = Duration::from_millis(100);
const PLAN: &str = "{prefix:.bold} [{bar:30}] {pos}/{len} steps, {elapsed} {msg}";
const STEP: &str = "  {spinner} {prefix} {elapsed} {wide_msg:.dim}";
const LIST: &str = "  {spinner} {prefix} [{bar:20}] {pos}/{len} {elapsed} {wide_msg:.dim}";

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("█▌ ")
}

impl Progress {
    /// Creates progress bars on the standard error stream.
    #[must_use]
    pub fn new() -> Self {
        Self::on(ProgressDrawTarget::stderr())
    }

    /// Creates progress bars on this target.
    #[must_use]
    pub fn on(target: ProgressDrawTarget) -> Self {
        Self {
            bars: MultiProgress::with_draw_target(target),
            state: Mutex::default(),
        }
    }

    /// Returns the progress bars, for further bars and for lines above them.
    pub fn bars(&self) -> &MultiProgress {
        &self.bars
    }

    fn say(&self, step: &StepRef<'_>, text: String) {
        if step.is_nested() {
            return;
        }
        if let Some(bar) = locked(&self.state).steps.get(&step.index()) {
            bar.set_message(text);
        }
    }

    /// Records that a step will not run.
    fn over(&self, step: &StepRef<'_>, failed: bool) {
        if step.is_nested() {
            return;
        }
        let mut state = locked(&self.state);
        if let Some(bar) = state.steps.remove(&step.index()) {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
        state.failed += usize::from(failed);
        let failed = state.failed;
        if let Some(plan) = &state.plan {
            plan.inc(1);
            if failed > 0 {
                plan.set_message(format!("({failed} failed)"));
            }
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

impl Observer for Progress {
    fn plan_started(&self, plan: &Plan) {
        let bar = self.bars.add(ProgressBar::new(plan.steps.len() as u64));
        bar.set_style(style(PLAN));
        bar.set_prefix(MessageName(&plan.name).to_string());
        bar.enable_steady_tick(TICK);
        let mut state = locked(&self.state);
        *state = BarState::default();
        state.plan = Some(bar);
    }

    fn plan_finished(&self, _: &Plan, totals: &Totals, _: Duration) {
        let mut state = locked(&self.state);
        for (_, bar) in state.steps.drain() {
            bar.finish_and_clear();
        }
        if let Some(plan) = state.plan.take() {
            plan.abandon_with_message(format!("({totals})"));
        }
    }

    fn step_started(&self, step: &StepRef<'_>) {
        // A plan inside this one is one of its steps.
        if step.is_nested() {
            return;
        }
        let bar = self.bars.add(ProgressBar::no_length());
        bar.set_style(style(STEP));
        bar.set_prefix(step.to_string());
        bar.set_message(print::Line(step.step().intent.trim()).to_string());
        bar.enable_steady_tick(TICK);
        locked(&self.state).steps.insert(step.index(), bar);
    }

    fn list_started(&self, step: &StepRef<'_>, length: usize) {
        // In nested lists, the bar counts the elements of the outermost list.
        if !step.is_nested()
            && step.element().is_empty()
            && let Some(bar) = locked(&self.state).steps.get(&step.index())
        {
            bar.set_length(length as u64);
            bar.set_style(style(LIST));
        }
    }

    fn element_finished(&self, step: &StepRef<'_>) {
        if !step.is_nested()
            && step.element().len() == 1
            && let Some(bar) = locked(&self.state).steps.get(&step.index())
            && bar.length().is_some()
        {
            bar.inc(1);
        }
    }

    fn attempt_failed(&self, step: &StepRef<'_>, _: u32, error: &StepError, _: Duration) {
        self.say(step, error.to_string());
    }

    fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {
        let wait = humantime::format_duration(Duration::from_millis(wait.as_millis() as u64));
        self.say(step, format!("attempt {attempt} in {wait}"));
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        self.over(step, matches!(status, Status::Failed(_)));
    }

    fn step_skipped(&self, step: &StepRef<'_>) {
        self.over(step, false);
    }

    fn step_blocked(&self, step: &StepRef<'_>, _: &Step) {
        self.over(step, false);
    }
}
