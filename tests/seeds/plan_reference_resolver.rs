//! Document 000, `PlanReferenceResolver`: `$ref:step_id` in the arguments of a tool plan.
//!
//! The document's resolver is a function of a string and of a map of outputs. The project has no such function by design: a reader
//! finds the references of a whole plan, and a run resolves them from the outputs of its own steps.

use super::desk::{Desk, ids, read, same_calls};
use crate::conformance::json_or_text;
use plan_runtime::dynamic::{Code, Dialect, Profile, Reader};
use plan_runtime::plan::Source;
use plan_runtime::{Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

/// A step with an output, and a step `shown` with these arguments, which are a JSON string as in the document.
fn document(arguments: &Value) -> Value {
    json!({"steps": [
        {"id": "weather", "tool": "get_weather", "arguments": "{}"},
        {"id": "shown", "tool": "show", "arguments": arguments.to_string()},
    ]})
}

/// Returns the arguments of `shown` for an output of `weather`, or the error of the step.
fn resolved(
    profile: Profile,
    output: &str,
    arguments: &Value,
) -> std::result::Result<Value, String> {
    let plan = read(Dialect::ToolPlan, profile, &document(arguments));
    let weather = json_or_text(output);
    let desk = Desk::new([("get_weather", Ok(weather)), ("show", Ok(Value::Null))]);
    let ran = desk.run(&plan, json!({}));
    match ran.report.step("shown").unwrap().error() {
        Some(error) => Err(error.to_string()),
        None => Ok(ran.arguments("show").clone()),
    }
}

/// The codes of the findings for one argument in the strict profile.
fn refused(text: &str) -> Vec<Code> {
    let document = document(&json!({ "x": text })).to_string();
    let reader = Reader::new().dialect(Dialect::ToolPlan);
    let findings = reader.read(&document).unwrap_err();
    findings.iter().map(|finding| finding.code).collect()
}

const WEATHER: &str =
    r#"{"temp": 25, "city": {"name": "Lisbon", "zip": "1000"}, "days": ["mon", "tue"]}"#;

#[test]
fn class_resolves_ref_step_id_and_ref_step_id_field_nested() {
    let arguments = json!({"all": "$ref:weather", "name": "$ref:weather.city.name"});
    for profile in PROFILES {
        let whole: Value = serde_json::from_str(WEATHER).unwrap();
        assert_eq!(
            resolved(profile, WEATHER, &arguments),
            Ok(json!({"all": whole, "name": "Lisbon"}))
        );
    }
}

#[test]
fn reference_syntax_step_id_is_the_full_output_unquoted_json_or_quoted_text() {
    for (output, value) in [
        (r#"{"temp": 25}"#, json!({"temp": 25})),
        ("25", json!(25)),
        ("true", json!(true)),
        (r#""25""#, json!("25")),
        ("It is sunny.", json!("It is sunny.")),
        (r#"She said "hi"."#, json!(r#"She said "hi"."#)),
        ("", json!("")),
    ] {
        for profile in PROFILES {
            let arguments = resolved(profile, output, &json!({"x": "$ref:weather"}));
            assert_eq!(arguments, Ok(json!({ "x": value })), "{output}");
        }
    }
}

#[test]
fn reference_syntax_field_keeps_the_type_of_the_extracted_value() {
    for (path, value) in [
        ("temp", json!(25)),
        ("city", json!({"name": "Lisbon", "zip": "1000"})),
        ("city.zip", json!("1000")),
        ("days", json!(["mon", "tue"])),
    ] {
        for profile in PROFILES {
            let arguments = json!({ "x": format!("$ref:weather.{path}") });
            let found = resolved(profile, WEATHER, &arguments);
            assert_eq!(found, Ok(json!({ "x": value })), "{path}");
        }
    }
}

#[test]
fn reference_syntax_field_nested_is_a_json_pointer() {
    for (written, pointer) in [
        ("$ref:weather", ""),
        ("$ref:weather.field", "/field"),
        ("$ref:weather.field.nested", "/field/nested"),
        ("$ref:weather.days.1", "/days/1"),
    ] {
        let document = document(&json!({ "x": written }));
        let plan = read(Dialect::ToolPlan, Profile::Strict, &document);
        let reference = &plan.steps[1].references()[0].reference;
        assert_eq!(reference.pointer().as_str(), pointer, "{written}");
    }
}

#[test]
fn ref_pattern_matches_a_whole_string_with_ascii_names() {
    for (text, source, pointer) in [
        ("$ref:weather", 0, ""),
        ("$ref:weather.a_1.B.0", 0, "/a_1/B/0"),
    ] {
        let plan = read(
            Dialect::ToolPlan,
            Profile::Strict,
            &document(&json!({ "x": text })),
        );
        let reference = &plan.steps[1].references()[0].reference;
        assert_eq!(reference.source, Source::Step(source), "{text}");
        assert_eq!(reference.pointer().as_str(), pointer, "{text}");
    }
    // The pattern does not match these strings, so the document's resolver leaves them unchanged. The strict profile refuses each,
    // since an author of such a string hardly ever means it literally.
    for text in [
        "see $ref:weather",
        "$ref:weather!",
        " $ref:weather",
        "$ref:weather.",
        "$ref:",
        "$ref:step-1",
        "$ref:weather.größe",
    ] {
        assert_eq!(refused(text), [Code::MalformedReference], "{text}");
        let sent = resolved(Profile::Compat, WEATHER, &json!({ "x": text }));
        assert_eq!(sent, Ok(json!({ "x": text })));
    }
}

#[test]
fn resolve_replaces_all_references_of_the_raw_json_arguments() {
    let arguments = json!({
        "a": "$ref:weather.temp", "b": ["$ref:weather.city.name", 5, null], "c": {"d": "$ref:weather.days.1"}, "e": "text",
    });
    let expected = json!({"a": 25, "b": ["Lisbon", 5, null], "c": {"d": "tue"}, "e": "text"});
    for profile in PROFILES {
        assert_eq!(resolved(profile, WEATHER, &arguments), Ok(expected.clone()));
    }
}

/// The document's exception comes while the plan runs. The project refuses a step that the plan does not have before the run,
/// and calls no step whose reference leads to a failed step.
#[test]
fn resolve_throws_if_a_reference_points_to_an_unresolved_step() {
    assert_eq!(refused("$ref:wether.temp"), [Code::UnknownStep]);
    let arguments = json!({"x": "$ref:weather.temp"});
    let plan = read(Dialect::ToolPlan, Profile::Strict, &document(&arguments));
    let desk = Desk::new([("get_weather", Err("no signal")), ("show", Ok(json!(1)))]);
    let ran = desk.run(&plan, json!({}));
    assert_eq!(ran.status("shown"), "blocked by `weather`");
    assert_eq!(ran.calls.len(), 1);
}

#[test]
fn extract_dependencies_is_the_set_of_referenced_step_ids() {
    let steps: Vec<Value> = ["a", "b", "c", "d"]
        .iter()
        .map(|id| json!({"id": id, "tool": "t", "arguments": "{}"}))
        .collect();
    for (arguments, expected) in [
        (json!({}), vec![]),
        (json!({"x": "a", "y": "b.c"}), vec![]),
        (json!({"x": "$ref:b.y", "y": ["$ref:d"]}), vec!["b", "d"]),
        (
            json!({"x": "$ref:a", "y": "$ref:a.x", "z": {"w": "$ref:c"}}),
            vec!["a", "c"],
        ),
    ] {
        let mut steps = steps.clone();
        steps.push(json!({"id": "last", "tool": "t", "arguments": arguments.to_string()}));
        let document = json!({ "steps": steps });
        let plan = read(Dialect::ToolPlan, Profile::Strict, &document);
        assert_eq!(ids(plan.dependencies("last")), expected, "{arguments}");
    }
}

#[test]
fn extract_field_of_a_missing_field_is_null_in_compat_and_an_error_in_strict() {
    for path in ["gone", "city.gone.deeper", "days.5"] {
        let arguments = json!({ "x": format!("$ref:weather.{path}") });
        let compat = resolved(Profile::Compat, WEATHER, &arguments);
        assert_eq!(compat, Ok(json!({"x": null})), "{path}");
        // A null instead of a value hides the error from the tool.
        let error = resolved(Profile::Strict, WEATHER, &arguments).unwrap_err();
        let last = path
            .split('.')
            .find(|part| *part != "city" && *part != "days");
        assert!(error.contains(last.unwrap()), "{path}: {error}");
    }
    // Strings and numbers have no fields in either profile.
    for output in ["It is sunny.", "25"] {
        for profile in PROFILES {
            let arguments = json!({"x": "$ref:weather.temp"});
            let error = resolved(profile, output, &arguments).unwrap_err();
            assert!(error.contains("temp"), "{error}");
        }
    }
}

/// A tool with JSON as its output returns the value of the JSON.
#[test]
fn format_output_keeps_json_and_quotes_plain_text() {
    for (output, formatted) in [
        (r#"{"a": [1, null]}"#, r#"{"a":[1,null]}"#),
        ("[]", "[]"),
        ("12.5", "12.5"),
        ("null", "null"),
        ("plain", r#""plain""#),
        ("007", r#""007""#),
        ("two\nlines", r#""two\nlines""#),
    ] {
        assert_eq!(json_or_text(output).to_string(), formatted);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct City {
    name: String,
    zip: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Weather {
    temp: u32,
    city: City,
    days: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Shown {
    all: Weather,
    temp: u32,
    name: String,
}

/// Returns the weather.
#[tool]
async fn get_weather() -> Result<Weather> {
    Ok(serde_json::from_str(WEATHER)?)
}

/// Returns its arguments.
#[tool]
async fn show(all: Weather, temp: u32, name: String) -> Result<Shown> {
    Ok(Shown { all, temp, name })
}

plan! {
    /// Shows the weather.
    ShowWeather() -> Shown {
        step weather = GetWeather {};
        step shown = Show { all: weather, temp: weather.temp, name: weather.city.name };
        shown
    }
}

#[test]
fn in_plan_macro_references_have_types() {
    let weather: Weather = serde_json::from_str(WEATHER).unwrap();
    let shown = smol::block_on(ShowWeather {}.run(&())).unwrap();
    let expected = Shown {
        all: weather,
        temp: 25,
        name: "Lisbon".into(),
    };
    assert_eq!(shown, expected);

    let arguments = json!({"all": "$ref:weather", "temp": "$ref:weather.temp", "name": "$ref:weather.city.name"});
    let plan: Plan = read(Dialect::ToolPlan, Profile::Strict, &document(&arguments));
    let weather = json_or_text(WEATHER);
    let desk = Desk::new([("get_weather", Ok(weather)), ("show", Ok(Value::Null))]);
    same_calls(&desk, &plan, ShowWeather::PLAN, &json!({}));
}
