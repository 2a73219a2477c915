//! `format!` over values.

use super::Scope;
use super::code::{Show, known};
use super::error::{ErrorDetail, ResolveError};
use super::meter::{Writing, charge, deeper};
use super::node::{At, Node, Slot, complete};
use crate::plan::{Part, Template};
use serde_json::Value;

/// Writes the parts in order. Inserted values are not interpreted.
pub(super) fn write<'a>(
    parts: &'a [Part],
    scope: &'a Scope<'a>,
    depth: u16,
) -> Result<String, ResolveError> {
    let meter = scope.meter();
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => {
                charge(meter, text.len())?;
                out.push_str(text);
            }
            Part::Value { value, spec } => {
                let is_formatted =
                    matches!(value, Template::Computed(computed) if computed.is_formatted());
                let slot = Slot::default();
                let at = Node::in_scope(At::Template(value), scope, deeper(depth)?);
                let at = at.settle(&slot)?;
                let (origin, each) = (at.origin, matches!(at.at, At::Each(_)));
                let value = &*at.look()?;
                let shown = match spec.code().and_then(known::<dyn Show + Sync, _>) {
                    Some(show) if !is_formatted => {
                        let before = out.len();
                        show.show(value, &mut out)
                            .and_then(|()| charge(meter, out.len() - before))
                    }
                    // As JSON, except that a string is written without quotes.
                    _ if is_formatted || spec.is_empty() => match value {
                        Value::String(text) => Writing::new(&mut out, meter).show(text),
                        value => Writing::new(&mut out, meter).show(value),
                    },
                    _ => Err(ResolveError::of(ErrorDetail::NotExecutable)
                        .computed(&format!("{{:{spec}}}"))),
                };
                shown.map_err(|e| complete(e.found(value), origin, Some(scope), each))?;
            }
        }
    }
    Ok(out)
}
