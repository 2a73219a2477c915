//! Whole documents that are not JSON or not plans.

use crate::reading::{said, say, whole};
use plan_runtime::dynamic::Reader;

#[test]
fn documents() {
    let reader = Reader::new();
    say(
        &reader,
        whole,
        &[
            (
                "",
                "error[invalid-json]: the document is not JSON: the end is missing
  --> 1:1
   = help: was the document cut off?
",
            ),
            (
                "{",
                "error[invalid-json]: the document is not JSON: the end is missing
  --> 1:2
   = help: was the document cut off?
",
            ),
            (
                "[1, 2",
                "error[invalid-json]: the document is not JSON: the end is missing
  --> 1:6
   = help: was the document cut off?
",
            ),
            (
                r#"{"steps": [],}"#,
                "error[invalid-json]: the document is not JSON: expected a value after the comma
  --> 1:13
   = help: remove the comma
",
            ),
            (
                r#"{"steps": nul}"#,
                "error[invalid-json]: the document is not JSON: expected a value, found `nul`
  --> 1:11
   = help: the words of JSON are `true`, `false` and `null`
",
            ),
            (
                r#"{"a": 1} x"#,
                "error[invalid-json]: the document is not JSON: expected the end after the value, found `x`
  --> 1:10
",
            ),
            (
                "hello",
                "error[invalid-json]: the document is not JSON: expected a value, found `hello`
  --> 1:1
",
            ),
            (
                r#"{"a": 1}"#,
                "error[unknown-dialect]: the document is not a plan in a known dialect
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                "3",
                "error[unknown-dialect]: the document is not a plan in a known dialect
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                r#""text""#,
                "error[unknown-dialect]: the document is not a plan in a known dialect
  --> 1:1
   = help: a plan is an object with a list of `steps`, or a list of steps
",
            ),
            (
                r#"{"steps": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:11
   = help: add a step for each call that has to be made
",
            ),
            (
                "[]",
                "error[no-steps]: the plan has no steps
  --> 1:1
   = help: add a step for each call that has to be made
",
            ),
            (
                r#"{"requestId": "r", "steps": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:29
   = help: add a step for each call that has to be made
",
            ),
            (
                r#"{"plan": []}"#,
                "error[no-steps]: the plan has no steps
  --> 1:10
   = help: add a step for each call that has to be made
",
            ),
            (
                r#"{"steps": 1, "requestId": "r"}"#,
                "error[wrong-kind]: `steps` is `1`, but must be a list
  --> 1:11
",
            ),
            (
                r#"{"steps": [{"id": "a", "tool": "t"}], "steps": []}"#,
                "error[duplicate-member]: duplicate member `steps`
  --> 1:39
   = note: 1:2: the first one is here
   = help: only one of them can be used: remove the other
",
            ),
            (
                "```json
[]
```",
                "error[no-steps]: the plan has no steps
  --> 2:1
   = help: add a step for each call that has to be made
",
            ),
        ],
    );
}

#[test]
fn what_other_languages_write_for_json() {
    let quotes = "names and strings are in double quotes: `\"id\"`";
    for (document, help) in [
        ("[{'id': 1}]", quotes),
        ("[{\"id\": “a”}]", quotes),
        ("[{\"id\": True}]", "JSON writes `true` and `false`"),
        ("[{\"id\": None}]", "JSON writes `null`"),
        ("[ // steps\n]", "JSON has no comments"),
    ] {
        let said = said(&Reader::new(), document);
        assert!(said.ends_with(&format!("   = help: {help}\n")), "{said}");
    }
    let said = said(&Reader::new(), "[;]");
    assert!(!said.contains("help"), "{said}");
}
