//! What is known of a type whose fields `#[shape(remote = …)]` declares.
//!
//! The answer is a method that takes the question by value: the compiler looks for it after that of a type with a `Shape`, which the question has
//! itself, and before the one where nothing is known, which takes the question by reference. What is inside of the type is asked in the same way, in `shape/inside.rs`.

use super::closed::{Answer, OfFields};
use super::cursor::HasShape;

/// A field of a type of another crate, if it has the type that is declared for it.
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

/// Which fields the type has, for a test.
pub trait FieldsElsewhere<By> {
    /// The fields.
    fn of_fields(self) -> Answer;
}

impl<T: HasShape<By>, By> FieldsElsewhere<By> for OfFields<T> {
    fn of_fields(self) -> Answer {
        Answer::Shape(T::SHAPE)
    }
}
