//! Errors with the messages of other errors, whose kind does not follow from their message.

use plan_runtime::Plan;
use plan_runtime::resolve::{ErrorKind, Scope, StoredValue, resolve};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::{Value, json};
use std::fmt;

/// Refuses every value with an error of its own, whose message is that of a wrong type.
#[derive(Debug)]
struct Refuses;

impl<'de> Deserialize<'de> for Refuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Refuses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("nothing")
            }

            fn visit_u64<E: Error>(self, _: u64) -> Result<Refuses, E> {
                Err(E::custom("invalid type: a lie, expected a bribe"))
            }

            fn visit_str<E: Error>(self, _: &str) -> Result<Refuses, E> {
                Err(E::custom("invalid value: a lie, expected a bribe"))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

fn plan() -> Plan {
    serde_json::from_str(
        r#"{"name": "p", "steps": [
            {"id": "a", "tool": {"name": "t"}},
            {"id": "b", "tool": {"name": "u"}, "arguments": {"object": {
                "x": {"reference": {"step": "a", "pointer": "/x"}}
            }}}
        ]}"#,
    )
    .unwrap()
}

fn read<T: serde::de::DeserializeOwned + fmt::Debug>(
    x: Value,
) -> plan_runtime::resolve::ResolveError {
    #[derive(Debug, serde::Deserialize)]
    struct Arguments<T> {
        #[allow(dead_code)]
        x: T,
    }
    let plan = plan();
    let outputs = [Some(StoredValue::json(json!({"x": x}))), None];
    let scope = Scope::new(&plan, &[], &outputs);
    let args = &plan.steps[1].action().unwrap().args;
    resolve::<Arguments<T>>(args, &scope).unwrap_err()
}

#[test]
fn an_error_of_a_type_is_not_taken_for_a_wrong_type() {
    for value in [json!(1), json!("text")] {
        let error = read::<Refuses>(value);
        assert_eq!(error.kind(), ErrorKind::Other, "{error}");
        assert!(error.to_string().contains("expected a bribe"), "{error}");
    }
    // A value without a visitor method is a wrong type.
    let error = read::<Refuses>(json!(true));
    assert_eq!(error.kind(), ErrorKind::Type);
}

#[test]
fn what_was_expected_does_not_depend_on_what_was_found() {
    let error = read::<u32>(json!("\"}, expected `nothing`, expected u64"));
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(
        error
            .to_string()
            .starts_with("argument `x` takes u32, but "),
        "{error}"
    );
    let error = read::<u8>(json!(256));
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(
        error.to_string().starts_with("argument `x` takes u8, but "),
        "{error}"
    );
    let error = read::<bool>(json!(0.5));
    assert!(
        error
            .to_string()
            .starts_with("argument `x` takes a boolean, but "),
        "{error}"
    );
}
