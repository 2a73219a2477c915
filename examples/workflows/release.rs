//! Continuous integration: a commit is built and tested for each system with each toolchain. If all tests pass and someone approves, the binaries are
//! published. The commit gets its status in any case.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use std::time::Duration;
use support::{TokioTimer, World, show};
use tokio::sync::oneshot;
use tokio::time::sleep;

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Binary {
    name: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Approval {
    granted: bool,
}

/// Builds a commit.
#[tool]
async fn build(world: &World, commit: String, system: String, toolchain: String) -> Result<Binary> {
    let name = format!("{commit}-{system}-{toolchain}");
    world.call(format!("build {name}")).await?;
    Ok(Binary { name })
}

/// Tests a binary.
#[tool]
async fn test_binary(world: &World, name: String) -> Result<()> {
    world.call(format!("test {name}")).await
}

/// Asks someone for an approval, which comes later.
#[tool]
async fn ask_for_approval(world: &World, commit: String, binaries: usize) -> Result<()> {
    world
        .call(format!("may {binaries} binaries of {commit} be published?"))
        .await
}

/// Publishes binaries, and returns the address.
#[tool]
async fn publish(world: &World, binaries: Vec<Binary>) -> Result<String> {
    world.call(format!("publish {}", binaries.len())).await?;
    Ok("https://example.org/releases/1".into())
}

/// Shows the outcome next to the commit.
#[tool]
async fn set_status(world: &World, commit: String, ok: bool, why: Option<String>) -> Result<()> {
    let why = why.unwrap_or_default();
    world.call(format!("status of {commit}: {ok} {why}")).await
}

plan! {
    /// Builds, tests and publishes a commit.
    Release(commit: String, systems: Vec<String>, toolchains: Vec<String>, patience: Duration)
        -> Option<String>
    {
        step cells: Vec<(String, String)> = matrix(&systems, &toolchains);
        #[concurrency(4)]
        step binaries = for (system, toolchain) in cells {
            #[retry(2)] #[timeout("30m")]
            step binary = Build { commit, system, toolchain };
            #[timeout("10m")]
            step tested = TestBinary { name: binary.name };
            binary
        };
        step asked = AskForApproval { commit, binaries: binaries.len() };
        #[after(asked)] #[timeout(patience)]
        step approval: Approval = await;
        step published = if approval.granted { Publish { binaries } };
        #[always] #[retry(5)]
        step shown = SetStatus { commit, ok: published.is_ok(), why: published.err()?.code };
        published
    }
}

fn matrix(systems: &[String], toolchains: &[String]) -> Vec<(String, String)> {
    let of = |system: &String| {
        let cells = toolchains.iter().map(|it| (system.clone(), it.clone()));
        cells.collect::<Vec<_>>()
    };
    systems.iter().flat_map(of).collect()
}

mod by_hand {
    use super::support::by_hand::{all_or_nothing, attempts};
    use super::*;
    use backon::Retryable;
    use futures_util::future::ready;
    use futures_util::{StreamExt, stream};
    use plan_runtime::Error;
    use std::cell::Cell;
    use tokio::time::timeout;

    pub(crate) async fn release(
        world: &World,
        commit: String,
        cells: Vec<(String, String)>,
        patience: Duration,
        answer: oneshot::Receiver<Approval>,
        stopped: impl Future<Output = Error>,
    ) -> Result<Option<String>> {
        all_or_nothing(
            stopped,
            async |_| {
                let binaries = binaries(world, &commit, cells).await?;
                ask_for_approval(world, commit.clone(), binaries.len()).await?;
                let approval = limited(patience, async {
                    answer.await.map_err(|_| Error::permanent("nobody answers"))
                });
                match approval.await? {
                    Approval { granted: true } => Ok(Some(publish(world, binaries).await?)),
                    _ => Ok(None),
                }
            },
            async |published| {
                let why = published.as_ref().err();
                let why = why.map(|why| why.code().unwrap_or("FAILED").to_owned());
                let show = || set_status(world, commit.clone(), published.is_ok(), why.clone());
                let shown = show.retry(attempts(5)).when(Error::is_transient);
                // The release has ended, even if the status cannot be shown.
                shown.await.ok();
            },
        )
        .await
    }

    async fn binaries(
        world: &World,
        commit: &str,
        cells: Vec<(String, String)>,
    ) -> Result<Vec<Binary>> {
        let failed = Cell::new(false);
        let binaries = stream::iter(cells.into_iter().enumerate())
            // After a failure, no further cell starts, and the started cells run to their end.
            .take_while(|_| ready(!failed.get()))
            .map(async |(index, (system, toolchain))| {
                let binary = one(world, commit, system, toolchain).await;
                failed.set(failed.get() || binary.is_err());
                (index, binary)
            })
            .buffer_unordered(4);
        let mut binaries: Vec<_> = binaries.collect().await;
        binaries.sort_by_key(|(index, _)| *index);
        binaries.into_iter().map(|(_, binary)| binary).collect()
    }

    async fn one(world: &World, commit: &str, system: String, toolchain: String) -> Result<Binary> {
        let attempt = async || {
            let built = build(world, commit.to_owned(), system.clone(), toolchain.clone());
            limited(Duration::from_secs(30 * 60), built).await
        };
        let binary = attempt.retry(attempts(2)).when(Error::is_transient).await?;
        let tested = test_binary(world, binary.name.clone());
        limited(Duration::from_secs(10 * 60), tested).await?;
        Ok(binary)
    }

    async fn limited<T>(limit: Duration, work: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| Error::msg("it took too long").with_code("TIMEOUT");
        timeout(limit, work).await.map_err(late)?
    }
}

const DAY: Duration = Duration::from_secs(24 * 3600);

fn release() -> Release {
    let texts = |texts: &[&str]| texts.iter().map(|&it| it.into()).collect();
    Release {
        commit: "c0ffee".into(),
        systems: texts(&["linux", "mac", "windows"]),
        toolchains: texts(&["stable", "beta"]),
        patience: DAY,
    }
}

fn cells() -> Vec<(String, String)> {
    matrix(&release().systems, &release().toolchains)
}

/// Someone who answers after an hour, or not at all.
async fn approver(granted: Option<bool>, send: impl FnOnce(Approval)) {
    match granted {
        Some(granted) => {
            sleep(DAY / 24).await;
            send(Approval { granted });
        }
        // Keep the handle, so that an answer can still arrive.
        None => {
            sleep(2 * DAY).await;
            drop(send);
        }
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Release::PLAN);
    let scenarios = [
        ("all is well", World::default()),
        (
            "a test fails",
            World::default().breaks("test c0ffee-mac-beta", "1 test failed"),
        ),
    ];
    for (title, world) in scenarios {
        let run = release().run(&world).timer(TokioTimer);
        let signals = run.signals();
        tokio::spawn(approver(Some(true), move |approval| {
            signals.send("approval", approval).ok();
        }));
        let run = run.with_report().await;

        let (sender, answer) = oneshot::channel();
        tokio::spawn(approver(Some(true), move |approval| {
            sender.send(approval).ok();
        }));
        let by_hand =
            by_hand::release(&world, "c0ffee".into(), cells(), DAY, answer, pending()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::by_hand::cancelled;
    use super::support::{Done, both};
    use super::*;

    async fn outcome(
        world: impl Fn() -> World,
        granted: Option<bool>,
        limit: Duration,
    ) -> Done<Option<String>> {
        both(
            world,
            async |world| {
                let run = release()
                    .run(world)
                    .timer(TokioTimer)
                    .cancel_on(sleep(limit));
                let signals = run.signals();
                tokio::spawn(approver(granted, move |approval| {
                    signals.send("approval", approval).ok();
                }));
                Ok(run.await?)
            },
            async |world| {
                let (sender, answer) = oneshot::channel();
                tokio::spawn(approver(granted, move |approval| {
                    sender.send(approval).ok();
                }));
                let stopped = async {
                    sleep(limit).await;
                    cancelled()
                };
                by_hand::release(world, "c0ffee".into(), cells(), DAY, answer, stopped).await
            },
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_approved_is_published() {
        let done = outcome(World::default, Some(true), 9 * DAY).await;
        assert_eq!(
            done.output,
            Ok(Some("https://example.org/releases/1".into()))
        );
        assert_eq!(done.most_open, 4);
        assert_eq!(
            done.calls[12..],
            [
                "may 6 binaries of c0ffee be published?",
                "publish 6",
                "status of c0ffee: true "
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_approved_is_not_published() {
        let done = outcome(World::default, Some(false), 9 * DAY).await;
        assert_eq!(done.output, Ok(None));
        let done = outcome(World::default, None, 9 * DAY).await;
        assert_eq!(done.output, Err("TIMEOUT".into()));
        assert_eq!(done.calls[13..], ["status of c0ffee: false TIMEOUT"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_lets_no_other_cell_begin() {
        let world = || {
            World::default()
                .breaks("build c0ffee-linux-beta", "no such feature")
                .busy("build c0ffee-mac-beta", 1)
                .takes("test c0ffee-linux-stable", 5)
        };
        let done = outcome(world, Some(true), 9 * DAY).await;
        assert_eq!(done.output, Err("no such feature".into()));
        assert!(!done.calls.iter().any(|call| call.contains("windows")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_build_has_limited_time_and_two_attempts() {
        let done = outcome(|| World::default().takes("build", 3600), None, 9 * DAY).await;
        assert_eq!(done.output, Err("TIMEOUT".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_release_has_a_status() {
        let done = outcome(World::default, None, DAY / 24).await;
        assert_eq!(done.output, Err("CANCELLED".into()));
        assert_eq!(done.calls[13..], ["status of c0ffee: false CANCELLED"]);
    }
}
