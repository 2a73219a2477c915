//! Values arrive as they are: whatever text is in an output, it is never read as anything but text.

mod dialects;
mod language;
mod resolver;
#[path = "../../../tests/language/support.rs"]
mod tools;
