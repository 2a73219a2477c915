use crate::conformance::{Outcome, PROFILES, Reasons, Tally, arguments, json, list};
use plan_runtime::dynamic::{Dialect, Profile};
use serde_json::{Value, json};

const STRICT: Option<Profile> = Some(Profile::Strict);

const PROTOTYPE: &str = "JavaScript's own properties are not data";

const REASONS: Reasons = &[
    (
        "templateWildcardMissingField",
        None,
        "an element without the field is an error: leaving it out would move the others",
    ),
    ("quotedKey", None, r#"`["id"]` is a key"#),
    (
        "bracketStar",
        None,
        "`[*]` means every element, as `.*` does",
    ),
    (
        "doubleIndex",
        None,
        "`[0][1]` is both indices, as in the other resolver, and the value keeps its type",
    ),
    (
        "bareStep",
        STRICT,
        "what is nearly a reference is an error; the step's own record is not an output",
    ),
    (
        "key",
        STRICT,
        "a reference in place of a name is an error, and not silently text",
    ),
    ("protoField", None, PROTOTYPE),
    ("length", None, PROTOTYPE),
];

#[test]
fn blueprints_resolve_as_recorded_or_better() {
    let Some(corpus) = json("step_index_cases.json") else {
        return;
    };
    let mut tally = Tally::new("step_index_cases.json", REASONS);
    let by = [
        "deployed_template_ts",
        "deployed_reference_resolver",
        "seed_blueprint",
    ];
    for case in list(&corpus["cases"]) {
        // A resolved string is inspected as an argument.
        let wrapped = !case["params"].is_object();
        let params = if wrapped {
            json!({ "value": case["params"] })
        } else {
            case["params"].clone()
        };
        let failed = |index: usize| case["steps"][index.to_string()]["success"] == false;
        let given = |index: usize| case["steps"].get(index.to_string());
        let before = (0..2).filter(|index| given(*index).is_some()).count();
        let mut steps: Vec<Value> = (0..before)
            .map(|_| json!({ "tool": "t", "params": {} }))
            .collect();
        steps.push(json!({ "tool": "t", "params": params }));
        let document = json!({ "steps": steps }).to_string();
        let outputs = (0..before)
            .filter(|index| !failed(*index))
            .map(|index| {
                (
                    format!("step{index}"),
                    case["steps"][index.to_string()]["data"].clone(),
                )
            })
            .collect();
        for profile in PROFILES {
            let ours = match arguments(Dialect::Blueprint, profile, &document, &outputs) {
                Outcome::Value(value) if wrapped => Outcome::Value(value["value"].clone()),
                ours => ours,
            };
            tally.add_of_three(case, by, profile, &ours);
        }
    }
    tally.finish();
}
