//! References, as types: each part of `inbox.data[0].id` becomes an expression over the author's own tokens, in closures that are
//! never called, so that rustc checks it. A [`PathCursor`] says what a reference has led to so far.

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

/// A place that a reference leads to: its type `T`, whether it may be absent (`P`), and the lists around it that `[..]` opened (`W`).
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
    /// The type of an element that is a `T` if it is there.
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
/// Inside each element of a list, which itself is there as `P` says, inside `W`.
pub struct Every<P, W>(PhantomData<(P, W)>);

/// What the lists around a place make of it.
pub trait Nesting {
    /// The type of the whole, in which a place is a `T` that is there as `P` says.
    type Whole<T, P: Presence>;
}

impl Nesting for One {
    type Whole<T, P: Presence> = P::Element<T>;
}

impl<P: Presence, W: Nesting> Nesting for Every<P, W> {
    type Whole<T, Q: Presence> = W::Whole<Vec<Q::Element<T>>, P>;
}

/// A place of a type that is written, or that rustc infers.
#[must_use]
pub const fn root<T>() -> PathCursor<T> {
    PathCursor(PhantomData)
}

/// The place of a value.
pub fn here<T>(_: &T) -> PathCursor<T> {
    PathCursor(PhantomData)
}

impl<T, P, W> PathCursor<T, P, W> {
    /// The place of a value that this one leads to.
    pub fn to<U>(self, _: &U) -> PathCursor<U, P, W> {
        PathCursor(PhantomData)
    }

    /// `.get(0)`
    pub fn get<U>(self, _: Option<&U>) -> PathCursor<Option<U>, P, W> {
        PathCursor(PhantomData)
    }

    /// `.pointer("/a")`
    pub fn pointer<U>(self, _: Option<&U>) -> PathCursor<U, P, W> {
        PathCursor(PhantomData)
    }
}

/// All that a reference gives.
pub fn whole<T, P: Presence, W: Nesting>(_: PathCursor<T, P, W>) -> PathCursor<W::Whole<T, P>> {
    PathCursor(PhantomData)
}

/// What a type says of its fields.
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
    /// What it says.
    #[must_use]
    pub const fn shape(self) -> Constant {
        Constant::Shape(self.0, self.1)
    }

    /// Checks that a reference can lead to a field; `last` says that the reference ends there.
    #[track_caller]
    pub const fn check(self, ident: &'static str, last: bool) {
        super::segment::check(self.0, ident, last);
    }

    /// Checks that a reference can lead to a field whose elements it goes on to.
    #[track_caller]
    pub const fn check_list(self, ident: &'static str) {
        super::segment::check_list(self.0, ident);
    }

    /// Checks that a key in a field is not a field beside it, if both may be at one place of the JSON: the field is flattened, and
    /// `inside` says whether all fields are that lead on from it. Returns whether the field itself is.
    #[track_caller]
    pub const fn not_beside(self, ident: &'static str, key: &'static str, inside: bool) -> bool {
        inside && super::segment::not_beside(self.0, ident, key)
    }

    /// Goes on to a field of a reference with a `?`, which follows the field itself if it is `asked`.
    #[track_caller]
    pub const fn enter(self, ident: &'static str, asked: bool, from: Flattened) -> Flattened {
        from.enter(super::segment::output(self.0, ident), asked)
    }
}

impl<A: Asked> PathCursor<A> {
    /// What a `?` that means this says of its segment.
    #[must_use]
    pub const fn optional(self) -> Constant {
        Constant::Asked(A::MARK)
    }
}

/// A value that is about to be looked into.
pub struct Unwrapping<K, T>(PhantomData<(K, T)>);

impl<T, P, W> PathCursor<Option<T>, P, W> {
    /// An `Option` cannot be looked into.
    pub fn plan_kind(self) -> Unwrapping<MaybeAbsent, T> {
        unreachable()
    }

    /// What the reference gives.
    pub fn plan_value(self) -> Passed<MaybeAbsent, T> {
        unreachable()
    }
}

/// What a place that holds an `Option` is. It takes the place by value, so the compiler looks for it before [`AtValue`].
pub trait AtOption<T> {
    /// An `Option` cannot be looked into.
    fn plan_kind(self) -> Unwrapping<MaybeAbsent, T>;
    /// What the reference gives.
    fn plan_value(self) -> Passed<MaybeAbsent, T>;
}

impl<T> AtOption<T> for &Option<T> {
    fn plan_kind(self) -> Unwrapping<MaybeAbsent, T> {
        unreachable()
    }
    fn plan_value(self) -> Passed<MaybeAbsent, T> {
        unreachable()
    }
}

/// Says that a value is a list that is always there.
pub struct AList;

/// The kind of a place that holds a list. The trait takes the place by value, so the compiler looks for it before [`AtValue`].
pub trait AtList<L>: Sized {
    /// A list can be looked into, and has no fields.
    fn plan_kind(self) -> Unwrapping<AList, L> {
        unreachable()
    }
}

macro_rules! indexed {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<T, P, W, $($generics)*> AtList<$list> for PathCursor<$list, P, W> {}
        impl<T, $($generics)*> AtList<$list> for &$list {}
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

/// What a place that holds JSON of any kind gives. It takes the place by value, so the compiler looks for it before [`AtValue`].
pub trait AtJson {
    /// What the reference gives.
    fn plan_value(self) -> Passed<UntypedJson, Value>;
}

impl AtJson for PathCursor<Value> {
    fn plan_value(self) -> Passed<UntypedJson, Value> {
        unreachable()
    }
}

impl AtJson for &Value {
    fn plan_value(self) -> Passed<UntypedJson, Value> {
        unreachable()
    }
}

/// What a place of any other type is. It takes a reference to the place, so the compiler looks for it last.
pub trait AtValue<T> {
    /// It can be looked into.
    fn plan_kind(&self) -> Unwrapping<AlwaysPresent, T>;
    /// What the reference gives.
    fn plan_value(&self) -> Passed<AlwaysPresent, T>;
    /// The value, of which an element is wanted.
    #[must_use]
    fn plan_length<'a>(&self, _: PathCursor<AnyLength>) -> &'a T {
        unreachable()
    }
}

impl<T, P, W> AtValue<T> for PathCursor<T, P, W> {
    fn plan_kind(&self) -> Unwrapping<AlwaysPresent, T> {
        unreachable()
    }
    fn plan_value(&self) -> Passed<AlwaysPresent, T> {
        unreachable()
    }
}

impl<T> AtValue<T> for &T {
    fn plan_kind(&self) -> Unwrapping<AlwaysPresent, T> {
        unreachable()
    }
    fn plan_value(&self) -> Passed<AlwaysPresent, T> {
        unreachable()
    }
}

/// How many elements a list may have.
pub trait Length {
    /// None, if it can be any number.
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

/// A value that is an array. It takes the reference to it by value, so the compiler looks for it before [`AtValue`].
pub trait AtArray<'a, T: 'a, const N: usize>: Sized {
    /// The elements, of which one is wanted. As those of an array, rustc would report the index once more where it generates code.
    #[must_use]
    fn plan_length(self, _: PathCursor<Exactly<N>>) -> &'a [T] {
        unreachable()
    }
}

impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a [T; N] {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Box<[T; N]> {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Rc<[T; N]> {}
impl<'a, T, const N: usize> AtArray<'a, T, N> for &'a Arc<[T; N]> {}

/// What can be looked into.
#[diagnostic::on_unimplemented(
    message = "this value may be absent: it is an `Option<{Self}>`",
    label = "write `?` before this",
    note = "`?` leads into a value that may be absent, and makes the whole reference optional: `inbox.next?.id` fits an argument that is an `Option`",
    note = "for any other argument, call the tool only if the value is there: `if let Some(x) = reference {{ … }}`"
)]
pub trait Reachable<K>: Sized {
    /// The type itself.
    type Itself;

    /// The value. If it may be absent, its type is unknown, so the compiler reports no further errors about its uses.
    #[must_use]
    fn look<'a>(_: Unwrapping<K, Self>) -> &'a Self::Itself {
        unreachable()
    }

    /// The value, when one of its fields is wanted.
    fn field(_: Unwrapping<K, Self>) -> Unwrapping<K, Self::Itself> {
        unreachable()
    }

    /// The same, and what its type says of its fields.
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

    /// The value.
    #[must_use]
    fn of<'a>(_: Unwrapping<K, Self>) -> &'a Self::Fields {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> HasFields<AlwaysPresent> for T {
    type Fields = T;
}

// Nothing is of this kind: with one kind alone, the compiler would take it for the kind of a value that it does not know.
#[diagnostic::do_not_recommend]
impl<T> HasFields<MaybeAbsent> for T {
    type Fields = T;
}

/// The output of a step of which not even the tool is known.
pub struct Unknown;
/// Another such type: with two candidates, the compiler does not decide what a type is that is unknown because of an earlier
/// mistake, and so does not complain again.
pub struct Unclear;

/// The body of functions that are only type-checked.
pub(super) fn unreachable() -> ! {
    unreachable!("this code is only type-checked")
}

/// A type with fields, in a reference or a literal. `Of` is what says which: `()` if that is the type's own [`Shape`], or a type in place of a
/// struct with `#[shape(remote = …)]`. As that is a type of the user's crate, the implementation may be for a type of another crate. A type has one
/// implementation, so that the compiler finds `Of` where it is `_`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Shape`",
    label = "this needs the JSON names of the fields of `{Self}`",
    note = "if `{Self}` is of your crate, add `#[derive(plan_runtime::Shape)]` to its declaration",
    note = "if it is from another crate, write a computed value, which needs no `Shape`: `value.field.clone()`, or the call of a function that makes it",
    note = "or declare its fields once for all plans, in a struct of your crate: `#[derive(plan_runtime::Shape)] #[shape(remote = \"{Self}\")]`"
)]
pub trait HasShape<Of>: Sized {
    /// The type itself.
    type Itself;
    /// What is known of its fields.
    const SHAPE: TypeShape;
    /// The same, for references.
    const KNOWN: KnownShape<Self> = KnownShape(Self::SHAPE, Some(type_name::<Self>), PhantomData);

    /// `Type { … }`
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

/// `Type { … }` in a step that declares a type, of which nothing is reported where the constant does not compile.
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
    note = "remove the `?`; it is for an `Option`, for `.get(…)`, for a step with `#[catch]` except in its undo step, and for values of type `serde_json::Value`"
)]
pub trait CanBeAbsent: Sized {
    /// The type of the value if it is not absent.
    type Inner;
    /// What `?` means to the segment before it.
    type Asked: Asked;

    /// `?`
    fn or_absent<P, W>(_: PathCursor<Self, P, W>) -> Asking<Self::Inner, Self::Asked, P, W> {
        Asking(PhantomData)
    }
}

/// The way after a `?`, and what the `?` means.
pub struct Asking<T, A, P, W>(PhantomData<(T, A, P, W)>);

impl<T, A: Asked, P, W> Asking<T, A, P, W> {
    /// The way, with one of its own for what the `?` means.
    pub fn asked(self, _: PathCursor<A>) -> PathCursor<T, A::Then<P>, W> {
        PathCursor(PhantomData)
    }
}

/// What `?` means to the segment before it.
pub trait Asked {
    /// What it is as data.
    const MARK: QuestionMark;
    /// Whether what follows may be absent, where what is before it is there as `P` says.
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

/// What a step with `#[catch]` gives.
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

    /// `.ok()`
    fn ok<P, W>(_: PathCursor<Self, P, W>) -> PathCursor<Option<Self::Ok>, P, W> {
        PathCursor(PhantomData)
    }

    /// `.err()`
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
    /// What is around an element. It is an associated type, so that it is unknown if `Self` is not a list.
    type Around<P, W>;

    /// `[..]`
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
