//! Spans and events of `tracing`. Without the feature, every function here does nothing.

#[cfg(feature = "tracing")]
pub(in crate::run) use on::{Span, is_on};

#[cfg(not(feature = "tracing"))]
pub(in crate::run) use off::{Span, is_on};

#[cfg(feature = "tracing")]
mod on {
    use crate::Plan;
    use crate::print::MessageName;
    use crate::run::catch::catch;
    use crate::run::{StepError, StepRef};
    use std::sync::{Arc, LazyLock};
    use std::time::Duration;
    use tracing::level_filters::LevelFilter;

    /// Returns `true` if a subscriber exists.
    pub(in crate::run) fn is_on() -> bool {
        LevelFilter::current() != LevelFilter::OFF
    }

    /// The span of a run or of an attempt, which opens at its first use.
    #[derive(Clone)]
    pub(in crate::run) struct Span(Option<Arc<Opening>>);

    struct Opening {
        around: Option<tracing::Span>,
        span: LazyLock<Option<tracing::Span>, Box<dyn FnOnce() -> Option<tracing::Span> + Send>>,
    }

    /// Returns the name of a step's tool. A name is untrusted text, and a subscriber may print it, so the name is
    /// escaped here.
    fn tool(step: &StepRef<'_>) -> Option<String> {
        step.tool().map(|tool| MessageName(&tool.name).to_string())
    }

    impl Span {
        pub(in crate::run) fn none() -> Self {
            Self(None)
        }

        fn new(
            around: Option<tracing::Span>,
            open: impl FnOnce() -> tracing::Span + Send + 'static,
        ) -> Self {
            // A subscriber may panic.
            let open = || catch(open).ok().filter(|span| !span.is_disabled());
            let span = LazyLock::new(Box::new(open) as _);
            Self(Some(Arc::new(Opening { around, span })))
        }

        /// Opens the span, unless it is open.
        pub(in crate::run) fn open(&self) -> Option<&tracing::Span> {
            self.0.as_ref()?.span.as_ref()
        }

        pub(in crate::run) fn is_none(&self) -> bool {
            self.0.is_none()
        }

        pub(in crate::run) fn run(plan: &Plan) -> Self {
            let name = MessageName(&plan.name).to_string();
            let span = Self::new(None, move || tracing::info_span!("plan", plan = name));
            span.open();
            span
        }

        pub(in crate::run) fn attempt(run: &Self, step: &StepRef<'_>, attempt: u32) -> Self {
            let Some(run) = run.open().cloned() else {
                return Self::none();
            };
            let (around, step, tool) = (run.clone(), step.to_string(), tool(step));
            Self::new(Some(around), move || {
                tracing::info_span!(
                    parent: run,
                    "step",
                    step = %step,
                    tool = tool.as_deref(),
                    attempt,
                    outcome = tracing::field::Empty,
                )
            })
        }

        pub(in crate::run) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
            let _entered = self.open().map(|span| span.enter());
            run()
        }

        /// Calls a function in the span of the plan around an attempt.
        pub(in crate::run) fn around<T>(&self, run: impl FnOnce() -> T) -> T {
            let around = self.0.as_ref().and_then(|it| it.around.as_ref());
            let _entered = around.map(|span| span.enter());
            run()
        }

        fn record(&self, field: &str, value: &str) {
            if let Some(span) = self.open() {
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

        pub(in crate::run) fn open(&self) {}

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

        pub(in crate::run) fn around<T>(&self, run: impl FnOnce() -> T) -> T {
            run()
        }
    }
}
