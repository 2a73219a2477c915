//! The types inside of the standard library's types.

use super::inside::{Cons, HasParts, Known, Name, Searchable, TypeTree};
use crate::failure::Failure;
use serde_json::{Map, Number, Value};
use std::any::type_name;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock, atomic};
use std::time::{Duration, SystemTime};

macro_rules! without_parts {
    ($($({$($generics:tt)*})? $ty:ty,)*) => {$(
        #[doc(hidden)]
        impl $(<$($generics)*>)? Searchable for $ty {
            const TREE: TypeTree = TypeTree::new::<Self>(&[Known::Members(&[])]);
        }
    )*};
}

macro_rules! cons {
    ($rest:ident;) => { $rest };
    ($rest:ident; $first:ty $(, $next:ty)*) => { Cons<$first, cons!($rest; $($next),*)> };
}

macro_rules! parts {
    ($({$($generics:tt)*} $ty:ty: $($part:ty),+ => $known:expr;)*) => {$(
        impl<$($generics)*> HasParts for $ty {
            type Parts<Rest> = cons!(Rest; $($part),+);
            const ALONE: TypeTree = TypeTree::new::<Self>(&[$known]);
        }

        impl<$($generics)*> Searchable for $ty
        where
            $($part: Searchable),+
        {
            const TREE: TypeTree = Self::ALONE.with(&[$(&<$part>::TREE),+]);
        }
    )*};
}

/// The members, by their names in JSON.
macro_rules! members {
    ($($name:literal: $ty:ty),+) => {
        Known::Members(&[$((concat!($name), type_name::<$ty> as Name)),+])
    };
}

macro_rules! tuple {
    ($($name:ident $index:literal)+) => {
        parts! {
            {$($name),+} ($($name,)+): $($name),+ => members![$($index: $name),+];
        }
    };
}

const fn is<T: ?Sized>() -> Known {
    Known::Is(0, type_name::<T>)
}

const fn list<T>() -> Known {
    Known::Is(1, type_name::<T>)
}

const fn map<K, V>() -> Known {
    Known::Map(type_name::<K>, type_name::<V>)
}

without_parts! {
    (), bool, char, str, String, f32, f64,
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize,
    NonZero<u8>, NonZero<u16>, NonZero<u32>, NonZero<u64>, NonZero<u128>, NonZero<usize>,
    NonZero<i8>, NonZero<i16>, NonZero<i32>, NonZero<i64>, NonZero<i128>, NonZero<isize>,
    atomic::AtomicBool,
    atomic::AtomicU8, atomic::AtomicU16, atomic::AtomicU32, atomic::AtomicU64, atomic::AtomicUsize,
    atomic::AtomicI8, atomic::AtomicI16, atomic::AtomicI32, atomic::AtomicI64, atomic::AtomicIsize,
    Path, PathBuf, Duration, SystemTime,
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6,
    {T: ?Sized} PhantomData<T>,
    Value, Number, Map<String, Value>, Failure,
}

#[cfg(feature = "bytes")]
without_parts! {
    bytes::Bytes, bytes::BytesMut,
}

parts! {
    {T: ?Sized} &T: T => is::<T>();
    {T: ?Sized} Box<T>: T => is::<T>();
    {T: ?Sized} Rc<T>: T => is::<T>();
    {T: ?Sized} Arc<T>: T => is::<T>();
    {T: ?Sized} Cell<T>: T => is::<T>();
    {T: ?Sized} RefCell<T>: T => is::<T>();
    {T: ?Sized} Mutex<T>: T => is::<T>();
    {T: ?Sized} RwLock<T>: T => is::<T>();
    {T: ToOwned + ?Sized} Cow<'_, T>: T => is::<T>();
    {T} Option<T>: T => is::<T>();
    {T} Wrapping<T>: T => is::<T>();
    {T} Saturating<T>: T => is::<T>();
    {T} Reverse<T>: T => is::<T>();

    {T} [T]: T => list::<T>();
    {T, const N: usize} [T; N]: T => list::<T>();
    {T} Vec<T>: T => list::<T>();
    {T} VecDeque<T>: T => list::<T>();
    {T} LinkedList<T>: T => list::<T>();
    {T} BinaryHeap<T>: T => list::<T>();
    {T} BTreeSet<T>: T => list::<T>();
    {T, S} HashSet<T, S>: T => list::<T>();

    {K, V} BTreeMap<K, V>: K, V => map::<K, V>();
    {K, V, S} HashMap<K, V, S>: K, V => map::<K, V>();

    {T} Range<T>: T => members!["start": T, "end": T];
    {T} RangeInclusive<T>: T => members!["start": T, "end": T];
    {T} RangeFrom<T>: T => members!["start": T];
    {T} RangeTo<T>: T => members!["end": T];
    {T} Bound<T>: T => members!["Included": T, "Excluded": T];
    {T, E} Result<T, E>: T, E => members!["Ok": T, "Err": E];
}

each_tuple!(tuple);
