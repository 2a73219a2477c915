//! Diagrams of plans, in the languages Mermaid and DOT.
//!
//! `build` creates the nodes, groups and edges of a plan. Their types are in `model`. `dot` and `mermaid` write them.

mod build;
mod dot;
mod drawing;
mod edges;
mod mermaid;
mod model;
mod text;

use super::{Plan, Reference};
use std::fmt::{Display, Formatter, Result};

/// A diagram of a plan in Mermaid or DOT, from [`Plan::mermaid`] or [`Plan::dot`]. `Display` writes the diagram.
///
/// | part of the plan | in the diagram |
/// |---|---|
/// | an input | a parallelogram |
/// | a step that calls a tool | a rectangle with the names of the step and the tool, the intent and the policies |
/// | a step without dependencies | an open circle before its name |
/// | a computed step | a rectangle with round corners, which has the expression |
/// | a step that waits for a value | a box that is open on one side |
/// | a step with an `if` or a `for` | a frame, with diamonds for conditions, hexagons for loops, and thick arrows between them |
/// | a reference | an arrow with its path; several references between two steps share one arrow |
/// | `#[after(…)]` | a dotted or dashed arrow |
/// | `#[optional]`, `#[undo(…)]` | a dashed border |
/// | the output | a stadium in Mermaid, an oval in DOT |
#[derive(Clone, Debug)]
#[must_use = "it is written by printing it"]
pub struct Picture<'p> {
    plan: &'p Plan,
    nested: Vec<&'p Plan>,
    direction: Direction,
    language: Language,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Language {
    Mermaid,
    Dot,
}

impl<'p> Picture<'p> {
    pub(super) fn new(plan: &'p Plan, language: Language) -> Self {
        Self {
            plan,
            nested: Vec::new(),
            direction: Direction::default(),
            language,
        }
    }

    /// Sets the direction of the arrows.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Draws the steps of `plan` at each of its calls. Without this method, a called plan looks like any other tool,
    /// because the calling plan contains only the name of the called plan.
    pub fn nested(mut self, plan: &'p Plan) -> Self {
        self.nested.push(plan);
        self
    }
}

impl Display for Picture<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let content = build::content(self.plan, &self.nested);
        // Both languages use equal words for the direction.
        let direction = match self.direction {
            Direction::Down => "TB",
            Direction::Right => "LR",
        };
        match self.language {
            Language::Mermaid => mermaid::write(f, &self.plan.name, direction, &content),
            Language::Dot => dot::write(f, &self.plan.name, direction, &content),
        }
    }
}

/// The direction of a diagram's edges.
///
/// ```
/// # use plan_runtime::plan::Direction;
/// # use plan_runtime::Plan;
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [{"id": "a", "tool": {"name": "t"}}]}"#)?;
/// assert!(plan.mermaid().direction(Direction::Right).to_string().contains("flowchart LR\n"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// Edges run from top to bottom, which suits a page.
    #[default]
    Down,
    /// Edges run from left to right, for plans with long chains of steps.
    Right,
}

/// Returns the path of a reference, without its first name: `data[0].from.email`. Empty for a whole value.
///
/// The path is the author's notation if the notation starts with this name, in contrast to `{{a.result.b}}`.
pub(crate) fn path(reference: &Reference, name: Option<&str>) -> String {
    let own = |name| match reference.as_written()?.strip_prefix(name)? {
        rest if rest.is_empty() || rest.starts_with(['[', '?']) => Some(rest),
        rest => rest.strip_prefix('.'),
    };
    match name.and_then(own) {
        Some(path) => path.to_owned(),
        None => {
            let path = super::written("", reference.path());
            path.strip_prefix('.').unwrap_or(&path).to_owned()
        }
    }
}
