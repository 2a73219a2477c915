//! No text of a plan becomes code.
