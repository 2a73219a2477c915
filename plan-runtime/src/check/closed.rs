//! Which tests a run can evaluate as data: those over types whose JSON tells what Rust's operators would say.
//!
//! `plan!` asks about each type that a test leads through or is about. The answers are there when a plan is first used: a type that is not
//! known to be [closed](Closed) leaves the test to Rust. As with [`Probe`](crate::shape::probe::Probe), Rust prefers what a type has itself over what a trait gives it, so
//! that there is always an answer.

use super::cursor::{HasShape, unreachable};
use crate::resolve::drop_quietly;
use crate::shape::{FieldPlace, Shape, Tagging, TypeShape, Variant};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::type_name;
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

    /// Whether they are of an enum, or have one in them. Its author may have said that it is equal to values of other types.
    fn has_enum() -> bool {
        false
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

            fn has_enum() -> bool {
                T::has_enum()
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

            fn has_enum() -> bool {
                $(<$inner as Closed>::has_enum())||+
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

/// What is asked about a type `T`, or about two. Each has a function of the same name, which takes the places of values, and a method that answers.
///
/// Each method has a name of its own: where a mistake leaves a type unknown, methods of one name would be a second mistake.
macro_rules! asked {
    ($(
        $(#[$doc:meta])+
        $name:ident<$($of:ident),+> $function:ident:
            {$($generics:tt)*} $($ty:ty),+ => $answer:expr;
    )*) => {
        $(
            $(#[$doc])+
            pub struct $name<$($of: ?Sized),+>($(PhantomData<$of>),+);

            impl<$($of: ?Sized),+> Default for $name<$($of),+> {
                fn default() -> Self {
                    Self($(PhantomData::<$of>),+)
                }
            }

            $(#[$doc])+
            pub fn $function<$($of: ?Sized),+>($(_: *const $of),+) -> $name<$($of),+> {
                unreachable()
            }

            impl<$($generics)*> $name<$($ty),+> {
                $(#[$doc])+
                #[must_use]
                pub fn $function(self) -> Answer {
                    $answer
                }
            }

            impl<$($of: ?Sized),+> NotClosed for $name<$($of),+> {}
        )*

        /// The answers where nothing is known of a type.
        pub trait NotClosed {
            $(
                $(#[$doc])+
                fn $function(&self) -> Answer {
                    Answer::Closed(false)
                }
            )*
        }
    };
}

asked! {
    /// Which fields it has.
    OfFields<T> of_fields:
        {T: Shape + ?Sized} T => Answer::Shape(T::SHAPE);
    /// Whether it is a list with elements by place.
    OfItems<T> of_items:
        {T: Listed + ?Sized} T => Answer::Closed(true);
    /// Whether it is a map with values by key.
    OfKeys<T> of_keys:
        {T: Keyed + ?Sized} T => Answer::Closed(true);
    /// Whether it is `bool`.
    OfTruth<T> of_truth:
        {} bool => Answer::Closed(true);
    /// Whether its values are equal where their JSON is.
    OfEqual<T> of_equal:
        {T: Closed + ?Sized} T => Answer::Closed(T::is_closed());
    /// Whether the values of two types are equal where their JSON is, if those of each type are.
    OfBoth<A, B> of_both:
        {A: Closed + ?Sized, B: Closed + ?Sized} A, B => Answer::Closed(
            !(A::has_enum() || B::has_enum()) || type_name::<A>() == type_name::<B>()
        );
    /// Whether its values are in the order of their JSON.
    OfOrder<T> of_order:
        {T: Ordered + ?Sized} T => Answer::Closed(true);
    /// Whether it is an `Option` that is null only where it is `None`.
    OfPresence<T> of_presence:
        {T: NeverNull} Option<T> => Answer::Closed(true);
    /// Whether it is a `Result`.
    OfOutcome<T> of_outcome:
        {T, E} Result<T, E> => Answer::Closed(true);
    /// Whether it has the length of its JSON.
    OfLength<T> of_length:
        {T: Measured + ?Sized} T => Answer::Closed(true);
}

/// All that is asked in a test: a tuple of questions, or of such tuples.
pub struct Asked<Q>(PhantomData<fn() -> Q>);

/// The questions that the closure lists.
pub const fn asked<Q, F: Fn() -> Q>(_: &F) -> Asked<Q> {
    Asked(PhantomData)
}

/// The answer where only the shape of a type tells whether it is ever null.
pub trait ToldByShape<Of> {
    /// The answer.
    fn of_presence(self) -> Answer;
}

impl<T: HasShape<Of>, Of> ToldByShape<Of> for OfPresence<Option<T>> {
    fn of_presence(self) -> Answer {
        Answer::Closed(match T::SHAPE {
            // A unit struct is null, and the value in a transparent one may be.
            TypeShape::Struct(fields) => fields
                .iter()
                .any(|field| !matches!(field.output, FieldPlace::Inner | FieldPlace::LeftOut(_))),
            TypeShape::Enum(Tagging::Untagged, _) | TypeShape::Opaque => false,
            TypeShape::Enum(_, variants) => !variants.iter().any(|variant| variant.untagged),
        })
    }
}

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
pub struct AnswersOf<Q>(fn(Q) -> Vec<Answer>);

impl<Q> Asked<Q> {
    /// What answers them.
    pub const fn answers(self, answers: fn(Q) -> Vec<Answer>) -> AnswersOf<Q> {
        AnswersOf(answers)
    }
}

impl<Q: Default> Answers for AnswersOf<Q> {
    fn all(&self) -> Vec<Answer> {
        (self.0)(Q::default())
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
