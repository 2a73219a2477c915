//! Expansions of plans with errors, and of plans written by the runtime.

mod fragments;
mod named;
mod recovery;
mod written;
