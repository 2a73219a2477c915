//! Which tests a run can evaluate as data: those over types whose JSON tells what Rust's operators would say.
//!
//! `plan!` asks about each type that a test leads through or is about. The answers are there when a plan is first used: a type that is not
//! known to be [closed](Closed) leaves the test to Rust. As with [`Probe`](crate::shape::probe::Probe), Rust prefers what a type has itself over what a trait gives it, so
//! that there is always an answer.

use super::cursor::{PathCursor, root, unreachable};
use crate::resolve::drop_quietly;
use crate::shape::{FieldPlace, Shape, Tagging, TypeShape, Variant};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::panic::catch_unwind;
use std::rc::Rc;
use std::sync::Arc;

/// What is known of a type, or of a constant, of a test.
pub enum Answer {
    /// What a type says of its fields.
    Shape(TypeShape),
    /// Whether the JSON of a type is all that the test needs.
    Closed(bool),
    /// The JSON of a constant, if it has one.
    Json(Option<Value>),
}

/// Types whose values are equal exactly where their JSON is, and are null only if they are an `Option`.
pub trait Closed {
    /// Whether that is so. An enum may compare itself in its own way.
    fn is_closed() -> bool {
        true
    }

    /// The name of the enum that they are of, or what is in them. It says itself what it is equal to.
    fn enum_name() -> Option<&'static str> {
        None
    }
}

/// Closed types whose order is that of their JSON: numbers, strings, `char`, `bool`.
pub trait Ordered: Closed {}

/// Closed types that are never null.
pub trait NeverNull: Closed {}

/// Types whose length is that of their JSON.
pub trait Measured {}

/// Lists whose elements are those of their JSON, by their places.
pub trait Listed {}

/// Maps whose values are those of their JSON, by their keys.
pub trait Keyed {}

macro_rules! marks {
    ($($trait:ident: $([$($generics:tt)*] $ty:ty),+;)*) => {$($(
        impl<$($generics)*> $trait for $ty {}
    )+)*};
}

marks! {
    Closed:
        [] bool, [] char, [] u8, [] u16, [] u32, [] u64, [] usize, [] i8, [] i16, [] i32, [] i64,
        [] isize, [] f64, [] str, [] String, ['a] Cow<'a, str>;
    Ordered:
        [] bool, [] char, [] u8, [] u16, [] u32, [] u64, [] usize, [] i8, [] i16, [] i32, [] i64,
        [] isize, [] f64, [] str, [] String, ['a] Cow<'a, str>;
    NeverNull:
        [] bool, [] char, [] u8, [] u16, [] u32, [] u64, [] usize, [] i8, [] i16, [] i32, [] i64,
        [] isize, [] f64, [] str, [] String, ['a] Cow<'a, str>,
        [T: Closed] [T], [T: Closed, const N: usize] [T; N], [T: Closed] Vec<T>,
        [T: Closed] VecDeque<T>, [T: Closed] LinkedList<T>, [T: Closed] BTreeSet<T>,
        [V: Closed] BTreeMap<String, V>, [V: Closed, S] HashMap<String, V, S>,
        [T: Closed, E: Closed] Result<T, E>;
    Measured:
        [] str, [] String, ['a] Cow<'a, str>, [T] [T], [T, const N: usize] [T; N], [T] Vec<T>,
        [T] VecDeque<T>, [T] LinkedList<T>, [T] BTreeSet<T>, [T] BinaryHeap<T>,
        [T, S] HashSet<T, S>, [V] BTreeMap<String, V>, [V, S] HashMap<String, V, S>;
    Listed:
        [T] [T], [T, const N: usize] [T; N], [T] Vec<T>, [T] VecDeque<T>;
    Keyed:
        [V] BTreeMap<String, V>, [V, S] HashMap<String, V, S>;
}

/// What points to a value has the JSON of that.
macro_rules! transparent {
    ($($({$lifetime:lifetime})? $ty:ty;)*) => {$(
        impl<$($lifetime,)? T: Closed + ?Sized> Closed for $ty {
            fn is_closed() -> bool {
                T::is_closed()
            }

            fn enum_name() -> Option<&'static str> {
                T::enum_name()
            }
        }
        impl<$($lifetime,)? T: Ordered + ?Sized> Ordered for $ty {}
        impl<$($lifetime,)? T: NeverNull + ?Sized> NeverNull for $ty {}
        impl<$($lifetime,)? T: Measured + ?Sized> Measured for $ty {}
        impl<$($lifetime,)? T: Listed + ?Sized> Listed for $ty {}
        impl<$($lifetime,)? T: Keyed + ?Sized> Keyed for $ty {}
    )*};
}

transparent! {
    {'a} &'a T;
    Box<T>;
    Rc<T>;
    Arc<T>;
}

/// Types that are closed if what is in them is.
macro_rules! closed_inside {
    ($([$($generics:tt)*] $ty:ty: $($inner:ty),+;)*) => {$(
        impl<$($generics)*> Closed for $ty {
            fn is_closed() -> bool {
                $(<$inner as Closed>::is_closed())&&+
            }

            fn enum_name() -> Option<&'static str> {
                None$(.or(<$inner as Closed>::enum_name()))+
            }
        }
    )*};
}

closed_inside! {
    [T: Closed] [T]: T;
    [T: Closed, const N: usize] [T; N]: T;
    [T: Closed] Vec<T>: T;
    [T: Closed] VecDeque<T>: T;
    [T: Closed] LinkedList<T>: T;
    [T: Closed] BTreeSet<T>: T;
    [V: Closed] BTreeMap<String, V>: V;
    [V: Closed, S] HashMap<String, V, S>: V;
    [T: Closed, E: Closed] Result<T, E>: T, E;
    // `Some(None)` and `None` are both null.
    [T: NeverNull] Option<T>: T;
}

/// What is asked about a type `T`. Each has a function of the same name, which takes a value.
macro_rules! asked {
    ($($(#[$doc:meta])+ $name:ident $function:ident;)*) => {$(
        $(#[$doc])+
        pub struct $name<T: ?Sized>(PhantomData<T>);

        $(#[$doc])+
        pub fn $function<T: ?Sized>(_: *const T) -> $name<T> {
            unreachable()
        }
    )*

    /// The answers where nothing is known of a type.
    ///
    /// Each question has a method of its own: where a mistake leaves a type unknown, methods of one name would be a second mistake.
    pub trait NotClosed {
        $(
            $(#[$doc])+
            fn $function(&self) -> Answer {
                Answer::Closed(false)
            }
        )*

        /// Whether values of two types are equal where their JSON is, if those of each type are.
        fn of_both(&self) -> Answer {
            Answer::Closed(false)
        }
    }};
}

asked! {
    /// Which fields it has.
    OfFields of_fields;
    /// Whether it is a list with elements by place.
    OfItems of_items;
    /// Whether it is a map with values by key.
    OfKeys of_keys;
    /// Whether it is `bool`.
    OfTruth of_truth;
    /// Whether its values are equal where their JSON is.
    OfEqual of_equal;
    /// Whether its values are in the order of their JSON.
    OfOrder of_order;
    /// Whether it is an `Option` that is null only where it is `None`.
    OfPresence of_presence;
    /// Whether it is a `Result`.
    OfOutcome of_outcome;
    /// Whether it has the length of its JSON.
    OfLength of_length;
}

/// Whether values of two types are equal where their JSON is, if those of each type are.
pub struct OfBoth<A: ?Sized, B: ?Sized>(PhantomData<A>, PhantomData<B>);

/// Whether values of two types are equal where their JSON is, if those of each type are.
pub fn of_both<A: ?Sized, B: ?Sized>(_: *const A, _: *const B) -> OfBoth<A, B> {
    unreachable()
}

/// The places of all that is asked in a test: a tuple.
pub const fn asked<Q, F: Fn() -> Q>(_: &F) -> PathCursor<Q> {
    root()
}

macro_rules! answers {
    ($({$($generics:tt)*} $function:ident $ty:ty => $answer:expr;)*) => {$(
        impl<$($generics)*> PathCursor<$ty> {
            /// The answer.
            #[must_use]
            pub fn $function(self) -> Answer {
                $answer
            }
        }
    )*};
}

answers! {
    {T: Shape + ?Sized} of_fields OfFields<T> => Answer::Shape(T::SHAPE);
    {T: Listed + ?Sized} of_items OfItems<T> => Answer::Closed(true);
    {T: Keyed + ?Sized} of_keys OfKeys<T> => Answer::Closed(true);
    {} of_truth OfTruth<bool> => Answer::Closed(true);
    {T: Closed + ?Sized} of_equal OfEqual<T> => Answer::Closed(T::is_closed());
    {T: Ordered + ?Sized} of_order OfOrder<T> => Answer::Closed(true);
    {T: NeverNull} of_presence OfPresence<Option<T>> => Answer::Closed(true);
    {T, E} of_outcome OfOutcome<Result<T, E>> => Answer::Closed(true);
    {T: Measured + ?Sized} of_length OfLength<T> => Answer::Closed(true);
    // An enum may be equal to what is not of it, as its author says.
    {A: Closed + ?Sized, B: Closed + ?Sized} of_both OfBoth<A, B> => Answer::Closed(A::enum_name() == B::enum_name());
}

/// The answer where only the shape of a type tells whether it is ever null.
pub trait ToldByShape {
    /// The answer.
    fn of_presence(self) -> Answer;
}

impl<T: Shape> ToldByShape for PathCursor<OfPresence<Option<T>>> {
    fn of_presence(self) -> Answer {
        Answer::Closed(match T::SHAPE {
            // A unit struct is null, and what is in a transparent one may be.
            TypeShape::Struct(fields) => fields
                .iter()
                .any(|field| !matches!(field.output, FieldPlace::Inner | FieldPlace::LeftOut(_))),
            TypeShape::Enum(Tagging::Untagged, _) | TypeShape::Opaque => false,
            TypeShape::Enum(_, variants) => !variants.iter().any(|variant| variant.untagged),
        })
    }
}

impl<Q> NotClosed for PathCursor<Q> {}

/// A constant of a test.
pub struct ConstantOfTest<'a, T: ?Sized>(&'a T);

/// A constant of a test.
pub const fn constant<T: ?Sized>(value: &T) -> ConstantOfTest<'_, T> {
    ConstantOfTest(value)
}

impl<T: Serialize + ?Sized> ConstantOfTest<'_, T> {
    /// Its JSON.
    #[must_use]
    pub fn plan_json(&self) -> Answer {
        Answer::Json(serde_json::to_value(self.0).ok())
    }
}

/// A constant that has no JSON.
pub trait WithoutJson {
    /// The answer.
    fn plan_json(&self) -> Answer;
}

impl<T: ?Sized> WithoutJson for ConstantOfTest<'_, T> {
    fn plan_json(&self) -> Answer {
        Answer::Json(None)
    }
}

/// All answers about a test, in the order in which its data asks.
pub trait Answers: Sync {
    /// The answers.
    fn all(&self) -> Vec<Answer>;
}

/// See [`Answers`].
pub struct AnswersOf<Q>(fn(PathCursor<Q>) -> Vec<Answer>);

impl<Q> PathCursor<Q> {
    /// What answers all that is asked.
    pub const fn plan_answers(self, answers: fn(Self) -> Vec<Answer>) -> AnswersOf<Q> {
        AnswersOf(answers)
    }
}

impl<Q> Answers for AnswersOf<Q> {
    fn all(&self) -> Vec<Answer> {
        (self.0)(root())
    }
}

/// How many variants an enum has at most that are compared with one another.
const MOST_VARIANTS: usize = 256;

/// Asks whether an enum `T` is closed: all its variants are strings in JSON, and each is equal to itself alone. That is asked of the values
/// themselves, since an enum may compare itself in its own way.
pub struct ClosedEnum<T>(PhantomData<T>);

/// The answer where an enum cannot be asked.
pub trait OpenEnum {
    /// It is not.
    fn is_closed() -> bool {
        false
    }
}

impl<T> OpenEnum for ClosedEnum<T> {}

impl<T: Shape + PartialEq + Serialize + DeserializeOwned> ClosedEnum<T> {
    /// Whether it is.
    #[must_use]
    pub fn is_closed() -> bool {
        is_closed_enum::<T>()
    }
}

fn is_closed_enum<T: Shape + PartialEq + Serialize + DeserializeOwned>() -> bool {
    let TypeShape::Enum(Tagging::External, variants) = T::SHAPE else {
        return false;
    };
    if variants.len() > MOST_VARIANTS {
        return false;
    }
    let values = || -> Option<Vec<(T, Value)>> {
        let value = |variant: &Variant| {
            let name = variant
                .argument
                .ok()
                .filter(|_| variant.fields.is_empty())?;
            let value = T::deserialize(Value::from(name)).ok()?;
            let json = serde_json::to_value(&value).ok()?;
            json.is_string().then_some((value, json))
        };
        variants.iter().map(value).collect()
    };
    let is_closed = || {
        values().is_some_and(|values| {
            let mut pairs = values
                .iter()
                .flat_map(|a| values.iter().map(move |b| (a, b)));
            pairs.all(|((a, a_json), (b, b_json))| (a == b) == (a_json == b_json))
        })
    };
    match catch_unwind(is_closed) {
        Ok(is_closed) => is_closed,
        Err(payload) => {
            drop_quietly(payload);
            false
        }
    }
}
