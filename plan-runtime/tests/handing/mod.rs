//! Values that are handed over from tool to tool, instead of their JSON: that nothing is copied, and that it makes no difference.

mod limits;
mod moved;
mod random;
mod rule;
mod types;
