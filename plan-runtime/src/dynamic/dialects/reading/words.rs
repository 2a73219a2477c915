//! The vocabulary of other systems for the members of a document.

use super::{Member, Members, PlanReader};
use crate::dynamic::dialects::Rules;
use crate::dynamic::json_node::JsonType;
use crate::plan::json::names::{self, branch, each, looped, plan, policy, step};

/// The words, with the member of this meaning. A word stands once for each object that may contain the word. The last column is empty for a
/// member of the object that contains the word. Otherwise, it is the notation of the member, or the usual value of a policy's member.
const WORDS: &[(&str, &str, &str)] = &[
    ("args arguments params parameters", step::ARGUMENTS, ""),
    ("outputs result results return", plan::OUTPUT, ""),
    ("in over items", each::LIST, ""),
    ("do action", each::BODY, ""),
    ("as item var", each::PATTERN, ""),
    ("if when runif onlyif enabled", branch::CONDITION, ""),
    ("do action body", branch::THEN, ""),
    ("do body action", looped::TAIL, ""),
    ("result output return", looped::VALUE, ""),
    ("condition dowhile", looped::WHILE, ""),
    ("previous", looped::LAST, ""),
    ("if when condition runif onlyif enabled", step::IF, IF),
    (ELSE, step::IF, IF),
    (UNLESS, step::IF, IF),
    (
        "for foreach forall iterate iterateover loopover mapover",
        step::FOR,
        r#""for": {"pattern": "x", "list": …, "body": …}"#,
    ),
    ("maxiterations times repeat", policy::AT_MOST, "100"),
    (
        "loop repeat while until dowhile maxiterations times",
        step::LOOP,
        r#""loop": {"steps": [], "tail": …, "while": …}`, with `"policy": {"at_most": 100}"#,
    ),
    (
        "block steps substeps parallel sequence",
        step::BLOCK,
        r#""block": {"steps": [], "tail": …}"#,
    ),
    (
        "concurrency maxconcurrency parallel",
        policy::CONCURRENCY,
        "4",
    ),
    ("dependson dependencies needs after", step::AFTER, "after"),
    ("requires waitfor runafter", step::AFTER, "after"),
    ("sequential parallel", step::AFTER, "after"),
    (RETRIES, policy::ATTEMPTS, "3"),
    ("attempts maxattempts tries", policy::ATTEMPTS, "3"),
    ("retrydelay backoff", policy::BACKOFF, r#""200ms""#),
    ("timeout timeoutms timelimit", policy::TIMEOUT, r#""10s""#),
    ("timeoutseconds", policy::TIMEOUT, r#""10s""#),
    ("deadline", policy::DEADLINE, r#""10s""#),
    ("optional continueonerror", policy::OPTIONAL, r#""whole""#),
    ("ignoreerrors required", policy::OPTIONAL, r#""whole""#),
    ("fallback default", policy::FALLBACK, r#""none""#),
    ("onerror onfailure catch", policy::CATCH, "true"),
    ("policy", step::POLICY, "write the `policy` in the step"),
    (
        "undo rollback compensate",
        step::UNDO,
        "the step that undoes another step names that step in its `undo`",
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
pub(super) const UNLESS: &str = "unless skip skipif disabled";

/// The words of the other cases of a condition.
pub(super) const ELSE: &str = "else elif elseif otherwise";

/// The words for the number of attempts after the first one.
pub(super) const RETRIES: &str = "retry retries maxretries retrypolicy retrycount";

/// The words that have an effect with each boolean.
const NEVER_INERT: &str = "else elif elseif otherwise while until dowhile";

const IF: &str = r#""if": [{"condition": …, "then": …}, {"then": …}]"#;

/// The members that mark an object whose foreign words get a notation, besides the list of steps.
const OWNERS: [&str; 5] = [
    step::TOOL,
    plan::STEPS,
    branch::THEN,
    each::BODY,
    policy::ATTEMPTS,
];

/// Returns a name without case, `_`, `-` and spaces. A long name is truncated.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
    letters.take(40).flat_map(char::to_lowercase).collect()
}

/// Returns `true` if the list contains the word.
pub(super) fn is_one(words: &str, word: &str) -> bool {
    words.split(' ').any(|it| it == word)
}

/// Returns the members with the meaning of a word, and the last column of their rows.
pub(super) fn meanings(
    word: &str,
    kind: JsonType,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let fits = move |meaning| match meaning {
        // Only a list or an object contains steps.
        step::BLOCK => matches!(kind, JsonType::List | JsonType::Object),
        // A number of parallel elements is no order.
        step::AFTER => word != "parallel" || matches!(kind, JsonType::Bool | JsonType::String),
        policy::CONCURRENCY => word != "parallel" || kind == JsonType::Number,
        _ => true,
    };
    let words = WORDS.iter();
    let words = words.filter(move |(words, meaning, _)| is_one(words, word) && fits(*meaning));
    words.map(|(_, meaning, form)| (*meaning, *form))
}

/// Returns `true` if an ignored member would make a step run that its author made conditional, or run once instead of repeatedly. The
/// dialects' original systems ignore other members, and the compat profile does as well.
pub(super) fn changes_runs(rules: &Rules, member: &Member<'_>, known: &[&str]) -> bool {
    let word = plain(&member.name);
    let mut meanings = meanings(&word, member.value.kind());
    let is_body =
        |(meaning, form): &(&str, &str)| !form.is_empty() && names::BODIES.contains(meaning);
    let Some((body, _)) = meanings.find(is_body) else {
        return false;
    };
    // The boolean with which the member has no effect.
    let is_inert = body == step::IF && !is_one(UNLESS, &word);
    let has_effect = match member.value.kind() {
        JsonType::Null => false,
        JsonType::Bool => {
            is_one(NEVER_INERT, &word) || member.value.slice() != is_inert.to_string()
        }
        JsonType::String => member.value.slice() != r#""""#,
        _ => true,
    };
    has_effect && has_notations(rules, known)
}

/// Returns `true` if an object with these members explains foreign words by a notation.
pub(super) fn has_notations(rules: &Rules, known: &[&str]) -> bool {
    let mut owners = OWNERS.iter().chain(rules.syntax.lists());
    owners.any(|owner| known.contains(owner))
}

/// Returns the member of the object with the meaning of a word in other systems, if the object can have this member as well.
pub(super) fn renamed(
    reader: &PlanReader,
    members: &Members<'_>,
    member: &Member<'_>,
    known: &[&'static str],
) -> Option<&'static str> {
    let is_list = member.value.kind() == JsonType::List;
    let word = plain(&member.name);
    let meanings = meanings(&word, member.value.kind());
    let mut found = meanings.filter_map(|(meaning, form)| match meaning {
        step::ARGUMENTS => Some(reader.rules.syntax.arguments()),
        plan::OUTPUT if is_list => Some(reader.rules.syntax.outputs()),
        looped::TAIL if is_list => Some(looped::STEPS),
        looped::VALUE => known.contains(&looped::TAIL).then_some(meaning),
        step::AFTER => is_list.then_some(reader.rules.syntax.after().0),
        _ => form.is_empty().then_some(meaning),
    });
    found.find(|meaning| known.contains(meaning) && members.can_have(meaning, member))
}
