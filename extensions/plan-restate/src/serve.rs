//! The accept loop of a worker.

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use std::io::{Error, ErrorKind};
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// How long requests may go on after the worker has been asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How long the loop waits if the system lacks something that a connection needs, such as a file descriptor.
const LACKING: Duration = Duration::from_millis(100);

/// Answers the requests of a Restate server until `shutdown` completes.
///
/// Then it accepts no connection and no request any more, and gives the requests that run ten seconds to end. Those that still run after that are
/// cut off, and Restate sends them to another worker: a workflow that waits for something keeps its request open, so this is not a failure.
/// Dropping the future cuts off all requests.
pub async fn serve(listener: TcpListener, endpoint: Endpoint, shutdown: impl Future<Output = ()>) {
    serve_within(GRACE, listener, endpoint, shutdown).await;
}

async fn serve_within(
    grace: Duration,
    listener: TcpListener,
    endpoint: Endpoint,
    shutdown: impl Future<Output = ()>,
) {
    let endpoint = HyperEndpoint::new(endpoint);
    let graceful = GracefulShutdown::new();
    // A connection that ends takes its requests with it, and all connections end with this set.
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let stream = tokio::select! {
            () = &mut shutdown => break,
            // Connections that have ended are not kept.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(_) => {
                    tokio::time::sleep(LACKING).await;
                    continue;
                }
            },
        };
        // Without this, each small message waits for the acknowledgement of the one before it, which is why the SDK's own server is not used.
        // A connection that refuses it still works.
        let _ = stream.set_nodelay(true);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), endpoint.clone());
        connections.spawn(graceful.watch(connection));
    }
    drop(listener);
    let _ = tokio::time::timeout(grace, graceful.shutdown()).await;
}

fn is_of_one_connection(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Instant;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn a_connection_that_does_not_end_is_cut_off() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let grace = Duration::from_millis(300);
        let begin = Instant::now();
        let accepted = tokio::time::sleep(Duration::from_millis(100));
        serve_within(grace, listener, Endpoint::builder().build(), accepted).await;
        assert!(begin.elapsed() >= grace, "it did not wait");
        // What it has sent before is read first.
        let mut read = Vec::new();
        let ended = stream.read_to_end(&mut read);
        let _ = tokio::time::timeout(Duration::from_secs(5), ended)
            .await
            .expect("the connection is still open");
    }
}
