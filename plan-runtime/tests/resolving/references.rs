//! The values of references, compared with a model of one line for each rule.

use crate::support;
use jsonptr::PointerBuf;
use plan_runtime::plan::{Absent, Reference, Segment, Selector, Source, Template};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The value that a path gives; `None` if the reference cannot be resolved.
fn gives(
    value: &Value,
    optional: bool,
    path: &[Segment],
    otherwise: Option<&Value>,
) -> Option<Value> {
    let ended = || Some(otherwise.cloned().unwrap_or_default());
    if optional && value.is_null() {
        return ended();
    }
    let Some((segment, rest)) = path.split_first() else {
        return Some(value.clone());
    };
    let go_on = |value: &Value| gives(value, segment.optional, rest, otherwise);
    let token = match &segment.selector {
        Selector::Each => return value.as_array()?.iter().map(go_on).collect(),
        Selector::Key(key) => key.clone(),
        Selector::Index(index) => index.to_string(),
    };
    if let Ok(part) = PointerBuf::from_tokens([&token]).resolve(value) {
        return go_on(part);
    }
    let is_missing = match value {
        Value::Object(_) => true,
        Value::Array(_) => token.parse::<usize>().is_ok(),
        _ => false,
    };
    match &segment.absent {
        Absent::Default(default) if is_missing => go_on(default),
        Absent::End if is_missing || value.is_null() => ended(),
        _ => None,
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        2 => Just(json!(null)),
        1 => Just(json!(7)),
        1 => Just(json!("text")),
        1 => Just(json!([])),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let key = prop::sample::select(vec!["a", "b", "0", "1"]).prop_map(str::to_owned);
        prop_oneof![
            2 => prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            3 => prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| members.into_iter().collect::<Value>()),
        ]
    })
}

fn reference() -> impl Strategy<Value = Reference> {
    let selector = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "0"]).prop_map(|key| Selector::Key(key.to_owned())),
        2 => (0..2_usize).prop_map(Selector::Index),
        2 => Just(Selector::Each),
    ];
    let absent = prop_oneof![
        2 => Just(Absent::Error),
        2 => Just(Absent::End),
        1 => value().prop_map(|value| Absent::Default(Box::new(value))),
    ];
    let segment = (selector, absent, any::<bool>()).prop_map(|(selector, absent, optional)| {
        let mut segment = Segment::new(selector);
        (segment.absent, segment.optional) = (absent, optional);
        segment
    });
    let otherwise = prop::option::of(Just(json!("otherwise")));
    let path = prop::collection::vec(segment, 0..4);
    (any::<bool>(), path, otherwise).prop_map(|(optional, path, otherwise)| {
        let mut reference = Reference::new(Source::Step(0));
        (reference.optional, reference.path) = (optional, path.into());
        reference.otherwise = otherwise.map(Box::new);
        reference
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(800, 4_000), ..ProptestConfig::default() })]

    #[test]
    fn references_are_resolved_as_their_parts_say(value in value(), reference in reference()) {
        let otherwise = reference.otherwise.as_deref();
        let expected = gives(&value, reference.optional, &reference.path, otherwise);
        let text = serde_json::to_string(&reference).unwrap();
        // Both deserializers: the one of plain references, and the one of all.
        let list = Template::List(vec![Template::Reference(reference.clone())]);
        let alone = support::resolved::<Option<Value>>(&Template::Reference(reference), value.clone());
        let listed = support::resolved::<Value>(&list, value);
        match expected {
            Some(expected) => {
                prop_assert_eq!(alone.unwrap().unwrap_or_default(), expected.clone(), "{}", &text);
                prop_assert_eq!(listed.unwrap(), json!([expected]), "{}", text);
            }
            None => prop_assert!(alone.is_err() && listed.is_err(), "{}", text),
        }
    }
}

/// Values that have a part for each selector of a beginning of the path, and there null or nothing.
fn incomplete(path: &[Segment]) -> impl Iterator<Item = Value> {
    let around = |inner: Value, segment: &Segment| match &segment.selector {
        Selector::Key(key) => json!({ key: inner }),
        Selector::Index(0) | Selector::Each => json!([inner]),
        Selector::Index(_) => json!([inner.clone(), inner]),
    };
    (0..=path.len()).flat_map(move |length| {
        let ends = [json!(null), json!({}), json!([])];
        ends.map(|end| path[..length].iter().rev().fold(end, around))
    })
}

proptest! {
    #[test]
    fn a_reference_is_optional_if_its_value_may_be_absent(reference in reference()) {
        let absent = json!("absent");
        let may_be_absent = incomplete(&reference.path).any(|value| {
            let given = gives(&value, reference.optional, &reference.path, Some(&absent));
            given.is_some_and(|given| given.to_string().contains("absent"))
        });
        let is_optional = may_be_absent && reference.otherwise.is_none();
        prop_assert_eq!(reference.is_optional(), is_optional, "{:?}", reference);
    }
}

#[test]
fn missing_and_null_are_two_things() {
    let x = || Reference::new(Source::Step(0));
    let gives = |reference: Reference, value: Value| {
        support::resolved::<Value>(&Template::Reference(reference), value).ok()
    };
    // `x.pointer("/a").unwrap_or(5)`
    let pointer = || x().key("a").absent(Absent::End).unwrap_or(5);
    assert_eq!(gives(pointer(), json!({})), Some(json!(5)));
    assert_eq!(gives(pointer(), json!({"a": null})), Some(json!(null)));
    // `x.get("a")?.unwrap_or(5)`
    let get = || pointer().optional();
    assert_eq!(gives(get(), json!({})), Some(json!(5)));
    assert_eq!(gives(get(), json!({"a": null})), Some(json!(5)));
    // `x[0]?.a`
    let first = || x().index(0).optional().key("a");
    assert_eq!(gives(first(), json!([null])), Some(json!(null)));
    assert_eq!(gives(first(), json!([])), None);
    // `x.a.or(5)?`
    let default = || {
        x().key("a")
            .absent(Absent::Default(Box::new(json!(5))))
            .optional()
    };
    assert_eq!(gives(default(), json!({})), Some(json!(5)));
    assert_eq!(gives(default(), json!({"a": null})), Some(json!(null)));
    // `x?[..]?.a`
    let each = || x().optional().each().optional().key("a").unwrap_or(5);
    assert_eq!(gives(each(), json!([{"a": 1}, null])), Some(json!([1, 5])));
    assert_eq!(gives(each(), json!(null)), Some(json!(5)));
}
