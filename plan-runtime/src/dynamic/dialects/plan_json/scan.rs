//! Strings of plan JSON, which have no references in them, and how it has them instead.

use crate::dynamic::dialects::references::{ReferenceTarget, Scan, quote};
use crate::plan::Segment;
use crate::plan::json::names::{element, reference, segment, source, template};

pub(super) fn scan(text: &str) -> Scan<'_> {
    let mut scan = Scan::default();
    scan.text(text);
    scan
}

/// A reference as a template.
pub(super) fn form(to: ReferenceTarget<'_>, path: &[Segment]) -> String {
    let source = match to {
        ReferenceTarget::Step(_, id) => member(source::STEP, &quote(id)),
        ReferenceTarget::Input(name) => member(source::INPUT, &quote(name)),
    };
    let reads = format!("{{{source}, {}}}", way(path));
    format!("{{{}}}", member(template::REFERENCE, &reads))
}

/// The path, as a member of a reference.
fn way(path: &[Segment]) -> String {
    if !path.iter().any(Segment::is_each) {
        let pointer = jsonptr::PointerBuf::from_tokens(path.iter().filter_map(Segment::token));
        return member(reference::POINTER, &quote(pointer.as_str()));
    }
    let parts = path.iter().map(|part| match part.token() {
        Some(token) => quote(&token.decoded()),
        None => format!("{{{}}}", member(segment::EACH, &quote(element::ELEMENT))),
    });
    let parts: Vec<String> = parts.collect();
    member(reference::PATH, &format!("[{}]", parts.join(", ")))
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", quote(name))
}
