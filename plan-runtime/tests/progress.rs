//! Progress bars, as a terminal shows them.

use indicatif::{InMemoryTerm, ProgressDrawTarget};
use plan_runtime::check::{Request, Started};
use plan_runtime::run::{ManualTimer, Progress, Run, Timer};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

#[derive(Serialize, Deserialize)]
struct Fetch {
    seconds: u64,
}

impl Shape for Fetch {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Fetch {
    type Output = u64;
    const NAME: &'static str = "fetch";
}

impl Call<ManualTimer> for Fetch {
    async fn call(self, timer: &ManualTimer) -> Result<u64> {
        timer.sleep(Duration::from_secs(self.seconds)).await;
        match self.seconds {
            3 => Err(Error::msg("busy")),
            seconds => Ok(seconds),
        }
    }
}

fn start<'x>(_: usize, request: Request<'_>, timer: &'x ManualTimer) -> Started<'x> {
    request.call::<Fetch, ManualTimer>(timer)
}

#[test]
fn a_line_for_each_step_that_runs() {
    let plan: Plan = serde_json::from_str(
        r#"{"name": "fan_out", "steps": [
            {"id": "all", "intent": "Fetch them.", "for": {"pattern": "n", "list": [1, 1, 5, 9], "body":
                {"tool": {"name": "fetch"}, "arguments": {"object": {"seconds": {"reference": {"local": 0, "pointer": ""}}}}}}},
            {"id": "flaky", "tool": {"name": "fetch"}, "arguments": {"object": {"seconds": 3}},
                "policy": {"attempts": 2, "backoff": "7s", "jitter": false}},
            {"id": "last", "tool": {"name": "fetch"}, "arguments": {"object": {"seconds": 1}}, "after": ["flaky"]}
        ]}"#,
    )
    .unwrap();
    let terminal = InMemoryTerm::new(10, 100);
    let progress = Progress::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    let timer = ManualTimer::new();
    let run = Run::<_, ()>::new(&plan, Ok(vec![]), &timer, start);
    let mut run = pin!(run.timer(timer.clone()).observe(progress));
    let mut cx = Context::from_waker(Waker::noop());
    // Spinners and real times are removed.
    let mut shown = |seconds, text: &str| {
        timer.advance(Duration::from_secs(seconds));
        let ended = run.as_mut().poll(&mut cx).is_ready();
        // A thread draws the lines.
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(250));
            if terminal.contents().contains(text) {
                break;
            }
        }
        (ended, terminal.contents())
    };
    let (_, at_start) = shown(0, "Fetch them.");
    assert!(at_start.starts_with("fan_out ["), "{at_start}");
    assert!(at_start.contains("0/3 steps"), "{at_start}");
    assert!(
        at_start.contains("all [") && at_start.contains("0/4"),
        "{at_start}"
    );
    assert!(at_start.contains("Fetch them."), "{at_start}");
    // The time passes without an event.
    let (_, waited) = shown(0, "steps, 1s");
    assert!(!waited.contains("steps, 0s"), "{waited}");
    let (_, later) = shown(3, "attempt 2 in 7s");
    assert!(later.contains("2/4"), "{later}");
    assert!(later.contains("attempt 2 in 7s"), "{later}");
    assert!(!shown(7, "").0);
    assert!(!shown(1, "").0, "the second attempt takes 3 s");
    let (ended, end) = shown(2, "");
    assert!(ended);
    assert_eq!(end.lines().count(), 1, "{end}");
    assert!(end.contains("(1 completed, 1 failed, 1 blocked)"), "{end}");
}

/// Names, intents and errors draw no lines, and have no other effect on a terminal.
#[test]
fn lines_are_no_more_than_steps() {
    let plan: Plan = serde_json::from_str(
        r#"{"name": "p\n100%", "steps": [
            {"id": "a\u001b[8m\nb", "intent": "Fetch\u202e\nthem.\u001b[2J", "tool": {"name": "fetch"}, "arguments": {"object": {"seconds": 9}}},
            {"id": "{msg}", "tool": {"name": "fetch"}, "arguments": {"object": {"seconds": 9}}}
        ]}"#,
    )
    .unwrap();
    let terminal = InMemoryTerm::new(10, 100);
    let progress = Progress::on(ProgressDrawTarget::term_like(Box::new(terminal.clone())));
    let timer = ManualTimer::new();
    let run = Run::<_, ()>::new(&plan, Ok(vec![]), &timer, start);
    let mut run = pin!(run.timer(timer.clone()).observe(progress));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    std::thread::sleep(Duration::from_millis(250));
    let shown = terminal.contents();
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.starts_with(r#""p\n100%" ["#), "{shown}");
    assert!(shown.contains(r#""a\u{1b}[8m\nb""#), "{shown}");
    assert!(shown.contains(r"Fetch\u{202e}\nthem.\u{1b}[2J"), "{shown}");
    assert!(shown.contains("{msg}"), "{shown}");
}
