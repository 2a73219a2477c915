//! Strings of a plan never become code.

mod deep;
mod docs;
mod expected;
mod generated;
mod places;
mod written;
