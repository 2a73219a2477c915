//! Plans on [Restate](https://restate.dev).

mod serve;

pub use serve::serve;
