//! Encrypted connections.

use std::future::Future;
use std::pin::Pin;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Connection, Error, NoTls};

/// A connection with a stream of any type.
pub(crate) trait Driven {
    fn poll_message(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<tokio_postgres::AsyncMessage, Error>>>;
}

impl<S, T> Driven for Connection<S, T>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    fn poll_message(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<tokio_postgres::AsyncMessage, Error>>> {
        Self::poll_message(self, cx)
    }
}

type Opened<'a> = Pin<Box<dyn Future<Output = Result<(Client, Box<dyn Driven>), Error>> + 'a>>;

/// The encryption of the connections.
pub(crate) enum Tls {
    None,
    #[cfg(feature = "rustls")]
    Rustls(tokio_postgres_rustls::MakeRustlsConnect),
}

impl Tls {
    #[cfg(not(feature = "rustls"))]
    pub(crate) fn new(config: &Config) -> Result<Self, String> {
        match config.get_ssl_mode() {
            SslMode::Disable | SslMode::Prefer => Ok(Self::None),
            _ => Err("`sslmode` requires the feature `rustls` of plan-postgres".to_owned()),
        }
    }

    #[cfg(feature = "rustls")]
    pub(crate) fn new(tls: Option<rustls::ClientConfig>, config: &Config) -> Result<Self, String> {
        use rustls::crypto::ring;
        use std::sync::Arc;

        if let Some(tls) = tls {
            return Ok(Self::Rustls(tokio_postgres_rustls::MakeRustlsConnect::new(
                tls,
            )));
        }
        if matches!(config.get_ssl_mode(), SslMode::Disable) {
            return Ok(Self::None);
        }
        let mut roots = rustls::RootCertStore::empty();
        let loaded = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(loaded.certs);
        if roots.is_empty() {
            return match (config.get_ssl_mode(), loaded.errors.first()) {
                (SslMode::Prefer, _) => Ok(Self::None),
                (_, Some(error)) => {
                    Err(format!("the system's certificates cannot be read: {error}"))
                }
                (_, None) => Err("the system has no root certificates".to_owned()),
            };
        }
        // A process with several cryptography providers has no default provider.
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self::Rustls(tokio_postgres_rustls::MakeRustlsConnect::new(
            tls,
        )))
    }

    pub(crate) fn open<'a>(&'a self, config: &'a Config) -> Opened<'a> {
        Box::pin(async move {
            let opened: (Client, Box<dyn Driven>) = match self {
                Self::None => {
                    let (client, connection) = config.connect(NoTls).await?;
                    (client, Box::new(connection))
                }
                #[cfg(feature = "rustls")]
                Self::Rustls(tls) => {
                    let (client, connection) = config.connect(tls.clone()).await?;
                    (client, Box::new(connection))
                }
            };
            Ok(opened)
        })
    }
}
