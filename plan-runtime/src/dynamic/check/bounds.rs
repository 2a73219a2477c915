//! Bounds of numbers, and lengths of strings and lists.

use super::checked_value::{CheckedValue, ValueKind};
use crate::dynamic::schema::Schema;
use crate::resolve::describe::counted;

/// Up to here a float holds every integer.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Returns the bound that a number or a string exceeds.
pub(super) fn outside(item: &CheckedValue<'_>, schema: Schema<'_>) -> Option<String> {
    let number = match item.kind() {
        ValueKind::String(text) => {
            return length(text.chars().count(), schema, "Length", "character");
        }
        _ => item.scalar()?.as_f64()?,
    };
    // In the fourth draft, `exclusiveMinimum` is `true` beside a `minimum`.
    let (minimum, maximum) = (
        if schema.is("exclusiveMinimum") {
            MORE
        } else {
            AT_LEAST
        },
        if schema.is("exclusiveMaximum") {
            LESS
        } else {
            AT_MOST
        },
    );
    let bounds: [(&str, Bound); 5] = [
        ("minimum", minimum),
        ("maximum", maximum),
        ("exclusiveMinimum", MORE),
        ("exclusiveMaximum", LESS),
        ("multipleOf", MULTIPLE),
    ];
    bounds.into_iter().find_map(|(name, (words, is_beyond))| {
        // Larger numbers are not told apart.
        let exact = |bound: &f64| number.abs() < LARGEST || number.total_cmp(bound).is_ne();
        let bound = schema.number(name).filter(exact);
        let bound = bound.filter(|bound| is_beyond(number, *bound))?;
        Some(format!("must be {words} {bound}"))
    })
}

/// The words for a bound, and whether a number is beyond it.
type Bound = (&'static str, fn(f64, f64) -> bool);

const MORE: Bound = ("more than", |number, bound| number <= bound);
const LESS: Bound = ("less than", |number, bound| number >= bound);
const AT_LEAST: Bound = ("at least", |number, bound| number < bound);
const AT_MOST: Bound = ("at most", |number, bound| number > bound);
const MULTIPLE: Bound = ("a multiple of", |number, of| {
    let times = number / of;
    // Decimal fractions are not exact.
    of > 0.0 && times.abs() < LARGEST && (times - times.round()).abs() > 1e-9 * times.abs().max(1.0)
});

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
