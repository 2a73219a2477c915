//! Reading of documents that are too large.

use super::{limited, step, steps, value};
use std::time::Duration;

#[test]
fn limits() {
    limited(
        |limits| limits.steps = 1,
        &steps(
            r#"{"id": "a", "tool": {"name": "t"}},
  {"id": "a", "tool": {"name": "t"}}"#,
        ),
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step exceeds the limit
   = help: if the document is right, raise `DocumentLimits::steps`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value("[[1]]"),
        "error[limit-passed]: lists and objects are nested more than 1 level deep
  --> 2:25 in step `a`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"merge": [{"merge": []}]}"#),
        "error[limit-passed]: lists and objects are nested more than 1 level deep
  --> 2:35 in step `a`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"text": [{"value": {"text": []}}]}"#),
        "error[limit-passed]: lists and objects are nested more than 1 level deep
  --> 2:44 in step `a`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
    limited(
        |limits| limits.depth = 1,
        &step(r#""for": {"pattern": "x", "list": [], "body": {"if": [{"then": {"value": 1}}]}}"#),
        "error[limit-passed]: conditions, loops and blocks are nested more than 1 level deep
  --> 3:76 in step `b`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
    limited(
        |limits| limits.string = 4,
        &value(r#""12345""#),
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 2:24 in step `a`
   = help: if the document is right, raise `DocumentLimits::string`
",
    );
    limited(
        |limits| limits.bytes = 73,
        &value(r#""é""#),
        "error[limit-passed]: the document has 83 bytes, but the limit is 73 bytes
  --> 2:22: the limit is here
   = help: if the document is right, raise `DocumentLimits::bytes`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"reference": {"input": "q", "pointer": "", "else": [[1]], "optional": true}}"#),
        "error[limit-passed]: lists and objects are nested more than 1 level deep
  --> 2:77 in step `a`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
}

#[test]
fn inputs_and_references() {
    limited(
        |limits| limits.inputs = 1,
        r#"{"name": "p", "steps": [], "inputs": [
  {"name": "a", "type": "u8"},
  {"name": "b", "type": "u8"},
  {"name": "b", "type": "u8"}
], "output": {"value": null}}"#,
        "error[limit-passed]: the plan has more than 1 input
  --> 3:3: the first input over the limit
   = help: if the document is right, raise `DocumentLimits::inputs`
",
    );
    limited(
        |limits| limits.references = 1,
        &value(r#"[{"reference": {"input": "q", "pointer": ""}}, {"reference": {"input": "q"}}]"#),
        "error[limit-passed]: the plan has more than 1 reference
  --> 2:85 in step `a`: the first reference over the limit
   = help: if the document is right, raise `DocumentLimits::references`
",
    );
}

#[test]
fn policies() {
    limited(
        |limits| {
            limits.attempts = 1;
            limits.time = Duration::from_secs(60);
        },
        &step(
            r#""tool": {"name": "t"}, "policy": {"attempts": 2, "backoff": "61s", "max": "1h", "timeout": "1m 1s", "deadline": "1day"}"#,
        ),
        "error[limit-passed]: `attempts` asks for 2 attempts, but a step may have at most 1
  --> 3:61 in step `b`
   = help: if the document is right, raise `DocumentLimits::attempts`

error[limit-passed]: `backoff` is 1m 1s, but may be at most 1m
  --> 3:75 in step `b`
   = help: if the document is right, raise `DocumentLimits::time`

error[limit-passed]: `max` is 1h, but may be at most 1m
  --> 3:89 in step `b`
   = help: if the document is right, raise `DocumentLimits::time`

error[limit-passed]: `timeout` is 1m 1s, but may be at most 1m
  --> 3:106 in step `b`
   = help: if the document is right, raise `DocumentLimits::time`

error[limit-passed]: `deadline` is 1day, but may be at most 1m
  --> 3:127 in step `b`
   = help: if the document is right, raise `DocumentLimits::time`
",
    );
}
