//! Plans on [Restate](https://restate.dev).
