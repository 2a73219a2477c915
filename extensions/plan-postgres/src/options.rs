use super::failure::{Failure, Place, words};
use super::journal::Postgres;
use super::numbers::LONGEST;
use super::settings::Settings;
use super::tls::Tls;
use super::worker;
use plan_runtime::journal::JournalError;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::Config;

/// The longest name of a schema, in bytes. A Postgres name has at most 63 bytes, and the name of the channel is longer than the
/// name of its schema.
const LONGEST_SCHEMA: usize = 48;

/// The shortest lease. A busy machine cannot renew a shorter lease in time.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The longest TCP timeout. The operating system stores the milliseconds in 31 bits.
const LONGEST_TCP_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// The options of a [`Postgres`].
///
/// ```no_run
/// use plan_postgres::PostgresOptions;
/// use std::time::Duration;
///
/// # async fn connect() -> Result<(), plan_runtime::journal::JournalError> {
/// let db = PostgresOptions::new()
///     .schema("orders")
///     .lease(Duration::from_secs(10))
///     .connect("postgresql://shop@db.internal/shop")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PostgresOptions {
    schema: String,
    lease: Duration,
    patience: Duration,
    transactions: usize,
    #[cfg(feature = "rustls")]
    tls: Option<rustls::ClientConfig>,
}

impl PostgresOptions {
    /// Returns the defaults: the schema `plan`, a lease of 30 seconds, a patience of 30 seconds, and 16 transactions.
    pub fn new() -> Self {
        Self {
            schema: "plan".to_owned(),
            lease: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            transactions: 16,
            #[cfg(feature = "rustls")]
            tls: None,
        }
    }

    /// Sets the schema of all tables. The connection creates a missing schema.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Sets the lease, which is the time after which another process may claim the runs of a killed process. A living process renews its lease three times in
    /// this time.
    ///
    /// The minimum is one second. All processes of a database should have equal leases.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.clamp(SHORTEST_LEASE, LONGEST);
        self
    }

    /// Sets the time limit for repetitions of a statement after a lost connection. At the limit, the statement fails, and each run with a write in
    /// this statement fails as well.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience.min(LONGEST);
        self
    }

    /// Sets the most [transactions](Postgres::transaction) that may be open at a time. Further calls wait. The minimum is 1. Each open transaction
    /// uses a connection.
    pub fn max_transactions(mut self, transactions: usize) -> Self {
        self.transactions = transactions.max(1);
        self
    }

    /// Sets the TLS configuration, for example with your own root certificates. By default, the journal trusts the operating system's
    /// certificates.
    #[cfg(feature = "rustls")]
    pub fn rustls(mut self, config: rustls::ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Connects to a database, and creates missing tables.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the configuration is invalid, if the database cannot be reached, or if a newer version of this crate has
    /// changed the tables.
    pub async fn connect(self, config: &str) -> Result<Postgres, JournalError> {
        let settings = self.settings(config)?;
        worker::start(settings).await
    }

    fn settings(self, config: &str) -> Result<Settings, JournalError> {
        // The error message omits the configuration, which may contain a password.
        let mut config = Config::from_str(config).map_err(|error| {
            let why = words(&error);
            JournalError::storage(format!("the configuration of Postgres is invalid: {why}"))
        })?;
        let place = Place::new(&config);
        let is_name = (1..=LONGEST_SCHEMA).contains(&self.schema.len());
        if !is_name || self.schema.contains('\0') {
            let why = format!("a schema's name has 1 to {LONGEST_SCHEMA} bytes, and no NUL");
            return Err(Failure::new(&place, "cannot use the schema", why).into());
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(self.patience.max(Duration::from_secs(1)));
        }
        if config.get_tcp_user_timeout().is_none() {
            let timeout = self.patience.max(Duration::from_secs(1));
            config.tcp_user_timeout(timeout.min(LONGEST_TCP_TIMEOUT));
        }
        #[cfg(feature = "rustls")]
        let tls = Tls::new(self.tls, &config)
            .map_err(|why| Failure::new(&place, "cannot use TLS", why))?;
        #[cfg(not(feature = "rustls"))]
        let tls = Tls::new(&config).map_err(|why| Failure::new(&place, "cannot use TLS", why))?;
        Ok(Settings {
            config,
            place,
            schema: self.schema,
            lease: self.lease,
            patience: self.patience,
            transactions: self.transactions.min(tokio::sync::Semaphore::MAX_PERMITS),
            tls,
        })
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl Postgres {
    /// Connects to a database, and creates missing tables. The configuration has a format of [`tokio_postgres::Config`]: a URL such as
    /// `postgresql://user:password@host/database`, or pairs such as `host=/run/postgresql dbname=shop`.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Storage`] if the configuration is invalid, if the database cannot be reached, or if a newer version of this crate has
    /// changed the tables.
    pub async fn connect(config: &str) -> Result<Self, JournalError> {
        PostgresOptions::new().connect(config).await
    }
}
