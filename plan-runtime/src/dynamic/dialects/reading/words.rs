//! Words of other systems for the members of a document.

use super::layout::is_arguments;
use super::{Member, Members, PlanReader};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{branch, each, looped, plan, policy, step};

/// The words, with the member of this meaning. A word stands once for each object that may contain the word. The last column is the notation of
/// a member that another object contains, or whose value differs from the value of the word.
const WORDS: &[(&str, &str, &str)] = &[
    ("args arguments params parameters", step::ARGUMENTS, ""),
    ("outputs result results return", plan::OUTPUT, ""),
    ("in over items", each::LIST, ""),
    ("do action", each::BODY, ""),
    ("as item var", each::PATTERN, ""),
    ("if when", branch::CONDITION, ""),
    ("do action body", branch::THEN, ""),
    ("do body action", looped::TAIL, ""),
    ("result output return", looped::VALUE, ""),
    ("condition", looped::WHILE, ""),
    ("previous", looped::LAST, ""),
    ("if when condition runif onlyif", step::IF, IF),
    ("else elif otherwise enabled", step::IF, IF),
    (UNLESS, step::IF, IF),
    (
        "for foreach loopover",
        step::FOR,
        r#"in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`"#,
    ),
    (
        "loop while until repeat",
        step::LOOP,
        r#"in place of its `tool`, a step can have `"loop": {"steps": [], "tail": …, "while": …}`, with `"policy": {"at_most": 100}`"#,
    ),
    (
        "block steps substeps parallel",
        step::BLOCK,
        r#"in place of its `tool`, a step can have `"block": {"steps": [], "tail": …}`"#,
    ),
    ("dependson dependencies needs after", step::AFTER, "after"),
    ("requires waitfor runafter", step::AFTER, "after"),
    ("sequential parallel", step::AFTER, "after"),
    (
        "retry retries maxretries retrypolicy",
        policy::ATTEMPTS,
        ATTEMPTS,
    ),
    (
        "retrycount attempts maxattempts tries",
        policy::ATTEMPTS,
        ATTEMPTS,
    ),
    (
        "retrydelay backoff",
        policy::BACKOFF,
        r#""attempts": 3, "backoff": "200ms""#,
    ),
    (
        "timeout timeoutms timelimit",
        policy::TIMEOUT,
        r#""timeout": "10s""#,
    ),
    (
        "timeoutseconds deadline",
        policy::TIMEOUT,
        r#""timeout": "10s""#,
    ),
    (
        "optional continueonerror ignoreerrors required",
        policy::OPTIONAL,
        r#""optional": "whole""#,
    ),
    (
        "fallback default",
        policy::FALLBACK,
        r#""fallback": "none""#,
    ),
    ("onerror onfailure catch", policy::CATCH, r#""catch": true"#),
    (
        "concurrency maxconcurrency",
        policy::CONCURRENCY,
        r#""concurrency": 4"#,
    ),
    ("maxiterations times", policy::AT_MOST, r#""at_most": 100"#),
    (
        "undo rollback compensate",
        step::UNDO,
        r#"the step that undoes another step has `"undo": "a"`"#,
    ),
    (
        "always finally",
        step::ALWAYS,
        r#"a step that runs after any failure has `"always": true`"#,
    ),
    (
        "await approval requiresapproval",
        step::AWAIT,
        r#"a step that waits for an answer has `"await": "bool"` in place of its `tool`"#,
    ),
];

/// The words of a condition that excludes a step.
const UNLESS: &str = "unless skip skipif disabled";

const IF: &str =
    r#"in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`"#;
const ATTEMPTS: &str = r#""attempts": 3"#;

/// The members with another notation in a step of a blueprint.
const BY_PLACE: [(&str, &str); 4] = [
    (policy::ATTEMPTS, r#"write `"retryCount": 2`"#),
    (
        policy::TIMEOUT,
        r#"write `"timeout": 10000`, in milliseconds"#,
    ),
    (policy::OPTIONAL, r#"write `"optional": true`"#),
    (
        step::UNDO,
        r#"the step that undoes another step has `"undo": 0`"#,
    ),
];

/// The members that mark an object of the document whose words of other systems get such a notation.
const OWNERS: [&str; 6] = [
    step::TOOL,
    plan::STEPS,
    "plan",
    branch::THEN,
    each::BODY,
    policy::ATTEMPTS,
];

/// Returns a name without case, `_`, `-` and spaces. A long name is truncated.
fn plain(name: &str) -> String {
    let letters = name.chars().take(40);
    let letters = letters.filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns `true` if a word is one of these.
fn is_one(words: &str, word: &str) -> bool {
    words.split(' ').any(|it| it == word)
}

/// Returns the members with the meaning of a word, and their notations. Only a list or an object contains steps.
fn meanings(word: &str, kind: JsonType) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has_steps = matches!(kind, JsonType::List | JsonType::Object);
    let words = WORDS.iter().filter(move |(words, member, _)| {
        is_one(words, word) && (has_steps || *member != step::BLOCK)
    });
    words.map(|(_, member, form)| (*member, *form))
}

/// Returns `true` if an ignored member would make a step run that its author made conditional, or run once instead of repeatedly. The
/// dialects' original systems ignore other members, and the compat profile does as well.
pub(super) fn changes_runs(member: &Member<'_>, known: &[&str]) -> bool {
    let word = plain(&member.name);
    let bodies = [step::IF, step::FOR, step::LOOP, step::BLOCK];
    let mut meanings = meanings(&word, member.value.kind());
    let Some((body, _)) = meanings.find(|(meaning, _)| bodies.contains(meaning)) else {
        return false;
    };
    // The boolean with which the member has no effect.
    let is_inert = body == step::IF && !is_one(UNLESS, &word);
    let has_effect = match member.value.kind() {
        JsonType::Null => false,
        JsonType::Bool => member.value.slice() != is_inert.to_string(),
        JsonType::String => member.value.slice() != r#""""#,
        _ => true,
    };
    has_effect && known.iter().any(|it| OWNERS.contains(it))
}

/// Returns the member with the meaning of a word in other systems.
pub(super) fn renamed(
    reader: &PlanReader,
    member: &Member<'_>,
    known: &[&'static str],
) -> Option<&'static str> {
    // Plan JSON cannot read the arguments of another dialect under any name.
    let is_foreign = reader.dialect.rules().wraps() && is_arguments(&member.name);
    let is_list = member.value.kind() == JsonType::List;
    let word = plain(&member.name);
    let meanings = meanings(&word, member.value.kind());
    let mut found = meanings.filter_map(|(meaning, form)| match meaning {
        step::ARGUMENTS => (!is_foreign).then_some(reader.syntax.arguments()),
        plan::OUTPUT if is_list && known.contains(&"output_steps") => Some("output_steps"),
        looped::TAIL if is_list => Some(looped::STEPS),
        looped::VALUE => known.contains(&looped::TAIL).then_some(meaning),
        _ => form.is_empty().then_some(meaning),
    });
    found.find(|meaning| known.contains(meaning))
}

/// Returns the help for a member with a word of another system, or with another spelling of a name.
pub(super) fn instead(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    known: &[&'static str],
) -> Option<String> {
    let word = plain(&member.name);
    let mut same = known.iter().filter(|known| plain(known) == word).copied();
    let meant = same.next().or_else(|| renamed(reader, member, known));
    if let Some(meant) = meant.filter(|meant| members.member(meant).is_none()) {
        return Some(format!("did you mean `{meant}`?"));
    }
    if !known.iter().any(|it| OWNERS.contains(it)) {
        return None;
    }
    let by_id = reader.syntax.names_steps();
    let is_policy = known.contains(&policy::ATTEMPTS);
    let has_policy = members.given(step::POLICY).is_some();
    let is_step = known.contains(&step::ID);
    let place = if is_step || is_policy {
        ""
    } else {
        " in the step"
    };
    let mut meanings = meanings(&word, member.value.kind());
    let (meaning, form) = meanings.find(|(_, form)| !form.is_empty())?;
    let mut own = BY_PLACE.iter().filter(|_| !by_id && !is_policy);
    Some(match own.find(|(member, _)| *member == meaning) {
        _ if meaning == step::AFTER => order(member.value, by_id),
        Some((_, own)) => format!("{own}{place}"),
        None if !policy::ALL.contains(&meaning) => form.to_owned(),
        None if is_policy => format!("write `{form}`"),
        None if has_policy => format!("write `{form}` in the `policy`"),
        None => format!("write `\"policy\": {{{form}}}`{place}"),
    })
}

/// Returns the help for a member that orders steps. A short list of steps keeps its steps.
fn order(value: JsonNode<'_>, by_id: bool) -> String {
    let (name, kind, first) = if by_id {
        (step::AFTER, JsonType::String, r#""a""#)
    } else {
        ("dependsOn", JsonType::Number, "0")
    };
    let is_own = match value.kind() {
        JsonType::List => value.each_item().next().is_some_and(|it| it.kind() == kind),
        other => other == kind,
    };
    let steps = on_one_line(value.slice()).filter(|_| is_own);
    let steps = steps.map(|it| it.trim_matches(['[', ']']).to_owned());
    let steps = steps.unwrap_or_else(|| first.to_owned());
    format!(
        "a step starts after the steps that it refers to; to wait for another step, write `\"{name}\": [{steps}]`"
    )
}
