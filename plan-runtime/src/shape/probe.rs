//! Facts about a field's type that the tokens of the type do not tell.
//!
//! Rust prefers what a type has itself over what a trait gives it, so `Probe::<T>::IS_OPTION` is the constant of
//! `Probe<Option<_>>` where `T` is an `Option`, under whatever name, and that of [`NotProbed`] otherwise.

use super::{Omitted, Shape, TypeShape};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// Asks about `T`.
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// The answers where `T` has nothing special about it.
pub trait NotProbed {
    /// What is asked about.
    type Subject: ?Sized;
    /// Whether it is an `Option`.
    const IS_OPTION: bool = false;
    /// Its value if it was left out and has no default.
    const OMITTED_OPTION: Omitted = Omitted::Required;
    /// Its value if it was left out and has its type's default.
    const OMITTED_DEFAULT: Omitted = Omitted::Never;
    /// Whether it has a JSON.
    const IS_SERIALIZE: bool = false;
    /// Whether it is read from JSON.
    const IS_DESERIALIZE: bool = false;

    /// What it says of its fields, if anything.
    const WRITTEN: TypeShape = TypeShape::Opaque;

    /// Whether it has a default.
    const IS_DEFAULT: bool = false;

    /// Its default, if it has one.
    fn default_value() -> Option<Self::Subject>
    where
        Self::Subject: Sized,
    {
        None
    }

    /// Its JSON, if it has one.
    fn json(_: &Self::Subject) -> Value {
        Value::Null
    }

    /// Whether an `Option` can be `Some` once its JSON was read.
    fn presence(&self) -> SometimesSome {
        unreachable!()
    }
}

/// An `Option` that is `None` once its JSON was read.
pub struct NeverSome;

/// Any other type.
pub struct SometimesSome;

/// Says that an `Option` can be `Some`.
#[diagnostic::on_unimplemented(
    message = "this is `None` whether or not the tool was called: the tool gives `()`, whose JSON is null, as that of an absent value",
    label = "always `None`",
    note = "let the tool give something, such as `true`"
)]
pub trait EverSome: Sized {
    /// Accepts it.
    fn check(self) {}
}

impl EverSome for SometimesSome {}

impl<T: ?Sized> NotProbed for Probe<T> {
    type Subject = T;
}

impl<T> Probe<Option<T>> {
    /// See [`NotProbed::IS_OPTION`].
    pub const IS_OPTION: bool = true;
    /// See [`NotProbed::OMITTED_OPTION`].
    pub const OMITTED_OPTION: Omitted = Omitted::Null;
}

impl<T: ?Sized> Probe<T> {
    /// What asks.
    pub const NEW: Self = Self(PhantomData);
}

impl Probe<Option<()>> {
    /// See [`NotProbed::presence`].
    pub fn presence(&self) -> NeverSome {
        unreachable!()
    }
}

impl<T: Shape> Probe<T> {
    /// See [`NotProbed::WRITTEN`].
    pub const WRITTEN: TypeShape = T::SHAPE;
}

impl<T: Default> Probe<T> {
    /// See [`NotProbed::IS_DEFAULT`].
    pub const IS_DEFAULT: bool = true;

    /// See [`NotProbed::default_value`].
    pub fn default_value() -> Option<T> {
        Some(T::default())
    }
}

impl<T: Default + Serialize> Probe<T> {
    /// See [`NotProbed::OMITTED_DEFAULT`].
    pub const OMITTED_DEFAULT: Omitted = Omitted::Default(|| Self::json(&T::default()));
}

impl<T: DeserializeOwned> Probe<T> {
    /// See [`NotProbed::IS_DESERIALIZE`].
    pub const IS_DESERIALIZE: bool = true;
}

impl<T: Serialize + ?Sized> Probe<T> {
    /// See [`NotProbed::IS_SERIALIZE`].
    pub const IS_SERIALIZE: bool = true;

    /// See [`NotProbed::json`].
    pub fn json(value: &T) -> Value {
        serde_json::to_value(value).unwrap_or_default()
    }
}
