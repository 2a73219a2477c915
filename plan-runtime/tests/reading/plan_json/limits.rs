//! What is read of a document that is too large.

use super::{limited, step, steps, value};

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
",
    );
    limited(
        |limits| limits.depth = 1,
        &value("[[1]]"),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:25 in step `a`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"merge": [{"merge": []}]}"#),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:35 in step `a`
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"text": [{"value": {"text": []}}]}"#),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:44 in step `a`
",
    );
    limited(
        |limits| limits.depth = 1,
        &step(r#""for": {"pattern": "x", "list": [], "body": {"if": [{"then": {"value": 1}}]}}"#),
        "error[limit-passed]: conditions and loops are nested more than 1 levels deep
  --> 3:76 in step `b`
",
    );
    limited(
        |limits| limits.string = 4,
        &value(r#""12345""#),
        "error[limit-passed]: the string has 5 bytes, and at most 4 are read
  --> 2:24 in step `a`
",
    );
    limited(
        |limits| limits.bytes = 73,
        &value(r#""é""#),
        "error[limit-passed]: the document has 83 bytes, and at most 73 are read
  --> 2:22: the limit is here
",
    );
    limited(
        |limits| limits.depth = 1,
        &value(r#"{"reference": {"input": "q", "pointer": "", "else": [[1]], "optional": true}}"#),
        "error[limit-passed]: lists and objects are nested more than 1 levels deep
  --> 2:77 in step `a`
",
    );
}
