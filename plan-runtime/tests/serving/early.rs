//! Values that are sent before their steps wait.

use crate::durable::rough::Rough;
use crate::durable::support::Driven;
use crate::journal::asking::Asking;
use plan_runtime::journal::spi::Message;
use plan_runtime::run::CallContext;
use plan_runtime::{Result, plan, tool};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

/// The number of polls before the tool waits for its value.
struct Patience(AtomicUsize);

/// Runs a plan that waits, inside its call.
#[tool]
async fn ask(patience: &Patience, #[context] context: CallContext) -> Result<u64> {
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        let less = |left: usize| left.checked_sub(1);
        let order = Ordering::Relaxed;
        match patience.0.fetch_update(order, order, less) {
            Ok(_) => Poll::Pending,
            Err(_) => Poll::Ready(()),
        }
    })
    .await;
    Ok(Sums {}.run(&()).inside(&context).await?)
}

plan! {
    Sums() -> u64 {
        step one: u64 = await;
        step other: u64 = await;
        one + other
    }
}

plan! {
    Asks() -> u64 {
        step asked = Ask {};
        asked
    }
}

/// Many values for steps that never wait delay nothing, and displace no value.
#[test]
fn a_value_among_many_early_values_arrives() {
    let (db, patience) = (Rough::new(), Patience(2_000.into()));
    smol::block_on(Asks {}.submit(&db, "r")).unwrap();
    let send = |path: &str, value: u64| {
        let (path, body) = (path.to_owned(), value.to_string());
        db.send_now("r", &Message::Signal { path, body }).unwrap();
    };
    send("asked.one", 1);
    for number in 0..5_000 {
        send(&format!("asked.step{number}"), number);
    }
    send("asked.other", 2);
    let mut run = Driven::new(Asks {}.run(&patience).durable(&db, "r"));
    assert_eq!(run.ended().unwrap(), 3);
    // The second read begins after the value for `asked.one` and the 255 other values that the run keeps.
    assert_eq!(db.reads(), [0, 257]);
}
