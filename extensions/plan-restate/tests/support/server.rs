//! A Restate server.

use super::{Process, Response, free_addresses, request, within};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The longest start of a server, which takes a third of a second on a free machine.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A Restate server with a folder of its own.
pub struct Server {
    process: Process,
    program: PathBuf,
    folder: PathBuf,
    pub admin: SocketAddr,
    pub ingress: SocketAddr,
}

impl Server {
    /// Starts a server that keeps everything in `folder`, which is made, and removed with the server. Returns `None`, and prints why, if there is no
    /// program to start.
    pub fn start(folder: impl Into<PathBuf>) -> Option<Self> {
        Self::start_with(folder, "")
    }

    /// Starts a server with more configuration: lines of its section `worker.invoker`.
    pub fn start_with(folder: impl Into<PathBuf>, invoker: &str) -> Option<Self> {
        let program = match program() {
            Ok(program) => program.clone(),
            Err(reason) => {
                // Standard error directly, since the test harness captures the output of a test.
                let line = format!("skipped: there is no Restate server: {reason}\n");
                std::io::stderr().write_all(line.as_bytes()).unwrap();
                return None;
            }
        };
        let folder = folder.into();
        fs::create_dir_all(&folder).unwrap();
        // Something else may have taken a port since it was found to be free.
        for _ in 0..3 {
            let [node, admin, ingress] = free_addresses();
            fs::write(
                folder.join("restate.toml"),
                configuration(node, admin, ingress, invoker),
            )
            .unwrap();
            let process = launch(&program, &folder);
            let mut server = Self {
                process,
                program: program.clone(),
                folder: folder.clone(),
                admin,
                ingress,
            };
            if server.becomes_healthy() {
                return Some(server);
            }
            server.process.kill();
            // The folder belongs to the next one.
            server.folder = PathBuf::new();
        }
        panic!(
            "the Restate server does not become healthy:\n{}",
            log(&folder)
        );
    }

    /// Starts a server like [`Server::start`], in a temporary folder.
    pub fn temporary(name: &str) -> Option<Self> {
        Self::start(
            std::env::temp_dir().join(format!("plan-restate-{name}-{}", std::process::id())),
        )
    }

    /// Ends the server, as with `kill -9`. Its folder stays.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts the server again, after [`Server::kill`], with the same folder and addresses.
    pub fn restart(&mut self) {
        self.process.kill();
        self.process = launch(&self.program, &self.folder);
        assert!(
            self.becomes_healthy(),
            "the Restate server does not start again:\n{}",
            self.log()
        );
    }

    /// Tells the server of workers at an address, and of all services that they have now.
    pub fn register(&self, deployment: SocketAddr) {
        let body = json!({ "uri": format!("http://{deployment}"), "force": true });
        let response = self.administer("POST", "/deployments", Some(&body));
        assert!(
            matches!(response.status, 200 | 201),
            "the server refuses {deployment}: {response:?}"
        );
    }

    /// Sends a request to the admin API.
    pub fn administer(&self, method: &str, path: &str, body: Option<&Value>) -> Response {
        request(self.admin, method, path, body, STARTS_WITHIN).unwrap()
    }

    /// The rows that an SQL query of the server's tables gives.
    pub fn query(&self, query: &str) -> Vec<Value> {
        let ask = || self.administer("POST", "/query", Some(&json!({ "query": query })));
        let mut response = ask();
        // A server that has just started cannot find its own data yet.
        within(STARTS_WITHIN, || {
            let is_known = response.status == 200;
            if !is_known {
                response = ask();
            }
            is_known
        });
        assert_eq!(response.status, 200, "{response:?}");
        response.json()["rows"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    }

    /// Sends a request to the ingress, which may fail while the server is being killed.
    pub fn post(&self, path: &str, body: &Value, limit: Duration) -> io::Result<Response> {
        request(self.ingress, "POST", path, Some(body), limit)
    }

    /// Sends a request like [`Server::post`], without a body.
    pub fn get(&self, path: &str, limit: Duration) -> io::Result<Response> {
        request(self.ingress, "GET", path, None, limit)
    }

    /// Returns the log of the server.
    pub fn log(&self) -> String {
        log(&self.folder)
    }

    fn becomes_healthy(&mut self) -> bool {
        let healthy = |address, path| {
            let response = request(address, "GET", path, None, Duration::from_secs(1));
            response.is_ok_and(|response| response.status == 200)
        };
        let (admin, ingress) = (self.admin, self.ingress);
        within(STARTS_WITHIN, || {
            self.process.has_ended()
                || (healthy(admin, "/health") && healthy(ingress, "/restate/health"))
        }) && !self.process.has_ended()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill();
        if !self.folder.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn log(folder: &Path) -> String {
    fs::read_to_string(folder.join("log")).unwrap_or_default()
}

fn launch(program: &Path, folder: &Path) -> Process {
    let log = File::options()
        .create(true)
        .append(true)
        .open(folder.join("log"))
        .unwrap();
    let mut command = Command::new(program);
    command
        .arg("--config-file")
        .arg(folder.join("restate.toml"))
        .arg("--base-dir")
        .arg(folder.join("data"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    Process::start(&mut command)
}

/// Two partitions and little memory, so that several servers fit on a machine. The server removes expired data every second, and not every hour.
fn configuration(
    node: SocketAddr,
    admin: SocketAddr,
    ingress: SocketAddr,
    invoker: &str,
) -> String {
    format!(
        r#"node-name = "node"
bind-ip = "127.0.0.1"
bind-port = {node}
listen-mode = "tcp"
disable-telemetry = true
default-num-partitions = 2
rocksdb-total-memory-size = "64MiB"
log-filter = "warn"
log-disable-ansi-codes = true
[worker]
cleanup-interval = "1s"
[worker.invoker]
{invoker}
[admin]
bind-address = "{admin}"
disable-web-ui = true
[admin.query-engine]
memory-size = "64MiB"
[ingress]
bind-address = "{ingress}"
"#,
        node = node.port()
    )
}

/// The program, which `tests/install` unpacks; or why there is none.
fn program() -> Result<&'static PathBuf, &'static String> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let install = || {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install");
        let output = Command::new("bash")
            .arg(script)
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| format!("bash does not start: {error}"))?;
        if output.status.success() {
            Ok(PathBuf::from(
                String::from_utf8_lossy(&output.stdout).trim(),
            ))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    };
    PROGRAM.get_or_init(install).as_ref()
}
