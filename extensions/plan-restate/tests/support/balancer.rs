//! A balancer of TCP connections.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Passes connections to workers in turn, and skips workers that refuse them: one address for a server, regardless of which
/// workers are alive.
pub struct Balancer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    workers: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    has_ended: AtomicBool,
    /// Both ends of each connection, to end them with the balancer.
    open: Mutex<Vec<TcpStream>>,
}

impl Balancer {
    pub fn start(workers: impl Into<Vec<SocketAddr>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            workers: Mutex::new(workers.into()),
            next: AtomicUsize::new(0),
            has_ended: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let its = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if its.has_ended.load(Ordering::Acquire) {
                    break;
                }
                // A connection without a worker ends, and the server tries again.
                if let Ok(stream) = stream {
                    let _ = its.connect(stream);
                }
            }
        });
        Self { address, shared }
    }

    /// Replaces the workers. Connections to the old ones stay.
    pub fn set(&self, workers: impl Into<Vec<SocketAddr>>) {
        *self.shared.workers.lock().unwrap() = workers.into();
    }

    /// Cuts all connections, as a network does that fails.
    pub fn cut(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Release);
        // The loop sees that it has ended with the next connection.
        let _ = TcpStream::connect(self.address);
        self.cut();
    }
}

impl Shared {
    fn connect(&self, client: TcpStream) -> io::Result<()> {
        let workers = self.workers.lock().unwrap().clone();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let worker = (0..workers.len()).find_map(|offset| {
            let worker = workers[(first + offset) % workers.len()];
            TcpStream::connect_timeout(&worker, Duration::from_secs(1)).ok()
        });
        let Some(worker) = worker else {
            return client.shutdown(Shutdown::Both);
        };
        client.set_nodelay(true)?;
        worker.set_nodelay(true)?;
        pipe(client.try_clone()?, worker.try_clone()?);
        pipe(worker.try_clone()?, client.try_clone()?);
        let mut open = self.open.lock().unwrap();
        open.retain(|stream| stream.peer_addr().is_ok());
        open.extend([client, worker]);
        Ok(())
    }
}

/// Copies one stream to the other until one of the two ends, and ends both.
fn pipe(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
