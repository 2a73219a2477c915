//! The environment of the tests: a Restate server, a balancer in front of the workers, and workers as separate processes.
//!
//! Everything listens on free ports of the loopback interface, and ends with its value, even if the test panics.
// Each test uses a part of it.
#![allow(dead_code, unreachable_pub, unused_imports)]

mod balancer;
mod http;
mod server;
mod worker;

pub use balancer::Balancer;
pub use http::{Response, request};
pub use server::Server;
pub use worker::WorkerProcess;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Calls `ready` until it returns `true`. Returns `false` after `limit`.
pub fn within(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        if ready() {
            return true;
        }
        if begin.elapsed() > limit {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
}

/// Addresses that nothing listens on. They differ from each other.
fn free_addresses<const N: usize>() -> [SocketAddr; N] {
    let listeners = [(); N].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap())
}

/// A process that is killed, as with `kill -9`, when this value is dropped.
struct Process(Child);

impl Process {
    fn start(command: &mut Command) -> Self {
        let child = command.spawn();
        Self(child.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")))
    }

    fn kill(&mut self) {
        // It fails only if the process has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Sends SIGTERM. There is no safe function for that.
    fn terminate(&mut self) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.is_ok_and(|status| status.success()));
        let _ = self.0.wait();
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
