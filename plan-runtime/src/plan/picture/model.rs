//! What a picture consists of, in no particular language.

use std::fmt::Result;

/// The content of a plan's picture.
pub(super) struct Content {
    pub(super) nodes: Vec<PictureNode>,
    /// The first is the whole picture, which has no frame.
    pub(super) groups: Vec<Group>,
    pub(super) edges: Vec<Edge>,
}

pub(super) struct PictureNode {
    pub(super) id: String,
    pub(super) kind: NodeKind,
    /// The label, line by line.
    pub(super) lines: Vec<String>,
    /// The place of the group that it is in.
    pub(super) group: usize,
    /// Whether it may fail without harm.
    pub(super) optional: bool,
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

/// A frame around nodes: a step with conditions or a loop, or a call to a plan that is drawn, too.
pub(super) struct Group {
    pub(super) id: String,
    pub(super) lines: Vec<String>,
    /// The group that it is in; of the first, itself.
    pub(super) parent: usize,
    /// The places of the nodes and the groups that are directly in it.
    pub(super) nodes: Vec<usize>,
    pub(super) groups: Vec<usize>,
    pub(super) optional: bool,
    /// A node inside, for languages in which edges lead to nodes only.
    pub(super) head: usize,
}

/// Where an edge begins or ends.
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
    /// A value goes along it.
    Data,
    /// Order without data.
    After,
    /// From a step to the one that it undoes.
    Undo,
    /// From a condition to a branch, from a loop to its round.
    Flow,
}

/// A part of a picture, in the order in which languages write them.
pub(super) enum Part<'c> {
    Node(&'c PictureNode),
    Begin(&'c Group),
    End(&'c Group),
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
            write(Part::End(inner), indent)?;
        }
        Ok(())
    }

    /// The node at an end; for a group, its head.
    pub(super) fn node(&self, end: End) -> &PictureNode {
        match end {
            End::Node(node) => &self.nodes[node],
            End::Group(group) => &self.nodes[self.groups[group].head],
        }
    }

    /// The ends of an edge, such that it does not lead from a group to what that has inside: no language draws it.
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
