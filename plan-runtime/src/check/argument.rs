//! Checks that values fit the arguments and outputs that they fill.

use super::cursor::{Unclear, Unknown, unreachable};
use super::literal::Slot;
use crate::resolve::{ResolveError, Show};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// Marks a value that is always present.
pub struct AlwaysPresent;
/// Marks a value that may be absent.
pub struct MaybeAbsent;
/// Marks untyped JSON.
pub struct UntypedJson;

/// A value of type `T` and of the kind `K`.
pub struct Passed<K, T>(PhantomData<(K, T)>);

impl<T> Passed<AlwaysPresent, T> {
    /// Returns the value, as the output of a plan without a declared type.
    #[must_use]
    pub fn value(self) -> T {
        unreachable()
    }
}

impl<T> Passed<MaybeAbsent, T> {
    /// Returns the value, as the output of a plan without a declared type.
    #[must_use]
    pub fn value(self) -> Option<T> {
        unreachable()
    }
}

impl Passed<UntypedJson, Value> {
    /// Returns the value, as the output of a plan without a declared type.
    #[must_use]
    pub fn value(self) -> Value {
        unreachable()
    }
}

/// Returns the result of `json!`.
#[must_use]
pub fn untyped() -> Passed<UntypedJson, Value> {
    unreachable()
}

/// Returns the content of a `Some`. The call has the span of the whole `Some`, so that one error about it is one
/// message.
#[must_use]
pub fn inner<T>(_: T) -> T {
    unreachable()
}

/// A value of any type.
#[must_use]
pub fn any<T>() -> T {
    unreachable()
}

/// A value to be checked against the type `To`.
pub struct PassedTo<K, T, To>(PhantomData<(K, T, To)>);

/// A type that accepts values of the kind `K`: an absent value needs a type that allows absence. `N` is only for type
/// inference, see `Unclear`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `Option<{T}>`",
    label = "this is an `Option`: it may be `None`",
    note = "to call the tool only if there is a value: `if let Some(x) = reference {{ … }}`",
    note = "to use a default: `reference.clone().unwrap_or_default()`",
    note = "if the value comes from an `if` without `else`, add an `else`",
    note = "if the value comes from an `#[optional]` step, write `#[fallback(…)]` instead",
    note = "to pass no value if there is none: make the argument an `Option<{T}>`"
)]
pub trait Allows<K, T, N>: Sized {
    /// The checked type: an `Option` for a value that may be absent.
    type Given;
    /// Converts the type of the value.
    fn present(_: Passed<K, T>) -> PassedTo<K, Self::Given, Self> {
        unreachable()
    }
}

/// A type that accepts values of the kind `K` in a condition.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `Option<{T}>`",
    label = "this may be absent",
    note = "to call the tool only if there is a value: `if let Some(x) = reference {{ … }}`",
    note = "to compute a `bool`: `reference.is_some()`, or `reference.unwrap_or_default()` for an `Option<bool>`"
)]
pub trait Holds<K, T, N>: Sized {
    /// Equals `Allows::Given`.
    type Given;
    /// Converts the type of the value.
    fn present(_: Passed<K, T>) -> PassedTo<K, Self::Given, Self> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<K, T, N, To: Allows<K, T, N>> Holds<K, T, N> for To {
    type Given = To::Given;
}

/// An element type of a list or a tuple that accepts values of the kind `K`. rustc infers the element type only later, and the
/// type of a value must not depend on it.
#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found `Option<{T}>`",
    label = "this is an `Option`: it may be `None`",
    note = "to call the tool only if there is a value: `if let Some(x) = reference {{ … }}`",
    note = "to use a default: `reference.clone().unwrap_or_default()`",
    note = "if the value comes from an `if` without `else`, add an `else`",
    note = "if the value comes from an `#[optional]` step, write `#[fallback(…)]` instead"
)]
pub trait FitsInto<T, To, N>: Sized {
    /// Equals `Allows::Given`.
    type Given;
    /// Converts the type of the value.
    fn present(_: Passed<Self, T>) -> PassedTo<Self, Self::Given, To> {
        unreachable()
    }
}

/// A type that accepts values of the kind `K` in a `Some`, which takes only values that are always present:
/// `Some(None)` is null in JSON, and so is `None`.
#[diagnostic::on_unimplemented(
    message = "expected a value that is always present, found `Option<{T}>`: `Some(None)` and `None` are both null in JSON",
    label = "this is an `Option`: it may be `None`",
    note = "remove the `Some`: an argument that is an `Option` accepts this value",
    note = "for an `Option<Option<{T}>>`, write `reference.clone().map(Some)`"
)]
pub trait FitsIntoSome<T, To, N>: Sized {
    /// Equals `Allows::Given`.
    type Given;
    /// Converts the type of the value.
    fn present(_: Passed<Self, T>) -> PassedTo<Self, Self::Given, To> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T, To> FitsIntoSome<T, To, ()> for AlwaysPresent {
    type Given = T;
}

#[diagnostic::do_not_recommend]
impl<To> FitsIntoSome<Unknown, To, Unknown> for MaybeAbsent {
    type Given = Unknown;
}

#[diagnostic::do_not_recommend]
impl<To> FitsIntoSome<Unclear, To, Unclear> for MaybeAbsent {
    type Given = Unclear;
}

impl<K: IsUntyped, To> FitsIntoSome<Value, To, ()> for K
where
    Value: CanBe<To>,
{
    type Given = <Value as CanBe<To>>::Given;
}

macro_rules! arrivals {
    ($([$($generics:ident),*] $kind:ty, $value:ty => $place:ty, $n:ty: $given:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics),*> Allows<$kind, $value, $n> for $place {
            type Given = $given;
        }
        #[diagnostic::do_not_recommend]
        impl<$($generics),*> FitsInto<$value, $place, $n> for $kind {
            type Given = $given;
        }
    )*};
}

arrivals! {
    [T, To] AlwaysPresent, T => To, (): T;
    [T, To] MaybeAbsent, T => Option<To>, (): Option<T>;
    [T] MaybeAbsent, T => Value, (): Option<T>;
    [To] MaybeAbsent, Unknown => To, Unknown: Unknown;
    [To] MaybeAbsent, Unclear => To, Unclear: Unclear;
}

impl<To> Allows<UntypedJson, Value, ()> for To
where
    Value: CanBe<To>,
{
    type Given = <Value as CanBe<To>>::Given;
}

// This implementation never applies. With only one implementation for `Option`, rustc would name this implementation in an error about a value that
// does not fit.
#[diagnostic::do_not_recommend]
impl<To> Allows<UntypedJson, Unclear, Unclear> for Option<To> {
    type Given = Unclear;
}

impl<K: IsUntyped, To> FitsInto<Value, To, ()> for K
where
    Value: CanBe<To>,
{
    type Given = <Value as CanBe<To>>::Given;
}

/// Marks untyped JSON. As a parameter, the trait keeps the list of implementations out of messages.
pub trait IsUntyped {}

impl IsUntyped for UntypedJson {}

/// A type that accepts untyped JSON.
#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found untyped JSON",
    label = "this is a `{Self}`",
    note = "to read a value of one type from JSON, compute it: `reference.as_str().unwrap_or_default().to_owned()` is a `String`, and `reference.as_u64().unwrap_or_default()` is a `u64`",
    note = "if the JSON always has the same fields, let the tool return a struct with `#[derive(Serialize, Deserialize, Shape)]` instead of a `{Self}`"
)]
pub trait CanBe<To> {
    /// The JSON. If it does not fit, its type is unknown, so the compiler reports nothing else about it.
    type Given;
}

#[diagnostic::do_not_recommend]
impl CanBe<Value> for Value {
    type Given = Self;
}

#[diagnostic::do_not_recommend]
impl CanBe<Option<Value>> for Value {
    type Given = Self;
}

/// A type that accepts a value of type `T`.
#[diagnostic::on_unimplemented(message = "expected `{Self}`, found `{T}`", label = "this is `{T}`")]
pub trait Takes<K, T, How>: Sized {
    /// Returns the value as the accepting type.
    fn fit(_: PassedTo<K, T, Self>) -> Self {
        unreachable()
    }
}

/// A type that accepts a value of the struct or enum `T`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `{T}`",
    label = "this is `{T}`",
    note = "if `{T}` is a tool, this does not call it: only a step without a type does, `step name = {T} {{ … }};`"
)]
pub trait TakesStruct<K, T, How>: Sized {
    /// Returns the value as the accepting type.
    fn fit(_: PassedTo<K, T, Self>) -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<K, T, How, To: Takes<K, T, How>> TakesStruct<K, T, How> for To {}

/// A type that accepts the `Result` `T` of a step with `#[catch]`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `{T}`: the step may have failed",
    label = "write `?` after this",
    note = "`?` takes the step's value and fails if the step failed; `.ok()?` and `.err()?` give an `Option`, and `.is_ok()` gives a `bool`"
)]
pub trait TakesOutcome<K, T, How>: Sized {
    /// Returns the value as the accepting type.
    fn fit(_: PassedTo<K, T, Self>) -> Self {
        unreachable()
    }
}

macro_rules! outcomes {
    ($($place:ty, $how:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, E> TakesOutcome<AlwaysPresent, Result<T, E>, $how> for $place {}
    )*};
}

outcomes! {
    Result<T, E>, Same;
    Option<Result<T, E>>, Wrapped;
    Value, AsJson;
    Option<Value>, WrappedAsJson;
    Box<Result<T, E>>, Boxed;
    Rc<Result<T, E>>, Boxed;
    Arc<Result<T, E>>, Boxed;
}

/// A type that accepts the list `T` of the `Result`s of a step with `#[catch(each)]`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `{T}`: each element may have failed",
    label = "this is a list of `Result`s",
    note = "`[..]?` after this takes the value of each element, and fails if an element failed",
    note = "`[0]?` after this takes the value of the first element, and fails if that element failed",
    note = "`[..].ok()?` and `[..].err()?` after this take an `Option` of each element"
)]
pub trait TakesOutcomes<K, T, How>: Sized {
    /// Returns the value as the accepting type.
    fn fit(_: PassedTo<K, T, Self>) -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<K, T, How, To: Takes<K, T, How>> TakesOutcomes<K, T, How> for To {}

/// Marks a value of the accepting type itself.
pub struct Same;
/// Into an `Option`.
pub struct Wrapped;
/// Into a `serde_json::Value`.
pub struct AsJson;
/// Into an `Option` of a `serde_json::Value`.
pub struct WrappedAsJson;

#[diagnostic::do_not_recommend]
impl<K, T> Takes<K, T, Same> for T {}
#[diagnostic::do_not_recommend]
impl<T> Takes<AlwaysPresent, T, Wrapped> for Option<T> {}
#[diagnostic::do_not_recommend]
impl<T> Takes<AlwaysPresent, T, AsJson> for Value {}
#[diagnostic::do_not_recommend]
impl<T> Takes<AlwaysPresent, T, WrappedAsJson> for Option<Value> {}
#[diagnostic::do_not_recommend]
impl Takes<UntypedJson, Value, Wrapped> for Option<Value> {}
#[diagnostic::do_not_recommend]
impl<T> Takes<MaybeAbsent, Option<T>, AsJson> for Value {}

/// Marks an `Option` in a value that may be absent, for a single `Option`: in JSON, both are null.
pub struct Merged;
#[diagnostic::do_not_recommend]
impl<T> Takes<MaybeAbsent, Option<Option<T>>, Merged> for Option<T> {}

/// Marks the content of a `Box`, an `Rc` or an `Arc`, which serde reads transparently.
pub struct Boxed;

macro_rules! boxes {
    ($($pointer:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T> Takes<AlwaysPresent, T, Boxed> for $pointer<T> {}
        #[diagnostic::do_not_recommend]
        impl<T> Takes<AlwaysPresent, T, Boxed> for Option<$pointer<T>> {}
    )*};
}

boxes!(Box, Rc, Arc);

/// A type that `{}` can format.
#[diagnostic::on_unimplemented(
    message = "this value may be absent: it is an `Option<{Self}>`, and `{{}}` needs a value",
    label = "this may be absent",
    note = "to show `Some(…)` or `None`: write `{{:?}}`",
    note = "to call the tool only if there is a value: `if let Some(x) = reference {{ … }}`",
    note = "to use a default: `reference.clone().unwrap_or_default()`",
    note = "if the value comes from an `if` without `else`, add an `else`",
    note = "if the value comes from an `#[optional]` step, write `#[fallback(…)]` instead"
)]
pub trait ShownInText<K>: Sized {
    /// The type itself.
    type Itself;
    /// Returns the value that a placeholder shows.
    fn shown(_: Passed<K, Self>) -> Self::Itself {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> ShownInText<AlwaysPresent> for T {
    type Itself = T;
}

#[diagnostic::do_not_recommend]
impl ShownInText<UntypedJson> for Value {
    type Itself = Self;
}

/// Returns a slot of the type that a placeholder shows.
pub const fn shown<T, F: Fn() -> T>(_: &F) -> Slot<T> {
    super::literal::slot()
}

/// Creates a placeholder of `format!`.
pub const fn show<T>(_: Slot<T>, write: fn(&Showing<T>) -> String) -> Placeholder<T> {
    Placeholder(write)
}

/// The value of a placeholder.
pub struct Showing<T>(T);

impl<T> Showing<T> {
    /// Returns the value, with the span of the whole reference for messages.
    pub fn show(&self) -> &T {
        &self.0
    }
}

/// A placeholder of `format!` over a `T`.
pub struct Placeholder<T>(fn(&Showing<T>) -> String);

impl<T: DeserializeOwned> Show for Placeholder<T> {
    fn show(&self, value: &Value, out: &mut String) -> Result<(), ResolveError> {
        out.push_str(&(self.0)(&Showing(crate::resolve::read(value)?)));
        Ok(())
    }
}
