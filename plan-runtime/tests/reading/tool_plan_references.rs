//! References in the strings of tool plans.

use plan_runtime::dynamic::Reader;

/// Reading a document full of errors is not slower than reading a correct one.
#[test]
fn many_unknown_steps_are_said_without_many_searches() {
    let step = |index| {
        format!(
            r#"{{"id": "step_number_{index}", "tool": "t", "arguments": {{"x": "$ref:step_numbr_{index}"}}}}"#
        )
    };
    let steps: Vec<String> = (0..2000).map(step).collect();
    let findings = Reader::new()
        .read(&format!(r#"{{"steps": [{}]}}"#, steps.join(", ")))
        .unwrap_err();
    // The last finding contains the number of the omitted ones.
    assert_eq!(findings.len(), 257);
    let helped = findings.iter().filter(|it| it.help.is_some()).count();
    assert_eq!(helped, 32 + 1);
}
