//! Runs on Restate, in comparison with runs in one process.

use super::app::{self, App, Big, Bulky, Chain, Heap, Inner, Large, Nested, Saga, Waits, dag};
use super::support::{Balancer, Server, WorkerProcess, within};
use plan_restate::{Client, Error};
use serde_json::{Value, json};
use std::time::Duration;

/// A server with workers and a client.
pub(crate) struct Field {
    pub(crate) server: Server,
    pub(crate) workers: Vec<WorkerProcess>,
    pub(crate) balancer: Balancer,
    pub(crate) client: Client,
}

impl Field {
    pub(crate) fn new(name: &str, workers: usize, variables: &[(&str, &str)]) -> Option<Self> {
        let server = Server::temporary(name)?;
        let workers: Vec<WorkerProcess> = (0..workers)
            .map(|_| WorkerProcess::start("worker", variables))
            .collect();
        let addresses: Vec<_> = workers.iter().map(|worker| worker.address).collect();
        let balancer = Balancer::start(addresses);
        server.register(balancer.address);
        let client = Client::new(&format!("http://{}", server.ingress)).unwrap();
        Some(Self {
            server,
            workers,
            balancer,
            client,
        })
    }

    /// Returns the invocations that have not ended after some seconds.
    pub(crate) fn unfinished(&self) -> Vec<Value> {
        let query = "SELECT id, target, status, last_failure FROM sys_invocation WHERE status <> 'completed'";
        let mut rows = Vec::new();
        within(Duration::from_secs(20), || {
            rows = self.server.query(query);
            rows.is_empty()
        });
        rows
    }
}

pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Runtime::new().unwrap().block_on(future)
}

/// Returns the reason of a run's failure, without the undone steps.
pub(crate) fn why(error: &str) -> &str {
    error.split("; undone").next().unwrap_or(error)
}

fn sorted<T: AsRef<str>>(paths: &[T]) -> Vec<&str> {
    let mut paths: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
    paths.sort_unstable();
    paths
}

/// A report without its times.
pub(crate) fn timeless(mut report: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let times = [
                    "started_at",
                    "started_ms",
                    "duration_ms",
                    "critical_path",
                    "critical_path_ms",
                ];
                times.iter().for_each(|name| drop(members.remove(*name)));
                members.values_mut().for_each(walk);
            }
            Value::Array(elements) => elements.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut report);
    report
}

/// The output of a big plan, in one process.
pub(crate) async fn big_here(from: u64) -> Value {
    let app = App::silent();
    let run = Big { from }.run(&app).id("here");
    let signals = run.signals();
    signals.send("reply", 40).unwrap();
    run.await.unwrap()
}

#[test]
fn runs_give_what_they_give_in_one_process() {
    let Some(field) = Field::new("same", 2, &[]) else {
        return;
    };
    let (client, app, toolbox) = (&field.client, App::silent(), app::toolbox());
    block_on(async {
        // A plan with code, with its report.
        let (output, report) = Inner { from: 3 }
            .submit(client, "inner")
            .with_report()
            .await
            .unwrap();
        let (here, report_here) = Inner { from: 3 }.run(&app).with_report().await;
        assert_eq!(output.unwrap(), here.unwrap());
        let report_here = serde_json::to_value(report_here).unwrap();
        assert_eq!(timeless(report), timeless(report_here));

        // Everything.
        let big = Big { from: 1 }.submit(client, "big").send().await.unwrap();
        big.signal("reply", 40).await.unwrap();
        assert_eq!(big.output::<Value>().await.unwrap(), big_here(1).await);

        // A plan that comes as data.
        let plan = dag(50, 8);
        let here = toolbox.run(&plan, json!({"from": 2}), &app).await.unwrap();
        let run = toolbox.run(&plan, json!({"from": 2}), &app);
        assert_eq!(run.submit(client, "dag").await.unwrap(), here);

        // A failure, the undone steps, and the report.
        let (here, report_here) = Saga { from: 5 }.run(&app).id("saga").with_report().await;
        let here = here.unwrap_err();
        let (output, report) = Saga { from: 5 }
            .submit(client, "saga")
            .with_report()
            .await
            .unwrap();
        let failed = output.unwrap_err();
        // Steps are undone beside each other, and listed as they were.
        assert_eq!(why(&failed.message), why(&here.to_string()));
        assert_eq!(
            sorted(&failed.undone),
            sorted(&here.undone().collect::<Vec<_>>())
        );
        assert_eq!(failed.not_undone, here.not_undone().collect::<Vec<_>>());
        assert!(!failed.cancelled);
        let report_here = serde_json::to_value(report_here).unwrap();
        assert_eq!(timeless(report), timeless(report_here));
    });
    assert_eq!(field.unfinished(), Vec::<Value>::new());
    assert!(
        !field.server.log().contains("RT0016"),
        "{}",
        field.server.log()
    );
}

#[test]
fn a_run_is_known_by_its_id() {
    let Some(field) = Field::new("ids", 1, &[]) else {
        return;
    };
    let client = &field.client;
    block_on(async {
        let chain = || Chain { n: 3 };
        assert_eq!(chain().submit(client, "one").await.unwrap(), 6);
        assert_eq!(chain().submit(client, "one").await.unwrap(), 6);
        let error = Chain { n: 4 }.submit(client, "one").await.unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{error:?}");
        assert_eq!(
            error.to_string(),
            "run `one` already exists with other inputs; use a new ID"
        );
        let error = Inner { from: 3 }.submit(client, "one").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "run `one` already exists with another plan `chain`; use a new ID"
        );
        let error = client.run("two").output::<u64>().await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `two`");
        let admin = Client::new(&format!("http://{}", field.server.admin)).unwrap();
        let error = chain().submit(&admin, "one").await.unwrap_err().to_string();
        let admin = field.server.admin;
        assert!(
            error.starts_with(&format!(
                "Restate: its ingress does not answer at `http://{admin}`; "
            )),
            "{error}"
        );
        let error = client.run("one").output::<String>().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the output of run `one` does not fit: invalid type: integer `6`, expected a string at line 1 column 1"
        );
        // Any string is an ID.
        let id = "Ä/ö ?#%…";
        assert_eq!(chain().submit(client, id).await.unwrap(), 6);
        assert!(client.run(id).has_ended().await.unwrap());
    });
}

#[test]
fn whoever_waits_for_an_output_outlives_the_server() {
    let Some(mut field) = Field::new("cut", 1, &[]) else {
        return;
    };
    // It waits for longer than its patience before the server is away.
    let patience = Duration::from_secs(2);
    let client = field.client.clone().patience(patience);
    block_on(async {
        Waits { n: 1 }.submit(&client, "cut").send().await.unwrap();
        let waiting = client.clone();
        let waiting =
            tokio::spawn(async move { waiting.run("cut").output::<Vec<u64>>().await.unwrap() });
        tokio::time::sleep(patience * 2).await;
        field.server.kill();
        field.server.restart();
        let run = client.run("cut");
        run.signal("each[0].reply", 10).await.unwrap();
        run.signal("each[1].reply", 20).await.unwrap();
        run.signal("name", "Ada").await.unwrap();
        assert_eq!(waiting.await.unwrap(), [11, 22, 3]);
    });
}

#[test]
fn values_from_outside_are_checked() {
    let Some(field) = Field::new("signals", 1, &[]) else {
        return;
    };
    let client = &field.client;
    block_on(async {
        let error = client.run("none").signal("name", "Ada").await.unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{error:?}");

        let run = Waits { n: 1 }.submit(client, "waits").send().await.unwrap();
        assert!(!run.has_ended().await.unwrap());
        let error = run.signal("nam", "Ada").await.unwrap_err().to_string();
        assert_eq!(
            error,
            "no step of the run waits for a value at `nam` (`name` is similar)"
        );
        let error = run.signal("name", 5).await.unwrap_err().to_string();
        assert!(
            error.starts_with("the value for `name` has the wrong type: "),
            "{error}"
        );
        run.signal("name", "Ada").await.unwrap();
        let error = run.signal("name", "Bob").await.unwrap_err().to_string();
        assert_eq!(error, "step `name` has its value already");
        run.signal("each[1].reply", 20).await.unwrap();
        run.signal("each[0].reply", 10).await.unwrap();
        assert_eq!(run.output::<Vec<u64>>().await.unwrap(), [11, 22, 3]);
        let error = run.signal("name", "Eve").await.unwrap_err().to_string();
        assert_eq!(error, "run `waits` has ended");
    });
}

#[test]
fn a_run_that_is_cancelled_is_undone() {
    let Some(field) = Field::new("cancel", 1, &[]) else {
        return;
    };
    let client = &field.client;
    block_on(async {
        let error = client.run("none").cancel().await.unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{error:?}");
        // The run waits, and its completed work is recorded.
        let run = Waits { n: 1 }
            .submit(client, "by-client")
            .send()
            .await
            .unwrap();
        let held = "SELECT id FROM sys_invocation WHERE target_service_name = 'PlansSteps' AND status = 'completed'";
        assert!(within(Duration::from_secs(20), || field
            .server
            .query(held)
            .len()
            == 1));
        tokio::time::sleep(Duration::from_millis(300)).await;
        run.cancel().await.unwrap();
        let Err(Error::Failed(failed)) = run.output::<Vec<u64>>().await else {
            panic!("it was not cancelled");
        };
        assert!(failed.cancelled);
        assert_eq!(failed.undone, ["held"]);
        run.cancel().await.unwrap();

        // A cancellation in Restate itself has an equal effect.
        let run = Waits { n: 1 }
            .submit(client, "by-restate")
            .send()
            .await
            .unwrap();
        assert!(within(Duration::from_secs(20), || field
            .server
            .query(held)
            .len()
            == 3));
        tokio::time::sleep(Duration::from_millis(300)).await;
        let id = "SELECT id FROM sys_invocation WHERE target_service_key = 'by-restate'";
        let id = field.server.query(id)[0]["id"].as_str().unwrap().to_owned();
        let path = format!("/invocations/{id}/cancel");
        assert_eq!(field.server.administer("PATCH", &path, None).status, 202);
        let Err(Error::Failed(failed)) = run.output::<Vec<u64>>().await else {
            panic!("it was not cancelled");
        };
        assert!(failed.cancelled);
        assert_eq!(failed.undone, ["held"]);

        // A run that was killed in Restate is reported as killed.
        let run = Waits { n: 1 }
            .submit(client, "killed")
            .send()
            .await
            .unwrap();
        let id = "SELECT id FROM sys_invocation WHERE target_service_key = 'killed'";
        let id = field.server.query(id)[0]["id"].as_str().unwrap().to_owned();
        let path = format!("/invocations/{id}/kill");
        assert_eq!(field.server.administer("PATCH", &path, None).status, 200);
        let error = run.output::<Vec<u64>>().await.unwrap_err();
        assert_eq!(error.to_string(), "Restate has ended the run: killed");
    });
}

#[test]
fn what_is_too_large_is_an_error_of_the_step() {
    let Some(field) = Field::new("large", 1, &[]) else {
        return;
    };
    let client = &field.client;
    block_on(async {
        let bytes = 4 << 20;
        assert_eq!(Large { bytes }.submit(client, "fits").await.unwrap(), bytes);
        let bytes = 33 << 20;
        let error = Large { bytes }
            .submit(client, "large")
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("step `text` (fill): the output has 34603"),
            "{error}"
        );
        assert!(
            error.contains("a message of Restate has at most 32 MiB"),
            "{error}"
        );
        // Each quote takes four bytes in the stored decision.
        let quotes = 8 << 20;
        let bulky = Bulky { quotes }.submit(client, "bulky").await;
        let Err(Error::Failed(failed)) = bulky else {
            panic!("it is kept");
        };
        let message =
            "step `text`: what Rust code in the plan has made until the run waits has 33554";
        assert!(failed.message.contains(message), "{failed:?}");
        assert_eq!(failed.undone, ["held"]);
    });
    assert_eq!(field.unfinished(), Vec::<Value>::new());
}

#[test]
fn a_run_with_much_in_its_journal_goes_on() {
    // Few large outputs, and more small ones than a task of tokio may receive in one poll.
    for (name, sizes) in [("large", vec![2 << 20; 24]), ("many", vec![1; 300])] {
        let Some(mut field) = Field::new(name, 1, &[]) else {
            return;
        };
        let client = field.client.clone();
        let (calls, size) = (sizes.len(), sizes.iter().sum::<usize>());
        block_on(async {
            let run = Heap { sizes }.submit(&client, name).send().await.unwrap();
            let held = "SELECT id FROM sys_invocation WHERE target_service_name = 'PlansSteps' AND status = 'completed'";
            assert!(within(Duration::from_secs(60), || field
                .server
                .query(held)
                .len()
                == calls));
            // The next worker replays the run with all answers.
            field.workers[0].kill();
            field.workers[0].restart();
            run.signal("name", "Ada").await.unwrap();
            assert_eq!(run.output::<usize>().await.unwrap(), size + 3);
        });
    }
}

#[test]
fn an_output_that_is_too_deep_for_the_report_is_an_output() {
    let Some(field) = Field::new("deep", 1, &[("PLAN_RESTATE_CAPTURE", "1")]) else {
        return;
    };
    block_on(async {
        for (depth, has_report) in [(5, true), (126, false)] {
            let run = Nested { depth }.submit(&field.client, format!("nested-{depth}"));
            let (output, report) = run.with_report().await.unwrap();
            assert_eq!(output.unwrap().to_string().len(), 2 * depth);
            assert_eq!(report.is_object(), has_report, "{report}");
        }
    });
}

#[test]
fn a_run_ends_on_the_version_that_it_began_with() {
    let Some(mut field) = Field::new("versions", 1, &[]) else {
        return;
    };
    let other = WorkerProcess::start("worker", &[("PLAN_RESTATE_OTHER", "1")]);
    let (server, client) = (&field.server, &field.client);
    block_on(async {
        let old = Waits { n: 1 }.submit(client, "old").send().await.unwrap();
        let held = "SELECT id FROM sys_invocation WHERE target_service_name = 'PlansSteps' AND status = 'completed'";
        assert!(within(Duration::from_secs(20), || server.query(held).len() == 1));
        // With a new version at an address of its own, started runs continue at the old address.
        server.register(other.address);
        let new = Waits { n: 1 }.submit(client, "new").send().await.unwrap();
        new.signal("name", "Ada").await.unwrap();
        assert_eq!(new.output::<Vec<u64>>().await.unwrap(), [3, 3]);
        old.signal("each[0].reply", 10).await.unwrap();

        // A new version at the old address reports that it cannot resume the run, and no work is lost.
        field.workers[0].kill();
        field.balancer.set([other.address]);
        old.signal("each[1].reply", 20).await.unwrap();
        let failure = "SELECT last_failure FROM sys_invocation WHERE target_service_key = 'old'";
        let told = within(Duration::from_secs(20), || {
            let failure = server.query(failure);
            failure.iter().any(|row| {
                let failure = row["last_failure"].as_str().unwrap_or_default();
                failure.contains("run `old` was begun with another version of plan `waits`")
            })
        });
        assert!(told, "{:?}", server.query(failure));
        field.workers[0].restart();
        field.balancer.set([field.workers[0].address]);
        field.balancer.cut();
        old.signal("name", "Ada").await.unwrap();
        assert_eq!(old.output::<Vec<u64>>().await.unwrap(), [11, 22, 3]);
    });
}
