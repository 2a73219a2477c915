//! Names that `for` and `if let` bind.

use super::argument::{AlwaysPresent, Passed, UntypedJson};
use super::cursor::{PathCursor, Unclear, root, unreachable};
use super::literal::Slot;
use crate::plan::Source;
use crate::resolve::{Compute, ResolveError, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

/// A list that is always present.
#[diagnostic::on_unimplemented(
    message = "this list may be absent: it is an `Option<{Self}>`, and `for` needs a list",
    label = "this may be absent",
    note = "to iterate only if there is a list: `if let Some(list) = reference {{ for x in list {{ … }} }}`",
    note = "to iterate over no elements if there is no list: `for x in reference.iter().flatten() {{ … }}`",
    note = "if `{Self}` is not a list, iterate over the one value, if there is one: `for x in reference.iter() {{ … }}`",
    note = "if the list comes from an `if` without `else`, add an `else`",
    note = "if the list comes from an `#[optional]` step, write `#[fallback(…)]` instead, or `#[optional(each)]` on a `for`"
)]
pub trait Iterated<K>: Sized {
    /// The list itself.
    type Itself;
    /// Returns the list itself.
    fn listed(_: Passed<K, Self>) -> Passed<AlwaysPresent, Self::Itself> {
        unreachable()
    }
}

#[diagnostic::do_not_recommend]
impl<T> Iterated<AlwaysPresent> for T {
    type Itself = T;
}

#[diagnostic::do_not_recommend]
impl Iterated<UntypedJson> for Value {
    type Itself = Self;
}

/// A type that a `for` can iterate over.
#[diagnostic::on_unimplemented(
    message = "`for` iterates over a list, but `{Self}` is not a list",
    label = "this is not a list",
    note = "lists are `Vec`, arrays, sets, maps with `String` keys, values of type `serde_json::Value`, and expressions that iterate, such as `reference.iter().take(3)`"
)]
pub trait HasItems: Sized {
    /// An element.
    type Item;
    /// Returns an element of the list.
    fn items(_: Passed<AlwaysPresent, Self>) -> PathCursor<Self::Item> {
        root()
    }
}

macro_rules! items {
    ($([$($generics:tt)*] $list:ty => $item:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> HasItems for $list {
            type Item = $item;
        }
    )*};
}

items! {
    [T] Vec<T> => T;
    [T] VecDeque<T> => T;
    [T] LinkedList<T> => T;
    [T] BTreeSet<T> => T;
    [T] BinaryHeap<T> => T;
    [T, S] HashSet<T, S> => T;
    [T, const N: usize] [T; N] => T;
    [T] Box<[T]> => T;
    [T] Rc<[T]> => T;
    [T] Arc<[T]> => T;
    [V] BTreeMap<String, V> => (String, V);
    [V, S] HashMap<String, V, S> => (String, V);
    [] serde_json::Map<String, Value> => (String, Value);
    [] Value => Value;
}

/// The type of a branch, if it equals the type of the first branch.
#[diagnostic::on_unimplemented(
    message = "the branches have different types: `{First}` and `{Self}`",
    label = "this is `{Self}`, but the first branch is `{First}`",
    note = "a call has the type of its tool's output, an `if` without `else` is an `Option`, and a `for` is a `Vec`"
)]
pub trait SameTypeAs<First> {
    /// Requires that the types are equal.
    fn joins() {}
}

#[diagnostic::do_not_recommend]
impl<T> SameTypeAs<T> for T {}

/// Returns the position of an element.
pub const fn element<T, F: Fn() -> PathCursor<T>>(_: &F) -> PathCursor<T> {
    root()
}

/// Returns the position of the variables that a pattern binds: a tuple.
pub const fn bound<T, F: Fn() -> Option<T>>(_: &F) -> PathCursor<T> {
    root()
}

/// Returns the position of a pattern's variables, for code with a `?` that may fail.
pub const fn bound_or_failed<T, F: Fn() -> Result<Option<T>, ResolveError>>(
    _: &F,
) -> PathCursor<T> {
    root()
}

/// Returns the list of a `for`. Its type is unknown if an earlier error leaves the type `V` of a variable unknown, so that rustc
/// does not report a second error.
pub fn known<V, N, T: Known<V, N>>(_: PathCursor<V>, value: T) -> T::Itself {
    value.known()
}

/// See [`known`]. `N` is for the compiler only, see `Unclear`.
pub trait Known<V, N> {
    /// The type itself.
    type Itself;
    /// Returns the value itself.
    fn known(self) -> Self::Itself;
}

impl<V, T> Known<V, ()> for T {
    type Itself = T;
    fn known(self) -> T {
        self
    }
}

impl<T> Known<Unclear, Unclear> for T {
    type Itself = Unclear;
    fn known(self) -> Unclear {
        unreachable()
    }
}

/// Returns the position of one of the variables that a pattern binds.
pub const fn part<V, T>(_: PathCursor<V>, _: fn(&V) -> &T) -> PathCursor<T> {
    root()
}

/// Returns the value at a position.
#[must_use]
pub fn at_place<T>(_: PathCursor<T>) -> &'static T {
    unreachable()
}

/// The value of a variable, to get its owned type.
pub struct OwnedLocals<A>(PhantomData<A>);

/// Looks up the owned type of a variable's value.
#[must_use]
pub const fn own<A>(_: &A) -> OwnedLocals<A> {
    OwnedLocals(PhantomData)
}

impl<T> OwnedLocals<&T> {
    /// Returns the value behind the reference.
    #[must_use]
    pub fn plan_owned(self) -> T {
        unreachable()
    }
}

/// A reference to a value without a fixed size.
pub trait OwnUnsized {
    /// The owned type.
    type Owned;
    /// Returns the owned value.
    fn plan_owned(self) -> Self::Owned;
}

impl OwnUnsized for OwnedLocals<&str> {
    type Owned = String;
    fn plan_owned(self) -> String {
        unreachable()
    }
}

impl<T> OwnUnsized for OwnedLocals<&[T]> {
    type Owned = Vec<T>;
    fn plan_owned(self) -> Vec<T> {
        unreachable()
    }
}

/// Any type that is not a reference. Its method is found last, since it takes `&self`.
pub trait OwnItself<A> {
    /// Returns the value itself.
    fn plan_owned(&self) -> A;
}

impl<A> OwnItself<A> for OwnedLocals<A> {
    fn plan_owned(&self) -> A {
        unreachable()
    }
}

/// A name that is bound.
pub struct LocalCursor<T> {
    source: Source,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for LocalCursor<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LocalCursor<T> {}

/// Returns the local value at a position, or the input of a block.
pub const fn at<T>(_: PathCursor<T>, source: Source) -> LocalCursor<T> {
    LocalCursor {
        source,
        of: PhantomData,
    }
}

/// The bound names that a computed value mentions.
pub trait Locals: Copy {
    /// References to the values of the names.
    type Refs<'a>;
    /// Finds the values of the names.
    ///
    /// # Errors
    ///
    /// Returns an error if a value does not have the form of its type.
    fn look(self, scope: &Scope<'_>) -> Result<(), ResolveError>;
    /// Returns the values found.
    fn refs<'a>(self, scope: &Scope<'a>) -> Self::Refs<'a>;
}

impl Locals for () {
    type Refs<'a> = ();
    fn look(self, _: &Scope<'_>) -> Result<(), ResolveError> {
        Ok(())
    }
    fn refs<'a>(self, _: &Scope<'a>) -> Self::Refs<'a> {}
}

impl<T: DeserializeOwned + Send + 'static, L: Locals> Locals for (LocalCursor<T>, L) {
    type Refs<'a> = (&'a T, L::Refs<'a>);
    fn look(self, scope: &Scope<'_>) -> Result<(), ResolveError> {
        scope.value_of::<T>(self.0.source)?;
        self.1.look(scope)
    }
    fn refs<'a>(self, scope: &Scope<'a>) -> Self::Refs<'a> {
        (scope.known::<T>(self.0.source), self.1.refs(scope))
    }
}

pub(super) type Look = fn(&Scope<'_>) -> Result<(), ResolveError>;

impl<F> Slot<F> {
    /// Creates a computed value that may use bound names, for this slot.
    #[must_use]
    #[track_caller]
    pub const fn within<L: Locals>(
        self,
        locals: L,
        look: Look,
        compute: for<'a> fn(&Scope<'a>, L::Refs<'a>) -> F,
    ) -> Within<L, F> {
        Within {
            locals,
            look,
            compute,
            place: Location::caller(),
        }
    }
}

/// A computed value over bound names.
pub struct Within<L: Locals, F> {
    locals: L,
    look: Look,
    compute: for<'a> fn(&Scope<'a>, L::Refs<'a>) -> F,
    place: &'static Location<'static>,
}

impl<L: Locals, F: Serialize> Compute for Within<L, F> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        self.locals.look(scope)?;
        scope.encode(&(self.compute)(scope, self.locals.refs(scope)))
    }

    fn place(&self) -> Option<&'static Location<'static>> {
        Some(self.place)
    }
}

/// Returns the JSON of the names that a `for` or an `if let` binds.
///
/// # Errors
///
/// Returns an error if JSON cannot represent a value, or if the values of the run exceed a limit. The elements of a `for` are counted one by one, because
/// its iterator may be endless.
pub fn encode<T: Serialize>(scope: &Scope<'_>, bound: &T) -> Result<Value, ResolveError> {
    scope.encode(bound)
}

type Bind<L, V> =
    for<'a> fn(&Scope<'a>, <L as Locals>::Refs<'a>, PathCursor<V>) -> Result<Value, ResolveError>;

/// Creates the list of a `for`, or the variables of an `if let`, as JSON.
#[track_caller]
pub const fn binding<L: Locals, V>(
    locals: L,
    look: Look,
    _: PathCursor<V>,
    bind: Bind<L, V>,
) -> Binding<L, V> {
    Binding {
        locals,
        look,
        bind,
        place: Location::caller(),
    }
}

/// See [`binding`].
pub struct Binding<L: Locals, V> {
    locals: L,
    look: Look,
    bind: Bind<L, V>,
    place: &'static Location<'static>,
}

impl<L: Locals, V> Compute for Binding<L, V> {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        (self.look)(scope)?;
        self.locals.look(scope)?;
        (self.bind)(scope, self.locals.refs(scope), root())
    }

    fn place(&self) -> Option<&'static Location<'static>> {
        Some(self.place)
    }
}
