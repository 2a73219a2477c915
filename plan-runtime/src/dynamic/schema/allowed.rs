//! The values of an `enum`, sorted for many searches.

use super::Types;
use serde_json::Value;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

#[derive(Debug)]
pub(super) struct Allowed {
    /// The hash of each value and its place, sorted.
    places: Vec<(u64, usize)>,
    /// The kinds of the values.
    pub(super) types: Types,
}

impl Allowed {
    pub(super) fn new(values: &[Value], hashes: &RandomState) -> Self {
        let hashed = values.iter().enumerate();
        let mut places: Vec<_> = hashed
            .map(|(at, value)| (hash(value, hashes), at))
            .collect();
        places.sort_unstable();
        let kinds = values.iter().map(Types::of);
        Self {
            places,
            types: kinds.fold(Types::NONE, Types::or),
        }
    }

    /// Returns `true` if a value is the [same] as one of the listed values.
    pub(super) fn has(&self, values: &[Value], value: &Value, hashes: &RandomState) -> bool {
        let hash = hash(value, hashes);
        let first = self.places.partition_point(|(other, _)| *other < hash);
        let places = self.places.iter().skip(first);
        places
            .take_while(|(other, _)| *other == hash)
            .any(|(_, at)| same(value, &values[*at]))
    }
}

/// Values that are the [same] have the same hash: `1` and `1.0`, and objects with their members in another order.
fn hash(value: &Value, hashes: &RandomState) -> u64 {
    let mut hasher = hashes.build_hasher();
    match value {
        // `-0.0` is `0`.
        Value::Number(number) => {
            let bits = number.as_f64().map(|float| (float + 0.0).to_bits());
            ("number", bits).hash(&mut hasher);
        }
        Value::Array(items) => {
            "list".hash(&mut hasher);
            items
                .iter()
                .for_each(|item| hasher.write_u64(hash(item, hashes)));
        }
        Value::Object(members) => {
            let member = |(name, value)| hashes.hash_one((name, hash(value, hashes)));
            let sum = members.iter().map(member).fold(0, u64::wrapping_add);
            ("object", sum).hash(&mut hasher);
        }
        scalar => scalar.hash(&mut hasher),
    }
    hasher.finish()
}

/// Returns `true` for two values that are equal in JSON Schema, as `1` and `1.0` are.
pub(in crate::dynamic) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a != b => {
            (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(has)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowed, same};
    use serde_json::json;
    use std::hash::RandomState;

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
            json!([1, 2]),
            json!([2, 1]),
            json!([[1], 2]),
            json!({"a": 1, "b": 2}),
            json!({"b": 2.0, "a": 1}),
            json!({"a": 2, "b": 1}),
            json!({"a": 1}),
            json!({"a": [1, {"b": -0.0}]}),
            json!({"a": [1, {"b": 0}]}),
        ];
        for listed in &all {
            let hashes = RandomState::new();
            let listed = std::slice::from_ref(listed);
            let allowed = Allowed::new(listed, &hashes);
            for value in &all {
                assert_eq!(
                    allowed.has(listed, value, &hashes),
                    same(value, &listed[0]),
                    "{value} in {listed:?}"
                );
            }
        }
    }
}
