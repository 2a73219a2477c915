//! `tracing`, where the feature is on. Without it, all of this is nothing.

#[cfg(feature = "tracing")]
pub(super) use on::Span;

#[cfg(not(feature = "tracing"))]
pub(super) use off::Span;

#[cfg(feature = "tracing")]
mod on {
    use crate::plan::Plan;
    use crate::run::{StepError, StepRef};
    use std::time::Duration;

    /// The span of a run or of an attempt.
    #[derive(Clone)]
    pub(in crate::run) struct Span(tracing::Span);

    impl Span {
        pub(in crate::run) fn none() -> Self {
            Self(tracing::Span::none())
        }

        pub(in crate::run) fn run(plan: &Plan) -> Self {
            Self(tracing::info_span!("plan", plan = &*plan.name))
        }

        pub(in crate::run) fn attempt(run: &Self, step: &StepRef<'_>, attempt: u32) -> Self {
            if run.0.is_disabled() {
                return Self::none();
            }
            Self(tracing::info_span!(
                parent: &run.0,
                "step",
                step = %step,
                tool = step.tool().map(|tool| &*tool.name),
                attempt,
                outcome = tracing::field::Empty,
            ))
        }

        pub(in crate::run) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
            self.0.in_scope(run)
        }

        /// An attempt has ended.
        pub(in crate::run) fn outcome(&self, error: Option<&StepError>) {
            match error {
                None => {
                    self.0.record("outcome", "completed");
                }
                Some(error) => {
                    self.0.record("outcome", "failed");
                    self.in_scope(|| tracing::warn!(%error, "attempt failed"));
                }
            }
        }

        pub(in crate::run) fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {
            self.in_scope(|| tracing::info!(step = %step, attempt, ?wait, "retrying"));
        }

        pub(in crate::run) fn step(&self, step: &StepRef<'_>, outcome: &str) {
            let tool = step.tool().map(|tool| &*tool.name);
            self.in_scope(|| tracing::info!(step = %step, tool, outcome, "step"));
        }

        pub(in crate::run) fn finished(&self, totals: &crate::run::Totals, took: Duration) {
            self.in_scope(|| tracing::info!(%totals, ?took, "plan finished"));
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    #[derive(Clone)]
    pub(in crate::run) struct Span;

    impl Span {
        pub(in crate::run) fn none() -> Self {
            Self
        }

        pub(in crate::run) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
            run()
        }
    }
}
