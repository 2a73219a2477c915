//! No text of a plan becomes code.

mod deep;
mod docs;
mod expected;
mod generated;
mod places;
mod written;
