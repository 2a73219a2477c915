//! What is wrong with a reference that has the form of one.

use crate::ast::{Hop, Reference, Value};
use crate::report::Report;
use jsonptr::Pointer;
use syn::Member;

/// Checks the JSON Pointers in a reference.
pub(super) fn checked(reference: Reference, report: &mut Report) -> Value {
    let before = report.len();
    for hop in &reference.hops {
        if let Hop::Pointer(_, _, text) = hop {
            let value = text.value();
            if let Err(error) = Pointer::parse(&value) {
                report.contained(text, pointer_error(&value, &error));
            }
        }
    }
    if report.len() == before {
        Value::Reference(reference)
    } else {
        Value::Broken
    }
}

/// Whether it ends with the name of a method that an `Option` or a `Result` has, which hardly any field has.
pub(super) fn is_method_without_call(reference: &Reference) -> bool {
    let Some(Hop::Field(_, Member::Named(name))) = reference.hops.last() else {
        return false;
    };
    ["is_some", "is_none", "is_ok", "is_err"]
        .iter()
        .any(|method| name == method)
}

fn pointer_error(value: &str, error: &jsonptr::ParseError) -> String {
    let reason = match error {
        jsonptr::ParseError::NoLeadingSlash => {
            return format!(
                "`{value}` is not a JSON Pointer (RFC 6901): it does not start with `/`\nhelp: write `\"/{value}\"`"
            );
        }
        _ => "`~` is valid only in `~0` (for `~`) and `~1` (for `/`)",
    };
    format!("`{value}` is not a JSON Pointer (RFC 6901): {reason}")
}
