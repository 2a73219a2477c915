//! Whether a value fits where it stands.

use super::cursor::{Cursor, unreachable};
use super::literal::Slot;
use crate::plan::Show;
use crate::resolve::ResolveError;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A value of type `T` that is there.
pub struct Plain<T>(PhantomData<fn() -> T>);
/// A value of type `T` that may be absent.
pub struct Opt<T>(PhantomData<fn() -> T>);
/// A JSON value.
pub struct Untyped(());

impl<T, H> Cursor<Option<T>, H> {
    /// What the reference gives.
    pub fn it(self) -> Opt<T> {
        unreachable()
    }
}

/// What a reference to untyped JSON gives: looked for behind the inherent method of `Option`.
pub trait ItUntyped {
    /// What the reference gives.
    fn it(self) -> Untyped;
}

impl<H> ItUntyped for Cursor<Value, H> {
    fn it(self) -> Untyped {
        unreachable()
    }
}

/// What a reference of any other type gives: looked for last, since it takes a reference.
pub trait It<T> {
    /// What the reference gives.
    fn it(&self) -> Plain<T>;
}

impl<T, H> It<T> for Cursor<T, H> {
    fn it(&self) -> Plain<T> {
        unreachable()
    }
}

/// What a reference gives as the output of a plan whose type is not said.
pub trait Given {
    /// Its type.
    type Value;
    /// The value.
    fn given(self) -> Self::Value;
}

impl<T> Given for Plain<T> {
    type Value = T;
    fn given(self) -> T {
        unreachable()
    }
}

impl<T> Given for Opt<T> {
    type Value = Option<T>;
    fn given(self) -> Option<T> {
        unreachable()
    }
}

impl Given for Untyped {
    type Value = Value;
    fn given(self) -> Value {
        unreachable()
    }
}

/// What `json!` gives.
#[must_use]
pub fn untyped() -> Untyped {
    unreachable()
}

/// A value of any type.
#[must_use]
pub fn any<T>() -> T {
    unreachable()
}

/// A value on its way to a place that takes a `To`.
pub struct Toward<K, To>(PhantomData<fn() -> (K, To)>);

#[diagnostic::on_unimplemented(
    message = "expected `{To}`, found `Option<{T}>`: the value may be absent",
    label = "this may be absent",
    note = "an argument that is an `Option` takes it as it is; elsewhere, say what stands for it when it is absent, in a computed value: `reference.clone().unwrap_or_default()`"
)]
pub trait NotAbsent<To, T> {
    type Checked;
    fn present(self) -> Toward<Self::Checked, To>;
}

impl<T, To> NotAbsent<To, T> for Plain<T> {
    type Checked = Self;
    fn present(self) -> Toward<Self, To> {
        unreachable()
    }
}

impl<To> NotAbsent<To, Value> for Untyped {
    type Checked = Self;
    fn present(self) -> Toward<Self, To> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T, U> NotAbsent<Option<U>, T> for Opt<T> {
    type Checked = Self;
    fn present(self) -> Toward<Self, Option<U>> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> NotAbsent<Value, T> for Opt<T> {
    type Checked = Self;
    fn present(self) -> Toward<Self, Value> {
        unreachable()
    }
}

#[diagnostic::on_unimplemented(message = "expected `{To}`, found `{T}`", label = "this is `{T}`")]
pub trait Fits<To, T, How>: Sized {
    fn fit(_: Toward<Self, To>) -> To {
        unreachable()
    }
}

/// As it is.
pub struct Same;
/// Into an `Option`.
pub struct Wrapped;
/// Into a `serde_json::Value`.
pub struct AsJson;

impl<T> Fits<T, T, Same> for Plain<T> {}
#[diagnostic::do_not_recommend]
impl<T> Fits<Option<T>, T, Wrapped> for Plain<T> {}
#[diagnostic::do_not_recommend]
impl<T> Fits<Value, T, AsJson> for Plain<T> {}
#[diagnostic::do_not_recommend]
impl<T> Fits<Option<Value>, T, (Wrapped, AsJson)> for Plain<T> {}

impl Fits<Value, Value, Same> for Untyped {}
#[diagnostic::do_not_recommend]
impl Fits<Option<Value>, Value, Wrapped> for Untyped {}

impl<T> Fits<Option<T>, T, Same> for Opt<T> {}
#[diagnostic::do_not_recommend]
impl<T> Fits<Value, T, AsJson> for Opt<T> {}

/// A place that takes a text literal.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a text",
    label = "this is a text"
)]
pub trait FromText: Sized {
    /// `"…"`
    #[must_use]
    fn from_text(_: &str) -> Self {
        unreachable()
    }

    /// `format!("…")`
    #[must_use]
    fn formatted() -> Self {
        unreachable()
    }
}

impl FromText for String {}
#[diagnostic::do_not_recommend]
impl FromText for Cow<'_, str> {}
#[diagnostic::do_not_recommend]
impl FromText for Box<str> {}
#[diagnostic::do_not_recommend]
impl FromText for Rc<str> {}
#[diagnostic::do_not_recommend]
impl FromText for Arc<str> {}
#[diagnostic::do_not_recommend]
impl FromText for PathBuf {}
#[diagnostic::do_not_recommend]
impl FromText for Box<Path> {}
#[diagnostic::do_not_recommend]
impl FromText for Value {}
#[diagnostic::do_not_recommend]
impl<T: FromText> FromText for Option<T> {}

/// A place that takes a literal of type `L`.
#[diagnostic::on_unimplemented(message = "expected `{Self}`, found `{L}`", label = "this is `{L}`")]
pub trait FromLiteral<L>: Sized {
    /// `1`, `true`, `'x'`
    fn from_literal(_: L) -> Self {
        unreachable()
    }
}

/// The types of literals.
pub trait Scalar {}

impl<T: Scalar> FromLiteral<T> for T {}
#[diagnostic::do_not_recommend]
impl<T: Scalar> FromLiteral<T> for Option<T> {}

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl Scalar for $scalar {}
        #[diagnostic::do_not_recommend]
        impl FromLiteral<$scalar> for Value {}
        #[diagnostic::do_not_recommend]
        impl FromLiteral<$scalar> for Option<Value> {}
    )*};
}

scalars!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char
);

/// A place that takes a list of `N` values.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a list of {N} values",
    label = "this is a list of {N} values"
)]
pub trait List<const N: usize>: Sized {
    /// What each of them must fit.
    type Element;

    /// `[…]`
    #[must_use]
    fn list(_: [Self::Element; N]) -> Self {
        unreachable()
    }
}

macro_rules! lists {
    ($([$($generics:ident),*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, const N: usize, $($generics),*> List<N> for $list {
            type Element = T;
        }
    )*};
}

lists! {
    [] Vec<T>;
    [] VecDeque<T>;
    [] LinkedList<T>;
    [] BTreeSet<T>;
    [] BinaryHeap<T>;
    [S] HashSet<T, S>;
    [] [T; N];
    [] Box<[T]>;
    [] Rc<[T]>;
    [] Arc<[T]>;
}

#[diagnostic::do_not_recommend]
impl<const N: usize> List<N> for Value {
    type Element = Value;
}

#[diagnostic::do_not_recommend]
impl<const N: usize, C: List<N>> List<N> for Option<C> {
    type Element = C::Element;
}

/// What `format!` can show.
#[diagnostic::on_unimplemented(
    message = "this value may be absent: it is an `Option<{T}>`, and `format!` needs it to be there",
    label = "this may be absent",
    note = "say what stands for it when it is absent, in a computed value: `format!(\"… {{}}\", reference.clone().unwrap_or_default())`"
)]
pub trait Shown<T> {
    type Value;
    fn shown(self) -> Self::Value;
}

impl<T> Shown<T> for Plain<T> {
    type Value = T;
    fn shown(self) -> T {
        unreachable()
    }
}

impl Shown<Value> for Untyped {
    type Value = Value;
    fn shown(self) -> Value {
        unreachable()
    }
}

/// The type that a placeholder shows.
pub const fn shown<T, F: Fn() -> T>(_: &F) -> Slot<T> {
    super::literal::slot()
}

/// A placeholder of `format!`.
pub const fn show<T>(_: Slot<T>, write: fn(&Showing<T>) -> String) -> Placeholder<T> {
    Placeholder(write)
}

/// The value of a placeholder.
pub struct Showing<T>(T);

impl<T> Showing<T> {
    /// The value, with the place of the whole reference in messages.
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
