//! The tests that a run can evaluate as data: tests of types whose JSON determines the results of Rust's operators.
//!
//! The expansion calls a method for each type on the path or at the end of a reference in a test. For example, `of_equal` answers `true` for a type
//! whose values are equal if and only if their JSON is equal. The answers are available at the first use of a plan. A test with a type that is not
//! [closed](Closed) runs as Rust code. A type without an inherent method gets the method of the trait [`NotClosed`], whose answer is `false`.
//! [`Probe`](crate::shape::probe::Probe) uses this trick as well.

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

/// A fact about a type or a constant in a test.
pub enum Answer {
    /// The shape of a type.
    Shape(TypeShape),
    /// `true` if the test needs only the JSON of the type.
    Closed(bool),
    /// The JSON of a constant, if it has one.
    Json(Option<Value>),
}

/// Types whose values are equal exactly if their JSON is equal, and whose JSON is null only for an `Option`.
pub trait Closed {
    /// Returns `true` if the type is closed. An enum may implement its own comparison.
    fn is_closed() -> bool {
        true
    }

    /// Returns `true` for a type that is or contains an enum, whose author may have implemented equality with values of
    /// other types.
    fn has_enum() -> bool {
        false
    }
}

/// Closed types with the order of their JSON: numbers, strings, `char`, `bool`.
pub trait Ordered: Closed {}

/// Closed types that are never null.
pub trait NeverNull: Closed {}

/// Types with the length of their JSON.
pub trait Measured {}

/// Lists whose elements are the elements of their JSON, by index.
pub trait Listed {}

/// Maps whose values are the values of their JSON, by key.
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

/// A pointer has the JSON of its target.
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

/// Types that are closed if their parts are.
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

/// The questions about a type `T`, or about two types. Each question has a function, which has its own name and takes cursors, and a method that
/// returns the answer.
///
/// Each method has a unique name: if an error leaves a type unknown, methods with one name would cause a second error.
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

        /// The answers for a type without any facts.
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
    /// The fields of the type.
    OfFields<T> of_fields:
        {T: Shape + ?Sized} T => Answer::Shape(T::SHAPE);
    /// Answers `true` for a list with elements by index.
    OfItems<T> of_items:
        {T: Listed + ?Sized} T => Answer::Closed(true);
    /// Answers `true` for a map with values by key.
    OfKeys<T> of_keys:
        {T: Keyed + ?Sized} T => Answer::Closed(true);
    /// Answers `true` for `bool`.
    OfTruth<T> of_truth:
        {} bool => Answer::Closed(true);
    /// Answers `true` if two values are equal whenever their JSON is.
    OfEqual<T> of_equal:
        {T: Closed + ?Sized} T => Answer::Closed(T::is_closed());
    /// Answers `true` if values of the two types are equal whenever their JSON is, for types with this property by
    /// themselves.
    OfBoth<A, B> of_both:
        {A: Closed + ?Sized, B: Closed + ?Sized} A, B => Answer::Closed(
            !(A::has_enum() || B::has_enum()) || type_name::<A>() == type_name::<B>()
        );
    /// Answers `true` if the values have the order of their JSON.
    OfOrder<T> of_order:
        {T: Ordered + ?Sized} T => Answer::Closed(true);
    /// Answers `true` for an `Option` that is null only as `None`.
    OfPresence<T> of_presence:
        {T: NeverNull} Option<T> => Answer::Closed(true);
    /// Answers `true` for a `Result`.
    OfOutcome<T> of_outcome:
        {T, E} Result<T, E> => Answer::Closed(true);
    /// Answers `true` if the length of the value equals the length of its JSON.
    OfLength<T> of_length:
        {T: Measured + ?Sized} T => Answer::Closed(true);
}

/// The questions of a test: a tuple of questions, or of such tuples.
pub struct Asked<Q>(PhantomData<fn() -> Q>);

/// Returns the questions in the closure.
pub const fn asked<Q, F: Fn() -> Q>(_: &F) -> Asked<Q> {
    Asked(PhantomData)
}

/// The answer if only the shape of a type shows that it is never null.
pub trait ToldByShape<Of> {
    /// Returns the answer for the type.
    fn of_presence(self) -> Answer;
}

impl<T: HasShape<Of>, Of> ToldByShape<Of> for OfPresence<Option<T>> {
    fn of_presence(self) -> Answer {
        Answer::Closed(match T::SHAPE {
            // The JSON of a unit struct is null. The JSON of a transparent struct is the JSON of its only field, which may be null.
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

/// Wraps a constant of a test.
pub const fn constant<T: ?Sized>(value: &T) -> ConstantOfTest<'_, T> {
    ConstantOfTest(value)
}

impl<T: Serialize + ?Sized> ConstantOfTest<'_, T> {
    /// Returns the JSON of the constant.
    #[must_use]
    pub fn plan_json(&self) -> Answer {
        Answer::Json(serde_json::to_value(self.0).ok())
    }
}

/// A constant that has no JSON.
pub trait WithoutJson {
    /// Returns the answer for a constant without JSON.
    fn plan_json(&self) -> Answer;
}

impl<T: ?Sized> WithoutJson for ConstantOfTest<'_, T> {
    fn plan_json(&self) -> Answer {
        Answer::Json(None)
    }
}

/// The answers for a test, in the order of the questions.
pub trait Answers: Sync {
    /// Returns the answers.
    fn all(&self) -> Vec<Answer>;
}

/// See [`Answers`].
pub struct AnswersOf<Q>(fn(Q) -> Vec<Answer>);

impl<Q> Asked<Q> {
    /// Combines the questions with the function that answers them.
    pub const fn answers(self, answers: fn(Q) -> Vec<Answer>) -> AnswersOf<Q> {
        AnswersOf(answers)
    }
}

impl<Q: Default> Answers for AnswersOf<Q> {
    fn all(&self) -> Vec<Answer> {
        (self.0)(Q::default())
    }
}

/// The largest number of an enum's variants that are compared with each other.
const MOST_VARIANTS: usize = 256;

/// A question about an enum `T`: the enum is closed if all its variants are strings in JSON, and each variant equals only itself. The code
/// compares actual values, since an enum may implement its own comparison.
pub struct ClosedEnum<T>(PhantomData<T>);

/// The answer for an enum whose values cannot be compared.
pub trait OpenEnum {
    /// Returns `false`.
    fn is_closed() -> bool {
        false
    }
}

impl<T> OpenEnum for ClosedEnum<T> {}

impl<T: Shape + PartialEq + Serialize + DeserializeOwned> ClosedEnum<T> {
    /// Returns `true` if the enum is closed.
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
