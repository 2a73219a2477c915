//! All errors in plan JSON are reported together, each with its position.

mod blocks;
mod flow;
mod limits;
mod plans_and_steps;
mod right;
mod roles;
mod tests;
mod values;

use crate::support::plans;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, DocumentLimits, Reader};

fn reader() -> Reader<'static> {
    Reader::new().dialect(Dialect::PlanJson)
}

fn said(reader: Reader, document: &str) -> String {
    match reader.read(document) {
        Ok(document) => panic!("it is read: {}", document.plan()),
        Err(findings) => findings.to_string(),
    }
}

/// Parts of documents, each with its findings.
#[track_caller]
fn say(document: fn(&str) -> String, parts: &[(&str, &str)]) {
    for (part, expected) in parts {
        let document = document(part);
        assert_eq!(said(reader(), &document), *expected, "of {document}");
        // serde accepts an order that an older version may have recorded, and refuses all other errors.
        let is_recorded = expected.contains("but an always step runs after");
        assert_eq!(
            serde_json::from_str::<Plan>(&document).is_ok(),
            is_recorded,
            "{document}"
        );
    }
}

/// The findings of a reader with another limit.
#[track_caller]
fn limited(set: fn(&mut DocumentLimits), document: &str, expected: &str) {
    let mut limits = DocumentLimits::default();
    set(&mut limits);
    assert_eq!(
        said(reader().limits(limits), document),
        expected,
        "of {document}"
    );
}

fn whole(document: &str) -> String {
    document.to_owned()
}

fn steps(steps: &str) -> String {
    format!(
        r#"{{"name": "p", "inputs": [{{"name": "q"}}], "steps": [
  {steps}
]}}"#
    )
}

/// A step `b` after a step `a`.
fn step(members: &str) -> String {
    steps(&format!(
        r#"{{"id": "a", "tool": {{"name": "t"}}}},
  {{"id": "b", {members}}}"#
    ))
}

/// The value of the only step.
fn value(value: &str) -> String {
    steps(&format!(r#"{{"id": "a", "value": {value}}}"#))
}
