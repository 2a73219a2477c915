//! Expansions of plans with errors, and of plans written by the runtime.

mod named;
mod recovery;
mod written;
