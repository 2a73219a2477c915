//! Words of other systems for the members of a document.

use super::layout::is_arguments;
use super::{Member, Members, PlanReader};
use crate::dynamic::json_node::{JsonNode, JsonType, on_one_line};
use crate::plan::json::names::{branch, each, looped, plan, policy, step};

/// The words, with the member of this name. A word stands once for each object that may contain the word.
const WORDS: &[(&[&str], &str)] = &[
    (
        &["args", "arguments", "params", "parameters"],
        step::ARGUMENTS,
    ),
    (&["outputs", "result", "results", "return"], plan::OUTPUT),
    (&["in", "over", "items"], each::LIST),
    (&["do", "action"], each::BODY),
    (&["as", "item", "var"], each::PATTERN),
    (&["if", "when"], branch::CONDITION),
    (&["do", "action", "body"], branch::THEN),
    (&["do", "body", "action"], looped::TAIL),
    (&["result", "output", "return"], looped::VALUE),
    (&["condition"], looped::WHILE),
    (&["previous"], looped::LAST),
    (&["if", "when", "condition", "runif", "onlyif"], step::IF),
    (&["else", "elif", "otherwise", "enabled"], step::IF),
    (UNLESS, step::IF),
    (&["for", "foreach", "loopover"], step::FOR),
    (&["loop", "while", "until", "repeat"], step::LOOP),
    (&["block", "steps", "substeps", "parallel"], step::BLOCK),
    (&["dependson", "dependencies", "needs"], step::AFTER),
    (&["after", "requires", "waitfor", "runafter"], step::AFTER),
    (&["sequential", "parallel"], step::AFTER),
    (&["retry", "retries", "maxretries"], policy::ATTEMPTS),
    (&["retrypolicy", "retrycount"], policy::ATTEMPTS),
    (&["attempts", "maxattempts", "tries"], policy::ATTEMPTS),
    (&["retrydelay", "backoff"], policy::BACKOFF),
    (&["timeout", "timeoutms", "timelimit"], policy::TIMEOUT),
    (&["timeoutseconds", "deadline"], policy::TIMEOUT),
    (&["optional", "continueonerror"], policy::OPTIONAL),
    (&["ignoreerrors", "required"], policy::OPTIONAL),
    (&["fallback", "default"], policy::FALLBACK),
    (&["onerror", "onfailure", "catch"], policy::CATCH),
    (&["concurrency", "maxconcurrency"], policy::CONCURRENCY),
    (&["maxiterations", "times"], policy::AT_MOST),
    (&["undo", "rollback", "compensate"], step::UNDO),
    (&["always", "finally"], step::ALWAYS),
    (&["await", "approval", "requiresapproval"], step::AWAIT),
];

/// The words of a condition that excludes a step.
const UNLESS: &[&str] = &["unless", "skip", "skipif", "disabled"];

/// The notation of a member that another object contains, or whose value differs from the value of the word: in a dialect of IDs and in
/// a blueprint.
const FORMS: &[(&str, [&str; 2])] = &[
    (
        step::IF,
        [r#"in place of its `tool`, a step can have `"if": [{"condition": …, "then": …}, {"then": …}]`"#;
            2],
    ),
    (
        step::FOR,
        [r#"in place of its `tool`, a step can have `"for": {"pattern": "x", "list": …, "body": …}`"#;
            2],
    ),
    (
        step::LOOP,
        [r#"in place of its `tool`, a step can have `"loop": {"steps": [], "tail": …, "while": …}`, with `"policy": {"at_most": 100}`"#;
            2],
    ),
    (
        step::BLOCK,
        [r#"in place of its `tool`, a step can have `"block": {"steps": [], "tail": …}`"#; 2],
    ),
    (
        step::UNDO,
        [
            r#"the step that undoes another step has `"undo": "a"`"#,
            r#"the step that undoes another step has `"undo": 0`"#,
        ],
    ),
    (
        step::ALWAYS,
        [r#"a step that runs after any failure has `"always": true`"#; 2],
    ),
    (
        step::AWAIT,
        [r#"a step that waits for an answer has `"await": "bool"` in place of its `tool`"#; 2],
    ),
];

/// The members of a policy, and the members of a blueprint's step in place of them.
const POLICIES: &[(&str, &str, Option<&str>)] = &[
    (
        policy::ATTEMPTS,
        r#""attempts": 3"#,
        Some(r#"`"retryCount": 2`"#),
    ),
    (
        policy::BACKOFF,
        r#""attempts": 3, "backoff": "200ms""#,
        None,
    ),
    (
        policy::TIMEOUT,
        r#""timeout": "10s""#,
        Some(r#"`"timeout": 10000`, in milliseconds"#),
    ),
    (
        policy::OPTIONAL,
        r#""optional": "whole""#,
        Some(r#"`"optional": true`"#),
    ),
    (policy::FALLBACK, r#""fallback": "none""#, None),
    (policy::CATCH, r#""catch": true"#, None),
    (policy::CONCURRENCY, r#""concurrency": 4"#, None),
    (policy::AT_MOST, r#""at_most": 100"#, None),
];

/// The members that mark an object of the document whose words of other systems get the help of [`FORMS`].
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

/// Returns the members with the meaning of a word. Only a list or an object contains steps.
fn meanings(word: &str, kind: JsonType) -> impl Iterator<Item = &'static str> {
    let has_steps = matches!(kind, JsonType::List | JsonType::Object);
    let words = WORDS.iter().filter(move |(words, member)| {
        words.contains(&word) && (has_steps || *member != step::BLOCK)
    });
    words.map(|(_, member)| *member)
}

/// Returns `true` for a member whose notation differs from the notation of its words.
fn has_form(member: &str) -> bool {
    let in_policy = POLICIES.iter().any(|(name, ..)| *name == member);
    in_policy || member == step::AFTER || FORMS.iter().any(|(name, _)| *name == member)
}

/// Returns `true` if an ignored member would make a step run that its author made conditional, or run once instead of repeatedly. The
/// dialects' original systems ignore other members, and the compat profile does as well.
pub(super) fn changes_runs(member: &Member<'_>, known: &[&str]) -> bool {
    let word = plain(&member.name);
    let bodies = [step::IF, step::FOR, step::LOOP, step::BLOCK];
    let mut meanings = meanings(&word, member.value.kind());
    let Some(body) = meanings.find(|meaning| bodies.contains(meaning)) else {
        return false;
    };
    // The boolean with which the member has no effect.
    let inert = match body {
        step::IF if !UNLESS.contains(&&*word) => "true",
        _ => "false",
    };
    let has_effect = match member.value.kind() {
        JsonType::Null => false,
        JsonType::Bool => member.value.slice() != inert,
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
    let arguments = reader.dialect.rules().arguments;
    // Plan JSON cannot read the arguments of another dialect under any name.
    let is_foreign = reader.dialect.rules().wraps() && is_arguments(&member.name);
    let is_list = member.value.kind() == JsonType::List;
    let word = plain(&member.name);
    let meanings = meanings(&word, member.value.kind());
    let mut found = meanings.filter_map(|meaning| match meaning {
        step::ARGUMENTS => (!is_foreign).then_some(arguments),
        plan::OUTPUT if is_list && known.contains(&"output_steps") => Some("output_steps"),
        looped::TAIL if is_list => Some(looped::STEPS),
        looped::VALUE => known.contains(&looped::TAIL).then_some(meaning),
        _ => (!has_form(meaning)).then_some(meaning),
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
    let by_id = reader.dialect.rules().by_id;
    let mut meanings = meanings(&word, member.value.kind());
    meanings.find_map(|meaning| {
        if meaning == step::AFTER {
            return Some(order(member.value, by_id));
        }
        if let Some((_, form, own)) = POLICIES.iter().find(|(name, ..)| *name == meaning) {
            let own = own.filter(|_| !by_id && !known.contains(&policy::ATTEMPTS));
            return Some(in_policy(members, known, form, own));
        }
        let (_, forms) = FORMS.iter().find(|(name, _)| *name == meaning)?;
        Some(forms[usize::from(!by_id)].to_owned())
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

/// Returns the help for a word with this form in a policy, or with this form of its own in a step.
fn in_policy(members: &Members<'_>, known: &[&str], form: &str, own: Option<&str>) -> String {
    let has_policy = members.given(step::POLICY).is_some();
    let is_step = known.contains(&step::ID);
    let place = if is_step { "" } else { " in the step" };
    match own {
        Some(own) => format!("write {own}{place}"),
        None if known.contains(&policy::ATTEMPTS) => format!("write `{form}`"),
        None if has_policy => format!("write `{form}` in the `policy`"),
        None => format!("write `\"policy\": {{{form}}}`{place}"),
    }
}
