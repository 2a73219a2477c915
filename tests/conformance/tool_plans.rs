use crate::conformance::{
    Outcome, PROFILES, Reasons, Tally, arguments, json, json_or_text, list, text,
};
use plan_runtime::dynamic::{Contract, Dialect, Profile, Reader, Toolbox};
use plan_runtime::plan::{Key, Template};
use plan_runtime::run::{OnFailure, Status};
use plan_runtime::{Error, Plan};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const STRICT: Option<Profile> = Some(Profile::Strict);

const NULL: &str = "strict: a field that is not there is an error, and not silently null";
const LITERAL: &str = "strict: what is nearly a reference is an error, and not silently text";
const SPLICED: &str = "the recorded text is not JSON: values are substituted here, never spliced";
const EXACT: &str = "a number is a value: its notation is not kept";
const SCALAR: &str = "only objects have fields: null would hide a mistake of the plan";
const KEY: &str =
    "the names of members are known before anything runs; in the lenient profile with a warning";
const EMPTY: &str = r#"an empty key is written `[""]`, so that a dot too many is found"#;

const RESOLVE: Reasons = &[
    ("missingFieldReturnsNull", STRICT, NULL),
    (
        "bracketIndexNotMatched",
        None,
        "`[0]` is an index in every dialect",
    ),
    ("indexOutOfRange", STRICT, NULL),
    (
        "leadingZeroIndex",
        None,
        "`01` is not an index by RFC 6901, and a list has no other keys",
    ),
    ("hyphenStepIdNotMatched", STRICT, LITERAL),
    ("hyphenFieldNotMatched", STRICT, LITERAL),
    ("unicodeFieldNotMatched", STRICT, LITERAL),
    ("embeddedInStringNotMatched", STRICT, LITERAL),
    ("leadingSpaceNotMatched", STRICT, LITERAL),
    ("trailingDotNotMatched", STRICT, LITERAL),
    ("pathTrailingDot", None, EMPTY),
    ("pathDoubleDot", None, EMPTY),
    (
        "unicodeEscapedDollarNotMatched",
        None,
        r"`\u0024` is `$`: JSON is parsed before references are read",
    ),
    ("escapedQuotesInsideString", STRICT, LITERAL),
    ("jsonInJsonString", STRICT, LITERAL),
    ("asObjectKeyPlain", None, KEY),
    ("asObjectKeyObject", None, KEY),
    ("numberLike:NaN", None, SPLICED),
    ("numberLike:Infinity", None, SPLICED),
    ("numberLike:-Infinity", None, SPLICED),
    ("numberLike:1d", None, SPLICED),
    ("numberLike:1f", None, SPLICED),
    ("numberLike:0x1p3", None, SPLICED),
    ("numberLike:+5", None, SPLICED),
    ("numberLike:.5", None, SPLICED),
    ("numberLike:5.", None, SPLICED),
    ("numberLike:007", None, SPLICED),
    ("zipCodeLosesLeadingZeroType", None, SPLICED),
    ("controlCharNotEscaped", None, SPLICED),
    ("backspaceNotEscaped", None, SPLICED),
    ("fieldControlCharNotEscaped", None, SPLICED),
    ("fieldOnNull", STRICT, NULL),
    ("fieldOnNumber", None, SCALAR),
    ("fieldOnEmptyOutput", None, SCALAR),
    ("fieldOnJsonString", None, SCALAR),
    ("fieldThroughScalar", None, SCALAR),
    ("fieldHugeExponent", None, EXACT),
    ("inArray", None, "the arguments of a tool are an object"),
    ("emptyStepIdNotMatched", STRICT, LITERAL),
];

const EXECUTE: Reasons = &[
    (
        "unknownStepRefIsRuntimeNotPlanError",
        None,
        "an unknown step is found before anything runs",
    ),
    (
        "unknownOutputStepIgnored",
        None,
        "an output that no step gives is found before anything runs",
    ),
    ("hyphenIdCannotBeReferenced", STRICT, LITERAL),
    (
        "resolvedArgsInvalidJson",
        None,
        "the text `NaN` is a string, and arrives as one",
    ),
    ("missingFieldBecomesNullForTool", STRICT, NULL),
];

/// Returns the recorded outputs, which are the strings of a textual tool.
fn outputs(case: &Value) -> BTreeMap<String, Value> {
    let empty = serde_json::Map::new();
    let outputs = case["outputs"].as_object().unwrap_or(&empty);
    let read = |(id, output): (&String, &Value)| (id.clone(), json_or_text(text(output)));
    outputs.iter().map(read).collect()
}

/// A plan of the steps that have outputs, and one more with the arguments.
fn document(case: &Value) -> String {
    let empty = serde_json::Map::new();
    let before = case["outputs"].as_object().unwrap_or(&empty).keys();
    let mut steps: Vec<Value> = before
        .map(|id| json!({ "id": id, "tool": "t", "arguments": "{}" }))
        .collect();
    steps.push(json!({ "id": "the case", "tool": "t", "arguments": case["arguments"] }));
    json!({ "steps": steps }).to_string()
}

#[test]
fn tool_plans_resolve_as_recorded_or_better() {
    let Some(corpus) = json("agentle4j_cases.json") else {
        return;
    };
    let mut tally = Tally::new("agentle4j_cases.json, resolve", RESOLVE);
    for case in list(&corpus["cases"])
        .iter()
        .filter(|case| case["kind"] == "resolve")
    {
        let recorded = match (
            case.get("error"),
            serde_json::from_str(text(&case["result_text"])),
        ) {
            (Some(error), _) => Outcome::Error(text(&error["message"]).to_owned()),
            (None, Ok(value)) => Outcome::Value(value),
            (None, Err(_)) => Outcome::Value(json!({ "no JSON": case["result_text"] })),
        };
        for profile in PROFILES {
            let outputs = outputs(case);
            let ours = arguments(Dialect::ToolPlan, profile, &document(case), &outputs);
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
fn tool_plans_depend_as_recorded() {
    let Some(corpus) = json("agentle4j_cases.json") else {
        return;
    };
    let mut tally = Tally::new("agentle4j_cases.json, dependencies", &[]);
    for case in list(&corpus["cases"])
        .iter()
        .filter(|case| case["kind"] == "deps")
    {
        let ids = list(&case["dependencies"]);
        let mut steps: Vec<Value> = ids
            .iter()
            .map(|id| json!({ "id": id, "tool": "t", "arguments": "{}" }))
            .collect();
        steps.push(json!({ "id": "the case", "tool": "t", "arguments": case["arguments"] }));
        let document = json!({ "steps": steps }).to_string();
        let recorded = Outcome::Value(case["dependencies"].clone());
        for profile in PROFILES {
            let ours = match Reader::new().profile(profile).read(&document) {
                Ok(document) => {
                    let needs = document.plan().dependencies("the case");
                    Outcome::Value(needs.iter().map(|step| Value::from(&*step.id)).collect())
                }
                Err(findings) => Outcome::Error(findings.to_string()),
            };
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

/// The tools that the recordings were made with.
fn tools() -> Toolbox<()> {
    let string = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    Toolbox::new()
        .with_fn(Contract::new("echo"), move |given: Value| async move {
            Ok(json_or_text(&string(&given["message"])))
        })
        .with_fn(Contract::new("get_weather"), |given: Value| async move {
            Ok(json!({ "temp": 25, "city": given["location"] }))
        })
        .with_fn(Contract::new("concat"), move |given: Value| async move {
            Ok(json!(format!(
                "{} + {}",
                string(&given["a"]),
                string(&given["b"])
            )))
        })
        .with_fn(Contract::new("fail_tool"), |_: Value| async move {
            Err(Error::msg("Intentional failure"))
        })
        .with_fn(Contract::new("soft_error"), |_: Value| async move {
            Ok(json!("Error: upstream 500"))
        })
        .with_fn(
            Contract::new("dump"),
            |given: Value| async move { Ok(given) },
        )
}

/// Returns the end of each step, and the outputs of the plan.
fn run(plan: &Plan) -> Outcome {
    let toolbox = tools();
    let run = toolbox
        .run(plan, json!({}), &())
        .on_failure(OnFailure::Continue)
        .capture_outputs(true);
    let (result, report) = smol::block_on(run.with_report());
    let lacks = report
        .steps()
        .iter()
        .all(|step| matches!(step.status(), Status::NotStarted));
    if let (Err(error), true) = (&result, lacks) {
        return Outcome::Error(error.to_string());
    }
    let steps = report.steps().iter().map(|step| match step.output() {
        Some(output) => json!({ "id": step.id(), "output": output }),
        None => json!({ "id": step.id(), "failed": true }),
    });
    let given = match &plan.output.value {
        Template::Object(entries) => entries.iter().filter_map(|entry| match &entry.key {
            Key::Name(name) => Some(Value::from(name.as_str())),
            _ => None,
        }),
        _ => panic!("the output is an object of outputs"),
    };
    outcome(steps.collect(), given.collect())
}

/// Without an order: the recorded ones are in that of execution.
fn outcome(mut steps: Vec<Value>, mut given: Vec<Value>) -> Outcome {
    steps.sort_by_key(|step| step["id"].to_string());
    given.sort_by_key(Value::to_string);
    Outcome::Value(json!({ "steps": steps, "given": given }))
}

#[test]
fn tool_plans_run_as_recorded_or_better() {
    let Some(corpus) = json("agentle4j_cases.json") else {
        return;
    };
    let mut tally = Tally::new("agentle4j_cases.json, execute", EXECUTE);
    for case in list(&corpus["cases"])
        .iter()
        .filter(|case| case["kind"] == "execute")
    {
        let recorded = match case.get("error") {
            Some(error) => Outcome::Error(text(&error["message"]).to_owned()),
            None => {
                let steps = list(&case["step_results"]).iter().map(|step| {
                    if step["success"] == true {
                        json!({ "id": step["id"], "output": json_or_text(text(&step["output"])) })
                    } else {
                        json!({ "id": step["id"], "failed": true })
                    }
                });
                outcome(steps.collect(), list(&case["output_results"]).to_vec())
            }
        };
        for profile in [Profile::Strict, Profile::Compat] {
            let ours = match Reader::new()
                .profile(profile)
                .read(&case["plan"].to_string())
            {
                Ok(document) => run(document.plan()),
                Err(findings) => Outcome::Error(findings.to_string()),
            };
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
