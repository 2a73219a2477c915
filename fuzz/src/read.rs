//! Properties of reading any document.

use super::limits;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Findings, Profile, Reader};

/// Reads a document in both profiles.
pub fn read(dialect: Option<Dialect>, text: &str) {
    for profile in [Profile::Strict, Profile::Compat] {
        let reader = Reader::new().profile(profile).limits(limits());
        let reader = match dialect {
            Some(dialect) => reader.dialect(dialect),
            None => reader,
        };
        match reader.read(text) {
            Ok(document) => {
                assert!(!document.warnings().has_errors());
                placed(document.warnings(), text);
                plan(document.plan());
            }
            Err(findings) => {
                assert!(findings.has_errors());
                placed(&findings, text);
            }
        }
    }
}

/// Checks that each finding is inside the document, at its line and its column.
fn placed(findings: &Findings, text: &str) {
    let _ = findings.to_string();
    for finding in findings {
        for label in std::iter::once(&finding.label).chain(&finding.related) {
            let before = text
                .get(..label.span.start)
                .expect("it starts at a character");
            assert!(text.get(label.span.clone()).is_some());
            assert_eq!(label.line, before.matches('\n').count() + 1);
            let line = before.rsplit('\n').next().unwrap_or_default();
            assert_eq!(label.column, line.chars().count() + 1);
        }
    }
}

/// Checks that a plan has no cycle, and equals the plan read from its written forms.
fn plan(plan: &Plan) {
    let levels: usize = plan.levels().iter().map(Vec::len).sum();
    assert_eq!(levels, plan.steps.len());
    let _ = plan.to_string();
    let json = serde_json::to_string(plan).expect("a plan can be written");
    let again: Plan = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert_eq!(again, *plan, "{json}");
    // The error lists the unsupported parts.
    let Ok(text) = plan.to_blueprint() else {
        return;
    };
    let reader = Reader::new()
        .dialect(Dialect::Blueprint)
        .limits(limits().bytes(usize::MAX).string(usize::MAX));
    let read = reader
        .read(&text)
        .unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert_eq!(read.plan(), plan, "{text}");
}
