//! Malicious plans, outputs and servers: they cannot run code, end the process, or hide events.

mod dialects;
mod lies;
mod limits;
mod printed;
mod runs;
mod schemas;
mod variables;
