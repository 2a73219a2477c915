//! Tests that every [`Journal`](super::Journal) has to pass.
