//! The steps of a plan, their calls and dependencies, and diagrams of these.

use super::picture::Language;
use super::{BodyPart, Input, Picture, Plan, Role, Source, Step, ToolInfo};
use plan_graph::Graph;

impl Plan {
    /// Returns the step with this ID.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// Returns the input with this name.
    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// Returns the name of a step or an input of this plan, or `None` for a local value.
    pub fn name_of(&self, source: Source) -> Option<&str> {
        match source {
            Source::Step(index) => self.steps.get(index).map(|step| step.id.as_ref()),
            Source::Input(index) => self.inputs.get(index).map(|input| input.name.as_ref()),
            Source::Local(_) => None,
        }
    }

    /// Returns the steps by level. Steps of one level may run concurrently: the first level has no dependencies, and each later
    /// level depends on the previous levels.
    ///
    /// A run does not wait for whole levels: a step starts as soon as its dependencies have ended. Steps of a cycle,
    /// which no valid plan has, are in no level.
    ///
    /// ```
    /// # use plan_runtime::Plan;
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
    ///     {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"x": {"reference": {"step": "b", "pointer": ""}}}}},
    ///     {"id": "b", "tool": {"name": "t"}},
    ///     {"id": "c", "tool": {"name": "t"}}
    /// ]}"#)?;
    /// let levels: Vec<Vec<&str>> = plan.levels().iter().map(|l| l.iter().map(|s| &*s.id).collect()).collect();
    /// assert_eq!(levels, [vec!["b", "c"], vec!["a"]]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn levels(&self) -> Vec<Vec<&Step>> {
        let mut levels: Vec<Vec<&Step>> = Vec::new();
        for (step, level) in self.steps.iter().zip(self.needs().levels()) {
            let Some(level) = level else { continue };
            if levels.len() <= level {
                levels.resize_with(level + 1, Vec::new);
            }
            levels[level].push(step);
        }
        levels
    }

    /// Returns the dependencies of each step. In a plan that was built in Rust, a dependency may not exist. A reference to a step that runs later is
    /// a separate error.
    pub(crate) fn needs(&self) -> Graph {
        let role_of = |step: usize| self.steps.get(step).map(|step| step.role);
        Graph::new(self.steps.iter().map(|step| {
            let mut needs = step.needs();
            needs.retain(|need| match role_of(*need) {
                Some(Role::Undo(_)) => false,
                Some(Role::Always) => step.role == Role::Always,
                Some(Role::Work) | None => true,
            });
            needs
        }))
    }

    /// Returns the steps that a step waits for. The list is empty if the step does not exist.
    pub fn dependencies(&self, id: &str) -> Vec<&Step> {
        self.step(id).map_or_else(Vec::new, |step| {
            let needs = step.needs().into_iter();
            needs.filter_map(|needed| self.steps.get(needed)).collect()
        })
    }

    /// Returns the steps that wait for a step. The list is empty if the step does not exist.
    pub fn dependents(&self, id: &str) -> Vec<&Step> {
        let Some(index) = self.position(id) else {
            return Vec::new();
        };
        let waits = |step: &&Step| step.needs().contains(&index);
        self.steps.iter().filter(waits).collect()
    }

    /// Returns all steps that cannot run if a step fails: the steps that wait for it, directly or through other steps.
    ///
    /// ```
    /// # use plan_runtime::Plan;
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
    ///     {"id": "a", "tool": {"name": "t"}},
    ///     {"id": "b", "tool": {"name": "t"}, "after": ["a"]},
    ///     {"id": "c", "tool": {"name": "t"}, "after": ["b"]},
    ///     {"id": "d", "tool": {"name": "t"}}
    /// ]}"#)?;
    /// let blocked: Vec<&str> = plan.blocked_by("a").iter().map(|s| &*s.id).collect();
    /// assert_eq!(blocked, ["b", "c"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn blocked_by(&self, id: &str) -> Vec<&Step> {
        let Some(start) = self.position(id) else {
            return Vec::new();
        };
        let mut blocked = self.needs().reversed().reachable(start);
        blocked[start] = false;
        self.steps
            .iter()
            .zip(blocked)
            .filter_map(|(step, blocked)| blocked.then_some(step))
            .collect()
    }

    /// Returns a short cycle for each set of steps that wait for each other. Each step waits for the next step, and the last
    /// step for the first.
    pub(crate) fn cycles(&self) -> Vec<Vec<usize>> {
        self.needs().cycles()
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// Calls `f` with the tool of each call and the path of its step, including the steps of blocks.
    pub(crate) fn calls<'p>(&'p self, f: &mut dyn FnMut(&'p ToolInfo, &str)) {
        self.calls_below("", f);
    }

    fn calls_below<'p>(&'p self, around: &str, f: &mut dyn FnMut(&'p ToolInfo, &str)) {
        for step in &self.steps {
            let path = format!("{around}{}", step.id);
            step.body.visit(&mut |part| match part {
                BodyPart::Action(action) => {
                    if let Some(tool) = &action.tool {
                        f(tool, &path);
                    }
                }
                BodyPart::Block(block) => block.plan.calls_below(&format!("{path}."), f),
                BodyPart::Condition(_) | BodyPart::List(_) => {}
            });
        }
    }

    /// Returns the plan as a [Mermaid](https://mermaid.js.org/syntax/flowchart.html) flowchart, which many viewers of
    /// Markdown draw.
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
    /// config:
    ///   flowchart:
    ///     wrappingWidth: 600
    /// ---
    /// flowchart TB
    ///   input_team[/"team: String"/]:::input
    ///   step_people["○ people = find<br/>Who is it?"]
    ///   step_greeting["greeting = greet"]
    ///   output(["output: String"]):::output
    ///   input_team --> step_people
    ///   step_people -->|"[0]"| step_greeting
    ///   step_greeting --> output
    ///   classDef input fill:none
    ///   classDef output fill:none
    /// "#);
    /// ```
    pub fn mermaid(&self) -> Picture<'_> {
        Picture::new(self, Language::Mermaid)
    }

    /// Returns the plan in [DOT](https://graphviz.org/doc/info/lang.html), which Graphviz draws.
    ///
    /// ```
    /// # use plan_runtime::Plan;
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
    ///     {"id": "node", "tool": {"name": "t"}},
    ///     {"id": "b", "tool": {"name": "t"}, "after": ["node"]}
    /// ]}"#)?;
    /// let dot = plan.dot().to_string();
    /// assert!(dot.contains("  step_node [label=\"○ node = t\"];\n"));
    /// assert!(dot.contains("  step_node -> step_b [style=dashed];\n"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn dot(&self) -> Picture<'_> {
        Picture::new(self, Language::Dot)
    }
}
