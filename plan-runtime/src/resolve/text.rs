//! `format!` over values.

use super::error::{ResolveError, What};
use super::node::{At, Node};
use super::template::InTemplate;
use super::{Scope, error};
use crate::plan::Part;
use serde::Deserialize as _;
use serde_json::Value;

/// Writes the parts one after the other. What is put in is never looked at again.
pub(super) fn write<'a>(
    parts: &'a [Part],
    scope: &'a Scope<'a>,
    depth: u16,
) -> Result<String, ResolveError> {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Value { value, spec, show } => {
                let at = At::from(InTemplate {
                    template: value,
                    scope,
                    depth,
                })
                .deeper()?;
                let at = at.part(Node::Template(value)).settle()?;
                let (origin, each) = (at.origin, matches!(at.node, Node::Each { .. }));
                let made;
                let value: &Value = match at.node {
                    Node::Value(value) => value,
                    _ => {
                        made = Value::deserialize(at)?;
                        &made
                    }
                };
                let shown = match show {
                    Some(show) => show.show(value, &mut out),
                    None if spec.is_empty() => show_json(value, &mut out),
                    None => {
                        Err(ResolveError::of(What::NotExecutable).computed(&format!("{{:{spec}}}")))
                    }
                };
                shown.map_err(|e| At::complete(e.found(value), origin, scope, each))?;
            }
        }
    }
    Ok(out)
}

/// JSON's own text, but a string is written as it is.
fn show_json(value: &Value, out: &mut String) -> Result<(), error::ResolveError> {
    use std::fmt::Write;
    match value {
        Value::String(text) => out.push_str(text),
        value => write!(out, "{value}").map_err(|e| ResolveError::new(e.to_string()))?,
    }
    Ok(())
}
