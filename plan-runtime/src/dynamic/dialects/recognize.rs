//! The detection of a document's dialect.

use super::Dialect;
use super::reading::Members;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::depth::DEEPEST_BODY;
use crate::plan::json::names::{self, block, branch, each, plan, step};

/// The members and the steps of a document in an unknown dialect.
pub(crate) struct Outline<'a> {
    /// The members around the steps. `None` if the document is a list of steps.
    pub(crate) top: Option<Members<'a>>,
    pub(crate) steps: Vec<JsonNode<'a>>,
}

/// The certainty of a document's dialect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Certain,
    /// A sign that counts only if there is no certain sign.
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
                let mut lists = Dialect::table().flat_map(|rules| rules.syntax.lists());
                let list =
                    lists.find_map(|name| top.get(name).filter(|it| it.kind() == JsonType::List));
                let steps = list.or_else(|| top.get(plan::STEPS))?.items();
                let top = Some(top);
                Some(Self { top, steps })
            }
            _ => None,
        }
    }

    /// Returns `true` if one of these members is around the steps.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.top.as_ref().is_some_and(|top| top.has(names))
    }
}

/// Returns the dialect whose form a document has.
pub(crate) fn recognize(node: JsonNode<'_>) -> Option<Dialect> {
    let outline = Outline::of(node)?;
    let dialects = || Dialect::ALL.iter().copied();
    for sign in [Sign::Certain, Sign::Likely] {
        let has = |dialect: &Dialect| (dialect.rules().recognition.sign)(&outline) == Some(sign);
        if let Some(dialect) = dialects().find(has) {
            return Some(dialect);
        }
    }
    let mut is_unsure = false;
    for step in &outline.steps {
        if step.kind() != JsonType::Object {
            continue;
        }
        // Bodies have one form in all dialects, except for the calls in them.
        let call = call(*step, 0);
        let shows = call.as_ref().map(|call| members(*call));
        let step = members(*step);
        let has = |dialect: &Dialect, step| (dialect.rules().recognition.has_step)(&outline, step);
        let shown = |dialect: &Dialect| {
            has(dialect, &step) || shows.as_ref().is_some_and(|call| has(dialect, call))
        };
        if let Some(dialect) = dialects().find(shown) {
            return Some(dialect);
        }
        if call.is_none() && step.has(&names::BODIES) {
            is_unsure = true;
            continue;
        }
        if step.has(&["arguments", "id"]) {
            is_unsure = false;
            break;
        }
    }
    let usual = dialects().find(|dialect| dialect.rules().recognition.usual == Some(node.kind()));
    let mark = usual.and_then(|usual| usual.rules().mark);
    let has_mark = mark.is_some_and(|mark| node.slice().contains(&format!("\"{}", mark.open)));
    let own = dialects().find(|dialect| (dialect.rules().recognition.may_lack_calls)(&outline));
    own.filter(|_| is_unsure && !has_mark).or(usual)
}

/// Returns the first call in a step or a body, with its members, up to this depth.
fn call(body: JsonNode<'_>, depth: usize) -> Option<JsonNode<'_>> {
    if depth > DEEPEST_BODY || body.kind() != JsonType::Object {
        return None;
    }
    let given = members(body);
    if given.given(step::TOOL).is_some() {
        return Some(body);
    }
    let inner = |node| call(node, depth + 1);
    let each = given.get(step::FOR).map(members);
    if let Some(found) = each.and_then(|each| inner(each.get(each::BODY)?)) {
        return Some(found);
    }
    let branches = given.get(step::IF).map(JsonNode::items).unwrap_or_default();
    let mut branches = branches.into_iter().map(members);
    if let Some(found) = branches.find_map(|branch| inner(branch.get(branch::THEN)?)) {
        return Some(found);
    }
    let blocks = [step::BLOCK, step::LOOP];
    let mut blocks = blocks
        .iter()
        .filter_map(|name| given.get(name))
        .map(members);
    blocks.find_map(|block| {
        let steps = block.get(block::STEPS).map(JsonNode::items);
        let steps = steps.unwrap_or_default().into_iter();
        steps.chain(block.get(block::TAIL)).find_map(inner)
    })
}

fn members(node: JsonNode<'_>) -> Members<'_> {
    Members::split(node, &mut |_| {})
}
