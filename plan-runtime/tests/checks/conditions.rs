//! Conditions as data.

use crate::blocks::plan;
use crate::check;

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

warning[wrong-type]: this is always false: `==` compares a number with the string \"five\"
  --> 4:1 in step `b`
   = help: values of two kinds are never equal
",
        r##"{"id": "b", "value": [
{"compare": [{"len": "four"}, "<", 2.5]},
{"compare": [{"len": "four"}, "==", 2.5]}
]}"##,
    );
}
