//! Help for a member name of another system, such as `depends_on`: the equivalent member, with the value of the document if the value fits.

use super::words::{ELSE, OWNERS, RETRIES, UNLESS, is_one, meanings, plain, renamed};
use super::{Member, Members, PlanReader, strings};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{branch, each, looped, policy, step};
use crate::print::short;
use std::time::Duration;

/// The notations of words in a part of a step: the member that marks the part, the words, the member that the notation adds, and the help.
const PARTS: [(&str, &str, &str, &str); 3] = [
    (
        branch::THEN,
        ELSE,
        "",
        r#"add a branch to the list: `{"condition": …, "then": …}`, or `{"then": …}` for all other cases"#,
    ),
    (
        branch::THEN,
        UNLESS,
        branch::CONDITION,
        r#"write `"condition": {"not": …}`"#,
    ),
    (
        looped::WHILE,
        "until",
        looped::WHILE,
        r#"write `"while": {"not": …}`"#,
    ),
];

/// A loop where only a body can stand, since a loop is a step.
const LOOP_IN_BLOCK: &str = r#""block": {"steps": [{"id": "x", "loop": {"steps": [], "tail": …, "while": …}, "policy": {"at_most": 100}}], "value": …}"#;

/// The members of a policy that a step of a blueprint has itself, with their names, their usual values and their units.
const BY_PLACE: [(&str, &str, &str, &str); 3] = [
    (policy::ATTEMPTS, "retryCount", "2", ""),
    (policy::TIMEOUT, "timeout", "10000", ", in milliseconds"),
    (policy::OPTIONAL, "optional", "true", ""),
];

/// Returns the help for a member with a word of another system, or with another spelling of a name. `what` describes the object.
pub(super) fn instead(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (what, known): (&str, &[&'static str]),
) -> Option<String> {
    let word = plain(&member.name);
    let mut same = known.iter().filter(|known| plain(known) == word).copied();
    let same = same.next().filter(|same| members.can_have(same, member));
    if let Some(meant) = same.or_else(|| renamed(reader, members, member, known)) {
        return Some(format!("did you mean `{meant}`?"));
    }
    if !known.iter().any(|it| OWNERS.contains(it)) {
        return None;
    }
    let has = |name: &'static str| known.contains(&name);
    let in_part = |(part, words, added, _): &&(&'static str, &str, &str, &str)| {
        has(part) && is_one(words, &word) && members.can_have(added, member)
    };
    if let Some((.., help)) = PARTS.iter().find(in_part) {
        return Some((*help).to_owned());
    }
    let other = |name: &str| name != member.name && members.given(name).is_some();
    let is_loop = has(looped::WHILE) || other(step::LOOP);
    let fits = |meaning| match meaning {
        policy::AT_MOST => is_loop || has(policy::ATTEMPTS),
        step::LOOP => !is_loop,
        step::POLICY => !has(step::POLICY) && !has(policy::ATTEMPTS),
        _ => true,
    };
    let mut meanings = meanings(&word, member.value.kind());
    let (meaning, form) = meanings.find(|(meaning, form)| !form.is_empty() && fits(meaning))?;
    let place = if has(step::ID) { "" } else { " in the step" };
    let is_for = has(each::BODY) || other(step::FOR);
    let of = match meaning {
        policy::CONCURRENCY if !is_for => "for the elements of a `for`, ",
        policy::AT_MOST if !is_loop => "for the rounds of a `loop`, ",
        _ => "",
    };
    Some(match meaning {
        step::IF | step::FOR | step::LOOP | step::BLOCK => body(meaning, form, (what, known)),
        step::AFTER => order(reader, members, member, place),
        step::UNDO if !reader.syntax.names_steps() => form.replace(r#""a""#, "0"),
        _ if !policy::ALL.contains(&meaning) => form.to_owned(),
        _ if has(policy::ATTEMPTS) => in_policy(reader, members, member, (meaning, form, of)),
        _ => in_step(reader, members, member, (meaning, form, of, place)),
    })
}

/// Returns the help for a word that means a body. An object that is no body contains one.
fn body(meaning: &str, form: &str, (what, known): (&str, &[&str])) -> String {
    let has = |name: &'static str| known.contains(&name);
    let (owner, is_step) = match () {
        () if has(branch::THEN) => ("the `then` of a branch", false),
        () if has(each::BODY) => ("the body of a `for`", false),
        () if has(step::TOOL) => (what, has(step::ID)),
        () => ("a step", true),
    };
    let form = match meaning {
        step::LOOP if !is_step => LOOP_IN_BLOCK,
        _ => form,
    };
    format!("in place of its `tool`, {owner} can have `{form}`")
}

/// Returns the help for a member that orders steps. A short list of steps keeps its steps, after those that the step waits for already.
fn order(reader: &PlanReader, members: &Members<'_>, member: &Member<'_>, place: &str) -> String {
    let by_id = reader.syntax.names_steps();
    let (name, first) = if by_id {
        (step::AFTER, r#""a""#)
    } else {
        ("dependsOn", "0")
    };
    if members.given(step::UNDO).is_some() {
        let given = short(&member.name);
        return format!("remove `{given}`, because an undo step does not wait for other steps");
    }
    let given = members.given(name).filter(|_| name != member.name);
    let given = given.map(|it| steps(it, by_id)).unwrap_or_default();
    let mut own = steps(member.value, by_id);
    own.retain(|step| !given.contains(step));
    let all = on_one_line(&[given, own].concat().join(",")).filter(|all| !all.is_empty());
    let all = all.as_deref().unwrap_or(first);
    let begin = match members.given(step::ALWAYS) {
        Some(_) => "an always step starts after all other steps; to wait for another always step",
        None => "a step starts after the steps that it refers to; to wait for another step",
    };
    format!("{begin}, write `\"{name}\": [{all}]`{place}")
}

/// Returns the names of steps in a short list, if all elements are such names.
fn steps(value: JsonNode<'_>, by_id: bool) -> Vec<&str> {
    if on_one_line(value.slice()).is_none() {
        return Vec::new();
    }
    let items = match value.kind() {
        JsonType::List => value.items(),
        _ => vec![value],
    };
    let is_name = |it: JsonNode<'_>| {
        if by_id {
            it.kind() == JsonType::String
        } else {
            it.read::<usize>().is_ok()
        }
    };
    let names = items
        .into_iter()
        .map(|it| is_name(it).then_some(it.slice()));
    names.collect::<Option<_>>().unwrap_or_default()
}

/// Returns the help for a member of a policy, in the policy.
fn in_policy(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (meaning, usual, of): (&str, &str, &str),
) -> String {
    if members.member(meaning).is_some() {
        let given = short(&member.name);
        return format!("remove `{given}`, because the `policy` has `{meaning}`");
    }
    let value = kept(reader, member, meaning);
    let written = written(meaning, value.as_deref().unwrap_or(usual), members);
    format!("{of}write `{written}`")
}

/// Returns the help for a member of a policy, outside of the policy.
fn in_step(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (meaning, usual, of, place): (&str, &str, &str, &str),
) -> String {
    let name = short(&member.name);
    if has_no_effect(members, meaning) {
        return format!("remove `{name}`, because `{meaning}` has no effect on this step");
    }
    let own = BY_PLACE.iter().find(|(of, ..)| *of == meaning);
    let own = own.filter(|_| !reader.syntax.names_steps());
    if let Some((_, own, ..)) = own.filter(|(_, own, ..)| members.member(own).is_some()) {
        return format!("remove `{name}`, because the step has `{own}`");
    }
    let policy = members.given(step::POLICY);
    let policy = policy.filter(|it| it.kind() == JsonType::Object);
    let policy = policy.map(|policy| Members::split(policy, &mut |_| {}));
    if policy
        .as_ref()
        .is_some_and(|it| it.member(meaning).is_some())
    {
        return format!("remove `{name}`, because the `policy` has `{meaning}`");
    }
    let value = kept(reader, member, meaning);
    if let Some((_, own, usual, unit)) = own {
        let value = value.as_deref().and_then(|value| by_place(meaning, value));
        let value = value.unwrap_or_else(|| (*usual).to_owned());
        return format!("write `\"{own}\": {value}`{unit}{place}");
    }
    let value = value.as_deref().unwrap_or(usual);
    let written = written(meaning, value, policy.as_ref().unwrap_or(members));
    match policy {
        Some(_) => format!("{of}write `{written}` in the `policy`"),
        None => format!("{of}write `\"policy\": {{{written}}}`{place}"),
    }
}

/// Returns `true` if a step with these members cannot have this member in its policy.
fn has_no_effect(members: &Members<'_>, meaning: &str) -> bool {
    match meaning {
        policy::OPTIONAL | policy::CATCH | policy::FALLBACK => {
            members.given(step::UNDO).is_some() || members.given(step::ALWAYS).is_some()
        }
        policy::ATTEMPTS | policy::BACKOFF => members.given(step::AWAIT).is_some(),
        _ => false,
    }
}

/// Writes a member of a policy. Only a step with several attempts has a wait between attempts.
fn written(meaning: &str, value: &str, members: &Members<'_>) -> String {
    let has_attempts = members.has(&[policy::ATTEMPTS, "retryCount"]);
    let attempts = match meaning {
        policy::BACKOFF if !has_attempts => r#""attempts": 3, "#,
        _ => "",
    };
    format!("{attempts}\"{meaning}\": {value}")
}

/// Returns the value of a member in a step of a blueprint, for its value in a policy.
fn by_place(meaning: &str, value: &str) -> Option<String> {
    match meaning {
        policy::ATTEMPTS => Some((value.parse::<u32>().ok()?.checked_sub(1)?).to_string()),
        policy::OPTIONAL => Some((value == r#""whole""#).to_string()),
        _ => {
            let time = humantime::parse_duration(value.trim_matches('"')).ok()?;
            let millis = time.as_millis();
            (millis > 0).then(|| millis.to_string())
        }
    }
}

/// Returns the value of the document for a member of a policy, if a policy can have the value.
fn kept(reader: &PlanReader, member: &Member<'_>, meaning: &str) -> Option<String> {
    let (word, value) = (plain(&member.name), member.value);
    let count = || value.read::<u32>().ok().filter(|count| *count > 0);
    Some(match meaning {
        policy::ATTEMPTS => {
            // A retry is a further attempt.
            let first = u32::from(is_one(RETRIES, &word));
            let attempts = value.read::<u32>().ok()?.checked_add(first)?;
            let fits = (1..=reader.limits.attempts).contains(&attempts);
            fits.then(|| attempts.to_string())?
        }
        policy::TIMEOUT | policy::DEADLINE | policy::BACKOFF => {
            let number = |unit: &str| Some(format!("{}{unit}", value.read::<u64>().ok()?));
            let text = match &*word {
                "timeoutms" => number("ms"),
                "timeoutseconds" => number("s"),
                _ => None,
            };
            let text = text.or_else(|| value.read().ok())?;
            let time = humantime::parse_duration(&text).ok()?;
            let fits = time > Duration::ZERO && time <= reader.limits.time;
            fits.then(|| format!("\"{}\"", text.trim()))?
        }
        policy::OPTIONAL => {
            let is_optional = value.read::<bool>().ok()? != (word == "required");
            let optional = if is_optional { "whole" } else { "no" };
            format!("\"{optional}\"")
        }
        policy::FALLBACK => {
            let is_plain = match value.kind() {
                JsonType::List | JsonType::Object => false,
                JsonType::String => !strings::refers(reader, &value.text().ok()?.value),
                _ => true,
            };
            on_one_line(value.slice()).filter(|_| is_plain)?
        }
        policy::CATCH => value.read::<bool>().ok()?.to_string(),
        policy::CONCURRENCY | policy::AT_MOST => count()?.to_string(),
        _ => return None,
    })
}
