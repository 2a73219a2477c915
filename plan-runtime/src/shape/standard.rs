//! Shapes of the standard library's types, and of serde_json's.

use super::{Field, FieldPlace, Omitted, Shape, Tagging, TypeShape, Variant};
use crate::failure::Failure;
use serde_json::{Map, Number, Value};
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
use std::sync::atomic;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime};

const INNER: &[Field] = &[Field::new("0", FieldPlace::Inner)];

// Hidden, since the list of all these types would bury a message about a missing `Shape`.
macro_rules! shape {
    ($($({$($generics:tt)*})? $ty:ty => $shape:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $(<$($generics)*>)? Shape for $ty {
            const SHAPE: TypeShape = $shape;
        }
    )*};
}

macro_rules! opaque {
    ($($({$($generics:tt)*})? $ty:ty,)*) => {
        shape! { $($({$($generics)*})? $ty => TypeShape::Opaque;)* }
    };
}

macro_rules! tuple {
    ($($name:ident $index:literal)+) => {
        shape! {
            {$($name),+} ($($name,)+) => TypeShape::Struct(&[
                $(Field::new(stringify!($index), FieldPlace::Index($index))),+
            ]);
        }
    };
}

opaque! {
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
    {T: ?Sized} Cell<T>, {T: ?Sized} RefCell<T>, {T: ?Sized} Mutex<T>, {T: ?Sized} RwLock<T>,
    {T} Option<T>,
    {T} [T], {T, const N: usize} [T; N],
    {T} Vec<T>, {T} VecDeque<T>, {T} LinkedList<T>, {T} BinaryHeap<T>,
    {T} BTreeSet<T>, {T, S} HashSet<T, S>,
    {K, V} BTreeMap<K, V>, {K, V, S} HashMap<K, V, S>,
    {T} RangeInclusive<T>,
    Value, Number, Map<String, Value>,
}

#[cfg(feature = "bytes")]
opaque! {
    bytes::Bytes, bytes::BytesMut,
}

shape! {
    {T: Shape + ?Sized} &T => T::SHAPE;
    {T: Shape + ?Sized} Box<T> => T::SHAPE;
    {T: Shape + ?Sized} Arc<T> => T::SHAPE;
    {T: Shape + ?Sized} Rc<T> => T::SHAPE;
    {T: Shape + ToOwned + ?Sized} Cow<'_, T> => T::SHAPE;

    {T} Wrapping<T> => TypeShape::Struct(INNER);
    {T} Saturating<T> => TypeShape::Struct(INNER);
    {T} Reverse<T> => TypeShape::Struct(INNER);
    {T} Range<T> => TypeShape::Struct(&[
        Field::new("start", FieldPlace::Key("start")),
        Field::new("end", FieldPlace::Key("end")),
    ]);
    {T} RangeFrom<T> => TypeShape::Struct(&[Field::new("start", FieldPlace::Key("start"))]);
    {T} RangeTo<T> => TypeShape::Struct(&[Field::new("end", FieldPlace::Key("end"))]);

    {T} Bound<T> => TypeShape::Enum(Tagging::External, &[
        Variant::new("Unbounded", Ok("Unbounded"), &[]),
        Variant::new("Included", Ok("Included"), INNER),
        Variant::new("Excluded", Ok("Excluded"), INNER),
    ]);
    Failure => TypeShape::Struct(&[
        Field::new("step", FieldPlace::Key("step")),
        Field::new("code", FieldPlace::Key("code")),
        Field::new("message", FieldPlace::Key("message")),
        Field::new("transient", FieldPlace::Key("transient")),
        Field::new("attempts", FieldPlace::Key("attempts")),
        Field::new("expression", FieldPlace::Key("expression"))
            .required(false)
            .omitted(Omitted::Null),
    ]);
    {T, E} Result<T, E> => TypeShape::Enum(Tagging::External, &[
        Variant::new("Ok", Ok("Ok"), INNER),
        Variant::new("Err", Ok("Err"), INNER),
    ]);
}

each_tuple!(tuple);
