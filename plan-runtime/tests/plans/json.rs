//! Plan → plan JSON → plan.

use crate::support::plans;
use plan_runtime::Plan;
use plan_runtime::plan::{Number, Source, Template};
use proptest::prelude::*;
use serde::Deserialize;
use serde::de::value::{F64Deserializer, MapDeserializer};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

static READ: AtomicUsize = AtomicUsize::new(0);

#[test]
fn reads_back() {
    each_reads_back();
    let read = READ.load(Ordering::Relaxed);
    assert!(read > 200, "only {read} are read");
}

proptest! {
    fn each_reads_back(plan in plans::plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        match serde_json::from_str::<Plan>(&text) {
            Ok(read) => {
                prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
                for (a, b) in read.steps.iter().zip(plan.steps.iter()) {
                    prop_assert_eq!(a.needs(), b.needs());
                    prop_assert_eq!(a.references().len(), b.references().len());
                    prop_assert_eq!(a.reads(), b.reads());
                }
                let _ = read.to_string();
                prop_assert_eq!(&read, &plan);
                READ.fetch_add(1, Ordering::Relaxed);
            }
            // Only a plan that no author writes: a duplicate name in the single object that tagging produces.
            Err(e) => prop_assert!(e.to_string().contains("duplicate member"), "{e}\n{text}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[{}\[\]",:a-z0-9 ]{0,60}"#) {
        let _ = serde_json::from_str::<Plan>(&text);
        let _ = serde_json::from_str::<Template>(&text);
    }
}

#[test]
fn what_is_wrong_is_said_to_serde() {
    let text = r#"{
        "name": "p", "steps": [
            {"id": "inbox", "tool": {"name": "fetch"}},
            {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
                "to": {"reference": {"step": "inbx", "pointer": ""}},
                "via": {"reference": {"step": "sent", "pointer": ""}}
            }}}
        ]}"#;
    let said = |places: [&str; 2]| {
        format!(
            "2 errors: \
             step `sent`: there is no step `inbx` at {} (did you mean `inbox`?); \
             step `sent`: step `sent` waits for itself at {} \
             (remove a dependency, or use a value that does not depend on the step)",
            places[0], places[1]
        )
    };
    let lines = [
        "line 5, column 46 of the plan",
        "line 6, column 24 of the plan",
    ];
    let pointers = [
        "/steps/1/arguments/object/to/reference/step",
        "/steps/1/arguments/object/via",
    ];
    let error = serde_json::from_str::<Plan>(text).unwrap_err().to_string();
    assert_eq!(error, said(lines));
    let error = serde_json::from_reader::<_, Plan>(text.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), said(lines));
    let value: Value = serde_json::from_str(text).unwrap();
    let error = Plan::deserialize(&value).unwrap_err().to_string();
    assert_eq!(error, said(pointers));

    // Another format: serde's buffer of a value with an unknown type.
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Plan(Plan),
    }
    assert!(serde_json::from_str::<Either>(text).is_err());
    let members = value.as_object().unwrap().clone().into_iter();
    let error = Plan::deserialize(MapDeserializer::<_, serde_json::Error>::new(members));
    assert_eq!(error.unwrap_err().to_string(), said(pointers));
    let fixed = text
        .replace("inbx", "inbox")
        .replace(r#""step": "sent""#, r#""step": "inbox""#);
    let Either::Plan(plan) = serde_json::from_str(&fixed).unwrap();
    assert_eq!(plan, serde_json::from_str::<Plan>(&fixed).unwrap());
    assert_eq!(plan.steps[1].references().len(), 2);
}

/// `.ci/run` also runs this test with serde_json's numbers of arbitrary precision, which other formats represent as
/// objects.
#[test]
fn numbers_and_repeated_members_reach_the_reader_from_any_format() {
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    enum Any {
        Template(Template),
    }
    for (text, number) in [
        ("18446744073709551615", Number::Unsigned(u64::MAX)),
        ("-9223372036854775808", Number::Signed(i64::MIN)),
        ("0.1", Number::Float(0.1)),
        ("1e300", Number::Float(1e300)),
        ("5e-324", Number::Float(5e-324)),
    ] {
        let is = |template: &Template| matches!(template, Template::Number(n) if *n == number);
        assert!(is(&serde_json::from_str(text).unwrap()), "{text}");
        let Any::Template(any) = serde_json::from_str(text).unwrap();
        assert!(is(&any), "{text}");
    }
    let not = Template::deserialize(F64Deserializer::<serde::de::value::Error>::new(f64::NAN));
    assert_eq!(not.unwrap_err().to_string(), "the number NaN is not finite");

    let twice = [("object", 1), ("object", 2)].into_iter();
    let twice = MapDeserializer::<_, serde::de::value::Error>::new(twice);
    let error = Template::deserialize(twice).unwrap_err().to_string();
    assert!(error.contains("duplicate member `object`"), "{error}");
}

#[test]
fn outside_of_a_plan_places_stand_for_names() {
    let text = r#"{"reference":{"step":1,"pointer":"/a"}}"#;
    let template: Template = serde_json::from_str(text).unwrap();
    let Template::Reference(reference) = &template else {
        panic!()
    };
    assert_eq!(reference.source, Source::Step(1));
    assert_eq!(serde_json::to_string(&template).unwrap(), text);
    let named = r#"{"reference": {"step": "a", "pointer": ""}}"#;
    let error = serde_json::from_str::<Template>(named).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the step of a reference is a string, but must be its index in the plan, since this is not part of a plan: 0, 1, … \
         at line 1, column 24 of the plan"
    );
}

#[test]
fn what_is_nested_too_deeply_is_refused_before_the_stack_ends() {
    let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
    let error = serde_json::from_value::<Template>(deep.clone())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("lists and objects are nested more than 127 levels deep"),
        "{error}"
    );
    let error = serde_json::from_str::<Template>(&"[".repeat(100_000)).unwrap_err();
    assert!(error.is_eof(), "{error}");
    let held = MapDeserializer::<_, serde_json::Error>::new([("object", deep)].into_iter());
    let error = Template::deserialize(held).unwrap_err().to_string();
    assert_eq!(
        error,
        "lists and objects are nested more than 300 levels deep"
    );
    let fits = (0..127).fold(json!(1), |inner, _| json!({"object": {"a": inner}}));
    serde_json::from_value::<Template>(fits).unwrap();
}
