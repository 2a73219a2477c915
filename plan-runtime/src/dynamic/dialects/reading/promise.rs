//! The expectations behind the names of members, and their equivalents in a dialect.

use super::holder::Holder;
use super::{Member, Members};
use crate::dynamic::dialects::references::{ReferenceTarget, quote};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::dynamic::{Dialect, DocumentLimits};
use crate::plan::json::names::{each, looped, optional, plan, policy, step};
use crate::plan::{Segment, Selector};
use crate::print::short;
use std::time::Duration;

/// The largest number of characters of the document in a help.
const MOST_REPEATED: usize = 80;

/// The expectation of an author who writes an unknown member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Promise {
    /// A condition for the step.
    Condition,
    /// A run of the step for each element of a list.
    Elements,
    /// Repeated runs of the step.
    Rounds,
    /// Steps inside the step.
    Steps,
    /// An order of steps.
    Order,
    /// A further attempt after a failure.
    Retries,
    /// A time limit.
    Time,
    /// A failure that does not end the plan.
    Optional,
    /// A replacement for the output after a failure.
    Fallback,
    /// An action after a failure.
    Failure,
    /// A limit on concurrent elements.
    Concurrency,
    /// An undo of another step.
    Undo,
    /// A run in any case.
    Always,
    /// An approval before the step.
    Approval,
    /// A delay before the step.
    Delay,
}

impl Promise {
    /// Returns `true` if the dialects' original systems ignore such members, so that the compat profile may ignore
    /// them.
    pub(super) fn may_be_ignored(self) -> bool {
        !matches!(
            self,
            Self::Condition | Self::Elements | Self::Rounds | Self::Steps
        )
    }

    /// Returns the expectation behind a member's name, in any spelling. A value that negates the expectation, such as `"if": null`,
    /// counts as a missing member.
    pub(super) fn of(member: &Member<'_>) -> Option<Self> {
        let value = member.value;
        // `nothing` is the boolean with which the member has no effect: the step runs once.
        let (promise, nothing) = match &*plain(&member.name) {
            "if" | "condition" | "when" | "onlyif" | "runif" | "enabled" => {
                (Self::Condition, "true")
            }
            "else" | "elif" | "elseif" | "otherwise" => (Self::Condition, ""),
            "unless" | "skipif" | "skip" | "disabled" => (Self::Condition, "false"),
            "for" | "foreach" | "forall" | "iterate" | "iterateover" | "loopover" | "mapover" => {
                (Self::Elements, "false")
            }
            "loop" | "repeat" => (Self::Rounds, "false"),
            "while" | "until" | "dowhile" => (Self::Rounds, ""),
            "block" | "steps" | "substeps" | "parallel" | "sequence" if is_list(value) => {
                (Self::Steps, "")
            }
            "parallel" if value.kind() == JsonType::Number => (Self::Concurrency, "1"),
            // Steps that do not depend on each other do run concurrently.
            "parallel" => (Self::Order, "true"),
            "after" | "dependson" | "depends" | "dependencies" | "dependency" | "needs"
            | "requires" | "waitfor" | "waitson" | "runafter" | "startafter" | "prerequisites"
            | "predecessors" | "sequential" => (Self::Order, "false"),
            "retry" | "retries" | "retrycount" | "retrypolicy" | "retrylimit" | "retryattempts"
            | "retryon" | "maxretry" | "maxretries" | "maxretrycount" | "numretries"
            | "retrydelay" | "retryinterval" | "backoff" => (Self::Retries, "false"),
            "attempts" | "maxattempts" | "tries" | "maxtries" => (Self::Retries, "1"),
            "timeout"
            | "timeoutms"
            | "timeoutmillis"
            | "timeoutmilliseconds"
            | "timeouts"
            | "timeoutsec"
            | "timeoutsecs"
            | "timeoutseconds"
            | "timeoutminutes"
            | "timelimit"
            | "maxduration"
            | "maxtime"
            | "deadline" => (Self::Time, "false"),
            "optional" | "continueonerror" | "continueonfailure" | "ignoreerror"
            | "ignoreerrors" | "ignorefailure" | "ignorefailures" | "allowfailure" => {
                (Self::Optional, "false")
            }
            "fallback" | "fallbackvalue" | "default" | "defaultvalue" | "onerrorvalue" => {
                (Self::Fallback, "")
            }
            "failfast" | "required" | "mandatory" | "stoponerror" => (Self::Optional, "true"),
            "onerror" | "onfailure" | "onfail" | "errorhandling" | "errorhandler" | "catch"
            | "rescue" => (Self::Failure, "false"),
            "concurrency" | "maxconcurrency" | "maxparallel" | "parallelism" => {
                (Self::Concurrency, "1")
            }
            "undo" | "compensate" | "compensation" | "rollback" | "onrollback" | "revert" => {
                (Self::Undo, "false")
            }
            "always" | "finally" | "runalways" | "alwaysrun" => (Self::Always, "false"),
            "approval"
            | "requiresapproval"
            | "requireapproval"
            | "needsapproval"
            | "confirm"
            | "confirmation"
            | "requiresconfirmation"
            | "requireconfirmation" => (Self::Approval, "false"),
            "delay" | "delayms" | "delayseconds" | "sleep" | "startdelay" | "schedule" => {
                (Self::Delay, "false")
            }
            _ => return None,
        };
        let is_taken_back = match value.kind() {
            JsonType::Null => true,
            JsonType::Bool => value.slice() == nothing,
            JsonType::Number => {
                promise.may_be_ignored() && (value.slice() == "0" || value.slice() == nothing)
            }
            JsonType::String => value.text().is_ok_and(|text| {
                let text = plain(&text.value);
                text.is_empty() || (promise == Self::Failure && is_end(&text))
            }),
            JsonType::List => promise.may_be_ignored() && value.each_item().next().is_none(),
            JsonType::Object => promise.may_be_ignored() && value.members().next().is_none(),
        };
        (!is_taken_back).then_some(promise)
    }
}

/// Returns a name without case, `_`, `-` and spaces. A long name is truncated.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().take(40);
    let letters = letters.filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns `true` for an `on_error` that describes the default.
fn is_end(text: &str) -> bool {
    matches!(
        text,
        "fail" | "stop" | "abort" | "throw" | "raise" | "error"
    )
}

/// Returns `true` for a list, and for an object in the form of a plan JSON block.
fn is_list(value: JsonNode<'_>) -> bool {
    matches!(value.kind(), JsonType::List | JsonType::Object)
}

/// The position of an unknown member, to find its equivalent.
pub(super) struct Instead<'a> {
    pub(super) dialect: Dialect,
    pub(super) holder: Holder,
    pub(super) members: &'a Members<'a>,
    pub(super) member: &'a Member<'a>,
}

impl Instead<'_> {
    /// Returns the equivalent.
    pub(super) fn of(&self, promise: Promise) -> String {
        let what = match self.holder {
            Holder::Plan => "a plan says nothing of that, but its steps do: a step",
            _ => "a step",
        };
        match promise {
            Promise::Condition | Promise::Elements | Promise::Rounds | Promise::Steps => {
                self.body(promise, what)
            }
            Promise::Order => format!(
                "{what} starts as soon as everything that it refers to is available; to wait for another one, write {}",
                self.order()
            ),
            Promise::Retries => format!(
                "{what} runs once; to try it again if it fails, write {}",
                self.retries()
            ),
            Promise::Time => format!(
                "{what} may take any time; to limit each attempt, write {}",
                self.time()
            ),
            Promise::Optional => format!(
                "{what} that fails ends the plan; to go on without its output, write {}",
                self.optional()
            ),
            Promise::Fallback => format!(
                "{what} that fails ends the plan; to go on with another output, write {}",
                self.in_policy(
                    policy::FALLBACK,
                    &self.value().unwrap_or_else(|| r#""none""#.to_owned())
                )
            ),
            Promise::Failure => format!(
                "{what} that fails ends the plan; to go on without its output, write {}, and to have the failure as a value that other steps test with `is_err`, write {}",
                self.optional(),
                self.in_policy(policy::CATCH, "true")
            ),
            Promise::Concurrency => format!(
                "steps that do not depend on each other run concurrently; to limit how many elements of a `for` are processed at the same time, write {}",
                self.in_policy(
                    policy::CONCURRENCY,
                    &self
                        .count()
                        .map_or_else(|| "4".to_owned(), |count| count.to_string())
                )
            ),
            Promise::Undo => format!(
                "{what} is not undone by itself; the step that undoes it says so: `\"{}\": {}`",
                step::UNDO,
                self.first_step()
            ),
            Promise::Always => format!(
                "{what} runs when everything that it refers to is available; one that runs at the end, whatever happened, has `\"{}\": true`",
                step::ALWAYS
            ),
            Promise::Approval => format!(
                r#"nobody is asked; a step that waits for the answer is `{{{}"await": "bool"}}`, and one that depends on it can have `"if": [{{"condition": {}, "then": {}}}]` in place of its `tool`"#,
                if self.dialect.rules().by_id {
                    r#""id": "a", "#
                } else {
                    ""
                },
                self.reference(&[]),
                self.call()
            ),
            Promise::Delay => format!(
                "{what} starts as soon as everything that it refers to is available; if time has to pass first, call a tool that waits, and write {} in this step",
                self.order()
            ),
        }
    }

    /// Returns the notation of a body that is not a single call.
    fn body(&self, promise: Promise, what: &str) -> String {
        let call = self.call();
        let (always, instead) = match promise {
            Promise::Condition => {
                let ok = Segment::new(Selector::Key("ok".to_owned()));
                let condition = self.reference(&[ok]);
                (
                    "runs in any case",
                    format!(r#""if": [{{"condition": {condition}, "then": {call}}}]"#),
                )
            }
            Promise::Elements => {
                let list = self.reference(&[]);
                (
                    "runs once",
                    format!(r#""for": {{"pattern": "x", "list": {list}, "body": {call}}}"#),
                )
            }
            Promise::Rounds => (
                "runs once",
                format!(
                    r#""loop": {{"steps": [], "tail": {call}, "while": true}}, "policy": {{"at_most": 100}}"#
                ),
            ),
            _ => (
                "has no steps in it",
                format!(r#""block": {{"steps": [], "tail": {call}}}"#),
            ),
        };
        let retries = match (promise, self.dialect.rules().retries) {
            (Promise::Elements | Promise::Rounds, Some(retries)) => {
                format!(", and `{retries}` tries it again if it fails")
            }
            _ => String::new(),
        };
        if self.holder == Holder::Body {
            return format!("it {always}; in its place, write `{instead}`");
        }
        format!("{what} {always}{retries}; in place of its `tool`, it can have `{instead}`")
    }

    /// Writes an example of a call.
    fn call(&self) -> String {
        let rules = self.dialect.rules();
        if rules.wraps() {
            return r#"{"tool": {"name": "t"}}"#.to_owned();
        }
        format!(r#"{{"tool": "t", "{}": {{}}}}"#, rules.arguments)
    }

    /// Writes a reference to the first step, as a JSON value.
    fn reference(&self, path: &[Segment]) -> String {
        let rules = self.dialect.rules();
        let form = (rules.form)(ReferenceTarget::Step(0, "a"), path).unwrap_or_default();
        if rules.wraps() { form } else { quote(&form) }
    }

    /// Returns the name of the first step outside of references.
    fn first_step(&self) -> &'static str {
        if self.dialect.rules().by_id {
            r#""a""#
        } else {
            "0"
        }
    }

    /// Returns the steps in the member, if a message can repeat them.
    fn steps(&self) -> Option<String> {
        let by_id = self.dialect.rules().by_id;
        let value = self.member.value;
        if value.slice().len() > MOST_REPEATED {
            return None;
        }
        let kind = if by_id {
            JsonType::String
        } else {
            JsonType::Number
        };
        let items = match value.kind() {
            JsonType::List => value.items(),
            other if other == kind => vec![value],
            _ => return None,
        };
        let is_alike = !items.is_empty() && items.iter().all(|item| item.kind() == kind);
        let items: Vec<&str> = items.into_iter().map(JsonNode::slice).collect();
        is_alike.then(|| repeated(&format!("[{}]", items.join(", "))))?
    }

    fn order(&self) -> String {
        let own = if self.dialect.rules().by_id {
            step::AFTER
        } else {
            "dependsOn"
        };
        let steps = self.steps();
        let steps = steps.unwrap_or_else(|| format!("[{}]", self.first_step()));
        format!("`\"{own}\": {steps}`{}", self.beside())
    }

    /// Returns the number in the member.
    fn count(&self) -> Option<u32> {
        self.member.value.slice().parse().ok()
    }

    fn retries(&self) -> String {
        let counts_all = plain(&self.member.name).ends_with("attempts")
            || matches!(&*plain(&self.member.name), "tries" | "maxtries");
        let counts_all = counts_all && plain(&self.member.name) != "retryattempts";
        if matches!(
            &*plain(&self.member.name),
            "backoff" | "retrydelay" | "retryinterval"
        ) {
            let wait = self.duration().unwrap_or(Duration::from_millis(200));
            let wait = quote(&humantime::format_duration(wait).to_string());
            let given = format!("{wait}, \"{}\": 3", policy::ATTEMPTS);
            return self.in_policy(policy::BACKOFF, &given);
        }
        let retries = match (self.count(), counts_all) {
            (Some(count @ 1..), true) => count - 1,
            (Some(count @ 1..=1_000_000), false) => count,
            _ => 2,
        };
        match self.dialect.rules().retries {
            Some(own) if self.holder != Holder::Policy => {
                format!("`\"{own}\": {retries}`{}", self.beside())
            }
            _ => self.in_policy(policy::ATTEMPTS, &(retries + 1).to_string()),
        }
    }

    /// Returns the time in the member, if the member contains its unit.
    fn duration(&self) -> Option<Duration> {
        let millis = self.count().and_then(|count| {
            let unit = match plain(&self.member.name).trim_start_matches("timeout") {
                "ms" | "millis" | "milliseconds" => 1,
                "sec" | "secs" | "seconds" => 1_000,
                "minutes" => 60_000,
                _ => return None,
            };
            Some(Duration::from_millis(u64::from(count) * unit))
        });
        let given = || {
            let text = self.member.value.text().ok()?;
            humantime::parse_duration(&text.value).ok()
        };
        let time = millis.or_else(given);
        time.filter(|time| !time.is_zero() && *time <= DocumentLimits::DEFAULT.time)
    }

    fn time(&self) -> String {
        let name = plain(&self.member.name);
        let time = self.duration();
        let is_known = time.is_some();
        let time = time.unwrap_or(Duration::from_secs(10));
        // The dialect with a count of retries has milliseconds as well.
        if self.dialect.rules().retries.is_some() && self.holder != Holder::Policy {
            let time = format!("`\"timeout\": {}`", time.as_millis());
            return format!("{time}, in milliseconds{}", self.beside());
        }
        let unit = if is_known { "" } else { ", with its unit" };
        let name = match &*name {
            policy::DEADLINE => policy::DEADLINE,
            _ => policy::TIMEOUT,
        };
        let time = quote(&humantime::format_duration(time).to_string());
        format!("{}{unit}", self.in_policy(name, &time))
    }

    fn optional(&self) -> String {
        match self.dialect.rules().retries {
            Some(_) if self.holder != Holder::Policy => {
                format!("`\"optional\": true`{}", self.beside())
            }
            _ => self.in_policy(policy::OPTIONAL, &quote(optional::WHOLE)),
        }
    }

    /// Returns the value of the member, if this dialect can repeat it.
    fn value(&self) -> Option<String> {
        let value = self.member.value;
        let is_plain = !matches!(value.kind(), JsonType::Object | JsonType::List);
        let is_same = is_plain || !self.dialect.rules().wraps();
        is_same.then(|| repeated(value.slice()))?
    }

    /// Writes a member of a policy, at its position in the step.
    fn in_policy(&self, name: &str, value: &str) -> String {
        let has_policy = self.members.given(step::POLICY);
        let has_policy = has_policy.is_some_and(|node| node.kind() == JsonType::Object);
        match self.holder {
            Holder::Policy => format!("`\"{name}\": {value}`"),
            _ if has_policy => format!("`\"{name}\": {value}` in its `policy`"),
            _ => format!("`\"policy\": {{\"{name}\": {value}}}`{}", self.beside()),
        }
    }

    /// Returns the position of the equivalent, if it is not that of the member.
    fn beside(&self) -> &'static str {
        match self.holder {
            Holder::Body => " in the step that this is a part of",
            Holder::Policy => " in the step itself",
            _ => "",
        }
    }
}

/// Returns a string of the document, if it is short and on one line.
fn repeated(text: &str) -> Option<String> {
    let is_short = text.len() <= MOST_REPEATED && short(text) == text;
    is_short.then(|| text.to_owned())
}

/// Returns the equivalent of a member that other languages use in such an object.
pub(super) fn synonym(holder: Holder, member: &Member<'_>) -> Option<&'static str> {
    let name = plain(&member.name);
    let is_list = member.value.kind() == JsonType::List;
    Some(match (holder, &*name) {
        (
            Holder::Step | Holder::Body,
            "args" | "kwargs" | "parameters" | "params" | "arguments",
        ) => step::ARGUMENTS,
        (Holder::Plan, "outputs" | "results" | "result" | "returns" | "return") if is_list => {
            "output_steps"
        }
        (Holder::Plan, "outputs" | "results" | "result" | "returns" | "return") => plan::OUTPUT,
        (Holder::For, "in" | "of" | "over" | "items" | "iterable" | "collection" | "array") => {
            each::LIST
        }
        (Holder::For, "do" | "then" | "action" | "call" | "each") => each::BODY,
        (Holder::For, "as" | "var" | "variable" | "item" | "element" | "name") => each::PATTERN,
        (Holder::Branch, "if" | "when" | "test") => "condition",
        (Holder::Branch, "do" | "body" | "action" | "call") => "then",
        (Holder::Branch, "match" | "let") => "pattern",
        (Holder::Block | Holder::Loop, "do" | "body" | "tasks" | "actions") if is_list => {
            looped::STEPS
        }
        (Holder::Block | Holder::Loop, "do" | "body" | "then" | "action" | "call") => looped::TAIL,
        (Holder::Block | Holder::Loop, "result" | "output" | "return") => looped::VALUE,
        (Holder::Loop, "condition" | "if" | "repeatwhile") => looped::WHILE,
        (Holder::Loop, "previous" | "prev" | "state" | "acc") => looped::LAST,
        _ => return None,
    })
}

/// Returns the equivalent of a member that objects of this kind cannot have.
pub(super) fn elsewhere(holder: Holder, member: &Member<'_>) -> Option<&'static str> {
    Some(match (holder, &*plain(&member.name)) {
        (Holder::Branch, "default")
        | (
            Holder::Step | Holder::Body | Holder::Branch,
            "else" | "elif" | "elseif" | "otherwise",
        ) => {
            r#"what is done in all other cases is a last branch without a condition: `"if": [{"condition": …, "then": …}, {"then": …}]`"#
        }
        (Holder::Loop, "until") => {
            r#"a loop goes on while its condition is true: `"while": {"not": …}`"#
        }
        (Holder::Loop, "atmost" | "max" | "maxiterations" | "maxrounds" | "limit" | "times") => {
            r#"the step of the loop has it in its policy: `"policy": {"at_most": 100}`"#
        }
        (Holder::Policy, "retrydelay" | "retryinterval" | "delay" | "interval" | "wait") => {
            r#"the wait between attempts is a `backoff`: `"backoff": "200ms"`"#
        }
        (Holder::Policy, "maxdelay" | "maxbackoff" | "maxinterval") => {
            r#"the longest wait between attempts is the `max`: `"max": "10s"`"#
        }
        (Holder::Policy, "maxiterations" | "maxrounds" | "limit" | "times") => {
            r#"the most rounds of a loop are `"at_most": 100`"#
        }
        (Holder::For, "concurrency" | "parallel" | "maxconcurrency" | "parallelism") => {
            r#"the step of the `for` has it in its policy: `"policy": {"concurrency": 4}`"#
        }
        _ => return None,
    })
}
