//! References, as types: each part of `inbox.data[0].id` becomes an expression over the author's own tokens, in closures that are
//! never called, so that rustc checks it. A [`PathCursor`] is the current position of a reference.

use super::argument::{AlwaysPresent, MaybeAbsent, Passed, UntypedJson};
use super::decode::{Constant, QuestionMark};
use super::segment::Flattened;
use crate::shape::TypeShape;
use crate::{Failure, Shape, Tool};
use serde_json::Value;
use std::any::type_name;
use std::collections::{BTreeSet, BinaryHeap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// A position that a reference leads to: its type `T`, its presence (`P`), and the enclosing lists that `[..]` opened (`W`).
#[allow(clippy::type_complexity)]
pub struct PathCursor<T, P = AlwaysPresent, W = One>(PhantomData<fn() -> (T, P, W)>);

impl<T, P, W> Clone for PathCursor<T, P, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, P, W> Copy for PathCursor<T, P, W> {}

/// `AlwaysPresent` or `MaybeAbsent`.
pub trait Presence {
    /// The type of an element `T` with this presence.
    type Element<T>;
}

impl Presence for AlwaysPresent {
    type Element<T> = T;
}

impl Presence for MaybeAbsent {
    type Element<T> = Option<T>;
}

/// No list around.
pub struct One;
/// The position inside each element of a list. The list has the presence `P`, and is inside `W`.
pub struct Every<P, W>(PhantomData<(P, W)>);

/// The lists around a position.
pub trait Nesting {
    /// The type of the whole value around a position with the type `T` and the presence `P`.
    type Whole<T, P: Presence>;
}

impl Nesting for One {
    type Whole<T, P: Presence> = P::Element<T>;
}

impl<P: Presence, W: Nesting> Nesting for Every<P, W> {
    type Whole<T, Q: Presence> = W::Whole<Vec<Q::Element<T>>, P>;
}

/// Returns the position of a value with an explicit or inferred type.
#[must_use]
pub const fn root<T>() -> PathCursor<T> {
    PathCursor(PhantomData)
}

/// Returns the position of a value.
pub fn here<T>(_: &T) -> PathCursor<T> {
    PathCursor(PhantomData)
}

impl<T, P, W> PathCursor<T, P, W> {
    /// Returns the position of a value that this position leads to.
    pub fn to<U>(self, _: &U) -> PathCursor<U, P, W> {
        PathCursor(PhantomData)
    }

    /// Follows `.get(0)`.
    pub fn get<U>(self, _: Option<&U>) -> PathCursor<Option<U>, P, W> {
        PathCursor(PhantomData)
    }

    /// Follows `.pointer("/a")`.
    pub fn pointer<U>(self, _: Option<&U>) -> PathCursor<U, P, W> {
        PathCursor(PhantomData)
    }
}

/// Returns the position of the reference's whole value.
pub fn whole<T, P: Presence, W: Nesting>(_: PathCursor<T, P, W>) -> PathCursor<W::Whole<T, P>> {
    PathCursor(PhantomData)
}

/// The shape of a type.
pub struct KnownShape<T>(TypeShape, Option<DeclaredName>, PhantomData<fn() -> T>);

/// The name of a type whose fields are declared elsewhere.
pub(super) type DeclaredName = fn() -> &'static str;

impl<T> Clone for KnownShape<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for KnownShape<T> {}

impl<T> KnownShape<T> {
    /// Returns the shape.
    #[must_use]
    pub const fn shape(self) -> Constant {
        Constant::Shape(self.0, self.1)
    }

    /// Checks that a reference can lead to a field. `last` is `true` at the end of the reference.
    #[track_caller]
    pub const fn check(self, ident: &'static str, last: bool) {
        super::segment::check(self.0, ident, last);
    }

    /// Checks that a reference can lead to a field and on to each of its elements.
    #[track_caller]
    pub const fn check_list(self, ident: &'static str) {
        super::segment::check_list(self.0, ident);
    }

    /// Checks that a key in a field is not a field beside it, if both could have one position in the JSON: the field is flattened,
    /// and `inside` is `true` if the fields after it are flattened as well. Returns `true` if the field itself is flattened.
    #[track_caller]
    pub const fn not_beside(self, ident: &'static str, key: &'static str, inside: bool) -> bool {
        inside && super::segment::not_beside(self.0, ident, key)
    }

    /// Moves to a field of a reference with a `?`. `asked` is `true` if the `?` follows the field itself.
    #[track_caller]
    pub const fn enter(self, ident: &'static str, asked: bool, from: Flattened) -> Flattened {
        from.enter(super::segment::output(self.0, ident), asked)
    }
}

impl<A: Asked> PathCursor<A> {
    /// Returns the constant for the meaning of a `?` after its segment.
    #[must_use]
    pub const fn optional(self) -> Constant {
        Constant::Asked(A::MARK)
    }
}

/// A value before an access to its parts.
pub struct Unwrapping<K, T>(PhantomData<(K, T)>);

/// The kind of an `Option` or a list. The trait takes the position by value, so rustc prefers it over [`AtValue`].
pub trait AtKind<K, T>: Sized {
    /// Returns the kind.
    fn plan_kind(self) -> Unwrapping<K, T> {
        unreachable()
    }
}

/// The value of an `Option` or of untyped JSON. The trait takes the position by value, so rustc prefers it over [`AtValue`].
pub trait AtPassed<K, T>: Sized {
    /// Returns the value of the reference.
    fn plan_value(self) -> Passed<K, T> {
        unreachable()
    }
}

impl<T, P, W> AtKind<MaybeAbsent, T> for PathCursor<Option<T>, P, W> {}
impl<T> AtKind<MaybeAbsent, T> for &Option<T> {}
impl<T, P, W> AtPassed<MaybeAbsent, T> for PathCursor<Option<T>, P, W> {}
impl<T> AtPassed<MaybeAbsent, T> for &Option<T> {}
impl AtPassed<UntypedJson, Value> for PathCursor<Value> {}
impl AtPassed<UntypedJson, Value> for &Value {}

/// Marks a list that is always present.
pub struct AList;

macro_rules! indexed {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<T, P, W, $($generics)*> AtKind<AList, $list> for PathCursor<$list, P, W> {}
        impl<T, $($generics)*> AtKind<AList, $list> for &$list {}
    )*};
}

indexed! {
    [] Vec<T>;
    [] VecDeque<T>;
    [const N: usize] [T; N];
    [] Box<[T]>;
    [] Rc<[T]>;
    [] Arc<[T]>;
}

/// The kind of any other type. The trait takes a reference to the position, so rustc tries it last.
pub trait AtValue<T> {
    /// Returns the kind of a value with accessible parts.
    fn plan_kind(&self) -> Unwrapping<AlwaysPresent, T> {
        unreachable()
    }
    /// Returns the value of the reference.
    fn plan_value(&self) -> Passed<AlwaysPresent, T> {
        unreachable()
    }
    /// Returns the value, for access to an element.
    #[must_use]
    fn plan_length<'a>(&self, _: PathCursor<AnyLength>) -> &'a T {
        unreachable()
    }
}

impl<T, P, W> AtValue<T> for PathCursor<T, P, W> {}
impl<T> AtValue<T> for &T {}

/// The number of elements of a list.
pub trait Length {
    /// The length, or `None` if the length is not fixed.
    const EXACT: Option<usize>;
}

/// The length of an array.
pub struct Exactly<const N: usize>;
/// The length of any other list.
pub struct AnyLength;

impl<const N: usize> Length for Exactly<N> {
    const EXACT: Option<usize> = Some(N);
}

impl Length for AnyLength {
    const EXACT: Option<usize> = None;
}

impl<L: Length> PathCursor<L> {
    /// Checks that a list of this length can have an element at the index.
    #[track_caller]
    pub const fn has(self, index: usize) {
        if let Some(length) = L::EXACT {
            super::segment::within(length, index);
        }
    }
}

/// An array. The trait takes the reference by value, so rustc prefers it over [`AtValue`].
pub trait AtArray<'a, T: 'a, const N: usize>: Sized {
    /// Returns the elements as a slice, for access to one element. For an array, rustc would report a wrong index a second time in
    /// generated code.
    #[must_use]
    fn plan_length(self, _: PathCursor<Exactly<N>>) -> &'a [T] {
        unreachable()
    }
}

impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a [T; N] {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Box<[T; N]> {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Rc<[T; N]> {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Arc<[T; N]> {}

/// A type with accessible parts.
#[diagnostic::on_unimplemented(
    message = "this value may be absent: it is an `Option<{Self}>`",
    label = "write `?` before this",
    note = "`?` reads through an `Option`, and makes the whole reference optional: `inbox.next?.id` fits an argument that is an `Option`",
    note = "for any other argument, call the tool only if there is a value: `if let Some(x) = reference {{ … }}`"
)]
pub trait Reachable<K>: Sized {
    /// The type itself.
    type Itself;

    /// Returns the value. If the value may be absent, its type is unknown, so rustc reports no further errors about its
    /// uses.
    #[must_use]
    fn look<'a>(_: Unwrapping<K, Self>) -> &'a Self::Itself {
        unreachable()
    }

    /// Returns the value whose field a reference reads.
    fn field(_: Unwrapping<K, Self>) -> Unwrapping<K, Self::Itself> {
        unreachable()
    }

    /// Returns the kind of the value, and gives the shape its type.
    fn see(_: Unwrapping<K, Self>, _: KnownShape<Self>) -> Unwrapping<K, Self::Itself> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> Reachable<AlwaysPresent> for T {
    type Itself = T;
}

#[diagnostic::do_not_recommend]
impl<T> Reachable<AList> for T {
    type Itself = T;
}

/// A value that may have fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a list, which has no fields",
    label = "write `[0]` or `[..]` before this",
    note = "`[0]` takes the first element, and fails if the list is empty; `[..]` takes each element, and the whole reference is a list"
)]
pub trait HasFields<K>: Sized {
    /// The type itself.
    type Fields;

    /// Returns the fields of the value.
    #[must_use]
    fn of(_: Unwrapping<K, Self>) -> Self::Fields {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> HasFields<AlwaysPresent> for T {
    type Fields = T;
}

// `MaybeAbsent` has no values. With a single implementation, rustc would infer that kind for an unknown value.
#[diagnostic::do_not_recommend]
impl<T> HasFields<MaybeAbsent> for T {
    type Fields = T;
}

/// The output of a step with an unknown tool.
pub struct Unknown;
/// A second unknown type. With two candidates, rustc does not infer a type that is unknown because of an earlier error, and
/// so does not report a second error.
pub struct Unclear;

/// Panics. Used as the body of functions that are only type-checked.
pub(super) fn unreachable() -> ! {
    unreachable!("this code is only type-checked")
}

/// A type with fields, in a reference or a literal. `Of` selects the declaration: `()` for the type's own [`Shape`], or a type that represents a
/// struct with `#[shape(remote = …)]`. As that type belongs to the user's crate, the user can implement the trait for a type of another crate. A
/// type has one implementation, so rustc infers `Of` from `_`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Shape`",
    label = "this needs the JSON names of the fields of `{Self}`",
    note = "if `{Self}` is of your crate, add `#[derive(plan_runtime::Shape)]` to its declaration",
    note = "if it is from another crate, write a computed value, which needs no `Shape`: `value.field.clone()`, or a function call",
    note = "or declare its fields once for all plans, in a struct of your crate: `#[derive(plan_runtime::Shape)] #[shape(remote = \"{Self}\")]`"
)]
pub trait HasShape<Of>: Sized {
    /// The type itself.
    type Itself;
    /// The shape with its fields.
    const SHAPE: TypeShape;
    /// The shape, for references.
    const KNOWN: KnownShape<Self> = KnownShape(Self::SHAPE, Some(type_name::<Self>), PhantomData);

    /// Creates the literal of `Type { … }`.
    fn literal(_: Self) -> super::literal::Literal<Self, Self::Itself> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T: Shape> HasShape<()> for T {
    type Itself = T;
    const SHAPE: TypeShape = T::SHAPE;
    const KNOWN: KnownShape<T> = KnownShape(T::SHAPE, None, PhantomData);
}

/// Checks `Type { … }` in a step with a declared type. Nothing is reported if the type's constant does not compile.
pub fn declared<const CHECKED: bool, T, Of>(
    _: T,
) -> super::literal::Literal<T, <T::Itself as HasShape<Of>>::Itself>
where
    T: super::Checked<CHECKED, Itself: HasShape<Of>>,
{
    unreachable()
}

/// The type after `step name =`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "a step calls a tool",
    note = "a tool is a struct with `#[derive(Tool)]`, or the struct that `#[tool]` generates from an `async fn`: from `fetch_emails` it generates `FetchEmails`",
    note = "if this is a value, not a call, give the step a type: `step name: Type = …;`"
)]
pub trait IsTool {
    /// The type itself.
    type Itself: Tool<Output = Self::Output>;
    /// The tool's output.
    type Output;
}

#[diagnostic::do_not_recommend]
impl<T: Tool> IsTool for T {
    type Itself = T;
    type Output = T::Output;
}

/// A type of values that `?` can follow.
#[diagnostic::on_unimplemented(
    message = "`?` is only for a value that may be absent, but `{Self}` is always present",
    label = "this is not an `Option`",
    note = "remove the `?`: it applies only to an `Option`, `.get(…)`, a `serde_json::Value`, or a step with `#[catch]`, except in its undo step"
)]
pub trait CanBeAbsent: Sized {
    /// The type of the value if it is not absent.
    type Inner;
    /// The meaning of `?` for the segment before it.
    type Asked: Asked;

    /// Follows `?`.
    fn or_absent<P, W>(_: PathCursor<Self, P, W>) -> Asking<Self::Inner, Self::Asked, P, W> {
        Asking(PhantomData)
    }
}

/// The position after a `?`, and the meaning of the `?`.
pub struct Asking<T, A, P, W>(PhantomData<(T, A, P, W)>);

impl<T, A: Asked, P, W> Asking<T, A, P, W> {
    /// Returns the position, with a cursor for the meaning of the `?`.
    pub fn asked(self, _: PathCursor<A>) -> PathCursor<T, A::Then<P>, W> {
        PathCursor(PhantomData)
    }
}

/// A meaning of `?` for the segment before it.
pub trait Asked {
    /// The meaning as data.
    const MARK: QuestionMark;
    /// The presence after the `?`, for the presence `P` before it.
    type Then<P>;
}

/// `?` after an `Option`.
pub struct Typed;
/// `?` after a `serde_json::Value`.
pub struct Untyped;
/// `?` after a `Result` of a caught failure.
pub struct OfResult;

impl Asked for Typed {
    const MARK: QuestionMark = QuestionMark::Option;
    type Then<P> = MaybeAbsent;
}

impl Asked for Untyped {
    const MARK: QuestionMark = QuestionMark::Json;
    type Then<P> = MaybeAbsent;
}

impl Asked for OfResult {
    const MARK: QuestionMark = QuestionMark::Result;
    type Then<P> = P;
}

#[diagnostic::do_not_recommend]
impl<T> CanBeAbsent for Option<T> {
    type Inner = T;
    type Asked = Typed;
}

#[diagnostic::do_not_recommend]
impl CanBeAbsent for Value {
    type Inner = Value;
    type Asked = Untyped;
}

#[diagnostic::do_not_recommend]
impl<T> CanBeAbsent for Result<T, Failure> {
    type Inner = T;
    type Asked = OfResult;
}

/// The output of a step with `#[catch]`.
pub type Caught<T> = Result<T, Failure>;

/// A type of results, which `.ok()` and `.err()` can follow in a reference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no two outcomes: it is not a `Result`",
    label = "this is not a `Result`",
    note = "in a reference, `.ok()` and `.err()` are for a step with `#[catch]`, and for other values that are a `Result`"
)]
pub trait HasOutcomes: Sized {
    /// The value, and the failure.
    type Ok;
    /// The failure.
    type Err;

    /// Follows `.ok()`.
    fn ok<P, W>(_: PathCursor<Self, P, W>) -> PathCursor<Option<Self::Ok>, P, W> {
        PathCursor(PhantomData)
    }

    /// Follows `.err()`.
    fn err<P, W>(_: PathCursor<Self, P, W>) -> PathCursor<Option<Self::Err>, P, W> {
        PathCursor(PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E> HasOutcomes for Result<T, E> {
    type Ok = T;
    type Err = E;
}

/// A type of lists, which `[..]` can follow.
#[diagnostic::on_unimplemented(
    message = "`[..]` takes every element of a list, but `{Self}` is not a list",
    label = "this is not a list",
    note = "lists are `Vec`, arrays, sets, other types that serde writes as a JSON array, and values of type `serde_json::Value`"
)]
pub trait HasElements: Sized {
    /// An element.
    type Item;
    /// The nesting around an element. It is an associated type, so that it is unknown if `Self` is not a list.
    type Around<P, W>;

    /// Follows `[..]`.
    fn each<P, W>(
        _: PathCursor<Self, P, W>,
    ) -> PathCursor<Self::Item, AlwaysPresent, Self::Around<P, W>> {
        PathCursor(PhantomData)
    }
}

macro_rules! elements {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, $($generics)*> HasElements for $list {
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
impl HasElements for Value {
    type Item = Value;
    type Around<P, W> = Every<P, W>;
}
