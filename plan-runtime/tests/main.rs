//! Runs, their records and displays, and the types that tools hand over.
//!
//! The name of this file matters: `proptest` keeps failures beside the folder that has a `main.rs`.

#[path = "../../tests/common/mod.rs"]
mod common;
#[cfg(all(feature = "dynamic", feature = "macros"))]
mod durable;
mod golden;
mod handing;
#[cfg(all(feature = "dynamic", feature = "html"))]
mod html;
mod journal;
mod mock;
#[cfg(feature = "progress")]
mod progress;
mod run;
#[cfg(all(
    feature = "dynamic",
    feature = "html",
    feature = "progress",
    feature = "tracing"
))]
mod secrets;
#[cfg(all(feature = "macros", feature = "sqlite"))]
mod serving;
mod shape;
mod tool;
#[cfg(feature = "dynamic")]
mod toolbox;
#[cfg(feature = "tracing")]
mod tracing;
#[cfg(all(feature = "jsonschema", feature = "macros"))]
mod validation;
