//! Same id, same run: what is recorded is taken, and the rest is done.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, World, crash, finish, secs};
use crate::journal::asking::Asking;
use plan_runtime::journal::Memory;
use plan_runtime::journal::spi::Message;
use plan_runtime::run::{CallContext, Decision, Gate, PendingCall, Run, WithReport};
use plan_runtime::{Call, Error, Failure, Result, Shape, Tool, plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn busy() -> Error {
    Error::msg("busy")
}

plan! {
    pub(crate) Two(n: u64) -> u64 {
        step first = Act { n };
        step second = Act { n: first };
        first + second
    }
}

plan! {
    Other(n: u64) -> u64 {
        step other = Act { n };
        other
    }
}

/// The output of a completed run takes one claim, however many records the run has. Only a report needs the records.
#[test]
fn a_completed_run_reads_its_records_for_a_report_only() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Two { n: 4 }.run(&world).durable(&journal, "r");
    finish(run()).unwrap();
    journal.fail_at(None);
    assert_eq!(finish(run()).unwrap(), 8);
    assert_eq!(journal.operations(), 1);
    let (output, report) = finish(run().with_report());
    assert_eq!((output.unwrap(), report.totals().completed), (8, 2));
    assert!(journal.operations() > 3, "{}", journal.operations());
    assert_eq!(world.called(), "first second");
}

#[test]
fn the_same_id_is_the_same_run() {
    let (world, journal) = (World::new(), Memory::new());
    for id in [
        "order-17",
        "",
        "a/b",
        "'; DROP TABLE runs; --",
        "é\u{0}\n\"~.@[0]",
        "🦀".repeat(100).as_str(),
    ] {
        assert_eq!(
            finish(Two { n: 4 }.run(&world).durable(&journal, id)).unwrap(),
            8,
            "{id:?}"
        );
        assert_eq!(world.called(), "first second");
        assert_eq!(
            finish(Two { n: 4 }.run(&world).durable(&journal, id)).unwrap(),
            8
        );
        assert_eq!(world.called(), "");
    }
    let other = finish(Two { n: 5 }.run(&world).durable(&journal, "order-17")).unwrap_err();
    assert_eq!(
        other.to_string(),
        "plan `two` cannot start: run `order-17` already exists with different inputs (`n` was the number 4, and is now the number 5); use a new ID, or the original inputs"
    );
    let other = finish(Other { n: 4 }.run(&world).durable(&journal, "order-17")).unwrap_err();
    assert_eq!(
        other.to_string(),
        "plan `other` cannot start: run `order-17` already exists with another plan `two`; use a new ID"
    );
}

/// No outcome of the run contradicts the other plan.
#[test]
fn a_plan_of_another_name_does_not_take_a_run_over() {
    let (world, journal) = (World::new(), Memory::new());
    finish(Two { n: 4 }.submit(&journal, "r")).unwrap();
    let other = finish(Other { n: 4 }.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(
        other.to_string(),
        "plan `other` cannot start: run `r` already exists with another plan `two`; use a new ID"
    );
    assert_eq!(world.called(), "");
    let two = finish(Two { n: 4 }.run(&world).durable(&journal, "r"));
    assert_eq!(two.unwrap(), 8);
}

#[test]
fn a_run_has_one_owner() {
    let (world, journal) = (World::new(), Memory::new());
    world.on("second", &[Goes::Hangs]);
    let mut run = Driven::new(Two { n: 4 }.run(&world).durable(&journal, "r"));
    run.pending();
    let second = finish(Two { n: 4 }.run(&world).durable(&journal, "r")).unwrap_err();
    assert!(second.journal().is_some(), "{second}");
    drop(run);
    world.all_well();
    world.called();
    assert_eq!(
        finish(Two { n: 4 }.run(&world).durable(&journal, "r")).unwrap(),
        8
    );
    assert_eq!(world.called(), "second");
}

static COUNTER: AtomicU64 = AtomicU64::new(0);

fn next() -> u64 {
    COUNTER.fetch_add(1, Ordering::SeqCst)
}

fn even(n: u64) -> bool {
    n.is_multiple_of(2)
}

plan! {
    Decided() -> serde_json::Value {
        step value: u64 = next();
        step list = for n in (0..next() % 5 + 2).collect::<Vec<_>>() { Act { n: n + 10 } };
        step chosen = if even(next()) { Act { n: 1 } } else if even(next()) { Act { n: 2 } } else { Act { n: 3 } };
        step bound = if let Some(x) = Some(next()) && even(x) { Act { n: x } };
        #[fallback(next())]
        step fell = Act { n: 5 };
        #[at_most(50)]
        step rounds = loop { step made = Act { n: 6 }; step at: u64 = next() + made; at } while next() / 3 % 2 != 0;
        step block = { step inner: u64 = next(); Act { n: inner } };
        #[after(value, list, chosen, bound, fell, rounds, block)]
        step last = Act { n: 7 };
        serde_json::json!([value, list, chosen, bound, fell, rounds, block, last, next()])
    }
}

#[test]
fn what_rust_code_decides_is_decided_once() {
    let world = World::new();
    // Independently of the counter.
    for start in 0..12 {
        for at in ["last", "rounds[0].made", "chosen", "list[1]", "fell"] {
            COUNTER.store(start, Ordering::SeqCst);
            let journal = Memory::new();
            let run = || Decided {}.run(&world).durable(&journal, "r");
            world.on(at, &[Goes::Hangs]);
            world.on(
                "fell",
                &[if at == "fell" {
                    Goes::Hangs
                } else {
                    Goes::Fails(busy)
                }],
            );
            let mut first = Driven::new(run());
            let ended = first.settle();
            assert!(ended.is_pending(), "{ended:?}");
            drop(first);
            let before = world.called();
            crash(run());
            assert_eq!(world.called(), at);
            world.all_well();
            let done = finish(run()).unwrap();
            let after = world.called();
            assert!(
                before
                    .split(' ')
                    .all(|it| it == at || !after.split(' ').any(|other| other == it)),
                "{before} | {after}"
            );
            let asked = COUNTER.load(Ordering::SeqCst);
            assert_eq!(finish(run()).unwrap(), done);
            let (again, _) = finish(run().with_report());
            assert_eq!(again.unwrap(), done);
            assert_eq!(COUNTER.load(Ordering::SeqCst), asked, "asked again");
        }
    }
}

plan! {
    Refuses() -> Option<u64> {
        #[optional]
        step chosen = if checked()? { Act { n: 1 } } else { Act { n: 2 } };
        #[after(chosen)]
        step last = Act { n: 7 };
        if last == 7 { chosen } else { None }
    }
}

static CHECKS: AtomicU64 = AtomicU64::new(0);

fn checked() -> std::result::Result<bool, String> {
    match CHECKS.fetch_add(1, Ordering::SeqCst) {
        0 => Err("not yet".into()),
        _ => Ok(true),
    }
}

#[test]
fn a_decision_that_failed_stays_failed() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || Refuses {}.run(&world).durable(&journal, "r");
    world.on("last", &[Goes::Hangs]);
    crash(run());
    assert_eq!(world.called(), "last");
    world.all_well();
    assert_eq!(finish(run()).unwrap(), None);
    assert_eq!(world.called(), "last");
}

struct Counts(Arc<Mutex<Vec<String>>>, Decision);

impl Gate for Counts {
    async fn ask(&self, call: PendingCall) -> Decision {
        self.0.lock().unwrap().push(call.context().to_string());
        self.1.clone()
    }
}

plan! {
    Gated() -> Vec<u64> {
        step each = for n in [1u64, 2, 3] { Act { n } };
        each
    }
}

#[test]
fn gates_are_not_asked_again() {
    for decision in [Decision::Allow, Decision::AllowStep] {
        for at in 0..3 {
            let (world, journal) = (World::new(), Memory::new());
            let asked = Arc::new(Mutex::new(Vec::new()));
            let run = || {
                let gate = Counts(Arc::clone(&asked), decision.clone());
                Gated {}
                    .run(&world)
                    .gate(gate)
                    .concurrency(1)
                    .durable(&journal, "r")
            };
            let path = format!("each[{at}]");
            world.on(&path, &[Goes::Hangs]);
            crash(run());
            crash(run());
            world.all_well();
            assert_eq!(finish(run()).unwrap(), [1, 2, 3]);
            let expected: &[&str] = match decision {
                Decision::AllowStep => &["each[0]"],
                _ => &["each[0]", "each[1]", "each[2]"],
            };
            assert_eq!(*asked.lock().unwrap(), expected, "{decision:?} {at}");
        }
    }
    let (world, journal) = (World::new(), Memory::new());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let run = || {
        let gate = Counts(Arc::clone(&asked), Decision::Refuse("no".into()));
        Gated {}.run(&world).gate(gate).durable(&journal, "r")
    };
    let first = finish(run()).unwrap_err().to_string();
    let count = asked.lock().unwrap().len();
    assert_eq!(finish(run()).unwrap_err().to_string(), first);
    assert_eq!(asked.lock().unwrap().len(), count);
}

/// Runs plans inside its call.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Nest {
    n: u64,
}

impl Call<World> for Nest {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let mut sum = 0;
        for n in 0..self.n {
            sum += Two { n }.run(world).inside(&context).await?;
        }
        Ok(sum)
    }
}

plan! {
    Nested() -> u64 {
        step nested = Nest { n: 3 };
        step called = Two { n: nested };
        called
    }
}

#[test]
fn plans_inside_a_call_go_on() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Nested {}.run(&world).durable(&journal, "r");
    for at in ["nested.second", "called.second"] {
        world.on(at, &[Goes::Hangs]);
        crash(run());
        world.all_well();
    }
    assert_eq!(
        world.called(),
        "nested.first nested.second nested.second nested.first nested.second nested.first nested.second called.first called.second"
    );
    assert_eq!(finish(run()).unwrap(), 12);
    assert_eq!(world.called(), "called.second");
    let keys: Vec<String> = journal.keys().into_iter().collect();
    let inside = |key: &&String| key.starts_with("nested@1");
    assert_eq!(
        keys.iter()
            .filter(inside)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" "),
        "nested@1 nested@1#two-16516ff8681feb11.1.!plan.0 nested@1#two-16516ff8681feb11.1.?value nested@1#two-16516ff8681feb11.1.first@1 nested@1#two-16516ff8681feb11.1.second@1 nested@1#two-41076fed1ee830d0.1.!plan.0 nested@1#two-41076fed1ee830d0.1.?value nested@1#two-41076fed1ee830d0.1.first@1 nested@1#two-41076fed1ee830d0.1.second@1 nested@1#two-c2b7700efc1e87cb.1.!plan.0 nested@1#two-c2b7700efc1e87cb.1.?value nested@1#two-c2b7700efc1e87cb.1.first@1 nested@1#two-c2b7700efc1e87cb.1.second@1"
    );
}

plan! {
    Deeper(n: u64) -> u64 {
        step two = Two { n };
        two
    }
}

/// Runs two plans inside its call, the one with the greater number first in its second life.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = [u64; 2])]
struct Both {}

impl Call<World> for Both {
    async fn call(self, _: &World) -> Result<[u64; 2]> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<[u64; 2]> {
        let one = Deeper { n: 1 }.run(world).inside(&context);
        let other = Deeper { n: 50 }.run(world).inside(&context);
        let (one, other) = if world.lives() == 0 {
            smol::future::zip(one, other).await
        } else {
            let (other, one) = smol::future::zip(other, one).await;
            (one, other)
        };
        Ok([one?, other?])
    }
}

plan! {
    InAnyOrder() -> [u64; 2] {
        step both = Both {};
        both
    }
}

#[test]
fn plans_inside_a_call_are_known_by_their_inputs() {
    let (world, journal) = (World::new(), Rough::new());
    let expected = finish(InAnyOrder {}.run(&world)).unwrap();
    assert_ne!(expected[0], expected[1]);
    world.called();
    let run = || InAnyOrder {}.run(&world).durable(&journal, "r");
    world.on("both.two.second", &[Goes::Hangs]);
    crash(run());
    assert_eq!(
        world.called(),
        "both.two.first both.two.first both.two.second both.two.second"
    );
    world.all_well();
    world.begin_again();
    assert_eq!(finish(run()).unwrap(), expected);
    assert_eq!(world.called(), "both.two.second both.two.second");
    // Each of the four calls has a key of its own, which is the same in its second life.
    let mut keys: Vec<(String, String)> = world.keys().split_off(4);
    assert_eq!(keys.len(), 6, "{keys:?}");
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4, "{keys:?}");
}

/// Runs a plan that fails, and cannot be undone.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Leave {}

plan! {
    Left() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Act { n: held };
        step paid = Act { n: held };
        paid
    }
}

impl Call<World> for Leave {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        Ok(Left {}.run(world).inside(&context).await?)
    }
}

plan! {
    Leaves() -> Option<u64> {
        #[optional]
        step left = Leave {};
        step other = Act { n: 1 };
        if other == 1 { left } else { None }
    }
}

#[test]
fn a_failure_that_leaves_work_is_not_absorbed_after_a_crash_either() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || Leaves {}.run(&world).durable(&journal, "r");
    world.on("left.paid", &[Goes::Fails(busy)]);
    world.on("left.released", &[Goes::Fails(busy)]);
    world.on("other", &[Goes::Hangs]);
    crash(run());
    assert_eq!(world.called(), "left.held other left.paid left.released");
    world.all_well();
    let error = finish(run()).unwrap_err();
    assert_eq!(error.failures()[0].step(), "left.paid", "{error}");
    let again = finish(run()).unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
}

/// Runs a plan that fails, and gives the error a code.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Code {}

impl Call<World> for Code {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let left = Left {}.run(world).inside(&context).await;
        left.map_err(|error| Error::new(error).with_code("CODED"))
    }
}

plan! {
    Coded() -> Option<String> {
        #[catch]
        step coded = Code {};
        #[after(coded)]
        step other = Act { n: 1 };
        if other == 1 { coded.err().map(|failure| failure.code.clone()) } else { None }
    }
}

#[test]
fn a_caught_failure_has_the_same_code_after_a_crash() {
    let coded = |crashes: bool| {
        let (world, journal) = (World::new(), Memory::new());
        let run = || Coded {}.run(&world).durable(&journal, "r");
        world.on("coded.paid", &[Goes::Fails(busy)]);
        if crashes {
            world.on("other", &[Goes::Hangs]);
            crash(run());
            world.on("other", &[Goes::Well]);
        }
        finish(run()).unwrap()
    };
    assert_eq!(coded(true), coded(false));
}

#[derive(Debug)]
struct Inner;

impl std::fmt::Display for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the root")
    }
}

impl std::error::Error for Inner {}

fn rich() -> Error {
    Error::permanent(Inner)
        .context("the middle")
        .context("the top")
        .with_code("RICH")
        .retry_after(secs(7))
}

/// An error of a tool's own type, which has a failure as its cause.
#[derive(Debug)]
struct Around(Failure);

impl std::fmt::Display for Around {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("around")
    }
}

impl std::error::Error for Around {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn failure(transient: bool) -> Failure {
    let failure = serde_json::json!({
        "step": "found", "code": "GONE", "message": "there is no moon", "transient": transient, "attempts": 2,
    });
    serde_json::from_value(failure).unwrap()
}

fn returned() -> Error {
    Error::new(failure(false))
}

fn around() -> Error {
    Error::new(Around(failure(false)))
}

fn around_for_good() -> Error {
    Error::permanent(Around(failure(true))).retry_after(secs(7))
}

fn plain() -> Error {
    Error::msg("plain")
}

plan! {
    Failing() -> u64 {
        step act = Act { n: 1 };
        act
    }
}

#[test]
fn failures_survive() {
    let fails = [rich, plain, returned, around, around_for_good].map(Goes::Fails);
    for goes in fails.into_iter().chain([Goes::Panics]) {
        let (world, journal) = (World::new(), Memory::new());
        let run = || Failing {}.run(&world).durable(&journal, "r").with_report();
        world.on("act", &[goes]);
        let (first, report) = finish(run());
        world.all_well();
        let (second, again) = finish(run());
        assert_eq!(world.called(), "act");
        let (first, second) = (first.unwrap_err(), second.unwrap_err());
        assert_eq!(first.to_string(), second.to_string());
        let (first, second) = (first.failures()[0].error(), second.failures()[0].error());
        assert_eq!(first.code(), second.code());
        assert_eq!(first.is_transient(), second.is_transient());
        assert_eq!(format!("{first}"), format!("{second}"));
        if let (Some(first), Some(second)) = (first.as_tool(), second.as_tool()) {
            let chain = |error: &Error| error.chain().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(chain(first), chain(second));
            assert_eq!(
                (first.code(), first.retry_delay(), first.is_permanent()),
                (second.code(), second.retry_delay(), second.is_permanent())
            );
        }
        assert_eq!(
            report.steps()[0].status().name(),
            again.steps()[0].status().name()
        );
    }
}

plan! {
    Busy() -> u64 {
        step act = Act { n: 1 };
        act
    }
}

plan! {
    Waits() -> u64 {
        #[retry(2)]
        step called = Busy {};
        #[retry(2)]
        #[after(called)]
        step block = { step act = Act { n: 2 }; act };
        #[retry(2)]
        #[after(block)]
        step call = Act { n: 3 };
        called + block + call
    }
}

fn busy_for_long() -> Error {
    busy().retry_after(secs(70))
}

/// A step waits as long as a failed call has requested, if the call is the step, or inside a plan or a block that is the step.
#[test]
fn a_plan_and_a_block_wait_before_the_next_attempt() {
    for path in ["called.act", "block.act", "call"] {
        let world = World::new();
        let goes = [Goes::Fails(busy_for_long), Goes::Well];
        if path == "call" {
            world.on(path, &goes);
        } else {
            world.on_scope(path, &goes);
        }
        let mut run = Driven::new(Waits {}.run(&world).timer(world.timer.clone()));
        run.pending();
        world.timer.advance(secs(69));
        run.pending();
        world.timer.advance(secs(1));
        assert_eq!(run.ended().unwrap(), 6, "{path}");
    }
}

plan! {
    Timed() -> u64 {
        #[timeout("10s")]
        step act = Act { n: 1 };
        act
    }
}

#[test]
fn a_timeout_is_an_outcome() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || {
        Timed {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("act", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(10));
    let first = first.ended().unwrap_err();
    world.all_well();
    let second = finish(run()).unwrap_err();
    assert_eq!(first.to_string(), second.to_string());
    assert_eq!(second.failures()[0].error().code(), "TIMEOUT");
    assert_eq!(world.called(), "act");
}

plan! {
    Caught() -> Vec<std::result::Result<u64, Failure>> {
        #[catch]
        #[retry(2, backoff = "0s")]
        step first = Act { n: 1 };
        #[catch(each)]
        step each = for n in [1u64, 2] { Act { n } };
        #[after(first, each)]
        step last = Act { n: 2 };
        [first, each[0], each[1], Ok(last)]
    }
}

#[test]
fn caught_failures_survive() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || Caught {}.run(&world).durable(&journal, "r");
    world.on("first", &[Goes::Fails(rich)]);
    world.on("each[1]", &[Goes::Fails(plain)]);
    world.on("last", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    let expected = {
        let world = World::new();
        world.on("first", &[Goes::Fails(rich)]);
        world.on("each[1]", &[Goes::Fails(plain)]);
        finish(Caught {}.run(&world)).unwrap()
    };
    assert_eq!(finish(run()).unwrap(), expected);
    assert_eq!(world.called(), "first each[0] each[1] last last");
}

fn lapsed() -> Result<u64> {
    Err(Error::permanent("the policy has lapsed"))
}

plan! {
    Lapsed() -> (Vec<Option<Failure>>, u64) {
        #[catch]
        step argument = Act { n: lapsed()? };
        #[catch]
        step condition = if lapsed()? == 1 { Act { n: 1 } };
        #[after(argument, condition)]
        step last = Act { n: 2 };
        ([argument.err(), condition.err()], last)
    }
}

#[test]
fn the_error_of_a_question_mark_survives() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || Lapsed {}.run(&world).durable(&journal, "r");
    world.on("last", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    let (failures, _) = finish(run()).unwrap();
    assert_eq!(failures, finish(Lapsed {}.run(&world)).unwrap().0);
    for failure in failures {
        let failure = failure.unwrap();
        assert_eq!(failure.message, "the policy has lapsed");
        assert!(failure.expression.is_some());
    }
}

plan! {
    Asks() -> u64 {
        step before = Act { n: 1 };
        #[after(before)]
        step reply: u64 = await;
        step last = Act { n: reply };
        last
    }
}

fn signal(journal: &Memory, path: &str, value: u64) {
    journal
        .send_now(
            "r",
            &Message::Signal {
                path: path.into(),
                body: value.to_string(),
            },
        )
        .unwrap();
}

#[test]
fn a_value_from_outside_is_recorded() {
    for when in ["early", "late", "dead"] {
        let (world, journal) = (World::new(), Memory::new());
        let run = || Asks {}.run(&world).durable(&journal, "r");
        world.on("before", &[Goes::Hangs]);
        let mut first = Driven::new(run());
        first.pending();
        if when == "early" {
            signal(&journal, "reply", 5);
            first.pending();
        }
        drop(first);
        world.all_well();
        if when == "dead" {
            signal(&journal, "reply", 5);
        }
        world.on("last", &[Goes::Hangs]);
        let mut second = Driven::new(run());
        second.pending();
        if when == "late" {
            signal(&journal, "reply", 5);
        }
        second.pending();
        drop(second);
        world.all_well();
        assert_eq!(finish(run()).unwrap(), 5, "{when}");
        assert_eq!(world.called(), "before before last last", "{when}");
    }
}

plan! {
    AsksTwice() -> u64 {
        #[retry(2, backoff = "0s")]
        step block = {
            step reply: u64 = await;
            step paid = Act { n: reply };
            paid
        };
        block
    }
}

#[test]
fn a_value_once_given_stays_for_the_next_attempt() {
    let (world, journal) = (World::new(), Memory::new());
    world.on("block.paid", &[Goes::Hangs]);
    let run = AsksTwice {}.run(&world).durable(&journal, "r");
    let signals = run.signals();
    let mut first = Driven::new(run);
    first.pending();
    signals.send("block.reply", 5u64).unwrap();
    first.pending();
    drop(first);
    assert_eq!(world.called(), "block.paid");
    world.on("block.paid", &[Goes::Fails(busy)]);
    let again = finish(AsksTwice {}.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(again.failures()[0].step(), "block.paid");
    assert_eq!(world.called(), "block.paid block.paid");
}

/// A run with a report, which shows arguments.
fn reported<O: DeserializeOwned + Send + 'static>(
    run: Run<'_, World, O>,
) -> WithReport<'_, World, O> {
    run.capture_arguments(true).with_report()
}

#[test]
fn a_report_of_a_resumed_run_is_that_of_another() {
    let world = World::new();
    let shown = |report: &plan_runtime::Report| {
        let mut words = Vec::new();
        for step in report.steps() {
            words.push(format!("{} {}", step.id(), step.status()));
            for attempt in step.attempts() {
                words.push(format!(
                    "{:?} {} {:?} {:?}",
                    attempt.element(),
                    attempt.number(),
                    attempt.arguments().map(ToString::to_string),
                    attempt.error().map(ToString::to_string)
                ));
                for inside in attempt.inside() {
                    words.extend(
                        inside
                            .steps()
                            .iter()
                            .map(|step| format!("  {} {}", step.id(), step.status())),
                    );
                }
            }
        }
        words.join("\n")
    };
    let fail = || {
        world.on("first", &[Goes::Fails(rich)]);
        world.on("each[1]", &[Goes::Fails(plain)]);
    };
    fail();
    let (_, expected) = finish(reported(Caught {}.run(&world)));
    let journal = Memory::new();
    let run = || reported(Caught {}.run(&world).durable(&journal, "r"));
    world.on("last", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    let (_, resumed) = finish(run());
    let (_, ended) = finish(run());
    assert_eq!(shown(&resumed), shown(&expected));
    assert_eq!(shown(&ended), shown(&expected));

    let (_, expected) = finish(reported(Nested {}.run(&world)));
    let journal = Memory::new();
    let run = || reported(Nested {}.run(&world).durable(&journal, "r"));
    world.on("called.second", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    // The call is not repeated, and so the reports of the plans inside are unknown.
    let inside = "\n  first completed\n  second completed";
    let without = shown(&expected).replacen(&inside.repeat(3), "", 1);
    assert_ne!(without, shown(&expected));
    assert_eq!(shown(&finish(run()).1), without);
    assert_eq!(shown(&finish(run()).1), without);
}

#[test]
fn numbers_survive() {
    plan! { Numbers(x: f64) -> f64 { step same: f64 = x; step n = Act { n: u64::MAX }; if n == u64::MAX { same } else { 0.0 } } }
    let world = World::new();
    for _ in 0..300 {
        let x = f64::from_bits(fastrand::u64(..));
        if !x.is_finite() {
            continue;
        }
        let journal = Memory::new();
        let run = || Numbers { x }.run(&world).durable(&journal, "r");
        world.on("n", &[Goes::Hangs]);
        crash(run());
        world.all_well();
        assert_eq!(finish(run()).unwrap().to_bits(), x.to_bits());
        assert_eq!(finish(run()).unwrap().to_bits(), x.to_bits());
    }
}

/// Runs a plan with a journal of its own inside its call.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct OwnJournal {}

impl Call<World> for OwnJournal {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let run = Two { n: 1 }.run(world).inside(&context);
        Ok(run.durable(&Memory::new(), "own").await?)
    }
}

plan! {
    WithOwnJournal() -> u64 {
        step own = OwnJournal {};
        own
    }
}

#[test]
fn a_run_inside_a_call_has_no_journal_of_its_own() {
    let error = finish(WithOwnJournal {}.run(&World::new())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `with_own_journal` failed: step `own` (own_journal): plan `two` cannot start: the journal records a run inside a call with the enclosing run; make only \
         the enclosing run durable"
    );
}

#[test]
fn the_id_in_the_journal_is_that_of_the_run() {
    for first in [true, false] {
        let (world, journal) = (World::new(), Memory::new());
        let run = Two { n: 1 }.run(&world);
        let run = if first {
            run.id("other").durable(&journal, "r")
        } else {
            run.durable(&journal, "r").id("other")
        };
        finish(run).unwrap();
        let keys: Vec<String> = world.keys().into_iter().map(|(_, key)| key).collect();
        assert_eq!(keys, ["r/first", "r/second"]);
    }
}

plan! {
    AsksOnce() -> u64 {
        step number: u64 = await;
        number
    }
}

#[test]
fn a_value_that_does_not_fit_stops_the_run() {
    let (world, journal) = (World::new(), Memory::new());
    let run = || AsksOnce {}.run(&world).durable(&journal, "r");
    crash(run());
    let text = Message::Signal {
        path: "number".into(),
        body: "\"seven\"".into(),
    };
    journal.send_now("r", &text).unwrap();
    for _ in 0..2 {
        let error = finish(run()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "plan `asks_once` stopped: the value that was sent to step `number` does not fit the plan any more: invalid type: string \"seven\", expected u64; resume the run with a plan \
             whose types match the recorded values, or start a new run with another ID"
        );
    }
    // The step has its value, so nothing else could end the run.
    journal.send_now("r", &Message::Cancel).unwrap();
    for _ in 0..2 {
        let error = finish(run()).unwrap_err();
        assert_eq!(error.to_string(), "plan `asks_once` was cancelled");
    }
}
