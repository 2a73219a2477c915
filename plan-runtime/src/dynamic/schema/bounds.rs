//! Bounds of numbers, and lengths of strings and lists.

use super::{Form, Schema};
use crate::resolve::describe::counted;
use serde_json::Value;

/// Up to here a float holds every integer.
const LARGEST: f64 = 9_007_199_254_740_992.0;

impl Form<'_> {
    /// Returns the bound that a number, a string or a list exceeds; not the bounds of its elements.
    pub(in crate::dynamic) fn bound(&self, value: &Value) -> Option<String> {
        match value {
            Value::Number(number) => {
                let number = number.as_f64()?;
                self.schemas().iter().find_map(|it| outside(number, *it))
            }
            Value::String(text) => self.bound_of_string(text),
            Value::Array(items) => self.bound_of_list(items.len()),
            _ => None,
        }
    }

    /// Returns the bound that the length of a string exceeds.
    pub(in crate::dynamic) fn bound_of_string(&self, text: &str) -> Option<String> {
        self.length(text.chars().count(), "Length", "character")
    }

    /// Returns the bound that the length of a list exceeds.
    pub(in crate::dynamic) fn bound_of_list(&self, count: usize) -> Option<String> {
        self.length(count, "Items", "element")
    }

    fn length(&self, length: usize, of: &str, what: &str) -> Option<String> {
        self.schemas().iter().find_map(|schema| {
            let least = schema.length(&format!("min{of}"));
            let most = schema.length(&format!("max{of}"));
            match (least, most) {
                (Some(least), _) if length < least => Some(bound("at least", least, what)),
                (_, Some(most)) if length > most => Some(bound("at most", most, what)),
                _ => None,
            }
        })
    }
}

fn outside(number: f64, schema: Schema<'_>) -> Option<String> {
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
    let (least, most) = range(schema.text("format").unwrap_or_default()).unzip();
    let bounds: [(Option<f64>, Bound); 7] = [
        (schema.number("minimum"), minimum),
        (schema.number("maximum"), maximum),
        (schema.number("exclusiveMinimum"), MORE),
        (schema.number("exclusiveMaximum"), LESS),
        (schema.number("multipleOf"), MULTIPLE),
        (least, AT_LEAST),
        (most, AT_MOST),
    ];
    bounds.into_iter().find_map(|(bound, (words, is_beyond))| {
        // Larger numbers are not told apart.
        let exact = |bound: &f64| number.abs() < LARGEST || number.total_cmp(bound).is_ne();
        let bound = bound.filter(exact);
        let bound = bound.filter(|bound| is_beyond(number, *bound))?;
        Some(format!("must be {words} {bound}"))
    })
}

/// Returns the range of a format of integers, as OpenAPI and `schemars` name the formats.
fn range(format: &str) -> Option<(f64, f64)> {
    Some(match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN as f64, i64::MAX as f64),
        "uint8" => (0.0, u8::MAX.into()),
        "uint16" => (0.0, u16::MAX.into()),
        "uint32" => (0.0, u32::MAX.into()),
        "uint64" => (0.0, u64::MAX as f64),
        _ => return None,
    })
}

/// The words for a bound, and whether a number is beyond it.
type Bound = (&'static str, fn(f64, f64) -> bool);

const MORE: Bound = ("more than", |number, bound| number <= bound);
const LESS: Bound = ("less than", |number, bound| number >= bound);
const AT_LEAST: Bound = ("at least", |number, bound| number < bound);
const AT_MOST: Bound = ("at most", |number, bound| number > bound);
const MULTIPLE: Bound = ("a multiple of", |number, of| {
    if of <= 0.0 || number.abs() >= LARGEST {
        return false;
    }
    let times = number / of;
    // Decimal fractions are not exact.
    let rounded = 4.0 * f64::EPSILON * times.abs();
    if of.fract() == 0.0 {
        number % of != 0.0
    } else {
        times.abs() < LARGEST && (times - times.round()).abs() > rounded
    }
});

pub(in crate::dynamic) fn bound(words: &str, count: usize, what: &str) -> String {
    format!("must have {words} {}", counted(count, what))
}
