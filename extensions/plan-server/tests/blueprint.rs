//! Step blueprints over GraphQL: the scenarios of its benchmark, with references and without.

mod support;

use serde_json::{Value, json};
use support::{Folder, Process};

const EXECUTE: &str = "mutation Execute($plan: PlanInput!, $strict: Boolean!) {
    executePlan(plan: $plan, strict: $strict) {
        requestId state
        results { success tool data error { code message } metadata { executionTime timestamp } stepIndex resolvedParams }
        metadata { totalDurationMs successfulSteps failedSteps timestamp }
    }
}";

fn execute(server: &Process, plan: &Value, strict: bool) -> Value {
    server.graphql(EXECUTE, &json!({"plan": plan, "strict": strict}))
}

fn step(tool: &str, params: Value) -> Value {
    json!({"tool": tool, "params": params})
}

/// 25 requests to a carrier, as planners write them. Six of them refer to an earlier step.
fn scenarios() -> Vec<Vec<Value>> {
    let first = "${step[0].data[0].id}";
    let facilities = |place: &str| step("facilities_list", json!({"location": place}));
    let shipments = |id: &str| step("shipments_list", json!({"facility_id": id}));
    let mut all = vec![
        vec![facilities("Stuttgart"), shipments(first)],
        vec![
            facilities("Hamburg"),
            step(
                "shipments_list",
                json!({"facility_id": first, "status": "delayed"}),
            ),
        ],
        vec![
            facilities("Stuttgart"),
            shipments(first),
            shipments("${step[0].data[1].id}"),
        ],
        vec![
            facilities("München"),
            shipments(first),
            step(
                "shipment_move",
                json!({"id": "${step[1].data[2].id}", "to": "F2"}),
            ),
        ],
        vec![
            shipments("F1"),
            facilities("Hamburg"),
            step(
                "shipment_move",
                json!({"id": "${step[0].data[0].id}", "to": "${step[1].data[0].id}"}),
            ),
        ],
        vec![
            facilities("Stuttgart"),
            step(
                "email_send",
                json!({"to": "ops@example.org", "subject": "Look at ${step[0].data[0].name}"}),
            ),
            shipments(first),
        ],
    ];
    for place in ["Stuttgart", "Hamburg", "München", "Nowhere"] {
        all.push(vec![facilities(place)]);
    }
    for facility in ["F1", "F2", "F3", "F4"] {
        all.push(vec![shipments(facility)]);
        all.push(vec![step(
            "shipments_list",
            json!({"facility_id": facility, "status": "delivered"}),
        )]);
    }
    for number in 1..=3 {
        all.push(vec![step(
            "shipment_move",
            json!({"id": format!("F3-{number}"), "to": "F1"}),
        )]);
    }
    all.push(vec![facilities("Stuttgart"), shipments("F1")]);
    all.push(vec![shipments("F1"), shipments("F2")]);
    all.push(vec![
        facilities("Hamburg"),
        step("contacts_find", json!({"name": "ops"})),
    ]);
    all.push(vec![step("emails_list", json!({}))]);
    assert_eq!(all.len(), 25);
    all
}

/// Quotes each reference, so that a tool gets the reference's source as a string, as from an executor without
/// references.
fn unresolved(params: &Value) -> Value {
    match params {
        Value::String(text) if text.contains("${") => {
            let quoted = Value::String(text.clone()).to_string();
            Value::String(format!("${{{quoted}}}"))
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), unresolved(value)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn reference_errors_of_the_scenarios_go_from_24_percent_to_0() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let all = scenarios();

    // Before the change, each step gets its parameters as written.
    let mut failed = 0;
    for steps in &all {
        let is_wrong = |step: &Value| {
            let alone =
                json!({"steps": [{"tool": step["tool"], "params": unresolved(&step["params"])}]});
            let answer = execute(&server, &alone, true);
            let result = &answer["data"]["executePlan"]["results"][0];
            result["success"] == false
                && result["error"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("${step[")
        };
        failed += usize::from(steps.iter().any(is_wrong));
    }
    assert_eq!(failed * 100 / all.len(), 24);

    for strict in [true, false] {
        for steps in &all {
            let answer = execute(&server, &json!({"steps": steps}), strict);
            let results = &answer["data"]["executePlan"];
            assert_eq!(results["state"], "done", "{steps:?}: {answer}");
            assert_eq!(results["metadata"]["successfulSteps"], steps.len());
            assert!(!results.to_string().contains("${step["), "{results}");
        }
    }
    for reading in ["strict", "compatible"] {
        for found in ["before", "during"] {
            let name =
                format!("plan_reference_errors_total{{reading=\"{reading}\",found=\"{found}\"}}");
            assert_eq!(server.metric(&name), 0.0, "{name}");
        }
    }
}

#[test]
fn results_have_the_names_of_the_blueprint() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let steps = json!([
        {"tool": "facilities_list", "params": {"location": "Stuttgart"}, "dependsOn": [], "parallel": false},
        {"tool": "shipments_list", "params": {"facility_id": "${step[0].data[0].id}"}, "dependsOn": [0], "optional": true, "retryCount": 1, "timeout": 5000},
    ]);
    let plan = json!({"requestId": "r-1", "steps": steps});
    let answer = execute(&server, &plan, true);
    let results = &answer["data"]["executePlan"];
    assert_eq!(
        (&results["requestId"], &results["state"]),
        (&json!("r-1"), &json!("done")),
        "{answer}"
    );
    let second = &results["results"][1];
    assert_eq!(
        (&second["tool"], &second["stepIndex"]),
        (&json!("shipments_list"), &json!(1))
    );
    assert_eq!(second["resolvedParams"], json!({"facility_id": "F1"}));
    assert_eq!(second["data"][0]["id"], "F1-1");

    let query = "query($id: String!) {
        plan(requestId: $id) { strict state steps { tool params dependsOn parallel optional retryCount timeout } }
        results(requestId: $id) { results { success stepIndex } }
    }";
    let answer = server.graphql(query, &json!({"id": "r-1"}));
    let plan = &answer["data"]["plan"];
    assert_eq!(
        plan["steps"][1]["params"],
        json!({"facility_id": "${step[0].data[0].id}"})
    );
    assert_eq!(plan["steps"][1]["optional"], true);
    assert_eq!(
        (
            &plan["steps"][1]["retryCount"],
            &plan["steps"][1]["timeout"]
        ),
        (&json!(1), &json!(5000))
    );
    assert_eq!(
        answer["data"]["results"]["results"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let answer = server.graphql(query, &json!({"id": "r-2"}));
    assert_eq!(answer["errors"][0]["extensions"]["code"], "NO_SUCH_RUN");
}

#[test]
fn a_request_has_one_run() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let plan = |subject: &str| {
        let params = json!({"to": "ada@example.org", "subject": subject});
        json!({"requestId": "r-1", "steps": [step("email_send", params)]})
    };
    let first = execute(&server, &plan("once"), true);
    assert_eq!(execute(&server, &plan("once"), true)["data"], first["data"]);
    assert_eq!(folder.effects().len(), 1);
    let other = execute(&server, &plan("twice"), true);
    assert_eq!(other["errors"][0]["extensions"]["code"], "OTHER_RUN");
    let other = execute(&server, &plan("once"), false);
    assert!(
        other["errors"][0]["message"]
            .as_str()
            .unwrap()
            .contains("with `strict: true`")
    );
    for id in ["", "a b", "ü", "../..", &"x".repeat(101)] {
        let answer = execute(&server, &json!({"requestId": id, "steps": []}), true);
        assert_eq!(
            answer["errors"][0]["extensions"]["code"], "BAD_REQUEST",
            "{id}"
        );
    }
    assert_eq!(folder.effects().len(), 1);
}

#[test]
fn reference_errors_are_counted_by_reading() {
    let folder = Folder::new();
    let server = Process::start(&folder);
    let count = |reading: &str, found: &str| {
        server.metric(&format!(
            "plan_reference_errors_total{{reading=\"{reading}\",found=\"{found}\"}}"
        ))
    };
    // The original executors treat this spelling as a plain string.
    let near = json!({"steps": [step("email_send", json!({"to": "ada@example.org", "subject": "${steps[0].data}"}))]});
    let answer = execute(&server, &near, true);
    let finding = &answer["errors"][0]["extensions"]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["stepIndex"]),
        (&json!("malformed-reference"), &json!(0))
    );
    assert!(finding["help"].is_string(), "{finding}");
    assert_eq!(count("strict", "before"), 1.0);
    let answer = execute(&server, &near, false);
    assert_eq!(answer["data"]["executePlan"]["state"], "done", "{answer}");
    assert_eq!(
        (count("strict", "before"), count("compatible", "before")),
        (1.0, 1.0)
    );
    // No check finds this error before the list has arrived.
    let late = json!({"steps": [
        step("facilities_list", json!({"location": "Nowhere"})),
        step("shipments_list", json!({"facility_id": "${step[0].data[0].id}"})),
    ]});
    let answer = execute(&server, &late, true);
    let second = &answer["data"]["executePlan"]["results"][1];
    assert_eq!(
        (&second["success"], &second["error"]["code"]),
        (&json!(false), &json!("ARGUMENTS")),
        "{answer}"
    );
    assert_eq!(count("strict", "during"), 1.0);
    // The rejected plan sent no email.
    assert_eq!(folder.effects().len(), 1);
}
