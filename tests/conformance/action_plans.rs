use crate::conformance::{Outcome, PROFILES, Reasons, Tally, arguments, json, list, text};
use plan_runtime::dynamic::{Dialect, Profile, Reader};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STRICT: Option<Profile> = Some(Profile::Strict);
const COMPAT: Option<Profile> = Some(Profile::Compat);

const PROTOTYPE: &str = "JavaScript's own properties are not data";
const NEARLY: &str = "strict: what is nearly a reference is an error";

/// Documents that the reader refuses.
const REFUSED: [&str; 0] = [];

const REASONS: Reasons = &[
    (
        "realExample",
        STRICT,
        "strict: a placeholder is an input of the plan, which a run asks for",
    ),
    ("statusField", STRICT, NEARLY),
    ("wholeResult", None, "`result` alone is the whole output"),
    ("lengthProp", None, PROTOTYPE),
    ("constructorProp", None, PROTOTYPE),
    (
        "key",
        STRICT,
        "a reference in place of a name is an error, and not silently text",
    ),
    ("placeholderPrefixId", STRICT, NEARLY),
    (
        "embeddedObject",
        None,
        "an object in a text is its JSON, and not `[object Object]`",
    ),
    ("quoteInPath", None, r#"`["x"]` is a key"#),
];

const LEVELS: Reasons = &[
    (
        "unknownStepReportedAsCycle",
        COMPAT,
        "the text stays in place, as in the deployed resolver",
    ),
    (
        "foreignMustacheReportedAsCycle",
        COMPAT,
        "the text stays in place, as in the deployed resolver",
    ),
    (
        "hyphenIdMissed",
        None,
        "the step waits for what it refers to",
    ),
    ("spacesMissed", STRICT, NEARLY),
];

#[test]
fn action_plans_resolve_as_recorded_or_better() {
    let Some(corpus) = json("aso_cases.json") else {
        return;
    };
    let mut tally = Tally::new("aso_cases.json, resolve", REASONS);
    let by = [
        "deployed_plan_executor",
        "seed_placeholder_resolver",
        "doc_orchestrator",
    ];
    for case in list(&corpus["resolve"]) {
        let mut steps: Vec<Value> = list(&case["steps"])
            .iter()
            .map(|step| json!({ "id": step["stepId"], "tool": "t", "arguments": {} }))
            .collect();
        steps.push(json!({ "id": "the case", "tool": "t", "arguments": case["args"] }));
        let outputs: BTreeMap<String, Value> = list(&case["steps"])
            .iter()
            .filter(|step| step["status"] == "completed")
            .map(|step| (text(&step["stepId"]).to_owned(), step["result"].clone()))
            .collect();
        let document = Value::from(steps).to_string();
        for profile in PROFILES {
            let ours = arguments(Dialect::ActionPlan, profile, &document, &outputs);
            tally.add_of_three(case, by, profile, &ours);
        }
    }
    tally.finish();
}

#[test]
fn what_can_run_at_once_in_action_plans_is_as_recorded_or_better() {
    let Some(corpus) = json("aso_cases.json") else {
        return;
    };
    let mut tally = Tally::new("aso_cases.json, plans", LEVELS);
    for case in list(&corpus["plans"]) {
        let recorded = match case.get("error") {
            Some(error) => Outcome::Error(text(error).to_owned()),
            None => Outcome::Value(case["levels"].clone()),
        };
        for profile in PROFILES {
            let ours = levels(profile, &case["plan"]);
            tally.add(
                text(&case["name"]),
                profile,
                recorded == ours,
                &recorded,
                &ours,
            );
        }
    }
    tally.finish();
}

#[test]
fn the_inputs_of_action_plans_are_as_recorded() {
    let Some(corpus) = json("aso_cases.json") else {
        return;
    };
    let (mut equal, mut refused) = (0, Vec::new());
    for case in list(&corpus["resolve"]) {
        let steps = list(&case["steps"])
            .iter()
            .map(|step| json!({ "id": step["stepId"], "tool": "t" }));
        let mut steps: Vec<Value> = steps.collect();
        steps.push(json!({ "id": "the case", "tool": "t", "arguments": case["args"] }));
        let recorded: Vec<&str> = list(&case["seed_user_placeholders"])
            .iter()
            .map(text)
            .collect();
        match Reader::new()
            .profile(Profile::Compat)
            .read(&Value::from(steps).to_string())
        {
            Ok(document) => {
                let inputs: Vec<&str> = document
                    .plan()
                    .inputs
                    .iter()
                    .map(|input| &*input.name)
                    .collect();
                assert_eq!(inputs, recorded, "{}", case["name"]);
                equal += 1;
            }
            Err(_) => refused.push(text(&case["name"])),
        }
    }
    crate::conformance::say(&format!("aso_cases.json, inputs: {equal} equal"));
    assert_eq!(refused, REFUSED);
    assert_eq!(equal, 46);
}

fn levels(profile: Profile, plan: &Value) -> Outcome {
    match Reader::new()
        .dialect(Dialect::ActionPlan)
        .profile(profile)
        .read(&plan.to_string())
    {
        Ok(document) => {
            let levels = document.plan().levels();
            let ids = levels
                .iter()
                .map(|level| level.iter().map(|step| &*step.id).collect::<Vec<_>>());
            Outcome::Value(json!(ids.collect::<Vec<_>>()))
        }
        Err(findings) => Outcome::Error(findings.to_string()),
    }
}
