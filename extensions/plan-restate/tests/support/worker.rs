//! Workers that can be killed.

use super::{Process, free_addresses, within};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The variable with the address that a worker listens on.
const ADDRESS: &str = "PLAN_RESTATE_WORKER";

/// A worker in a process of its own: the test's own program, which runs one test that serves.
///
/// ```ignore
/// #[test]
/// #[ignore = "a worker of the other tests"]
/// fn worker() {
///     if let Some(address) = WorkerProcess::address_in_worker() { … }
/// }
/// ```
pub struct WorkerProcess {
    process: Process,
    command: Command,
    pub address: SocketAddr,
}

impl WorkerProcess {
    /// Starts a worker, with variables of the environment, and waits until it listens.
    pub fn start(test: &str, variables: &[(&str, &str)]) -> Self {
        let [address] = free_addresses();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--ignored", "--exact", "--nocapture", test])
            .env(ADDRESS, address.to_string())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let process = Process::start(&mut command);
        let mut worker = Self {
            process,
            command,
            address,
        };
        worker.listens();
        worker
    }

    /// The address to listen on, in the process of a worker. `None` in a test that was started by someone else.
    pub fn address_in_worker() -> Option<SocketAddr> {
        std::env::var(ADDRESS)
            .ok()
            .map(|address| address.parse().unwrap())
    }

    /// Ends the worker, as with `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Requests a stop, like a service manager, and waits until the worker has stopped.
    pub fn terminate(&mut self) {
        self.process.terminate();
    }

    /// Starts the worker again, after [`WorkerProcess::kill`], at the same address.
    pub fn restart(&mut self) {
        self.process.kill();
        self.process = Process::start(&mut self.command);
        self.listens();
    }

    fn listens(&mut self) {
        let address = self.address;
        let listens = within(Duration::from_secs(30), || {
            self.process.has_ended() || TcpStream::connect(address).is_ok()
        });
        assert!(
            listens && !self.process.has_ended(),
            "the worker does not listen on {address}"
        );
    }
}
