//! Patterns that only name things.

use super::PlanReader;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::node::Node;
use crate::plan::Template;
use crate::plan::json::only_names;
use crate::resolve::describe::short;

impl PlanReader<'_> {
    /// Refuses a pattern over data that asks more than whether something is there: a run compares data with no pattern, so it would do
    /// something else than what is printed. A computed value is taken apart by the code that computes it.
    pub(super) fn pattern_fits(
        &mut self,
        node: Node<'_>,
        pattern: &str,
        value: &Template,
        in_if: bool,
    ) {
        if matches!(value, Template::Computed(_)) || only_names(pattern, in_if) {
            return;
        }
        if in_if && only_names(pattern, false) {
            let pattern = short(pattern);
            let message = format!("the pattern `{pattern}` always matches, and a run skips null");
            let note = Note::error(Code::NotAllowed, self.place(node), message);
            let help = format!("a branch for what is not null has the pattern `Some({pattern})`");
            return self.draft.note(note.help(help));
        }
        let message = format!(
            "the pattern `{}` is not compared with the value",
            short(pattern)
        );
        let help = if in_if {
            "over data, a pattern is `Some(…)` with a name, `_`, or a tuple of them in it"
        } else {
            "over data, a pattern is a name, `_`, or a tuple of them"
        };
        let note = Note::error(Code::NotAllowed, self.place(node), message);
        self.draft.note(note.help(help.to_owned()));
    }
}
