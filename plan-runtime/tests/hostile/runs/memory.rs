//! The memory of plans and of their runs, without the allocator's own.

use super::{ended, plan, step, tools};
use allocation_counter::measure;
use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::run::Limits;
use plan_runtime::{Error, Plan};
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
    assert!(of_plan.bytes_max < 275 * STEPS, "{of_plan:?}");
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

/// Returns the most bytes of a run.
fn most(plan: &Plan, tools: &Toolbox<()>) -> u64 {
    measure(|| drop(ended(tools.run(plan, (), &()), Limits::DEFAULT))).bytes_max
}

/// A failure that is recovered, or that another attempt follows, is forgotten.
#[test]
fn a_run_keeps_no_failure_that_no_longer_counts() {
    let of_rounds = |rounds: u32| {
        let fails = json!({"id": "x", "tool": {"name": "fail"}, "policy": {"optional": "whole"}});
        let plan = plan(json!([{
            "id": "many",
            "loop": {"steps": [fails], "value": step("x"), "while": true},
            "policy": {"at_most": rounds, "optional": "whole"},
        }]));
        most(&plan, &tools())
    };
    let of_attempts = |attempts: u32| {
        let tools = tools().with_fn(Contract::new("busy"), |_| async {
            Err(Error::msg("not yet"))
        });
        let policy = json!({"attempts": attempts, "backoff": "0s", "optional": "whole"});
        let plan = plan(json!([{"id": "s", "tool": {"name": "busy"}, "policy": policy}]));
        most(&plan, &tools)
    };
    let of_elements = |elements: u32| {
        let tools = tools();
        let list =
            json!({"id": "t", "tool": {"name": "list"}, "arguments": {"object": {"n": elements}}});
        let inner = json!({"steps": [{"id": "x", "tool": {"name": "fail"}, "policy": {"optional": "whole"}}], "value": null});
        let plan = plan(json!([list, {
            "id": "s",
            "for": {"pattern": "x", "list": step("t"), "body": {"block": inner}},
            "policy": {"concurrency": 1},
        }]));
        most(&plan, &tools)
    };
    for (rounds, of) in [
        (10_000, &of_rounds as &dyn Fn(u32) -> u64),
        (10_000, &of_attempts),
    ] {
        let (few, many) = (of(100), of(rounds));
        assert!(many < few + few / 2, "{few} bytes became {many}");
    }
    // The list itself grows.
    let (few, many) = (of_elements(1_000), of_elements(2_000));
    assert!(many - few < 1_000 * 150, "{few} bytes became {many}");
}
