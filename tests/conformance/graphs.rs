use crate::conformance::{Outcome, Profile, Reasons, Tally, json, list, text};
use plan_runtime::dynamic::{Code, Contract, Contracts, Reader};
use serde_json::{Map, Value, json};

const REASONS: Reasons = &[];

const REFERENCES: Reasons = &[(
    "dagResolvedVarNotAncestor",
    None,
    "every reference is a dependency, so none can be forgotten",
)];

#[test]
fn graphs_are_judged_as_recorded() {
    let Some(corpus) = json("graphs/graph_and_reference_cases.json") else {
        return;
    };
    let mut tally = Tally::new("graph_and_reference_cases.json, graphs", REASONS);
    for case in list(&corpus["graphs"]) {
        let name = text(&case["name"]);
        let empty = serde_json::Map::new();
        let graph = case["depends_on"].as_object().unwrap_or(&empty);
        let mut steps: Vec<Value> = graph
            .iter()
            .map(|(id, needs)| {
                let arguments: serde_json::Map<String, Value> = list(needs)
                    .iter()
                    .map(|need| {
                        (
                            format!("x{}", text(need)),
                            json!(format!("$ref:{}", text(need))),
                        )
                    })
                    .collect();
                json!({ "id": id, "tool": "t", "arguments": arguments })
            })
            .collect();
        if case["expect"] == "duplicate_id" {
            steps.push(steps[0].clone());
        }
        let ours = match Reader::new().read(&json!({ "steps": steps }).to_string()) {
            Ok(document) => {
                let mut waves: Vec<Vec<&str>> = document
                    .plan()
                    .levels()
                    .into_iter()
                    .map(|wave| wave.into_iter().map(|step| &*step.id).collect())
                    .collect();
                waves.iter_mut().for_each(|wave| wave.sort_unstable());
                Outcome::Value(json!({ "expect": "ok", "waves": waves }))
            }
            Err(findings) => {
                assert_eq!(findings.len(), 1, "{name}: {findings}");
                Outcome::Value(json!({ "expect": match findings[0].code {
                    Code::Cycle => "cycle",
                    Code::DuplicateId => "duplicate_id",
                    Code::UnknownStep => "unknown_step",
                    other => other.as_str(),
                }}))
            }
        };
        let recorded = match case.get("waves") {
            Some(waves) => json!({ "expect": "ok", "waves": waves }),
            None => json!({ "expect": case["expect"] }),
        };
        let recorded = Outcome::Value(recorded);
        tally.add(name, Profile::Strict, recorded == ours, &recorded, &ours);
    }
    tally.finish();
}

/// A tool that gives an object with these fields, and no others.
fn tool(id: &str, outputs: &Value) -> Contract {
    let fields = list(outputs)
        .iter()
        .map(|name| (text(name).to_owned(), json!({ "type": "string" })));
    let fields: Map<String, Value> = fields.collect();
    Contract::new(id.to_owned()).output(json!({
        "type": "object",
        "required": fields.keys().collect::<Vec<_>>(),
        "properties": fields,
        "additionalProperties": false,
    }))
}

/// `cache.cache-hit`, as a tool plan writes it.
fn reference(written: &str) -> String {
    let (id, field) = written.split_once('.').expect("a step and an output");
    format!("$ref:[{}][{}]", json!(id), json!(field))
}

#[test]
fn references_are_judged_as_recorded() {
    let Some(corpus) = json("graphs/graph_and_reference_cases.json") else {
        return;
    };
    let mut tally = Tally::new("graph_and_reference_cases.json, references", REFERENCES);
    for case in list(&corpus["references"]) {
        let tools: Contracts = list(&case["steps"])
            .iter()
            .map(|step| tool(text(&step["id"]), &step["outputs"]))
            .collect();
        let sequential = case["sequential"] == true;
        let document = if sequential {
            in_order(case)
        } else {
            free(case)
        };
        let ours = match Reader::new().tools(&tools).read(&document) {
            Ok(_) => "ok",
            Err(findings) => {
                assert_eq!(findings.errors().count(), 1, "{findings}");
                match findings.errors().next().map(|finding| finding.code) {
                    Some(Code::UnknownField) => "unknown_output",
                    Some(Code::LaterStep) => "forward_reference",
                    Some(Code::UnknownInput) => "unknown_input",
                    Some(other) => other.as_str(),
                    None => "none",
                }
            }
        };
        let recorded = text(&case["expect"]);
        tally.add(
            text(&case["name"]),
            Profile::Strict,
            recorded == ours,
            &recorded,
            &ours,
        );
    }
    tally.finish();
}

/// A plan whose steps run in any order that their references allow; one with references to inputs is plan JSON.
fn free(case: &Value) -> String {
    let steps = list(&case["steps"]).iter().map(|step| {
        let arguments = list(&step["refs"])
            .iter()
            .map(|written| (text(written).to_owned(), json!(reference(text(written)))));
        let arguments: Map<String, Value> = arguments.collect();
        json!({ "id": step["id"], "tool": step["id"], "arguments": arguments })
    });
    let inputs = |step: &Value| {
        list(&step["input_refs"])
            .first()
            .map(|name| text(name).to_owned())
    };
    if let Some(input) = list(&case["steps"]).iter().find_map(inputs) {
        let arguments =
            json!({ "object": { "x": { "reference": { "input": input, "pointer": "" } } } });
        let step = &case["steps"][0]["id"];
        return json!({ "name": "p", "steps": [{ "id": step, "tool": { "name": step }, "arguments": arguments }] }).to_string();
    }
    let mut plan = json!({ "steps": steps.collect::<Vec<_>>() });
    if let Some(output) = list(&case["plan_outputs"]).first() {
        plan["output"] = json!({ "x": reference(text(output)) });
    }
    plan.to_string()
}

/// A blueprint, whose steps run in their order.
fn in_order(case: &Value) -> String {
    let place = |id: &str| {
        list(&case["steps"])
            .iter()
            .position(|step| step["id"] == id)
    };
    let steps = list(&case["steps"]).iter().map(|step| {
        let params = list(&step["refs"]).iter().map(|written| {
            let (id, field) = text(written).split_once('.').expect("a step and an output");
            let index = place(id).expect("the step is there");
            (
                text(written).to_owned(),
                json!(format!("${{step[{index}].data[{}]}}", json!(field))),
            )
        });
        let params: Map<String, Value> = params.collect();
        json!({ "tool": step["id"], "params": params })
    });
    json!({ "requestId": "r", "steps": steps.collect::<Vec<_>>() }).to_string()
}
