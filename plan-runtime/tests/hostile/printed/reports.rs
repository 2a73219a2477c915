use super::{assert_line, assert_safe, assert_seen, hostile};
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{ManualTimer, Observer, OnFailure, Status, StepError, StepRef, Throttle};
use plan_runtime::{Error, Failure, Plan, Report, RunError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

/// The output of an observer.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Seen {
    fn push(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

impl Observer for Seen {
    fn attempt_failed(&self, step: &StepRef<'_>, _: u32, error: &StepError, _: Duration) {
        self.push(format!("{step}: {error}"));
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        self.push(format!("{step}: {status}"));
    }
}

/// Asserts that `{:?}` and `{:#?}` write no invisible characters.
fn assert_debug(value: &dyn fmt::Debug) {
    assert_seen(&format!("{value:?}"));
    assert_seen(&format!("{value:#?}"));
}

/// Values that are no reports.
#[test]
fn debug_output_is_visible() {
    let name = "a\u{3164}\u{115f}\u{2800}\u{1b}\u{202e}";
    let text = json!([{"id": name, "tool": name, "arguments": {name: name}}]).to_string();
    let contract = || Contract::new(name).description(name);
    let toolbox = Toolbox::<()>::new().with_fn(contract(), |_: Value| async { Ok(Value::Null) });
    let document = toolbox.read(&text).unwrap();
    assert_debug(&document);
    assert_debug(document.plan());
    assert_debug(&document.plan().steps);
    assert_debug(&toolbox);
    assert_debug(&contract());
    assert_debug(&toolbox.read(&text.replace("tool", name)).unwrap_err());
    assert_debug(
        &Throttle::new()
            .concurrency(name, 1)
            .rate(name, 1, Duration::ZERO),
    );
    let mut plan = document.plan().clone();
    plan.name = name.to_owned();
    assert_debug(&toolbox.run(&plan, (), &()));
    let run = toolbox.run(&plan, (), &()).with_report();
    assert_debug(&run);
    let signals = toolbox.run(&plan, (), &()).signals();
    assert_debug(&signals.send(name, 1).unwrap_err());
    let failure =
        json!({"step": name, "code": name, "message": name, "transient": false, "attempts": 1});
    assert_debug(&serde_json::from_value::<Failure>(failure).unwrap());
}

/// Runs a plan whose names, errors and outputs contain these strings.
pub(super) fn run(name: &str, message: &str, output: &str) -> (RunError, Report, Vec<String>) {
    let id = |number: u8| format!("{name}{number}");
    let tool = format!("t{name}");
    let plan: Plan = serde_json::from_value(json!({"name": format!("p{name}"), "description": format!("d{name}"), "steps": [
        {"id": id(0), "intent": format!("d{name}"), "tool": {"name": tool}, "arguments": {"object": {format!("k{name}"): message}}},
        {"id": id(1), "tool": {"name": "fail"}, "arguments": {"object": {"text": message}}, "policy": {"optional": "whole"}},
        {"id": id(2), "tool": {"name": tool}, "arguments": {"object": {
            "x": {"reference": {"step": id(0), "path": [output, format!("k{name}")]}}}}},
        {"id": id(3), "for": {"pattern": "x", "list": [1, 2], "body": {"tool": {"name": "fail"}, "arguments": {"object": {"text": message}}}}},
        {"id": id(4), "tool": {"name": tool}, "after": [id(3)]}
    ]})).unwrap();
    let output = json!({output: output, "text": message});
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new(tool), move |_| {
            let output = output.clone();
            async move { Ok(output) }
        })
        .with_fn(Contract::new("fail"), |arguments: Value| async move {
            Err(Error::msg(arguments["text"].as_str().unwrap_or_default()).context("no"))
        });
    let seen = Arc::new(Seen::default());
    let (result, report) = smol::block_on(
        toolbox
            .run(&plan, (), &())
            // The critical path depends on the times of the steps.
            .timer(ManualTimer::new())
            .on_failure(OnFailure::Continue)
            .observe(seen.clone())
            .capture_arguments(true)
            .capture_outputs(true)
            .with_report(),
    );
    (
        result.unwrap_err(),
        report,
        std::mem::take(&mut *seen.0.lock().unwrap()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn reports_are_tables(name in hostile(), message in hostile(), output in hostile()) {
        let (error, report, seen) = run(&name, &message, &output);
        let table = report.to_string();
        assert_safe(&table);
        let critical = usize::from(report.critical_path().len() > 1);
        prop_assert_eq!(table.lines().count(), 1 + 5 + critical, "{}", table);
        // The status is aligned in one column.
        let rows = table.lines().skip(1).take(5);
        let columns: Vec<_> = rows
            .zip(report.steps())
            .map(|(row, step)| {
                let words = format!("  {}", step.status().name());
                row.find(&words).map(|at| row[..at].width())
            })
            .collect();
        prop_assert!(columns[0].is_some() && columns.iter().all(|it| *it == columns[0]), "{:?}\n{}", columns, table);

        assert_line(&error.to_string());
        let debug = format!("{error:?}");
        assert_safe(&debug);
        prop_assert_eq!(debug.lines().count(), 1 + error.failures().len(), "{}", debug);
        for failure in error.failures() {
            assert_line(&failure.to_string());
            assert_line(&failure.error().to_string());
        }
        for step in report.steps() {
            assert_line(&step.status().to_string());
        }
        assert_debug(&report);
        assert_debug(&error);
        assert_debug(&error.failures());
        prop_assert!(seen.len() >= 5);
        seen.iter().for_each(|text| assert_line(text));
    }
}

#[test]
fn a_report_says_what_happened() {
    let (error, report, _) = run(
        "a\n  b  send  completed",
        "gone\u{1b}[8m\nall is well",
        "o\u{202e}",
    );
    let text = error.to_string();
    assert!(
        text.starts_with(r#"plan `"pa\n  b  send  completed"` failed: "#),
        "{text}"
    );
    assert!(
        text.contains(
            r#"step `"a\n  b  send  completed3"[0]` (fail): no: gone\u{1b}[8m\nall is well"#
        ),
        "{text}"
    );
    let table = report.to_string();
    assert!(
        table.contains("\n  \"a\\n  b  send  completed0\"  "),
        "{table}"
    );
    assert!(table.contains(r"no: gone\u{1b}[8m\nall is well"), "{table}");
}

#[test]
fn wide_names_keep_the_columns() {
    let (_, report, _) = run("名前", "x", "o");
    let table = report.to_string();
    let rows: Vec<&str> = table.lines().skip(1).take(5).collect();
    let column = |row: &str, word: &str| row.find(word).map(|at| row[..at].width());
    assert_eq!(
        column(rows[0], "completed"),
        column(rows[1], "recovered"),
        "{table}"
    );
    assert_eq!(column(rows[0], "t名前"), column(rows[1], "fail"), "{table}");
}

/// Errors before the start of a run escape names as well.
#[test]
fn a_run_that_cannot_start() {
    let plan: Plan = serde_json::from_value(
        json!({"name": "p\u{1b}", "inputs": [{"name": "i\n\u{202e}", "type": "u8"}], "steps": [
            {"id": "a\n", "tool": {"name": "\u{1b}[8mgone"}},
            {"id": "b\u{200b}", "tool": {"name": "gone\n"}}
        ]}),
    )
    .unwrap();
    let error = smol::block_on(Toolbox::<()>::new().run(&plan, (), &())).unwrap_err();
    assert_line(&error.to_string());
    let debug = format!("{error:?}");
    assert_safe(&debug);
    assert_eq!(debug.lines().count(), 4, "{debug}");
}
