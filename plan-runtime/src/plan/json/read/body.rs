//! Steps, and what they do.

use super::FirstMistakeReader;
use crate::plan::json::JsonType;
use crate::plan::json::value::{ObjectMembers, Result, Value, WithPlace, wrong};
use crate::plan::json::{
    DEEPEST_BODY, NO_CONDITIONS, many_locals, meaningless, names, pattern_mistake,
};
use crate::plan::{
    Action, Body, Bound, Branch, Condition, For, Optional, Policy, Step, Template, ToolInfo,
};
use std::sync::Arc;
use std::time::Duration;

impl FirstMistakeReader {
    pub(super) fn step(&mut self, value: Value<'_>) -> Result<Step> {
        let members = value.object("a step", names::step::ALL)?;
        let mut step = Step {
            id: members.name(names::step::ID, "the step")?,
            intent: members.string(names::step::INTENT)?.into(),
            body: self.body(&members, 0)?,
            after: Vec::new(),
            policy: Policy::shared(),
        };
        let mut after = Vec::new();
        for (index, value) in members.items(names::step::AFTER)?.into_iter().enumerate() {
            let name = value.string("a step to wait for");
            let place = name.and_then(|name| self.step_named(&name));
            after.push(place.at(index).at(names::step::AFTER)?);
        }
        after.sort_unstable();
        after.dedup();
        step.after = after;
        if let Some(value) = members.given(names::step::POLICY) {
            let policy = self.policy(value).at(names::step::POLICY)?;
            if let Some((member, message)) = meaningless(&policy, step.body.repeats()).first() {
                return wrong(*message).at(member).at(names::step::POLICY);
            }
            step.policy = policy.into();
        }
        Ok(step)
    }

    fn body(&mut self, members: &ObjectMembers<'_>, depth: usize) -> Result<Body> {
        // For a value, null is one.
        let given = |kind: &str| {
            let value = members.get(kind);
            value.is_some_and(|value| kind == names::step::VALUE || value.kind() != JsonType::Null)
        };
        let kinds: Vec<&str> = names::BODIES
            .iter()
            .copied()
            .filter(|kind| given(kind))
            .collect();
        let &[kind] = &kinds[..] else {
            return wrong("one of `tool`, `value`, `if` and `for` says what is done");
        };
        if kind != names::step::TOOL && members.get(names::step::ARGUMENTS).is_some() {
            return wrong("only a `tool` takes `arguments`");
        }
        let value = members.required(kind, "it");
        match kind {
            names::step::TOOL => {
                let tool = self.tool(value?).at(kind)?;
                let args = match members.get(names::step::ARGUMENTS) {
                    Some(arguments) => self.template(arguments, 0).at(names::step::ARGUMENTS)?,
                    None => Template::Object(Vec::new()),
                };
                Ok(Body::Action(Action {
                    tool: Some(tool),
                    args,
                }))
            }
            names::step::VALUE => Ok(Body::Action(Action {
                tool: None,
                args: match value {
                    Ok(value) => self.template(value, 0).at(kind)?,
                    Err(_) => Template::Null,
                },
            })),
            names::step::IF => {
                let mut branches = Vec::new();
                for (index, branch) in value?.items("`if`").at(kind)?.into_iter().enumerate() {
                    branches.push(self.branch(branch, depth).at(index).at(kind)?);
                }
                Ok(Body::If(branches))
            }
            _ => Ok(Body::For(Box::new(self.each(value?, depth).at(kind)?))),
        }
    }

    fn tool(&mut self, value: Value<'_>) -> Result<Arc<ToolInfo>> {
        let members = value.object("`tool`", names::tool::ALL)?;
        let name = members.name(names::tool::NAME, "the tool")?;
        let description = members.string(names::tool::DESCRIPTION)?;
        if let Some(tool) = self.tools.get(&name)
            && tool.description == description
        {
            return Ok(tool.clone());
        }
        let tool = Arc::new(ToolInfo {
            name: name.clone(),
            description,
        });
        self.tools.insert(name, tool.clone());
        Ok(tool)
    }

    fn branch(&mut self, value: Value<'_>, depth: usize) -> Result<Branch> {
        let members = value.object("a branch", names::branch::ALL)?;
        let around = self.locals.len();
        let conditions = self.conditions(&members)?;
        let then = members.required(names::branch::THEN, "the branch")?;
        let body = self.inner(then, depth).at(names::branch::THEN)?;
        self.locals.truncate(around);
        Ok(Branch { conditions, body })
    }

    /// The conditions of a branch, whose local values are added to those around.
    fn conditions(&mut self, members: &ObjectMembers<'_>) -> Result<Vec<Condition>> {
        let given = (
            members.get(names::branch::CONDITION),
            members.get(names::branch::CONDITIONS),
            members.given(names::branch::PATTERN),
            members.get(names::branch::VALUE),
        );
        match given {
            (None, None, None, None) => Ok(Vec::new()),
            (Some(test), None, None, None) => {
                let test = self.template(test, 0).at(names::branch::CONDITION)?;
                Ok(vec![Condition::Holds(test)])
            }
            (None, None, Some(pattern), Some(value)) => Ok(vec![self.binding(pattern, value)?]),
            (None, Some(all), None, None) => {
                let mut conditions = Vec::new();
                let items = all.items("`all`").at(names::branch::CONDITIONS)?;
                for (index, item) in items.into_iter().enumerate() {
                    let condition = self.condition(item).at(index);
                    conditions.push(condition.at(names::branch::CONDITIONS)?);
                }
                if conditions.is_empty() {
                    return wrong(NO_CONDITIONS).at(names::branch::CONDITIONS);
                }
                Ok(conditions)
            }
            _ => wrong(
                "a branch has a `condition`, a `pattern` and its `value`, or a list `all` of these",
            ),
        }
    }

    /// One of several conditions.
    fn condition(&mut self, value: Value<'_>) -> Result<Condition> {
        let is_object = value.kind() == JsonType::Object;
        if is_object
            && let Some(pattern) = value.members("a condition")?.given(names::binding::PATTERN)
        {
            let members = value.object("a condition", names::binding::ALL)?;
            let Some(value) = members.get(names::binding::VALUE) else {
                return wrong("the condition has a `pattern`, but no `value` for it");
            };
            return self.binding(pattern, value);
        }
        self.template(value, 0).map(Condition::Holds)
    }

    /// A `let`, whose local value is added to those around.
    fn binding(&mut self, pattern: Value<'_>, value: Value<'_>) -> Result<Condition> {
        let pattern = pattern.string("the pattern of a branch");
        let pattern = pattern.at(names::binding::PATTERN)?;
        let value = self.template(value, 0).at(names::binding::VALUE)?;
        pattern_fits(&pattern, &value, true).at(names::binding::PATTERN)?;
        self.bind(&pattern, &value).at(names::binding::PATTERN)?;
        let pattern = pattern.into();
        Ok(Condition::Let { pattern, value })
    }

    /// Adds the local value of a pattern to those around.
    fn bind(&mut self, pattern: &str, value: &Template) -> Result<()> {
        if self.locals.len() >= DEEPEST_BODY {
            return wrong(many_locals());
        }
        self.locals.push(Bound::pattern(pattern, value));
        Ok(())
    }

    fn each(&mut self, value: Value<'_>, depth: usize) -> Result<For> {
        let members = value.object("`for`", names::each::ALL)?;
        let pattern = members.required(names::each::PATTERN, "the `for`")?;
        let pattern = pattern
            .string("the pattern of a `for`")
            .at(names::each::PATTERN)?;
        let Some(list) = members.get(names::each::LIST) else {
            return wrong("the `for` has no `list`");
        };
        let list = self.template(list, 0).at(names::each::LIST)?;
        pattern_fits(&pattern, &list, false).at(names::each::PATTERN)?;
        let around = self.locals.len();
        self.bind(&pattern, &list).at(names::each::PATTERN)?;
        let body = members.required(names::each::BODY, "the `for`")?;
        let body = self.inner(body, depth).at(names::each::BODY)?;
        self.locals.truncate(around);
        let pattern = pattern.into();
        Ok(For {
            pattern,
            list,
            body,
        })
    }

    /// A body in another one.
    fn inner(&mut self, value: Value<'_>, depth: usize) -> Result<Body> {
        if depth >= DEEPEST_BODY {
            return wrong(format!(
                "conditions and loops are nested more than {DEEPEST_BODY} levels deep"
            ));
        }
        let members = value.object("a body", names::BODY)?;
        self.body(&members, depth + 1)
    }

    fn policy(&mut self, value: Value<'_>) -> Result<Policy> {
        let members = value.object("`policy`", names::policy::ALL)?;
        let default = Policy::DEFAULT;
        let optional = members.string(names::policy::OPTIONAL)?;
        Ok(Policy {
            attempts: read(&members, names::policy::ATTEMPTS, "a number")?
                .unwrap_or(default.attempts),
            backoff: duration(&members, names::policy::BACKOFF)?.unwrap_or(default.backoff),
            max: duration(&members, names::policy::MAX)?.unwrap_or(default.max),
            jitter: read(&members, names::policy::JITTER, "`true` or `false`")?
                .unwrap_or(default.jitter),
            timeout: duration(&members, names::policy::TIMEOUT)?,
            deadline: duration(&members, names::policy::DEADLINE)?,
            optional: match (optional.as_str(), members.given(names::policy::OPTIONAL)) {
                (names::optional::NO, _) | (_, None) => Optional::No,
                (names::optional::WHOLE, _) => Optional::Whole,
                (names::optional::EACH, _) => Optional::Each,
                _ => {
                    return wrong("`optional` is one of `no`, `whole` and `each`")
                        .at(names::policy::OPTIONAL);
                }
            },
            fallback: match members.get(names::policy::FALLBACK) {
                Some(value) => Some(self.template(value, 0).at(names::policy::FALLBACK)?),
                None => None,
            },
            concurrency: read(&members, names::policy::CONCURRENCY, "a number")?,
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(
    members: &ObjectMembers<'_>,
    name: &str,
    expected: &str,
) -> Result<Option<T>> {
    let value = members.given(name);
    let read = value.map(|value| value.read(&format!("`{name}`"), expected));
    read.transpose().at(name)
}

fn duration(members: &ObjectMembers<'_>, name: &str) -> Result<Option<Duration>> {
    if members.given(name).is_none() {
        return Ok(None);
    }
    match humantime::parse_duration(&members.string(name)?) {
        Ok(duration) => Ok(Some(duration)),
        Err(_) => wrong(format!(
            "`{name}` is not a duration, such as `200ms` or `1m 30s`"
        ))
        .at(name),
    }
}

/// Refuses a pattern that asks more of data than a run does.
fn pattern_fits(pattern: &str, value: &Template, in_if: bool) -> Result<()> {
    pattern_mistake(pattern, value, in_if).map_or(Ok(()), |(message, _)| wrong(message))
}
