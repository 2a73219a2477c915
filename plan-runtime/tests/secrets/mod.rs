//! Values that nobody is to see: in which parts of a plan they are, and that reports, errors and events do not show them.

mod bounded;
mod events;
mod flow;
mod generics;
mod inside;
mod shown;
mod types;
