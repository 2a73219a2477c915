//! Conversion of a tool's textual output to a value: JSON, or a string.

use super::containers::string_end;
use crate::resolve::describe::short;
use crate::{Error, Result};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Converts the output of a tool that returns a string. A valid JSON document becomes its value, and any other string
/// becomes a JSON string.
///
/// Digits and names that are not JSON numbers (`02139`, `NaN`) become a string.
///
/// ```
/// use plan_runtime::dynamic::json_or_text;
/// use serde_json::json;
///
/// assert_eq!(json_or_text(r#" {"zip": "02139"} "#)?, json!({"zip": "02139"}));
/// assert_eq!(json_or_text("02139")?, "02139");
/// assert_eq!(json_or_text("It is sunny.")?, "It is sunny.");
///
/// let error = json_or_text(r#"{"id": 18446744073709551616}"#).unwrap_err();
/// assert_eq!(error.to_string(), "the number `18446744073709551616` cannot be represented exactly");
/// # Ok::<(), plan_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns a permanent error for JSON that a [`Value`] cannot represent exactly: an integer outside of `i64` and `u64`, a decimal
/// that would change, a string that is not Unicode, or a value that is nested too deep.
pub fn json_or_text(text: &str) -> Result<Value> {
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Ok(Value::String(text.to_owned()));
    }
    if let Some(number) = numbers(text).find(|number| !is_exact(number)) {
        let message = format!(
            "the number `{}` cannot be represented exactly",
            short(number)
        );
        return Err(Error::permanent(message));
    }
    serde_json::from_str(text).map_err(Error::permanent)
}

/// Returns the numbers in a JSON document.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[start..];
            if rest.starts_with('"') {
                rest = &rest[string_end(rest.as_bytes(), 0)..];
                continue;
            }
            let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let number;
            (number, rest) = rest.split_at(end);
            return Some(number);
        }
    })
}

/// Returns `true` if serde_json represents a number with its exact value.
fn is_exact(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let Ok(float) = number.parse::<f64>() else {
        return false;
    };
    // serde_json writes the shortest decimal that reads back as the float. The longest decimal is the float's exact
    // value.
    let written = digits(number);
    float.is_finite()
        && written.is_some()
        && (written == digits(&format!("{float:e}"))
            || written == digits(&format!("{float:.767e}")))
}

/// Returns a decimal's digits without zeros at the ends, and the power of ten of the last one. Returns `None` for a power
/// out of range.
fn digits(number: &str) -> Option<(String, i64)> {
    let number = number.trim_start_matches('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let all = all.trim_start_matches('0');
    let kept = all.trim_end_matches('0');
    if kept.is_empty() {
        return Some((String::new(), 0));
    }
    let exponent: i64 = exponent.parse().ok()?;
    let dropped = i64::try_from(all.len() - kept.len()).ok()?;
    let fraction = i64::try_from(fraction.len()).ok()?;
    let power = exponent.checked_add(dropped)?.checked_sub(fraction)?;
    Some((kept.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use super::json_or_text;
    use serde_json::{Value, json};

    #[test]
    fn json_is_json() {
        for text in [
            "null",
            "true",
            "0",
            "-0",
            "-9223372036854775808",
            "18446744073709551615",
            "1.10",
            "1e2",
            "0.1",
            "1E-7",
            "-0.0",
            "0e99999999999999999999",
            "5e-324",
            "1.7976931348623157e308",
            "0.1000000000000000055511151231257827021181583404541015625",
            r#""1e400""#,
            r#"{"a\"1e400": [1, "\\", "99999999999999999999"], "b": " 5 "}"#,
            " \n[1]\t",
        ] {
            let json: Value = serde_json::from_str(text).unwrap();
            assert_eq!(json_or_text(text).unwrap(), json, "{text}");
        }
        assert_eq!(json_or_text("1.10").unwrap(), json!(1.1));
    }

    #[test]
    fn text_is_text() {
        for text in [
            "",
            " ",
            "02139",
            "NaN",
            "Infinity",
            "-",
            "+1",
            "1.",
            ".5",
            "1 2",
            "{",
            "[1,]",
            "nul",
            "yes",
            "'a'",
            "0x10",
            "1_000",
            "{a: 1}",
            "\u{feff}1",
        ] {
            assert_eq!(json_or_text(text).unwrap(), text);
        }
    }

    #[test]
    fn what_would_change_is_an_error() {
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999999999999",
            "0.10000000000000000001",
            "3.14159265358979323846",
            "9007199254740993.0",
        ] {
            for text in [
                number.to_owned(),
                format!("[\"\\\"\", {{\"a\": {number}}}]"),
            ] {
                let error = json_or_text(&text).unwrap_err();
                assert!(error.is_permanent());
                assert_eq!(
                    error.to_string(),
                    format!("the number `{number}` cannot be represented exactly")
                );
            }
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(
            json_or_text(&deep).unwrap_err().to_string(),
            "recursion limit exceeded at line 1 column 128"
        );
        assert_eq!(
            json_or_text(r#""\ud800""#).unwrap_err().to_string(),
            "unexpected end of hex escape at line 1 column 8"
        );
    }
}
