//! Expansions of plans with errors, and of plans written by the runtime.

mod any_name;
mod fragments;
mod named;
mod recovery;
mod written;
