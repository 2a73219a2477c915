//! Values arrive unchanged: a string in an output is never interpreted.

mod dialects;
mod language;
mod resolver;
#[path = "../../../tests/language/support.rs"]
mod tools;
