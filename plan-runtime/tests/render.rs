//! Findings with underlined positions.

use plan_runtime::dynamic::{Contract, Contracts, Findings, Reader};
use serde_json::json;

fn findings(text: &str) -> Findings {
    let tools: Contracts = [
        Contract::new("find").read_only().arguments(json!({
            "type": "object", "properties": {"name": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["name"],
        })).output(json!({"type": "string"})),
        Contract::new("send").arguments(json!({
            "type": "object", "properties": {"to": {"type": "string"}, "text": {"type": "string"}}, "required": ["to", "text"],
        })),
    ]
    .into_iter()
    .collect();
    match Reader::new().tools(&tools).read(text) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

#[track_caller]
fn rendered(text: &str, expected: &str) {
    assert_eq!(findings(text).render("plan.json"), expected.trim_start());
}

#[test]
fn places_are_underlined() {
    rendered(
        r#"{"steps": [
    {"id": "john", "tool": "find", "arguments": {"name": "John", "limit": "5"}},
    {"id": "sent", "tool": "send", "arguments": {"to": "$ref:jon.email"}}
]}"#,
        r#"
error[wrong-type]: argument `limit` is the string "5", but must be an integer
 --> plan.json:2:75
  |
2 |     {"id": "john", "tool": "find", "arguments": {"name": "John", "limit": "5"}},
  |                                                                           ^^^ in step `john`
  |
  = help: remove the quotes: `5`

error[missing-argument]: `send` needs the argument `text`
 --> plan.json:3:28
  |
3 |     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:jon.email"}}
  |                            ^^^^^^ in step `sent`
  |
  = help: `text` is a string

error[unknown-step]: there is no step `jon`
 --> plan.json:3:62
  |
3 |     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:jon.email"}}
  |                                                              ^^^ in step `sent`
  |
  = help: did you mean `john`?
"#,
    );
}

#[test]
fn related_places_are_shown() {
    rendered(
        r#"{"steps": [
    {"id": "a", "tool": "find", "arguments": {"name": "$ref:b"}},
    {"id": "c", "tool": "find", "arguments": {"name": "x"}},
    {"id": "c", "tool": "find", "arguments": {"name": "x"}},
    {"id": "b", "tool": "find", "arguments": {
        "name": "$ref:a"
    }}
]}"#,
        r#"
error[cycle]: steps wait for one another: `a` → `b` → `a`
 --> plan.json:2:55
  |
2 |     {"id": "a", "tool": "find", "arguments": {"name": "$ref:b"}},
  |                                                       ^^^^^^^^ `a` needs `b`
...
6 |         "name": "$ref:a"
  |                 -------- `b` needs `a`
  |
  = help: remove a dependency, or use a value that does not depend on the step

error[duplicate-id]: two steps have the id `c`
 --> plan.json:4:12
  |
3 |     {"id": "c", "tool": "find", "arguments": {"name": "x"}},
  |            --- the first one is here
4 |     {"id": "c", "tool": "find", "arguments": {"name": "x"}},
  |            ^^^
  |
  = help: give one of the two steps another id, because a reference could mean both
"#,
    );
}

#[test]
fn places_of_several_lines_and_of_none() {
    rendered(
        "{\"steps\": []}",
        r#"
error[no-steps]: the plan has no steps
 --> plan.json:1:11
  |
1 | {"steps": []}
  |           ^^
  |
  = help: add a step for each call that has to be made
"#,
    );
    rendered(
        "",
        r#"
error[invalid-json]: the document is empty
 --> plan.json:1:1
  |
1 |
  | ^
"#,
    );
    rendered(
        "{\"steps\": [\n  {\n    \"id\": \"a\",\n    \"arguments\": {\n      \"x\": 1,\n      \"y\": 2\n    }\n  }\n]}",
        r#"
error[missing-member]: the step names no `tool`
 --> plan.json:2:3
  |
2 | /   {
3 | |     "id": "a",
4 | |     "arguments": {
5 | |       "x": 1,
... |
8 | |   }
  | |___^ in step `a`
  |
  = help: name the tool: `"tool": "send"`
"#,
    );
}

/// Returns a plan on one line, with an error in its middle.
fn line(steps: usize) -> String {
    let mut text = String::from(r#"{"steps": ["#);
    for step in 0..steps {
        text.push_str(&format!(
            r#"{{"id": "s{step}", "tool": "find", "arguments": {{"name": "somebody whose name is ä"}}}}, "#
        ));
        if step == steps / 2 {
            text.push_str(r#"{"id": "s1", "tool": "find", "arguments": {"name": "$ref:gone"}}, "#);
            text.push_str(r#"{"id": "here", "arguments": {"name": "somebody whose name is quite long", "limit": "no"}}, "#);
        }
    }
    text.push_str(r#"{"id": "end", "tool": "find", "arguments": {"name": "x"}}]}"#);
    text
}

#[test]
fn long_lines_are_cut() {
    rendered(
        &line(100),
        r#"
error[duplicate-id]: two steps have the id `s1`
 --> plan.json:1:4191
  |
1 | ...nts": {"name": "somebody whose name is ä"}}, {"id": "s1", "tool": "find", "arguments": {"name": "$ref:gone"}},...
  |                                                        ^^^^
  |
 ::: plan.json:1:100
  |
1 | ...me": "somebody whose name is ä"}}, {"id": "s1", "tool": "find", "arguments": {"name": "somebody whose name is ...
  |                                              ---- the first one is here
  |
  = help: give one of the two steps another id, because a reference could mean both

error[unknown-step]: there is no step `gone`
 --> plan.json:1:4241
  |
1 | ..., "tool": "find", "arguments": {"name": "$ref:gone"}}, {"id": "here", "arguments": {"name": "somebody whose na...
  |                                                  ^^^^ in step `s1`

error[missing-member]: the step names no `tool`
 --> plan.json:1:4250
  |
1 | ...: "$ref:gone"}}, {"id": "here", "arguments": {"name": "somebody whose name is quite long", "limit": "no"}}, {"...
  |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in step `here`
  |
  = help: name the tool: `"tool": "send"`
"#,
    );
}

#[test]
fn very_long_lines_cost_no_more() {
    rendered(
        &line(2_000),
        r#"
error[duplicate-id]: two steps have the id `s1`
 --> plan.json:1:82993
  |
 ::: 
1 | ...nts": {"name": "somebody whose name is ä"}}, {"id": "s1", "tool": "find", "arguments": {"name": "$ref:gone"}},...
  |                                                        ^^^^
 ::: plan.json:1:100
  |
 ::: 
1 | ...me": "somebody whose name is ä"}}, {"id": "s1", "tool": "find", "arguments": {"name": "somebody whose name is ...
  |                                              ---- the first one is here
  |
  = help: give one of the two steps another id, because a reference could mean both

error[unknown-step]: there is no step `gone`
 --> plan.json:1:83043
  |
 ::: 
1 | ..., "tool": "find", "arguments": {"name": "$ref:gone"}}, {"id": "here", "arguments": {"name": "somebody whose na...
  |                                                  ^^^^ in step `s1`

error[missing-member]: the step names no `tool`
 --> plan.json:1:83052
  |
 ::: 
1 | ...: "$ref:gone"}}, {"id": "here", "arguments": {"name": "somebody whose name is quite long", "limit": "no"}}, {"...
  |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ in step `here`
  |
  = help: name the tool: `"tool": "send"`
"#,
    );
}

#[test]
fn nothing_of_a_document_reaches_the_terminal_as_it_is() {
    let text = "{\"steps\": [{\"id\": \"a\\u001b[1m\", \"tool\": \"\\u001b[1mfind\\u0007\", \"arguments\": {}}]}";
    rendered(
        text,
        r#"
error[unknown-tool]: there is no tool `\u{1b}[1mfind\u{7}`
 --> plan.json:1:41
  |
1 | {"steps": [{"id": "a\u001b[1m", "tool": "\u001b[1mfind\u0007", "arguments": {}}]}
  |                                         ^^^^^^^^^^^^^^^^^^^^^ in step `"a\u{1b}[1m"`
  |
  = help: the tools are `find`, `send`
"#,
    );
}
