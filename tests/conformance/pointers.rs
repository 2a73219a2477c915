use crate::conformance::{Outcome, corpus, json, list, text};
use plan_runtime::Plan;
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use serde_json::{Value, json};

/// Returns a plan whose second step takes the value at a pointer in the output of its first step.
fn plan(pointer: &str) -> Result<Plan, String> {
    let plan = json!({ "name": "p", "steps": [
        { "id": "a", "tool": { "name": "t" } },
        { "id": "b", "tool": { "name": "t" }, "arguments": { "reference": { "step": "a", "pointer": pointer } } },
    ] });
    serde_json::from_str(&plan.to_string()).map_err(|error| error.to_string())
}

fn at(document: &Value, pointer: &str) -> Outcome {
    let plan = match plan(pointer) {
        Ok(plan) => plan,
        Err(error) => return Outcome::Error(error),
    };
    let outputs = [Some(StoredValue::json(document.clone())), None];
    let action = plan.steps[1].action().expect("it calls a tool");
    match resolve(&action.args, &Scope::new(&plan, &[], &outputs)) {
        Ok(value) => Outcome::Value(value),
        Err(error) => Outcome::Error(error.to_string()),
    }
}

#[test]
fn pointers_lead_where_rfc_6901_says() {
    let Some(corpus) = json("json_pointer/json_pointer_vectors.json") else {
        return;
    };
    let document = &corpus["rfc6901_document"];
    for case in list(&corpus["rfc6901_evaluate"]) {
        let found = at(document, text(&case["pointer"]));
        assert_eq!(found, Outcome::Value(case["value"].clone()), "{case}");
    }
    crate::conformance::say(&format!(
        "rfc6901_evaluate: {} equal",
        list(&corpus["rfc6901_evaluate"]).len()
    ));
}

#[test]
fn what_is_no_pointer_is_no_plan() {
    let Some(corpus) = json("json_pointer/json_pointer_vectors.json") else {
        return;
    };
    let (mut valid, mut invalid) = (0, 0);
    for case in list(&corpus["syntax_cases"]) {
        let read = plan(text(&case["pointer"]));
        assert_eq!(read.is_ok(), case["valid"] == true, "{case}: {read:?}");
        *(if read.is_ok() {
            &mut valid
        } else {
            &mut invalid
        }) += 1;
    }
    // Relative pointers and those in URIs are not pointers.
    for case in list(&corpus["relative_pointer_syntax_cases"]) {
        let pointer = text(&case["pointer"]);
        assert_eq!(
            plan(pointer).is_ok(),
            pointer.is_empty() || pointer.starts_with('/'),
            "{case}"
        );
    }
    crate::conformance::say(&format!(
        "syntax_cases: {valid} valid, {invalid} invalid, all told apart"
    ));
}

#[test]
fn json_patch_tests_find_the_same_values() {
    let Some(cases) = corpus("json_pointer/json_patch_tests.json") else {
        return;
    };
    let cases: Value = serde_json::from_str(&cases).expect("the corpus is JSON");
    let mut count = 0;
    for case in list(&cases) {
        let operations = list(&case["patch"]);
        let only_tests = operations.iter().all(|operation| {
            operation["op"] == "test"
                && operation.get("value").is_some()
                && operation["path"].is_string()
        });
        if operations.is_empty() || !only_tests || case["disabled"] == true {
            continue;
        }
        let holds = operations.iter().all(|operation| {
            at(&case["doc"], text(&operation["path"])) == Outcome::Value(operation["value"].clone())
        });
        assert_eq!(holds, case.get("error").is_none(), "{case}");
        count += 1;
    }
    assert!(count > 0);
    crate::conformance::say(&format!(
        "json_patch_tests.json: {count} patches that only test, all with the same result"
    ));
}
