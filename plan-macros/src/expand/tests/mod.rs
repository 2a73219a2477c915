//! The expansions of plans with mistakes, and of plans that the runtime writes.

mod recovery;
mod written;
