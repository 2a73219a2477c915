//! Pictures of plans in the language of Mermaid.

use super::model::{Edge, EdgeKind, End, Inside, NodeKind, Picture, PictureNode};
use super::{Direction, build};
use crate::Plan;
use crate::print::{MessageName, visible};
use std::fmt::{Display, Formatter, Result, Write};

/// A plan as a Mermaid flowchart. [`Plan::mermaid`] makes it, and it is printed.
///
/// | in the plan | in the picture |
/// |---|---|
/// | an input | a parallelogram |
/// | a step that calls a tool | a rectangle: its name and the tool's, the intent, the policies |
/// | a computed step | a rounded rectangle with the expression |
/// | a step with an `if` or a `for` | a frame, with diamonds for conditions, hexagons for loops, and thick arrows between them |
/// | a reference | an arrow with its path; several from one step to another share one |
/// | `#[after(…)]` | a dotted arrow |
/// | `#[optional]` | a dashed border |
/// | the output | a stadium |
#[derive(Clone, Debug)]
#[must_use = "it is written by printing it"]
pub struct Mermaid<'p> {
    plan: &'p Plan,
    nested: Vec<&'p Plan>,
    direction: Direction,
}

impl<'p> Mermaid<'p> {
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

impl Display for Mermaid<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let picture = build::picture(self.plan, &self.nested);
        if !self.plan.name.is_empty() {
            writeln!(
                f,
                "---\ntitle: {}\n---",
                Title(&MessageName(&self.plan.name).to_string())
            )?;
        }
        let direction = self.direction.keyword();
        writeln!(f, "flowchart {direction}")?;
        let (none, each) = picture.inside();
        write_inside(f, &picture, &none, &each, 2)?;
        for edge in &picture.edges {
            write_edge(f, &picture, edge)?;
        }
        write_classes(f, &picture)
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
        let (id, label) = (&group.id, MermaidLabel(&group.lines));
        writeln!(f, "{:indent$}subgraph {id}[\"{label}\"]", "")?;
        write_inside(f, picture, &each[place], each, indent + 2)?;
        writeln!(f, "{:indent$}end", "")?;
        if group.optional {
            writeln!(f, "{:indent$}class {id} optional", "")?;
        }
    }
    Ok(())
}

fn write_node(f: &mut Formatter<'_>, node: &PictureNode) -> Result {
    let (open, close) = match node.kind {
        NodeKind::Input => ("[/", "/]"),
        NodeKind::Call => ("[", "]"),
        NodeKind::Computed => ("(", ")"),
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
        _ if node.optional => ":::optional",
        _ => "",
    })?;
    f.write_char('\n')
}

fn write_edge(f: &mut Formatter<'_>, picture: &Picture, edge: &Edge) -> Result {
    let id = |end: End| match end {
        End::Node(node) => &picture.nodes[node].id,
        End::Group(group) => &picture.groups[group].id,
    };
    let arrow = match edge.way {
        EdgeKind::Data => "-->",
        EdgeKind::After => "-.->",
        EdgeKind::Flow => "==>",
    };
    write!(f, "  {} {arrow}", id(edge.from))?;
    if !edge.lines.is_empty() {
        write!(f, "|\"{}\"|", MermaidLabel(&edge.lines))?;
    }
    writeln!(f, " {}", id(edge.to))
}

fn write_classes(f: &mut Formatter<'_>, picture: &Picture) -> Result {
    let of = |kind| picture.nodes.iter().any(|node| node.kind == kind);
    let optional = picture.nodes.iter().any(|node| node.optional)
        || picture.groups.iter().any(|group| group.optional);
    for (used, class) in [
        (of(NodeKind::Input), "input fill:none"),
        (of(NodeKind::Output), "output fill:none"),
        (optional, "optional stroke-dasharray:5 4"),
    ] {
        if used {
            writeln!(f, "  classDef {class}")?;
        }
    }
    Ok(())
}

/// A title in YAML, whose strings in double quotes are written as those of JSON.
struct Title<'t>(&'t str);

impl Display for Title<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for c in visible(self.0) {
            match c {
                '\n' => f.write_char(' ')?,
                // Mermaid reads HTML markup and its own entities in titles, too, and ends a title at a line of hyphens.
                '"' | '\\' | '<' | '>' | '&' | '#' | '%' | '-' => {
                    write!(f, "\\u{:04x}", u32::from(c))?;
                }
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// A label inside quotes. Whatever Mermaid, its Markdown or HTML could read as more than a character is written as its number.
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
    let mut chars = visible(line.trim()).peekable();
    while let Some(c) = chars.next() {
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let plain = match c {
            '\n' => {
                f.write_str("<br/>")?;
                (before, only_digits) = (None, true);
                continue;
            }
            // At the beginning of a line these make a list.
            '.' | ')' => !only_digits,
            '-' | '+' | '=' => before.is_some(),
            // Between words they do not mean emphasis.
            '_' => word(before) && word(chars.peek().copied()),
            // What could be a link.
            ':' => chars.peek() != Some(&'/'),
            ' ' | ',' | '(' | '[' | ']' | '{' | '}' | '/' | '?' | '!' | '\'' | '|' | '…' => true,
            c => c.is_alphanumeric() || !c.is_ascii(),
        };
        if plain {
            f.write_char(c)?;
        } else {
            write!(f, "#{};", u32::from(c))?;
        }
        // Two of them begin a formula, even where they are written as numbers. A space without width keeps them apart.
        if c == '$' && chars.peek() == Some(&'$') {
            f.write_str("#8203;")?;
        }
        only_digits &= c.is_ascii_digit();
        before = Some(c);
    }
    Ok(())
}
