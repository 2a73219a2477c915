//! A model of runs, which is written from the description of the language and not from the code; and tests that runs do the same.
//!
//! | | |
//! |---|---|
//! | `tree.rs` | plans as trees |
//! | `model.rs`, `scope.rs`, `job.rs`, `failed.rs`, `keys.rs` | the model |
//! | `hand.rs` | a run under the control of the test |
//! | `play.rs` | all possible events, in every order |
//! | `shapes.rs`, `exhaustive.rs` | all small plans |
//! | `undos.rs` | plans whose elements have undo steps, where each call fails in each combination |
//! | `random.rs` | random plans that are larger |
//! | `bounded.rs` | random plans whose runs make few calls at one time |
//! | `machine/` | the machine, which goes the same ways |
//! | `cut_off.rs` | single runs that once went wrong |
//!
//! The model has no times, so that attempts follow each other without a wait and steps have no time limits; no bound on concurrent calls; and no
//! values that steps read from each other. `faults.rs`, `endings.rs` and `blocks_undone.rs` cover these.

mod bounded;
mod cut_off;
mod exhaustive;
mod failed;
mod hand;
mod job;
mod keys;
mod machine;
mod model;
mod play;
mod random;
mod scope;
mod shapes;
mod tree;
mod undos;
