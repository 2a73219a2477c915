//! The bodies of steps.

use super::counts::depth_fits;
use super::names::OwnStep;
use super::{Member, Members, PlanReader, block, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::depth::DEEPEST_BODY;
use crate::plan::json::names::{self, awaited, binding, branch, each, step};
use crate::plan::json::{NO_CONDITIONS, many_locals};
use crate::plan::{
    Action, Amount, Await, Body, Bound, Branch, Condition, For, Role, Step, Template,
    pattern_mistake,
};
use crate::shape::Secrets;
use plan_graph::similar;

/// Reads the role of a step.
pub(super) fn role(reader: &mut PlanReader, members: &Members<'_>) -> Role {
    let always = members.given(step::ALWAYS);
    let always = always.and_then(|node| reader.value(node, "`always`", "`true`"));
    let always = always.unwrap_or(false);
    let Some(node) = members.given(step::UNDO) else {
        return if always { Role::Always } else { Role::Work };
    };
    if always {
        let message = "a step cannot be both an undo step and an always step";
        let help = "remove `undo` or `always`";
        reader.report(Code::NotAllowed, node.place(), message, help);
    }
    let Some(undone) = reader.rules.syntax.own_step(reader, node, OwnStep::ToUndo) else {
        return Role::Work;
    };
    if let Some((index, _)) = reader.here.current {
        reader.here.spans.steps[index].role = node.place().into();
    }
    Role::Undo(undone)
}

/// Reads the steps that must end first.
pub(crate) fn after(reader: &mut PlanReader, index: usize, members: &Members<'_>) -> Vec<usize> {
    let (name, kind) = reader.rules.syntax.after();
    let given = members.given(name);
    let given = given.and_then(|node| reader.scalars(node, &format!("`{name}`"), kind));
    for node in given.unwrap_or_default() {
        if !reader.count(1, node.place()) {
            break;
        }
        if let Some(step) = reader
            .rules
            .syntax
            .own_step(reader, node, OwnStep::ToWaitFor)
        {
            let place = node.place().into();
            reader.here.spans.steps[index].after.push((step, place));
        }
    }
    let after = reader.here.spans.steps[index].after.iter();
    let mut after: Vec<usize> = after.map(|(step, _)| *step).collect();
    after.sort_unstable();
    after.dedup();
    after
}

/// Reports a loop without a bound.
pub(crate) fn check_bound(reader: &mut PlanReader, members: &Members<'_>, step: &Step) {
    if let (Body::Loop(_), Some(repeat)) = (&step.body, members.given(step::LOOP))
        && step.policy.at_most.is_none()
        && step.policy.gives(Amount::AtMost).is_none()
    {
        let help = r#"add `"at_most": 100` to the `policy` of the step"#;
        let message = "this loop has no bound";
        reader.report(Code::MissingMember, repeat.place(), message, help);
    }
}

pub(crate) fn body(
    reader: &mut PlanReader,
    members: &Members<'_>,
    what: &str,
    depth: usize,
) -> Body {
    // The member of a value may be null.
    let given =
        |member: &&Member<'_>| member.name == step::VALUE || member.value.kind() != JsonType::Null;
    let kinds = names::BODIES.iter().filter_map(|kind| members.member(kind));
    let kinds: Vec<&Member<'_>> = kinds.filter(given).collect();
    let name = reader.rules.syntax.arguments();
    let arguments = members.member(name);
    match &kinds[..] {
        [kind] => {
            if let Some(arguments) = arguments.filter(|_| kind.name != step::TOOL) {
                let message = format!("{what} is a `{}`, which takes no `{name}`", kind.name);
                let (place, help) = (arguments.key.place(), "only a `tool` takes arguments");
                reader.report(Code::UnknownMember, place, message, help);
            }
            return of_kind(reader, members, kind, depth).unwrap_or_else(|| reader.broken_body());
        }
        [] => {
            let (message, help) = match arguments {
                Some(_) => (
                    format!("{what} has `{name}`, but no `tool` that takes them"),
                    reader.rules.syntax.tool_form().to_owned(),
                ),
                None => (
                    format!("{what} does nothing"),
                    format!(
                        "add a `tool` with its `{name}`, or a `value`, an `if`, a `for` or a `block`"
                    ),
                ),
            };
            reader.report(Code::MissingMember, members.node.place(), message, help);
        }
        [first, second, ..] => {
            let message = format!("{what} has both `{}` and `{}`", first.name, second.name);
            let note = Note::error(Code::WrongKind, second.key.place(), message);
            let note = note.related(first.key.place(), format!("`{}` is here", first.name));
            let help = one_branch(reader, members, second);
            let other = || "remove one, or split this into two steps".to_owned();
            reader.note(note.help(help.unwrap_or_else(other)));
        }
    }
    reader.broken_body()
}

fn of_kind(
    reader: &mut PlanReader,
    members: &Members<'_>,
    kind: &Member<'_>,
    depth: usize,
) -> Option<Body> {
    Some(match &*kind.name {
        step::TOOL => Body::Action(reader.rules.syntax.call(reader, members)),
        step::VALUE => Body::Action(Action {
            tool: None,
            args: reader.template(kind.value, None, 0),
        }),
        step::IF => {
            if let Some(help) = one_branch(reader, members, kind) {
                return reader.error(wrong_kind(kind.value, "`if`", "a list").help(help));
            }
            let branches = reader.items(kind.value, "`if`")?;
            Body::If(reader.each(branches, 3, |it, node| read_branch(it, node, depth)))
        }
        step::BLOCK => Body::Block(Box::new(block::block(reader, kind.value, depth, part)?)),
        step::LOOP => Body::Loop(Box::new(block::repeat(reader, kind.value, depth, part)?)),
        step::AWAIT => wait(reader, kind, depth)?,
        _ => Body::For(Box::new(read_for(reader, kind.value, depth)?)),
    })
}

/// Reads a wait for a value of this type.
fn wait(reader: &mut PlanReader, kind: &Member<'_>, depth: usize) -> Option<Body> {
    // A part of a step has no such member, which has been reported.
    if depth > reader.here.depth {
        return None;
    }
    let what = "`await`";
    if kind.value.kind() == JsonType::Object {
        let members = reader.object(kind.value, what, awaited::ALL)?;
        let text = reader.required(&members, awaited::TYPE, what, "`type`")?;
        let mut wait = Await::new(text);
        wait.secrets = secrets(reader, &members, awaited::SECRETS);
        return Some(Body::Await(wait));
    }
    if kind.value.kind() != JsonType::String {
        let help = r#"write the name of a type of Rust: `"await": "String"`"#;
        return reader.error(wrong_kind(kind.value, what, "a string").help(help));
    }
    let text = reader.text(kind.value, what)?.value;
    if let Some(meant) = type_of_rust(&text) {
        let message = format!("`{text}` is not a type of Rust");
        let help = format!(r#"write `"await": "{meant}"`"#);
        reader.report(Code::WrongKind, kind.value.place(), message, help);
    }
    Some(Body::Await(Await::new(text.into_owned())))
}

fn read_branch(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<Branch> {
    let members = reader.object(node, "a branch", branch::ALL)?;
    let around = reader.here.locals.len();
    let conditions = conditions(reader, &members);
    let what = ("the branch", branch::THEN, "the `then` of a branch");
    let body = inner(reader, &members, what, depth);
    reader.here.locals.truncate(around);
    Some(Branch { conditions, body })
}

/// Reads the conditions of a branch, and adds their local values to the enclosing ones.
fn conditions(reader: &mut PlanReader, members: &Members<'_>) -> Vec<Condition> {
    let given = (
        members.member(branch::CONDITION),
        members.member(branch::CONDITIONS),
        members.given(branch::PATTERN),
        members.get(branch::VALUE),
    );
    match given {
        (None, None, None, None) => Vec::new(),
        (Some(test), None, None, None) => {
            vec![Condition::Holds(
                reader.rules.syntax.test(reader, test.value, 0),
            )]
        }
        (None, Some(all), None, None) => all_of(reader, all.value),
        (None, None, Some(pattern), value) => {
            vec![bind_value(
                reader,
                members.node,
                "the branch",
                pattern,
                value,
            )]
        }
        (None, None, None, Some(value)) => {
            let message = "the branch has a `value`, but no `pattern` for it";
            let help = "write `condition` for a branch that runs if a value is true";
            reader.report(Code::MissingMember, members.node.place(), message, help);
            vec![Condition::Holds(reader.template(value, None, 0))]
        }
        (Some(one), all, pattern, value) | (None, all @ Some(one), pattern, value) => {
            let message =
                "a branch can have only one of `condition`, `all`, and `pattern` with `value`";
            reader.report(
                Code::WrongKind,
                one.key.place(),
                message,
                "remove one of them",
            );
            // The branch may read the variables of each pattern.
            let all = all.map(|all| all_of(reader, all.value));
            let binding = pattern
                .map(|pattern| bind_value(reader, members.node, "the branch", pattern, value));
            all.into_iter().flatten().chain(binding).collect()
        }
    }
}

/// Reads the conditions in an `all`.
fn all_of(reader: &mut PlanReader, node: JsonNode<'_>) -> Vec<Condition> {
    let items = reader.items(node, "`all`").unwrap_or_default();
    if items.is_empty() && node.kind() == JsonType::List {
        let help = "remove `all` from a branch that always runs";
        reader.report(Code::MissingMember, node.place(), NO_CONDITIONS, help);
    }
    reader.each(items, 1, |it, node| Some(condition(it, node)))
}

/// Reads a condition as one of several.
fn condition(reader: &mut PlanReader, node: JsonNode<'_>) -> Condition {
    let is_pattern = |(key, value): (JsonNode<'_>, JsonNode<'_>)| {
        let pattern = [binding::PATTERN];
        let is_named = key
            .text()
            .is_ok_and(|key| similar(&key.value, pattern).is_some());
        is_named && value.kind() != JsonType::Null
    };
    if node.kind() == JsonType::Object
        && node.members().any(is_pattern)
        && let Some(members) = reader.object(node, "a condition", binding::ALL)
        && let Some(pattern) = members.given(binding::PATTERN)
    {
        let value = members.get(binding::VALUE);
        return bind_value(reader, node, "the condition", pattern, value);
    }
    Condition::Holds(reader.rules.syntax.test(reader, node, 0))
}

/// Reads a `let`, and adds its local value to the enclosing ones.
fn bind_value(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    what: &str,
    given: JsonNode<'_>,
    value: Option<JsonNode<'_>>,
) -> Condition {
    let pattern = reader.text(given, "the pattern of a branch");
    let pattern = pattern.map(|text| text.value.into_owned());
    let value = match value {
        Some(value) => reader.template(value, None, 0),
        None => {
            let message = format!("{what} has a `pattern`, but no `value` for it");
            reader.missing(node, &message, binding::VALUE)
        }
    };
    let pattern = bind(reader, given, pattern, (&value, true)).into();
    Condition::Let { pattern, value }
}

/// Adds the local value of a pattern to those around. Refuses a pattern that requires more of data than a run checks.
fn bind(
    reader: &mut PlanReader,
    node: JsonNode<'_>,
    pattern: Option<String>,
    (value, in_if): (&Template, bool),
) -> String {
    if let Some(pattern) = &pattern
        && let Some((message, help)) = pattern_mistake(pattern, value, in_if)
    {
        reader.report(Code::NotAllowed, node.place(), message, help);
    }
    let pattern = pattern.unwrap_or_default();
    if reader.here.locals.len() < DEEPEST_BODY {
        reader.here.locals.push(Bound::pattern(&pattern, value));
    } else {
        reader.report(Code::LimitPassed, node.place(), many_locals(), ());
    }
    pattern
}

fn read_for(reader: &mut PlanReader, node: JsonNode<'_>, depth: usize) -> Option<For> {
    let members = reader.object(node, "`for`", each::ALL)?;
    let what = "the pattern of a `for`";
    let pattern = reader.required(&members, each::PATTERN, "the `for`", what);
    let list = match members.get(each::LIST) {
        Some(list) => reader.template(list, None, 0),
        None => reader.missing(node, "the `for` has no `list`", each::LIST),
    };
    let around = reader.here.locals.len();
    let place = members.given(each::PATTERN).unwrap_or(node);
    let pattern = bind(reader, place, pattern, (&list, false));
    let what = ("the `for`", each::BODY, "the body of a `for`");
    let body = inner(reader, &members, what, depth);
    reader.here.locals.truncate(around);
    Some(For {
        pattern: pattern.into(),
        list,
        body,
    })
}

/// Reads a body inside another body: a member of its owner.
fn inner(
    reader: &mut PlanReader,
    members: &Members<'_>,
    (owner, name, what): (&str, &str, &str),
    depth: usize,
) -> Body {
    let Some(node) = members.given(name) else {
        let message = format!("{owner} has no `{name}`");
        let help = "write an object like a step without an `id`, such as a call to a tool";
        reader.report(Code::MissingMember, members.node.place(), message, help);
        return reader.broken_body();
    };
    if !depth_fits(reader, depth, node) {
        return reader.broken_body();
    }
    part(reader, node, what, depth + 1)
}

/// Reads a body that is not a step.
fn part(reader: &mut PlanReader, node: JsonNode<'_>, what: &str, depth: usize) -> Body {
    match reader.object(node, what, reader.rules.syntax.body()) {
        Some(members) => body(reader, &members, what, depth),
        None => reader.broken_body(),
    }
}

/// Returns the help for an `if` that is one branch, or only a condition beside a call.
pub(super) fn one_branch(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
) -> Option<String> {
    let given = member.value;
    let is_branch = member.name == step::IF && given.kind() == JsonType::Object;
    if !is_branch || !reader.notes.has_room(true) {
        return None;
    }
    let branch = Members::split(given, &mut |_| {});
    let others: Vec<&Member<'_>> = branch.unknown(branch::ALL).collect();
    let condition = branch.given(branch::CONDITION).map(JsonNode::slice);
    let then = branch.given(branch::THEN).map(JsonNode::slice);
    let calls = members.given(step::TOOL).is_some();
    let branches = match (condition, then, &others[..]) {
        (_, Some(_), []) if !calls => given.slice().to_owned(),
        (Some(condition), Some(then), [other]) if !calls && other.name == "else" => {
            let other = other.value.slice();
            format!(r#"{{"condition": {condition}, "then": {then}}}, {{"then": {other}}}"#)
        }
        (Some(condition), None, []) if calls => {
            let names = [
                step::TOOL,
                reader.rules.syntax.arguments(),
                "tool_description",
            ];
            let parts = members.list.iter().filter(|it| names.contains(&&*it.name));
            let parts = parts.map(|it| format!("{}: {}", it.key.slice(), it.value.slice()));
            let call = parts.collect::<Vec<_>>().join(", ");
            format!(r#"{{"condition": {condition}, "then": {{{call}}}}}"#)
        }
        _ => return None,
    };
    let branches = on_one_line(&branches)?;
    Some(if calls {
        format!(r#"write `"if": [{branches}]` in place of the `tool`"#)
    } else {
        format!(r#"put the branch in a list: `"if": [{branches}]`"#)
    })
}

/// Returns the Rust type for the name of a type in JSON or in another language.
fn type_of_rust(name: &str) -> Option<&'static str> {
    Some(match name {
        "boolean" | "true" | "false" => "bool",
        "string" | "str" | "text" => "String",
        "number" | "float" | "double" => "f64",
        "integer" | "int" => "i64",
        "array" | "list" => "Vec<Value>",
        "object" | "json" | "any" | "dict" => "Value",
        _ => return None,
    })
}

/// Returns the placeholder for a body that could not be read.
pub(crate) fn nothing() -> Body {
    Body::If(Vec::new())
}

/// Reads the optional pointers to secrets.
pub(crate) fn secrets(reader: &mut PlanReader, members: &Members<'_>, name: &str) -> Secrets {
    let mut pointers = Vec::new();
    for node in reader.list(members, name, &format!("`{name}`")) {
        let text = reader.text(node, "a pointer to a secret");
        pointers.extend(text.map(|text| text.value.into_owned()));
    }
    pointers.into_iter().collect()
}
