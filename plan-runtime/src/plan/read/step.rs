use super::{Given, Reader};
use crate::plan::{
    Action, Body, Branch, Condition, For, Optional, Policy, Source, Step, Template, ToolInfo,
};
use std::borrow::Cow;
use std::time::Duration;

/// How deep bodies may be nested.
const DEEPEST: usize = 64;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepJson {
    pub(super) id: String,
    #[serde(default)]
    intent: String,
    tool: Option<ToolJson>,
    #[serde(default)]
    arguments: Given,
    #[serde(default)]
    value: Given,
    #[serde(rename = "if")]
    branches: Option<Vec<BranchJson>>,
    #[serde(rename = "for")]
    each: Option<Box<ForJson>>,
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    policy: PolicyJson,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolJson {
    name: String,
    #[serde(default)]
    description: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyJson {
    tool: Option<ToolJson>,
    #[serde(default)]
    arguments: Given,
    #[serde(default)]
    value: Given,
    #[serde(rename = "if")]
    branches: Option<Vec<BranchJson>>,
    #[serde(rename = "for")]
    each: Option<Box<ForJson>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchJson {
    #[serde(default)]
    condition: Given,
    pattern: Option<String>,
    #[serde(default)]
    value: Given,
    then: BodyJson,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ForJson {
    pattern: String,
    #[serde(default)]
    list: Given,
    body: BodyJson,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
struct PolicyJson {
    attempts: Option<u32>,
    backoff: Option<String>,
    max: Option<String>,
    jitter: Option<bool>,
    timeout: Option<String>,
    deadline: Option<String>,
    optional: OptionalJson,
    fallback: Given,
    concurrency: Option<usize>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum OptionalJson {
    #[default]
    No,
    Whole,
    Each,
}

impl Reader {
    pub(super) fn step(&mut self, json: StepJson) -> Step {
        self.place = format!("step `{}`", json.id);
        let body = self.body(BodyJson {
            tool: json.tool,
            arguments: json.arguments,
            value: json.value,
            branches: json.branches,
            each: json.each,
        });
        let mut after: Vec<usize> = Vec::new();
        for name in &json.after {
            if let Some(Source::Step(place)) = self.named(name, "step") {
                after.push(place);
            }
        }
        after.sort_unstable();
        after.dedup();
        let policy = self.policy(json.policy);
        let mut step = Step {
            id: json.id.into(),
            intent: json.intent.into(),
            body,
            after: after.into(),
            needs: Cow::Borrowed(&[]),
            policy,
        };
        step.needs = step.needed().into();
        step
    }

    fn body(&mut self, json: BodyJson) -> Body {
        match json {
            BodyJson {
                tool,
                arguments,
                value,
                branches: None,
                each: None,
            } => Body::Action(self.action(tool, arguments.0, value.0)),
            BodyJson {
                tool: None,
                arguments: Given(None),
                value: Given(None),
                branches: Some(branches),
                each: None,
            } => {
                let branches: Vec<Branch> = branches
                    .into_iter()
                    .map(|branch| self.branch(branch))
                    .collect();
                Body::If(branches.into())
            }
            BodyJson {
                tool: None,
                arguments: Given(None),
                value: Given(None),
                branches: None,
                each: Some(each),
            } => {
                let list = self.given(each.list, "the `for` has no `list`");
                let body = self.bound(each.body);
                Body::For(
                    vec![For {
                        pattern: each.pattern.into(),
                        list,
                        body,
                    }]
                    .into(),
                )
            }
            _ => {
                self.find("it is one of a `tool`, a `value`, an `if` and a `for`".into());
                Body::If(Cow::Borrowed(&[]))
            }
        }
    }

    fn action(
        &mut self,
        tool: Option<ToolJson>,
        arguments: Option<super::Raw>,
        value: Option<super::Raw>,
    ) -> Action {
        let site = self.sites;
        self.sites += 1;
        let args = match (&tool, arguments, value) {
            (Some(_), Some(raw), None) | (None, None, Some(raw)) => self.template(raw),
            (Some(_), None, None) => Template::Object(Cow::Borrowed(&[])),
            (Some(_), _, Some(_)) => {
                self.find("it calls a tool, which takes `arguments` and no `value`".into());
                Template::Null
            }
            (None, ..) => {
                self.find("without a `tool` it must be a `value`, and have no `arguments`".into());
                Template::Null
            }
        };
        Action {
            site,
            tool: tool.map(|tool| ToolInfo {
                name: tool.name.into(),
                description: tool.description.into(),
            }),
            args,
        }
    }

    fn branch(&mut self, json: BranchJson) -> Branch {
        let BranchJson {
            condition,
            pattern,
            value,
            then,
        } = json;
        match (condition.0, pattern, value.0) {
            (None, None, None) => Branch {
                condition: Condition::Always,
                body: self.body(then),
            },
            (Some(condition), None, None) => Branch {
                condition: Condition::Holds(self.template(condition)),
                body: self.body(then),
            },
            (None, Some(pattern), Some(value)) => Branch {
                condition: Condition::Binds {
                    pattern: pattern.into(),
                    value: self.template(value),
                },
                body: self.bound(then),
            },
            _ => {
                self.find(
                    "a branch has a `condition`, or else a `pattern` and its `value`, or else none of them"
                        .into(),
                );
                Branch {
                    condition: Condition::Always,
                    body: Body::If(Cow::Borrowed(&[])),
                }
            }
        }
    }

    /// A body with one more local value.
    fn bound(&mut self, json: BodyJson) -> Body {
        if self.locals == DEEPEST {
            self.find(format!("it is nested more than {DEEPEST} levels deep"));
            return Body::If(Cow::Borrowed(&[]));
        }
        self.locals += 1;
        let body = self.body(json);
        self.locals -= 1;
        body
    }

    fn given(&mut self, given: Given, message: &str) -> Template {
        match given.0 {
            Some(raw) => self.template(raw),
            None => {
                self.find(message.into());
                Template::Null
            }
        }
    }

    fn policy(&mut self, json: PolicyJson) -> Policy {
        let default = Policy::DEFAULT;
        let mut duration = |name: &str, text: Option<String>| -> Option<Duration> {
            let text = text?;
            match humantime::parse_duration(&text) {
                Ok(duration) => Some(duration),
                Err(error) => {
                    self.find(format!("its {name} `{text}` is no duration: {error}"));
                    None
                }
            }
        };
        Policy {
            attempts: json.attempts.unwrap_or(default.attempts),
            backoff: duration("backoff", json.backoff).unwrap_or(default.backoff),
            max: duration("max", json.max).unwrap_or(default.max),
            jitter: json.jitter.unwrap_or(default.jitter),
            timeout: duration("timeout", json.timeout),
            deadline: duration("deadline", json.deadline),
            optional: match json.optional {
                OptionalJson::No => Optional::No,
                OptionalJson::Whole => Optional::Whole,
                OptionalJson::Each => Optional::Each,
            },
            fallback: json.fallback.0.map(|raw| self.template(raw)),
            concurrency: json.concurrency,
        }
    }
}
