//! The macro finds no error in the output of `plan-rust`.

#[path = "../../../../plan-runtime/tests/support/plans.rs"]
mod plans;

use plan_runtime::Plan;
use plan_runtime::plan::Executable;
use plan_rust::RustSource;
use proc_macro2::TokenStream;
use proptest::prelude::*;
use std::cell::Cell;
use std::str::FromStr;

/// Returns the source of a plan, between the braces of `plan!`.
fn source(plan: &Plan) -> Option<String> {
    let source = RustSource::new(plan).allow_code().write().ok()?;
    let inside = source.strip_prefix("plan! {")?.trim_end();
    Some(inside.strip_suffix('}')?.to_owned())
}

/// The errors of the macro about plans that a run accepts, and about computed values, whose code is random.
const ACCEPTED: [&str; 3] = [
    "no step or input is named",
    "a limit of 0 fails",
    "leaves no time for a second attempt",
];

/// Returns the errors that the macro finds in a source, except the accepted ones.
fn mistakes(source: &str) -> Vec<String> {
    let tokens = TokenStream::from_str(source).expect("tokens");
    let expansion = crate::plan::plan(tokens).to_string();
    let mistakes = expansion.split("compile_error ! {").skip(1);
    let said = mistakes.map(|rest| rest.split('}').next().unwrap_or_default().to_owned());
    said.filter(|said| !ACCEPTED.iter().any(|accepted| said.contains(accepted)))
        .collect()
}

/// Random plans without the parts that `plan-rust` cannot write.
#[test]
fn what_is_written_has_no_mistakes() {
    let written = Cell::new(0);
    proptest!(ProptestConfig { failure_persistence: None, cases: 800, ..ProptestConfig::default() }, |(plan in plans::plan())| {
        let mut plan = plan;
        plan.name = "p".into();
        plan.output = Plan::new("").output;
        for input in &mut plan.inputs {
            input.type_name = "String".into();
        }
        for step in 0..plan.steps.len() {
            let mut one = plan.clone();
            one.steps.swap(0, step);
            one.steps.truncate(1);
            one.steps[0].after.clear();
            if let (None, Some(source)) = (Executable::new(&one).mistake(), source(&one)) {
                written.set(written.get() + 1);
                let mistakes = mistakes(&source);
                prop_assert!(mistakes.is_empty(), "{mistakes:?} in {source}");
            }
        }
    });
    assert!(written.get() > 100, "{}", written.get());
}
