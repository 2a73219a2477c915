//! Writes each dangerous character in all strings of a plan, and looks at all printed forms.

use super::{assert_line, assert_safe, document};
use crate::support::unseen::UNSEEN;
use plan_runtime::dynamic::{Contract, Contracts, Findings, Reader, Toolbox};
use plan_runtime::journal::JournalError;
use plan_runtime::run::{
    Decision, Gate, Observer, OnFailure, PendingCall, SignalError, Status, StepError, StepRef,
};
use plan_runtime::{Error, Plan, Report, RunError};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The number of characters in one string. Messages would cut a longer string.
const TOGETHER: usize = 24;

/// Returns the control characters, the short ranges of invisible characters, and the ends of longer ranges. The tests of `print` cover all characters.
fn dangerous() -> Vec<char> {
    let mut all: BTreeSet<char> = (0..0xa0_u8)
        .map(char::from)
        .filter(|c| c.is_control())
        .collect();
    for range in UNSEEN.ranges() {
        let (start, end) = (range.start(), range.end());
        if (start..=end).count() <= 16 {
            all.extend(start..=end);
        } else {
            all.extend([start, end]);
        }
    }
    all.into_iter().collect()
}

/// The written strings, each with the name of its sink.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Written {
    fn add(&self, sink: &'static str, text: impl ToString) {
        self.0.lock().unwrap().push((sink, text.to_string()));
    }
}

impl Observer for Written {
    fn attempt_failed(&self, step: &StepRef<'_>, _: u32, error: &StepError, _: Duration) {
        self.add("step", step);
        self.add("error of an attempt", error);
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        self.add("step", step);
        self.add("status", status);
    }
}

impl Gate for Written {
    async fn ask(&self, call: PendingCall) -> Decision {
        self.add("question", &call);
        self.add("call", call.context());
        match &call.arguments()["refuse"] {
            Value::Null => Decision::Allow,
            why => Decision::Refuse(why.to_string()),
        }
    }
}

#[cfg(feature = "progress")]
mod bars {
    use super::Written;
    use indicatif::{ProgressDrawTarget, TermLike};
    use plan_runtime::run::Progress;
    use std::fmt;
    use std::io::Result;

    /// A terminal that keeps all strings, and ignores moves of its cursor.
    struct Terminal(Written);

    impl fmt::Debug for Terminal {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Terminal")
        }
    }

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            2_000
        }
        fn move_cursor_up(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> Result<()> {
            self.0.add("progress bar", text);
            Ok(())
        }
        fn clear_line(&self) -> Result<()> {
            Ok(())
        }
        fn flush(&self) -> Result<()> {
            Ok(())
        }
    }

    pub(super) fn progress(written: &Written) -> Progress {
        let terminal = Box::new(Terminal(written.clone()));
        Progress::on(ProgressDrawTarget::term_like(terminal))
    }
}

#[cfg(feature = "tracing")]
mod log {
    use super::Written;
    use std::fmt::Debug;
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    /// A subscriber that keeps the values of all fields.
    pub(super) struct Log(pub(super) Written);

    impl Visit for &Log {
        fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
            self.0.add("log", format!("{value:?}"));
        }

        fn record_str(&mut self, _: &Field, value: &str) {
            self.0.add("log", value);
        }
    }

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            span.record(&mut &*self);
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, values: &Record<'_>) {
            values.record(&mut &*self);
        }
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            event.record(&mut &*self);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
}

/// Runs a plan with the string in each name, value, input, output and error.
fn run(text: &str, written: &Written) -> (RunError, Report) {
    let name = |number: u8| format!("{text}{number}");
    let (input, acts, fails) = (name(9), format!("t{text}"), format!("f{text}"));
    let acts_with =
        |arguments: Value| json!({"tool": {"name": acts}, "arguments": {"object": arguments}});
    let with = |mut step: Value, id: u8, more: Value| {
        step["id"] = name(id).into();
        step["intent"] = format!("i{text}").into();
        for (member, value) in more.as_object().into_iter().flatten() {
            step[member] = value.clone();
        }
        step
    };
    let fails_with = json!({"tool": {"name": fails}, "arguments": {"object": {text: text}}});
    let steps = json!([
        with(
            acts_with(json!({text: text, "in": {"reference": {"input": input, "pointer": ""}}})),
            0,
            json!({})
        ),
        with(
            fails_with.clone(),
            1,
            json!({"policy": {"optional": "whole"}})
        ),
        with(
            json!({}),
            2,
            json!({"for": {"pattern": "x", "list": [text, 2], "body": fails_with}})
        ),
        with(acts_with(json!({})), 3, json!({"after": [name(2)]})),
        with(acts_with(json!({"refuse": text})), 4, json!({})),
        with(
            acts_with(json!({"x": {"reference": {"step": name(0), "path": [text, text]}}})),
            5,
            json!({})
        ),
    ]);
    let plan = json!({"name": format!("p{text}"), "description": text, "inputs": [{"name": input, "type": "String", "description": text}], "steps": steps});
    let plan: Plan = serde_json::from_value(plan).unwrap();
    let output = json!({text: text});
    let message = text.to_owned();
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new(acts), move |_| {
            let output = output.clone();
            async move { Ok(output) }
        })
        .with_fn(Contract::new(fails), move |_| {
            let error = Error::msg(message.clone()).context(message.clone());
            async move { Err::<Value, _>(error) }
        });
    let inputs = json!({input: text});
    let run = toolbox
        .run(&plan, inputs, &())
        .on_failure(OnFailure::Continue);
    let run = run.observe(written.clone()).gate(written.clone());
    #[cfg(feature = "progress")]
    let run = run.observe(bars::progress(written));
    let run = run.capture_arguments(true).capture_outputs(true);
    let block_on = || smol::block_on(run.with_report());
    #[cfg(feature = "tracing")]
    let (result, report) = tracing::subscriber::with_default(log::Log(written.clone()), block_on);
    #[cfg(not(feature = "tracing"))]
    let (result, report) = block_on();
    (result.unwrap_err(), report)
}

fn write_run(text: &str, written: &Written) {
    let (error, report) = run(text, written);
    written.add("error of a run", &error);
    written.add("error of a run, at length", format!("{error:?}"));
    for failure in error.failures() {
        written.add("failure", failure);
    }
    written.add("report", &report);
    #[cfg(feature = "html")]
    written.add("report as a page", report.to_html());
    for error in report.steps().iter().filter_map(|step| step.error()) {
        written.add("error of a step", error);
    }
}

fn write_plan(text: &str, written: &Written) {
    let document = document(|_| text.to_owned());
    let plan: Plan = serde_json::from_value(document.clone()).unwrap();
    written.add("plan", &plan);
    for step in &plan.steps {
        written.add("step of a plan", step);
    }
    written.add("Mermaid", plan.mermaid());
    written.add("DOT", plan.dot());
    let tools: Contracts = [Contract::new(format!("t{text}")), Contract::new("send")]
        .into_iter()
        .collect();
    let document = document.to_string();
    let found: Findings = match Reader::new().tools(&tools).read(&document) {
        Ok(_) => panic!("its tools are not known"),
        Err(findings) => findings,
    };
    written.add("findings", &found);
    #[cfg(feature = "diagnostics")]
    written.add("findings in the document", found.render(text));
    for finding in &found {
        written.add("finding", finding);
    }
}

fn write_errors(text: &str, written: &Written) {
    let own = || text.to_owned();
    for error in [
        JournalError::Owned {
            id: own(),
            owner: own(),
        },
        JournalError::Lost { id: own() },
        JournalError::Unknown { id: own() },
        JournalError::Second { path: own() },
        JournalError::Changed {
            plan: own(),
            change: own(),
        },
        JournalError::Misfit {
            what: own(),
            why: own(),
        },
        JournalError::Untaken { record: own() },
        JournalError::storage(own()),
    ] {
        written.add("error of a journal", &error);
        written.add("error of a signal", SignalError::Journal(error));
    }
    let error = serde_json::from_str::<Plan>(
        &json!({"name": "p", "steps": [{"id": text, text: 1}]}).to_string(),
    );
    written.add("error of a document", error.unwrap_err());
}

/// The sinks. `true` allows several lines.
const SINKS: &[(&str, bool)] = &[
    ("DOT", true),
    ("Mermaid", true),
    ("call", false),
    ("error of a document", false),
    ("error of a journal", false),
    ("error of a step", false),
    ("error of a run", false),
    ("error of a run, at length", true),
    ("error of a signal", false),
    ("error of an attempt", false),
    ("failure", false),
    ("finding", true),
    ("findings", true),
    #[cfg(feature = "diagnostics")]
    ("findings in the document", true),
    #[cfg(feature = "tracing")]
    ("log", false),
    ("plan", true),
    #[cfg(feature = "progress")]
    ("progress bar", false),
    ("question", false),
    ("report", true),
    #[cfg(feature = "html")]
    ("report as a page", true),
    ("status", false),
    ("step", false),
    ("step of a plan", true),
];

#[test]
fn nothing_dangerous_is_written() {
    let all = dangerous();
    assert!(all.len() > 120, "{}", all.len());
    let mut shown = BTreeSet::new();
    for some in all.chunks(TOGETHER) {
        // A letter before each character, since the escape of a mark depends on the character before it.
        let text: String = some.iter().flat_map(|c| ['x', *c]).collect();
        let written = Written::default();
        write_plan(&text, &written);
        write_run(&text, &written);
        write_errors(&text, &written);
        let written = std::mem::take(&mut *written.0.lock().unwrap());
        for (sink, text) in &written {
            let known = SINKS.iter().find(|(name, _)| name == sink);
            if known.unwrap_or_else(|| panic!("{sink}")).1 {
                assert_safe(text);
            } else {
                assert_line(text);
            }
            if text.contains("u{") {
                shown.insert(*sink);
            }
        }
    }
    // Each sink was reached, and shows escapes.
    let sinks: BTreeSet<&str> = SINKS.iter().map(|(name, _)| *name).collect();
    assert_eq!(shown, sinks);
}
