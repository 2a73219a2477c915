//! A Postgres server with a folder of its own.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};

/// The time limit for the start of a server on a busy machine.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// Calls `ready` until it returns `true`, and returns `false` after the limit.
pub(crate) fn within(limit: Duration, mut ready: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while !ready() {
        if begin.elapsed() > limit {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
    true
}

/// A running server. Its end and the end of its folder come with this value's.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    process: Child,
}

impl Server {
    /// Starts a server. Returns `None`, and prints the reason, if the machine has no Postgres.
    pub(crate) fn start() -> Option<Self> {
        let programs = match programs() {
            Some(programs) => programs,
            None => {
                // Standard error directly, since the test harness captures the output of a test.
                let line = "skipped: there is no Postgres: `initdb` is neither in PATH nor in /usr/lib/postgresql/*/bin\n";
                std::io::stderr().write_all(line.as_bytes()).unwrap();
                return None;
            }
        };
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plan-postgres-{}-{count}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        if let Some(user) = other_user() {
            let owned = Command::new("chown").arg(user).arg(&folder).status();
            assert!(owned.unwrap().success());
        }
        let data = folder.join("data");
        let mut initdb = command(&programs.join("initdb"));
        initdb.args([
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "-N",
            "-D",
        ]);
        let output = initdb.arg(&data).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let process = launch(&programs, &folder, port);
        let server = Self {
            programs,
            folder,
            port,
            process,
        };
        server.answers();
        Some(server)
    }

    /// Returns the configuration of a connection.
    pub(crate) fn url(&self) -> String {
        format!(
            "postgresql://postgres:hidden@127.0.0.1:{}/postgres",
            self.port
        )
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn answers(&self) {
        let answers = within(STARTS_WITHIN, || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
                && try_with(&self.url(), async |client| {
                    client.simple_query("SELECT 1").await
                })
                .is_ok()
        });
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        assert!(answers, "the server does not start:\n{log}");
    }

    fn signal(&self, signal: &str) {
        send_signal(self.process.id(), signal);
    }

    /// Ends the server: with `INT` in order, with `QUIT` as a crash.
    pub(crate) fn stop(&mut self, signal: &str) {
        self.signal(signal);
        let _ = self.process.wait();
    }

    /// Starts the server again, with its folder and its port.
    pub(crate) fn restart(&mut self) {
        self.process = launch(&self.programs, &self.folder, self.port);
        self.answers();
    }

    /// Changes a setting of the server, which restarts.
    #[cfg(feature = "rustls")]
    pub(crate) fn set(&mut self, setting: &str) {
        let file = self.folder.join("data/postgresql.conf");
        let mut file = File::options().append(true).open(file).unwrap();
        writeln!(file, "{setting}").unwrap();
        self.stop("INT");
        self.restart();
    }

    /// Runs a program of the machine in the folder, as the user of the server. Returns `false` if the machine has no such program.
    #[cfg(feature = "rustls")]
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> bool {
        if Command::new(program).arg("version").output().is_err() {
            return false;
        }
        let mut command = command(Path::new(program));
        let output = command.args(arguments).current_dir(&self.folder).output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        true
    }

    /// The folder of the server.
    #[cfg(feature = "rustls")]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs statements without parameters.
    pub(crate) fn execute(&self, sql: &str) {
        with(&self.url(), async |client| client.batch_execute(sql).await);
    }

    /// Does some work while a transaction with a statement is open.
    pub(crate) fn during<T: Send>(&self, sql: &str, work: impl FnOnce() -> T + Send) -> T {
        with(&self.url(), async |client| {
            client.batch_execute(&format!("BEGIN; {sql}")).await?;
            // The work may use a runtime of its own.
            Ok(std::thread::scope(|scope| scope.spawn(work).join()).unwrap())
        })
    }

    /// Returns the number that a query gives.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        with(&self.url(), async |client| {
            client.query_one(sql, &[]).await?.try_get(0)
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.stop("QUIT");
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Sends a signal to a process. There is no safe function for that.
pub(crate) fn send_signal(process: u32, signal: &str) {
    let id = process.to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.unwrap().success());
}

fn try_with<T>(
    url: &str,
    act: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
) -> Result<T, tokio_postgres::Error> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        let driver = tokio::spawn(connection);
        let value = act(&client).await;
        drop(client);
        let _ = driver.await;
        value
    })
}

fn with<T>(url: &str, act: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>) -> T {
    try_with(url, act).unwrap()
}

fn launch(programs: &Path, folder: &Path, port: u16) -> Child {
    let log = folder.join("log");
    let log = File::options().create(true).append(true).open(log).unwrap();
    let port = port.to_string();
    let mut command = command(&programs.join("postgres"));
    command.arg("-D").arg(folder.join("data"));
    command.args(["-p", &port, "-h", "127.0.0.1", "-k", ""]);
    command.args([
        "-c",
        "fsync=on",
        "-c",
        "shared_buffers=16MB",
        "-c",
        "max_connections=100",
    ]);
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap());
    command.stderr(log).spawn().unwrap()
}

/// The folder with the programs of Postgres.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    folders.extend(installed.flatten().map(|it| it.path().join("bin")));
    let has_both = |it: &PathBuf| it.join("initdb").exists() && it.join("postgres").exists();
    folders.into_iter().find(has_both)
}

/// The user that runs the server if the tests run as root: Postgres refuses that.
fn other_user() -> Option<&'static str> {
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let exists = |user: &&str| {
        let found = Command::new("id").arg(user).output();
        found.is_ok_and(|found| found.status.success())
    };
    is_root.then(|| ["postgres", "nobody"].into_iter().find(exists))?
}

/// A program of the server, as the user that may run it.
fn command(program: &Path) -> Command {
    let Some(user) = other_user() else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command
        .args([
            "--reuid",
            user,
            "--regid",
            user_group(user),
            "--clear-groups",
        ])
        .arg(program)
        // The folder of the tests may be closed to that user.
        .current_dir("/");
    command
}

fn user_group(user: &str) -> &'static str {
    if user == "nobody" {
        "nogroup"
    } else {
        "postgres"
    }
}
