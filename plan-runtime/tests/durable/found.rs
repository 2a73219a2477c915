//! Errors that reviews of durable runs have found, each with similar cases.

use super::basics::Two;
use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, crash, finish, secs};
use crate::journal::asking::Asking;
use plan_runtime::journal::Memory;
use plan_runtime::journal::spi::Message;
use plan_runtime::run::{CallContext, Decision, Gate, OnFailure, PendingCall};
use plan_runtime::{Call, Error, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

plan! {
    LateGate() -> u64 {
        step held = Act { n: 1 };
        #[after(held)]
        step more = Act { n: 3 };
        #[undo(more)]
        step unmore = Undo { n: more };
        #[undo(held)]
        step released = Undo { n: held };
        step paid = Act { n: 2 };
        held + paid + more
    }
}

/// Refuses to pay, but not before the test wants it.
#[derive(Clone, Default)]
struct Late(Arc<Mutex<(bool, Option<Waker>)>>);

impl Late {
    fn tell(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }
}

impl Gate for Late {
    async fn ask(&self, call: PendingCall) -> Decision {
        if call.context().step() != "paid" {
            return Decision::Allow;
        }
        std::future::poll_fn(|cx| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        Decision::Refuse("no".into())
    }
}

/// A refusal has its turn among the calls that had ended before it: those are undone.
#[test]
fn a_refusal_comes_after_what_had_ended() {
    for how in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        let mut expected = None;
        for at in ["", "unmore", "released"] {
            let (world, journal, gate) = (World::new(), Rough::new(), Late::default());
            let run = || LateGate {}.run(&world).on_failure(how).gate(gate.clone());
            if !at.is_empty() {
                world.on(at, &[Goes::Hangs]);
            }
            let mut driven = Driven::new(run().durable(&journal, "r"));
            driven.pending();
            gate.tell();
            let ended = match driven.settle() {
                Poll::Ready(result) => result,
                Poll::Pending => {
                    drop(driven);
                    world.all_well();
                    finish(run().durable(&journal, "r"))
                }
            };
            let error = ended.unwrap_err().to_string();
            let expected = expected.get_or_insert(error.clone());
            assert_eq!(error, *expected, "{how:?}, {at}");
            assert!(error.contains("undone: `more` and `held`"), "{error}");
        }
    }
}

static CLOCK: AtomicU64 = AtomicU64::new(100);

fn clock() -> u64 {
    CLOCK.fetch_add(1, Ordering::SeqCst)
}

plan! {
    Sub(n: u64) -> [u64; 3] {
        step first = Act { n };
        #[after(first)]
        step second = Act { n: 1 };
        #[after(second)]
        step third = Act { n };
        if second == 1 { [n, first, third] } else { [0, 0, 0] }
    }
}

plan! {
    SubTop() -> [u64; 3] {
        step sub = Sub { n: clock() };
        sub
    }
}

#[test]
fn the_inputs_of_a_plan_stay_as_they_were() {
    for at in ["sub.second", "sub.third"] {
        let (world, journal) = (World::new(), Rough::new());
        world.on(at, &[Goes::Hangs]);
        crash(SubTop {}.run(&world).durable(&journal, "r"));
        world.all_well();
        let [n, first, third] = finish(SubTop {}.run(&world).durable(&journal, "r")).unwrap();
        assert_eq!([n, n], [first, third], "{at}");
    }
}

static TRIES: AtomicU64 = AtomicU64::new(0);

fn second_time() -> Result<u64, String> {
    match TRIES.fetch_add(1, Ordering::SeqCst) {
        0 => Err("not yet".to_owned()),
        _ => Ok(5),
    }
}

plan! {
    ArgumentFails() -> u64 {
        #[optional]
        step x = Act { n: second_time()? };
        step seen: bool = x.is_some();
        step last = if seen { Act { n: 100 } } else { Act { n: 200 } };
        x.unwrap_or(0) + last
    }
}

#[test]
fn an_argument_that_failed_stays_failed() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("last", &[Goes::Hangs]);
    crash(ArgumentFails {}.run(&world).durable(&journal, "r"));
    world.all_well();
    let again = finish(ArgumentFails {}.run(&world).durable(&journal, "r"));
    assert_eq!(again.unwrap(), 200);
    assert_eq!(world.called(), "last last");
}

plan! {
    CancelMid() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Undo { n: held };
        step slow = Act { n: 2 };
        #[always]
        step told = Act { n: 9 };
        held + slow
    }
}

/// A call that has ended is undone, though its record was on its way when the run was cancelled.
#[test]
fn a_call_whose_record_is_written_is_undone() {
    let (world, journal) = (World::new(), Rough::slow());
    world.on("slow", &[Goes::Hangs]);
    let (stop, stopped) = smol::channel::bounded::<()>(1);
    let cancel = async move {
        let _ = stopped.recv().await;
    };
    let run = CancelMid {}.run(&world).cancel_on(cancel);
    let mut driven = Driven::new(run.durable(&journal, "r"));
    driven.pending();
    stop.try_send(()).unwrap();
    let ended = loop {
        match driven.settle() {
            Poll::Ready(result) => break result,
            Poll::Pending => assert!(journal.flush(), "it waits for nothing"),
        }
    };
    assert_eq!(
        ended.unwrap_err().to_string(),
        "plan `cancel_mid` was cancelled; undone: `held`"
    );
    assert_eq!(world.called(), "held slow released told");
}

/// Makes something of the failure of a plan inside its call.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Catches {}

impl Call<World> for Catches {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let run = Two { n: 4 }.run(world).inside(&context);
        Ok(run.await.unwrap_or(1000))
    }
}

plan! {
    CatchTop() -> u64 {
        step x = Catches {};
        #[after(x)]
        step end = Act { n: 1 };
        x + end
    }
}

#[test]
fn a_failure_of_the_journal_is_not_an_outcome() {
    let world = World::new();
    let expected = finish(CatchTop {}.run(&world)).unwrap();
    let mut failed = 0;
    for at in 0..60 {
        let journal = Rough::new();
        journal.fail_once_at(at);
        let run = || CatchTop {}.run(&world).durable(&journal, "r");
        if let Err(error) = finish(run()) {
            assert!(error.journal().is_some(), "{at}: {error}");
            failed += 1;
        }
        journal.fail_at(None);
        assert_eq!(finish(run()).unwrap(), expected, "{at}");
    }
    assert!(failed > 10, "{failed}");
}

#[derive(Serialize, Deserialize, Shape)]
struct Token {
    #[shape(secret)]
    token: String,
}

/// Logs in.
#[tool]
async fn log_in() -> Result<Token> {
    let token = "hunter2".to_owned();
    Ok(Token { token })
}

plan! {
    Login() -> usize {
        step token = LogIn {};
        token.token.len()
    }
}

/// Runs a plan with a secret inside its call.
#[tool]
async fn wrap(#[context] context: CallContext) -> Result<usize> {
    Ok(Login {}.run(&()).inside(&context).await?)
}

plan! {
    Outside() -> usize {
        step wrapped = Wrap {};
        wrapped
    }
}

#[test]
fn a_plan_with_secrets_inside_a_call_is_refused() {
    let journal = Rough::new();
    let error = finish(Outside {}.run(&()).durable(&journal, "r")).unwrap_err();
    assert!(error.to_string().contains("it has secrets"), "{error}");
    assert_eq!(smol::block_on(Outside {}.run(&())).unwrap(), 7);
}

/// Sleeps twice at the same time.
#[tool]
async fn two_sleeps(#[context] context: CallContext) -> Result<()> {
    smol::future::zip(context.sleep(secs(1)), context.sleep(secs(2))).await;
    Ok(())
}

plan! {
    Sleeps() -> u64 {
        step slept = TwoSleeps {};
        #[after(slept)]
        step end = Act { n: 3 };
        end
    }
}

#[test]
fn a_call_may_sleep_twice_at_the_same_time() {
    let (world, journal) = (World::new(), Memory::new());
    let run = Sleeps {}.run(&world).timer(world.timer.clone());
    let run = world.timer.skip_waits(run.durable(&journal, "r"));
    assert_eq!(smol::block_on(run).unwrap(), 3);
}

plan! {
    Slow() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Undo { n: held };
        #[after(held)]
        step slow = Act { n: 5 };
        slow
    }
}

plan! {
    Quick() -> u64 {
        step quick = Act { n: 9 };
        quick
    }
}

/// Tries one plan for ten seconds, and then another.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Tries {}

impl Call<World> for Tries {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let slow = Slow {}.run(world).deadline(secs(10)).inside(&context);
        if let Ok(value) = slow.await {
            return Ok(value);
        }
        Ok(Quick {}.run(world).inside(&context).await? * 10)
    }
}

plan! {
    TriesTop() -> u64 {
        step x = Tries {};
        x
    }
}

/// The end of a plan inside a call is permanent, like the end of a run.
#[test]
fn a_deadline_inside_a_call_stays_over() {
    for age in [None, Some(secs(12)), Some(secs(3600))] {
        let (world, journal) = (World::new(), Rough::new());
        world.on("x.slow", &[Goes::Hangs]);
        world.on("x.quick", &[Goes::Hangs]);
        let run = || TriesTop {}.run(&world).timer(world.timer.clone());
        let mut driven = Driven::new(run().durable(&journal, "r"));
        driven.pending();
        world.timer.advance(secs(11));
        driven.pending();
        assert_eq!(world.called(), "x.held x.slow x.released x.quick");
        drop(driven);
        world.all_well();
        if let Some(age) = age {
            journal.set_age(age);
        }
        assert_eq!(finish(run().durable(&journal, "r")).unwrap(), 90);
        assert_eq!(world.called(), "x.quick");
    }
}

/// Returns its argument.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Value)]
struct Echo {
    value: Value,
}

impl Call<World> for Echo {
    async fn call(self, _: &World) -> Result<Value> {
        Ok(self.value)
    }
}

plan! {
    Echoed(value: Value) -> Value {
        step echoed = Echo { value };
        step asked: Value = await;
        if asked.is_null() { asked } else { echoed }
    }
}

/// A journal returns every value that a run in memory accepts.
#[test]
fn values_are_as_deep_as_in_memory() {
    for depth in [1, 126, 127] {
        let (world, journal) = (World::new(), Memory::new());
        let value = || (1..depth).fold(Value::Array(Vec::new()), |inner, _| vec![inner].into());
        let run = || Echoed { value: value() }.run(&world).durable(&journal, "r");
        crash(run());
        crash(run());
        let signal = Message::Signal {
            path: "asked".into(),
            body: value().to_string(),
        };
        journal.send_now("r", &signal).unwrap();
        assert_eq!(finish(run()).unwrap(), value(), "{depth}");
        assert_eq!(finish(run()).unwrap(), value(), "{depth}");
    }
}
