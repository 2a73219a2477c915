//! A purchase that needs a manager's approval: the run waits for the answer, for a limited time, and notifies the applicant of the end in
//! any case.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::future::{Future, pending};
use std::time::Duration;
use support::{TokioTimer, World, show};
use tokio::sync::oneshot;
use tokio::time::sleep;

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Request {
    who: String,
    cents: u64,
}

#[derive(Serialize, Deserialize, Shape)]
struct Approval {
    granted: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Payment {
    id: u32,
}

/// Asks a manager, who answers later.
#[tool]
async fn ask_manager(world: &World, request: Request) -> Result<()> {
    let Request { who, cents } = request;
    world
        .call(format!("ask whether {who} may spend {cents}"))
        .await
}

/// Pays.
#[tool]
async fn pay(world: &World, request: Request) -> Result<Payment> {
    world.call(format!("pay {}", request.cents)).await?;
    Ok(Payment { id: 40 })
}

/// Tells someone that the request has ended.
#[tool]
async fn tell(world: &World, who: String, failed: bool) -> Result<()> {
    let end = if failed { "failed" } else { "ended" };
    world.call(format!("tell {who} that it {end}")).await
}

plan! {
    /// Pays, if a manager allows it.
    Spend(request: Request, patience: Duration) -> Option<Payment> {
        step asked = AskManager { request };
        /// The manager's answer.
        #[after(asked)] #[timeout(patience)] #[fallback(Approval { granted: false })]
        step approval: Approval = await;
        step paid = if approval.granted { Pay { request } };
        #[always] #[retry(5)]
        step told = Tell { who: request.who, failed: paid.is_err() };
        paid
    }
}

mod by_hand {
    use super::support::by_hand::{all_or_nothing, attempts};
    use super::*;
    use backon::Retryable;
    use plan_runtime::Error;
    use tokio::time::timeout;

    pub(crate) async fn spend(
        world: &World,
        request: Request,
        patience: Duration,
        answer: oneshot::Receiver<Approval>,
        stopped: impl Future<Output = Error>,
    ) -> Result<Option<Payment>> {
        let who = request.who.clone();
        all_or_nothing(
            stopped,
            async |_| {
                ask_manager(world, request.clone()).await?;
                let approval = timeout(patience, answer).await;
                match approval {
                    Ok(Ok(Approval { granted: true })) => Ok(Some(pay(world, request).await?)),
                    _ => Ok(None),
                }
            },
            async |paid| {
                let told = || tell(world, who.clone(), paid.is_err());
                let told = told.retry(attempts(5)).when(Error::is_transient);
                // The request has ended, even if the notification fails.
                told.await.ok();
            },
        )
        .await
    }
}

fn request() -> Request {
    Request {
        who: "sales".into(),
        cents: 900,
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// The manager, who may not answer.
async fn manager(granted: Option<bool>, send: impl FnOnce(Approval)) {
    sleep(Duration::from_secs(60)).await;
    match granted {
        Some(granted) => send(Approval { granted }),
        // Keep the handle, so that an answer can still arrive.
        None => {
            sleep(2 * HOUR).await;
            drop(send);
        }
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Spend::PLAN);
    let scenarios = [
        ("yes", Some(true), World::default()),
        ("no answer", None, World::default()),
        (
            "the bank is closed",
            Some(true),
            World::default().breaks("pay", "the bank is closed"),
        ),
    ];
    for (title, granted, world) in scenarios {
        let spend = Spend {
            request: request(),
            patience: HOUR,
        };
        let run = spend.run(&world).timer(TokioTimer);
        let signals = run.signals();
        let manager_of_plan = manager(granted, move |approval| {
            signals
                .send("approval", approval)
                .expect("the first answer");
        });
        let (run, ()) = tokio::join!(run.with_report(), manager_of_plan);

        let (sender, answer) = oneshot::channel();
        let by_hand = by_hand::spend(&world, request(), HOUR, answer, pending());
        let manager_by_hand = manager(granted, move |approval| {
            sender.send(approval).ok().expect("the first answer");
        });
        let (by_hand, ()) = tokio::join!(by_hand, manager_by_hand);
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::by_hand::cancelled;
    use super::support::{Done, both};
    use super::*;

    /// Runs both versions with an answer after a minute. The run is cancelled after this time.
    async fn outcome(
        world: impl Fn() -> World,
        granted: Option<bool>,
        limit: Duration,
    ) -> Done<Option<Payment>> {
        both(
            world,
            async |world| {
                let spend = Spend {
                    request: request(),
                    patience: HOUR,
                };
                let run = spend.run(world).timer(TokioTimer).cancel_on(sleep(limit));
                let signals = run.signals();
                let manager = manager(granted, move |approval| {
                    let sent = signals.send("approval", approval);
                    assert_eq!(sent.is_ok(), limit >= HOUR);
                });
                tokio::spawn(manager);
                Ok(run.await?)
            },
            async |world| {
                let (sender, answer) = oneshot::channel();
                tokio::spawn(manager(granted, move |approval| {
                    let sent = sender.send(approval);
                    assert_eq!(sent.is_ok(), limit >= HOUR);
                }));
                let stopped = async {
                    sleep(limit).await;
                    cancelled()
                };
                by_hand::spend(world, request(), HOUR, answer, stopped).await
            },
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn a_yes_is_paid() {
        let done = outcome(World::default, Some(true), 9 * HOUR).await;
        assert_eq!(done.output, Ok(Some(Payment { id: 40 })));
        assert_eq!(
            done.calls,
            [
                "ask whether sales may spend 900",
                "pay 900",
                "tell sales that it ended"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_no_and_no_answer_are_not_paid() {
        for granted in [Some(false), None] {
            let done = outcome(World::default, granted, 9 * HOUR).await;
            assert_eq!(done.output, Ok(None));
            assert_eq!(done.calls[1..], ["tell sales that it ended"]);
            assert_eq!(done.took > HOUR, granted.is_none());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_told_even_if_it_is_a_failure() {
        let world = || {
            World::default()
                .breaks("pay", "the bank is closed")
                .busy("tell", 2)
        };
        let done = outcome(world, Some(true), 9 * HOUR).await;
        assert_eq!(done.output, Err("the bank is closed".into()));
        assert_eq!(done.calls[2..], ["tell sales that it failed"; 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_told_even_if_it_is_a_cancellation() {
        let done = outcome(World::default, Some(true), HOUR / 100).await;
        assert_eq!(done.output, Err("CANCELLED".into()));
        assert_eq!(done.calls[1..], ["tell sales that it failed"]);
    }
}
