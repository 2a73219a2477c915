//! Diagrams of plans in the language of Graphviz.

use super::model::{Content, Edge, EdgeKind, End, NodeKind, Part, PictureNode};
use crate::print::{Line, visible};
use std::fmt::{Display, Formatter, Result, Write};

pub(super) fn write(
    f: &mut Formatter<'_>,
    name: &str,
    direction: &str,
    content: &Content,
) -> Result {
    let title = &[Line(name).to_string()];
    let title = DotText(title);
    writeln!(f, "digraph {title} {{")?;
    // Edges end at frames only with this setting.
    writeln!(
        f,
        "  graph [rankdir={direction}, compound=true, fontname=\"sans-serif\", label={title}, labelloc=t];"
    )?;
    writeln!(f, "  node [shape=box, fontname=\"sans-serif\"];")?;
    writeln!(f, "  edge [fontname=\"sans-serif\", fontsize=11];")?;
    content.each(&mut |part, indent| match part {
        Part::Node(node) => {
            write!(f, "{:indent$}", "")?;
            write_node(f, node)
        }
        Part::Begin(group) => {
            // Only a subgraph whose name begins so is drawn as a frame.
            writeln!(f, "{:indent$}subgraph cluster_{} {{", "", group.id)?;
            let dashed = if group.dashed { ",dashed" } else { "" };
            let (label, inner) = (DotText(&group.lines), indent + 2);
            writeln!(
                f,
                "{:inner$}graph [label={label}, style=\"rounded{dashed}\"];",
                ""
            )
        }
        Part::End => writeln!(f, "{:indent$}}}", ""),
    })?;
    for edge in &content.edges {
        write_edge(f, content, edge)?;
    }
    f.write_str("}\n")
}

fn write_node(f: &mut Formatter<'_>, node: &PictureNode) -> Result {
    write!(f, "{} [label={}", node.id, DotText(&node.lines))?;
    let shape = match node.kind {
        NodeKind::Input => "parallelogram",
        NodeKind::Call | NodeKind::Computed => "",
        NodeKind::Await => "cds",
        NodeKind::Condition => "diamond",
        NodeKind::Loop => "hexagon",
        NodeKind::Output => "oval",
    };
    if !shape.is_empty() {
        write!(f, ", shape={shape}")?;
    }
    match (node.kind == NodeKind::Computed, node.dashed) {
        (true, true) => f.write_str(", style=\"rounded,dashed\"")?,
        (true, false) => f.write_str(", style=rounded")?,
        (false, true) => f.write_str(", style=dashed")?,
        (false, false) => {}
    }
    f.write_str("];\n")
}

fn write_edge(f: &mut Formatter<'_>, content: &Content, edge: &Edge) -> Result {
    let (from, to) = (content.node(edge.from), content.node(edge.to));
    write!(f, "  {} -> {}", from.id, to.id)?;
    let mut separator = " [";
    let mut attribute = |f: &mut Formatter<'_>, name: &str, value: &dyn Display| {
        write!(f, "{separator}{name}={value}")?;
        separator = ", ";
        Ok(())
    };
    for (name, end) in [("ltail", edge.from), ("lhead", edge.to)] {
        if let End::Group(group) = end {
            let group = &content.groups[group].id;
            attribute(f, name, &format_args!("cluster_{group}"))?;
        }
    }
    if !edge.lines.is_empty() {
        attribute(f, "label", &DotText(&edge.lines))?;
    }
    match edge.kind {
        EdgeKind::Data => {}
        EdgeKind::After => attribute(f, "style", &"dashed")?,
        EdgeKind::Undo => {
            attribute(f, "style", &"dashed")?;
            // The edge leads back to an earlier step, so it must not affect the ranks.
            attribute(f, "constraint", &"false")?;
        }
        EdgeKind::Flow => attribute(f, "style", &"bold")?,
    }
    f.write_str(if separator == ", " { "];\n" } else { ";\n" })
}

/// A quoted string of several lines.
struct DotText<'t, S>(&'t [S]);

impl<S: AsRef<str>> Display for DotText<'_, S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for (number, line) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("\\n")?;
            }
            for c in visible(line.as_ref().trim()).chars() {
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
