//! What is read of a document that is too large.

use crate::limited;

#[test]
fn limits() {
    limited(
        |limits| limits.steps = 1,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]}"#,
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step exceeds the limit
",
    );
    limited(
        |limits| limits.steps = 1,
        r#"[
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t"}
]"#,
        "error[limit-passed]: the plan has 2 steps, and at most 1 are read
  --> 3:3: this step exceeds the limit
",
    );
    limited(
        |limits| limits.depth = 2,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": [[1]]}}
]}"#,
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:48 in step `b`
",
    );
    limited(
        |limits| limits.depth = 2,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": "{\"x\": [[1]]}"}
]}"#,
        "error[limit-passed]: lists and objects are nested more than 2 levels deep
  --> 3:51 in step `b`
",
    );
    limited(
        |limits| limits.string = 4,
        r#"{"steps": [
  {"id": "a", "tool": "t"},
  {"id": "b", "tool": "t", "arguments": {"x": "12345"}}
]}"#,
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 3:47 in step `b`
",
    );
    limited(
        |limits| limits.bytes = 6,
        r#"[
  "é"
]"#,
        "error[limit-passed]: the document has 10 bytes, and at most 6 are read
  --> 2:4: the limit is here
",
    );
    limited(
        |limits| limits.bytes = 2,
        "xxx",
        "error[limit-passed]: the document has 3 bytes, and at most 2 are read
  --> 1:3: the limit is here
",
    );
}
