//! What the mirror of a plan names, which only editors see: see `mirror` in `plan-macros`. Nothing of it is ever called.

use super::cursor::unreachable;
use super::run::{Inline, Request, Started, Steps};
pub use crate::Tool;

/// A value of any type, such as that of an input.
#[must_use]
pub fn any<T>() -> T {
    unreachable()
}

/// What a tool gives.
pub fn call<T: Tool>(_: T) -> T::Output {
    unreachable()
}

/// A value on its way into a place that may be of another type: `T` goes into `Option<T>`, and a string literal into a path.
pub fn arg<T, To>(_: T) -> To {
    unreachable()
}

/// What a step gives that may be skipped or may fail.
pub fn optional<T>(_: T) -> Option<T> {
    unreachable()
}

/// What a loop gives.
pub fn each<L: IntoIterator, T>(_: L, _: impl FnMut(L::Item) -> T) -> Vec<T> {
    unreachable()
}

/// What `json!` gives.
pub fn json<T, To>(_: T) -> To {
    unreachable()
}

/// What the expression form gives.
pub fn inline<O>(_: impl FnOnce() -> O) -> Inline<AnySteps, O> {
    unreachable()
}

/// The steps of some plan.
#[derive(Debug)]
pub struct AnySteps;

impl<App: ?Sized> Steps<App> for AnySteps {
    fn start<'a>(_: usize, _: Request<'_>, _: &'a App) -> Started<'a> {
        unreachable()
    }
}

/// What starts a statement of a plan.
pub mod keyword {
    /// A step calls a tool, `step name = Tool { … };`, or computes a value, `step name: Type = …;`.
    #[expect(non_upper_case_globals, reason = "it is a keyword")]
    pub const step: () = ();
}

/// The attributes of steps.
pub mod attribute {
    #![expect(
        non_upper_case_globals,
        non_camel_case_types,
        reason = "they are attributes"
    )]

    /// `#[after(first, second)]`: the steps that must end first.
    pub const after: () = ();
    /// `#[timeout("10s")]`: how long each attempt may take.
    pub const timeout: () = ();
    /// `#[deadline("1m")]`: how long all attempts may take together, with the waits.
    pub const deadline: () = ();
    /// `#[optional]`: its failure does not fail the plan, and its output is an `Option`. `#[optional(each)]` is for the elements of
    /// a `for`.
    pub const optional: () = ();
    /// `#[concurrency(4)]`: how many elements of a `for` run at once.
    pub const concurrency: () = ();
    /// `#[fallback(value)]`: the output, if the step fails.
    pub const fallback: () = ();

    /// `#[retry(3, backoff = "200ms", max = "10s", jitter = false)]`: how often the step is tried at most.
    #[derive(Debug)]
    pub struct retry {
        /// How often the step is tried at most.
        pub attempts: u32,
        /// The first wait, which doubles.
        pub backoff: &'static str,
        /// The longest wait.
        pub max: &'static str,
        /// Whether a random part of each wait is left out.
        pub jitter: bool,
    }
}
