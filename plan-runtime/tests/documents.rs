//! Plans as data, and documents: reading, checks, writing, diagrams, and hostile documents.

#[path = "../../tests/common/mod.rs"]
mod common;
mod support;

#[cfg(feature = "dynamic")]
mod checks;
#[cfg(all(feature = "dynamic", feature = "macros"))]
mod findings;
#[cfg(feature = "dynamic")]
mod hostile;
#[cfg(feature = "dynamic")]
mod inert;
mod pictures;
#[cfg(feature = "dynamic")]
mod plans;
#[cfg(all(feature = "dynamic", feature = "macros"))]
mod reading;
#[cfg(feature = "diagnostics")]
mod render;
mod resolving;
#[cfg(all(feature = "dynamic", feature = "macros"))]
mod schema;
#[cfg(all(feature = "diagnostics", feature = "terminal"))]
mod terminal;
#[cfg(feature = "dynamic")]
mod writing;
