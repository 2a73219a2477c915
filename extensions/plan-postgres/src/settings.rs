//! The options of a journal, as its connections need them.

use super::failure::Place;
use super::tls::Tls;
use std::time::Duration;
use tokio_postgres::Config;

/// The options and the parsed configuration of a journal.
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) place: Place,
    pub(crate) schema: String,
    pub(crate) lease: Duration,
    pub(crate) patience: Duration,
    /// The most open transactions.
    pub(crate) transactions: usize,
    pub(crate) tls: Tls,
}
