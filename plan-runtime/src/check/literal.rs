//! Struct literals and computed values.

use super::argument::{AlwaysPresent, MaybeAbsent, Passed};
use super::cursor::{HasShape, Unclear, Unknown, unreachable};
use super::decode::Constant;
use super::flow::Look;
use super::segment;
use crate::Tool;
use crate::resolve::{Compute, ResolveError, Scope};
use crate::shape::TypeShape;
use serde::Serialize;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::Location;

/// A literal of type `T` with the fields of `S`, which is the same type, or unknown because of an earlier error.
pub struct Literal<T, S>(PhantomData<fn() -> (T, S)>);

impl<T, S> Clone for Literal<T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, S> Copy for Literal<T, S> {}

/// Returns the literal that the closure creates.
pub const fn literal<T, S, F: Fn() -> Literal<T, S>>(_: &F) -> Literal<T, S> {
    Literal(PhantomData)
}

/// The names of the arguments of a tool.
#[must_use]
pub const fn arguments<T: Tool>() -> FieldNames {
    FieldNames {
        shape: T::SHAPE,
        is_tool: true,
    }
}

impl<T, S> Literal<T, S> {
    /// Returns the literal as a value of an argument.
    pub fn plan_value(self) -> Passed<AlwaysPresent, T> {
        unreachable()
    }

    /// Returns the literal as the value of the plan.
    pub fn value(self) -> T {
        unreachable()
    }

    /// Returns the JSON names of the literal's fields.
    #[must_use]
    pub const fn names<Of>(self) -> FieldNames
    where
        S: HasShape<Of>,
    {
        FieldNames {
            shape: S::SHAPE,
            is_tool: false,
        }
    }
}

/// The JSON names of a literal's fields. A lookup needs the name of the literal's variant, which is the last name of its
/// path, and the Rust name of the field.
#[derive(Clone, Copy)]
pub struct FieldNames {
    shape: TypeShape,
    is_tool: bool,
}

impl FieldNames {
    /// Returns the names.
    #[must_use]
    pub const fn shape(self) -> Constant {
        Constant::Shape(self.shape, None)
    }

    /// Checks that a field has a key in JSON.
    #[track_caller]
    pub const fn key(self, variant: &'static str, ident: &'static str) {
        segment::argument(self.shape, variant, ident, self.is_tool);
    }

    /// Checks a field of a tuple literal.
    #[track_caller]
    pub const fn element(self, variant: &'static str, ident: &'static str) {
        segment::element(self.shape, variant, ident, self.is_tool);
    }

    /// Checks the fields that `..` omits.
    #[track_caller]
    pub const fn rest(self, given: &[&str]) {
        segment::rest(self.shape, given);
    }

    /// Checks the variant.
    #[track_caller]
    pub const fn tag(self, variant: &'static str) {
        segment::tag(self.shape, variant);
    }
}

/// Distinguishes the tool [`Sleep`](crate::Sleep) from other tools.
pub struct Waits<const IS: bool>;

/// Tells if a type is a tool: for a tool, rustc prefers the inherent constant over the constant of [`IsValue`].
pub struct ValueOf<T>(PhantomData<fn() -> T>);

impl<T: Tool> ValueOf<T> {
    /// The struct is a tool.
    pub const IS_TOOL: bool = true;
}

/// A type that is not a tool.
pub trait IsValue {
    /// The struct is a value.
    const IS_TOOL: bool = false;
}

impl<T> IsValue for ValueOf<T> {}

/// Checks that the literal of a step with a type is not meant as a call.
#[track_caller]
pub const fn value_of(is_tool: bool, step: &'static str, tool: &'static str) {
    if is_tool {
        segment::fail(&[
            "a step with a type is a value, so that this calls nothing\nhelp: to call the tool, write `step ",
            step,
            " = ",
            tool,
            " { … }`\nhelp: for the arguments as a value, write the type with its path: `step ",
            step,
            ": self::",
            tool,
            " = …`",
        ])
    }
}

/// The slot of a computed value, which determines its type.
pub struct Slot<F>(PhantomData<fn() -> F>);

impl<F> Clone for Slot<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Slot<F> {}

/// Creates a slot for a computed value.
#[must_use]
pub const fn slot<F>() -> Slot<F> {
    Slot(PhantomData)
}

impl<F> Slot<F> {
    /// Returns the slot's value, among the other arguments.
    pub fn value(self) -> F {
        unreachable()
    }

    /// Sets the type of the slot.
    pub fn of(self, _: F) {}

    /// Creates the computed value for the slot. A lookup of its sources comes first.
    #[must_use]
    #[track_caller]
    pub const fn with(self, look: Look, compute: fn(&Scope<'_>) -> F) -> Filled<F> {
        Filled {
            look,
            compute,
            place: Location::caller(),
        }
    }

    /// Creates a computed value like [`with`](Self::with) in a step with a declared type. Nothing is reported if the
    /// type's constant does not compile.
    #[must_use]
    #[track_caller]
    pub const fn with_declared<const CHECKED: bool>(
        self,
        look: Look,
        compute: fn(&Scope<'_>) -> F,
    ) -> Filled<F::Itself>
    where
        F: super::Checked<CHECKED, Itself = F>,
    {
        self.with(look, compute)
    }
}

/// A computed value.
pub struct Filled<F> {
    look: Look,
    compute: fn(&Scope<'_>) -> F,
    place: &'static Location<'static>,
}

impl<F: Serialize> Compute for Filled<F> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        scope.encode(&(self.compute)(scope))
    }

    fn place(&self) -> Option<&'static Location<'static>> {
        Some(self.place)
    }
}

/// The type that the closure returns.
pub const fn witness<T, F: Fn() -> T>(_: &F) -> PhantomData<fn() -> T> {
    PhantomData
}

/// Rust code in a plan.
pub struct ComputedValue;

/// Rust code that can take a `T` of the plan.
#[diagnostic::on_unimplemented(
    message = "a computed value cannot take a `{T}`, which is not `Clone`",
    label = "this would be moved out of the plan, which may use it again",
    note = "borrow it with `&`, or add `#[derive(Clone)]` to `{T}`"
)]
pub trait MayTake<T> {
    /// The type itself.
    type Itself;
    /// Returns an owned value.
    fn owned(_: &T) -> Self::Itself;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> MayTake<T> for ComputedValue {
    type Itself = T;
    fn owned(value: &T) -> T {
        value.clone()
    }
}

/// A second candidate, so that rustc does not infer the taken type from the expected type.
#[diagnostic::do_not_recommend]
impl MayTake<Unknown> for ComputedValue {
    type Itself = Unknown;
    fn owned(_: &Unknown) -> Unknown {
        unreachable()
    }
}

/// Rust code that can write `*` before a `T`. `N` is for the compiler only, see `Unclear`.
#[diagnostic::on_unimplemented(
    message = "`{T}` is a value of the plan, not a reference to one",
    label = "remove this `*`"
)]
pub trait MayDereference<T, N> {
    /// The type itself.
    type Itself;
    /// The value itself.
    fn itself(_: T) -> Self::Itself;
}

#[diagnostic::do_not_recommend]
impl<T: Deref> MayDereference<T, AlwaysPresent> for ComputedValue {
    type Itself = T;
    fn itself(value: T) -> T {
        value
    }
}

#[diagnostic::do_not_recommend]
impl<T: Deref<Target = Unclear>> MayDereference<T, MaybeAbsent> for ComputedValue {
    type Itself = T;
    fn itself(value: T) -> T {
        value
    }
}

#[diagnostic::do_not_recommend]
impl MayDereference<Unknown, Unclear> for ComputedValue {
    type Itself = Unknown;
    fn itself(value: Unknown) -> Unknown {
        value
    }
}

/// A value that an expression may borrow or take.
pub struct Takable<'a, T>(Lent<'a, T>);

/// A value that an expression may borrow, of a type without `Clone`.
pub struct Lent<'a, T>(&'a T);

/// Returns a value that an expression may borrow or take.
pub const fn takable<T>(value: &T) -> Takable<'_, T> {
    Takable(Lent(value))
}

impl<T: Clone> Takable<'_, T> {
    /// Returns an owned copy. Boxed, since only out of a `Box` can Rust move the content.
    #[must_use]
    pub fn plan_taken(&self) -> Box<T> {
        Box::new(self.0.0.clone())
    }
}

impl<'a, T> Lent<'a, T> {
    /// Returns a reference to the value.
    #[must_use]
    pub const fn plan_taken(&self) -> &'a T {
        self.0
    }
}

impl<'a, T> Deref for Takable<'a, T> {
    type Target = Lent<'a, T>;
    fn deref(&self) -> &Lent<'a, T> {
        &self.0
    }
}

/// A value that an expression borrows, or takes if the value is an `Option` or a `Result`.
pub struct TakableResult<'a, T>(Lent<'a, T>);

/// Lends a value to a method that an `Option` or a `Result` has.
pub const fn takable_result<T>(value: &T) -> TakableResult<'_, T> {
    TakableResult(Lent(value))
}

macro_rules! takable_results {
    ($([$($generics:ident),*] $result:ty;)*) => {$(
        impl<$($generics: Clone),*> TakableResult<'_, $result> {
            /// Returns a copy of the value, which the method can consume.
            #[must_use]
            pub fn plan_taken(&self) -> Box<$result> {
                Box::new(self.0.0.clone())
            }
        }
    )*};
}

takable_results! {
    [T] Option<T>;
    [T, E] Result<T, E>;
}

impl<'a, T> Deref for TakableResult<'a, T> {
    type Target = Lent<'a, T>;
    fn deref(&self) -> &Lent<'a, T> {
        &self.0
    }
}
