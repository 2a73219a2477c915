//! Which dialect a document is in, where nobody says so.

use super::Dialect;
use super::reading::Members;
use crate::dynamic::node::{JsonNode, JsonType};

/// A document of which nothing is known but its members and its steps.
pub(crate) struct Outline<'a> {
    /// Those around the steps; without them, the document is a list of steps.
    pub(crate) top: Option<Members<'a>>,
    pub(crate) steps: Vec<JsonNode<'a>>,
}

/// How sure it is that a document is in a dialect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Certain,
    /// If nothing is certain.
    Likely,
}

impl<'a> Outline<'a> {
    fn of(node: JsonNode<'a>) -> Option<Self> {
        match node.kind() {
            JsonType::List => Some(Self {
                top: None,
                steps: node.items(),
            }),
            JsonType::Object => {
                let top = members(node);
                let steps = match top.get("plan").filter(|plan| plan.kind() == JsonType::List) {
                    Some(plan) => plan.items(),
                    None => top.get("steps")?.items(),
                };
                let top = Some(top);
                Some(Self { top, steps })
            }
            _ => None,
        }
    }

    /// Whether there is one of these members around the steps.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.top.as_ref().is_some_and(|top| top.has(names))
    }
}

/// The dialect that a document looks like.
pub(crate) fn recognize(node: JsonNode<'_>) -> Option<Dialect> {
    let outline = Outline::of(node)?;
    let dialects = || Dialect::ALL.into_iter();
    for sign in [Sign::Certain, Sign::Likely] {
        let has = |dialect: &Dialect| (dialect.rules().sign)(&outline) == Some(sign);
        if let Some(dialect) = dialects().find(has) {
            return Some(dialect);
        }
    }
    for step in &outline.steps {
        if step.kind() != JsonType::Object {
            continue;
        }
        let step = members(*step);
        let has = |dialect: &Dialect| (dialect.rules().has_step)(&outline, &step);
        if let Some(dialect) = dialects().find(has) {
            return Some(dialect);
        }
        if step.has(&["arguments", "id"]) {
            break;
        }
    }
    dialects().find(|dialect| dialect.rules().usual == Some(node.kind()))
}

fn members(node: JsonNode<'_>) -> Members<'_> {
    Members::split(node, &mut |_| {})
}
