//! Runs that the machine decides, beside runs of the scheduler: the same calls at the same times, and the same endings.

use super::stage::{End, Stage, act, ending, list, of, plan, step, string};
use plan_runtime::Run;
use plan_runtime::journal::Memory;
use plan_runtime::plan::{Plan, Role, Source, Template};
use plan_runtime::run::Throttle;
use serde_json::Value;

/// Returns the calls and the ending of a run by the scheduler, and of a run by the machine.
fn both(
    stage: impl Fn() -> Stage,
    plan: &Plan,
    set: impl Fn(Run<'_, Stage, Value>) -> Run<'_, Stage, Value>,
) -> [(String, String); 2] {
    [false, true].map(|is_driven| {
        let stage = stage();
        let run = set(stage.run::<Value>(plan));
        let result = if is_driven {
            stage.play(run.driven())
        } else {
            stage.play(run)
        };
        (stage.log(), ending(&result))
    })
}

fn output(step: usize) -> Template {
    of(Source::Step(step), vec![], "step")
}

/// A step that undoes the first step, and reads its output.
fn undo(key: &str) -> plan_runtime::plan::Step {
    let mut undo = step("back", act(list(vec![string(key), output(0)])), &[]);
    undo.role = Role::Undo(0);
    undo
}

#[test]
fn a_call_that_succeeds_after_a_failure_has_read_its_values_once() {
    let parcel = act(list(vec![string("parcel"), output(0)]));
    let mut plan = plan(vec![
        step("payment", act(string("payment")), &[]),
        step("parcel", parcel, &[]),
        step("mail", act(string("mail")), &[]),
        undo("back"),
    ]);
    plan.output.value = Template::Null;
    let stage = || {
        Stage::default()
            .with("mail", &[(20, End::Permanent)])
            .with(r#"["parcel","payment"]"#, &[(60, End::Ok)])
    };
    let [scheduled, driven] = both(stage, &plan, |run| run);
    assert_eq!(driven, scheduled);
    assert_eq!(
        driven.0,
        r#"payment@0 mail@0 ["parcel","payment"]@10 ["back","payment"]@70"#
    );
}

#[test]
fn a_driven_run_refuses_options_that_it_would_ignore() {
    let plan = plan(vec![step("a", act(string("a")), &[])]);
    let stage = Stage::default();
    let journal = Memory::new();
    let throttle = Throttle::new().concurrency("act", 1);
    let run = || stage.run::<Value>(&plan);
    let runs = [
        ("only", run().only(["act"])),
        ("throttle", run().throttle(&throttle)),
        ("durable", run().durable(&journal, "run")),
    ];
    for (name, run) in runs {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.driven()));
        let message = panic.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(
            *message,
            format!("a driven run has no `{name}`: remove the call of `Run::{name}`")
        );
    }
}
