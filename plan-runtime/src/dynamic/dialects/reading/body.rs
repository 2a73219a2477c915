//! The bodies of steps.

use super::{Member, Members, PlanReader, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::depth::DEEPEST_BODY;
use crate::plan::json::names::{self, binding, branch, each, step};
use crate::plan::json::{NO_CONDITIONS, many_locals};
use crate::plan::{
    Action, Amount, Await, Body, Bound, Branch, Condition, For, Role, Step, Template,
};
use crate::resolve::describe::counted;

impl PlanReader<'_> {
    /// Reads the role of a step.
    pub(crate) fn role(&mut self, members: &Members<'_>) -> Role {
        let always = members.given(step::ALWAYS).and_then(|node| {
            let what = "`true`, or the member is left out";
            let always: bool = self.builder.value(node, "`always`", what)?;
            always.then_some(node)
        });
        let Some(node) = members.given(step::UNDO) else {
            return match always {
                Some(_) => Role::Always,
                None => Role::Work,
            };
        };
        if always.is_some() {
            let message = "an undo step does not always run";
            let help = "remove `undo` or `always`".to_owned();
            let note = Note::error(Code::NotAllowed, node.place(), message);
            self.builder.note(note.help(help));
        }
        match self.syntax.own_step(self, node, "the step to undo") {
            Some(undone) => {
                if let Some((index, _)) = self.builder.current {
                    self.builder.spans.steps[index].role = node.place().into();
                }
                Role::Undo(undone)
            }
            None => Role::Work,
        }
    }

    /// Reads the steps that must end first.
    pub(crate) fn after(&mut self, index: usize, members: &Members<'_>) -> Vec<usize> {
        let (mut after, mut places) = (Vec::new(), Vec::new());
        let given = members.given(step::AFTER);
        let given = given.and_then(|node| self.builder.scalars(node, "`after`", JsonType::String));
        for node in given.unwrap_or_default() {
            if !self.builder.count(1, node.place()) {
                break;
            }
            if let Some(step) = self.syntax.own_step(self, node, "a step to wait for") {
                let place = node.place().into();
                places.push((step, place));
                after.push(step);
            }
        }
        self.builder.spans.steps[index].after = places;
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Reports a loop without a bound.
    pub(crate) fn check_bound(&mut self, members: &Members<'_>, step: &Step) {
        if let (Body::Loop(_), Some(repeat)) = (&step.body, members.given(step::LOOP))
            && step.policy.at_most.is_none()
            && step.policy.gives(Amount::AtMost).is_none()
        {
            let message = "this loop has no bound";
            let note = Note::error(Code::MissingMember, repeat.place(), message);
            let help = r#"add `"at_most": 100` to the `policy` of the step"#.to_owned();
            self.builder.note(note.help(help));
        }
    }

    pub(crate) fn body(&mut self, members: &Members<'_>, what: &str, depth: usize) -> Body {
        // The member of a value may be null.
        let given = |member: &&Member<'_>| {
            member.name == step::VALUE || member.value.kind() != JsonType::Null
        };
        let kinds = names::BODIES.iter().filter_map(|kind| members.member(kind));
        let kinds: Vec<&Member<'_>> = kinds.filter(given).collect();
        let name = self.syntax.arguments();
        let arguments = members.member(name);
        match (&kinds[..], arguments) {
            ([kind], None) => self.of_kind(members, kind, depth),
            ([kind], Some(_)) if kind.name == step::TOOL => self.of_kind(members, kind, depth),
            ([kind], Some(arguments)) => {
                let message = format!("{what} is a `{}`, and has no `{name}`", kind.name);
                let note = Note::error(Code::UnknownMember, arguments.key.place(), message);
                let help = "only a `tool` takes arguments".to_owned();
                self.builder.note(note.help(help));
                self.of_kind(members, kind, depth)
            }
            ([], _) => {
                let message = match arguments {
                    Some(_) => format!("{what} has `{name}`, but no `tool` that takes them"),
                    None => format!("{what} does nothing"),
                };
                let note = Note::error(Code::MissingMember, members.node.place(), message);
                let help = match arguments {
                    Some(_) => self.syntax.tool_form().to_owned(),
                    None => format!(
                        "it has a `tool` with its `{name}`, or a `value`, an `if`, a `for` or a `block`"
                    ),
                };
                self.builder.note(note.help(help));
                self.broken_body()
            }
            ([first, second, ..], _) => {
                let message = format!("{what} has both `{}` and `{}`", first.name, second.name);
                let note = Note::error(Code::WrongKind, second.key.place(), message);
                let note = note.related(first.key.place(), format!("`{}` is here", first.name));
                let help = one_branch(members, second, name);
                let help =
                    help.unwrap_or_else(|| "remove one, or split this into two steps".to_owned());
                self.builder.note(note.help(help));
                self.broken_body()
            }
        }
    }

    pub(crate) fn broken_body(&mut self) -> Body {
        if let Some((index, _)) = self.builder.current {
            self.builder.spans.steps[index].broken = true;
        }
        nothing()
    }

    fn of_kind(&mut self, members: &Members<'_>, kind: &Member<'_>, depth: usize) -> Body {
        match &*kind.name {
            step::TOOL => Body::Action(self.syntax.call(self, members)),
            step::VALUE => Body::Action(Action {
                tool: None,
                args: self.template(kind.value, None, 0),
            }),
            step::IF => {
                if let Some(help) = one_branch(members, kind, self.syntax.arguments()) {
                    let note = wrong_kind(kind.value, "`if`", "a list");
                    self.builder.note(note.help(help));
                    return self.broken_body();
                }
                let branches = self.builder.items(kind.value, "`if`");
                let Some(branches) = branches else {
                    return self.broken_body();
                };
                let mut read = Vec::with_capacity(self.builder.room(branches.len(), 3));
                for node in branches {
                    if !self.builder.count(3, node.place()) {
                        break;
                    }
                    read.extend(self.branch(node, depth));
                }
                read.shrink_to_fit();
                Body::If(read)
            }
            step::BLOCK => match self.block(kind.value, depth) {
                Some(block) => Body::Block(Box::new(block)),
                None => self.broken_body(),
            },
            step::LOOP => match self.repeat(kind.value, depth) {
                Some(repeat) => Body::Loop(Box::new(repeat)),
                None => self.broken_body(),
            },
            step::AWAIT => self.wait(kind, depth),
            _ => match self.each(kind.value, depth) {
                Some(each) => Body::For(Box::new(each)),
                None => self.broken_body(),
            },
        }
    }

    /// Reads a wait for a value of this type.
    fn wait(&mut self, kind: &Member<'_>, depth: usize) -> Body {
        // A part of a step has no such member, which has been reported.
        if depth > self.depth {
            return self.broken_body();
        }
        let what = "the type of the value";
        if kind.value.kind() != JsonType::String {
            let note = wrong_kind(kind.value, what, "a string");
            let help = r#"write the name of a type of Rust: `"await": "String"`"#;
            self.builder.note(note.help(help.to_owned()));
            return self.broken_body();
        }
        match self.builder.text(kind.value, what) {
            Some(text) => {
                if let Some(meant) = type_of_rust(&text.value) {
                    let message = format!("`{}` is not a type of Rust", text.value);
                    let note = Note::error(Code::WrongKind, kind.value.place(), message);
                    let help = format!(r#"write `"await": "{meant}"`"#);
                    self.builder.note(note.help(help));
                }
                Body::Await(Await::new(text.value.into_owned()))
            }
            None => self.broken_body(),
        }
    }

    fn branch(&mut self, node: JsonNode<'_>, depth: usize) -> Option<Branch> {
        let members = self.object(node, "a branch", branch::ALL)?;
        let around = self.locals.len();
        let conditions = self.conditions(&members);
        let body = match members.given(branch::THEN) {
            Some(then) => self.inner(then, "the `then` of a branch", depth),
            None => self.no_body(node, "the branch has no `then`"),
        };
        self.locals.truncate(around);
        Some(Branch { conditions, body })
    }

    /// Reads the conditions of a branch, and adds their local values to the enclosing ones.
    fn conditions(&mut self, members: &Members<'_>) -> Vec<Condition> {
        let given = (
            members.member(branch::CONDITION),
            members.member(branch::CONDITIONS),
            members.given(branch::PATTERN),
            members.get(branch::VALUE),
        );
        match given {
            (None, None, None, None) => Vec::new(),
            (Some(test), None, None, None) => {
                vec![Condition::Holds(self.syntax.test(self, test.value, 0))]
            }
            (None, Some(all), None, None) => self.all(all.value),
            (None, None, Some(pattern), value) => {
                vec![self.binding(members.node, "the branch", pattern, value)]
            }
            (None, None, None, Some(value)) => {
                let message = "the branch has a `value`, but no `pattern` for it";
                let note = Note::error(Code::MissingMember, members.node.place(), message);
                let help = "a branch that is taken if a value is true has a `condition`";
                self.builder.note(note.help(help.to_owned()));
                vec![Condition::Holds(self.template(value, None, 0))]
            }
            (Some(one), all, pattern, value) | (None, all @ Some(one), pattern, value) => {
                let message = "a branch has a `condition`, a `pattern` and its `value`, or a list `all` of these";
                let note = Note::error(Code::WrongKind, one.key.place(), message);
                self.builder
                    .note(note.help("remove one of them".to_owned()));
                // The branch may read the variables of each pattern.
                let all = all.map(|all| self.all(all.value));
                let binding =
                    pattern.map(|pattern| self.binding(members.node, "the branch", pattern, value));
                all.into_iter().flatten().chain(binding).collect()
            }
        }
    }

    /// Reads the conditions in an `all`.
    fn all(&mut self, node: JsonNode<'_>) -> Vec<Condition> {
        let items = self.builder.items(node, "`all`");
        let items = items.unwrap_or_default();
        if items.is_empty() && node.kind() == JsonType::List {
            let note = Note::error(Code::WrongKind, node.place(), NO_CONDITIONS);
            let help =
                "a branch that is taken in any case has none of `condition`, `pattern` and `all`";
            self.builder.note(note.help(help.to_owned()));
        }
        let mut conditions = Vec::with_capacity(self.builder.room(items.len(), 1));
        for node in items {
            if !self.builder.count(1, node.place()) {
                break;
            }
            conditions.push(self.condition(node));
        }
        conditions
    }

    /// Reads a condition as one of several.
    fn condition(&mut self, node: JsonNode<'_>) -> Condition {
        let is_pattern = |(key, value): (JsonNode<'_>, JsonNode<'_>)| {
            let is_named = key.text().is_ok_and(|key| key.value == binding::PATTERN);
            is_named && value.kind() != JsonType::Null
        };
        if node.kind() == JsonType::Object
            && node.members().any(is_pattern)
            && let Some(members) = self.object(node, "a condition", binding::ALL)
            && let Some(pattern) = members.given(binding::PATTERN)
        {
            let value = members.get(binding::VALUE);
            return self.binding(node, "the condition", pattern, value);
        }
        Condition::Holds(self.syntax.test(self, node, 0))
    }

    /// Reads a `let`, and adds its local value to the enclosing ones.
    fn binding(
        &mut self,
        node: JsonNode<'_>,
        what: &str,
        pattern: JsonNode<'_>,
        value: Option<JsonNode<'_>>,
    ) -> Condition {
        let place = pattern;
        let pattern = self.builder.text(pattern, "the pattern of a branch");
        let value = match value {
            Some(value) => self.template(value, None, 0),
            None => {
                let message = format!("{what} has a `pattern`, but no `value` for it");
                self.missing(node, &message)
            }
        };
        if let Some(pattern) = &pattern {
            self.pattern_fits(place, &pattern.value, &value, true);
        }
        let pattern = pattern.map_or_else(String::new, |text| text.value.into_owned());
        self.bind(place, &pattern, &value);
        let pattern = pattern.into();
        Condition::Let { pattern, value }
    }

    /// Adds the local value of a pattern to those around.
    fn bind(&mut self, node: JsonNode<'_>, pattern: &str, value: &Template) {
        if self.locals.len() < DEEPEST_BODY {
            self.locals.push(Bound::pattern(pattern, value));
        } else {
            let note = Note::error(Code::LimitPassed, node.place(), many_locals());
            self.builder.note(note);
        }
    }

    fn each(&mut self, node: JsonNode<'_>, depth: usize) -> Option<For> {
        let members = self.object(node, "`for`", each::ALL)?;
        let what = "the pattern of a `for`";
        let pattern = self.required(&members, each::PATTERN, "the `for`", what);
        let list = match members.get(each::LIST) {
            Some(list) => self.template(list, None, 0),
            None => self.missing(node, "the `for` has no `list`"),
        };
        if let (Some(node), Some(pattern)) = (members.given(each::PATTERN), &pattern) {
            self.pattern_fits(node, pattern, &list, false);
        }
        let pattern = pattern.unwrap_or_default();
        let around = self.locals.len();
        self.bind(node, &pattern, &list);
        let body = match members.given(each::BODY) {
            Some(body) => self.inner(body, "the body of a `for`", depth),
            None => self.no_body(node, "the `for` has no `body`"),
        };
        self.locals.truncate(around);
        Some(For {
            pattern: pattern.into(),
            list,
            body,
        })
    }

    fn no_body(&mut self, node: JsonNode<'_>, message: &str) -> Body {
        let place = node.place();
        let note = Note::error(Code::MissingMember, place, message);
        let help = "it is an object like a step without an `id`, such as a call to a tool";
        self.builder.note(note.help(help.to_owned()));
        self.broken_body()
    }

    /// Reports a missing template, and returns a placeholder for it.
    pub(crate) fn missing(&mut self, node: JsonNode<'_>, message: &str) -> Template {
        let place = node.place();
        self.builder
            .note(Note::error(Code::MissingMember, place.clone(), message));
        self.no_template(place)
    }

    /// Reads a body inside another body.
    fn inner(&mut self, node: JsonNode<'_>, what: &str, depth: usize) -> Body {
        if !self.depth_fits(depth, node) {
            return self.broken_body();
        }
        let Some(members) = self.object(node, what, self.syntax.body()) else {
            return self.broken_body();
        };
        self.body(&members, what, depth + 1)
    }

    /// Reports a body that is nested too deep, and returns `false` for it.
    pub(super) fn depth_fits(&mut self, depth: usize, node: JsonNode<'_>) -> bool {
        let deepest = self.builder.limits.depth.min(DEEPEST_BODY);
        if depth < deepest {
            return true;
        }
        let levels = counted(deepest, "level");
        let message = format!("conditions, loops and blocks are nested more than {levels} deep");
        let raised = (deepest < DEEPEST_BODY).then_some("depth");
        let note = Note::limit(raised, node.place(), message);
        self.builder.note(note);
        false
    }
}

/// Returns the help for an `if` that is one branch, or only a condition beside a call.
pub(super) fn one_branch(
    members: &Members<'_>,
    member: &Member<'_>,
    arguments: &str,
) -> Option<String> {
    let given = member.value;
    if member.name != step::IF || given.kind() != JsonType::Object {
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
            let names = [step::TOOL, arguments, "tool_description"];
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
