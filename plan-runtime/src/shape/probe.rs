//! Facts about a field's type that the tokens of the type do not show.
//!
//! Rust prefers an inherent item of a type over an item of a trait. So `Probe::<T>::IS_OPTION` is the constant of
//! `Probe<Option<_>>` for an `Option` with any name, and the constant of [`NotProbed`] otherwise.

use super::{Omitted, Shape, TypeShape};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// A probe of `T`.
pub struct Probe<T: ?Sized>(PhantomData<T>);

/// The default answers, for a type without inherent answers.
pub trait NotProbed {
    /// The probed type.
    type Subject: ?Sized;
    /// `true` for an `Option`.
    const IS_OPTION: bool = false;
    /// The value of an omitted field without a default.
    const OMITTED_OPTION: Omitted = Omitted::Required;
    /// The value of an omitted field with its type's default.
    const OMITTED_DEFAULT: Omitted = Omitted::Never;
    /// `true` for a type that implements `Serialize`.
    const IS_SERIALIZE: bool = false;
    /// `true` for a type that implements `Deserialize`.
    const IS_DESERIALIZE: bool = false;

    /// The type's own shape, if it has one.
    const WRITTEN: TypeShape = TypeShape::Opaque;

    /// `true` for a type that implements `Default`.
    const IS_DEFAULT: bool = false;

    /// Returns the default value, if the type has one.
    fn default_value() -> Option<Self::Subject>
    where
        Self::Subject: Sized,
    {
        None
    }

    /// Returns the JSON of a value, if it can be serialized.
    fn json(_: &Self::Subject) -> Value {
        Value::Null
    }

    /// Returns a marker for an `Option` that can be `Some` after its JSON was read.
    fn presence(&self) -> SometimesSome {
        unreachable!()
    }
}

/// An `Option` that is `None` once its JSON was read.
pub struct NeverSome;

/// Any other type.
pub struct SometimesSome;

/// Marks an `Option` that can be `Some`.
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
    /// A value for method calls.
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
