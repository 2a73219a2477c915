//! What a picture consists of, in no particular language.

/// A plan's picture.
#[derive(Default)]
pub(super) struct Picture {
    pub(super) nodes: Vec<PictureNode>,
    pub(super) groups: Vec<Group>,
    pub(super) edges: Vec<Edge>,
}

pub(super) struct PictureNode {
    pub(super) id: String,
    pub(super) kind: NodeKind,
    /// The label, line by line.
    pub(super) lines: Vec<String>,
    /// The place of the group that it is in.
    pub(super) group: Option<usize>,
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
    pub(super) parent: Option<usize>,
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
    pub(super) way: EdgeKind,
    /// The label, line by line.
    pub(super) lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum EdgeKind {
    /// A value goes along it.
    Data,
    /// Order without data.
    After,
    /// From a condition to a branch, from a loop to its round.
    Flow,
}

/// The nodes and groups that are directly in one group, or outside all groups.
#[derive(Clone, Default)]
pub(super) struct Inside {
    pub(super) nodes: Vec<usize>,
    pub(super) groups: Vec<usize>,
}

impl Picture {
    /// The contents outside all groups, and those of each group.
    pub(super) fn inside(&self) -> (Inside, Vec<Inside>) {
        let mut none = Inside::default();
        let mut each = vec![Inside::default(); self.groups.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            match node.group {
                Some(group) => each[group].nodes.push(place),
                None => none.nodes.push(place),
            }
        }
        for (place, group) in self.groups.iter().enumerate() {
            match group.parent {
                Some(parent) => each[parent].groups.push(place),
                None => none.groups.push(place),
            }
        }
        (none, each)
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
        let group = |end: End| match end {
            End::Node(node) => self.nodes[node].group,
            End::Group(group) => Some(group),
        };
        let holds = |outer: End, inner: End| {
            let around = std::iter::successors(group(inner), |&at| self.groups[at].parent);
            matches!(outer, End::Group(outer) if { around }.any(|at| at == outer))
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
