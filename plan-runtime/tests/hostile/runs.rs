//! Runs that never end, grow without a bound, or panic.
