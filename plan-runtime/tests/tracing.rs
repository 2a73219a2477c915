//! Spans and events, as a subscriber sees them.

use plan_runtime::check::{Request, Started};
use plan_runtime::run::Run;
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(Clone, Default)]
struct Seen {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
    inside: Arc<Mutex<Vec<u64>>>,
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!(" {}={value:?}", field.name()));
    }
}

impl Seen {
    fn say(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl Subscriber for Seen {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(String::new());
        span.record(&mut fields);
        let id = self.spans.fetch_add(1, Ordering::SeqCst) + 1;
        let parent = span.parent().map_or(0, Id::into_u64);
        self.say(format!(
            "{id} in {parent}: {}{}",
            span.metadata().name(),
            fields.0
        ));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        self.say(format!("{}:{}", span.into_u64(), fields.0));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let inside = self.inside.lock().unwrap().last().copied();
        self.say(format!("event in {}:{}", inside.unwrap_or(0), fields.0));
    }

    fn enter(&self, span: &Id) {
        self.inside.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.inside.lock().unwrap().pop();
    }
}

#[derive(Serialize, Deserialize)]
struct Fetch {
    ok: bool,
}

impl Shape for Fetch {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Fetch {
    type Output = u64;
    const NAME: &'static str = "fetch";
}

impl Call<()> for Fetch {
    async fn call(self, (): &()) -> Result<u64> {
        smol::future::yield_now().await;
        tracing::info!("at work");
        if self.ok {
            Ok(1)
        } else {
            Err(Error::permanent("it is gone"))
        }
    }
}

fn start<'x>(_: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
    request.call::<Fetch, ()>(app)
}

/// Runs a plan, and returns what the subscriber sees.
fn lines(plan: &Plan) -> Vec<String> {
    // While there is only one subscriber, an event that another thread comes to first is of no interest to any thread.
    let _other = tracing::Dispatch::new(Seen::default());
    let seen = Seen::default();
    tracing::subscriber::with_default(seen.clone(), || {
        let run = Run::<(), ()>::new(plan, Ok(vec![]), &(), start);
        let _ = smol::block_on(run);
    });
    std::mem::take(&mut seen.lines.lock().unwrap())
}

#[test]
fn attempts_are_spans_and_ends_are_events() {
    let plan: Plan = serde_json::from_str(
        r#"{"name": "p", "steps": [
            {"id": "a", "tool": {"name": "fetch"}, "arguments": {"object": {"ok": true}}},
            {"id": "b", "tool": {"name": "fetch"}, "arguments": {"object": {"ok": false}}, "after": ["a"]},
            {"id": "c", "tool": {"name": "fetch"}, "after": ["b"]}
        ]}"#,
    )
    .unwrap();
    let lines = lines(&plan);
    let lines: Vec<_> = lines
        .iter()
        .map(|line| line.split(" took=").next().unwrap())
        .collect();
    let expected = [
        r#"1 in 0: plan plan="p""#,
        r#"2 in 1: step step=a tool="fetch" attempt=1"#,
        "event in 2: message=at work",
        r#"2: outcome="completed""#,
        r#"event in 1: message=step step=a tool="fetch" outcome="completed""#,
        r#"3 in 1: step step=b tool="fetch" attempt=1"#,
        "event in 3: message=at work",
        r#"3: outcome="failed""#,
        "event in 3: message=attempt failed error=it is gone",
        r#"event in 1: message=step step=b tool="fetch" outcome="failed""#,
        r#"event in 1: message=step step=c tool="fetch" outcome="blocked""#,
        "event in 1: message=plan finished totals=1 completed, 1 failed, 1 blocked",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn names_are_safe_to_print() {
    let plan: Plan = serde_json::from_str(
        r#"{"name": "p\u3164\u001b", "steps": [
            {"id": "a\u001b[8m\n", "tool": {"name": "fetch\u3164\u202e"}, "arguments": {"object": {"ok": true}}}
        ]}"#,
    )
    .unwrap();
    let lines = lines(&plan);
    assert!(lines.len() > 4);
    for line in lines {
        let unseen = |c: char| c.is_control() || matches!(c, '\u{3164}' | '\u{202e}');
        assert!(!line.contains(unseen), "{line}");
    }
}
