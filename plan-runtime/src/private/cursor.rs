//! References, as types: each part of `inbox.data[0].id` becomes a call over the author's own tokens, in closures that are never
//! called, so that rustc checks it. What a chain of them leaves behind is a [`Cursor`] whose type says what the reference gives.

use crate::shape::TypeShape;
use crate::{Shape, Tool};
use serde_json::Value;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// A place on the way that a reference goes: its type `T`, whether it may be absent (`P`), the lists around it that `[..]`
/// opened (`W`), and the types whose fields led to it (`H`), the last one first.
pub struct Way<T, P, W, H>(PhantomData<(T, P, W, H)>);

impl<T, P, W, H> Clone for Way<T, P, W, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, P, W, H> Copy for Way<T, P, W, H> {}

/// The end of a reference: the type of all that it gives, and the types whose fields led to it.
pub struct Cursor<T, H>(PhantomData<fn() -> (T, H)>);

impl<T, H> Clone for Cursor<T, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, H> Copy for Cursor<T, H> {}

/// Says that a value is always there.
pub struct Always;
/// Says that a value may be absent.
pub struct Maybe;

/// `Always` or `Maybe`.
pub trait Presence {
    /// The type of an element that is a `T` if it is there.
    type Element<T>;
}

impl Presence for Always {
    type Element<T> = T;
}

impl Presence for Maybe {
    type Element<T> = Option<T>;
}

/// No list around.
pub struct One;
/// Inside each element of a list, which itself is there as `P` says, inside `W`.
pub struct Every<P, W>(PhantomData<(P, W)>);

/// What the lists around a place make of it.
pub trait Around {
    /// The type of the whole, in which a place is a `T` that is there as `P` says.
    type Whole<T, P: Presence>;
}

impl Around for One {
    type Whole<T, P: Presence> = P::Element<T>;
}

impl<P: Presence, W: Around> Around for Every<P, W> {
    type Whole<T, Q: Presence> = W::Whole<Vec<Q::Element<T>>, P>;
}

/// No field so far.
pub struct Root;
/// A field of `T`, behind those of `H`.
pub struct Link<T, H>(PhantomData<fn() -> (T, H)>);

/// The start of a reference.
#[must_use]
pub const fn root<T>() -> Way<T, Always, One, Root> {
    Way(PhantomData)
}

/// The place that the chain in the closure leads to.
pub const fn typed<T, P, W, H, F>(_: &F) -> Cursor<W::Whole<T, P>, H>
where
    F: Fn() -> Way<T, P, W, H>,
    P: Presence,
    W: Around,
{
    Cursor(PhantomData)
}

impl<T, P, W, H> Way<T, P, W, H> {
    /// `[0]`, `["key"]`
    pub fn index<U>(self, _: fn(&T) -> &U) -> Way<U, P, W, H> {
        Way(PhantomData)
    }

    /// `.get(0)`
    pub fn get<U>(self, _: fn(&T) -> Option<&U>) -> Way<Option<U>, P, W, H> {
        Way(PhantomData)
    }

    /// `.pointer("/a")`
    pub fn pointer<U>(self, _: fn(&T) -> Option<&U>) -> Way<U, P, W, H> {
        Way(PhantomData)
    }
}

impl<T, F, H> Cursor<T, Link<F, H>> {
    /// The place with one field less.
    #[must_use]
    pub const fn back(self) -> Cursor<T, H> {
        Cursor(PhantomData)
    }

    /// The segment of the last field.
    #[must_use]
    #[track_caller]
    pub const fn key(self, ident: &'static str, last: bool) -> crate::plan::Segment
    where
        F: Shaped,
    {
        super::segment::output(F::KNOWN, ident, last)
    }
}

/// Says that something can be looked into.
pub struct There;
/// Says that something may not be there to be looked into.
pub struct Perhaps;
/// A place that is about to be looked into.
pub struct Looked<K, T, P, W, H>(PhantomData<(K, T, P, W, H)>);

impl<T, P, W, H> Way<Option<T>, P, W, H> {
    /// An `Option` cannot be looked into.
    pub fn kind(self) -> Looked<Perhaps, T, P, W, H> {
        Looked(PhantomData)
    }
}

/// Whether something can be looked into; the inherent method of `Option` goes first.
pub trait Kind<T, P, W, H> {
    /// Anything but an `Option` can.
    fn kind(self) -> Looked<There, T, P, W, H>;
}

impl<T, P, W, H> Kind<T, P, W, H> for Way<T, P, W, H> {
    fn kind(self) -> Looked<There, T, P, W, H> {
        Looked(PhantomData)
    }
}

/// What can be looked into.
#[diagnostic::on_unimplemented(
    message = "this value may be absent: it is an `Option<{Self}>`",
    label = "write `?` before this",
    note = "`?` leads into a value that may be absent, and makes the whole reference optional: `inbox.next?.id` fits an argument that is an `Option`"
)]
pub trait Present<K>: Sized {
    /// The type itself.
    type Itself;
    /// The place again.
    #[must_use]
    fn present<P, W, H>(_: Looked<K, Self, P, W, H>) -> Way<Self::Itself, P, W, H> {
        Way(PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<T> Present<There> for T {
    type Itself = T;
}

/// The output of a step of which not even the tool is known.
pub struct Unknown;
/// Another such type: with two candidates, the compiler does not decide what a type is that is unknown because of an earlier
/// mistake, and so does not complain again.
pub struct Unclear;

/// What stands in functions that only the compiler reads.
pub(super) fn unreachable() -> ! {
    unreachable!("this code is only type-checked")
}

/// A type with fields, in a reference or a literal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how it looks in JSON",
    label = "this needs the JSON names of the fields of `{Self}`",
    note = "add `#[derive(plan_runtime::Shape)]` to `{Self}`"
)]
pub trait Shaped: Sized {
    /// The type itself.
    type Itself;
    /// How it looks in JSON.
    const KNOWN: TypeShape;

    /// `.field`
    fn field<U, P, W, H>(
        _: Way<Self, P, W, H>,
        _: fn(&Self) -> &U,
    ) -> Way<U, P, W, Link<Self::Itself, H>> {
        Way(PhantomData)
    }

    /// `Type { … }`
    fn literal(_: Self) -> super::literal::Literal<Self, Self::Itself> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Shape> Shaped for T {
    type Itself = T;
    const KNOWN: TypeShape = T::SHAPE;
}

/// The type behind `step name =`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "a step calls a tool",
    note = "a tool is a struct with `#[derive(Tool)]`, or the struct that `#[tool]` makes of an `async fn`: of `fetch_emails` it makes `FetchEmails`",
    note = "if this is a value and no call, say its type: `step name: Type = …;`"
)]
pub trait IsTool {
    /// The type itself.
    type Itself: Tool<Output = Self::Output>;
    /// What the tool gives back.
    type Output;
}

#[diagnostic::do_not_recommend]
impl<T: Tool> IsTool for T {
    type Itself = T;
    type Output = T::Output;
}

/// What `?` can stand behind.
#[diagnostic::on_unimplemented(
    message = "`?` stands behind a value that may be absent, and `{Self}` is always there",
    label = "this is not an `Option`",
    note = "leave the `?` out; it is for an `Option`, for `.get(…)`, and for values of type `serde_json::Value`"
)]
pub trait OrAbsent: Sized {
    /// What is there if it is there.
    type Inner;
    /// What `?` means to the segment before it.
    type Asked: Asked;

    /// `?`
    fn or_absent<P, W, H>(
        _: Way<Self, P, W, H>,
    ) -> Way<Self::Inner, Maybe, W, Link<Self::Asked, H>> {
        Way(PhantomData)
    }
}

/// What `?` means to the segment before it.
pub trait Asked {
    /// Whether it may lead to nothing.
    const UNTYPED: bool;
}

/// `?` behind an `Option`.
pub struct Typed;
/// `?` behind a `serde_json::Value`.
pub struct Untyped;

impl Asked for Typed {
    const UNTYPED: bool = false;
}

impl Asked for Untyped {
    const UNTYPED: bool = true;
}

#[diagnostic::do_not_recommend]
impl<T> OrAbsent for Option<T> {
    type Inner = T;
    type Asked = Typed;
}

#[diagnostic::do_not_recommend]
impl OrAbsent for Value {
    type Inner = Value;
    type Asked = Untyped;
}

impl<T, F, H> Cursor<T, Link<F, H>> {
    /// The segment of `?`.
    #[must_use]
    pub const fn optional(self) -> crate::plan::Segment
    where
        F: Asked,
    {
        crate::plan::Segment::Optional(F::UNTYPED)
    }
}

/// What `[..]` can stand behind.
#[diagnostic::on_unimplemented(
    message = "`[..]` takes every element of a list, and `{Self}` is no list",
    label = "this is not a list",
    note = "lists are `Vec`, arrays, sets and what else serde writes as a JSON array, and values of type `serde_json::Value`"
)]
pub trait Elements: Sized {
    /// An element.
    type Item;
    /// What is around an element; a type of this trait, so that it is unknown where the list is no list.
    type Around<P, W>;

    /// `[..]`
    fn each<P, W, H>(_: Way<Self, P, W, H>) -> Way<Self::Item, Always, Self::Around<P, W>, H> {
        Way(PhantomData)
    }
}

macro_rules! elements {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, $($generics)*> Elements for $list {
            type Item = T;
            type Around<P, W> = Every<P, W>;
        }
    )*};
}

elements! {
    [] Vec<T>;
    [] VecDeque<T>;
    [] LinkedList<T>;
    [] BTreeSet<T>;
    [] BinaryHeap<T>;
    [S] HashSet<T, S>;
    [const N: usize] [T; N];
    [] Box<[T]>;
    [] Rc<[T]>;
    [] Arc<[T]>;
}

#[diagnostic::do_not_recommend]
impl Elements for Value {
    type Item = Value;
    type Around<P, W> = Every<P, W>;
}
