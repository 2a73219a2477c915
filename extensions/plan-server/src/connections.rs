//! The connections of clients. The server limits the number of connections, and closes the connections of clients that do not read.

use crate::limits;
use crate::metrics::Metrics;
use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

/// The open connections, the oldest first.
pub(crate) struct Connections {
    open: Mutex<Open>,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct Open {
    next: u64,
    all: BTreeMap<u64, Entry>,
}

struct Entry {
    address: IpAddr,
    client: Arc<Client>,
    /// A sender whose drop closes the connection.
    _end: oneshot::Sender<()>,
}

/// The client of a connection.
#[derive(Debug, Default)]
pub(crate) struct Client {
    has_token: AtomicBool,
    is_stalled: AtomicBool,
}

impl Client {
    /// Marks the client as one with the token.
    pub(crate) fn is_known(&self) {
        self.has_token.store(true, Ordering::Release);
    }

    /// Returns `true` if the server may close the connection for a new connection. The client has sent no token, or does not read.
    fn makes_room(&self) -> bool {
        !self.has_token.load(Ordering::Acquire) || self.is_stalled.load(Ordering::Acquire)
    }
}

impl Open {
    /// Ends the oldest of these connections that the server may close. Returns `false` if the server may close no connection.
    fn make_room(&mut self, may_end: impl Fn(&Entry) -> bool) -> bool {
        let mut open = self.all.iter();
        let oldest = open.find(|(_, entry)| may_end(entry) && entry.client.makes_room());
        let oldest = oldest.map(|(number, _)| *number);
        oldest.is_some_and(|oldest| self.all.remove(&oldest).is_some())
    }
}

/// A guard of an open connection, which its drop removes from the list.
pub(crate) struct Connection {
    all: Arc<Connections>,
    number: u64,
    pub(crate) client: Arc<Client>,
    /// A channel that closes when the server ends the connection for a new connection.
    pub(crate) ended: oneshot::Receiver<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.open().all.remove(&self.number);
        self.all.metrics.connections.dec();
    }
}

/// Returns the address under which the server counts a client. All addresses of one IPv6 network count as one address.
fn of_one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let network = u128::from(address) >> 64 << 64;
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

impl Connections {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            metrics,
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the oldest connection that the server may close.
    pub(crate) fn make_room(&self) {
        self.open().make_room(|_| true);
    }

    /// Opens a connection of this address. With too many connections, the server closes the oldest connection without a token, or whose client does not read.
    /// Returns `None` if the server may close no connection.
    pub(crate) fn add(self: &Arc<Self>, address: IpAddr) -> Option<Connection> {
        let address = of_one_client(address);
        // All clients of this machine, including clients of a local proxy, share one address.
        let most = if address.is_loopback() {
            limits::CONNECTIONS
        } else {
            limits::CONNECTIONS_OF_ADDRESS
        };
        let mut open = self.open();
        let of_address = |entry: &Entry| entry.address == address;
        let is_too_many = open.all.values().filter(|it| of_address(it)).count() >= most;
        if is_too_many || open.all.len() >= limits::CONNECTIONS {
            let may_end = |entry: &Entry| of_address(entry) || !is_too_many;
            if !open.make_room(may_end) {
                return None;
            }
        }
        let (end, ended) = oneshot::channel();
        let number = open.next;
        open.next += 1;
        let client = Arc::new(Client::default());
        let entry = Entry {
            address,
            client: Arc::clone(&client),
            _end: end,
        };
        open.all.insert(number, entry);
        drop(open);
        self.metrics.connections.inc();
        Some(Connection {
            all: Arc::clone(self),
            number,
            client,
            ended,
        })
    }
}

/// A stream that fails once its client has read nothing for [`limits::WRITE_TIME`] although the server has bytes to write.
pub(crate) struct Stream {
    stream: TcpStream,
    client: Arc<Client>,
    limit: Pin<Box<Sleep>>,
}

impl Stream {
    pub(crate) fn new(stream: TcpStream, client: Arc<Client>) -> Self {
        let limit = Box::pin(tokio::time::sleep(limits::WRITE_TIME));
        Self {
            stream,
            client,
            limit,
        }
    }

    fn limited<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let is_stalled = &self.client.is_stalled;
        if written.is_ready() {
            is_stalled.store(false, Ordering::Release);
            return written;
        }
        if !is_stalled.swap(true, Ordering::AcqRel) {
            let limit = Instant::now() + limits::WRITE_TIME;
            self.limit.as_mut().reset(limit);
        }
        match self.limit.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limited(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.limited(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::{Connection, Connections};
    use crate::limits;
    use crate::metrics::Metrics;
    use std::net::IpAddr;
    use std::sync::Arc;

    fn ended(connection: &mut Connection) -> bool {
        connection.ended.try_recv() != Err(tokio::sync::oneshot::error::TryRecvError::Empty)
    }

    fn left(all: &mut [Connection]) -> usize {
        let left = all.iter_mut().map(|it| usize::from(!ended(it)));
        left.sum()
    }

    /// A client with the token keeps its connection, and a new client with the token gets a connection, with any number of clients without a token.
    #[test]
    fn connections_without_a_token_make_room() {
        for (address, most) in [
            ("127.0.0.1", limits::CONNECTIONS),
            ("::ffff:127.0.0.1", limits::CONNECTIONS),
            ("192.0.2.1", limits::CONNECTIONS_OF_ADDRESS),
            ("2001:db8::1", limits::CONNECTIONS_OF_ADDRESS),
        ] {
            let address: IpAddr = address.parse().unwrap();
            let all = Connections::new(Arc::new(Metrics::new()));
            let mut known = all.add(address).unwrap();
            known.client.is_known();
            let mut open: Vec<Connection> =
                (0..2 * most).map(|_| all.add(address).unwrap()).collect();
            assert!(!ended(&mut known));
            assert_eq!(left(&mut open), most - 1);
            assert!(!ended(open.last_mut().unwrap()));
            // The addresses of one network share a limit. An address of another network has a separate limit.
            if let IpAddr::V6(_) = address
                && !address.to_canonical().is_loopback()
            {
                assert!(all.add("2001:db8::ffff".parse().unwrap()).is_some());
                assert_eq!(left(&mut open), most - 2);
            }
            let mut other = all.add("198.51.100.7".parse().unwrap()).unwrap();
            assert!(!ended(&mut other));
            // Only connections whose client has the token and reads keep a new connection out.
            let mut full: Vec<Connection> = Vec::new();
            while let Some(connection) = all.add(address) {
                connection.client.is_known();
                full.push(connection);
                assert!(full.len() < 2 * most);
            }
            assert_eq!(left(&mut full), full.len());
            let stalled = &full[full.len() / 2].client;
            stalled
                .is_stalled
                .store(true, std::sync::atomic::Ordering::Release);
            assert!(all.add(address).is_some());
            assert!(!ended(&mut known));
        }
    }
}
