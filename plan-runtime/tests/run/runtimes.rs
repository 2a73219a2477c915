use super::support::{Lab, Outcome, plan, run};
use plan_runtime::Plan;
use std::sync::{Arc, LazyLock};

static PLAN: LazyLock<Plan> = LazyLock::new(|| plan("a, b < a, c < a, d < b c"));

/// Lets each step through from outside, as soon as it runs.
async fn let_through(lab: Arc<Lab>) {
    for step in ["a", "c", "b", "d"] {
        while !lab.running().iter().any(|running| running == step) {
            yield_now().await;
        }
        lab.let_through(step);
    }
}

/// Yields under any runtime.
async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

async fn on_tokio() {
    let lab = Arc::new(Lab::default());
    let helper = tokio::spawn(let_through(lab.clone()));
    let output = tokio::spawn(async move { run(&PLAN, &lab).await });
    assert_eq!(output.await.unwrap().unwrap(), 5);
    helper.await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn tokio_current_thread() {
    on_tokio().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_multi_thread() {
    on_tokio().await;
}

#[test]
fn smol() {
    smol::block_on(async {
        let lab = Arc::new(Lab::default());
        let helper = smol::spawn(let_through(lab.clone()));
        let output = smol::spawn(async move { run(&PLAN, &lab).await });
        assert_eq!(output.await.unwrap(), 5);
        helper.await;
    });
}

#[tokio::test]
async fn runs_beside_each_other_on_one_borrowed_application() {
    let lab = Lab::open().with("c", Outcome::Fail);
    let (one, two) = tokio::join!(run(&PLAN, &lab), run(&PLAN, &lab).with_report());
    one.unwrap_err();
    assert_eq!(two.1.totals().failed, 1);
}
