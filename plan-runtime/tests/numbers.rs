//! The tests of plan JSON, in a program of their own: `.ci/run` runs them with numbers of any precision, which compiles the library anew.

#[path = "plans/json.rs"]
mod json;
mod support;
