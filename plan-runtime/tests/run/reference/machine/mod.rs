//! The machine and the model agree after each event.
//!
//! | file | contents |
//! |---|---|
//! | `described.rs` | the plans of the model in the form that the machine has |
//! | `hand.rs` | a machine whose driver does only what a test wants |
//! | `exhaustive.rs` | all small plans, with a crash in each state |
//! | `random.rs` | random plans that are larger |
//! | `driver.rs` | a driver for the parts of the machine that the model does not have |
//! | `chains.rs` | steps that many failed steps block |
//! | `chaos.rs` | random plans with every attribute, and random events |
//! | `limits.rs` | runs that need more than they may have |
//! | `orders.rs` | orders of events that once went wrong |
//! | `times.rs` | attempts, time limits, pauses and bounds |
//! | `rows.rs` | questions, permits and rows of tables |

mod chains;
mod chaos;
mod described;
mod driver;
mod exhaustive;
mod hand;
mod limits;
mod orders;
mod random;
mod rows;
mod times;
