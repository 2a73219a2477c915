//! Expansions of plans with errors, and of plans written by the runtime.

mod recovery;
mod written;
