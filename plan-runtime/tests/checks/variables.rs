//! The types of variables in `for`s and patterns: in all dialects, they have the findings of references to steps.

use crate::checks::{read_with, tools};
use plan_runtime::dynamic::{Code, Dialect, Findings, Reader};
use serde_json::{Value, json};

/// The first name of a reference.
#[derive(Clone, Copy)]
pub(crate) enum Root<'n> {
    /// The output of the first step.
    First,
    /// A variable by its name and its number.
    Variable(&'n str, usize),
    /// A variable around the block.
    Around(&'n str),
}

/// A reference as a value of JSON.
pub(crate) fn reference(dialect: Dialect, root: Root<'_>, path: &[&str]) -> Value {
    let dots = |path: &[&str]| -> String { path.iter().map(|part| format!(".{part}")).collect() };
    let brackets = |path: &[&str]| -> String {
        let part = |part: &&str| match part.parse::<usize>() {
            Ok(index) => format!("[{index}]"),
            Err(_) => format!(".{part}"),
        };
        path.iter().map(part).collect()
    };
    let name = match root {
        Root::First => "first",
        Root::Variable(name, _) | Root::Around(name) => name,
    };
    match dialect {
        Dialect::ToolPlan => json!(format!("$ref:{name}{}", dots(path))),
        Dialect::Blueprint => {
            let name = if name == "first" { "step[0]" } else { name };
            json!(format!("${{{name}.data{}}}", brackets(path)))
        }
        Dialect::ActionPlan => json!(format!("{{{{{name}.result{}}}}}", brackets(path))),
        _ => {
            let pointer: String = path.iter().map(|part| format!("/{part}")).collect();
            match root {
                Root::First => json!({"reference": {"step": "first", "pointer": pointer}}),
                Root::Variable(_, number) => {
                    json!({"reference": {"local": number, "pointer": pointer}})
                }
                Root::Around(name) => json!({"reference": {"input": name, "pointer": pointer}}),
            }
        }
    }
}

/// Returns a string with a reference in it, if the dialect has such strings.
pub(crate) fn text(dialect: Dialect, reference: &Value) -> Option<Value> {
    match (dialect, reference.as_str()) {
        (Dialect::ToolPlan, _) => None,
        (_, Some(reference)) => Some(json!(format!("Hello {reference}"))),
        (_, None) => Some(json!({"text": ["Hello ", {"value": reference}]})),
    }
}

/// The members of a call.
pub(crate) fn call(dialect: Dialect, tool: &str, arguments: Value) -> Value {
    match dialect {
        Dialect::Blueprint => json!({"tool": tool, "params": arguments}),
        Dialect::PlanJson => json!({"tool": {"name": tool}, "arguments": {"object": arguments}}),
        _ => json!({"tool": tool, "arguments": arguments}),
    }
}

/// A plan whose first step is a call, and whose second has these members.
pub(crate) fn document(dialect: Dialect, first: Value, second: Value) -> String {
    let step = |id: &str, mut members: Value| {
        if dialect != Dialect::Blueprint {
            members["id"] = json!(id);
        }
        members
    };
    let steps = json!([step("first", first), step("second", second)]);
    let document = match dialect {
        Dialect::ToolPlan => json!({"steps": steps, "output_steps": ["second"]}),
        Dialect::Blueprint => json!({"requestId": "r", "steps": steps}),
        Dialect::ActionPlan => steps,
        _ => json!({"name": "p", "steps": steps,
            "output": {"value": {"reference": {"step": "second", "pointer": ""}}}}),
    };
    serde_json::to_string_pretty(&document).unwrap()
}

pub(crate) const DIALECTS: [Dialect; 4] = [
    Dialect::ToolPlan,
    Dialect::Blueprint,
    Dialect::ActionPlan,
    Dialect::PlanJson,
];

fn found(text: &str) -> Findings {
    read_with(&tools(), text)
}

/// Finds the same in all dialects: what is written at `@…` is a reference to the first step, or to a variable.
#[track_caller]
fn same(
    tool: &str,
    body: impl Fn(&dyn Fn(Root<'_>, &[&str]) -> Value, &dyn Fn(&str, Value) -> Value) -> Value,
    expected: &[&str],
) {
    for dialect in DIALECTS {
        let arguments = match tool {
            "search" => json!({"query": "x"}),
            _ => json!({"id": "x"}),
        };
        let refer = |root: Root<'_>, path: &[&str]| reference(dialect, root, path);
        let calls = |tool: &str, arguments| call(dialect, tool, arguments);
        let text = document(
            dialect,
            call(dialect, tool, arguments),
            body(&refer, &calls),
        );
        let findings = found(&text);
        // References are written as each dialect writes them.
        let plain = |message: &str| {
            let mut message = message.to_owned();
            for (written, plain) in [
                ("$ref:", ""),
                ("{{", ""),
                ("}}", ""),
                ("${", ""),
                ("}`", "`"),
                (".result", ""),
                (".data", ""),
                ("step[0]", "first"),
            ] {
                message = message.replace(written, plain);
            }
            message
        };
        let messages: Vec<_> = findings
            .iter()
            .map(|it| plain(&format!("{}: {}", it.code, it.message)))
            .collect();
        assert_eq!(messages, expected, "{dialect:?}\n{text}\n{findings}");
        for finding in &findings {
            let at = &text[finding.label.span.clone()];
            let is_of_dialect = match dialect {
                Dialect::ToolPlan => at.contains("$ref:"),
                Dialect::Blueprint => at.contains("${"),
                Dialect::ActionPlan => at.contains("{{"),
                _ => at.contains("pointer"),
            };
            assert!(is_of_dialect, "{dialect:?} {at}\n{finding}");
            let step = if dialect == Dialect::Blueprint {
                "step1"
            } else {
                "second"
            };
            assert_eq!(finding.step.as_deref(), Some(step), "{finding}");
        }
    }
}

#[test]
fn elements_of_a_list() {
    let over = |path: &'static [&'static str]| {
        move |refer: &dyn Fn(Root<'_>, &[&str]) -> Value, calls: &dyn Fn(&str, Value) -> Value| {
            let to = refer(Root::Variable("hit", 0), path);
            let body = calls("send", json!({"to": to, "subject": "s"}));
            json!({"for": {"pattern": "hit", "list": refer(Root::First, &[]), "body": body}})
        }
    };
    same("search", over(&["id"]), &[]);
    same(
        "search",
        over(&["form", "name"]),
        &["unknown-field: the variable `hit` has no field `form`"],
    );
    same(
        "search",
        over(&["from", "nme"]),
        &["unknown-field: `from` in the variable `hit` has no field `nme`"],
    );
    same(
        "search",
        over(&["score"]),
        &["wrong-type: argument `to` must be a string, but `hit.score` is a number"],
    );
    same(
        "search",
        over(&[]),
        &["wrong-type: argument `to` must be a string, but `hit` is an object"],
    );
    same(
        "search",
        over(&["from", "email"]),
        &[
            "maybe-absent: argument `to` is required, but `hit.from.email` may have no value: `from.email` may be missing",
        ],
    );
    same(
        "search",
        over(&["tags"]),
        &["list-or-element: argument `to` must be a string, but `hit.tags` is a list of strings"],
    );
}

#[test]
fn help_is_in_the_words_of_the_dialect() {
    for (dialect, expected) in [
        (
            Dialect::ToolPlan,
            [
                "did you mean `$ref:hit.from.name`?",
                r#""value": "$ref:hit.from.email", "then": {"tool": "send", "arguments": {"subject": "$ref:x", "to": "#,
            ],
        ),
        (
            Dialect::Blueprint,
            [
                "did you mean `${hit.data.from.name}`?",
                r#""value": "${hit.data.from.email}", "then": {"tool": "send", "params": {"subject": "${x.data}", "to": "#,
            ],
        ),
        (
            Dialect::ActionPlan,
            [
                "did you mean `{{hit.result.from.name}}`?",
                r#""value": "{{hit.result.from.email}}", "then": {"tool": "send", "arguments": {"subject": "{{x.result}}", "to": "#,
            ],
        ),
        (
            Dialect::PlanJson,
            [
                r#"did you mean `{"reference": {"local": 0, "pointer": "/from/name"}}`?"#,
                r#""value": {"reference": {"local": 0, "pointer": "/from/email"}}, "then": {"tool": {"name": "send"}, "arguments": {"object": {"subject": {"reference": {"local": 1, "pointer": ""}}, "to": "#,
            ],
        ),
    ] {
        let hit = |path: &[&str]| reference(dialect, Root::Variable("hit", 0), path);
        let arguments = json!({"to": hit(&["form", "name"]), "subject": hit(&["from", "email"])});
        let body = json!({"for": {"pattern": "hit", "list": reference(dialect, Root::First, &[]), "body": call(dialect, "send", arguments)}});
        let first = call(dialect, "search", json!({"query": "x"}));
        let findings = found(&document(dialect, first, body));
        let help: Vec<&str> = findings
            .iter()
            .filter_map(|it| it.help.as_deref())
            .collect();
        let [unknown, absent] = [0, 1].map(|at| {
            let is_absent = |help: &&&str| help.contains("Some(x)");
            *help
                .iter()
                .find(|help| is_absent(help) == (at == 1))
                .unwrap()
        });
        assert_eq!(unknown, expected[0], "{findings}");
        assert!(absent.contains(expected[1]), "{findings}");
    }
}

/// The name that a help suggests for a variable is unique.
#[test]
fn help_hides_no_variable() {
    let text = r#"{"steps": [
{"id": "first", "tool": "search", "arguments": {"query": "x"}},
{"id": "b", "for": {"pattern": "x", "list": "$ref:first", "body": {"tool": "send", "arguments": {"to": "$ref:x.from.email", "subject": "$ref:x.id"}}}}
]}"#;
    let findings = found(text);
    let help = findings[0].help.as_deref().unwrap();
    assert!(
        help.contains(r#""pattern": "Some(found)", "value": "$ref:x.from.email""#)
            && help.contains(r#"{"to": "$ref:found", "subject": "$ref:x.id"}"#),
        "{help}"
    );
}

#[test]
fn lists_that_may_be_absent_and_elements_of_lists_in_elements() {
    let nested = |path: &'static [&'static str]| {
        move |refer: &dyn Fn(Root<'_>, &[&str]) -> Value, calls: &dyn Fn(&str, Value) -> Value| {
            let to = refer(Root::Variable("tag", 1), path);
            let of_hit = refer(Root::Variable("hit", 0), &["id"]);
            let body = calls("send", json!({"to": to, "subject": of_hit}));
            let list = refer(Root::Variable("hit", 0), &["tags"]);
            let inner = json!({"for": {"pattern": "tag", "list": list, "body": body}});
            json!({"for": {"pattern": "hit", "list": refer(Root::First, &[]), "body": inner}})
        }
    };
    same("search", nested(&[]), &[]);
    same(
        "search",
        nested(&["name"]),
        &["unknown-field: the variable `tag` is a string, which has no field `name`"],
    );
    let over = |refer: &dyn Fn(Root<'_>, &[&str]) -> Value,
                calls: &dyn Fn(&str, Value) -> Value| {
        let list = refer(Root::First, &["manager_of"]);
        let value = refer(Root::Variable("k", 0), &[]);
        let body = calls("send", json!({"to": value, "subject": "s"}));
        json!({"for": {"pattern": "k", "list": list, "body": body}})
    };
    same(
        "read_person",
        over,
        &[
            "list-or-element: argument `to` must be a string, but `k` is a list",
            "maybe-absent: a `for` iterates over a list or an object, but `first.manager_of` may have no value: `manager_of` may be missing",
        ],
    );
}

#[test]
fn values_that_a_pattern_binds() {
    let taken = |pattern: &'static str,
                 value: &'static [&'static str],
                 path: &'static [&'static str]| {
        move |refer: &dyn Fn(Root<'_>, &[&str]) -> Value, calls: &dyn Fn(&str, Value) -> Value| {
            let to = refer(Root::Variable("x", 0), path);
            let then = calls("send", json!({"to": to, "subject": "s"}));
            json!({"if": [{"pattern": pattern, "value": refer(Root::First, value), "then": then}]})
        }
    };
    same("read_person", taken("Some(x)", &["email"], &[]), &[]);
    same(
        "read_person",
        taken("Some(x)", &["manager_of"], &["id"]),
        &[],
    );
    same(
        "read_person",
        taken("Some(x)", &["manager_of"], &["idd"]),
        &["unknown-field: the variable `x` has no field `idd`"],
    );
    same(
        "read_person",
        taken("Some(x)", &["manager_of"], &["email"]),
        &[
            "maybe-absent: argument `to` is required, but `x.email` may have no value: `email` may be null",
        ],
    );
    same(
        "read_person",
        taken("Some(x)", &["age"], &[]),
        &[
            "wrong-type: argument `to` must be a string, but `x` is an integer",
            "wrong-type: `Some(x)` always matches: `first.age` is never absent",
        ],
    );
}

/// The output of a step with `catch` is the output of its tool, or a failure.
#[test]
fn sides_of_results() {
    for (pattern, path, expected) in [
        ("Ok(x)", &["id"][..], None),
        (
            "Ok(x)",
            &["idd"],
            Some("unknown-field: the variable `x` has no field `idd`"),
        ),
        ("Err(x)", &["message"], None),
        (
            "Err(x)",
            &["mesage"],
            Some("unknown-field: the variable `x` has no field `mesage`"),
        ),
        (
            "Err(x)",
            &["transient"],
            Some(
                "wrong-type: argument `to` must be a string, but `x.transient` is `true` or `false`",
            ),
        ),
    ] {
        for dialect in DIALECTS {
            let mut first = call(dialect, "read_person", json!({"id": "x"}));
            first["policy"] = json!({"catch": true});
            let to = reference(dialect, Root::Variable("x", 0), path);
            let then = call(dialect, "send", json!({"to": to, "subject": "s"}));
            let value = reference(dialect, Root::First, &[]);
            let second = json!({"if": [{"pattern": pattern, "value": value, "then": then}]});
            let text = document(dialect, first, second);
            let findings = found(&text);
            let messages: Vec<_> = findings
                .iter()
                .map(|it| format!("{}: {}", it.code, it.message))
                .collect();
            match (expected, &messages[..]) {
                (None, []) => {}
                (Some(expected), [message]) => {
                    let written = to
                        .as_str()
                        .map_or_else(|| format!("x.{}", path[0]), str::to_owned);
                    let expected = expected.replace(&format!("x.{}", path[0]), &written);
                    assert_eq!(*message, expected, "{text}");
                }
                _ => panic!("{text}\n{findings}"),
            }
        }
    }
}

#[test]
fn pairs_and_other_tuples() {
    let tools = [
        plan_runtime::dynamic::Contract::new("sizes").output(json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        plan_runtime::dynamic::Contract::new("hits").output(json!({"type": "array", "items": {"type": "array", "prefixItems": [{"type": "string"}, {"type": ["string", "null"]}], "items": false, "minItems": 2}})),
        plan_runtime::dynamic::Contract::new("take").arguments(json!({"type": "object", "properties": {"s": {"type": "string"}, "n": {"type": "integer"}}})),
        plan_runtime::dynamic::Contract::new("need").arguments(json!({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]})),
    ];
    let tools = plan_runtime::dynamic::Contracts::from_iter(tools);
    let found = |text: &str| match Reader::new().tools(&tools).read(text) {
        Ok(document) => document.warnings().to_string(),
        Err(findings) => findings.to_string(),
    };
    let each = |tool: &str, pattern: &str, takes: &str, arguments: &str| {
        format!(
            "{{\"steps\": [{{\"id\": \"a\", \"tool\": \"{tool}\", \"arguments\": {{}}}},\n{{\"id\": \"b\", \"for\": {{\"pattern\": \"{pattern}\", \"list\": \"$ref:a\", \"body\": {{\"tool\": \"{takes}\", \"arguments\": {arguments}}}}}}}], \"output_steps\": [\"b\"]}}"
        )
    };
    assert_eq!(
        found(&each(
            "sizes",
            "(k, v)",
            "take",
            r#"{"s": "$ref:k", "n": "$ref:v"}"#
        )),
        ""
    );
    assert_eq!(
        found(&each(
            "sizes",
            "(k, v)",
            "take",
            r#"{"s": "$ref:v", "n": "$ref:k.x"}"#
        )),
        "\
error[wrong-type]: argument `s` must be a string, but `$ref:v` is an integer
  --> 2:104 in step `b`

error[unknown-field]: the variable `k` is a string, which has no field `x`
  --> 2:119 in step `b`
"
    );
    assert_eq!(
        found(&each("hits", "(_, w)", "need", r#"{"s": "$ref:w"}"#)),
        "\
error[maybe-absent]: argument `s` is required, but `$ref:w` may have no value: the variable `w` may be null
  --> 2:104 in step `b`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"$ref:w\", \"then\": {\"tool\": \"need\", \"arguments\": {\"s\": \"$ref:x\"}}}]`
"
    );
    assert_eq!(
        found(&each("hits", "(u, v, w)", "need", r#"{"s": "$ref:w"}"#)),
        "\
error[list-or-element]: the pattern `(u, v, w)` has a name for [2], but its value has 2 elements at most
  --> 2:107 in step `b`
   = help: write one name, such as `x`, for the whole value
"
    );
    assert_eq!(
        found(&each("sizes", "k", "need", r#"{"s": "$ref:k"}"#)),
        "\
error[list-or-element]: argument `s` must be a string, but `$ref:k` is a list
  --> 2:99 in step `b`
   = help: did you mean the first element, `$ref:k.0`?
"
    );
}

#[test]
fn lists_that_the_plan_writes_itself() {
    let each = |list: &str, to: &str| {
        format!(
            "{{\"steps\": [{{\"id\": \"a\", \"tool\": \"read_person\", \"arguments\": {{\"id\": \"x\"}}}},\n{{\"id\": \"b\", \"for\": {{\"pattern\": \"x\", \"list\": {list}, \"body\": {{\"tool\": \"send\", \"arguments\": {{\"to\": \"{to}\", \"subject\": \"$ref:a.id\"}}}}}}}}]}}"
        )
    };
    for (list, to, expected) in [
        (r#"["a", "b"]"#, "$ref:x", ""),
        (r#"[{"to": "a"}, {"to": "$ref:a.id"}]"#, "$ref:x.to", ""),
        (
            r#"["a", 5]"#,
            "$ref:x",
            "\
error[wrong-type]: if `x` is element [1] of the list, argument `to` is the number 5, but must be a string
  --> 2:100 in step `b`
   = note: 2:51: the value is here
   = help: write it as a string: `\"5\"`
",
        ),
        (
            r#"[{"to": "$ref:a.id"}]"#,
            "$ref:x.too",
            "\
error[unknown-field]: the variable `x` has no field `too`
  --> 2:113 in step `b`
   = help: did you mean `$ref:x.to`?
",
        ),
        (
            r#"["$ref:a.age"]"#,
            "$ref:x",
            "\
error[wrong-type]: argument `to` must be a string, but `$ref:x` is an integer
  --> 2:106 in step `b`
",
        ),
        (
            r#"["$ref:a.email"]"#,
            "$ref:x",
            "\
error[maybe-absent]: argument `to` is required, but `$ref:x` may have no value: an element of the list may be null
  --> 2:108 in step `b`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(found)\", \"value\": \"$ref:x\", \"then\": {\"tool\": \"send\", \"arguments\": {\"to\": \"$ref:found\", \"subject\": \"$ref:a.id\"}}}]`
",
        ),
    ] {
        assert_eq!(found(&each(list, to)).to_string(), expected, "{list} {to}");
    }
}

#[test]
fn lists_that_are_other_values() {
    let each = |list: &str| {
        format!(
            "{{\"steps\": [{{\"id\": \"b\", \"for\": {{\"pattern\": \"x\", \"list\": {list}, \"body\": {{\"tool\": \"read_person\", \"arguments\": {{\"id\": \"a\"}}}}}}}}]}}"
        )
    };
    for (list, what, help) in [
        (
            "-1",
            "the number -1",
            "refer to a list, or write one: `[-1]`",
        ),
        (
            "\"abc\"",
            "the string \"abc\"",
            "refer to a list, or write one: `[\"abc\"]`",
        ),
        ("true", "true", "refer to a list, or write one: `[true]`"),
        ("null", "null", "refer to a list, or write one: `[…]`"),
    ] {
        assert_eq!(
            found(&each(list)).to_string(),
            format!(
                "error[wrong-type]: a `for` iterates over a list or an object, but the value is {what}\n  --> 1:56 in step `b`\n   = help: {help}\n"
            )
        );
    }
    for list in ["[]", "[1, \"a\"]", "{}", "{\"a\": 1}"] {
        assert_eq!(found(&each(list)).to_string(), "", "{list}");
    }
}

#[test]
fn elements_that_null_replaces() {
    for dialect in DIALECTS {
        let mut first = json!({"for": {"pattern": "n", "list": ["a", "b"],
            "body": call(dialect, "read_person", json!({"id": reference(dialect, Root::Variable("n", 0), &[])}))}});
        first["policy"] = json!({"optional": "each"});
        let to = reference(dialect, Root::Variable("p", 0), &["id"]);
        let list = reference(dialect, Root::First, &[]);
        let body = call(dialect, "send", json!({"to": to, "subject": "s"}));
        let second = json!({"for": {"pattern": "p", "list": list, "body": body}});
        let findings = found(&document(dialect, first, second));
        assert_eq!(findings.len(), 1, "{findings}");
        let first = list.as_str().unwrap_or("first");
        let why = format!("may have no value: an element of `{first}` may be null");
        assert!(findings[0].message.ends_with(&why), "{findings}");
    }
}

/// The variable of a loop is null in the first round, and after that the value of the round before.
#[test]
fn rounds_before() {
    let steps = |cursor: &str, list: &str, to: &str| {
        format!(
            r#"{{"steps": [
{{"id": "pages", "loop": {{"last": "last", "steps": [
  {{"id": "page", "tool": "list_mail", "arguments": {{"cursor": "{cursor}"}}}},
  {{"id": "s", "tool": "notify", "arguments": {{"user_id": "u", "text": "$ref:last.paging.cursor"}}}}],
  "value": "$ref:page", "while": {{"compare": ["$ref:page.paging.cursor", "!=", "end"]}}}}, "policy": {{"at_most": 9, "collect": {list}}}}},
{{"id": "b", "for": {{"pattern": "page", "list": "$ref:pages", "body": {{"block": {{"steps": [
  {{"id": "c", "tool": "notify", "arguments": {{"user_id": "u", "text": "{to}"}}}}]}}}}}}}}
], "output_steps": ["b"]}}"#
        )
    };
    let right = steps("$ref:last.paging.cursor", "true", "$ref:page.paging.cursor");
    assert_eq!(found(&right).to_string(), "");
    let wrong = steps("$ref:last.pging", "true", "$ref:page.paging.cusor");
    assert_eq!(
        found(&wrong).to_string(),
        "\
error[unknown-field]: the variable `last` has no field `pging`
  --> 3:63 in step `pages.page`
   = help: did you mean `$ref:last.paging`?

error[unknown-field]: `paging` in the variable `page` has no field `cusor`
  --> 7:71 in step `b.c`
   = help: did you mean `$ref:page.paging.cursor`?
"
    );
    let needed = right.replace(
        r#""user_id": "u", "text": "$ref:last.paging.cursor""#,
        r#""user_id": "$ref:last.paging.cursor""#,
    );
    assert_eq!(
        found(&needed).to_string(),
        "\
error[maybe-absent]: argument `user_id` is required, but `$ref:last.paging.cursor` may have no value: in the first round, `last` is null
  --> 4:58 in step `pages.s`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"$ref:last.paging.cursor\", \"then\": {\"tool\": \"notify\", \"arguments\": {\"user_id\": \"$ref:x\"}}}]`
"
    );
    let element = steps("$ref:last.paging.cursor", "false", "$ref:page");
    let findings = found(&element).to_string();
    // A `for` over an object binds pairs.
    assert!(
        findings.contains("argument `text` must be a string, but `$ref:page` is a list"),
        "{findings}"
    );
}

/// A variable hides those around it, and a block sees them by their names.
#[test]
fn variables_that_hide_others_and_variables_in_blocks() {
    let text = |inner: &str| {
        format!(
            r#"[{{"id": "a", "tool": "search", "arguments": {{"query": "x"}}}},
{{"id": "b", "for": {{"pattern": "x", "list": "{{{{a.result}}}}", "body": {{"for": {{"pattern": "x", "list": "{{{{x.result.tags}}}}", "body":
{{"block": {{"steps": [{{"id": "c", "tool": "send", "arguments": {{"to": "{inner}", "subject": "s"}}}}]}}}}}}}}}}}}]"#
        )
    };
    assert_eq!(found(&text("{{x.result}}")).to_string(), "");
    assert_eq!(
        found(&text("{{x.result.id}}")).to_string(),
        "\
error[unknown-field]: the variable `x` is a string, which has no field `id`
  --> 3:70 in step `b.c`
"
    );
}

/// A value without a schema has one finding for each reference that needs its type.
#[test]
fn what_is_not_known_of_variables() {
    let open = |refer: &dyn Fn(Root<'_>, &[&str]) -> Value,
                calls: &dyn Fn(&str, Value) -> Value| {
        let to = refer(Root::Variable("x", 0), &["a", "b"]);
        let body = calls("send", json!({"to": to, "subject": "s"}));
        json!({"for": {"pattern": "x", "list": refer(Root::First, &["0"]), "body": body}})
    };
    for dialect in DIALECTS {
        let refer = |root: Root<'_>, path: &[&str]| reference(dialect, root, path);
        let calls = |tool: &str, arguments| call(dialect, tool, arguments);
        let first = call(dialect, "anything", json!({}));
        let findings = found(&document(dialect, first, open(&refer, &calls)));
        let codes: Vec<Code> = findings.iter().map(|it| it.code).collect();
        assert_eq!(codes, [Code::Unchecked; 2], "{findings}");
    }
}
