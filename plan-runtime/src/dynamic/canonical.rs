//! What [`Plan`] serialises to.

use super::draft::{Draft, wrong_kind};
use super::node::{Node, Source};
use crate::Plan;

pub(super) fn read(draft: &mut Draft, source: &Source<'_>, node: Node<'_>) -> Option<Plan> {
    match node.read() {
        Ok(plan) => Some(plan),
        Err(error) => {
            let note = wrong_kind(source, node, "the document", &error.to_string());
            draft.error(note)
        }
    }
}
