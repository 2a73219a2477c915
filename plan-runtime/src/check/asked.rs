//! `?` in computed values.

use super::cursor::{Caught, Unknown};
use super::flow::{Locals, Look};
use super::literal::Slot;
use crate::Error;
use crate::resolve::{Compute, ResolveError, Scope};
use serde::Serialize;
use serde_json::Value;
use std::convert::Infallible;
use std::panic::Location;

/// A type with the operator `?` in computed values.
#[diagnostic::on_unimplemented(
    message = "in a computed value, `?` needs a `Result`, but this is `{Self}`",
    label = "this `?` needs a `Result`",
    note = "an `Option` becomes a `Result` with `.ok_or(\"what is missing\")?`; `.unwrap_or(…)` and `.unwrap_or_default()` need no `?`",
    note = "in a reference, such as `inbox.next?.id`, `?` reads through an `Option`, and `.get(0)?` is the first element of a list that may be empty"
)]
pub trait Asked {
    /// The type of the `Ok`.
    type Value;
    /// The type of the `Err`.
    type Error;
    /// Returns the result itself.
    ///
    /// # Errors
    ///
    /// Returns the error of the `Result`.
    fn asked(self) -> Result<Self::Value, Self::Error>;
}

#[diagnostic::do_not_recommend]
impl<T, E> Asked for Result<T, E> {
    type Value = T;
    type Error = E;
    fn asked(self) -> Self {
        self
    }
}

/// A type that is unknown because of an earlier error.
#[diagnostic::do_not_recommend]
impl Asked for Unknown {
    type Value = Self;
    type Error = Infallible;
    fn asked(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

/// Returns the operand of a `?` after a step with `#[catch]`. The plan keeps the value.
///
/// # Errors
///
/// Returns the failure of the step.
pub fn caught_value<T>(caught: &Caught<T>) -> Caught<&T> {
    caught.as_ref().map_err(Clone::clone)
}

/// The error of a `Result` that fails a step.
#[diagnostic::on_unimplemented(
    message = "`?` cannot fail the step with `{Self}`, which does not convert into `plan_runtime::Error`",
    label = "this `?` fails the step with `{Self}`",
    note = "strings and types that implement `std::error::Error + Send + Sync` convert; create such an error with `.map_err(|error| …)?`, or `.ok().ok_or(\"what is wrong\")?`"
)]
pub trait FailsStep: Sized {
    /// Converts the error to the error that fails the step.
    ///
    /// # Errors
    ///
    /// Returns the converted error.
    fn failing<T>(result: Result<T, Self>) -> Result<T, ResolveError>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<Error>> FailsStep for E {
    fn failing<T>(result: Result<T, Self>) -> Result<T, ResolveError> {
        result.map_err(|error| {
            let error: Error = error.into();
            ResolveError::raised(format!("{error:#}"), error.into_std())
        })
    }
}

/// Returns the result of code with a `?` that is only type-checked.
///
/// # Errors
///
/// Never returns an error.
pub const fn checked((): ()) -> Result<(), ResolveError> {
    Ok(())
}

impl<F> Slot<F> {
    /// Creates a computed value that may fail, for this slot.
    #[must_use]
    #[track_caller]
    pub const fn asking(
        self,
        look: Look,
        compute: fn(&Scope<'_>) -> Result<F, ResolveError>,
    ) -> Asking<F> {
        Asking {
            look,
            compute,
            place: Location::caller(),
        }
    }

    /// Creates a computed value like [`asking`](Self::asking) in a step with a declared type. Nothing is reported if
    /// the type's constant does not compile.
    #[must_use]
    #[track_caller]
    pub const fn asking_declared<const CHECKED: bool>(
        self,
        look: Look,
        compute: fn(&Scope<'_>) -> Result<F, ResolveError>,
    ) -> Asking<F::Itself>
    where
        F: super::Checked<CHECKED, Itself = F>,
    {
        self.asking(look, compute)
    }

    /// Creates a computed value like [`asking`](Self::asking), with bound names.
    #[must_use]
    #[track_caller]
    pub const fn asking_within<L: Locals>(
        self,
        locals: L,
        look: Look,
        compute: for<'a> fn(&Scope<'a>, L::Refs<'a>) -> Result<F, ResolveError>,
    ) -> AskingWithin<L, F> {
        AskingWithin {
            locals,
            look,
            compute,
            place: Location::caller(),
        }
    }
}

/// A computed value that may fail.
pub struct Asking<F> {
    look: Look,
    compute: fn(&Scope<'_>) -> Result<F, ResolveError>,
    place: &'static Location<'static>,
}

impl<F: Serialize> Compute for Asking<F> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        scope.encode(&(self.compute)(scope)?)
    }

    fn place(&self) -> Option<&'static Location<'static>> {
        Some(self.place)
    }
}

/// A computed value over bound names that may fail.
pub struct AskingWithin<L: Locals, F> {
    locals: L,
    look: Look,
    compute: for<'a> fn(&Scope<'a>, L::Refs<'a>) -> Result<F, ResolveError>,
    place: &'static Location<'static>,
}

impl<L: Locals, F: Serialize> Compute for AskingWithin<L, F> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        self.locals.look(scope)?;
        scope.encode(&(self.compute)(scope, self.locals.refs(scope))?)
    }

    fn place(&self) -> Option<&'static Location<'static>> {
        Some(self.place)
    }
}
