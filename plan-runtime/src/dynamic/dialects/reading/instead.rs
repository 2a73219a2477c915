//! Help for a member name of another system, such as `depends_on`: the equivalent member, with a usual value.

use super::words::{ELSE, RETRIES, UNLESS, has_notations, is_one, meanings, plain};
use super::{Member, Members, PlanReader};
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::json_node::{JsonType, on_one_line};
use crate::plan::json::names::{self, branch, each, looped, policy, step};
use crate::print::short;

/// The notations of words in a part of a step: the member that marks the part, the words, the member that the notation adds, and the help.
const PARTS: [(&str, &str, &str, &str); 3] = [
    (
        branch::THEN,
        ELSE,
        "",
        r#"add a branch to the list of `if`: `{"condition": …, "then": …}`, or `{"then": …}` for all other cases"#,
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

/// Returns the help for a member with a word of another system, or with another spelling of a name. `what` describes the object.
pub(super) fn instead(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (what, known): (&str, &[&'static str]),
) -> Option<String> {
    let word = plain(&member.name);
    if !has_notations(reader.rules, known) {
        return None;
    }
    let has = |name: &'static str| known.contains(&name);
    let other = |name: &str| name != member.name && members.given(name).is_some();
    let in_part = |(part, words, added, _): &&(&'static str, &str, &str, &str)| {
        let is_in = has(part) || (*words == ELSE && other(step::IF));
        is_in && is_one(words, &word) && members.can_have(added, member)
    };
    if let Some((.., help)) = PARTS.iter().find(in_part) {
        return Some((*help).to_owned());
    }
    let is_loop = has(looped::WHILE) || other(step::LOOP);
    let fits = |meaning| match meaning {
        policy::AT_MOST => is_loop || has(policy::ATTEMPTS),
        step::LOOP => !is_loop,
        step::POLICY => !has(step::POLICY) && !has(policy::ATTEMPTS),
        _ => true,
    };
    let mut meanings = meanings(&word, member.value.kind());
    let (meaning, form) = meanings.find(|(meaning, form)| !form.is_empty() && fits(meaning))?;
    let (after, kind) = reader.rules.syntax.after();
    let place = if has(step::ID) { "" } else { " in the step" };
    let is_for = has(each::BODY) || other(step::FOR);
    let of = match meaning {
        policy::CONCURRENCY if !is_for => "for the elements of a `for`, ",
        policy::AT_MOST if !is_loop => "for the rounds of a `loop`, ",
        policy::ATTEMPTS if is_one(RETRIES, &word) => "the attempts include the first call: ",
        _ => "",
    };
    Some(match meaning {
        step::IF | step::FOR | step::LOOP | step::BLOCK => {
            body((members, member), meaning, form, (what, known))
        }
        step::AWAIT if has(step::TOOL) && !has(step::ID) => {
            let value = reader.rules.value(ReferenceTarget::Step(0, "x"));
            // Only a step can wait.
            let form = format!(
                r#""block": {{"steps": [{{"id": "x", "await": "String"}}], "value": {value}}}"#
            );
            body((members, member), meaning, &form, (what, known))
        }
        step::AFTER if members.given(step::UNDO).is_some() => remove(member),
        step::AFTER if other(after) => format!("add the steps to `{after}`"),
        step::AFTER => {
            let is_step = member.value.kind() == kind;
            let given = on_one_line(member.value.slice()).filter(|_| is_step);
            let order = match given {
                Some(given) => format!("\"{after}\": [{given}]"),
                None => reader.rules.after(&[(0, "a")]),
            };
            let begin = match members.given(step::ALWAYS) {
                Some(_) => {
                    "an always step starts after all other steps; to wait for another always step"
                }
                None => "a step starts after the steps that it refers to; to wait for another step",
            };
            format!("{begin}, write `{order}`{place}")
        }
        _ if !policy::ALL.contains(&meaning) => form.to_owned(),
        _ => {
            // A policy contains its amounts itself.
            let place = (!has(policy::ATTEMPTS)).then_some(place);
            format!(
                "{of}{}",
                in_policy(reader, members, member, (meaning, form, place))
            )
        }
    })
}

/// Returns the help for a word that means a body. An object that is no body contains one.
fn body(
    (members, member): (&Members<'_>, &Member<'_>),
    meaning: &str,
    form: &str,
    (what, known): (&str, &[&str]),
) -> String {
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
    let mut bodies = names::BODIES.iter();
    match bodies.find(|it| **it != member.name && members.given(it).is_some()) {
        Some(given) => format!("in place of its `{given}`, {owner} can have `{form}`"),
        None if has(step::TOOL) => format!("write `{form}`"),
        None => format!("{owner} can have `{form}`"),
    }
}

fn remove(member: &Member<'_>) -> String {
    format!("remove `{}`", short(&member.name))
}

/// Returns the help for a word that means a member of a policy, in a step or in a policy.
fn in_policy(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    (meaning, usual, place): (&str, &str, Option<&str>),
) -> String {
    let given = members.given(step::POLICY);
    let given = given.filter(|it| it.kind() == JsonType::Object);
    let given = given.map(|policy| Members::split(policy, &mut |_| {}));
    let policy = place.map_or(Some(members), |_| given.as_ref());
    let own = |name| {
        let mut own = reader.rules.syntax.policy().iter();
        own.find(|(of, ..)| *of == name && place.is_some())
    };
    let has = |name| {
        let own = own(name).and_then(|(_, own, _)| members.member(own));
        own.is_some() || policy.is_some_and(|it| it.member(name).is_some())
    };
    let has_no_effect = match meaning {
        policy::OPTIONAL | policy::CATCH | policy::FALLBACK => {
            members.has(&[step::UNDO, step::ALWAYS])
        }
        policy::ATTEMPTS | policy::BACKOFF => members.has(&[step::AWAIT]),
        _ => false,
    };
    if has(meaning) || has_no_effect {
        return remove(member);
    }
    // Only a step with several attempts has a wait between attempts.
    let attempts = match meaning {
        policy::BACKOFF if !has(policy::ATTEMPTS) => r#""attempts": 3, "#,
        _ => "",
    };
    let amount = format!("{attempts}\"{meaning}\": {usual}");
    match (place, own(meaning)) {
        (None, _) => format!("write `{amount}`"),
        (Some(place), Some((.., form))) => format!("write {form}{place}"),
        (Some(_), None) if given.is_some() => format!("write `{amount}` in the `policy`"),
        (Some(place), None) => format!("write `\"policy\": {{{amount}}}`{place}"),
    }
}
