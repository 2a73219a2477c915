//! Runs in another process, with their inspection and control from outside.

mod changed;
mod control;
mod delayed;
mod early;
mod encrypted;
mod held;
mod many;
mod masked;
mod questions;
mod recorded;
mod retried;
mod retried_random;
mod serve;
mod support;
mod undo_asked;
