//! The items that a plan's expansion for editors names: see `ide` in `plan-macros`. No code calls them.

use super::accepts::TakesText;
use super::cursor::unreachable;
pub use crate::Failure;
use crate::Tool;
#[cfg(feature = "macros")]
pub use plan_macros::items;
use serde_json::Value;
pub use serde_json::json;
pub use std::format;
use std::marker::PhantomData;

/// Returns a value of any type, such as an input's.
#[must_use]
pub fn any<T>() -> T {
    unreachable()
}

/// Returns the output of a tool.
pub fn call<T: Tool>(_: T) -> T::Output {
    unreachable()
}

/// A value to be checked against a type that may differ: a string literal fits a path, and `None` fits any `Option`.
///
/// A method, since an editor infers no expected type for a function's argument, but one for the result of the whole call.
pub trait Argument {
    /// Returns the value as the accepting type.
    #[doc(hidden)]
    fn __plan_arg<To>(&self) -> To {
        unreachable()
    }
}

impl<T: ?Sized> Argument for T {}

/// A field that takes a value.
pub struct DocumentedField<T>(PhantomData<T>);

/// Returns the field for a value, so that an editor shows its documentation.
pub fn field<T>(_: &T) -> DocumentedField<T> {
    unreachable()
}

impl<T> DocumentedField<T> {
    /// Passes the value to the field.
    pub fn takes(self, _: T) {
        unreachable()
    }
}

/// A reference to be checked against a type that may equal or differ from its own.
pub struct ExpectedValue<To, T>(PhantomData<(To, T)>);

/// Pairs a reference with the field that takes it.
pub fn place<To, T>(_: &To, _: &T) -> ExpectedValue<To, T> {
    unreachable()
}

impl<T> ExpectedValue<T, T> {
    /// Returns the reference unchanged.
    pub fn fit(self) -> fn() -> T {
        unreachable()
    }
}

impl<T> ExpectedValue<Option<T>, T> {
    /// Returns the reference in an `Option`.
    pub fn fit(self) -> fn() -> Option<T> {
        unreachable()
    }
}

/// A trait whose method rustc considers after inherent methods.
pub trait FitJson<To> {
    /// Returns the reference as JSON.
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

/// The last candidate, for a value that does not fit. The value keeps its type, so that the error names the expected
/// type.
pub trait Misfit<T> {
    /// Returns the reference unchanged.
    fn fit(&self) -> fn() -> T;
}

impl<To, T> Misfit<T> for ExpectedValue<To, T> {
    fn fit(&self) -> fn() -> T {
        unreachable()
    }
}

/// A string literal to be checked against a type.
pub struct ExpectedText<To>(PhantomData<To>);

/// Returns the field that takes a string literal.
pub fn text<To>(_: &To) -> ExpectedText<To> {
    unreachable()
}

impl<To: TakesText> ExpectedText<To> {
    /// Returns the string as the accepting type.
    pub fn fit(self) -> fn() -> To {
        unreachable()
    }
}

impl<To> Misfit<&'static str> for ExpectedText<To> {
    fn fit(&self) -> fn() -> &'static str {
        unreachable()
    }
}

/// Returns the output of a step that may be skipped or may fail.
pub fn optional<T>(_: T) -> Option<T> {
    unreachable()
}

/// Returns the output of a step whose failure is caught.
pub fn caught<T>(_: T) -> Result<T, Failure> {
    unreachable()
}

/// Returns the output of a loop: the value of its last round.
pub fn rounds<T>(_: impl FnMut(Option<T>) -> T) -> T {
    unreachable()
}

/// Returns the output of a loop with `#[collect]`: the values of all rounds.
pub fn all_rounds<T>(_: T) -> Vec<T> {
    unreachable()
}

/// The elements that a loop iterates over.
pub struct LoopElements<T>(PhantomData<T>);

/// Returns the elements of a list, which stays intact.
pub fn elements<L: IntoIterator>(_: &L) -> LoopElements<L::Item> {
    unreachable()
}

impl<T> LoopElements<T> {
    /// Returns the output of a loop.
    pub fn each<R>(self, _: impl FnMut(T) -> R) -> Vec<R> {
        unreachable()
    }
}

impl<T> LoopElements<&T> {
    /// Returns the elements as owned values, for a list of references.
    pub fn owned(self) -> LoopElements<T> {
        unreachable()
    }
}

impl<T> LoopElements<(usize, &T)> {
    /// Returns the elements as owned values, for a list of references.
    pub fn owned(self) -> LoopElements<(usize, T)> {
        unreachable()
    }
}

impl<K, V> LoopElements<(&K, &V)> {
    /// Returns the elements as owned values, for a list of references.
    pub fn owned(self) -> LoopElements<(K, V)> {
        unreachable()
    }
}

/// A trait whose method rustc considers after inherent methods, for values without references.
pub trait Owned<T> {
    /// Returns the elements.
    fn owned(&self) -> LoopElements<T>;
}

impl<T> Owned<T> for LoopElements<T> {
    fn owned(&self) -> Self {
        unreachable()
    }
}

/// Returns the result of `json!`.
pub fn json_value<T, To>(_: T) -> To {
    unreachable()
}

/// Keywords at the start of a plan's statement.
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
