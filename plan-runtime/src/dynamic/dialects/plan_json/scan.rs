//! Strings of plan JSON, which have no references in them, and how it has them instead.

use crate::dynamic::dialects::references::{Scan, To, quote};
use crate::plan::Segment;

pub(super) fn scan(text: &str) -> Scan<'_> {
    let mut scan = Scan::default();
    scan.text(text);
    scan
}

/// A reference as a template.
pub(super) fn form(to: To<'_>, path: &[Segment]) -> String {
    let source = match to {
        To::Step(_, id) => format!(r#""step": {}"#, quote(id)),
        To::Input(name) => format!(r#""input": {}"#, quote(name)),
    };
    format!(r#"{{"reference": {{{source}, {}}}}}"#, way(path))
}

/// The path, as a member of a reference.
fn way(path: &[Segment]) -> String {
    if !path.iter().any(|segment| matches!(segment, Segment::Each)) {
        let pointer = jsonptr::PointerBuf::from_tokens(path.iter().filter_map(Segment::token));
        return format!(r#""pointer": {}"#, quote(pointer.as_str()));
    }
    let parts = path.iter().filter_map(|segment| match segment {
        Segment::Each => Some(r#"{"each": "element"}"#.to_owned()),
        other => Some(quote(&other.token()?.decoded())),
    });
    let parts: Vec<String> = parts.collect();
    format!(r#""path": [{}]"#, parts.join(", "))
}
