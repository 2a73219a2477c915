//! A model of runs, which is written from the description of the language and not from the scheduler; and tests that runs do the same.
//!
//! | | |
//! |---|---|
//! | `tree.rs` | plans as trees |
//! | `model.rs`, `scope.rs`, `job.rs` | the model |
//! | `hand.rs` | a run in which nothing happens but what the test does |
//! | `play.rs` | all that may happen, in every order |
//! | `shapes.rs` | the plans of a size |

mod cut_off;
mod exhaustive;
mod hand;
mod job;
mod model;
mod play;
mod random;
mod scope;
mod shapes;
mod tree;
