//! How large numbers may be, and how long strings and lists.

use super::checked_value::{CheckedValue, ValueKind};
use crate::dynamic::schema::Schema;
use crate::resolve::describe::counted;

/// Up to here a float holds every integer.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// What a number or a string is beyond.
pub(super) fn outside(item: &CheckedValue<'_>, schema: Schema<'_>) -> Option<String> {
    let number = match item.kind() {
        ValueKind::String(text) => {
            return length(text.chars().count(), schema, "Length", "character");
        }
        _ => item.scalar()?.as_f64()?,
    };
    let bound = |name: &str, beyond: fn(f64, f64) -> bool, words: &str| {
        // Larger numbers are not told apart.
        let exact = |bound: &f64| number.abs() < LARGEST || number.total_cmp(bound).is_ne();
        let bound = schema.number(name).filter(exact);
        let bound = bound.filter(|bound| beyond(number, *bound))?;
        Some(format!("must be {words} {bound}"))
    };
    let minimum = || {
        if schema.is("exclusiveMinimum") {
            bound("minimum", |a, b| a <= b, "more than")
        } else {
            bound("minimum", |a, b| a < b, "at least")
        }
    };
    let maximum = || {
        if schema.is("exclusiveMaximum") {
            bound("maximum", |a, b| a >= b, "less than")
        } else {
            bound("maximum", |a, b| a > b, "at most")
        }
    };
    let multiple = || {
        bound(
            "multipleOf",
            |number, of| {
                let times = number / of;
                // Decimal fractions are not exact.
                of > 0.0
                    && times.abs() < LARGEST
                    && (times - times.round()).abs() > 1e-9 * times.abs().max(1.0)
            },
            "a multiple of",
        )
    };
    minimum()
        .or_else(maximum)
        .or_else(|| bound("exclusiveMinimum", |a, b| a <= b, "more than"))
        .or_else(|| bound("exclusiveMaximum", |a, b| a >= b, "less than"))
        .or_else(multiple)
}

pub(super) fn length(length: usize, schema: Schema<'_>, of: &str, what: &str) -> Option<String> {
    let least = schema.length(&format!("min{of}"));
    let most = schema.length(&format!("max{of}"));
    match (least, most) {
        (Some(least), _) if length < least => Some(bound("at least", least, what)),
        (_, Some(most)) if length > most => Some(bound("at most", most, what)),
        _ => None,
    }
}

pub(super) fn bound(words: &str, count: usize, what: &str) -> String {
    format!("must have {words} {}", counted(count, what))
}
