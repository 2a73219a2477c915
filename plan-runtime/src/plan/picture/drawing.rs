//! The state of drawing a plan.

use super::model::End;
use super::path;
use crate::plan::{Bound, InPlan, Plan, Reference, Template, root_name, written};

/// A template, and the end of the edges for its references. It is connected after all nodes that it may refer to exist.
pub(super) struct ReadingNode<'p> {
    pub(super) template: &'p Template,
    /// The prefix of each path.
    pub(super) prefix: &'static str,
    pub(super) to: End,
    pub(super) locals: Vec<LocalNode>,
}

/// A local value.
#[derive(Clone, Copy)]
pub(super) struct LocalNode {
    /// The node that binds it.
    pub(super) node: usize,
    /// The index of its pattern in the plan's list.
    pub(super) pattern: usize,
}

/// The state of drawing a plan.
pub(super) struct Drawing<'p> {
    pub(super) plan: &'p Plan,
    /// The prefix of all its nodes' IDs.
    pub(super) prefix: String,
    pub(super) inputs: Vec<usize>,
    pub(super) readers: Vec<ReadingNode<'p>>,
    pub(super) patterns: Vec<Bound>,
}

impl<'p> Drawing<'p> {
    pub(super) fn read(&mut self, template: &'p Template, to: End, locals: &[LocalNode]) {
        self.readers.push(ReadingNode {
            template,
            prefix: "",
            to,
            locals: locals.to_vec(),
        });
    }

    /// Stores a pattern, and returns its index.
    pub(super) fn pattern(&mut self, bound: Bound) -> usize {
        self.patterns.push(bound);
        self.patterns.len() - 1
    }
}

/// Returns the notation of a reference to a local value, starting at the name of its variable. It is the author's notation if
/// that starts with the name.
pub(super) fn variable(reference: &Reference, bound: Option<&Bound>) -> String {
    match (
        bound.and_then(|bound| bound.start(reference.path())),
        reference.as_written(),
    ) {
        (Some((name, _)), Some(text)) if root_name(text) == name => text.to_owned(),
        (Some((name, rest)), _) => written(name, rest),
        (None, Some(text)) => text.to_owned(),
        (None, None) => path(reference, None),
    }
}

/// The position of a step's part in the diagram.
#[derive(Clone)]
pub(super) struct Scoping<'s> {
    pub(super) step: &'s str,
    pub(super) group: usize,
    pub(super) locals: Vec<LocalNode>,
    /// The patterns that bind them.
    pub(super) patterns: Vec<Bound>,
    pub(super) dashed: bool,
}

impl Scoping<'_> {
    pub(super) fn of<'a, T>(&'a self, drawing: &'a Drawing<'_>, part: T) -> InPlan<'a, T> {
        InPlan {
            locals: &self.patterns,
            ..InPlan::new(drawing.plan, part)
        }
    }
}
