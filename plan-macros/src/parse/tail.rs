//! The last expression of a plan, its output.

use super::value;
use crate::ast::{Tail, Value};
use crate::mistakes::{is_call, tail as mistakes};
use crate::report::Report;
use crate::syntax::Statement;
use proc_macro2::TokenStream;

/// Reads the final expression.
pub(super) fn tail(
    statement: &Statement,
    tokens: &TokenStream,
    report: &mut Report,
) -> Option<Tail> {
    let tail = |value| {
        Some(Tail {
            value,
            tokens: tokens.clone(),
        })
    };
    if !statement.attrs.is_empty() {
        let last = mistakes::last_attribute(&statement.attrs);
        report.push(mistakes::attributes(last, statement, tokens));
        // A call and a statement are no output.
        let is_output = !tokens.is_empty() && !statement.semicolon && !is_call(tokens);
        return is_output.then_some(Value::Broken).and_then(tail);
    }
    if let Some(mistake) = mistakes::in_plan(statement, tokens) {
        report.push(mistake);
        return None;
    }
    if tokens.is_empty() {
        return None;
    }
    let before = report.len();
    let value = value::all(tokens.clone(), statement.end, "the end of the plan", report);
    tail(if report.drop_cascade(before) {
        Value::Broken
    } else {
        value
    })
}
