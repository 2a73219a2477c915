//! What [`Plan`] serialises to.

use super::draft::Draft;
use super::finding::{Code, Note};
use super::node::{Kind, Node, Source};
use super::spans::{Span, Spans, StepSpans, TemplateSpan};
use crate::Plan;
use crate::plan::{Body, Condition, Key, Part, Template};
use std::collections::HashMap;

pub(super) fn read(draft: &mut Draft, source: &Source<'_>, node: Node<'_>) -> Option<Plan> {
    match node.read::<Plan>() {
        Ok(plan) => {
            draft.spans = Places {
                source,
                plan: &plan,
            }
            .spans(node);
            Some(plan)
        }
        Err(error) => draft.error(no_plan(source, node, &error)),
    }
}

/// Says what serde says, and where.
fn no_plan(source: &Source<'_>, node: Node<'_>, error: &serde_json::Error) -> Note {
    let text = node.slice();
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    let before: usize = lines.map(str::len).sum();
    // What is wrong ends here.
    let at = text.floor_char_boundary(before + error.column().saturating_sub(1));
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let place = match error.line() {
        0 => text,
        _ => &text[at..at + length],
    };
    let message = error.to_string();
    let message = message
        .rfind(" at line ")
        .map_or(&*message, |end| &message[..end]);
    let message = format!("this is no plan in canonical JSON: {message}");
    Note::error(Code::WrongKind, source.place(place), message)
}

/// Finds the parts of a plan in the JSON that it was read from.
struct Places<'a> {
    source: &'a Source<'a>,
    plan: &'a Plan,
}

impl Places<'_> {
    fn spans(&self, node: Node<'_>) -> Spans {
        let mut spans = Spans::default();
        let steps = member(node, "steps").map_or_else(Vec::new, Node::items);
        let places: HashMap<&str, usize> = self
            .plan
            .steps
            .iter()
            .enumerate()
            .map(|(place, step)| (&*step.id, place))
            .collect();
        for (step, node) in self.plan.steps.iter().zip(steps) {
            let whole = self.span(node);
            let tool = member(node, "tool").and_then(|tool| member(tool, "name"));
            let id = member(node, "id");
            let after = member(node, "after").map_or_else(Vec::new, Node::items);
            let after = after.into_iter().filter_map(|node| {
                let name = node.text().ok()?;
                Some((*places.get(&*name.value)?, self.span(node)))
            });
            spans.steps.push(StepSpans {
                whole,
                id: id.map_or(whole, |id| self.span(id)),
                tool: tool.map_or(whole, |tool| self.span(tool)),
                after: after.collect(),
                templates: spans.templates.len(),
                broken: false,
            });
            self.body(&step.body, node, &mut spans);
            if let Some(fallback) = &step.policy.fallback {
                let policy = member(node, "policy");
                let given = policy.and_then(|policy| member(policy, "fallback"));
                self.template(fallback, given.unwrap_or(node), None, &mut spans);
            }
        }
        if let Some(output) = member(node, "output").and_then(|output| member(output, "value")) {
            spans.output = Some(spans.templates.len());
            self.template(&self.plan.output.value, output, None, &mut spans);
        }
        let inputs = self.plan.inputs.iter().enumerate();
        spans.untyped = inputs
            .filter(|(_, input)| input.type_name.is_empty())
            .map(|(place, _)| place)
            .collect();
        spans
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.source.place(node.slice()).into()
    }

    /// `node` has the members of the body. What is not found in it, stands for it as a whole.
    fn body(&self, body: &Body, node: Node<'_>, spans: &mut Spans) {
        match body {
            Body::Action(action) => {
                let name = match action.tool {
                    Some(_) => "arguments",
                    None => "value",
                };
                let given = member(node, name).unwrap_or(node);
                self.template(&action.args, given, None, spans);
            }
            Body::If(branches) => {
                let nodes = member(node, "if").map_or_else(Vec::new, Node::items);
                for (index, branch) in branches.iter().enumerate() {
                    let node = nodes.get(index).copied().unwrap_or(node);
                    match &branch.condition {
                        Condition::Always => {}
                        Condition::Holds(value) => {
                            let given = member(node, "condition").unwrap_or(node);
                            self.template(value, given, None, spans);
                        }
                        Condition::Binds { value, .. } => {
                            let given = member(node, "value").unwrap_or(node);
                            self.template(value, given, None, spans);
                        }
                    }
                    self.body(&branch.body, member(node, "then").unwrap_or(node), spans);
                }
            }
            Body::For(rounds) => {
                let node = member(node, "for").unwrap_or(node);
                for each in rounds.iter() {
                    let list = member(node, "list").unwrap_or(node);
                    self.template(&each.list, list, None, spans);
                    self.body(&each.body, member(node, "body").unwrap_or(node), spans);
                }
            }
        }
    }

    fn template(
        &self,
        template: &Template,
        node: Node<'_>,
        key: Option<Node<'_>>,
        spans: &mut Spans,
    ) {
        spans.templates.push(TemplateSpan {
            value: self.span(node),
            key: key.map(|key| self.span(key)),
            broken: false,
        });
        match template {
            Template::List(items) => {
                let nodes = node.items();
                for (index, item) in items.iter().enumerate() {
                    let node = nodes.get(index).copied().unwrap_or(node);
                    self.template(item, node, None, spans);
                }
            }
            Template::Object(entries) => {
                let members = member(node, "object").map_or_else(Vec::new, Node::members);
                let named: HashMap<String, (Node<'_>, Node<'_>)> = members
                    .into_iter()
                    .filter_map(|(key, value)| {
                        Some((key.text().ok()?.value.into_owned(), (key, value)))
                    })
                    .collect();
                for entry in entries.iter() {
                    let found = match &entry.key {
                        Key::Name(name) => named.get(&**name).copied(),
                        Key::Flattened | Key::Inner => None,
                    };
                    let (key, value) =
                        found.map_or((None, node), |(key, value)| (Some(key), value));
                    self.template(&entry.value, value, key, spans);
                }
            }
            Template::Tagged(_, content) => {
                for inner in content.iter() {
                    self.template(inner, node, None, spans);
                }
            }
            Template::Text(parts) => {
                let nodes = member(node, "text").map_or_else(Vec::new, Node::items);
                let mut values = nodes.into_iter().filter_map(|part| member(part, "value"));
                for part in parts.iter() {
                    if let Part::Value { value, .. } = part {
                        self.template(value, values.next().unwrap_or(node), None, spans);
                    }
                }
            }
            _ => {}
        }
    }
}

fn member<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    if node.kind() != Kind::Object {
        return None;
    }
    let mut members = node.members().into_iter();
    let is = |key: Node<'_>| key.text().is_ok_and(|text| text.value == name);
    members.find_map(|(key, value)| is(key).then_some(value))
}
