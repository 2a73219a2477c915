//! Runs with a journal: their records.
//!
//! | file | contents |
//! |---|---|
//! | `calls.rs` | calls |
//! | `gates.rs` | answers of gates |
//! | `times.rs` | waits before attempts and rounds, time limits |
//! | `values.rs` | values from outside |
//! | `keys.rs` | the keys of records, decisions of Rust code, notes for `retry_failed` |
//! | `stops.rs` | the journal, and the ends of a run before its time |

mod calls;
mod gates;
mod keys;
mod stops;
mod times;
mod values;
