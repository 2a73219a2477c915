//! The types of arguments, inputs and outputs, each checked once, at its position in the source.
//!
//! A type appears together with a constant: `for<'a> Lamp: Json<'a, { json::<Lamp>() }>`. If the type is wrong, the constant does not compile,
//! which is one error. Then rustc reports nothing more about types and bounds with this constant. `Json` and `Outcome` are implemented for both
//! `true` and `false`: with only one implementation, rustc would explain why it does not apply.

use crate::{Error, Result, Shape};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type that is read from JSON and written as JSON. The lifetime is for `for<'a>`: rustc assumes that a bound without type parameters
/// holds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` must implement `Serialize` and `Deserialize`",
    label = "this is passed as JSON",
    note = "add `#[derive(serde::Serialize, serde::Deserialize, plan_runtime::Shape)]` to the declaration of your type",
    note = "if the type is from another crate, enable the feature `serde` of that crate, or pass a type of your own or a `serde_json::Value` instead"
)]
pub trait Json<'a, const CHECKED: bool>: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Json<'_, true> for T {}
#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Json<'_, false> for T {}

/// Compiles if JSON can represent the type.
#[must_use]
pub const fn json<T: for<'a> Json<'a, true>>() -> bool {
    true
}

/// A struct that can be a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` must implement `Serialize`, `Deserialize` and `Shape` to be a tool",
    label = "this is passed as JSON",
    note = "derive all of them: `#[derive(serde::Serialize, serde::Deserialize, plan_runtime::Shape, plan_runtime::Tool)]`"
)]
pub trait ToolStruct<'a, const CHECKED: bool>: Serialize + DeserializeOwned + Shape {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Shape> ToolStruct<'_, true> for T {}
#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Shape> ToolStruct<'_, false> for T {}

/// Compiles if the struct can be a tool.
#[must_use]
pub const fn tool_struct<T: for<'a> ToolStruct<'a, true>>() -> bool {
    true
}

/// [`Json`] for the first parameter of a tool without an application, whose author may have meant it as one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` must implement `Serialize` and `Deserialize`",
    label = "this is passed as JSON",
    note = "if this is the application, borrow it: `app: &App`; for an application in an `Arc` or a `Box`, run the plan on `&*app`",
    note = "if it is an argument, add `#[derive(serde::Serialize, serde::Deserialize, plan_runtime::Shape)]` to the declaration of its type",
    note = "if the type is from another crate, enable the feature `serde` of that crate, or pass a type of your own or a `serde_json::Value` instead"
)]
pub trait JsonOrApplication<'a>: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> JsonOrApplication<'_> for T {}

/// Compiles if JSON can represent the type.
#[must_use]
pub const fn json_or_application<T: for<'a> JsonOrApplication<'a>>() -> bool {
    true
}

/// A type whose values a pattern binds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` must implement `Serialize`",
    label = "this is passed as JSON",
    note = "add `#[derive(serde::Serialize, serde::Deserialize, plan_runtime::Shape)]` to the declaration of your type, or bind only what the step needs: the elements of `list.iter().map(|element| element.field.clone())`"
)]
pub trait BoundValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> BoundValue for T {}

/// Returns a value that a pattern binds.
#[must_use]
pub fn bound_value<T: BoundValue + ?Sized>(value: &T) -> impl Serialize + '_ {
    value
}

/// A type that is unknown if the constant does not compile.
pub trait Checked<const CHECKED: bool> {
    /// The type itself.
    type Itself;
}

impl<T> Checked<true> for T {
    type Itself = T;
}

/// The return type of a function with `#[tool]`.
#[diagnostic::on_unimplemented(
    message = "a tool must return a `Result`, not `{Self}`",
    label = "this is not a `Result`",
    note = "a tool that cannot fail must also return `Ok(…)`: `-> plan_runtime::Result<{Self}>`"
)]
pub trait Outcome<const CHECKED: bool>: Sized {
    /// The type of a successful tool's output.
    type Output;
    /// The error type of the tool.
    type Failure;

    /// Converts the result to a result with the common error type of tools.
    ///
    /// # Errors
    ///
    /// Returns the failure of the tool.
    fn finish(self) -> Result<Self::Output>
    where
        Self::Failure: Failure;
}

macro_rules! outcome {
    ($($checked:literal)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, E> Outcome<$checked> for std::result::Result<T, E> {
            type Output = T;
            type Failure = E;

            fn finish(self) -> Result<T>
            where
                E: Failure,
            {
                self.map_err(Into::into)
            }
        }
    )*};
}

outcome!(true false);

/// Compiles if a function with `#[tool]` may return the type.
#[must_use]
pub const fn outcome<O: Outcome<true>>() -> bool
where
    O::Output: for<'a> Json<'a, true>,
{
    true
}

/// An error type for a function with `#[tool]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a `plan_runtime::Error`",
    label = "the error of a tool must convert into `plan_runtime::Error`",
    note = "these types convert: `String`, `Box<dyn Error + Send + Sync>`, and types that implement `std::error::Error + Send + Sync + 'static`",
    note = "add `+ Send + Sync` to a `Box<dyn Error>`; implement `std::error::Error` for a type of your own"
)]
pub trait Failure: Into<Error> {}

#[diagnostic::do_not_recommend]
impl<E: Into<Error>> Failure for E {}
