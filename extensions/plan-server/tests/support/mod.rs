//! A server as a process, in a folder of its own, and a client for it.

#![allow(dead_code, reason = "each test needs some of it")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use ureq::Agent;

/// Longer than anything takes on a machine that has much else to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of all files of a folder.
pub(crate) fn bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes(&entry.path()),
        _ => entry.metadata().map_or(0, |it| it.len()),
    });
    bytes.sum()
}

/// Returns the output of a process, and kills the process if it runs for too long.
pub(crate) fn output_within(mut child: Child, time: Duration) -> std::process::Output {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > time {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

/// A folder that is removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("plan-server-{process}-{next}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Returns a folder that does not exist yet.
    pub(crate) fn inside(folder: &Self) -> Self {
        Self(folder.path().join("inner"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    /// Returns the effects of the tools, in order. The server may still write the last line.
    pub(crate) fn effects(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.0.join("effects.jsonl")).unwrap_or_default();
        let lines = text.split_inclusive('\n').filter(|it| it.ends_with('\n'));
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server that runs.
pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
    agent: Agent,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::start_with(folder, |command| command.env("RUST_LOG", "error"))
    }

    /// Starts a server that writes its whole log to a file in the folder.
    pub(crate) fn logged(folder: &Folder) -> Self {
        let log = std::fs::File::create(folder.log()).unwrap();
        Self::start_with(folder, |command| {
            command.env("RUST_LOG", "trace").stderr(log)
        })
    }

    pub(crate) fn start_with(
        folder: &Folder,
        configure: impl FnOnce(&mut Command) -> &mut Command,
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plan-server"));
        command
            .args(["--address", "127.0.0.1:0", "--data"])
            .arg(folder.path());
        let mut child = configure(&mut command)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (url, token) = line.trim().split_once("/#token=").expect(&line);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE));
        Self {
            child,
            url: url.to_owned(),
            token: token.to_owned(),
            agent: config.build().into(),
        }
    }

    /// Ends the process with `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the process with SIGTERM. Returns `true` if the process has exited with success.
    pub(crate) fn terminate(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &pid])
                .status()
                .unwrap()
                .success()
        );
        self.child.wait().unwrap().success()
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let (status, text) = self.get_text(path);
        (
            status,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }

    pub(crate) fn get_text(&self, path: &str) -> (u16, String) {
        let request = self.agent.get(format!("{}{path}", self.url));
        let mut response = request
            .header("authorization", self.bearer())
            .call()
            .unwrap();
        (
            response.status().as_u16(),
            response.body_mut().read_to_string().unwrap(),
        )
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}{path}", self.url));
        let mut response = request
            .header("authorization", self.bearer())
            .send(body.to_string())
            .unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        (
            response.status().as_u16(),
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }

    /// Starts a plan, and gives the id of its run.
    pub(crate) fn begin(&self, text: &str, inputs: &Value, approve: &str) -> String {
        let body = json!({"text": text, "inputs": inputs, "approve": approve});
        let (status, answer) = self.post("/api/runs", &body);
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn run(&self, id: &str) -> Value {
        let (status, run) = self.get(&format!("/api/runs/{id}"));
        assert_eq!(status, 200, "{run}");
        run
    }

    /// Waits until a run is so.
    pub(crate) fn until(&self, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let run = self.run(id);
            if is_so(&run) {
                return run;
            }
            assert!(began.elapsed() < PATIENCE, "it never is so: {run:#}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn ended(&self, id: &str) -> Value {
        self.until(id, |run| !run["ended"].is_null())
    }

    /// Returns the events of a run, from the beginning to the end of the stream.
    pub(crate) fn events(&self, id: &str) -> Events {
        let request = self.agent.get(format!("{}/api/runs/{id}/events", self.url));
        let response = request
            .header("authorization", self.bearer())
            .call()
            .unwrap();
        assert_eq!(response.status(), 200);
        Events(Box::new(BufReader::new(response.into_body().into_reader())))
    }

    /// Sends a GraphQL query and returns the response.
    pub(crate) fn graphql(&self, query: &str, variables: &Value) -> Value {
        let (status, answer) =
            self.post("/graphql", &json!({"query": query, "variables": variables}));
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Answers an open question.
    pub(crate) fn answer(&self, id: &str, question: &Value, decision: &Value) {
        let question = question["id"].as_str().unwrap();
        let path = format!("/api/runs/{id}/questions/{question}");
        assert_eq!(self.post(&path, decision).0, 200);
    }

    /// Returns a number of the metrics, or 0 if the metric is missing.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let (_, text) = self.get_text("/metrics");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |number| number.parse().unwrap())
    }
}

/// Server-sent events: the name and the value of each.
pub(crate) struct Events(Box<BufReader<dyn Read + Send>>);

impl Iterator for Events {
    type Item = (String, Value);

    fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(rest) = line.strip_prefix("event: ") {
                rest.clone_into(&mut name);
            } else if let Some(rest) = line.strip_prefix("data: ") {
                data.push_str(rest);
            } else if line.is_empty() && !name.is_empty() {
                return Some((name, serde_json::from_str(&data).unwrap()));
            }
        }
    }
}
