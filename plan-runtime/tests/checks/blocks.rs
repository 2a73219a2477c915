//! Steps inside a step.

use crate::checks::{check, read, tools};
use plan_runtime::dynamic::Reader;

/// Returns steps of plan JSON, in which `@` stands for a reference to a step, `#` to an input, and `%` to a local
/// value.
pub(crate) fn plan(steps: &str) -> String {
    let mut document = String::new();
    let mut rest = steps;
    while let Some(at) = rest.find(['@', '#', '%']) {
        let kind = match rest.as_bytes()[at] {
            b'@' => "step",
            b'#' => "input",
            _ => "local",
        };
        let end = rest[at..]
            .find([',', '}', ']', '\n'])
            .map_or(rest.len(), |end| at + end);
        let (name, pointer) = rest[at + 1..end]
            .split_once('/')
            .unwrap_or((&rest[at + 1..end], ""));
        let pointer = if pointer.is_empty() {
            String::new()
        } else {
            format!("/{pointer}")
        };
        let name = if kind == "local" {
            name.to_owned()
        } else {
            format!("\"{name}\"")
        };
        document += &rest[..at];
        document += &format!(r#"{{"reference":{{"{kind}":{name},"pointer":"{pointer}"}}}}"#);
        rest = &rest[end..];
    }
    document += rest;
    format!(
        "{{\"name\": \"p\", \"inputs\": [{{\"name\": \"q\"}}], \"steps\": [\n{document}\n], \"output\": {{\"value\": {{\"reference\": {{\"step\": \"b\", \"pointer\": \"\"}}}}}}}}"
    )
}

const HITS: &str =
    r#"{"id": "hits", "tool": {"name": "search"}, "arguments": {"object": {"query": "x"}}},"#;

#[test]
fn calls_in_blocks() {
    // An argument that does not fit, and a tool that does not exist.
    check(
        plan,
        r#"{"id": "b", "block": {"steps": [
{"id": "c", "tool": {"name": "send"}, "arguments": {"object": {"to": 5, "subject": "x"}}},
{"id": "d", "block": {"steps": [], "tail": {"tool": {"name": "sned"}}}}
]}}"#,
        "\
error[wrong-type]: argument `to` is the number 5, but must be a string
  --> 3:70 in step `b.c`
   = help: write it as a string: `\"5\"`

error[unknown-tool]: there is no tool `sned`
  --> 4:62 in step `b.d._`
   = help: a tool with a similar name exists: `send`
",
        r#"{"id": "b", "block": {"steps": [
{"id": "c", "tool": {"name": "send"}, "arguments": {"object": {"to": "5", "subject": "x"}}},
{"id": "d", "block": {"steps": [], "tail": {"tool": {"name": "send"}, "arguments": {"object": {"to": "5", "subject": "x"}}}}}
]}}"#,
    );
}

#[test]
fn what_a_block_reads_of_what_is_around_it() {
    let steps = |hit: &str| {
        format!(
            r#"{HITS}
{{"id": "b", "block": {{"steps": [
{{"id": "c", "block": {{"steps": [], "tail": {{"tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {hit}, "subject": "x"}}}}}}}}}}
]}}}}"#
        )
    };
    check(
        plan,
        &steps("@hits/0/score"),
        "\
error[wrong-type]: argument `to` must be a string, but `hits[0].score` is a number
  --> 4:102 in step `b.c._`
   = help: write the value as text: `{\"text\": [{\"value\": {\"reference\": {\"input\": \"hits\", \"pointer\": \"/0/score\"}}}]}`
",
        &steps("@hits/0/id"),
    );
    check(
        plan,
        &steps("@hits/0/form/name"),
        "\
error[unknown-field]: `[0]` in the output of `search` has no field `form`
  --> 4:102 in step `b.c._`
   = help: did you mean `hits[0].from.name`?
",
        &steps("@hits/0/from/name"),
    );
    check(
        plan,
        &steps("@hits/id"),
        "\
error[list-or-element]: the output of `search` is a list of objects, which has no field `id`
  --> 4:102 in step `b.c._`
   = help: did you mean the first element, `hits[0].id`?
",
        &steps("@hits/0/id"),
    );
    check(plan, &steps("@hits/0/from/email"), "\
error[maybe-absent]: argument `to` is required, but `hits[0].from.email` may have no value: `[0].from.email` may be missing
  --> 4:102 in step `b.c._`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": {\"reference\": {\"input\": \"hits\", \"pointer\": \"/0/from/email\"}}, \"then\": {\"tool\": {\"name\": \"send\"}, \"arguments\": {\"object\": {\"to\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}, \"subject\": \"x\"}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost), or use another field: `hits[0].from.name` is always present
", &steps("@hits/0/from/name"));
    // The declared inputs of the block.
    let given = |hit: &str, part: &str| {
        format!(
            r#"{HITS}
{{"id": "b", "block": {{"inputs": {{"hit": {hit}}}, "steps": [], "tail": {{"tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {part}, "subject": "x"}}}}}}}}}}"#
        )
    };
    check(
        plan,
        &given("@hits/0", "#hit/score"),
        "\
error[wrong-type]: argument `to` must be a string, but `hit.score` is a number
  --> 3:167 in step `b._`
   = help: write the value as text: `{\"text\": [{\"value\": {\"reference\": {\"input\": \"hit\", \"pointer\": \"/score\"}}}]}`
",
        &given("@hits/0", "#hit/id"),
    );
    check(
        plan,
        &given("@hits/0/nothing", "#hit/id"),
        "\
error[unknown-field]: `[0]` in the output of `search` has no field `nothing`
  --> 3:41 in step `b`
   = help: it has `from`, `id`, `score`, `tags`
",
        &given("@hits/0/from", "#hit/name"),
    );
}

#[test]
fn what_a_block_gives() {
    let steps = |value: &str, to: &str| {
        format!(
            r#"{{"id": "a", "block": {{"steps": [{HITS}
{{"id": "c", "value": @hits/0}}], {value}}}}},
{{"id": "b", "tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {to}, "subject": "x"}}}}}}"#
        )
    };
    let value = r#""value": @c"#;
    check(
        plan,
        &steps(value, "@a/score"),
        "\
error[wrong-type]: argument `to` must be a string, but `a.score` is a number
  --> 4:70 in step `b`
   = help: write the value as text: `{\"text\": [{\"value\": {\"reference\": {\"step\": \"a\", \"pointer\": \"/score\"}}}]}`
",
        &steps(value, "@a/id"),
    );
    check(
        plan,
        &steps(value, "@a/nothing"),
        "\
error[unknown-field]: the output of step `a` has no field `nothing`
  --> 4:70 in step `b`
   = help: it has `from`, `id`, `score`, `tags`
",
        &steps(value, "@a/from/name"),
    );
    let tail =
        r#""tail": {"tool": {"name": "read_person"}, "arguments": {"object": {"id": @c/id}}}"#;
    check(
        plan,
        &steps(tail, "@a/age"),
        "\
error[wrong-type]: argument `to` must be a string, but `a.age` is an integer
  --> 4:70 in step `b`
   = help: write the value as text: `{\"text\": [{\"value\": {\"reference\": {\"step\": \"a\", \"pointer\": \"/age\"}}}]}`
",
        &steps(tail, "@a/id"),
    );
    let list = r#""tail": {"for": {"pattern": "x", "list": [1], "body": {"block": {"steps": [], "tail": {"tool": {"name": "read_person"}, "arguments": {"object": {"id": @c/id}}}}}}}"#;
    check(
        plan,
        &steps(list, "@a/id"),
        "\
error[list-or-element]: the output of step `a` is a list of objects, which has no field `id`
  --> 4:70 in step `b`
   = help: did you mean the first element, `a[0].id`?
",
        &steps(list, "@a/0/id"),
    );
}

/// Unused parts of a block that has a value.
#[test]
fn what_has_no_use_in_a_block() {
    let steps = |value: &str| {
        format!(
            r#"{{"id": "b", "block": {{"steps": [{HITS} {{"id": "c", "value": 1}}], "value": {value}}}}}"#
        )
    };
    check(
        plan,
        &steps("@c"),
        "\
warning[unused-output]: nothing uses the output of step `hits`, and `search` only reads
  --> 2:40 in step `b.hits`
   = help: remove the step, or use its output
",
        &steps("@hits"),
    );
    let after = |after: &str| {
        format!(
            r#"{{"id": "b", "block": {{"steps": [{HITS}
{{"id": "c", "tool": {{"name": "read_person"}}, "arguments": {{"object": {{"id": @hits/0/id}}}}}},
{{"id": "d", "tool": {{"name": "send"}}, "arguments": {{"object": {{"to": @c/id, "subject": "x"}}}}, "after": [{after}]}}]}}}}"#
        )
    };
    check(
        plan,
        &after("\"hits\""),
        "\
warning[unneeded-dependency]: step `d` already waits for step `hits` through step `c`
  --> 4:142 in step `b.d`
   = help: remove the step from the list
",
        &after(""),
    );
}

/// An input without a type has the type of its use, including a use in a block.
#[test]
fn inputs_without_a_type() {
    let steps = |limit: &str| {
        format!(
            r#"{{"id": "b", "block": {{"steps": [
{{"id": "c", "tool": {{"name": "search"}}, "arguments": {{"object": {{"query": "x", "limit": {limit}}}}}}},
{{"id": "d", "block": {{"steps": [], "tail": {{"tool": {{"name": "search"}}, "arguments": {{"object": {{"query": "x", "limit": #q}}}}}}}}}}
]}}}}"#
        )
    };
    let document = plan(&steps("1"));
    let plan_of = Reader::new()
        .tools(&tools())
        .read(&document)
        .unwrap()
        .into_plan();
    assert_eq!(&*plan_of.inputs[0].type_name, "i64");
    let both = steps("1").replace("\"query\": \"x\", \"limit\": 1", "\"query\": #q");
    check(
        plan,
        &both,
        "\
error[wrong-type]: the input `q` must be an integer here, but a string elsewhere
  --> 4:121: argument `limit`
   = note: 3:75: argument `query` must be a string
   = help: split the input into two inputs
",
        &steps("2"),
    );
}

/// An unreadable part may use any other part.
#[test]
fn what_is_broken_in_a_block_is_one_finding() {
    let broken = format!(
        r#"{HITS}
{{"id": "b", "block": {{"steps": [{{"id": "c", "tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {{"refrence": 1}}, "subject": "x"}}}}}}]}}}}"#
    );
    assert_eq!(read(&plan(&broken)).len(), 1);
}
