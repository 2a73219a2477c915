//! Struct literals and computed values.

use super::argument::{AlwaysPresent, Passed};
use super::cursor::{HasShape, unreachable};
use super::decode::Constant;
use super::segment;
use crate::Tool;
use crate::resolve::{Compute, ResolveError, Scope};
use crate::shape::TypeShape;
use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;

/// A literal of type `T`, whose fields are those of `S`: the same type, or unknown because of an earlier mistake.
pub struct Literal<T, S>(PhantomData<fn() -> (T, S)>);

impl<T, S> Clone for Literal<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for Literal<T, S> {}

/// The literal that the closure makes.
pub const fn literal<T, S, F: Fn() -> Literal<T, S>>(_: &F) -> Literal<T, S> {
    Literal(PhantomData)
}

/// The names of the arguments of a tool.
#[must_use]
pub const fn arguments<T: Tool>() -> FieldNames {
    FieldNames(T::SHAPE)
}

impl<T, S> Literal<T, S> {
    /// The literal as a value of an argument.
    pub fn plan_value(self) -> Passed<AlwaysPresent, T> {
        unreachable()
    }

    /// The literal as the value of the plan.
    pub fn value(self) -> T {
        unreachable()
    }

    /// The names of its fields in JSON.
    #[must_use]
    pub const fn names(self) -> FieldNames
    where
        S: HasShape,
    {
        FieldNames(S::SHAPE)
    }
}

/// The names of a literal's fields in JSON. Each is asked for by the name of the literal's variant, which is the last one of
/// its path, and the Rust name of the field.
#[derive(Clone, Copy)]
pub struct FieldNames(TypeShape);

impl FieldNames {
    /// The names.
    #[must_use]
    pub const fn shape(self) -> Constant {
        Constant::Shape(self.0)
    }

    /// Checks that a field has one.
    #[track_caller]
    pub const fn key(self, variant: &'static str, ident: &'static str) {
        segment::argument(self.0, variant, ident);
    }

    /// Checks a field of a tuple literal.
    #[track_caller]
    pub const fn element(self, variant: &'static str, ident: &'static str) {
        segment::element(self.0, variant, ident);
    }

    /// Checks what `..` leaves out.
    #[track_caller]
    pub const fn rest(self, given: &[&str]) {
        segment::rest(self.0, given);
    }

    /// Checks the variant.
    #[track_caller]
    pub const fn tag(self, variant: &'static str) {
        segment::tag(self.0, variant);
    }
}

/// The place of a computed value, which gives it its type.
pub struct Slot<F>(PhantomData<fn() -> F>);

impl<F> Clone for Slot<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Slot<F> {}

/// A place for a computed value.
#[must_use]
pub const fn slot<F>() -> Slot<F> {
    Slot(PhantomData)
}

impl<F> Slot<F> {
    /// The place itself, among the other arguments.
    pub fn value(self) -> F {
        unreachable()
    }

    /// Gives the place its type.
    pub fn of(self, _: F) {}

    /// The computed value that fills the place: what it mentions is looked for first.
    #[must_use]
    pub const fn with(
        self,
        look: fn(&Scope<'_>) -> Result<(), ResolveError>,
        compute: fn(&Scope<'_>) -> F,
    ) -> Filled<F> {
        Filled { look, compute }
    }
}

/// A computed value.
pub struct Filled<F> {
    look: fn(&Scope<'_>) -> Result<(), ResolveError>,
    compute: fn(&Scope<'_>) -> F,
}

impl<F: Serialize> Compute for Filled<F> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        scope.encode(&(self.compute)(scope))
    }
}

/// The type that the closure returns.
pub const fn witness<T, F: Fn() -> T>(_: &F) -> PhantomData<fn() -> T> {
    PhantomData
}
