//! What the IDE expansion of a plan names, which only editors see: see `ide` in `plan-macros`. Nothing of it is ever called.

use super::argument::{TakesText, TextFor, TextLiteral};
use super::cursor::unreachable;
pub use crate::Failure;
use crate::Tool;
#[cfg(feature = "macros")]
pub use plan_macros::items;
use serde_json::Value;
pub use serde_json::json;
pub use std::format;
use std::marker::PhantomData;

/// A value of any type, such as that of an input.
#[must_use]
pub fn any<T>() -> T {
    unreachable()
}

/// What a tool gives.
pub fn call<T: Tool>(_: T) -> T::Output {
    unreachable()
}

/// A value on its way into a place that may be of another type: a string literal fits a path, and `None` fits many an `Option`.
///
/// It is a method, since an editor knows of no type that it expects of a function's argument, but of the value of the whole call.
pub trait Argument {
    /// The value in its place.
    #[doc(hidden)]
    fn __plan_arg<To>(&self) -> To {
        unreachable()
    }
}

impl<T: ?Sized> Argument for T {}

/// A field that takes a value.
pub struct DocumentedField<T>(PhantomData<T>);

/// The field of a struct.
pub fn field<T>(_: &T) -> DocumentedField<T> {
    unreachable()
}

impl<T> DocumentedField<T> {
    /// The field takes this value.
    pub fn takes(self, _: T) {
        unreachable()
    }
}

/// A reference on its way into a place of another type than its own, or of the same.
pub struct ExpectedValue<To, T>(PhantomData<(To, T)>);

/// A reference, and the field that takes it.
pub fn place<To, T>(_: &To, _: &T) -> ExpectedValue<To, T> {
    unreachable()
}

impl<T> ExpectedValue<T, T> {
    /// The reference as it is.
    pub fn fit(self) -> fn() -> T {
        unreachable()
    }
}

impl<T> ExpectedValue<Option<T>, T> {
    /// The reference in an `Option`.
    pub fn fit(self) -> fn() -> Option<T> {
        unreachable()
    }
}

/// A trait for method lookup: its method is found after the inherent ones.
pub trait FitJson<To> {
    /// The reference as JSON.
    fn fit(self) -> fn() -> To;
}

impl<T> FitJson<Value> for ExpectedValue<Value, T> {
    fn fit(self) -> fn() -> Value {
        unreachable()
    }
}

impl<T> FitJson<Option<Value>> for ExpectedValue<Option<Value>, T> {
    fn fit(self) -> fn() -> Option<Value> {
        unreachable()
    }
}

/// Looked for last: what does not fit is as it is, so that its place says what it expects.
pub trait Misfit<T> {
    /// The reference as it is.
    fn fit(&self) -> fn() -> T;
}

impl<To, T> Misfit<T> for ExpectedValue<To, T> {
    fn fit(&self) -> fn() -> T {
        unreachable()
    }
}

/// A text literal on its way into a place.
pub struct ExpectedText<To>(PhantomData<To>);

/// The field that takes a text literal.
pub fn text<To>(_: &To) -> ExpectedText<To> {
    unreachable()
}

impl<To: TakesText> ExpectedText<To>
where
    TextLiteral: TextFor<To::For>,
{
    /// The text as what it becomes.
    pub fn fit(self) -> fn() -> To {
        unreachable()
    }
}

impl<To> Misfit<&'static str> for ExpectedText<To> {
    fn fit(&self) -> fn() -> &'static str {
        unreachable()
    }
}

/// What a step gives that may be skipped or may fail.
pub fn optional<T>(_: T) -> Option<T> {
    unreachable()
}

/// What a step gives whose failure is caught.
pub fn caught<T>(_: T) -> Result<T, Failure> {
    unreachable()
}

/// What a loop gives: the value of its last round.
pub fn rounds<T>(_: impl FnMut(Option<T>) -> T) -> T {
    unreachable()
}

/// What a loop with `#[collect]` gives: the values of all rounds.
pub fn all_rounds<T>(_: T) -> Vec<T> {
    unreachable()
}

/// The elements that a loop iterates over.
pub struct LoopElements<T>(PhantomData<T>);

/// The elements of a list, out of which nothing is taken.
pub fn elements<L: IntoIterator>(_: &L) -> LoopElements<L::Item> {
    unreachable()
}

impl<T> LoopElements<T> {
    /// What a loop gives.
    pub fn each<R>(self, _: impl FnMut(T) -> R) -> Vec<R> {
        unreachable()
    }
}

impl<T> LoopElements<&T> {
    /// The elements by value, without the references.
    pub fn owned(self) -> LoopElements<T> {
        unreachable()
    }
}

impl<T> LoopElements<(usize, &T)> {
    /// The elements by value, without the references.
    pub fn owned(self) -> LoopElements<(usize, T)> {
        unreachable()
    }
}

impl<K, V> LoopElements<(&K, &V)> {
    /// The elements by value, without the references.
    pub fn owned(self) -> LoopElements<(K, V)> {
        unreachable()
    }
}

/// A trait for method lookup: its method is found after the inherent ones, if there are no references.
pub trait Owned<T> {
    /// The same elements.
    fn owned(&self) -> LoopElements<T>;
}

impl<T> Owned<T> for LoopElements<T> {
    fn owned(&self) -> Self {
        unreachable()
    }
}

/// What `json!` gives.
pub fn json_value<T, To>(_: T) -> To {
    unreachable()
}

/// What starts a statement of a plan.
pub mod keyword {
    /// A step calls a tool, `step name = Tool { … };`, or computes a value, `step name: Type = …;`.
    pub mod step {}
}

macro_rules! modules {
    ($($(#[$doc:meta])* $name:ident $variant:ident $concern:ident $takes:ident $usage:literal {
        $($(#[$argument_doc:meta])* $argument:ident $(($amount:ident))?),* $(,)?
    })*) => {
        $($(#[$doc])* pub mod $name {
            $($(#[$argument_doc])* pub mod $argument {})*
        })*
    };
}

/// The attributes of steps.
pub mod attribute {
    plan_graph::step_attributes!(modules);
}
