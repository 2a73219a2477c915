//! The report of a journal is equal to the report of the run itself, for all answers of a gate to three questions.

use crate::journal::asking::Asking;
use crate::serving::support::{Folder, Place, at, until};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunFilter, RunState, Sqlite, SqliteOptions};
use plan_runtime::run::{CallContext, Decision, Gate, PendingCall, Run, Status, StepReport};
use plan_runtime::serve::Server;
use plan_runtime::{Error, Report, Result, plan, tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::future::{IntoFuture, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

/// The end of a call. A call without an end waits for its gate.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Completes,
    Refused,
    Fails,
}

/// The ends of the calls with the numbers 0, 1 and 2. All other calls complete.
#[derive(Clone, Debug)]
struct Ends([Option<End>; 3]);

#[tool]
async fn act(ends: &Ends, n: usize) -> Result<usize> {
    match ends.0.get(n) {
        Some(Some(End::Fails)) => Err(Error::permanent("broken")),
        _ => Ok(n),
    }
}

plan! {
    Apart() -> usize {
        step one = Act { n: 0 };
        step two = Act { n: 1 };
        step three = Act { n: 2 };
        one + two + three
    }
}

plan! {
    Each() -> Vec<usize> {
        step all = for n in [0, 1, 2] { Act { n } };
        all
    }
}

plan! {
    Inside() -> Vec<usize> {
        step held = Act { n: 9 };
        #[undo(held)]
        step released = Act { n: 9 };
        #[after(held)]
        step block = {
            step all = for n in [0, 1, 2] { Act { n } };
            all
        };
        block
    }
}

plan! {
    Mixed() -> Vec<usize> {
        step before = Act { n: 0 };
        step all = for n in [1, 2] { Act { n } };
        step whole = Each {};
        if before == 0 { all } else { whole }
    }
}

plan! {
    Missing() -> usize {
        step all = for n in [0, 1] { Act { n } };
        step late = Act { n: all[2] };
        late
    }
}

/// The gate never answers a question about a call without an end.
impl Gate for Ends {
    async fn ask(&self, call: PendingCall) -> Decision {
        let number = usize::try_from(call.arguments()["n"].as_u64().unwrap()).unwrap();
        match self.0.get(number) {
            Some(None) => pending().await,
            Some(Some(End::Refused)) => Decision::Refuse("too much".into()),
            _ => Decision::Allow,
        }
    }
}

/// Returns all combinations with a call that is refused or fails.
fn all_ends() -> Vec<Ends> {
    let ends = [
        None,
        Some(End::Completes),
        Some(End::Refused),
        Some(End::Fails),
    ];
    let all = (0..64).map(|number: usize| [number % 4, number / 4 % 4, number / 16]);
    let all = all.map(|numbers| numbers.map(|it| ends[it]));
    all.filter(|it| it.contains(&ends[2]) || it.contains(&ends[3]))
        .map(Ends)
        .collect()
}

/// Adds a line for each step, and a line for each attempt.
fn told(report: &Report, around: &str, all: &mut Vec<String>) {
    for step in report.steps() {
        let path = format!("{around}{}", step.id());
        all.push(format!("{path}{:?}: {}", step.element(), step.status()));
        for attempt in step.attempts() {
            let (element, number) = (attempt.element(), attempt.number());
            let error = attempt.error().map(ToString::to_string);
            let has_ended = attempt.ended().is_some();
            all.push(format!("{path}{element:?}@{number}: {has_ended} {error:?}"));
            for inside in attempt.inside() {
                told(inside, &format!("{path}{element:?}."), all);
            }
        }
    }
}

fn steps(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    told(report, "", &mut all);
    all
}

fn has_running(report: &Report) -> bool {
    let steps = report.steps().iter();
    steps.into_iter().any(|step| {
        let mut inside = step.attempts().iter().flat_map(|it| it.inside());
        matches!(step.status(), Status::Running | Status::Waiting) || inside.any(has_running)
    })
}

#[test]
fn a_refusal_ends_the_questions_beside_it() {
    let folder = Folder::new();
    // The test needs no power failure.
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let toolbox = Toolbox::new().with::<Apart>().with::<Each>();
    let toolbox = toolbox.with::<Inside>().with::<Mixed>();
    for ends in all_ends() {
        ends_as_it_is_seen(&db, &toolbox, Apart {}.run(&ends), &ends);
        ends_as_it_is_seen(&db, &toolbox, Each {}.run(&ends), &ends);
        ends_as_it_is_seen(&db, &toolbox, Inside {}.run(&ends), &ends);
        // Open questions of an inner plan keep the run open.
        if !ends.0.contains(&None) {
            ends_as_it_is_seen(&db, &toolbox, Mixed {}.run(&ends), &ends);
        }
    }
    let runs = db.runs_now(&RunFilter::new().state(RunState::Failed));
    assert_eq!(runs.len(), 3 * (64 - 8) + 27 - 1);
}

#[test]
fn a_call_that_cannot_be_asked_about_fails_as_it_is_seen() {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let ends = Ends([Some(End::Completes); 3]);
    let toolbox = Toolbox::new().with::<Missing>();
    ends_as_it_is_seen(&db, &toolbox, Missing {}.run(&ends), &ends);
}

fn ends_as_it_is_seen<O: DeserializeOwned + Debug + Send + 'static>(
    db: &Sqlite,
    toolbox: &Toolbox<Ends>,
    run: Run<'_, Ends, O>,
    ends: &Ends,
) {
    let id = &format!("{ends:?} {}", fastrand::u64(..));
    let run = run.gate(ends.clone()).durable(db, id);
    let (result, live) = smol::block_on(run.with_report());
    let error = result.unwrap_err().to_string();
    let seen = at(db, toolbox, &Arc::new(ends.clone())).report(id).unwrap();
    assert!(!has_running(&seen), "{id}: {seen}");
    assert_eq!(steps(&seen), steps(&live), "{id}: {error}");
    assert_eq!(db.error_now(id).unwrap(), Some(error), "{id}");
}

/// A line whose last call ends only if the line is not stuck.
#[derive(Default)]
struct Line {
    is_stuck: bool,
    has_begun: AtomicBool,
}

#[tool]
async fn dial(line: &Line, n: usize) -> Result<usize> {
    if n == 2 && line.is_stuck {
        line.has_begun.store(true, Ordering::Relaxed);
        pending::<()>().await;
    }
    Ok(n)
}

/// Dials with a further gate.
#[tool]
async fn dial_inside(line: &Line, #[context] context: CallContext) -> Result<Vec<usize>> {
    let run = Pairs {}.run(line).gate(Add(100)).inside(&context);
    Ok(run.await?)
}

plan! {
    Pairs() -> Vec<usize> {
        #[concurrency(2)]
        step all = for n in [0, 1, 2] { Dial { n } };
        all
    }
}

plan! {
    Around() -> Vec<usize> {
        step all = DialInside {};
        all
    }
}

/// Allows the first call, and all calls when the last question comes.
struct Desk;

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        match call.arguments()["n"].as_u64() {
            Some(0) => Decision::Allow,
            Some(2) => Decision::AllowStep,
            _ => pending().await,
        }
    }
}

/// Changes the arguments of the first call.
struct Editor(Value);

impl Gate for Editor {
    async fn ask(&self, call: PendingCall) -> Decision {
        match call.arguments()["n"].as_u64() {
            Some(0) => Decision::AllowWith(self.0.clone()),
            // Equal arguments are no change.
            _ => Decision::AllowWith(call.arguments().clone()),
        }
    }
}

/// Adds a number to an argument.
struct Add(u64);

impl Gate for Add {
    async fn ask(&self, call: PendingCall) -> Decision {
        match call.arguments()["n"].as_u64() {
            Some(n) => Decision::AllowWith(json!({"n": n + self.0})),
            None => Decision::Allow,
        }
    }
}

/// Runs the plan until its last call has begun, and resumes the run with a gate that answers nothing.
fn resumed(gate: impl Gate + 'static) -> (Vec<usize>, Report, Report) {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let stuck = Line {
        is_stuck: true,
        ..Line::default()
    };
    let run = Pairs {}.run(&stuck).gate(gate).durable(&db, "pairs");
    smol::block_on(async {
        let mut run = pin!(run.into_future());
        poll_fn(|cx| {
            assert!(run.as_mut().poll(cx).is_pending());
            if stuck.has_begun.load(Ordering::Relaxed) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    });
    let line = Line::default();
    let run = Pairs {}.run(&line).durable(&db, "pairs");
    let run = run.gate(Ends([None; 3])).capture_arguments(true);
    let (result, live) = smol::block_on(run.with_report());
    let toolbox = Toolbox::new().with::<Pairs>();
    let server = Server::new(&db, toolbox, line);
    let seen = server.report_with("pairs", |run| run.capture_arguments(true));
    (result.unwrap(), live, smol::block_on(seen).unwrap())
}

/// The last element starts after the answer about all elements has been found for another element.
#[test]
fn an_answer_about_all_elements_is_found_again_by_a_later_element() {
    let (result, live, seen) = resumed(Desk);
    assert_eq!(result, [0, 1, 2]);
    assert_eq!(steps(&seen), steps(&live));
}

#[test]
fn changed_arguments_outlive_a_crash() {
    let (result, live, seen) = resumed(Editor(json!({"n": 7})));
    assert_eq!(result, [7, 1, 2]);
    for report in [live, seen] {
        let attempts = report.steps()[0].attempts();
        let attempts = attempts.iter().map(|it| (it.arguments(), it.is_changed()));
        let given = [7, 1, 2].map(|n| json!({"n": n}));
        let expected = given.iter().map(|it| (Some(it), it["n"] == 7));
        assert_eq!(attempts.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert!(report.to_string().contains("[changed arguments]"));
        assert_eq!(json!(report)["steps"][0]["attempts"][0]["changed"], true);
        let hint = "The arguments were changed before the call, so they differ from the plan.";
        assert_eq!(report.to_html().matches(hint).count(), 1);
    }
}

#[test]
fn changed_arguments_that_no_tool_reads_fail_their_step() {
    let line = Line::default();
    let run = Pairs {}.run(&line).gate(Editor(json!({"m": 7})));
    let (result, report) = smol::block_on(run.with_report());
    let error = result.unwrap_err().to_string();
    assert!(error.contains("missing field `n`"), "{error}");
    assert_eq!(report.steps()[0].error().unwrap().code(), "ARGUMENTS");
}

#[test]
fn a_later_gate_decides_about_changed_arguments() {
    let line = Line::default();
    let run = Around {}.run(&line).gate(Add(10));
    assert_eq!(smol::block_on(run).unwrap(), [110, 111, 112]);
}

/// Runs a plan until its questions are open, and returns the report of the journal.
fn asked<O: DeserializeOwned + Send + 'static>(
    run: Run<'_, Ends, O>,
    toolbox: Toolbox<Ends>,
) -> Report {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let ends = Ends([None; 3]);
    let is_asked = Arc::new(AtomicBool::new(false));
    let run = run.gate(Asked(is_asked.clone()));
    let run = run.durable(&db, "asked").into_future();
    let report = || at(&db, &toolbox, &Arc::new(ends.clone())).report("asked");
    let waits = || {
        let waits = |it: &StepReport| matches!(it.status(), Status::Waiting);
        let has_wait = |report: Report| report.steps().iter().any(waits);
        // The journal has the run after the first poll.
        is_asked.load(Ordering::Relaxed) && report().is_ok_and(has_wait)
    };
    smol::block_on(smol::future::or(async { drop(run.await) }, until(waits)));
    report().unwrap()
}

/// Answers only the question before a block. Notes the last question.
struct Asked(Arc<AtomicBool>);

impl Gate for Asked {
    async fn ask(&self, call: PendingCall) -> Decision {
        match call.arguments()["n"].as_u64() {
            Some(9) => return Decision::Allow,
            number => self.0.fetch_or(number == Some(2), Ordering::Relaxed),
        };
        pending().await
    }
}

#[test]
fn an_open_question_is_a_wait_and_no_call() {
    let ends = Ends([None; 3]);
    let report = asked(Apart {}.run(&ends), Toolbox::new().with::<Apart>());
    for step in &report.steps()[..3] {
        assert!(matches!(step.status(), Status::Waiting), "{report}");
        assert!(step.attempts().is_empty(), "{report}");
        assert_eq!(step.waits().len(), 1, "{report}");
    }
    let report = asked(Each {}.run(&ends), Toolbox::new().with::<Each>());
    let all = report.step("all").unwrap();
    assert!(matches!(all.status(), Status::Waiting), "{report}");
    // The page calls the run open, and draws the wait until now.
    let page = report.to_html();
    for part in [
        ", not ended after <strong>",
        "<rect class=\"waits\"",
        "<text class=\"open\" x=\"100%\" y=\"50%\">▸</text>",
        ">waiting for ",
        ">for ×3: ",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert_eq!(all.waits().len(), 3);
    let report = asked(Inside {}.run(&ends), Toolbox::new().with::<Inside>());
    let block = report.step("block").unwrap();
    assert!(matches!(block.status(), Status::Waiting), "{report}");
    assert_eq!(
        steps(&report)[3..6],
        [
            "block[]: waiting",
            "block[]@1: false None",
            "block[].all[]: waiting"
        ]
    );
}

/// Allows a call after a moment.
struct Slow;

impl Gate for Slow {
    async fn ask(&self, _: PendingCall) -> Decision {
        smol::Timer::after(std::time::Duration::from_millis(20)).await;
        Decision::Allow
    }
}

#[test]
fn a_call_begins_after_its_answer() {
    let ends = Ends([None; 3]);
    let run = Apart {}.run(&ends).gate(Slow);
    let (_, report) = smol::block_on(run.with_report());
    for step in &report.steps()[..3] {
        let ([wait], [call]) = (step.waits(), step.attempts()) else {
            panic!("{report}");
        };
        assert!(wait.ended().unwrap() <= call.started(), "{report}");
    }
}
