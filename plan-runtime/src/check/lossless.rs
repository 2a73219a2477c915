//! The types whose values JSON preserves, so that a run may hand over their values in Rust.
//!
//! The trick of [`Probe`](crate::shape::probe::Probe) finds these types: an unknown type has no inherent item, gets the item of a trait, and goes
//! through JSON.

use crate::failure::Failure;
use crate::resolve::{Arguments, CloneFn, HandOver, ResolveError, StoredValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use std::any::TypeId;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Bound, Range, RangeFrom, RangeTo};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// Types whose values are equal after a round trip through JSON, if JSON can represent them.
pub trait Lossless: 'static {
    /// Returns `true` if JSON preserves all parts of the values.
    fn is_lossless(_: &mut Seen) -> bool {
        true
    }

    /// Returns `true` if the JSON of some value is null.
    fn may_be_null(_: &mut Seen) -> bool {
        false
    }

    /// Returns `true` if the JSON needs no memory of its own, so that handing over saves nothing.
    fn is_small(_: &mut Seen) -> bool {
        false
    }
}

/// The visited types, since a type may contain itself.
#[derive(Debug, Default)]
pub struct Seen(Vec<TypeId>);

impl Seen {
    /// Marks this type as visited, and returns `true` at the first visit.
    pub fn is_new<T: 'static>(&mut self) -> bool {
        let id = TypeId::of::<T>();
        let is_new = !self.0.contains(&id);
        if is_new {
            self.0.push(id);
        }
        is_new
    }
}

macro_rules! lossless {
    ($([$($generics:tt)*] $ty:ty $(: $($inner:ty),+)?;)*) => {$(
        impl<$($generics)*> Lossless for $ty {
            fn is_lossless(_seen: &mut Seen) -> bool {
                true $($(&& <$inner as Lossless>::is_lossless(_seen))+)?
            }
        }
    )*};
}

macro_rules! small {
    ($($ty:ty),* $(,)?) => {$(
        impl Lossless for $ty {
            fn is_small(_: &mut Seen) -> bool {
                true
            }
        }
    )*};
}

small! {
    bool, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64,
    NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<u128>, NonZero<usize>,
    NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<i128>, NonZero<isize>,
}

/// Keys of maps that the names of members preserve.
pub trait LosslessKey: Lossless {}

macro_rules! keys {
    ($($ty:ty),* $(,)?) => {$(
        impl LosslessKey for $ty {}
    )*};
}

keys! {
    String, bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize,
}

lossless! {
    [] char; [] String; [] Cow<'static, str>; [] PathBuf; [] Duration; [] SystemTime;
    [] IpAddr; [] Ipv4Addr; [] Ipv6Addr; [] SocketAddrV4;
    [] Number; [] Map<String, Value>; [] Failure;
    [] Box<str>; [] Arc<str>;
    [T: Lossless] Vec<T>: T; [T: Lossless] VecDeque<T>: T; [T: Lossless] LinkedList<T>: T;
    [T: Lossless] BTreeSet<T>: T; [T: Lossless, S: 'static] HashSet<T, S>: T;
    [T: Lossless] Box<[T]>: T; [T: Lossless] Arc<[T]>: T;
    [K: LosslessKey, V: Lossless] BTreeMap<K, V>: V;
    [K: LosslessKey, V: Lossless, S: 'static] HashMap<K, V, S>: V;
    [T: Lossless, E: Lossless] Result<T, E>: T, E;
    [T: Lossless] Bound<T>: T; [T: Lossless] Range<T>: T;
    [T: Lossless] RangeFrom<T>: T; [T: Lossless] RangeTo<T>: T;
}

#[cfg(feature = "bytes")]
lossless! {
    [] bytes::Bytes; [] bytes::BytesMut;
}

/// Types with the JSON of the value inside them.
macro_rules! transparent {
    ($($ty:ty;)*) => {$(
        impl<T: Lossless> Lossless for $ty {
            fn is_lossless(seen: &mut Seen) -> bool {
                T::is_lossless(seen)
            }

            fn may_be_null(seen: &mut Seen) -> bool {
                T::may_be_null(seen)
            }

            fn is_small(seen: &mut Seen) -> bool {
                T::is_small(seen)
            }
        }
    )*};
}

transparent! {
    Box<T>; Arc<T>; Wrapping<T>; Saturating<T>; Reverse<T>;
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        lossless! { [$($name: Lossless),+] ($($name,)+): $($name),+; }
    )*};
}

tuples! {
    A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H;
    A B C D E F G H I; A B C D E F G H I J; A B C D E F G H I J K; A B C D E F G H I J K L;
}

macro_rules! arrays {
    ($($length:literal)*) => {
        // serde has arrays of up to 32 elements.
        lossless! { $([T: Lossless] [T; $length]: T;)* }
    };
}

arrays! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
}

macro_rules! null {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*> Lossless for $ty {
            fn may_be_null(_: &mut Seen) -> bool {
                true
            }

            fn is_small(_: &mut Seen) -> bool {
                true
            }
        }
    )*};
}

null! {
    [] ();
    [T: ?Sized + 'static] PhantomData<T>;
}

impl Lossless for Value {
    fn may_be_null(_: &mut Seen) -> bool {
        true
    }
}

// A `Some` whose value is null would be read as `None`.
impl<T: Lossless> Lossless for Option<T> {
    fn is_lossless(seen: &mut Seen) -> bool {
        T::is_lossless(seen) && !T::may_be_null(&mut Seen::default())
    }

    fn may_be_null(_: &mut Seen) -> bool {
        true
    }

    fn is_small(seen: &mut Seen) -> bool {
        T::is_small(seen)
    }
}

/// A cache for the answer to one question: `true` if a run hands over the values of a type.
pub type Known = OnceLock<bool>;

/// A question about `T`.
pub struct Hand<T>(PhantomData<T>);

impl<T> Hand<T> {
    /// The question about `T`.
    pub const NEW: Self = Self(PhantomData);
}

/// The default answers, for a type without inherent answers.
pub trait NotHandedOver {
    /// The type in question.
    type Subject;

    /// The function that clones a value, if the type has one.
    const CLONE: Option<CloneFn<Self::Subject>> = None;

    /// `true` for a collection or a string of the standard library whose default is empty.
    const IS_EMPTY_BY_DEFAULT: bool = false;

    /// See [`Lossless::is_small`].
    fn is_small(&self, _: &mut Seen) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Fails for a tool whose arguments cannot be read. Another check reports the error.
    ///
    /// # Errors
    ///
    /// Always returns an error.
    fn all(self, _: &Arguments<'_>) -> Result<Self::Subject, ResolveError>
    where
        Self: Sized,
        Self::Subject: Sized,
    {
        Err(ResolveError::new("the arguments cannot be read"))
    }

    /// Reads an argument of this type, for a tool with errors.
    ///
    /// # Errors
    ///
    /// Always returns an error.
    fn field(self, _: &Arguments<'_>, name: &str) -> Result<Self::Subject, ResolveError>
    where
        Self: Sized,
        Self::Subject: Sized,
    {
        Err(ResolveError::new(format!("`{name}` cannot be read")))
    }

    /// See [`Lossless::is_lossless`].
    fn is_lossless(&self, _: &mut Seen) -> bool
    where
        Self: Sized,
    {
        false
    }

    /// See [`Lossless::may_be_null`].
    fn may_be_null(self, _: &mut Seen) -> bool
    where
        Self: Sized,
    {
        true
    }

    /// Stores an input as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if JSON cannot represent the input.
    fn input(
        self,
        name: &str,
        value: Self::Subject,
        _: Option<CloneFn<Self::Subject>>,
    ) -> Result<StoredValue, ResolveError>
    where
        Self: Sized,
        Self::Subject: Serialize + Sized,
    {
        StoredValue::of(&value).map_err(|error| error.of_input(name))
    }

    /// Returns the functions that hand over the values.
    fn over(self, _: &Known, _: Option<CloneFn<Self::Subject>>) -> Option<HandOver<Self::Subject>>
    where
        Self: Sized,
    {
        None
    }
}

impl<T> NotHandedOver for Hand<T> {
    type Subject = T;
}

macro_rules! empty_by_default {
    ($([$($generics:ident),*] $ty:ty;)*) => {$(
        impl<$($generics),*> Hand<$ty> {
            /// See [`NotHandedOver::IS_EMPTY_BY_DEFAULT`].
            pub const IS_EMPTY_BY_DEFAULT: bool = true;
        }
    )*};
}

empty_by_default! {
    [] String; [T] Vec<T>; [T] VecDeque<T>; [T] BTreeSet<T>; [K, V] BTreeMap<K, V>;
    [T, S] HashSet<T, S>; [K, V, S] HashMap<K, V, S>;
}

impl<T: Clone> Hand<T> {
    /// See [`NotHandedOver::CLONE`].
    pub const CLONE: Option<CloneFn<T>> = Some(T::clone);
}

impl<T: DeserializeOwned + 'static> Hand<T> {
    /// Reads all arguments of a tool with a derived `Deserialize`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](crate::resolve::resolve()).
    #[inline]
    pub fn all(self, arguments: &Arguments<'_>) -> Result<T, ResolveError> {
        arguments.read_fields()
    }

    /// Reads an argument of this type.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](crate::resolve::resolve()).
    pub fn field(self, arguments: &Arguments<'_>, name: &str) -> Result<T, ResolveError> {
        arguments.field(name)
    }
}

impl<T: Lossless> Hand<T> {
    /// See [`Lossless::is_small`].
    pub fn is_small(&self, seen: &mut Seen) -> bool {
        T::is_small(seen)
    }

    /// See [`Lossless::is_lossless`].
    pub fn is_lossless(&self, seen: &mut Seen) -> bool {
        T::is_lossless(seen)
    }

    /// See [`Lossless::may_be_null`].
    pub fn may_be_null(self, seen: &mut Seen) -> bool {
        T::may_be_null(seen)
    }
}

impl<T: Lossless + Serialize + Send + Sync> Hand<T> {
    /// Stores an input, which may be handed over.
    ///
    /// # Errors
    ///
    /// Returns an error if JSON cannot represent the input.
    pub fn input(
        self,
        name: &str,
        value: T,
        clone: Option<CloneFn<T>>,
    ) -> Result<StoredValue, ResolveError> {
        let hand_over = self.over(&Known::new(), clone);
        StoredValue::input(value, hand_over).map_err(|error| error.of_input(name))
    }

    /// Returns the functions that hand over the values. The question if JSON preserves them is answered once.
    pub fn over(self, known: &Known, clone: Option<CloneFn<T>>) -> Option<HandOver<T>> {
        let is_handed_over =
            || !T::is_small(&mut Seen::default()) && T::is_lossless(&mut Seen::default());
        let may_be_null = || T::may_be_null(&mut Seen::default());
        (*known.get_or_init(is_handed_over)).then(|| HandOver::new(clone, may_be_null()))
    }
}
