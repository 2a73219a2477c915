//! Spans and events of `tracing`. Without the feature, every function here does nothing.

#[cfg(feature = "tracing")]
pub(super) use on::{Span, is_on};

#[cfg(not(feature = "tracing"))]
pub(super) use off::{Span, is_on};

#[cfg(feature = "tracing")]
mod on {
    use crate::Plan;
    use crate::print::MessageName;
    use crate::run::{StepError, StepRef};
    use std::time::Duration;
    use tracing::level_filters::LevelFilter;

    /// Returns `true` if a subscriber exists.
    pub(in crate::run) fn is_on() -> bool {
        LevelFilter::current() != LevelFilter::OFF
    }

    /// The span of a run or of an attempt.
    #[derive(Clone)]
    pub(in crate::run) struct Span(Option<tracing::Span>);

    /// Returns the name of a step's tool. A name is untrusted text, and a subscriber may print it, so the name is
    /// escaped here.
    fn tool(step: &StepRef<'_>) -> Option<String> {
        step.tool().map(|tool| MessageName(&tool.name).to_string())
    }

    impl Span {
        pub(in crate::run) fn none() -> Self {
            Self(None)
        }

        fn of(span: tracing::Span) -> Self {
            Self((!span.is_disabled()).then_some(span))
        }

        pub(in crate::run) fn is_none(&self) -> bool {
            self.0.is_none()
        }

        pub(in crate::run) fn run(plan: &Plan) -> Self {
            let name = MessageName(&plan.name).to_string();
            Self::of(tracing::info_span!("plan", plan = name))
        }

        pub(in crate::run) fn attempt(run: &Self, step: &StepRef<'_>, attempt: u32) -> Self {
            let Some(run) = &run.0 else {
                return Self::none();
            };
            let tool = tool(step);
            Self::of(tracing::info_span!(
                parent: run,
                "step",
                step = %step,
                tool = tool.as_deref(),
                attempt,
                outcome = tracing::field::Empty,
            ))
        }

        pub(in crate::run) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
            let _entered = self.0.as_ref().map(|span| span.enter());
            run()
        }

        fn record(&self, field: &str, value: &str) {
            if let Some(span) = &self.0 {
                span.record(field, value);
            }
        }

        /// Records the end of an attempt.
        pub(in crate::run) fn outcome(&self, error: Option<&StepError>) {
            match error {
                None => {
                    self.record("outcome", "completed");
                }
                Some(error) => {
                    self.record("outcome", "failed");
                    self.in_scope(|| tracing::warn!(%error, "attempt failed"));
                }
            }
        }

        pub(in crate::run) fn retrying(&self, step: &StepRef<'_>, attempt: u32, wait: Duration) {
            self.in_scope(|| tracing::info!(step = %step, attempt, ?wait, "retrying"));
        }

        pub(in crate::run) fn step(&self, step: &StepRef<'_>, outcome: &str) {
            let tool = tool(step);
            self.in_scope(|| tracing::info!(step = %step, tool = tool.as_deref(), outcome, "step"));
        }

        pub(in crate::run) fn finished(&self, totals: &crate::run::Totals, took: Duration) {
            self.in_scope(|| tracing::info!(%totals, ?took, "plan finished"));
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    use crate::Plan;
    use crate::run::{StepError, StepRef, Totals};
    use std::time::Duration;

    pub(in crate::run) fn is_on() -> bool {
        false
    }

    #[derive(Clone)]
    pub(in crate::run) struct Span;

    impl Span {
        pub(in crate::run) fn none() -> Self {
            Self
        }

        pub(in crate::run) fn is_none(&self) -> bool {
            true
        }

        pub(in crate::run) fn run(_: &Plan) -> Self {
            Self
        }

        pub(in crate::run) fn attempt(_: &Self, _: &StepRef<'_>, _: u32) -> Self {
            Self
        }

        pub(in crate::run) fn outcome(&self, _: Option<&StepError>) {}

        pub(in crate::run) fn retrying(&self, _: &StepRef<'_>, _: u32, _: Duration) {}

        pub(in crate::run) fn step(&self, _: &StepRef<'_>, _: &str) {}

        pub(in crate::run) fn finished(&self, _: &Totals, _: Duration) {}

        pub(in crate::run) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
            run()
        }
    }
}
