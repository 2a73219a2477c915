//! Steps, and the calls in them.

use super::id;
use crate::dynamic::dialects::reading::{Members, PlanReader, nothing, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{step, template, tool};
use crate::plan::{Action, Policy, Role, RustText, Step, Template, ToolInfo};
use crate::print::short;
use std::sync::Arc;

impl PlanReader<'_> {
    pub(super) fn read_step(&mut self, index: usize, node: JsonNode<'_>) -> Step {
        let id = id(node).map_or_else(String::new, |id| self.builder.declared(id));
        self.builder.current = Some((index, id.as_str().into()));
        self.builder.spans.begin_templates(index);
        let mut step = Step {
            id,
            intent: RustText::default(),
            role: Role::Work,
            body: nothing(),
            after: Vec::new(),
            policy: Policy::shared(),
        };
        let Some(members) = self.object(node, "a step", step::ALL) else {
            self.builder.spans.steps[index].broken = true;
            return step;
        };
        if members.get(step::ID).is_none() {
            let note = Note::error(Code::MissingMember, node.place(), "the step has no `id`");
            let help = "references and reports name the step by its id".to_owned();
            self.builder.note(note.help(help));
        }
        step.intent = self
            .text(&members, step::INTENT, "the intent of a step")
            .into();
        step.role = self.role(&members);
        step.body = self.body(&members, "the step", self.depth);
        step.after = self.after(index, &members);
        self.policy_of(index, &members, &mut step, &[]);
        self.check_bound(&members, &step);
        step
    }

    /// Reads a tool and its arguments.
    pub(super) fn call(&mut self, members: &Members<'_>) -> Action {
        let tool = members.get(step::TOOL).and_then(|tool| self.tool(tool));
        let args = match members.get(step::ARGUMENTS) {
            Some(arguments) if self.is_no_object(arguments) => self.no_template(arguments.place()),
            Some(arguments) => self.template(arguments, None, 0),
            None => {
                self.builder.place(members.node.place(), None);
                Template::Object(Vec::new())
            }
        };
        Action { tool, args }
    }

    /// Reports arguments with a single member that has the name of a kind of template but not its form. Returns `true`
    /// for such arguments.
    fn is_no_object(&mut self, node: JsonNode<'_>) -> bool {
        if node.kind() != JsonType::Object {
            return false;
        }
        let mut members = node.members();
        let (Some((key, value)), None) = (members.next(), members.next()) else {
            return false;
        };
        let Ok(name) = key.text() else { return false };
        let kind = match &*name.value {
            template::TEXT | template::ALL_OF | template::ANY | template::COMPARE => JsonType::List,
            template::REFERENCE => JsonType::Object,
            _ => return false,
        };
        if value.kind() == kind {
            return false;
        }
        let message = format!(
            "`{}` is a kind of template, and this does not have its form",
            name.value
        );
        let object = on_one_line(node.slice());
        let object = object.unwrap_or_else(|| format!(r#"{{"{}": …}}"#, name.value));
        let help = format!(r#"an object with this member is `{{"object": {object}}}`"#);
        let note = Note::error(Code::WrongKind, node.place(), message);
        self.builder.note(note.help(help));
        true
    }

    fn tool(&mut self, node: JsonNode<'_>) -> Option<Arc<ToolInfo>> {
        let members = match node.kind() {
            JsonType::String => {
                let help = format!(
                    r#"a tool is an object: `{{"name": {}}}`"#,
                    short(node.slice())
                );
                let note = wrong_kind(node, "`tool`", "an object");
                self.builder.error(note.help(help))
            }
            _ => self.object(node, "`tool`", tool::ALL),
        };
        let tool = members.and_then(|members| {
            let name = self.required(&members, tool::NAME, "the tool", "the name of a tool")?;
            let place = members.get(tool::NAME)?.place();
            if !self
                .builder
                .name_fits(&name, "the name of a tool", place.clone())
            {
                return None;
            }
            let description = self.text(&members, tool::DESCRIPTION, "the description of a tool");
            let secrets = [tool::SECRET_ARGUMENTS, tool::SECRET_OUTPUT]
                .map(|name| self.secrets(&members, name));
            Some((self.builder.tool(&name, description, secrets), place))
        });
        let (index, _) = self.builder.current.as_ref()?;
        let spans = &mut self.builder.spans.steps[*index];
        let Some((tool, place)) = tool else {
            spans.broken = true;
            return None;
        };
        // With several tools, the first one counts.
        if spans.tool == spans.whole {
            spans.tool = place.into();
        }
        Some(tool)
    }
}
