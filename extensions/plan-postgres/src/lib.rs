#![doc = include_str!("../README.md")]
mod asks;
mod batch;
mod calls;
mod commit;
mod ends;
mod failure;
mod journal;
mod line;
mod listener;
mod numbers;
mod options;
mod owned;
mod pool;
mod retry;
mod schema;
mod settings;
mod sql;
mod store;
mod store_sql;
mod tls;
mod transaction;
mod watching;
mod worker;
mod writer;

pub use journal::Postgres;
pub use options::PostgresOptions;
#[cfg(feature = "rustls")]
pub use rustls;
pub use tokio_postgres;
pub use transaction::{Transaction, TransactionError};
