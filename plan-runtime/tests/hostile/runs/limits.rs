//! Values that double, and runs that hold more and more.

use super::{ended, plan, read, step, tools};
use allocation_counter::measure;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::Memory;
use plan_runtime::resolve::ErrorKind;
use plan_runtime::run::{Limits, OnFailure, RunErrorKind, StepError};
use plan_runtime::{Plan, Result, RunError, Shape, tool};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

fn value(bytes: usize) -> Limits {
    Limits::DEFAULT.value(bytes)
}

fn total(bytes: usize) -> Limits {
    Limits::DEFAULT.total(bytes)
}

/// Runs a plan, and returns its end and its peak memory.
fn measured(plan: &Plan, limits: Limits) -> (Result<Value, RunError>, usize) {
    let tools = tools();
    let mut result = Ok(Value::Null);
    let memory = measure(|| result = ended(tools.run(plan, (), &()), limits));
    (result, usize::try_from(memory.bytes_max).unwrap())
}

/// Returns the only failure of a plan under limits: its message, which names a step, and its kind.
fn failure(plan: &Plan, limits: Limits) -> String {
    let (result, memory) = measured(plan, limits);
    let error = result.unwrap_err();
    assert!(!error.is_transient(), "another try would not help");
    let allowed = limits.value.min(limits.total);
    assert!(
        memory < 8 * allowed + 256 * KIB,
        "{memory} bytes for {limits:?}"
    );
    let [failure] = error.failures() else {
        panic!("{error}")
    };
    assert_eq!(error.kind(), RunErrorKind::Limit);
    let StepError::Limit(cause) = failure.error() else {
        panic!("{error}")
    };
    assert_eq!(cause.kind(), ErrorKind::Limit);
    failure.to_string()
}

/// Returns a plan whose steps each contain the previous string twice.
fn doubling(steps: usize) -> Plan {
    let mut all = vec![json!({"id": "s0", "value": "lol"})];
    for i in 1..steps {
        let last = json!({"value": step(&format!("s{}", i - 1))});
        all.push(json!({"id": format!("s{i}"), "value": {"text": [last, last]}}));
    }
    plan(json!(all))
}

const TOO_LARGE: &str =
    "the run's limit for one value; read less of it, or raise `run::Limits::value`";

#[test]
fn texts_that_double() {
    let plan = doubling(30);
    assert_eq!(
        failure(&plan, value(MIB)).split(" (this").next().unwrap(),
        format!("step `s19`: the value would take more than 1 MiB, {TOO_LARGE}")
    );
    let (result, memory) = measured(&plan, Limits::default());
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains(": the value would take more than 128 MiB, "),
        "{error}"
    );
    assert!(memory < 1024 * MIB, "{memory}");
}

#[test]
fn objects_that_double() {
    let mut steps = vec![json!({"id": "s0", "tool": "echo", "arguments": {"x": 1}})];
    for i in 1..30 {
        let last = format!("{{{{s{}.result}}}}", i - 1);
        steps.push(
            json!({"id": format!("s{i}"), "tool": "echo", "arguments": {"a": last, "b": last}}),
        );
    }
    let plan = read(&json!(steps).to_string());
    let error = failure(&plan, value(MIB));
    assert!(
        error.starts_with("step `s10` (echo): argument `b."),
        "{error}"
    );
    assert!(error.contains(TOO_LARGE), "{error}");
    let (result, memory) = measured(&plan, Limits::default());
    assert!(result.is_err());
    assert!(memory < 1024 * MIB, "{memory}");
}

#[test]
fn every_value_of_a_run_has_the_limit() {
    let list = json!({"id": "l", "tool": {"name": "list"}, "arguments": {"object": {"n": 100}}});
    let twice = json!([step("l"), step("l")]);
    let cases = [
        (
            "arguments",
            json!({"tool": {"name": "echo"}, "arguments": {"object": {"x": twice}}}),
            "step `s` (echo): argument `x[1]",
        ),
        (
            "computed",
            json!({"value": twice}),
            "step `s`: argument `[1]",
        ),
        (
            "text",
            json!({"value": {"text": [{"value": twice}, {"value": twice}]}}),
            "step `s`: argument `[1]",
        ),
        (
            "list",
            json!({"for": {"pattern": "x", "list": twice, "body": {"tool": {"name": "echo"}}}}),
            "step `s` (echo): argument `[1]",
        ),
        (
            "condition",
            json!({"if": [{"pattern": "Some(x)", "value": twice, "then": {"tool": {"name": "echo"}}}]}),
            "step `s` (echo): argument `[1]",
        ),
        (
            "fallback",
            json!({"tool": {"name": "fail"}, "policy": {"fallback": twice}}),
            "step `s` (fail): its fallback: argument `[1]",
        ),
    ];
    for (what, mut made, expected) in cases {
        made["id"] = json!("s");
        let plan = plan(json!([list, made]));
        let error = failure(&plan, value(5 * KIB));
        assert!(error.starts_with(expected), "{what}: {error}");
        assert!(error.contains("5 KiB"), "{what}: {error}");
        assert!(
            ended(tools().run(&plan, (), &()), value(20 * KIB)).is_ok(),
            "{what}"
        );
    }
}

#[test]
fn the_output_of_a_plan_has_the_limit() {
    let twice = json!([step("l"), step("l")]);
    let text = json!({"name": "p", "steps": [
        {"id": "l", "tool": {"name": "list"}, "arguments": {"object": {"n": 100}}},
    ], "output": {"value": twice}});
    let plan = read(&text.to_string());
    let error = ended(tools().run(&plan, (), &()), value(5 * KIB)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("plan `p` was ended: its output: argument `[1]"),
        "{error}"
    );
    assert!(error.to_string().contains("more than 5 KiB"), "{error}");
}

#[test]
fn outputs_of_tools_have_the_limit() {
    let call =
        json!([{"id": "t", "tool": {"name": "text"}, "arguments": {"object": {"n": 10_000}}}]);
    assert_eq!(
        failure(&plan(call), value(8 * KIB)),
        format!("step `t` (text): its output: the value would take more than 8 KiB, {TOO_LARGE}")
    );
}

/// Writes numbers for as long as somebody takes them.
#[derive(Deserialize, Shape)]
struct Endless {}

impl Serialize for Endless {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(0_u64..)
    }
}

#[tool]
async fn count() -> Result<Endless> {
    Ok(Endless {})
}

/// A tool whose message never ends.
#[derive(Deserialize, Shape)]
struct Chatter {}

impl std::fmt::Display for Chatter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        loop {
            f.write_str("and ")?;
        }
    }
}

impl Serialize for Chatter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[tool]
async fn chat() -> Result<Chatter> {
    Ok(Chatter {})
}

#[test]
fn an_output_without_an_end_is_cut_while_it_is_written() {
    let tools = Toolbox::<()>::new().with::<Count>().with::<Chat>();
    for tool in ["count", "chat"] {
        let plan = plan(json!([{"id": "s", "tool": {"name": tool}}]));
        let mut result = Ok(Value::Null);
        let memory = measure(|| result = ended(tools.run(&plan, (), &()), value(MIB)));
        let error = result.unwrap_err().to_string();
        assert!(error.contains("would take more than 1 MiB"), "{error}");
        assert!(memory.bytes_max < 8 << 20, "{}", memory.bytes_max);
    }
}

#[test]
fn what_a_run_keeps_is_limited_together() {
    let mut steps: Vec<Value> = (0..100)
        .map(|i| json!({"id": format!("s{i}"), "tool": {"name": "text"}, "arguments": {"object": {"n": 10_000}}}))
        .collect();
    let reads: Vec<Value> = (0..100).map(|i| step(&format!("s{i}"))).collect();
    let read = json!({"reference": {"step": "s0", "pointer": ""}});
    steps.push(json!({"id": "last", "tool": {"name": "echo"}, "after": (0..100).map(|i| format!("s{i}")).collect::<Vec<_>>(),
        "arguments": {"object": {"x": reads, "y": read}}}));
    let plan = plan(json!(steps));
    let error = ended(tools().run(&plan, (), &()), total(500_000))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("with this value, the run would hold more than 500000 bytes, its limit; run fewer calls concurrently, read less, or raise `run::Limits::total`"),
        "{error}"
    );
    assert!(ended(tools().run(&plan, (), &()), total(4_000_000)).is_ok());
}

#[test]
fn what_is_not_read_any_more_is_not_counted() {
    let mut steps =
        vec![json!({"id": "s0", "tool": {"name": "text"}, "arguments": {"object": {"n": 10_000}}})];
    for i in 1..200 {
        let last = step(&format!("s{}", i - 1));
        steps.push(json!({"id": format!("s{i}"), "tool": {"name": "echo"}, "arguments": {"object": {"x": last["nothing"], "y": {"text": ["", {"value": {"reference": {"step": format!("s{}", i - 1), "pointer": if i == 1 { "" } else { "/y" }}}}]}}}}));
    }
    let plan = plan(json!(steps));
    let result = ended(tools().run(&plan, (), &()), total(50_000));
    assert!(result.is_ok(), "{result:?}");
}

#[test]
fn what_calls_were_given_is_counted_while_they_run() {
    let steps = json!([
        {"id": "t", "tool": {"name": "text"}, "arguments": {"object": {"n": 10_000}}},
        {"id": "l", "tool": {"name": "list"}, "arguments": {"object": {"n": 60}}},
        {"id": "s", "for": {"pattern": "x", "list": step("l"), "body":
            {"tool": {"name": "hang"}, "arguments": {"object": {"x": step("t")}}}}},
    ]);
    let plan = plan(steps);
    let tools = tools();
    let run = tools
        .run(&plan, (), &())
        .limits(total(300_000))
        .on_failure(OnFailure::Cancel);
    let error = smol::block_on(run).unwrap_err().to_string();
    assert!(
        error.contains("the run would hold more than 300000 bytes"),
        "{error}"
    );
}

#[test]
fn lists_in_lists_without_a_call_are_limited() {
    let ten = json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut body = json!({"if": [{"condition": false, "then": {"tool": {"name": "echo"}}}]});
    for _ in 0..9 {
        body = json!({"for": {"pattern": "x", "list": ten, "body": body}});
    }
    body["id"] = json!("s");
    let error = failure(&plan(json!([body])), total(MIB));
    assert!(
        error.contains("the run would hold more than 1 MiB"),
        "{error}"
    );
}

#[test]
fn what_is_kept_for_the_report_is_counted() {
    let broken = json!([{"id": "s", "tool": {"name": "fail_again"}, "policy": {"attempts": 4_000_000_000_u64, "backoff": "0s"}}]);
    let tools = tools().with_fn(
        plan_runtime::dynamic::Contract::new("fail_again"),
        |_| async { Err(plan_runtime::Error::msg("not yet")) },
    );
    let plan = plan(broken);
    let (result, report) =
        smol::block_on(tools.run(&plan, (), &()).limits(total(MIB)).with_report());
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("the run would hold more than 1 MiB"),
        "{error}"
    );
    assert!(report.step("s").unwrap().attempts().len() > 1000);
}

#[test]
fn limits_do_not_touch_what_is_below_them() {
    let plan = doubling(12);
    let exact = 3 * (1 << 11) + 2 * 32;
    let result = ended(tools().run(&plan, (), &()), value(exact + 200));
    assert!(result.is_ok(), "{result:?}");
    let result = ended(tools().run(&plan, (), &()), value(3 * (1 << 11) - 1));
    assert!(result.is_err());
}

/// A loop of many rounds takes as much memory as one of a few.
#[test]
fn a_loop_keeps_nothing_of_its_rounds() {
    let memory = |rounds: u32| {
        let call = json!({"id": "x", "tool": {"name": "echo"}, "arguments": {"object": {"n": 1}}});
        let plan = plan(json!([{
            "id": "many",
            "loop": {"steps": [call], "value": step("x"), "while": true},
            "policy": {"at_most": rounds},
        }]));
        let (result, memory) = measured(&plan, Limits::DEFAULT);
        assert!(
            result
                .unwrap_err()
                .to_string()
                .contains(&rounds.to_string())
        );
        memory
    };
    let (few, many) = (memory(10), memory(10_000));
    assert!(many < few + few / 2, "{few} bytes became {many}");
}

/// The records of a step with any name count before and after a crash. Notes about ends never count.
#[test]
fn records_count_alike_before_and_after_a_crash() {
    for id in [
        "x!failed",
        "x!undone",
        "x!made_up[0]@1",
        "x\"!failed",
        "plain",
    ] {
        let made = |id: &str| json!({"id": id, "tool": {"name": "text"}, "arguments": {"object": {"n": 10_000}}});
        let after = |mut step: Value, before: &str| {
            step["after"] = json!([before]);
            step
        };
        let hangs = json!({"id": "wait", "tool": {"name": "hang"}, "arguments": {"object": {}}});
        let limit = Limits::DEFAULT.recorded(15_000);
        let journal = Memory::new();
        let first = plan(json!([made(id), after(hangs.clone(), id)]));
        let tools = tools();
        let run = tools
            .run(&first, (), &())
            .limits(limit)
            .durable(&journal, "r");
        assert!(smol::block_on(smol::future::poll_once(run)).is_none());
        let second = plan(json!([
            made(id),
            after(made("next"), id),
            after(hangs, "next")
        ]));
        let run = tools
            .run(&second, (), &())
            .limits(limit)
            .durable(&journal, "r");
        let ended = smol::block_on(smol::future::or(async { Some(run.await) }, async {
            for _ in 0..100 {
                smol::future::yield_now().await;
            }
            None
        }));
        let error = ended.expect(id).unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::Limit, "{id}: {error}");
    }
}
