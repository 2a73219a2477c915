//! Conditions as data.

use crate::checks::blocks::plan;
use crate::checks::check;

#[test]
fn numbers_compare_whether_they_are_integers_or_not() {
    check(
        plan,
        r##"{"id": "b", "value": [
{"compare": [{"len": "four"}, "<", "five"]},
{"compare": [{"len": "four"}, "==", "five"]}
]}"##,
        "\
error[wrong-type]: `<` compares a number with the string \"five\", which have no order
  --> 3:1 in step `b`
   = help: compare two numbers, or two strings

warning[wrong-type]: the comparison is always false: `==` compares a number with the string \"five\"
  --> 4:1 in step `b`
   = help: compare values of one kind; values of two kinds are never equal
",
        r##"{"id": "b", "value": [
{"compare": [{"len": "four"}, "<", 2.5]},
{"compare": [{"len": "four"}, "==", 2.5]}
]}"##,
    );
}

#[test]
fn patterns_of_results_need_one() {
    let branch = |value: &str| {
        format!(
            r##"{{"id": "b", "if": [{{"pattern": "Ok(x)", "value": {value}, "then": {{"value": %0}}}}]}}"##
        )
    };
    for (value, words) in [
        ("[1]", "a list of 1 element"),
        (r#"{"object": {"a": 1}}"#, "an object"),
    ] {
        check(
            plan,
            &branch(value),
            &format!(
                "\
error[wrong-type]: `Ok(x)` needs a `Result`, but the value is {words}
  --> 2:50 in step `b`
   = help: add `\"catch\": true` to the policy of the step
"
            ),
            &format!(
                r#"{{"id": "a", "tool": {{"name": "anything"}}, "policy": {{"catch": true}}}}, {}"#,
                branch("@a")
            ),
        );
    }
}
