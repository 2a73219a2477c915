//! Bounds on the calls of runs.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | patterns for names of tools: a name, or the beginning of names with a trailing `*` |
//! | `throttle.rs` | limits that several runs share |
//! | `permits.rs` | the number of concurrent calls of a run |
//!
//! `run/drive/admission/` decides which call starts. `run/context/` contains gates, and the counters for `Limits`.

mod permits;
mod throttle;

pub(super) use permits::{Applicant, Permits};
pub use throttle::Throttle;
pub(super) use throttle::{LONGEST_CLOSED, Turn};

/// Returns `true` if a pattern matches the name of a tool.
fn means(name: &str, tool: &str) -> bool {
    match name.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == name,
    }
}

/// Returns `true` if any pattern matches the name of a tool.
pub(crate) fn allows<N: AsRef<str>>(names: &[N], tool: &str) -> bool {
    names.iter().any(|name| means(name.as_ref(), tool))
}
