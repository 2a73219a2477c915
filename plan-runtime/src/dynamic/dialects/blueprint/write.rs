//! A plan as a flat blueprint: a list of calls, with their order and their limits.

use super::RULES;
use super::strings::{Names, TextPiece, scan_of};
use crate::Plan;
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::dialects::references::quote;
use crate::dynamic::{Unsupported, UnsupportedPart};
use crate::plan::json::names::policy as names;
use crate::plan::{
    Action, Body, Key, Number, Optional, Part, Policy, Role, Step, Template, push_key,
};
use std::collections::HashSet;
use std::fmt::Write;
use std::time::Duration;

impl Plan {
    /// Writes the plan as a [blueprint](crate::dynamic::Dialect::Blueprint) with one step per line. A reader with the [strict profile](crate::dynamic::Profile::Strict)
    /// restores an equal plan from the blueprint.
    ///
    /// A blueprint is a list of calls. Its steps refer only to earlier steps. `optional`, `retryCount` and `timeout` are the only parts of a policy.
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let plan = Reader::new().read(r#"{"steps": [
    ///     {"id": "mails", "tool": "find_mails", "arguments": {"sender": "sarah"}, "policy": {"attempts": 3}},
    ///     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:mails.0.from"}, "after": ["mails"]}
    /// ]}"#)?.into_plan();
    /// assert_eq!(plan.to_blueprint()?, r#"{
    ///   "requestId": "plan",
    ///   "steps": [
    ///     {"id": "mails", "tool": "find_mails", "params": {"sender": "sarah"}, "retryCount": 2},
    ///     {"id": "sent", "tool": "send", "params": {"to": "${step[0].data[0].from}"}}
    ///   ]
    /// }"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every part of the plan without a form in a flat blueprint, with its step and the reason. A flat blueprint has no inputs,
    /// conditions, loops, blocks, values, waits, undo steps and computed values.
    pub fn to_blueprint(&self) -> Result<String, Unsupported> {
        let ids = self.steps.iter().enumerate();
        let mut writer = BlueprintWriter {
            names: Names {
                plan: self,
                ids: ids.map(|(index, step)| (step.id.as_str(), index)).collect(),
                current: None,
            },
            text: String::new(),
            unsupported: UnsupportedPart::deep(self),
        };
        if writer.unsupported.is_empty() {
            writer.document();
        }
        if writer.unsupported.is_empty() {
            Ok(writer.text)
        } else {
            Err(Unsupported::new(RULES.document, writer.unsupported))
        }
    }
}

/// A plan that is being written.
struct BlueprintWriter<'p> {
    names: Names<'p>,
    text: String,
    unsupported: Vec<UnsupportedPart>,
}

impl BlueprintWriter<'_> {
    fn cannot_express(&mut self, place: impl Into<String>, construct: impl Into<String>) {
        let part = UnsupportedPart::new(place, construct);
        self.unsupported.push(part);
    }

    /// Describes the current step, or the output.
    fn here(&self) -> String {
        match self.names.current {
            Some(step) => format!("step `{}`", self.names.plan.steps[step].id),
            None => "the output".to_owned(),
        }
    }

    /// Describes the position of a part of the arguments, or of the output.
    fn at(&self, path: &str) -> String {
        match (self.names.current, path) {
            (Some(_), "") => format!("the arguments of {}", self.here()),
            (Some(_), path) => format!("argument `{path}` of {}", self.here()),
            (None, "") => self.here(),
            (None, path) => format!("`{path}` of the output"),
        }
    }

    fn document(&mut self) {
        let plan = self.names.plan;
        if plan.name.is_empty() {
            self.cannot_express("the plan", "an empty name");
        }
        if plan.steps.is_empty() {
            self.cannot_express("the plan", "no steps");
        }
        for input in &plan.inputs {
            let place = format!("input `{}`", input.name);
            self.cannot_express(place, "a blueprint has no inputs");
        }
        let _ = write!(self.text, "{{\n  \"requestId\": {}", quote(&plan.name));
        self.optional_text(",\n  ", "description", &plan.description);
        self.text.push_str(",\n  \"steps\": [");
        for (index, step) in plan.steps.iter().enumerate() {
            self.text
                .push_str(if index == 0 { "\n    " } else { ",\n    " });
            self.names.current = Some(index);
            self.step(index, step);
        }
        self.names.current = None;
        self.text.push_str("\n  ]");
        let output = &plan.output;
        if !output.type_name.is_empty() || output.value != listing::all_outputs(&plan.steps).value {
            self.optional_text(",\n  ", "output_type", &output.type_name);
            self.text.push_str(",\n  \"output\": ");
            self.template(&mut String::new(), &output.value.plain());
        }
        self.text.push_str("\n}");
    }

    /// Writes a member with a string, unless the string is empty.
    fn optional_text(&mut self, before: &str, name: &str, text: &str) {
        if !text.is_empty() {
            let _ = write!(self.text, "{before}\"{name}\": {}", quote(text));
        }
    }

    fn step(&mut self, index: usize, step: &Step) {
        let Body::Action(Action { tool, args }) = &step.body else {
            return self.cannot_express(self.here(), kind(&step.body));
        };
        let Some(tool) = tool else {
            return self.cannot_express(self.here(), "a value without a call");
        };
        self.check_names(index, step, &tool.name);
        self.text.push('{');
        if step.id != format!("step{index}") {
            let _ = write!(self.text, "\"id\": {}, ", quote(&step.id));
        }
        self.optional_text("", "intent", &step.intent);
        if !step.intent.is_empty() {
            self.text.push_str(", ");
        }
        let _ = write!(self.text, "\"tool\": {}", quote(&tool.name));
        self.optional_text(", ", "tool_description", &tool.description);
        self.text.push_str(", \"params\": ");
        let args = args.plain();
        if matches!(args, Template::Object(_) | Template::Reference(_)) {
            self.template(&mut String::new(), &args);
        } else {
            self.cannot_express(self.at(""), format!("`{args}`, which is not an object"));
        }
        self.order(index, step);
        self.policy(&step.policy);
        self.text.push('}');
    }

    /// Reports the names and the role that a blueprint cannot express.
    fn check_names(&mut self, index: usize, step: &Step, tool: &str) {
        if step.id.trim().is_empty() {
            self.cannot_express(format!("step {}", index + 1), "an empty id");
        }
        if self.names.ids.get(step.id.as_str()) != Some(&index) {
            self.cannot_express(self.here(), "the id of another step");
        }
        if tool.trim().is_empty() {
            self.cannot_express(self.here(), "a tool without a name");
        }
        match step.role {
            Role::Work => {}
            Role::Undo(undone) => {
                let id = self
                    .names
                    .plan
                    .steps
                    .get(undone)
                    .map_or("", |step| &step.id);
                self.cannot_express(self.here(), format!("that it undoes `{id}`"));
            }
            Role::Always => self.cannot_express(self.here(), "that it runs at the end in any case"),
        }
    }

    /// Writes the steps that the step waits for without reading their outputs.
    fn order(&mut self, index: usize, step: &Step) {
        let after = step.only_after();
        for &later in after.iter().filter(|after| **after >= index) {
            let id = self.names.plan.steps.get(later).map_or("", |step| &step.id);
            let construct = format!("that it waits for `{id}`, which does not come earlier");
            self.cannot_express(self.here(), construct);
        }
        if !after.is_empty() {
            let after: Vec<String> = after.iter().map(ToString::to_string).collect();
            let _ = write!(self.text, ", \"dependsOn\": [{}]", after.join(", "));
        }
    }

    fn policy(&mut self, policy: &Policy) {
        if policy.optional == Optional::Whole {
            self.text.push_str(", \"optional\": true");
        }
        if policy.attempts > 1 {
            let _ = write!(self.text, ", \"retryCount\": {}", policy.attempts - 1);
        }
        if let Some(timeout) = policy.timeout.and_then(milliseconds) {
            let _ = write!(self.text, ", \"timeout\": {timeout}");
        }
        for name in others(policy) {
            self.cannot_express(self.here(), format!("the policy `{name}`"));
        }
    }

    /// Writes a [plain](Template::plain) template.
    fn template(&mut self, path: &mut String, template: &Template) {
        let length = path.len();
        match template {
            Template::Null => self.text.push_str("null"),
            Template::Bool(value) => self.text.push_str(&value.to_string()),
            Template::Number(number) => self.number(path, *number),
            Template::String(text) => self.string(path, &[TextPiece::Text(text)]),
            Template::List(items) => {
                self.text.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.text.push_str(if index == 0 { "" } else { ", " });
                    let _ = write!(path, "[{index}]");
                    self.template(path, item);
                    path.truncate(length);
                }
                self.text.push(']');
            }
            Template::Object(entries) => {
                self.text.push('{');
                let mut seen = HashSet::new();
                for (index, entry) in entries.iter().enumerate() {
                    self.text.push_str(if index == 0 { "" } else { ", " });
                    let Key::Name(name) = &entry.key else {
                        let construct =
                            format!("the members of `{}` among its own members", entry.value);
                        self.cannot_express(self.at(path), construct);
                        continue;
                    };
                    push_key(path, name);
                    if !seen.insert(name) {
                        self.cannot_express(self.at(path), "a duplicate member");
                    }
                    if scan_of(name).has_reference() {
                        self.cannot_express(self.at(path), "a name that looks like a reference");
                    }
                    let _ = write!(self.text, "{}: ", quote(name));
                    self.template(path, &entry.value);
                    path.truncate(length);
                }
                self.text.push('}');
            }
            Template::Reference(reference) => self.string(path, &[TextPiece::Reference(reference)]),
            Template::Text(parts) => self.formatted(path, parts),
            Template::Computed(computed) => {
                let construct = format!("the computed value `{}`", computed.written());
                self.cannot_express(self.at(path), construct);
            }
            Template::Test(_) => {
                self.cannot_express(self.at(path), format!("the test `{template}`"));
            }
            // A plain template has no tags.
            Template::Tagged(..) => {}
        }
    }

    fn number(&mut self, path: &str, number: Number) {
        let value = number.value();
        if value.is_null() {
            self.cannot_express(self.at(path), "a number that is not finite");
        }
        let _ = write!(self.text, "{value}");
    }

    fn string(&mut self, path: &str, pieces: &[TextPiece<'_>]) {
        match self.names.string(pieces) {
            Ok(text) => self.text.push_str(&text),
            Err(construct) => self.cannot_express(self.at(path), construct),
        }
    }

    /// Writes a string with values in it.
    fn formatted(&mut self, path: &str, parts: &[Part]) {
        let unsupported = self.unsupported.len();
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Literal(text) => pieces.push(TextPiece::Text(text)),
                Part::Value { value, spec, .. } => {
                    if !spec.is_empty() {
                        let construct = format!("the format `{{:{spec}}}` in a string");
                        self.cannot_express(self.at(path), construct);
                    }
                    if let Template::Reference(reference) = value {
                        pieces.push(TextPiece::Reference(reference));
                    } else {
                        let construct = format!("the value `{value}` in a string");
                        self.cannot_express(self.at(path), construct);
                    }
                }
            }
        }
        if let [TextPiece::Reference(_)] = pieces[..] {
            // A reference without a string beside it would keep its type.
            pieces.push(TextPiece::Text(""));
        }
        if self.unsupported.len() == unsupported {
            self.string(path, &pieces);
        }
    }
}

/// Returns a time limit in milliseconds, if it is a whole number of milliseconds above 0.
fn milliseconds(limit: Duration) -> Option<u64> {
    let milliseconds = u64::try_from(limit.as_millis()).ok()?;
    (milliseconds > 0 && Duration::from_millis(milliseconds) == limit).then_some(milliseconds)
}

/// Returns the names of the parts of a policy that a blueprint cannot express.
fn others(policy: &Policy) -> Vec<&'static str> {
    let members = policy.members().into_iter();
    let others = members.filter(|(name, is_set)| match *name {
        names::ATTEMPTS => policy.attempts == 0,
        names::TIMEOUT => *is_set && policy.timeout.and_then(milliseconds).is_none(),
        names::OPTIONAL => policy.optional == Optional::Each,
        _ => *is_set,
    });
    let given = policy.given.iter().map(|(amount, _)| amount.name());
    others.map(|(name, _)| name).chain(given).collect()
}

/// Returns the name of a body that is not a call.
fn kind(body: &Body) -> &'static str {
    match body {
        Body::Action(_) => "a call",
        Body::If(_) => "an `if`",
        Body::For(_) => "a `for`",
        Body::Block(_) => "a block of steps",
        Body::Loop(_) => "a `loop`",
        Body::Await(_) => "an `await`",
    }
}
