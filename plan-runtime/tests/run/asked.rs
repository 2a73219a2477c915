//! Questions to gates, and calls, of plans that tools run inside their calls.

use super::support::Driven;
use plan_runtime::run::{CallContext, Decision, Gate, PendingCall};
use plan_runtime::{Result, plan, tool};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tool]
async fn count(number: usize) -> Result<usize> {
    Ok(number)
}

/// Runs a plan inside its call.
#[tool]
async fn nest(#[context] context: CallContext, number: usize) -> Result<usize> {
    let numbers = Numbers {
        numbers: (0..number).collect(),
    };
    Ok(numbers.run(&()).inside(&context).await?.len())
}

plan! {
    Numbers(numbers: Vec<usize>) -> Vec<usize> {
        step all = for number in numbers { Count { number } };
        all
    }
}

plan! {
    Nests(numbers: Vec<usize>) -> Vec<usize> {
        step all = for number in numbers { Nest { number } };
        all
    }
}

/// Allows a call of the tool that runs a plan, and other calls after a permit. Counts the open questions.
struct Desk {
    asked: Arc<AtomicUsize>,
    permits: smol::channel::Receiver<()>,
}

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        if call.tool() == "nest" {
            return Decision::Allow;
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.permits.recv().await.unwrap();
        self.asked.fetch_sub(1, Ordering::SeqCst);
        Decision::Allow
    }
}

#[test]
fn plans_inside_calls_share_the_bound_of_open_questions() {
    let (permit, permits) = smol::channel::unbounded();
    let asked = Arc::default();
    let desk = Desk {
        asked: Arc::clone(&asked),
        permits,
    };
    let nests = Nests {
        numbers: vec![40; 4],
    };
    let mut run = Driven::new(nests.run(&()).gate(desk));
    for _ in 0..160 {
        run.pending();
        assert!(asked.load(Ordering::SeqCst) <= 64, "{asked:?}");
        permit.try_send(()).unwrap();
    }
    assert_eq!(run.ended().unwrap(), [40; 4]);
}

/// Counts the calls that work at one time.
#[derive(Default)]
struct Office {
    working: AtomicUsize,
    most: AtomicUsize,
}

impl Office {
    async fn work(&self) {
        let working = self.working.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(working, Ordering::SeqCst);
        for _ in 0..10 {
            smol::future::yield_now().await;
        }
        self.working.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tool]
async fn work(office: &Office) -> Result<usize> {
    office.work().await;
    Ok(1)
}

/// Runs two plans inside its call, and works before and after each of them.
#[tool]
async fn delegate(office: &Office, #[context] context: CallContext) -> Result<usize> {
    office.work().await;
    let two = || Pair {}.run(office).inside(&context);
    let one = two().await?;
    office.work().await;
    let (other, third) = smol::future::zip(two(), two()).await;
    office.work().await;
    Ok(one + other? + third?)
}

plan! {
    Pair() -> usize {
        step one = Work {};
        step other = Work {};
        one + other
    }
}

plan! {
    Offices() -> usize {
        step delegated = for _ in [1, 2, 3] { Delegate {} };
        step worked = for _ in [1, 2, 3] { Work {} };
        delegated.len() + worked.len()
    }
}

#[test]
fn a_call_counts_again_after_a_plan_inside_it() {
    for bound in [1, 2, 3] {
        let office = Office::default();
        let run = Offices {}.run(&office).concurrency(bound);
        assert_eq!(smol::block_on(run).unwrap(), 6);
        assert_eq!(office.most.into_inner(), bound);
    }
}
