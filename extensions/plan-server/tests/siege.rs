//! Hostile clients attack the server in many ways at the same time. An honest client still gets its answers, and the server stays within 512 MB.
//!
//! `PLAN_SIEGE=3600 cargo test --release --manifest-path extensions/Cargo.toml -p plan-server --test siege -- --nocapture` lasts an hour. Without the variable, the test lasts some seconds.

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::{Folder, PATIENCE, Process};

/// The limit for the memory of the server, in bytes.
const MEMORY: u64 = 512 << 20;

/// The state that the hostile clients share.
struct Siege<'s> {
    server: &'s Process,
    until: Instant,
    /// The number of strikes of each client.
    strikes: Mutex<BTreeMap<&'static str, u64>>,
    number: AtomicU64,
}

impl Siege<'_> {
    fn goes_on(&self) -> bool {
        Instant::now() < self.until
    }

    /// Strikes again and again, with a pause.
    fn strike(&self, name: &'static str, pause: u64, strike: impl Fn(&Self)) {
        while self.goes_on() {
            strike(self);
            *self.strikes.lock().unwrap().entry(name).or_default() += 1;
            thread::sleep(Duration::from_millis(pause));
        }
    }

    fn next(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a connection and sends these bytes, as far as the server reads the bytes.
    fn send(&self, bytes: &[u8]) -> Option<TcpStream> {
        let address = self.server.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).ok()?;
        let time = Some(Duration::from_millis(20));
        stream.set_write_timeout(time).ok()?;
        let _ = stream.write_all(bytes);
        Some(stream)
    }

    /// Returns a request with the token.
    fn request(&self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let (token, length) = (&self.server.token, body.len());
        format!("{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
    }

    /// Sends a request, and reads the answer for a while.
    fn ask(&self, method: &str, path: &str, body: &Value) {
        let Some(mut stream) = self.send(&self.request(method, path, &body.to_string())) else {
            return;
        };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        let mut answer = [0; 4096];
        let _ = stream.read(&mut answer);
    }

    fn begin(&self, plan: &Value, approve: &str) {
        let body = json!({"text": plan.to_string(), "approve": approve});
        self.ask("POST", "/api/runs", &body);
    }

    fn query(&self, query: &str) {
        self.ask("POST", "/graphql", &json!({"query": query}));
    }
}

/// Sends many requests and reads no response.
fn never_reads(siege: &Siege<'_>) {
    let pages = b"GET /page/main.js HTTP/1.1\r\nhost: x\r\n\r\n".repeat(200);
    let schemas = siege.request("GET", "/graphql/schema", "").repeat(200);
    let open: Vec<TcpStream> = (0..300)
        .filter_map(|at| siege.send(if at % 4 == 0 { &schemas } else { &pages }))
        .collect();
    thread::sleep(Duration::from_secs(3));
    drop(open);
}

/// Heads and bodies that do not come.
fn is_slow(siege: &Siege<'_>) {
    let mut open: Vec<TcpStream> = (0..100)
        .filter_map(|at| {
            siege.send(match at % 3 {
                0 => b"",
                1 => b"GET / HTTP/1.1\r\nx: ",
                _ => b"POST /api/check HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{",
            })
        })
        .collect();
    for _ in 0..5 {
        for stream in &mut open {
            let _ = stream.write_all(b"y");
        }
        thread::sleep(Duration::from_millis(500));
    }
}

fn slow(text: &str) -> Value {
    json!({"tool": "slow", "params": {"ms": 0, "text": text}})
}

/// Sends a query with many long or slow fields.
fn has_aliases(siege: &Siege<'_>) {
    let plan = json!({"requestId": "aliases", "steps": vec![slow(&"x".repeat(10_000)); 20]});
    siege.begin(&plan, "none");
    let steps = "{tool: \"slow\", params: {ms: 0, text: \"x\"}}".repeat(50);
    let run = "mutation { executePlan(plan: {requestId: \"aliases\", steps: [".to_owned();
    siege.query(&format!("{run}{steps}]}}) {{ state }} }}"));
    for (count, field) in [
        (120, "results(requestId: \"aliases\") { results { data resolvedParams } }".to_owned()),
        (240, "check(plan: {steps: [{tool: \"email_read\", params: {id: \"${step[7].x}\"}}]}) { message }".to_owned()),
        (20, format!("check(plan: {{steps: [{steps}]}}) {{ message }}")),
    ] {
        let fields: String = (0..count).map(|at| format!("a{at}: {field} ")).collect();
        siege.query(&format!("{{ {fields} }}"));
    }
}

/// Starts a run of many elements, with many watchers that do not read.
fn watches(siege: &Siege<'_>) {
    let list: Vec<u32> = (0..3_000).collect();
    let plan = json!({"steps": [{"id": "all", "for": {"pattern": "x", "list": list, "body": {"tool": "emails_list", "arguments": {}}}}], "output_steps": ["all"]});
    let (status, answer) = siege
        .server
        .post("/api/runs", &json!({"text": plan.to_string()}));
    let Some(id) = answer["id"].as_str().filter(|_| status == 201) else {
        return;
    };
    let path = format!("/api/runs/{id}/events");
    let mut open: Vec<TcpStream> = (0..40)
        .filter_map(|_| siege.send(&siege.request("GET", &path, "")))
        .collect();
    for _ in 0..8 {
        open.extend(siege.send(&siege.request("GET", &format!("/api/runs/{id}"), "")));
        open.extend(siege.send(&siege.request("GET", &format!("/api/runs/{id}/report.html"), "")));
        thread::sleep(Duration::from_millis(250));
    }
}

/// Submits a small plan with large records, a plan with large values that waits for an approval, and a plan of the
/// maximum size.
fn plans_much(siege: &Siege<'_>) {
    let first =
        json!({"id": "first", "tool": "slow", "arguments": {"ms": 0, "text": "x".repeat(100_000)}});
    let again = |at: u32| {
        let before = at
            .checked_sub(1)
            .map_or("first".to_owned(), |at| format!("s{at}"));
        json!({"id": format!("s{at}"), "after": [before], "tool": "slow", "arguments": {"ms": 0, "text": "$ref:first"}})
    };
    let steps: Vec<Value> = std::iter::once(first.clone())
        .chain((0..300).map(again))
        .collect();
    siege.begin(&json!({"steps": steps, "output_steps": ["first"]}), "none");
    let list: Vec<u32> = (0..30).collect();
    let all = json!({"id": "all", "for": {"pattern": "x", "list": list, "body": {"tool": "slow", "arguments": {"ms": 0, "text": "$ref:first"}}}});
    let asked = json!({"id": "asked", "after": ["all"], "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}});
    siege.begin(
        &json!({"steps": [first, all, asked], "output_steps": ["all"]}),
        "each",
    );
    let text = "y".repeat(60);
    let steps = vec![slow(&text); 2_000];
    let large = json!({"requestId": "large", "steps": steps});
    siege.begin(&large, "each");
    siege.ask("POST", "/api/check", &json!({"text": large.to_string()}));
}

/// Sends names that try to forge lines of the log, the page and the terminal.
fn forges(siege: &Siege<'_>) {
    for name in [
        "x\n2026-11-27T00:00:00Z ERROR plan_server: all is lost",
        "\u{1b}[2J\u{202e}gnp.exe",
        "<script>alert(1)</script>",
    ] {
        let step = json!({"tool": name, "params": {name: name}});
        siege.begin(
            &json!({"name": name, "requestId": name, "steps": [step]}),
            "none",
        );
        siege.begin(
            &json!({"name": name, "requestId": name, "steps": [slow(name)]}),
            "none",
        );
        siege.ask("GET", "/api/runs?plan=%0a%1b%5b2J", &Value::Null);
    }
}

/// Runs one after the other, which end soon or wait for long.
fn runs_many(siege: &Siege<'_>) {
    let number = siege.next();
    let text = format!("run {number}");
    siege.begin(&json!({"requestId": text, "steps": [slow(&text)]}), "none");
    let waits = json!({"steps": [{"id": "reply", "await": "String"}], "output_steps": ["reply"]});
    if number.is_multiple_of(8) {
        siege.begin(&waits, "none");
    }
    if number.is_multiple_of(50) {
        let slow = json!({"tool": "slow", "params": {"ms": 20_000, "text": "x"}});
        siege.begin(&json!({"requestId": text, "steps": vec![slow; 30]}), "none");
    }
}

/// Counts the answers and the refusals of the honest client, and its longest wait.
#[derive(Debug, Default)]
struct Answers {
    given: u64,
    refused: u64,
    runs: u64,
    longest: Duration,
}

impl Answers {
    fn count(&mut self, began: Instant, (status, answer): (u16, Value)) -> Option<Value> {
        self.longest = self.longest.max(began.elapsed());
        match status {
            200 | 201 => {
                self.given += 1;
                Some(answer)
            }
            503 | 507 => {
                assert!(answer["error"]["help"].is_string(), "{answer}");
                self.refused += 1;
                None
            }
            _ => panic!("{status}: {answer}"),
        }
    }

    /// Acts like a person: looks at the list, checks a plan, starts the plan, and waits for the end of the run.
    fn ask(&mut self, server: &Process) {
        let text =
            r#"{"requestId": "honest", "steps": [{"tool": "facilities_list", "params": {}}]}"#;
        let began = Instant::now();
        self.count(began, server.get("/api/runs?limit=5"));
        let began = Instant::now();
        self.count(began, server.post("/api/check", &json!({"text": text})));
        let began = Instant::now();
        let begun = self.count(began, server.post("/api/runs", &json!({"text": text})));
        let Some(id) = begun.and_then(|it| it["id"].as_str().map(str::to_owned)) else {
            return Self::make_room(server);
        };
        while began.elapsed() < PATIENCE {
            let began = Instant::now();
            let run = self.count(began, server.get(&format!("/api/runs/{id}")));
            if run.is_some_and(|run| run["state"] == "done") {
                self.runs += 1;
                return;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Answers {
    /// Cancels waiting runs, as a person does, if no run may begin.
    fn make_room(server: &Process) {
        let (status, list) = server.get("/api/runs?state=waiting&limit=20");
        let runs = list["runs"].as_array().filter(|_| status == 200);
        for run in runs.into_iter().flatten() {
            let id = run["id"].as_str().unwrap();
            server.post(&format!("/api/runs/{id}/cancel"), &json!({}));
        }
    }
}

/// Returns the peak memory of a process, if the system reports the peak.
fn memory(process: &Process) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

#[test]
fn an_honest_client_gets_its_answers() {
    let seconds = std::env::var("PLAN_SIEGE").map_or(8, |it| it.parse().unwrap());
    let folder = Folder::new();
    let server = Process::start(&folder);
    let siege = Siege {
        server: &server,
        until: Instant::now() + Duration::from_secs(seconds),
        strikes: Mutex::default(),
        number: AtomicU64::new(0),
    };
    let mut answers = Answers::default();
    thread::scope(|scope| {
        let siege = &siege;
        scope.spawn(|| siege.strike("never reads", 100, never_reads));
        scope.spawn(|| siege.strike("is slow", 100, is_slow));
        scope.spawn(|| siege.strike("has aliases", 200, has_aliases));
        scope.spawn(|| siege.strike("watches", 200, watches));
        scope.spawn(|| siege.strike("plans much", 500, plans_much));
        scope.spawn(|| siege.strike("forges", 100, forges));
        scope.spawn(|| siege.strike("runs many", 20, runs_many));
        let mut said = Instant::now();
        while siege.goes_on() {
            answers.ask(&server);
            thread::sleep(Duration::from_millis(200));
            if said.elapsed() > Duration::from_secs(60) {
                println!("{answers:?}, {:?} bytes of memory", memory(&server));
                said = Instant::now();
            }
        }
    });
    println!(
        "{answers:?}, {:?} bytes of memory, {:?}",
        memory(&server),
        siege.strikes
    );
    assert!(answers.given > 3 * answers.refused, "{answers:?}");
    assert!(answers.runs > 0, "{answers:?}");
    assert!(
        memory(&server).is_none_or(|it| it < MEMORY),
        "{:?}",
        memory(&server)
    );
    let files = support::bytes(folder.path());
    assert!(
        files < 2 * plan_server::limits::DATABASE,
        "{files} bytes of files"
    );
    // The server has not restarted meanwhile. Now the server restarts.
    assert_eq!(server.get("/health").0, 200);
    server.kill();
    let server = Process::start(&folder);
    assert_eq!(server.get("/api/runs").0, 200);
}
