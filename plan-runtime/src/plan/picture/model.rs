//! The content of a diagram, independent of any language.

use std::fmt::Result;

/// The content of a plan's diagram.
pub(super) struct Content {
    pub(super) nodes: Vec<PictureNode>,
    /// The first group is the whole diagram, which has no frame.
    pub(super) groups: Vec<Group>,
    pub(super) edges: Vec<Edge>,
}

pub(super) struct PictureNode {
    pub(super) id: String,
    pub(super) kind: NodeKind,
    /// The label, line by line.
    pub(super) lines: Vec<String>,
    /// The index of the group around the node.
    pub(super) group: usize,
    /// `true` for an undo step, and for a step that may fail without effect on the plan.
    pub(super) dashed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeKind {
    Input,
    /// A call to a tool.
    Call,
    /// A value that is computed.
    Computed,
    /// A value from outside.
    Await,
    /// The condition of a branch.
    Condition,
    /// The head of a loop.
    Loop,
    Output,
}

/// A frame around nodes: a step with conditions or a loop, or a call to a plan that is drawn.
pub(super) struct Group {
    pub(super) id: String,
    pub(super) lines: Vec<String>,
    /// The enclosing group. The parent of the first group is the first group itself.
    pub(super) parent: usize,
    /// The indices of the nodes and the groups directly inside.
    pub(super) nodes: Vec<usize>,
    pub(super) groups: Vec<usize>,
    pub(super) dashed: bool,
    /// A node inside, for languages in which edges lead to nodes only.
    pub(super) head: usize,
}

/// The start or the end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum End {
    Node(usize),
    Group(usize),
}

pub(super) struct Edge {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) kind: EdgeKind,
    /// The label, line by line.
    pub(super) lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum EdgeKind {
    /// An edge for a value.
    Data,
    /// Order without data.
    After,
    /// An edge from a step to the step that it undoes.
    Undo,
    /// An edge from a condition to a branch, or from a loop to its round.
    Flow,
}

/// A part of a diagram, in the order of the languages' notation.
pub(super) enum Part<'c> {
    Node(&'c PictureNode),
    Begin(&'c Group),
    End,
}

impl Content {
    /// Writes all nodes and groups, each with its indentation.
    pub(super) fn each(&self, write: &mut dyn FnMut(Part<'_>, usize) -> Result) -> Result {
        self.each_in(&self.groups[0], 2, write)
    }

    fn each_in(
        &self,
        group: &Group,
        indent: usize,
        write: &mut dyn FnMut(Part<'_>, usize) -> Result,
    ) -> Result {
        for &node in &group.nodes {
            write(Part::Node(&self.nodes[node]), indent)?;
        }
        for &inner in &group.groups {
            let inner = &self.groups[inner];
            write(Part::Begin(inner), indent)?;
            self.each_in(inner, indent + 2, write)?;
            write(Part::End, indent)?;
        }
        Ok(())
    }

    /// Returns the node at an end, which is the head for a group.
    pub(super) fn node(&self, end: End) -> &PictureNode {
        match end {
            End::Node(node) => &self.nodes[node],
            End::Group(group) => &self.nodes[self.groups[group].head],
        }
    }

    /// Returns the ends of an edge, changed if the edge leads from a group to its own content, which no language can
    /// draw.
    pub(super) fn apart(&self, from: End, to: End) -> (End, End) {
        let holds = |outer: End, inner: End| {
            let mut at = match inner {
                End::Node(node) => self.nodes[node].group,
                End::Group(group) => group,
            };
            while at > 0 && outer != End::Group(at) {
                at = self.groups[at].parent;
            }
            at > 0
        };
        let head = |end: End| match end {
            End::Group(group) => End::Node(self.groups[group].head),
            node => node,
        };
        match (holds(from, to), holds(to, from)) {
            (false, false) => (from, to),
            (true, false) => (head(from), to),
            (false, true) => (from, head(to)),
            (true, true) => (head(from), head(to)),
        }
    }
}
