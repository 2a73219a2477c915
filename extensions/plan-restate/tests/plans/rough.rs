//! Many runs, long waits, odd names, deep values, and workers that stop.

use super::app::{self, App, Chain, Napping, Waits};
use super::runs::{Field, block_on};
use super::support::within;
use plan_restate::Error;
use plan_runtime::Plan;
use plan_runtime::plan::{Action, Output, Reference, Source, Step, Template};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn many_runs_are_under_way_together() {
    let Some(field) = Field::new("many", 2, &[]) else {
        return;
    };
    block_on(async {
        let runs = (0..200).map(|n| {
            let client = field.client.clone();
            tokio::spawn(async move { Chain { n }.submit(&client, format!("chain-{n}")).await })
        });
        for (n, run) in runs.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(run.await.unwrap().unwrap(), n as u64 + 3);
        }
    });
    assert_eq!(field.unfinished(), Vec::<Value>::new());
}

#[test]
fn a_run_that_was_suspended_goes_on() {
    let Some(mut field) = Field::new("naps", 1, &[]) else {
        return;
    };
    let client = field.client.clone();
    block_on(async {
        let run = Napping { time: "14s".into() }
            .submit(&client, "nap")
            .send()
            .await
            .unwrap();
        let suspended = "SELECT id FROM sys_invocation WHERE target_service_key = 'nap' AND status = 'suspended'";
        assert!(within(Duration::from_secs(30), || field
            .server
            .query(suspended)
            .len()
            == 1));
        // Nobody runs it now.
        field.workers[0].kill();
        field.workers[0].restart();
        assert_eq!(run.output::<u64>().await.unwrap(), 2);
    });
}

#[test]
fn a_step_of_any_name_gives_any_value() {
    let Some(field) = Field::new("odd", 1, &[]) else {
        return;
    };
    let (app, toolbox) = (App::silent(), app::toolbox());
    let mut plan = Plan::new("odd \"plan\"\n");
    let mut deep = Template::Null;
    for _ in 0..120 {
        deep = Template::from(vec![deep]);
    }
    for name in ["a.b", "a b", "\"", "a/b[0]", "ä\u{202e}ö\n"] {
        let mut value: Template =
            Reference::new(Source::Step(plan.steps.len().saturating_sub(1))).into();
        if plan.steps.is_empty() {
            value = deep.clone();
        }
        let action = Action::call("echo", Template::object([("value", value)]));
        plan.steps.push(Step::new(name, action));
    }
    plan.output = Output::new(Reference::new(Source::Step(4)));
    block_on(async {
        let here = toolbox.run(&plan, (), &app).await.unwrap();
        let there = toolbox
            .run(&plan, (), &app)
            .submit(&field.client, "odd")
            .await
            .unwrap();
        assert_eq!(there, here);
        // Any string is an ID.
        for id in [
            "x".repeat(2000),
            " ".to_owned(),
            "..".to_owned(),
            String::new(),
        ] {
            assert_eq!(Chain { n: 1 }.submit(&field.client, id).await.unwrap(), 4);
        }
    });
}

#[test]
fn of_two_values_at_the_same_time_one_is_taken() {
    let Some(field) = Field::new("two", 2, &[]) else {
        return;
    };
    let client = &field.client;
    block_on(async {
        for number in 0..10 {
            let run = Waits { n: 1 }
                .submit(client, format!("waits-{number}"))
                .send()
                .await
                .unwrap();
            let (first, second) =
                tokio::join!(run.signal("name", "Ada"), run.signal("name", "Barbara"));
            assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
            run.signal("each[0].reply", 10).await.unwrap();
            run.signal("each[1].reply", 20).await.unwrap();
            let length = if first.is_ok() { 3 } else { 7 };
            assert_eq!(run.output::<Vec<u64>>().await.unwrap(), [11, 22, length]);
        }
        // One that is cancelled before it has begun, maybe.
        for number in 0..10 {
            let run = Waits { n: 1 }
                .submit(client, format!("cancelled-{number}"))
                .send()
                .await
                .unwrap();
            run.cancel().await.unwrap();
            let Err(Error::Failed(failed)) = run.output::<Vec<u64>>().await else {
                panic!("it was not cancelled");
            };
            assert!(failed.cancelled, "{failed:?}");
            assert_eq!(failed.not_undone, Vec::<String>::new());
        }
    });
    assert_eq!(field.unfinished(), Vec::<Value>::new());
}

#[test]
fn a_plan_that_a_worker_cannot_run_fails_before_it_starts() {
    let Some(field) = Field::new("lacks", 1, &[("PLAN_RESTATE_OTHER", "1")]) else {
        return;
    };
    let (app, toolbox) = (App::silent(), app::toolbox());
    let plan = app::dag(8, 4);
    block_on(async {
        let run = toolbox.run(&plan, json!({"from": 1}), &app);
        let error = run.submit(&field.client, "dag").await.unwrap_err();
        let message = "plan `dag` cannot start: the toolbox has no tool `sum`, which steps `s4`, `s5`, `s6` and 1 more call";
        assert_eq!(error.to_string(), message);
        // With Rust code, it waits for a worker that has the plan.
        let run = Chain { n: 1 }
            .submit(&field.client, "chain")
            .send()
            .await
            .unwrap();
        let failure = "SELECT last_failure FROM sys_invocation WHERE target_service_key = 'chain'";
        let told = within(Duration::from_secs(20), || {
            field.server.query(failure).iter().any(|row| {
                let failure = row["last_failure"].as_str().unwrap_or_default();
                failure.contains("`sum`") || failure.contains("`chain`")
            })
        });
        assert!(
            told || run.has_ended().await.unwrap(),
            "{:?}",
            field.server.query(failure)
        );
    });
}

#[test]
fn a_worker_that_is_asked_to_stop_ends_its_calls() {
    let Some(mut field) = Field::new("sigterm", 2, &[]) else {
        return;
    };
    let client = field.client.clone();
    block_on(async {
        let run = Napping { time: "1s".into() }
            .submit(&client, "nap")
            .send()
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        for worker in &mut field.workers {
            worker.terminate();
            worker.restart();
        }
        assert_eq!(run.output::<u64>().await.unwrap(), 2);
    });
}
