//! A reference in the syntax of a dialect.

use super::path::Names;
use super::{action_plan, quote};
use crate::dynamic::Dialect;
use crate::plan::Segment;

/// What a reference reads, by the names that dialects have for it.
#[derive(Clone, Copy, Debug)]
pub(in crate::dynamic) enum To<'n> {
    /// A step by its place and its id.
    Step(usize, &'n str),
    Input(&'n str),
}

/// A reference as the dialect writes it; `None` where the dialect has no inputs.
pub(in crate::dynamic) fn form(dialect: Dialect, to: To<'_>, path: &[Segment]) -> Option<String> {
    let names = Names::of(dialect);
    let name = |name: &str| {
        if names.is_name(name) {
            name.to_owned()
        } else {
            format!("[{}]", quote(name))
        }
    };
    Some(match (dialect, to) {
        (Dialect::ToolPlan, To::Step(_, id)) => {
            format!("$ref:{}{}", name(id), way(names, path, ".", ""))
        }
        (Dialect::Blueprint, To::Step(index, _)) => {
            format!("${{step[{index}].data{}}}", way(names, path, "[", "]"))
        }
        (Dialect::ActionPlan, To::Step(_, id)) => {
            format!("{{{{{}.result{}}}}}", name(id), way(names, path, "[", "]"))
        }
        (Dialect::ActionPlan, To::Input(input)) => {
            let name = name(&format!("{}{input}", action_plan::INPUT));
            // The dialect has no path into an input.
            format!("{{{{{name}}}}}")
        }
        (Dialect::Canonical, to) => {
            let source = match to {
                To::Step(_, id) => format!(r#""step": {}"#, quote(id)),
                To::Input(name) => format!(r#""input": {}"#, quote(name)),
            };
            format!(r#"{{"reference": {{{source}, {}}}}}"#, tokens(path))
        }
        (Dialect::ToolPlan | Dialect::Blueprint, To::Input(_)) => return None,
    })
}

fn way(names: Names, path: &[Segment], open: &str, close: &str) -> String {
    let mut way = String::new();
    for segment in path {
        match segment {
            Segment::Key(key, _) if names.is_name(key) => way.push_str(&format!(".{key}")),
            Segment::Key(key, _) => way.push_str(&format!("[{}]", quote(key))),
            Segment::Index(index, _) => way.push_str(&format!("{open}{index}{close}")),
            Segment::Each => way.push_str("[*]"),
            Segment::Optional(_) | Segment::Same | Segment::Or(_) | Segment::Else(_) => {}
        }
    }
    way
}

/// A path as a member of canonical JSON.
fn tokens(path: &[Segment]) -> String {
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
