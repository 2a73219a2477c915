//! The hosts that a request may name.
//!
//! The owner of another site can point the site's name to this machine, so that pages of the site read the server's answers (DNS rebinding). A browser writes the name to the header `Host`, and
//! a page cannot change that header.

use crate::error::Problem;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The address of the server, and the names of proxies.
pub(crate) struct Hosts {
    address: SocketAddr,
    /// The names of proxies in front of the server.
    names: Vec<String>,
}

impl Hosts {
    pub(crate) fn new(address: SocketAddr, names: &[String]) -> Arc<Self> {
        let names = names.to_vec();
        Arc::new(Self { address, names })
    }

    /// Returns `true` for a host of the server, with the server's port. A proxy may have any port.
    fn has(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        if self.names.iter().any(|it| it.eq_ignore_ascii_case(name)) {
            return true;
        }
        let ip: Option<IpAddr> = match name.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']').and_then(|ip| ip.parse().ok()),
            None => name.parse().ok(),
        };
        let own = self.address.ip();
        let is_own = match ip {
            // Only names can be pointed to another machine.
            Some(ip) => ip == own || own.is_unspecified(),
            None => name.eq_ignore_ascii_case("localhost"),
        };
        is_own && port == Some(self.address.port())
    }
}

/// Refuses requests for other hosts, including requests with the token.
pub(crate) async fn check(
    State(hosts): State<Arc<Hosts>>,
    request: Request,
    next: Next,
) -> Response {
    let given = request.headers().get_all(header::HOST).iter();
    let given: Vec<&str> = given.map(|it| it.to_str().unwrap_or_default()).collect();
    // A proxy may send the whole address in the first line.
    let address = request.uri().authority().map(|it| it.as_str());
    if let [host] = given[..]
        && hosts.has(host)
        && address.is_none_or(|address| hosts.has(address))
    {
        return next.run(request).await;
    }
    let problem = Problem::new(
        StatusCode::MISDIRECTED_REQUEST,
        "HOST",
        "the request is for another host than this server",
        "Open the address that the server printed when it started. Behind a proxy, start the server with `--host NAME`, where `NAME` is the name of the proxy.",
    );
    problem.into_response()
}

#[cfg(test)]
mod tests {
    use super::Hosts;

    #[test]
    fn only_its_own_names_are_hosts() {
        let own = Hosts::new(
            "127.0.0.1:8321".parse().unwrap(),
            &["plans.example.org".into()],
        );
        for host in [
            "127.0.0.1:8321",
            "localhost:8321",
            "LOCALHOST:8321",
            "plans.example.org",
            "Plans.Example.org:443",
        ] {
            assert!(own.has(host), "{host}");
        }
        for host in [
            "",
            ":8321",
            "localhost",
            "localhost:80",
            "localhost:",
            "localhost:8321:8321",
            "127.0.0.1",
            "127.0.0.2:8321",
            "[::1]:8321",
            "evil.example:8321",
            "localhost.evil.example:8321",
            "127.0.0.1.evil.example:8321",
            "evil.plans.example.org",
            "plans.example.org.evil.example",
            "localhost:8321@evil.example",
        ] {
            assert!(!own.has(host), "{host}");
        }
        let any = Hosts::new("[::]:80".parse().unwrap(), &[]);
        for host in ["192.0.2.7", "[2001:db8::1]:80", "[::1]", "localhost"] {
            assert!(any.has(host), "{host}");
        }
        assert!(!any.has("evil.example") && !any.has("192.0.2.7:8080"));
    }
}
