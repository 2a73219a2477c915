//! Many values that are allowed, to be asked for many others.

use serde_json::{Number, Value};
use std::collections::HashSet;

pub(super) struct Allowed<'v> {
    values: HashSet<&'v Value>,
    /// The numbers among them, of all kinds and those that are floats.
    numbers: HashSet<u64>,
    floats: HashSet<u64>,
    /// The lists and the objects among them, which may have numbers in them.
    composed: Vec<&'v Value>,
}

impl<'v> Allowed<'v> {
    pub(super) fn new(values: &[&'v Value]) -> Self {
        let numbers = || values.iter().filter_map(|value| value.as_number());
        Self {
            numbers: numbers().filter_map(bits).collect(),
            floats: numbers().filter(|n| n.is_f64()).filter_map(bits).collect(),
            composed: values.iter().copied().filter(|v| composed(v)).collect(),
            values: values.iter().copied().collect(),
        }
    }

    /// Whether a value is the [same](super::same) as one of them.
    pub(super) fn has(&self, value: &Value) -> bool {
        let close = |number: &Number| match number.is_f64() {
            true => bits(number).is_some_and(|bits| self.numbers.contains(&bits)),
            false => bits(number).is_some_and(|bits| self.floats.contains(&bits)),
        };
        self.values.contains(value)
            || value.as_number().is_some_and(close)
            || (composed(value) && self.composed.iter().any(|other| super::same(value, other)))
    }
}

fn composed(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

fn bits(number: &Number) -> Option<u64> {
    // `-0.0` is `0`.
    number.as_f64().map(|float| (float + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use super::super::same;
    use super::Allowed;
    use serde_json::json;

    #[test]
    fn it_has_what_is_the_same_as_one_of_them() {
        let all = [
            json!(1),
            json!(1.0),
            json!(-0.0),
            json!(0),
            json!(-1),
            json!(u64::MAX),
            json!(u64::MAX - 1),
            json!(18446744073709551616.0),
            json!("1"),
            json!(null),
            json!([1]),
            json!([1.0]),
            json!({"a": 1, "b": 2}),
        ];
        for listed in &all {
            let allowed = Allowed::new(&[listed]);
            for value in &all {
                assert_eq!(
                    allowed.has(value),
                    same(value, listed),
                    "{value} in {listed}"
                );
            }
        }
    }
}
