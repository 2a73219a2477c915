//! Facts about a type whose fields `#[shape(remote = …)]` declares.
//!
//! Each fact is the result of a method, whose receiver is a marker type such as [`OfFields`]. rustc prefers the inherent method, which exists for
//! types with a `Shape`, over the methods here. The method for unknown types takes the marker by reference, so rustc tries this method last.
//! `shape/inside.rs` uses the method `step` to find the types of the fields.

use super::closed::{Answer, OfFields};
use super::cursor::HasShape;
use super::segment::fail;
use crate::shape::inside::{Cons, Known, Of, OfDeclared, Types};
use std::any::type_name;
use std::marker::PhantomData;

/// The type of a field in another crate, if the type equals the declared one.
#[diagnostic::on_unimplemented(
    message = "this field of the `remote` type has the type `{Self}`, not `{Declared}`",
    label = "write `{Self}`"
)]
pub trait IsOfType<Declared: ?Sized> {
    /// Takes the field.
    fn declared(&self) {}
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized> IsOfType<T> for T {}

/// A type whose fields `#[shape(remote = …)]` declares.
pub trait StepDeclared<By> {
    /// The rest of the list.
    type Rest;
    /// Records the declaration.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: HasShape<By>, R, By> StepDeclared<By> for OfDeclared<Cons<T, R>> {
    type Rest = R;
    fn step(&self, types: &mut Types) -> Of<R> {
        types.note_one(type_name::<T>, Known::Declared(T::SHAPE));
        Of::NEW
    }
}

/// The fields of the type, for a test.
pub trait FieldsElsewhere<By> {
    /// Returns the fields.
    fn of_fields(self) -> Answer;
}

impl<T: HasShape<By>, By> FieldsElsewhere<By> for OfFields<T> {
    fn of_fields(self) -> Answer {
        Answer::Shape(T::SHAPE)
    }
}

/// Two types.
#[allow(missing_debug_implementations)]
pub struct Pair<A: ?Sized, B: ?Sized>(PhantomData<A>, PhantomData<B>);

/// The answer for two different types.
pub trait NotOne {
    /// `true` if both types are one type.
    const IS_ONE: bool = false;
}

impl<A: ?Sized, B: ?Sized> NotOne for Pair<A, B> {}

impl<T: ?Sized> Pair<T, T> {
    /// See [`NotOne::IS_ONE`].
    pub const IS_ONE: bool = true;
}

/// Checks that a struct does not declare its own shape as another type's.
#[track_caller]
pub const fn not_itself(is_itself: bool) {
    if is_itself {
        fail(&[
            "`remote` names the struct itself, which can derive `Shape`\nhelp: remove `remote = …`; it is for a type of another crate",
        ])
    }
}

/// Checks that a struct that declares the shape of another type has no serde traits of its own.
#[track_caller]
pub const fn without_serde(ident: &'static str, has_serde: bool) {
    if has_serde {
        fail(&[
            "`",
            ident,
            "` only describes the fields of another type, so it cannot derive `Serialize` and `Deserialize`\nhelp: remove `Serialize` and `Deserialize`; for a type with values, remove `#[shape(remote = …)]`",
        ])
    }
}
