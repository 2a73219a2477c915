use crate::conformance::{corpus, list, same, text};
use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex};

/// `$ref:var1.0["odd key"].*`
fn reference(step: &str, path: &[Value]) -> String {
    let mut written = format!("$ref:{step}");
    for part in path.iter().map(text) {
        let is_word = !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match part {
            "*" => written.push_str("[*]"),
            part if is_word => written.push_str(&format!(".{part}")),
            part => written.push_str(&format!("[{}]", json!(part))),
        }
    }
    written
}

/// Converts a plan of the corpus to a tool plan. A tool replays the recorded output of one step, so each step has its
/// own tool.
fn tool_plan(plan: &Value) -> (String, usize) {
    let mut references = 0;
    let steps = list(&plan["steps"]).iter().map(|step| {
        let mut arguments: Map<String, Value> = step["arguments"].as_object().cloned().unwrap_or_default();
        for recorded in list(&step["references"]) {
            let argument = arguments.get_mut(text(&recorded["arg"])).expect("the argument is there");
            assert_eq!(*argument, recorded["raw"], "{}", plan["id"]);
            *argument = reference(text(&recorded["step"]), list(&recorded["path"])).into();
            references += 1;
        }
        json!({ "id": step["id"], "tool": step["id"], "arguments": Value::from(arguments).to_string() })
    });
    let steps: Vec<Value> = steps.collect();
    (json!({ "steps": steps }).to_string(), references)
}

#[test]
fn recorded_calls_are_given_the_recorded_values() {
    let Some(plans) = corpus("complexfuncbench/plans.jsonl") else {
        return;
    };
    let (mut count, mut all, mut resolved) = (0, 0, 0);
    for plan in plans.lines() {
        let plan: Value = serde_json::from_str(plan).expect("a line is JSON");
        let (document, references) = tool_plan(&plan);
        let calls = Arc::new(Mutex::new(Vec::<(String, Value)>::new()));
        let mut toolbox = Toolbox::<()>::new();
        for step in list(&plan["steps"]) {
            let (id, response, calls) = (
                text(&step["id"]).to_owned(),
                step["response"].clone(),
                Arc::clone(&calls),
            );
            toolbox = toolbox.with_fn(Contract::new(id.clone()), move |arguments: Value| {
                calls.lock().unwrap().push((id.clone(), arguments));
                let response = response.clone();
                async move { Ok(response) }
            });
        }
        let read = Reader::new()
            .read(&document)
            .unwrap_or_else(|findings| panic!("{}: {findings}", plan["id"]));
        assert!(read.warnings().is_empty(), "{}", read.warnings());
        let output = smol::block_on(toolbox.run(read.plan(), json!({}), &()))
            .unwrap_or_else(|error| panic!("{}: {error}", plan["id"]));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.len(), list(&plan["steps"]).len(), "{}", plan["id"]);
        for step in list(&plan["steps"]) {
            let id = text(&step["id"]);
            assert!(same(&output[id], &step["response"]), "{}", plan["id"]);
            let (_, given) = calls
                .iter()
                .find(|(step, _)| step == id)
                .expect("each step was called");
            let mut expected = step["arguments"].clone();
            for recorded in list(&step["references"]) {
                let argument = text(&recorded["arg"]);
                resolved += usize::from(same(&given[argument], &recorded["resolved"]));
                expected[argument] = recorded["resolved"].clone();
            }
            assert!(
                same(given, &expected),
                "{} {id}: {given}, and not {expected}",
                plan["id"]
            );
        }
        count += 1;
        all += references;
    }
    crate::conformance::say(&format!(
        "complexfuncbench: {count} plans run, {resolved} of {all} references resolved to the recorded value"
    ));
    assert_eq!(resolved, all);
}
