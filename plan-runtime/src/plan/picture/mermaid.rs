//! Diagrams of plans in the language of Mermaid.

use super::model::{Content, Edge, EdgeKind, End, NodeKind, Part, PictureNode};
use crate::print::{MessageName, visible};
use std::fmt::{Display, Formatter, Result, Write};

pub(super) fn write(
    f: &mut Formatter<'_>,
    name: &str,
    direction: &str,
    content: &Content,
) -> Result {
    f.write_str("---\n")?;
    if !name.is_empty() {
        writeln!(f, "title: {}", Title(&MessageName(name).to_string()))?;
    }
    // The labels have their own lines. Mermaid would break lines of more than 200 pixels.
    f.write_str("config:\n  flowchart:\n    wrappingWidth: 600\n---\n")?;
    writeln!(f, "flowchart {direction}")?;
    content.each(&mut |part, indent| {
        write!(f, "{:indent$}", "")?;
        match part {
            Part::Node(node) => write_node(f, node),
            Part::Begin(group) => {
                let (title, note) = group.lines.split_at(1.min(group.lines.len()));
                writeln!(f, "subgraph {}[\"{}\"]", group.id, MermaidLabel(title))?;
                // The second line of a title would cover the nodes below.
                if !note.is_empty() {
                    let label = MermaidLabel(note);
                    writeln!(f, "{:indent$}  note_{}[\"{label}\"]:::note", "", group.id)?;
                }
                Ok(())
            }
            Part::End => f.write_str("end\n"),
        }
    })?;
    for edge in &content.edges {
        write_edge(f, content, edge)?;
    }
    write_classes(f, content)
}

fn write_node(f: &mut Formatter<'_>, node: &PictureNode) -> Result {
    let (open, close) = match node.kind {
        NodeKind::Input => ("[/", "/]"),
        NodeKind::Call => ("[", "]"),
        NodeKind::Computed => ("(", ")"),
        NodeKind::Await => (">", "]"),
        NodeKind::Condition => ("{", "}"),
        NodeKind::Loop => ("{{", "}}"),
        NodeKind::Output => ("([", "])"),
    };
    write!(
        f,
        "{}{open}\"{}\"{close}",
        node.id,
        MermaidLabel(&node.lines)
    )?;
    f.write_str(match node.kind {
        NodeKind::Input => ":::input",
        NodeKind::Output => ":::output",
        _ if node.dashed => ":::dashed",
        _ => "",
    })?;
    f.write_char('\n')
}

fn write_edge(f: &mut Formatter<'_>, content: &Content, edge: &Edge) -> Result {
    let id = |end: End| match end {
        End::Node(node) => &content.nodes[node].id,
        End::Group(group) => &content.groups[group].id,
    };
    let arrow = match edge.kind {
        EdgeKind::Data => "-->",
        EdgeKind::After | EdgeKind::Undo => "-.->",
        EdgeKind::Flow => "==>",
    };
    write!(f, "  {} {arrow}", id(edge.from))?;
    if !edge.lines.is_empty() {
        write!(f, "|\"{}\"|", MermaidLabel(&edge.lines))?;
    }
    writeln!(f, " {}", id(edge.to))
}

fn write_classes(f: &mut Formatter<'_>, content: &Content) -> Result {
    let of = |kind| content.nodes.iter().any(|node| node.kind == kind);
    let groups = content.groups.iter();
    let groups = groups.filter(|group| group.dashed);
    let groups: Vec<&str> = groups.map(|group| &*group.id).collect();
    let dashed = content.nodes.iter().any(|node| node.dashed) || !groups.is_empty();
    let noted = content.groups.iter().any(|group| group.lines.len() > 1);
    for (used, class) in [
        (of(NodeKind::Input), "input fill:none"),
        (of(NodeKind::Output), "output fill:none"),
        (dashed, "dashed stroke-dasharray:5 4"),
        (noted, "note fill:none,stroke:none"),
    ] {
        if used {
            writeln!(f, "  classDef {class}")?;
        }
    }
    // Mermaid ignores the class of a subgraph before the class's definition.
    if !groups.is_empty() {
        writeln!(f, "  class {} dashed", groups.join(","))?;
    }
    Ok(())
}

/// A title in YAML, whose double-quoted strings have the escapes of JSON.
struct Title<'t>(&'t str);

impl Display for Title<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for c in visible(self.0).chars() {
            match c {
                '\n' => f.write_char(' ')?,
                // Mermaid interprets HTML markup and its own entities even in titles, and ends a title at a line of
                // hyphens.
                '"' | '\\' | '<' | '>' | '&' | '#' | '%' | '-' => {
                    write!(f, "\\u{:04x}", u32::from(c))?;
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A label inside quotes. Characters that Mermaid, its Markdown or HTML would interpret are written as numbers.
struct MermaidLabel<'l>(&'l [String]);

impl Display for MermaidLabel<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // Mermaid ignores an empty label.
        if self.0.iter().all(|line| line.trim().is_empty()) {
            return f.write_str("#32;");
        }
        for (number, line) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("<br/>")?;
            }
            write_line(f, line)?;
        }
        Ok(())
    }
}

fn write_line(f: &mut Formatter<'_>, line: &str) -> Result {
    let mut before = None;
    let mut only_digits = true;
    let line = visible(line.trim());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let plain = match c {
            '\n' => {
                f.write_str("<br/>")?;
                (before, only_digits) = (None, true);
                continue;
            }
            // At the start of a line, these characters begin a list.
            '.' | ')' => !only_digits,
            '-' | '+' | '=' => before.is_some(),
            // Between letters, underscores do not mean emphasis.
            '_' => word(before) && word(chars.peek().copied()),
            // Characters of a possible link.
            ':' => chars.peek() != Some(&'/'),
            ' ' | ',' | '(' | '[' | ']' | '{' | '}' | '/' | '?' | '!' | '\'' | '|' | '…' => true,
            c => c.is_alphanumeric() || !c.is_ascii(),
        };
        if plain {
            f.write_char(c)?;
        } else {
            write!(f, "#{};", u32::from(c))?;
        }
        // Two dollar signs begin a formula, even as numbers. A zero-width space separates them.
        if c == '$' && chars.peek() == Some(&'$') {
            f.write_str("#8203;")?;
        }
        only_digits &= c.is_ascii_digit();
        before = Some(c);
    }
    Ok(())
}
