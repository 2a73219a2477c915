//! Plans, outputs and servers that mean harm: none of them runs code, ends the process, or hides what happens.

#[cfg(feature = "rust")]
mod changed;
#[cfg(feature = "rust")]
mod code;
mod dialects;
mod lies;
mod limits;
mod printed;
mod runs;
mod schemas;
mod variables;
