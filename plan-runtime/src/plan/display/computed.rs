//! Computed values that read like tests.

use crate::plan::{Comparison, Question};
use crate::print::{is_value, split_outside, word};
use std::cmp::Reverse;

/// Returns `true` if a [`Test`](crate::plan::Test), which is data, could have the notation of this expression: values with operators
/// between them. A bracketed operand counts, since it may contain a test.
pub(super) fn may_be_test(mut text: &str) -> bool {
    // Braces around the expression do not change the answer.
    while let Some(inner) = text
        .strip_prefix("{ ")
        .and_then(|text| text.strip_suffix(" }"))
    {
        text = inner;
    }
    let mut signs = vec!["&&", "||"];
    signs.extend(Comparison::ALL.map(Comparison::sign));
    // The longer signs come first, so that `<=` is not split at `<`.
    signs.sort_by_key(|sign| Reverse(sign.len()));
    let operands = split_outside(text, &signs);
    let is_test = |operand: &str| bare(operand) != operand;
    match &operands[..] {
        [whole] => is_in_brackets(whole) || is_test(whole) && is_operand(whole),
        operands => operands.iter().all(|operand| is_operand(operand.trim())),
    }
}

/// Returns an operand without a leading `!` and without trailing methods such as `.is_some()`.
fn bare(mut operand: &str) -> &str {
    loop {
        let before = operand.len();
        operand = operand.strip_prefix('!').unwrap_or(operand);
        for question in Question::ALL {
            let call = operand
                .strip_suffix("()")
                .and_then(|call| call.strip_suffix(question.name())?.strip_suffix('.'));
            operand = call.unwrap_or(operand);
        }
        if operand.len() == before {
            return operand;
        }
    }
}

/// Returns `true` if an operand of a test could have this notation: a value, a bracketed expression, or the variant of
/// an enum.
fn is_operand(text: &str) -> bool {
    let text = bare(text);
    let inside = &text[word(text).len()..];
    let is_variant =
        text.starts_with(char::is_uppercase) && inside.trim_start().starts_with(['(', '{']);
    is_in_brackets(text) || is_variant || is_value(text)
}

fn is_in_brackets(text: &str) -> bool {
    text.starts_with('(') && text.ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::may_be_test;

    #[test]
    fn what_reads_like_a_test() {
        for text in [
            "in.len()",
            "!done",
            "!!a.is_some()",
            "a && b",
            "a.b == 1",
            "a <= b",
            "(f(x)) && b",
            "(f(x))",
            "{ { a && b } }",
            "\"a\".len() > 2",
            "state == Done",
            "state == Some(1)",
            "a.is_ok().is_some()",
        ] {
            assert!(may_be_test(text), "{text}");
        }
        for text in [
            "f(x)",
            "f(x) && g(x)",
            "a + 1 > b",
            "x.trim()",
            "x.trim().len()",
            "if a { b } else { c }",
            "x.iter().collect::<Vec<_>>()",
            "u8::MAX",
            "{ let x = 1; x }",
            "-x",
        ] {
            assert!(!may_be_test(text), "{text}");
        }
    }
}
