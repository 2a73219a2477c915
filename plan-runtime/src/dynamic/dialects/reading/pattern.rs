//! The check that a pattern fits its value.

use super::PlanReader;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::plan::Template;
use crate::plan::pattern_mistake;

impl PlanReader<'_> {
    /// Refuses a pattern that requires more of data than a run checks.
    pub(super) fn pattern_fits(
        &mut self,
        node: JsonNode<'_>,
        pattern: &str,
        value: &Template,
        in_if: bool,
    ) {
        if let Some((message, help)) = pattern_mistake(pattern, value, in_if) {
            let note = Note::error(Code::NotAllowed, node.place(), message);
            self.builder.note(note.help(help));
        }
    }
}
