//! Pictures of plans in the language of Graphviz.

use super::model::{Edge, EdgeKind, End, Inside, NodeKind, Picture, PictureNode};
use super::{Direction, build};
use crate::Plan;
use crate::print::{Line, visible};
use std::fmt::{Display, Formatter, Result, Write};

/// A plan in DOT. [`Plan::dot`] makes it, and it is printed.
///
/// What is drawn how is as [in Mermaid](super::Mermaid), but that computed steps are rectangles with round corners, and the thick
/// arrows of conditions and loops are bold ones.
#[derive(Clone, Debug)]
#[must_use = "it is written by printing it"]
pub struct Dot<'p> {
    plan: &'p Plan,
    nested: Vec<&'p Plan>,
    direction: Direction,
}

impl<'p> Dot<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            nested: Vec::new(),
            direction: Direction::default(),
        }
    }

    /// Lets the arrows lead this way.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Draws the steps of `plan` wherever it is called. Without it, a plan that is a step is drawn as any other tool: all that a
    /// plan knows of its tools is their names.
    pub fn nested(mut self, plan: &'p Plan) -> Self {
        self.nested.push(plan);
        self
    }
}

impl Display for Dot<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let picture = build::picture(self.plan, &self.nested);
        writeln!(
            f,
            "digraph {} {{",
            DotText(&[Line(&self.plan.name).to_string()])
        )?;
        let direction = self.direction.keyword();
        // Edges end at frames only where that is asked for.
        writeln!(
            f,
            "  graph [rankdir={direction}, compound=true, fontname=\"sans-serif\"];"
        )?;
        writeln!(f, "  node [shape=box, fontname=\"sans-serif\"];")?;
        writeln!(f, "  edge [fontname=\"sans-serif\", fontsize=11];")?;
        let (none, each) = picture.inside();
        write_inside(f, &picture, &none, &each, 2)?;
        for edge in &picture.edges {
            write_edge(f, &picture, edge)?;
        }
        f.write_str("}\n")
    }
}

fn write_inside(
    f: &mut Formatter<'_>,
    picture: &Picture,
    inside: &Inside,
    each: &[Inside],
    indent: usize,
) -> Result {
    for &node in &inside.nodes {
        write!(f, "{:indent$}", "")?;
        write_node(f, &picture.nodes[node])?;
    }
    for &place in &inside.groups {
        let group = &picture.groups[place];
        // Only a subgraph whose name begins so is drawn as a frame.
        writeln!(f, "{:indent$}subgraph cluster_{} {{", "", group.id)?;
        let style = if group.optional {
            "rounded,dashed"
        } else {
            "rounded"
        };
        let (label, inner) = (DotText(&group.lines), indent + 2);
        writeln!(f, "{:inner$}graph [label={label}, style=\"{style}\"];", "")?;
        write_inside(f, picture, &each[place], each, inner)?;
        writeln!(f, "{:indent$}}}", "")?;
    }
    Ok(())
}

fn write_node(f: &mut Formatter<'_>, node: &PictureNode) -> Result {
    write!(f, "{} [label={}", node.id, DotText(&node.lines))?;
    let shape = match node.kind {
        NodeKind::Input => "parallelogram",
        NodeKind::Call | NodeKind::Computed => "",
        NodeKind::Condition => "diamond",
        NodeKind::Loop => "hexagon",
        NodeKind::Output => "oval",
    };
    if !shape.is_empty() {
        write!(f, ", shape={shape}")?;
    }
    match (node.kind == NodeKind::Computed, node.optional) {
        (true, true) => f.write_str(", style=\"rounded,dashed\"")?,
        (true, false) => f.write_str(", style=rounded")?,
        (false, true) => f.write_str(", style=dashed")?,
        (false, false) => {}
    }
    f.write_str("];\n")
}

fn write_edge(f: &mut Formatter<'_>, picture: &Picture, edge: &Edge) -> Result {
    let (from, to) = (picture.node(edge.from), picture.node(edge.to));
    write!(f, "  {} -> {}", from.id, to.id)?;
    let mut separator = " [";
    let mut attribute = |f: &mut Formatter<'_>, name: &str, value: &dyn Display| {
        write!(f, "{separator}{name}={value}")?;
        separator = ", ";
        Ok(())
    };
    for (name, end) in [("ltail", edge.from), ("lhead", edge.to)] {
        if let End::Group(group) = end {
            let group = &picture.groups[group].id;
            attribute(f, name, &format_args!("cluster_{group}"))?;
        }
    }
    if !edge.lines.is_empty() {
        attribute(f, "label", &DotText(&edge.lines))?;
    }
    match edge.way {
        EdgeKind::Data => {}
        EdgeKind::After => attribute(f, "style", &"dashed")?,
        EdgeKind::Flow => attribute(f, "style", &"bold")?,
    }
    f.write_str(if separator == ", " { "];\n" } else { ";\n" })
}

/// A text in quotes, of lines.
struct DotText<'t, S>(&'t [S]);

impl<S: AsRef<str>> Display for DotText<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for (number, line) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\\n")?;
            }
            for c in visible(line.as_ref().trim()) {
                match c {
                    '"' => f.write_str("\\\"")?,
                    // In labels, `\N` and the like are replaced, for example with the node's name.
                    '\\' => f.write_str("\\\\")?,
                    '\n' => f.write_str("\\n")?,
                    // Graphviz reads entities of HTML in all labels.
                    '&' => f.write_str("&amp;")?,
                    c => f.write_char(c)?,
                }
            }
        }
        f.write_char('"')
    }
}
