#![doc = include_str!("../README.md")]
mod asks;
mod batch;
mod failure;
mod journal;
mod line;
mod listener;
mod numbers;
mod options;
mod owned;
mod retry;
mod schema;
mod settings;
mod sql;
mod store;
mod store_sql;
mod tls;
mod watching;
mod worker;
mod writer;

pub use journal::Postgres;
pub use options::PostgresOptions;
#[cfg(feature = "rustls")]
pub use rustls;
