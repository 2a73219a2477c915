//! Encrypted connections to a server with a certificate of the test.

use crate::server::Server;
use plan_postgres::rustls::crypto::ring;
use plan_postgres::rustls::pki_types::{CertificateDer, pem::PemObject};
use plan_postgres::rustls::{ClientConfig, RootCertStore};
use plan_postgres::{Postgres, PostgresOptions};
use plan_runtime::journal::Journal;
use smol::block_on;
use std::io::Write;
use std::sync::Arc;

/// Makes a root certificate and a server's certificate. Returns `false` if the machine has no `openssl`.
fn certify(server: &Server) -> bool {
    let root =
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=root -keyout root.key -out root.crt";
    let leaf = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=server -keyout server.key -out server.crt \
        -CA root.crt -CAkey root.key -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1";
    [root, leaf].iter().all(|line| {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        server.run("openssl", &arguments)
    })
}

#[test]
fn connections_are_encrypted() {
    let Some(mut server) = Server::start() else {
        return;
    };
    if !certify(&server) {
        let line = b"skipped: the machine has no `openssl`\n";
        return std::io::stderr().write_all(line).unwrap();
    }
    let folder = server.folder().to_owned();
    let file = |name: &str| folder.join(name).display().to_string();
    server.set(&format!("ssl_cert_file = '{}'", file("server.crt")));
    server.set(&format!(
        "ssl_key_file = '{}'\nssl = on",
        file("server.key")
    ));
    let url = format!("{}?sslmode=require", server.url());

    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_file(file("root.crt")).unwrap();
    roots.add(root).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let db = block_on(PostgresOptions::new().rustls(config).connect(&url)).unwrap();
    let claim = block_on(db.claim("a")).unwrap().claim;
    block_on(db.append(&claim, "k".into(), "1".into())).unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name LIKE 'plan-postgres%'";
    assert_eq!(server.number(encrypted), 3);

    // The root certificate is unknown to the system.
    let error = block_on(Postgres::connect(&url)).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
}
