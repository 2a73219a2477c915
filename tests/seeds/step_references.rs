//! Document 001, the blueprint of step references: `${step[0].data[0].id}` in the parameters of a step.
//!
//! `extensions/plan-server/tests/blueprint.rs` tests the document's GraphQL schema, its benchmark (24 % of wrong references
//! before, 0 % after) and its monitoring on the server.

use super::desk::{Desk, Ran, ids, read, same_calls};
use plan_runtime::dynamic::{Code, Dialect, Profile, Reader};
use plan_runtime::run::Status;
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

fn facilities() -> Value {
    json!([{"id": "F1", "name": "Stuttgart Nord"}, {"id": "F2", "name": "Stuttgart Hafen"}])
}

/// Two steps: one with this output, and one with these parameters. Returns the parameters that arrive, or the error.
fn resolved(profile: Profile, data: Value, params: &Value) -> std::result::Result<Value, String> {
    let steps = json!({"steps": [
        {"tool": "facilities_list", "params": {}}, {"tool": "shipments_list", "params": params},
    ]});
    let plan = read(Dialect::Blueprint, profile, &steps);
    let desk = Desk::new([
        ("facilities_list", Ok(data)),
        ("shipments_list", Ok(json!([]))),
    ]);
    let ran = desk.run(&plan, json!({}));
    match ran.report.step("step1").unwrap().error() {
        Some(error) => Err(error.to_string()),
        None => Ok(ran.arguments("shipments_list").clone()),
    }
}

#[track_caller]
fn resolves_to(data: &Value, params: &Value, expected: &Value) {
    for profile in PROFILES {
        let found = resolved(profile, data.clone(), params);
        assert_eq!(found.as_ref(), Ok(expected), "{profile:?}: {params}");
    }
}

/// The findings of a plan in both profiles: code and message.
#[track_caller]
fn refused(steps: &Value) -> (Code, String) {
    let text = json!({ "steps": steps }).to_string();
    let find = |profile| {
        let reader = Reader::new().dialect(Dialect::Blueprint).profile(profile);
        let findings = reader.read(&text).unwrap_err();
        assert_eq!(findings.len(), 1, "{findings}");
        (findings[0].code, findings[0].message.clone())
    };
    let strict = find(Profile::Strict);
    assert_eq!(find(Profile::Compat), strict);
    strict
}

#[test]
fn problem_statement_the_reference_to_step_0_is_valid() {
    let params = json!({"facility_id": "${step[0].data[0].id}"});
    resolves_to(&facilities(), &params, &json!({"facility_id": "F1"}));
}

#[test]
fn unit_test_should_resolve_simple_step_reference() {
    let data = json!({"id": "F1", "name": "Test Facility"});
    let params = json!({"value": "${step[0].data.id}"});
    resolves_to(&data, &params, &json!({"value": "F1"}));
}

#[test]
fn unit_test_should_resolve_array_access() {
    let data = json!([{"id": "F1"}, {"id": "F2"}]);
    let params = json!({"value": "${step[0].data[0].id}"});
    resolves_to(&data, &params, &json!({"value": "F1"}));
}

/// The cache of the document's test is empty: the plan has no step before this one. The finding comes before the run.
#[test]
fn unit_test_should_handle_missing_step_gracefully() {
    let steps = json!([{"tool": "shipments_list", "params": {"value": "${step[0].data.id}"}}]);
    let refers_to_itself = (Code::LaterStep, "step[0] refers to itself".to_owned());
    assert_eq!(refused(&steps), refers_to_itself);
    let steps = json!([{"tool": "shipments_list", "params": {"value": "${step[1].data.id}"}}]);
    let (code, message) = refused(&steps);
    assert_eq!(code, Code::StepOutOfRange);
    // The error lists the available steps, as the document's does.
    let available = "there is no step[1]: the plan has one step, step[0]";
    assert_eq!(message, available);
}

/// Data that the document's interface caches for a step.
#[test]
fn step_result_cache_is_the_report() {
    let steps = json!({"steps": [
        {"tool": "facilities_list", "params": {"location": "Stuttgart"}},
        {"tool": "shipments_list", "params": {"facility_id": "${step[0].data[0].id}"}},
        {"tool": "email_send", "params": {}, "dependsOn": [1]},
    ]});
    let plan = read(Dialect::Blueprint, Profile::Strict, &steps);
    let ran = Desk::new([
        ("facilities_list", Ok(facilities())),
        ("shipments_list", Err("the carrier is closed")),
        ("email_send", Ok(json!("sent"))),
    ]);
    let ran = ran.run(&plan, json!({}));
    // `set`, `get` and `has`: the report has exactly the steps of the plan.
    assert!(ran.report.step("step2").is_some() && ran.report.step("step3").is_none());
    let [first, second, _] = ran.report.steps() else {
        panic!("{}", ran.report);
    };
    assert_eq!(
        (first.status().name(), first.tool()),
        ("completed", Some("facilities_list"))
    );
    assert_eq!(first.output(), Some(&facilities()));
    assert_eq!(first.arguments(), Some(&json!({"location": "Stuttgart"})));
    assert!(first.error().is_none() && first.ended().is_some());
    assert_eq!((second.status().name(), second.output()), ("failed", None));
    assert_eq!(second.arguments(), Some(&json!({"facility_id": "F1"})));
    let error = second.error().unwrap();
    assert_eq!(error.to_string(), "the carrier is closed");
}

#[test]
fn resolve_references_of_strings_arrays_and_objects_and_keeps_other_values() {
    let params = json!({
        "string": "${step[0].data[1].id}", "array": ["${step[0].data[0].id}", 5, true, null],
        "object": {"inner": {"id": "${step[0].data[0].id}"}}, "number": 1.5,
    });
    let expected = json!({
        "string": "F2", "array": ["F1", 5, true, null], "object": {"inner": {"id": "F1"}}, "number": 1.5,
    });
    resolves_to(&facilities(), &params, &expected);
}

#[test]
fn resolve_string_references_replaces_each_reference_of_a_string() {
    let params = json!({"text": "From ${step[0].data[0].name} to ${step[0].data[1].name}."});
    let expected = json!({"text": "From Stuttgart Nord to Stuttgart Hafen."});
    resolves_to(&facilities(), &params, &expected);
    // The document's listing returns a string for each reference. Here, a reference that is a whole string keeps its type, and an object
    // inside a longer string is its JSON instead of `[object Object]`.
    let data = json!({"count": 5, "first": {"id": "F1"}});
    let params = json!({"n": "${step[0].data.count}", "text": "${step[0].data.first} of ${step[0].data.count}"});
    let expected = json!({"n": 5, "text": r#"{"id":"F1"} of 5"#});
    resolves_to(&data, &params, &expected);
}

#[test]
fn resolve_string_references_of_a_failed_step_is_an_error() {
    let ran = run(&json!([
        {"tool": "fails", "params": {}}, {"tool": "shipments_list", "params": {"id": "${step[0].data.id}"}},
    ]));
    assert_eq!(ran.status("step0"), "failed: the tool is broken");
    assert_eq!(ran.status("step1"), "blocked by `step0`");
}

#[test]
fn get_nested_value_follows_properties_and_array_indices() {
    let data = json!({"sites": [{"docks": [["A", "B"], ["C"]], "manager": {"mail": null}}]});
    for (path, value) in [
        (".data.sites[0].manager", json!({"mail": null})),
        (".data.sites[0].manager.mail", Value::Null),
        // The document's listing has no second index: its pattern allows one index for each name.
        (".data.sites[0].docks[0][1]", json!("B")),
    ] {
        let params = json!({ "x": format!("${{step[0]{path}}}") });
        resolves_to(&data, &params, &json!({ "x": value }));
    }
}

/// The document's resolver returns `undefined`, which its executor writes as the string `undefined` into the
/// parameters.
#[test]
fn get_nested_value_of_a_missing_property_is_an_error() {
    for (path, missing) in [
        ("[5].id", "[5]"),
        ("[0].gone", "gone"),
        ("[0].name.first", "first"),
        ("[0].gone.deeper", "gone"),
    ] {
        for profile in PROFILES {
            let params = json!({ "x": format!("${{step[0].data{path}}}") });
            let error = resolved(profile, facilities(), &params).unwrap_err();
            assert!(error.contains(missing), "{path}: {error}");
        }
    }
}

/// Tools that succeed, and `fails`.
fn run(steps: &Value) -> Ran {
    let plan = read(
        Dialect::Blueprint,
        Profile::Strict,
        &json!({"requestId": "r-7", "steps": steps}),
    );
    let desk = Desk::new([
        ("facilities_list", Ok(facilities())),
        ("shipments_list", Ok(json!([{"id": "S1"}]))),
        ("email_send", Ok(json!("sent"))),
        ("fails", Err("the tool is broken")),
    ]);
    desk.run(&plan, json!({}))
}

#[test]
fn execute_plan_checks_dependencies_first() {
    let ran = run(&json!([
        {"tool": "fails", "params": {}},
        {"tool": "email_send", "params": {}, "dependsOn": [0]},
        {"tool": "shipments_list", "params": {}},
    ]));
    // `checkDependencies`: a step whose dependency failed is not called.
    let tools: Vec<&str> = ran.by_tool().into_keys().collect();
    assert_eq!(tools, ["fails", "shipments_list"]);
    let blocked = ran.report.steps()[1].status();
    assert!(matches!(blocked, Status::Blocked { by, .. } if by == "step0"));
    let steps = json!([{"tool": "email_send", "params": {}, "dependsOn": [0]}]);
    assert_eq!(refused(&steps).0, Code::LaterStep);
}

#[test]
fn execute_plan_reports_results_and_totals() {
    let ran = run(&json!([
        {"tool": "facilities_list", "params": {}},
        {"tool": "fails", "params": {"id": "${step[0].data[0].id}"}},
    ]));
    assert_eq!(ran.report.plan(), "r-7");
    let status: Vec<&str> = ran
        .report
        .steps()
        .iter()
        .map(|it| it.status().name())
        .collect();
    assert_eq!(status, ["completed", "failed"]);
    let error = ran.report.steps()[1].error().unwrap();
    assert!(error.as_tool().is_some());
    assert_eq!(error.to_string(), "the tool is broken");
    let totals = ran.report.totals();
    assert_eq!((totals.completed, totals.failed), (1, 1));
}

/// The document's executor stops at a failure that is not optional. Here, steps that do not depend on the failure run if the caller
/// asks for `OnFailure::Continue`, and null is the output of an optional step that failed.
#[test]
fn execute_plan_continues_after_an_optional_step() {
    let ran = run(&json!([
        {"tool": "fails", "params": {}, "optional": true},
        {"tool": "facilities_list", "params": {}, "dependsOn": [0]},
        {"tool": "email_send", "params": {"about": "${step[0].data}"}},
    ]));
    assert_eq!(ran.status("step1"), "completed");
    assert_eq!(ran.arguments("email_send"), &json!({"about": null}));
    assert_eq!(ran.output.unwrap()["step0"], Value::Null);
}

#[test]
fn graphql_plan_step_fields_are_the_policy_and_the_order() {
    let steps = json!({"steps": [
        {"tool": "facilities_list", "params": {}, "parallel": true},
        {"tool": "shipments_list", "params": {}, "dependsOn": [0], "parallel": false, "optional": true, "retryCount": 2, "timeout": 500},
    ]});
    let plan = read(Dialect::Blueprint, Profile::Strict, &steps);
    assert_eq!(ids(plan.dependencies("step1")), ["step0"]);
    let policy = &plan.steps[1].policy;
    // `retryCount` counts further attempts.
    assert_eq!(policy.attempts, 3);
    assert_eq!(policy.timeout, Some(Duration::from_millis(500)));
    assert_eq!(policy.optional, plan_runtime::plan::Optional::Whole);
}

fn stuttgart() -> Value {
    json!({"steps": [
        {"tool": "facilities_list", "params": {"location": "Stuttgart"}, "dependsOn": [], "parallel": false},
        {"tool": "shipments_list", "params": {"facility_id": "${step[0].data[0].id}"}, "dependsOn": [0], "parallel": false},
    ]})
}

fn stuttgart_desk() -> Desk {
    Desk::new([
        ("facilities_list", Ok(facilities())),
        ("shipments_list", Ok(json!([{"id": "F1-1"}]))),
    ])
}

#[test]
fn integration_test_should_execute_plan_with_step_references() {
    for profile in PROFILES {
        let plan = read(Dialect::Blueprint, profile, &stuttgart());
        let ran = stuttgart_desk().run(&plan, json!({}));
        let statuses = ["step0", "step1"].map(|step| ran.status(step));
        assert_eq!(statuses, ["completed", "completed"]);
        assert_eq!(
            ran.arguments("shipments_list"),
            &json!({"facility_id": "F1"})
        );
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Facility {
    id: String,
    name: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Shipment {
    id: String,
}

/// Lists the facilities of a place.
#[tool]
async fn facilities_list(location: String) -> Result<Vec<Facility>> {
    let id = format!("F1 in {location}");
    let name = "Nord".to_owned();
    Ok(vec![Facility { id, name }])
}

/// Lists the shipments of a facility.
#[tool]
async fn shipments_list(facility_id: String) -> Result<Vec<Shipment>> {
    let id = format!("S1 of {facility_id}");
    Ok(vec![Shipment { id }])
}

plan! {
    /// Lists the shipments of the first facility of a place.
    Stuttgart() -> Vec<Shipment> {
        step facilities = FacilitiesList { location: "Stuttgart" };
        step shipments = ShipmentsList { facility_id: facilities[0].id };
        shipments
    }
}

#[test]
fn in_plan_macro_the_reference_has_a_name_and_a_type() {
    let shipments = smol::block_on(Stuttgart {}.run(&())).unwrap();
    assert_eq!(shipments[0].id, "S1 of F1 in Stuttgart");
    let plan = read(Dialect::Blueprint, Profile::Strict, &stuttgart());
    same_calls(&stuttgart_desk(), &plan, Stuttgart::PLAN, &json!({}));
}
