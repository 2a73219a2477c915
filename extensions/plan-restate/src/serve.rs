//! The loop that accepts connections from Restate.

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The pause of the loop after a connection could not be accepted, for example because of too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves an endpoint until `shutdown` completes. The loop then accepts no further connections, and running calls have the time `grace` to end. The
/// loop closes the connections of longer calls, and Restate sends these calls to another worker.
///
/// The SDK's own server delays each small message until the client has acknowledged the message before, which costs about 40
/// ms per call.
pub(crate) async fn serve(
    listener: TcpListener,
    endpoint: Endpoint,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let endpoint = HyperEndpoint::new(endpoint);
    let running = GracefulShutdown::new();
    // The drop of this set closes all connections.
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            // Removes the ended connections.
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // An error here makes the connection slow, but not unusable.
        let _ = stream.set_nodelay(true);
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(Duration::from_secs(30))
            .serve_connection(TokioIo::new(stream), endpoint.clone());
        // Restate reports and repairs a lost connection.
        connections.spawn(running.watch(connection));
    }
    drop(listener);
    let _ = timeout(grace, running.shutdown()).await;
}
