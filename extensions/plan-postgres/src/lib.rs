#![doc = include_str!("../README.md")]
mod asks;
mod batch;
mod failure;
mod journal;
mod line;
mod listener;
mod options;
mod owned;
mod schema;
mod settings;
mod sql;
mod tls;
mod watching;
mod worker;
mod writer;

pub use journal::Postgres;
pub use options::PostgresOptions;
#[cfg(feature = "rustls")]
pub use rustls;
