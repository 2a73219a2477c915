//! Policies for failures and time limits.

use super::counts::{attempts_fit, time_fits};
use super::{Members, PlanReader, wrong_kind};
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::meaningless;
use crate::plan::json::names::{catch, optional, policy, step};
use crate::plan::{Amount, Catch, Optional, Origin, Policy, Source, Step, Template};
use crate::print::short;
use std::time::Duration;

/// The names of amounts in a policy, their names as members of a step, and the notation of such a member for a help.
pub(crate) type Own = [(&'static str, &'static str, &'static str)];

/// Reads the policy of a step. The amounts that are members of the step were read already.
pub(crate) fn policy_of(
    reader: &mut PlanReader,
    index: usize,
    members: &Members<'_>,
    step: &mut Step,
) {
    let own = reader.rules.syntax.policy();
    let node = members.given(step::POLICY);
    let given = node.and_then(|node| reader.object(node, "`policy`", policy::ALL));
    for (name, own, _) in own {
        let both = (
            given.as_ref().and_then(|it| it.member(name)),
            members.member(own),
        );
        if let (Some(given), Some(own)) = both {
            let own_name = &own.name;
            let message = format!("the step has both `{own_name}` and the `{name}` of a `policy`");
            let note = Note::error(Code::WrongKind, given.key.place(), message);
            let note = note.related(own.key.place(), format!("`{own_name}` is here"));
            reader.note(note.help("remove one of them"));
        }
    }
    if let Some(given) = &given {
        step.policy = policy(reader, given, &step.policy).into();
    }
    // Returns the member for an amount, with its name.
    let node = |name: &'static str| {
        let in_policy = given.as_ref().and_then(|it| Some((name, it.given(name)?)));
        in_policy.or_else(|| {
            let (_, own, _) = own.iter().find(|(other, ..)| *other == name)?;
            Some((*own, members.given(own)?))
        })
    };
    times(reader, &step.policy, &node);
    let is_broken = reader.here.spans.steps[index].broken;
    let origin = reader.origin;
    for (name, message) in meaningless(&step.policy, is_broken, &step.body, step.role, origin) {
        if let Some((member, node)) = node(name) {
            let help = match node.slice() {
                "0" => format!("write 1 or more, or remove `{member}`"),
                _ => format!("remove `{member}`"),
            };
            reader.report(Code::NotAllowed, node.place(), message, help);
        }
    }
}

/// Reports a time that another time of the policy makes useless.
fn times<'m>(
    reader: &mut PlanReader,
    policy: &Policy,
    node: &dyn Fn(&'static str) -> Option<(&'static str, JsonNode<'m>)>,
) {
    // A recorded plan was accepted by a compiler.
    if matches!(reader.origin, Origin::Recorded) {
        return;
    }
    let is_late = |timeout| policy.deadline.is_some_and(|deadline| timeout > deadline);
    let times = [
        (
            policy.timeout.is_some_and(is_late),
            [policy::TIMEOUT, policy::DEADLINE],
            "`timeout` is longer than `deadline`, so the deadline ends the step first",
        ),
        (
            policy.max < policy.backoff,
            [policy::MAX, policy::BACKOFF],
            "the longest wait between attempts is shorter than `backoff`, the first one",
        ),
    ];
    for (is_wrong, [name, other], message) in times {
        if let (true, Some((_, first)), Some((_, second))) = (is_wrong, node(name), node(other))
            && !reader.rules.syntax.gives(reader, first)
            && !reader.rules.syntax.gives(reader, second)
        {
            let note = Note::warning(Code::NotAllowed, first.place(), message);
            let note = note.related(second.place(), format!("`{other}` is here"));
            reader.note(note.help(format!("remove `{name}`, or change `{other}`")));
        }
    }
}

/// Reads a policy. A missing member has its value from `default`.
fn policy(reader: &mut PlanReader, members: &Members<'_>, default: &Policy) -> Policy {
    let count = "a number of attempts: 1, 2, …";
    let rounds = "the most rounds of a loop: 1, 2, …";
    let at_once = "the number of elements to process concurrently: 1, 2, …";
    let yes_or_no = "`true` or `false`";
    let optional = members.given(policy::OPTIONAL);
    let optional = optional.and_then(|node| optional_kind(reader, node));
    let given = Amount::ALL.into_iter();
    let given = given
        .filter_map(|amount| template(reader, members, amount))
        .collect();
    let attempts = scalar(reader, members, policy::ATTEMPTS, count);
    let policy = Policy {
        attempts: attempts.unwrap_or(default.attempts),
        backoff: duration(reader, members, policy::BACKOFF).unwrap_or(default.backoff),
        max: duration(reader, members, policy::MAX).unwrap_or(default.max),
        jitter: scalar(reader, members, policy::JITTER, yes_or_no).unwrap_or(default.jitter),
        timeout: duration(reader, members, policy::TIMEOUT).or(default.timeout),
        deadline: duration(reader, members, policy::DEADLINE),
        optional: match optional {
            Some(optional::WHOLE) => Optional::Whole,
            Some(optional::EACH) => Optional::Each,
            _ => default.optional,
        },
        catch: read_catch(reader, members),
        fallback: members
            .get(policy::FALLBACK)
            .map(|node| reader.template(node, None, 0)),
        concurrency: scalar(reader, members, policy::CONCURRENCY, at_once),
        at_most: scalar(reader, members, policy::AT_MOST, rounds),
        every: duration(reader, members, policy::EVERY),
        collect: scalar(reader, members, policy::COLLECT, yes_or_no).unwrap_or(default.collect),
        given,
        named: Vec::new(),
    };
    if let Some(node) = fixed(reader, members, policy::ATTEMPTS) {
        attempts_fit(reader, policy.attempts, policy::ATTEMPTS, node.place());
    }
    policy
}

/// Returns the member of an amount that is a constant.
fn fixed<'a>(reader: &PlanReader, members: &Members<'a>, name: &str) -> Option<JsonNode<'a>> {
    let node = members.given(name)?;
    (!reader.rules.syntax.gives(reader, node)).then_some(node)
}

/// Returns the template of an amount that is not a constant.
fn template(
    reader: &mut PlanReader,
    members: &Members<'_>,
    amount: Amount,
) -> Option<(Amount, Template)> {
    let name = amount.name();
    let node = members.given(name)?;
    if !reader.rules.syntax.gives(reader, node) {
        return None;
    }
    let template = reader.template(node, None, 0);
    if matches!(template, Template::String(_)) {
        // A malformed reference, which the profile leaves literal.
        let (what, expected) = (format!("`{name}`"), "an amount or a reference");
        return reader.error(wrong_kind(node, &what, expected));
    }
    let mut reads = template.reads().into_iter();
    if reads.any(|source| !matches!(source, Source::Input(_))) {
        let (takes, help) = match reader.rules.form(ReferenceTarget::Input(""), &[]) {
            Some(_) => (" and inputs", "write a constant, or refer to an input"),
            None => ("", "write a constant"),
        };
        let message = format!("`{name}` reads a step, but a policy has only constants{takes}");
        reader.report(Code::NotAllowed, node.place(), message, help);
    }
    Some((amount, template))
}

fn optional_kind(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<&'static str> {
    if node.kind() == JsonType::Bool {
        let meant = match node.slice() {
            "true" => optional::WHOLE,
            _ => optional::NO,
        };
        let expected = format!("one of `\"{}\"`", optional::ALL.join("\"`, `\""));
        let note = wrong_kind(node, "`optional`", &expected);
        return reader.error(note.help(format!("write `\"optional\": \"{meant}\"`")));
    }
    reader.one_of(node, "`optional`", optional::ALL)
}

fn read_catch(reader: &mut PlanReader, members: &Members<'_>) -> Catch {
    let Some(node) = members.given(policy::CATCH) else {
        return Catch::No;
    };
    if node.kind() == JsonType::String {
        let each = reader.one_of(node, "`catch`", catch::ALL);
        return each.map_or(Catch::No, |_| Catch::Each);
    }
    let expected = "`true`, or `\"each\"` for the elements of a `for`";
    match reader.value(node, "`catch`", expected) {
        Some(true) => Catch::Whole,
        _ => Catch::No,
    }
}

fn scalar<T: serde::de::DeserializeOwned>(
    reader: &mut PlanReader,
    members: &Members<'_>,
    name: &str,
    expected: &str,
) -> Option<T> {
    let node = fixed(reader, members, name)?;
    reader.value(node, &format!("`{name}`"), expected)
}

fn duration(reader: &mut PlanReader, members: &Members<'_>, name: &str) -> Option<Duration> {
    const HELP: &str = "a duration is a number with a unit: `200ms`, `10s`, `1m 30s`";
    let node = fixed(reader, members, name)?;
    let what = format!("`{name}`");
    if node.kind() != JsonType::String {
        return reader.error(wrong_kind(node, &what, "a duration as a string").help(HELP));
    }
    let text = reader.text(node, &what)?;
    let Ok(duration) = humantime::parse_duration(&text.value) else {
        let message = format!(
            "{what} is `{}`, which is not a duration",
            short(&text.value)
        );
        return reader.fail(Code::WrongKind, node.place(), message, HELP);
    };
    time_fits(reader, duration, name, node.place());
    Some(duration)
}
