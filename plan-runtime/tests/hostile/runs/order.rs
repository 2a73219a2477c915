//! The named failure among several, which does not depend on their order in time.

use super::plan;
use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::run::{ManualTimer, OnFailure, Timer};
use plan_runtime::{Error, Plan};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// `fail` fails after the time in each call.
fn tools(timer: &ManualTimer) -> Toolbox<()> {
    let timer = Arc::new(timer.clone());
    Toolbox::new().with_fn(Contract::new("fail"), move |given: Value| {
        let timer = Arc::clone(&timer);
        async move {
            let after = given["after"].as_u64().unwrap_or(0);
            timer.sleep(Duration::from_millis(after)).await;
            Err(Error::msg(format!("no {}", given["name"])))
        }
    })
}

fn call(name: &Value, after: &Value) -> Value {
    json!({"tool": {"name": "fail"}, "arguments": {"object": {"name": name, "after": after}}})
}

fn local(pointer: &str) -> Value {
    json!({"reference": {"local": 0, "pointer": pointer}})
}

/// The report of a plan whose calls take these times.
fn said(plan: &Plan) -> String {
    let timer = ManualTimer::new();
    let tools = tools(&timer);
    let run = tools
        .run(plan, (), &())
        .timer(timer.clone())
        .on_failure(OnFailure::Continue);
    let (result, report) = smol::block_on(timer.skip_waits(run.with_report()));
    let steps: Vec<String> = report
        .steps()
        .iter()
        .map(|step| format!("{}{:?} {}", step.id(), step.element(), step.status()))
        .collect();
    let error = result
        .as_ref()
        .map_or_else(|error| format!("{error:?}"), Value::to_string);
    format!("{error}\n{}", steps.join("\n"))
}

fn elements(times: &[u64], policy: Value) -> Plan {
    let items: Vec<Value> = times
        .iter()
        .enumerate()
        .map(|(index, time)| json!({"object": {"name": index, "after": time}}))
        .collect();
    let body = call(&local("/name"), &local("/after"));
    plan(
        json!([{"id": "s", "for": {"pattern": "x", "list": items, "body": body}, "policy": policy}]),
    )
}

#[test]
fn the_first_element_of_the_list_is_named() {
    for policy in [
        json!({}),
        json!({"optional": "each"}),
        json!({"optional": "whole"}),
        json!({"attempts": 2, "backoff": "1ms", "jitter": false}),
    ] {
        let expected = said(&elements(&[1, 2, 3], policy.clone()));
        assert!(expected.contains("s[0] "), "{expected}");
        for times in [[3, 2, 1], [2, 1, 3], [3, 1, 1]] {
            assert_eq!(
                said(&elements(&times, policy.clone())),
                expected,
                "{times:?}"
            );
        }
    }
}

#[test]
fn an_element_that_waits_for_another_attempt_has_failed_too() {
    // The first fails immediately and waits for an hour; meanwhile the second fails for good.
    let items = json!([{"object": {"name": 0, "after": 0}}, {"object": {"name": 1, "after": 5}}]);
    let body = call(&local("/name"), &local("/after"));
    let policy = json!({"attempts": 2, "backoff": "1h", "jitter": false, "timeout": "3ms", "deadline": "4ms"});
    let plan = plan(
        json!([{"id": "s", "for": {"pattern": "x", "list": items, "body": body}, "policy": policy}]),
    );
    assert!(
        said(&plan).contains("step `s[0]` (fail): no 0"),
        "{}",
        said(&plan)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn times_do_not_change_what_is_said(
        needs in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 1..12),
        lists in prop::collection::vec(1..4_usize, 12),
        fails in prop::collection::vec(any::<bool>(), 12),
        times in prop::array::uniform2(prop::collection::vec(0..5_u64, 48)),
    ) {
        let build = |times: &[u64]| {
            let steps = needs.iter().enumerate().map(|(step, needs)| {
                let after: Vec<String> = match step {
                    0 => vec![],
                    _ => needs.iter().map(|need| format!("s{}", need.index(step))).collect(),
                };
                if !fails[step] {
                    return json!({"id": format!("s{step}"), "value": 1, "after": after});
                }
                let items: Vec<Value> = (0..lists[step])
                    .map(|index| json!({"object": {"name": index, "after": times[step * 4 + index]}}))
                    .collect();
                let body = call(&local("/name"), &local("/after"));
                json!({"id": format!("s{step}"), "after": after, "for": {"pattern": "x", "list": items, "body": body}})
            });
            plan(steps.collect())
        };
        prop_assert_eq!(said(&build(&times[0])), said(&build(&times[1])));
    }
}
