//! The types that accept literals, `None`, `Some(…)` and lists.

use super::cursor::unreachable;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// A type that accepts a string literal.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a string",
    label = "this is a string"
)]
pub trait TakesText: Sized {
    /// Accepts `"…"`.
    #[must_use]
    fn from_text(_: &str) -> Self {
        unreachable()
    }

    /// Accepts `format!("…")`.
    #[must_use]
    fn formatted() -> Self {
        unreachable()
    }
}

macro_rules! takes_text {
    ($($text:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl TakesText for $text {}
    )*};
}

takes_text!(
    String,
    Cow<'_, str>,
    Box<str>,
    Rc<str>,
    Arc<str>,
    PathBuf,
    Box<Path>,
    Value
);

#[diagnostic::do_not_recommend]
impl<T: TakesText> TakesText for Option<T> {}

/// A variant of the enum `E`, which a string never is. The derived `TakesText` of an enum has this bound.
#[diagnostic::on_unimplemented(
    message = "expected `{E}`, found a string",
    label = "this is a string",
    note = "a value of the enum is one of its variants: `{E}::…`"
)]
pub trait VariantOf<E> {}

/// A type that accepts a literal of type `L`.
#[diagnostic::on_unimplemented(message = "expected `{Self}`, found `{L}`", label = "this is `{L}`")]
pub trait TakesLiteral<L>: Sized {
    /// Accepts `1_u64`, `true` or `'x'`.
    fn from_literal(_: L) -> Self {
        unreachable()
    }
}

/// Takes an integer without a suffix.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found an integer",
    label = "this is an integer"
)]
pub trait TakesInteger<L>: Sized {
    /// Accepts `1`.
    fn from_integer(_: L) -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<L, T: TakesLiteral<L>> TakesInteger<L> for T {}

/// Takes a floating-point number without a suffix.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a floating-point number",
    label = "this is a floating-point number"
)]
pub trait TakesFloat<L>: Sized {
    /// Accepts `1.5`.
    fn from_float(_: L) -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<L, T: TakesLiteral<L>> TakesFloat<L> for T {}

/// A type that accepts a negative literal of type `L`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a negative number",
    label = "this is a negative number"
)]
pub trait TakesNegative<L>: Sized {
    /// Accepts `-1`.
    fn from_negative(_: L) -> Self {
        unreachable()
    }
}

macro_rules! negatives {
    ($($scalar:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl TakesNegative<$scalar> for $scalar {}
        #[diagnostic::do_not_recommend]
        impl TakesNegative<$scalar> for Option<$scalar> {}
        #[diagnostic::do_not_recommend]
        impl TakesNegative<$scalar> for Value {}
        #[diagnostic::do_not_recommend]
        impl TakesNegative<$scalar> for Option<Value> {}
    )*};
}

negatives!(i8, i16, i32, i64, i128, isize, f32, f64);

/// A type that accepts `None`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `None`",
    label = "`{Self}` is not optional"
)]
pub trait TakesNone: Sized {
    /// Accepts `None`.
    #[must_use]
    fn none() -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> TakesNone for Option<T> {}

/// A type that accepts `Some(…)`.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found `Some(…)`",
    label = "`{Self}` is not optional: leave the `Some` out"
)]
pub trait TakesSome: Sized {
    /// The type of the `Some`'s content.
    type Inner;

    /// Accepts `Some(…)`.
    #[must_use]
    fn some(_: Self::Inner) -> Self {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> TakesSome for Option<T> {
    type Inner = T;
}

/// The types of literals.
pub trait Scalar {}

impl<T: Scalar> TakesLiteral<T> for T {}
#[diagnostic::do_not_recommend]
impl<T: Scalar> TakesLiteral<T> for Option<T> {}

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl Scalar for $scalar {}
        #[diagnostic::do_not_recommend]
        impl TakesLiteral<$scalar> for Value {}
        #[diagnostic::do_not_recommend]
        impl TakesLiteral<$scalar> for Option<Value> {}
    )*};
}

scalars!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char
);

/// A type that accepts a list of `N` values.
#[diagnostic::on_unimplemented(
    message = "expected `{Self}`, found a list of length {N}",
    label = "this is a list of length {N}"
)]
pub trait TakesList<const N: usize>: Sized {
    /// The type that each value must fit.
    type Element;

    /// Accepts `[…]`.
    #[must_use]
    fn list(_: [Self::Element; N]) -> Self {
        unreachable()
    }
}

macro_rules! lists {
    ($([$($generics:ident),*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, const N: usize, $($generics),*> TakesList<N> for $list {
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
impl<const N: usize> TakesList<N> for Value {
    type Element = Value;
}

#[diagnostic::do_not_recommend]
impl<const N: usize, C: TakesList<N>> TakesList<N> for Option<C> {
    type Element = C::Element;
}
