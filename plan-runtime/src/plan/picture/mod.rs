//! Plans as pictures, in languages that others draw: Mermaid and DOT.
//!
//! `model` makes nodes, groups and edges of a plan; the writers know how their language writes each of these.

mod build;
mod dot;
mod mermaid;
mod model;
mod text;

pub use dot::Dot;
pub use mermaid::Mermaid;

use super::{Plan, Reference};

/// Which way the edges of a picture lead.
///
/// ```
/// # use plan_runtime::plan::{Direction, Plan};
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [{"id": "a", "tool": {"name": "t"}}]}"#)?;
/// assert!(plan.mermaid().direction(Direction::Right).to_string().contains("flowchart LR\n"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// From the top to the bottom: what a page has most room for.
    #[default]
    Down,
    /// From the left to the right: for plans that are long and narrow.
    Right,
}

impl Direction {
    /// Mermaid and DOT have the same words for it.
    fn keyword(self) -> &'static str {
        match self {
            Self::Down => "TB",
            Self::Right => "LR",
        }
    }
}

impl Plan {
    /// The plan as a [Mermaid](https://mermaid.js.org/syntax/flowchart.html) flowchart, which many viewers of Markdown draw.
    ///
    /// ```
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn find(name: String) -> Result<Vec<String>> { Ok(vec![name]) }
    /// # #[tool] async fn greet(who: String) -> Result<String> { Ok(who) }
    /// plan! {
    ///     Welcome(team: String) -> String {
    ///         /// Who is it?
    ///         step people = Find { name: team };
    ///         step greeting = Greet { who: people[0] };
    ///         greeting
    ///     }
    /// }
    /// assert_eq!(Welcome::PLAN.mermaid().to_string(), r#"---
    /// title: "welcome"
    /// ---
    /// flowchart TB
    ///   input_team[/"team: String"/]:::input
    ///   step_people["people = find<br/>Who is it?"]
    ///   step_greeting["greeting = greet"]
    ///   output(["output: String"]):::output
    ///   input_team --> step_people
    ///   step_people -->|"[0]"| step_greeting
    ///   step_greeting --> output
    ///   classDef input fill:none
    ///   classDef output fill:none
    /// "#);
    /// ```
    pub fn mermaid(&self) -> Mermaid<'_> {
        Mermaid::new(self)
    }

    /// The plan in [DOT](https://graphviz.org/doc/info/lang.html), which Graphviz draws.
    ///
    /// ```
    /// # use plan_runtime::plan::Plan;
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
    ///     {"id": "node", "tool": {"name": "t"}},
    ///     {"id": "b", "tool": {"name": "t"}, "after": ["node"]}
    /// ]}"#)?;
    /// let dot = plan.dot().to_string();
    /// assert!(dot.contains("  step_node [label=\"node = t\"];\n"));
    /// assert!(dot.contains("  step_node -> step_b [style=dashed];\n"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn dot(&self) -> Dot<'_> {
        Dot::new(self)
    }
}

/// The way of a reference, without the name it starts from: `data[0].from.email`; empty for the whole.
///
/// It is the author's own text where that starts with the name. References of other languages (`{{a.result.b}}`) are not such.
pub(crate) fn path(reference: &Reference, name: Option<&str>) -> String {
    let own = |name| match reference.written.as_ref()?.strip_prefix(name)? {
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
