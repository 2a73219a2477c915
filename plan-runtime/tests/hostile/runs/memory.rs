//! The memory of plans and of their runs, without the allocator's own.

use super::{ended, plan, step, tools};
use allocation_counter::measure;
use plan_runtime::dynamic::Reader;
use plan_runtime::run::Limits;
use serde_json::{Value, json};
use std::env;
use std::process::Command;

/// The first run of a plan also makes the tables of the plan.
#[test]
fn a_step_takes_a_few_hundred_bytes() {
    const STEPS: u64 = 10_000;
    const ALONE: &str = "PLAN_TEST_ALONE";
    if env::var_os(ALONE).is_none() {
        // A subscriber of another test makes all runs of the process trace their steps.
        let name = "hostile::runs::memory::a_step_takes_a_few_hundred_bytes";
        let mut alone = Command::new(env::current_exe().unwrap());
        let alone = alone.args(["--exact", name]).env(ALONE, "1");
        assert!(alone.status().unwrap().success());
        return;
    }
    let mut text = r#"{"steps": [{"id": "s0", "tool": "list", "arguments": {}}"#.to_owned();
    for step in 1..STEPS {
        let before = step - 1;
        text += &format!(
            r#", {{"id": "s{step}", "tool": "list", "arguments": {{"a": "$ref:s{before}"}}}}"#
        );
    }
    text += r#"], "output_steps": ["s0"]}"#;
    let document = Reader::new().read(&text).unwrap();
    let mut copy = None;
    let of_plan = measure(|| copy = Some(document.plan().clone()));
    assert!(of_plan.bytes_max < 300 * STEPS, "{of_plan:?}");
    let tools = tools();
    let mut result = None;
    let of_run = measure(|| result = Some(ended(tools.run(&document, (), &()), Limits::DEFAULT)));
    assert!(result.unwrap().is_ok());
    assert!(of_run.bytes_max < 150 * STEPS, "{of_run:?}");
}

/// The results that an always step sees take memory for each step once.
#[test]
fn an_always_step_sees_many_results() {
    let bytes = |count: usize| {
        let ids = || (0..count).map(|place| format!("s{place}"));
        let call = |id, arguments: Value| json!({"id": id, "tool": {"name": "list"}, "arguments": {"object": arguments}});
        let mut steps: Vec<Value> = ids().map(|id| call(id, json!({}))).collect();
        let all: Vec<Value> = ids().map(|id| step(&id)).collect();
        let mut last = call("last".to_owned(), json!({"all": all}));
        last["always"] = true.into();
        steps.push(last);
        let (plan, tools) = (plan(json!(steps)), tools());
        measure(|| assert!(ended(tools.run(&plan, (), &()), Limits::DEFAULT).is_ok())).bytes_total
    };
    let (few, many) = (bytes(4_000), bytes(8_000));
    assert!(many < few * 5 / 2, "{few} and {many} bytes");
}
