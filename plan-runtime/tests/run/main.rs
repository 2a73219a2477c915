//! Running plans, with plans and start functions written by hand in the form that `plan!` gives them.

mod cancelling;
mod errors;
mod failing;
mod generated;
mod model;
mod nesting;
mod outputs;
mod runtimes;
mod starting;
mod support;
