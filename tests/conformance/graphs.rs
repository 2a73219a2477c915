use crate::{Outcome, Profile, Reasons, Tally, json, list, text};
use plan_runtime::dynamic::{Code, Reader};
use serde_json::{Value, json};

const REASONS: Reasons = &[];

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
