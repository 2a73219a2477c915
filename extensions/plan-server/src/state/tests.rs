//! The state of a server without its connections.

use super::State;
use crate::decisions::Decisions;
use crate::host::Hosts;
use crate::limits;
use crate::routes::router;
use crate::tools::{Office, toolbox};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use futures_util::FutureExt;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use plan_runtime::dynamic::Profile;
use plan_runtime::journal::spi::End;
use plan_runtime::journal::{Journal, Sqlite};
use plan_runtime::run::Throttle;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::OwnedSemaphorePermit;

/// A plan that waits for a value.
const WAITS: &str = r#"{"name": "offsite", "steps": [{"id": "room", "await": "String"}]}"#;

/// The state of a server in a folder of its own.
pub(crate) struct Fixture {
    pub(crate) state: Arc<State>,
    folder: PathBuf,
}

fn folder(name: &str) -> PathBuf {
    let name = format!("plan-server-state-{}-{name}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

impl Fixture {
    pub(crate) async fn new(name: &str) -> Self {
        let folder = folder(name);
        let db = Sqlite::open(folder.join("runs.db")).unwrap();
        let office = Office::open(&folder.join("effects.jsonl")).unwrap();
        let decisions = Decisions::open(&folder).unwrap();
        let state = State::new(
            db,
            toolbox(Throttle::new()),
            office,
            decisions,
            "token".into(),
        );
        let state = Arc::new(state.await.unwrap());
        Self { state, folder }
    }

    /// Submits a run that waits for a value.
    pub(crate) async fn begin(&self, id: &'static str) {
        let submit = move |state: &Arc<State>| {
            let document = state.read(WAITS, Profile::Strict).unwrap();
            state.submit(&document, json!({}), id)
        };
        self.state.blocking(submit).await.unwrap();
    }

    /// Submits a run, and records its end.
    pub(crate) async fn end(&self, id: &'static str) {
        self.begin(id).await;
        let db = self.state.server.journal();
        let claim = db.claim(id).await.unwrap().claim;
        let end = End::Done("null".to_owned());
        db.end(&claim, end).await.unwrap();
        db.release(&claim);
    }

    /// Takes all turns, so that a request for the journal waits.
    pub(crate) async fn all_turns(&self) -> OwnedSemaphorePermit {
        let readers = Arc::clone(&self.state.readers);
        let turns = readers.acquire_many_owned(limits::READERS as u32).await;
        turns.unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns a request of each route, and `true` if the answer needs a turn.
fn requests() -> Vec<(&'static str, &'static str, Value, bool)> {
    let steps = r#"plan: {requestId: "r", steps: [{tool: "emails_list", params: {}}]}"#;
    let graphql = |query: String| ("POST", "/graphql", json!({"query": query}), true);
    vec![
        ("GET", "/health", Value::Null, false),
        ("GET", "/metrics", Value::Null, false),
        ("GET", "/graphql/schema", Value::Null, false),
        ("GET", "/api/samples", Value::Null, false),
        ("GET", "/api/tools", Value::Null, false),
        ("POST", "/api/check", json!({"text": WAITS}), true),
        ("GET", "/api/questions", Value::Null, true),
        ("GET", "/api/runs", Value::Null, true),
        ("GET", "/api/plans", Value::Null, true),
        ("POST", "/api/runs", json!({"text": WAITS}), true),
        ("GET", "/api/runs/{id}", Value::Null, true),
        ("GET", "/api/runs/{id}/events", Value::Null, true),
        ("GET", "/api/runs/{id}/report.html", Value::Null, true),
        ("GET", "/api/runs/{id}/report.md", Value::Null, true),
        ("GET", "/api/runs/{id}/plan", Value::Null, true),
        ("POST", "/api/runs/{id}/again", Value::Null, true),
        ("POST", "/api/runs/{id}/retry", json!({}), true),
        (
            "GET",
            "/api/runs/{id}/questions/{question}",
            Value::Null,
            true,
        ),
        (
            "POST",
            "/api/runs/{id}/questions/{question}",
            json!({"decision": "allow"}),
            true,
        ),
        (
            "POST",
            "/api/runs/{id}/questions",
            json!({"questions": ["1"], "decision": "allow"}),
            true,
        ),
        (
            "POST",
            "/api/runs/{id}/signals",
            json!({"path": "room"}),
            true,
        ),
        ("POST", "/api/runs/{id}/cancel", json!({}), true),
        graphql(r#"{ plan(requestId: "r") { state } }"#.into()),
        graphql(r#"{ results(requestId: "r") { state } }"#.into()),
        graphql(format!("{{ check({steps}) {{ code }} }}")),
        graphql(format!("mutation {{ executePlan({steps}) {{ state }} }}")),
        graphql(r#"mutation { cancelPlan(requestId: "r") }"#.into()),
    ]
}

/// Threads that answer requests never read the journal.
#[tokio::test]
async fn requests_for_the_journal_take_turns() {
    let fixture = Fixture::new("routes").await;
    let hosts = Hosts::new("127.0.0.1:80".parse().unwrap(), &[]);
    let (_ending, is_ending) = tokio::sync::watch::channel(());
    let router = router(&fixture.state, &hosts, is_ending);
    let router = TowerToHyperService::new(router);
    let source = include_str!("../routes.rs");
    let routes = source.split(".route(\"").skip(1);
    for route in routes.map(|route| route.split('"').next().unwrap()) {
        let is_tested = requests().iter().any(|request| request.1 == route);
        assert!(is_tested, "{route} has no request here");
    }
    let _turns = fixture.all_turns().await;
    for (method, path, body, waits) in requests() {
        let path = path.replace("{id}", "x").replace("{question}", "1");
        let request = Request::builder().method(method).uri(&path);
        let request = request
            .header(header::HOST, "127.0.0.1")
            .header(header::AUTHORIZATION, "Bearer token")
            .body(Body::from(body.to_string()));
        let answer = router.call(request.unwrap()).now_or_never();
        let status = answer.map(|answer| answer.unwrap().status());
        assert_eq!(
            status.is_none(),
            waits,
            "{method} {path} {body}: {status:?}"
        );
        assert_ne!(status, Some(StatusCode::NOT_FOUND), "{method} {path}");
    }
}

/// Lets eight requests submit runs at one time, and returns the number of submitted runs.
fn submit_together(
    (state, runtime): (&State, &Runtime),
    run: impl Fn(usize) -> (String, &'static str) + Sync,
) -> usize {
    let barrier = Barrier::new(8);
    let submit = |at| {
        let _runtime = runtime.enter();
        let (id, text) = run(at);
        let document = state.read(text, Profile::Strict).unwrap();
        barrier.wait();
        state.submit(&document, json!({}), &id).is_ok()
    };
    thread::scope(|scope| {
        let submitted: Vec<_> = (0..8).map(|at| scope.spawn(move || submit(at))).collect();
        let submitted = submitted.into_iter().map(|it| it.join().unwrap());
        submitted.filter(|is_ok| *is_ok).count()
    })
}

#[test]
fn requests_at_one_time_share_the_room_for_runs() {
    let runtime = Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::new("room"));
    let state = &fixture.state;
    let together = (&**state, &runtime);
    assert_eq!(submit_together(together, |_| ("ns-first".into(), WAITS)), 8);
    let bytes = state.open().bytes;
    let full = limits::OPEN_BYTES - 2 * bytes - bytes / 2;
    state.open().add("full", full);
    let submitted = submit_together(together, |at| (format!("ns-{at}"), WAITS));
    assert_eq!(submitted, 1);
    assert_eq!(state.open().of_runs.len(), 3);
}

/// A run that is retried is open again, so it needs the room of a new run.
#[test]
fn a_retry_needs_room() {
    let runtime = Runtime::new().unwrap();
    let full = vec![b'\n'; limits::ASKED.try_into().unwrap()];
    std::fs::write(folder("retry").join("retries.jsonl"), full).unwrap();
    let fixture = runtime.block_on(Fixture::new("retry"));
    let _runtime = runtime.enter();
    let state = &fixture.state;
    let document = state.read(WAITS, Profile::Strict).unwrap();
    state.submit(&document, json!({}), "ns-r").unwrap();
    let bytes = state.open().bytes;
    runtime.block_on(state.server.cancel("ns-r")).unwrap();
    let has_ended = || state.find("ns-r").unwrap().unwrap().ended.is_some();
    while !has_ended() {
        let turn = tokio::time::sleep(Duration::from_millis(20));
        let serve = state.server.serve().cancel_on(turn);
        runtime.block_on(serve).unwrap();
    }
    state.open().remove("ns-r");
    // A retry whose time cannot be stored keeps no room.
    let old = fixture.folder.join("retries.old.jsonl");
    std::fs::create_dir_all(old.join("inner")).unwrap();
    assert!(state.retry("ns-r").is_err());
    assert_eq!(state.open().bytes, 0);
    std::fs::remove_dir_all(old).unwrap();
    state.open().add("full", limits::OPEN_BYTES - bytes / 2);
    assert!(state.retry("ns-r").is_err());
    assert!(has_ended());
    state.open().remove("full");
    state.retry("ns-r").unwrap();
    assert!(!has_ended());
    assert_eq!(state.open().bytes, bytes);
    assert!(state.retry("none").is_err());
}

/// Requests with one id reserve the memory of the run in the journal, in any order.
#[test]
fn requests_with_one_id_take_the_room_of_one_run() {
    let runtime = Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::new("one"));
    let state = &fixture.state;
    let together = (&**state, &runtime);
    const OTHER: &str = r#"{"name": "other", "steps": [{"id": "desk", "await": "String"}]}"#;
    const UNFIT: &str = r#"{"name": "unfit", "inputs": [{"name": "to", "type": "String"}],
        "steps": [{"id": "desk", "await": "String"}]}"#;
    for round in 0..20 {
        let id = format!("gs-{round}");
        let submitted = submit_together(together, |at| {
            let text = [WAITS, OTHER, UNFIT][at % 3];
            (id.clone(), text)
        });
        assert!((2..=3).contains(&submitted), "{submitted}");
        assert_eq!(state.open().of_runs.len(), round + 1);
    }
    let refused = submit_together(together, |at| (format!("gs-unfit-{at}"), UNFIT));
    assert_eq!((refused, state.open().of_runs.len()), (0, 20));
}
