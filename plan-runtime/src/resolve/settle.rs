//! Restores the order of JSON elements after a round trip through a type such as `HashSet`.

use serde_json::{Map, Value};

/// Restores the order of list elements in JSON that a type has written again, if the elements are equal to the given ones: a new `HashSet` writes its
/// elements in another order.
pub(crate) fn settle(given: &Value, made: Value) -> Value {
    match (given, made) {
        (Value::Array(given), Value::Array(made)) if given.len() == made.len() => {
            Value::Array(settle_list(given, made))
        }
        (Value::Object(given), Value::Object(mut made)) => {
            let known = given.iter().filter_map(|(key, given)| {
                let made = made.remove(key)?;
                Some((key.clone(), settle(given, made)))
            });
            let mut settled: Map<String, Value> = known.collect();
            settled.extend(made);
            Value::Object(settled)
        }
        (_, made) => made,
    }
}

fn settle_list(given: &[Value], made: Vec<Value>) -> Vec<Value> {
    if given == made {
        return made;
    }
    let sorted = |values: &[Value]| {
        let mut texts: Vec<String> = values.iter().map(Value::to_string).collect();
        texts.sort_unstable();
        texts
    };
    if sorted(given) == sorted(&made) {
        return given.to_vec();
    }
    let both = given.iter().zip(made);
    both.map(|(given, made)| settle(given, made)).collect()
}

#[cfg(test)]
mod tests {
    use super::settle;
    use serde_json::json;

    #[test]
    fn what_is_the_same_keeps_its_order() {
        let given = json!({"set": [3, 1, 2], "inner": [{"set": ["b", "a"]}, 1], "list": [1, 2]});
        let made =
            json!({"set": [1, 2, 3], "inner": [{"set": ["a", "b"], "more": 0}, 1], "list": [1, 3]});
        let settled =
            json!({"set": [3, 1, 2], "inner": [{"set": ["b", "a"], "more": 0}, 1], "list": [1, 3]});
        assert_eq!(settle(&given, made), settled);
        assert_eq!(
            settle(&json!([1, 1, 2]), json!([1, 2, 2])),
            json!([1, 2, 2])
        );
        assert_eq!(settle(&json!([1]), json!("1")), json!("1"));
    }
}
