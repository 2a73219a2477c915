//! Steps: their bodies and their attributes.

use super::block::{Ends, is_bare};
use super::layout::{LayoutStyle, Tree};
use super::model::{can_end, is_bool, only_after, parts};
use super::pattern::Pattern;
use super::policy::{given, pointless};
use super::value::{Takes, said};
use super::{SourceWriter, docs, names, shown};
use plan_runtime::plan::{
    Action, Body, Condition, Key, Number, Reference, Role, RustText, Selector, Step, Template,
};
use proc_macro2::Delimiter;
use serde_json::Value;
use std::collections::HashSet;

/// Returns `true` if a reference in a value has a `?` or a `[..]`, which have another meaning in a Rust expression.
fn has_path_of_plans(template: &Template) -> bool {
    let has = |reference: &Reference| {
        let mut segments = reference.path.iter();
        can_end(reference) || segments.any(|segment| segment.selector == Selector::Each)
    };
    matches!(template, Template::Reference(reference) if has(reference))
        || parts(template).into_iter().any(has_path_of_plans)
}

impl<'p> SourceWriter<'p> {
    /// Writes the doc comment and the attributes of a step.
    fn attributes(&mut self, step: &'p Step) -> Vec<Tree> {
        let mut lines: Vec<Tree> = docs::lines(&step.intent)
            .into_iter()
            .map(Tree::Text)
            .collect();
        match step.role {
            Role::Work => {}
            Role::Undo(undone) => {
                let name = self.names.steps.get(undone).map_or("", String::as_str);
                lines.push(Tree::Text(format!("#[undo({name})]")));
            }
            Role::Always => lines.push(Tree::text("#[always]")),
            _ => self.cannot_express(self.here(), "a role that `plan!` does not have"),
        }
        let after = only_after(step);
        let is_work = |&after: &usize| {
            let step = self.plan.steps.get(after);
            step.is_some_and(|step| step.role == Role::Work)
        };
        if step.role == Role::Always && after.iter().any(is_work) {
            self.cannot_express(self.here(), "the order of an always step after a work step");
        }
        if !after.is_empty() {
            let names = after.iter().filter_map(|&step| self.names.steps.get(step));
            let names: Vec<&str> = names.map(String::as_str).collect();
            lines.push(Tree::Text(format!("#[after({})]", names.join(", "))));
        }
        for pointless in pointless(step) {
            self.cannot_express(self.here(), pointless);
        }
        // The new program does not have the named constants of the plan's program.
        let attributes = step.policy.attributes(&mut |amount, value| {
            let Some(template) = given(&step.policy, amount) else {
                return value;
            };
            if let Tree::Text(text) = self.value("", &template.plain(), Takes::Anything) {
                return Some(text);
            }
            let what = format!("that `{}` gives an amount", shown(&template.to_string()));
            self.cannot_express(self.here(), what);
            Some(String::new())
        });
        let attributes = attributes.into_iter();
        lines.extend(attributes.map(|attribute| Tree::Text(format!("#[{attribute}]"))));
        if let Some(fallback) = &step.policy.fallback {
            let value = self.value("", &fallback.plain(), Takes::Anything);
            let given = Tree::list(
                "fallback",
                Delimiter::Parenthesis,
                LayoutStyle::Beside,
                vec![value],
            );
            let attribute = Tree::list("#", Delimiter::Bracket, LayoutStyle::Beside, vec![given]);
            lines.push(attribute);
        }
        lines
    }

    /// Writes a step, after its doc comment and its attributes.
    pub(super) fn step(&mut self, index: usize, step: &'p Step) -> Vec<Tree> {
        self.step = Some(format!("{}{}", self.around, step.id));
        let mut lines = self.attributes(step);
        let name = self.names.steps[index].clone();
        let (ty, body) = match &step.body {
            Body::Action(Action {
                tool: None, args, ..
            }) => {
                let args = args.plain();
                let Some(ty) = type_of(&args) else {
                    let args = shown(&args.to_string());
                    let what =
                        format!("the computed value `{args}`, whose type the plan does not keep");
                    self.cannot_express(self.here(), what);
                    return lines;
                };
                let value = self.value("", &args, Takes::Anything);
                (format!(": {ty}"), value)
            }
            Body::Block(block) if is_bare(block) && block.tail().is_none() => {
                let what = "a block of a value alone, whose type the plan does not keep";
                self.cannot_express(self.here(), what);
                return lines;
            }
            Body::Loop(repeat) => {
                let body = self.repeat(repeat, &name, step.policy.collect);
                (String::new(), body)
            }
            Body::Await(wait) => {
                let ty = self.type_name(self.here(), &wait.type_name);
                (format!(": {ty}"), self.body(&step.body))
            }
            body => (String::new(), self.body(body)),
        };
        let start = Tree::Text(format!("step {name}{ty} = "));
        lines.push(Tree::Row(vec![start, body, Tree::text(";")]));
        lines
    }

    pub(super) fn body(&mut self, body: &'p Body) -> Tree {
        match body {
            Body::Action(action) => self.action(action),
            Body::Block(block) => {
                let items = self.block(block, Ends::Typed);
                Tree::list("", Delimiter::Brace, LayoutStyle::Steps, items)
            }
            // A loop is the whole body of a step.
            Body::Loop(_) => {
                self.cannot_express(self.here(), "a `loop` inside something else");
                Tree::text("")
            }
            Body::Await(_) => Tree::text("await"),
            Body::If(branches) => {
                let mut parts = Vec::new();
                let style = match branches.len() {
                    1 => LayoutStyle::Lines,
                    _ => LayoutStyle::Block,
                };
                let ends = Ends::of(branches);
                for (place, branch) in branches.iter().enumerate() {
                    if place > 0 {
                        parts.push(Tree::text(" else "));
                    }
                    let around = self.locals.len();
                    if place == 0 || !branch.conditions.is_empty() {
                        parts.push(Tree::text("if "));
                        self.conditions(&branch.conditions, &mut parts);
                        parts.push(Tree::text(" "));
                    }
                    let (items, is_block) = self.in_braces(&branch.body, ends);
                    let style = if is_block { LayoutStyle::Steps } else { style };
                    parts.push(Tree::list("", Delimiter::Brace, style, items));
                    self.locals.truncate(around);
                }
                if branches.is_empty() {
                    self.cannot_express(self.here(), "an `if` without branches");
                }
                Tree::Together(parts)
            }
            Body::For(each) => {
                let list = each.list.plain();
                let pattern = self.binds(&each.pattern, &list, true);
                // The list is resolved without the variables that the pattern binds.
                let value = self.value("in", &list, Takes::Block);
                if parts(&list).into_iter().any(has_path_of_plans) {
                    let list = shown(&list.to_string());
                    let what = format!(
                        "the list `{list}`, which has a reference with `?` or `[..]` in it"
                    );
                    self.cannot_express(self.here(), what);
                }
                let start = Tree::Text(format!("for {} in ", pattern.text));
                self.locals.push(pattern);
                let (items, _) = self.in_braces(&each.body, Ends::Typed);
                self.locals.pop();
                let block = Tree::list("", Delimiter::Brace, LayoutStyle::Steps, items);
                Tree::Row(vec![start, value, Tree::text(" "), block])
            }
            _ => {
                self.cannot_express(self.here(), "a body that `plan!` does not have");
                Tree::text("")
            }
        }
    }

    /// Writes the conditions of a branch, and adds their local values to the enclosing ones.
    fn conditions(&mut self, conditions: &[Condition], parts: &mut Vec<Tree>) {
        if conditions.is_empty() {
            parts.push(Tree::text("true"));
        }
        let takes = match conditions.len() {
            1 => Takes::Block,
            _ => Takes::Operand,
        };
        for (place, condition) in conditions.iter().enumerate() {
            if place > 0 {
                parts.push(Tree::text(" && "));
            }
            let value = condition.template().plain();
            match condition {
                Condition::Holds(_) => parts.push(self.value("if", &value, takes)),
                Condition::Let { pattern, .. } => {
                    let pattern = self.binds(pattern, &value, false);
                    parts.push(Tree::Text(format!("let {} = ", pattern.text)));
                    parts.push(self.value("if", &value, Takes::Operand));
                    self.locals.push(pattern);
                }
                _ => self.cannot_express(self.here(), "a condition that `plan!` does not have"),
            }
        }
    }

    /// Returns a pattern over a value or over the elements of a list.
    fn binds(&mut self, pattern: &RustText, value: &Template, repeats: bool) -> Pattern {
        let found = Pattern::parse(pattern, value, repeats);
        let found = found.unwrap_or_else(|fragment_error| {
            let what = format!("the pattern `{}`", shown(pattern));
            self.cannot_express(self.here(), what + said(fragment_error));
            Pattern::default()
        });
        if !found.is_plain {
            self.code(self.here(), "the pattern", pattern);
        }
        found
    }

    fn action(&mut self, action: &Action) -> Tree {
        let Some(tool) = &action.tool else {
            let args = shown(&action.args.to_string());
            self.cannot_express(self.here(), format!("the computed value `{args}`"));
            return Tree::text("");
        };
        let structure = self.structure(&tool.name);
        let schema = self.schemas.get(tool.name.as_str()).copied();
        let call =
            |style, fields| Tree::list(structure.clone() + " ", Delimiter::Brace, style, fields);
        let entries = match action.args.plain() {
            Template::Object(entries) => entries,
            // A tool without arguments.
            Template::Null => return call(LayoutStyle::Commas, Vec::new()),
            args => {
                let args = shown(&args.to_string());
                self.cannot_express(self.at(""), format!("`{args}` for all of them"));
                return Tree::text("");
            }
        };
        let mut fields = Vec::with_capacity(entries.len());
        let mut given: HashSet<&str> = HashSet::with_capacity(entries.len());
        let mut known: HashSet<String> = HashSet::new();
        for entry in &entries {
            let value = &entry.value;
            let Key::Name(key) = &entry.key else {
                let value = shown(&value.to_string());
                self.cannot_express(self.at(""), format!("the members of `{value}` among them"));
                continue;
            };
            given.insert(key);
            let Some(field) = names::argument(key).filter(|field| !known.contains(field)) else {
                self.cannot_express(self.at(key), "a name that is not a Rust identifier");
                continue;
            };
            let value = self.value(key, value, takes(schema, key));
            fields.push(match value {
                Tree::Text(value) if value == field => Tree::Text(value),
                value => Tree::Row(vec![Tree::Text(format!("{field}: ")), value]),
            });
            known.insert(field);
        }
        let is_left_out = |name: &String| !given.contains(name.as_str());
        let leaves_out = match properties(schema) {
            Some(properties) => properties.keys().any(is_left_out),
            None => true,
        };
        if leaves_out {
            fields.push(Tree::text(".."));
        }
        call(LayoutStyle::Commas, fields)
    }

    /// Returns the struct of a tool. Each tool has a different one.
    fn structure(&mut self, tool: &str) -> String {
        let Some(structure) = names::structure(tool) else {
            let what = format!(
                "the tool `{}`, whose name is not a Rust identifier",
                shown(tool)
            );
            self.cannot_express(self.here(), what);
            return "Tool".to_owned();
        };
        match self.tools.get(&structure) {
            Some(first) if first != tool => {
                let (tool, first) = (shown(tool), shown(first));
                let what = format!("the tool `{tool}`, which has the name of `{first}` in Rust");
                self.cannot_express(self.here(), what);
            }
            Some(_) => {}
            None => {
                self.tools.insert(structure.clone(), tool.to_owned());
            }
        }
        structure
    }
}

fn properties(schema: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    schema?.get("properties")?.as_object()
}

/// The maximum number of schemas to search for listed strings.
const MOST_PARTS: usize = 256;

/// Returns `true` if a schema, or the schema of the elements of a list, lists strings.
fn lists_strings(root: &Value, schema: &Value) -> bool {
    let (mut open, mut left) = (vec![schema], MOST_PARTS);
    while let Some(at) = open.pop()
        && left > 0
    {
        left -= 1;
        let listed = at.get("enum").and_then(Value::as_array);
        let listed = listed.into_iter().flatten().chain(at.get("const"));
        if listed.into_iter().any(Value::is_string) {
            return true;
        }
        let pointer = at.get("$ref").and_then(Value::as_str);
        let pointer = pointer.and_then(|pointer| pointer.strip_prefix('#'));
        open.extend(pointer.and_then(|pointer| root.pointer(pointer)));
        open.extend(at.get("items"));
        for several in ["anyOf", "oneOf", "allOf"] {
            let several = at.get(several).and_then(Value::as_array);
            open.extend(several.into_iter().flatten().take(left));
        }
    }
    false
}

/// Returns the kind of value that an argument takes, according to the tool's schema.
fn takes(schema: Option<&Value>, argument: &str) -> Takes {
    let property = properties(schema).and_then(|all| all.get(argument));
    if let (Some(root), Some(property)) = (schema, property)
        && lists_strings(root, property)
    {
        return Takes::Choice;
    }
    let is_number = |kind: &Value| kind == "number";
    match property.and_then(|property| property.get("type")) {
        Some(Value::Array(kinds)) if kinds.iter().any(is_number) => Takes::Fraction,
        Some(kind) if is_number(kind) => Takes::Fraction,
        _ => Takes::Anything,
    }
}

/// Returns the type of a value, if the value shows its type.
pub(super) fn type_of(template: &Template) -> Option<&'static str> {
    match template {
        Template::Bool(_) => Some("bool"),
        Template::Number(Number::Unsigned(_)) => Some("u64"),
        Template::Number(Number::Signed(_)) => Some("i64"),
        Template::Number(Number::Float(_)) => Some("f64"),
        Template::String(_) | Template::Text(_) => Some("String"),
        Template::Test(test) => Some(if is_bool(test) { "bool" } else { "usize" }),
        _ => None,
    }
}
