use crate::{Outcome, PROFILES, Reasons, Tally, arguments, json, list, text};
use plan_runtime::dynamic::{Dialect, Profile};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STRICT: Option<Profile> = Some(Profile::Strict);

const PROTOTYPE: &str = "JavaScript's own properties are no data";

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
        "`[*]` stands for every element, as `.*` does",
    ),
    (
        "doubleIndex",
        None,
        "`[0][1]` is both indices, as in the other resolver, and the value keeps its type",
    ),
    (
        "bareStep",
        STRICT,
        "what is nearly a reference is an error; the step's own record is no output",
    ),
    (
        "key",
        STRICT,
        "a reference in place of a name is an error, and not silently text",
    ),
    ("protoField", None, PROTOTYPE),
    ("length", None, PROTOTYPE),
];

/// What one of the two deployed implementations gave, or the class of the blueprint.
fn recorded(case: &Value, by: &str) -> Outcome {
    let recorded = &case[by];
    match recorded.get("error") {
        Some(error) => Outcome::Error(text(error).to_owned()),
        None => Outcome::Value(recorded["value"].clone()),
    }
}

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
    let mut alike = BTreeMap::new();
    for case in list(&corpus["cases"]) {
        // What a string resolves to is looked at as an argument.
        let wrapped = !case["params"].is_object();
        let params = match wrapped {
            true => json!({ "value": case["params"] }),
            false => case["params"].clone(),
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
            let equal = by.map(|by| recorded(case, by) == ours);
            for (by, equal) in by.iter().zip(equal) {
                *alike.entry(*by).or_insert(0) += usize::from(equal);
            }
            let all = by.map(|by| format!("{by}: {}", recorded(case, by)));
            // The class that the blueprint prints fails the blueprint's own tests.
            tally.add(
                text(&case["name"]),
                profile,
                equal[0] || equal[1],
                &all.join("\n             "),
                &ours,
            );
        }
    }
    for (by, count) in alike {
        crate::say(&format!("    as {by}: {count}"));
    }
    tally.finish();
}
