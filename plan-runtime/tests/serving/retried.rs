//! Runs that ended: they are begun again, which calls nothing, or retried.

use crate::durable::support::{Act, Driven, Goes, Undo, World};
use crate::journal::asking::Asking;
use crate::serving::support::{Folder, Place, at, in_each_place};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::Memory;
use plan_runtime::run::{
    CallContext, Decision, Gate, OnFailure, PendingCall, Run, Throttle, WaitReason,
};
use plan_runtime::{Call, Error, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

fn gone() -> Error {
    Error::permanent("gone")
}

/// A world with a database, in which plans are run and retried.
struct Case<P: Place> {
    world: Arc<World>,
    toolbox: Toolbox<World>,
    db: P::Store,
    folder: P,
}

type Outcome<O> = std::result::Result<O, String>;

impl<P: Place> Case<P> {
    fn of<T: Call<World> + 'static>() -> Self {
        let folder = P::new();
        Self {
            world: Arc::new(World::new()),
            toolbox: Toolbox::new().with::<T>(),
            db: folder.open(),
            folder,
        }
    }

    /// Runs a plan to its end, and begins it once more, which calls nothing. Returns what was called, sorted.
    fn run<'w, O>(&'w self, run: impl Fn(&'w World) -> Run<'w, World, O>) -> (Outcome<O>, String) {
        let run = || {
            let result = smol::block_on(run(&self.world).durable(&self.db, "r"));
            result.map_err(|error| error.to_string())
        };
        let result = run();
        let called = self.world.called();
        let again = run();
        assert_eq!(self.world.called(), "", "{:?}", again.err());
        assert_eq!(again.err(), result.as_ref().err().cloned());
        let mut called: Vec<&str> = called.split(' ').collect();
        called.sort_unstable();
        (result, called.join(" "))
    }

    /// Runs a plan until the `hanging` calls hang, releases the `ending` calls at one moment, and runs the plan to its end.
    fn run_until<'w, O>(
        &'w self,
        run: impl Fn(&'w World) -> Run<'w, World, O>,
        hanging: &[&str],
        ending: &[&str],
    ) -> Outcome<O> {
        let first = self.world.keys().len();
        let mut driven = Driven::new(run(&self.world).durable(&self.db, "r"));
        let has_called = |path: &&str| {
            let keys = self.world.keys();
            keys[first..].iter().any(|(called, _)| called == path)
        };
        let mut is_released = false;
        loop {
            if let Poll::Ready(result) = driven.poll() {
                return result.map_err(|error| error.to_string());
            }
            if !is_released && hanging.iter().all(has_called) {
                ending.iter().for_each(|path| self.world.release(path));
                is_released = true;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn retry(&self) {
        let retried = at(&self.db, &self.toolbox, &self.world).retry_failed("r");
        retried.unwrap();
    }

    /// No call repeats the key of an undone call.
    fn check_keys(&self, undoable: &[&str]) {
        let keys = self.world.keys().into_iter();
        let keys = keys.filter(|(path, _)| undoable.contains(&&**path));
        let keys: Vec<String> = keys.map(|(_, key)| key).collect();
        let all: BTreeSet<&String> = keys.iter().collect();
        assert_eq!(all.len(), keys.len(), "{keys:#?}");
    }
}

plan! {
    Absorbed() -> serde_json::Value {
        #[catch]
        step caught = {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            h
        };
        #[optional]
        step optional = {
            step h = Act { n: 2 };
            #[undo(h)]
            step hb = Undo { n: h };
            h
        };
        #[fallback(0u64)]
        step fallback = {
            step h = Act { n: 3 };
            #[undo(h)]
            step hb = Undo { n: h };
            h
        };
        #[catch(each)]
        step each = for n in [4u64, 5] {
            step h = Act { n };
            #[undo(h)]
            step hb = Undo { n: h };
            #[after(h)]
            step q = Act { n };
            q
        };
        #[at_most(2)]
        #[collect]
        step rounds = loop |last| {
            step h = Act { n: 6 };
            #[undo(h)]
            step hb = Undo { n: h };
            step more: bool = last.is_none();
            h
        } while more;
        #[catch]
        step failed = {
            step h = Act { n: 7 };
            #[undo(h)]
            step hb = Undo { n: h };
            #[after(h)]
            step q = Act { n: 8 };
            q
        };
        #[after(failed)]
        step beside = Act { n: 10 };
        #[after(caught, optional, fallback, each, rounds, beside)]
        step p = Act { n: 9 };
        serde_json::json!([caught, optional, fallback, each, rounds, failed, p])
    }
}

/// A block that succeeded, and was undone later, is done again, even if its step would have made up for a failure. A failure that something made up for stays.
fn only_failures_that_were_made_up_for_stay<P: Place>() {
    let case = Case::<P>::of::<Absorbed>();
    for path in ["p", "each[1].q", "failed.q"] {
        case.world.on(path, &[Goes::Fails(gone)]);
    }
    let (result, _) = case.run(|world| Absorbed {}.run(world));
    result.unwrap_err();
    case.world.all_well();
    case.retry();
    let (result, called) = case.run(|world| Absorbed {}.run(world));
    assert_eq!(
        called,
        "caught.h each[0].h each[0].q fallback.h optional.h p rounds[0].h rounds[1].h"
    );
    let found = result.unwrap();
    let expected = serde_json::json!([{"Ok": 1}, 2, 3, 4, [6, 6], 7, 9]);
    for place in [0, 1, 2, 4, 6] {
        assert_eq!(found[place], expected[place]);
    }
    assert_eq!(found[3][0]["Ok"], 4);
    for (failure, step) in [(&found[3][1], "each[1].q"), (&found[5], "failed.q")] {
        assert_eq!(failure["Err"]["step"], step);
    }
    case.check_keys(&[
        "caught.h",
        "optional.h",
        "fallback.h",
        "rounds[0].h",
        "rounds[1].h",
        "each[0].h",
    ]);
}

plan! {
    Cut() -> u64 {
        #[catch]
        step z = {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            #[after(h)]
            step q = Act { n: 2 };
            q
        };
        step p = Act { n: 3 };
        p + z.unwrap_or(0)
    }
}

/// A failure from outside of the step has no replacement.
fn a_block_that_was_dropped_goes_on<P: Place>() {
    let case = Case::<P>::of::<Cut>();
    case.world.on("z.q", &[Goes::Hangs]);
    let plan = || Cut {};
    let mut run = Driven::new(plan().run(&*case.world).durable(&case.db, "r"));
    while !case.world.keys().iter().any(|(path, _)| path == "z.q") {
        let _ = run.poll();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    drop(run);
    case.db.cancel_now("r").unwrap();
    let (result, _) = case.run(|world| plan().run(world));
    assert_eq!(
        result.unwrap_err(),
        "plan `cut` was cancelled; undone: `z.h`"
    );
    case.world.all_well();
    case.retry();
    let (result, called) = case.run(|world| plan().run(world));
    assert_eq!((result, &*called), (Ok(5), "z.h z.q"));
    case.check_keys(&["z.h"]);
}

plan! {
    Rounds() -> u64 {
        #[at_most(3)]
        step rounds = loop |last| {
            step first: bool = last.is_none();
            step n: u64 = last.unwrap_or(0) + 1;
            step h = if first { Act { n } } else { Act { n: n + 10 } };
            #[undo(h)]
            step hb = if first { Undo { n: h } };
            step more: bool = n < 3 && h < 13;
            h
        } while more;
        #[after(rounds)]
        step p = Act { n: 9 };
        p + rounds
    }
}

/// A round depends on the rounds before it.
fn the_rounds_after_a_redone_round_are_redone<P: Place>() {
    let case = Case::<P>::of::<Rounds>();
    case.world.on("p", &[Goes::Fails(gone)]);
    let (result, called) = case.run(|world| Rounds {}.run(world));
    assert!(result.is_err());
    assert_eq!(called, "p rounds[0].h rounds[0].hb rounds[1].h rounds[2].h");
    case.world.all_well();
    case.retry();
    let (result, called) = case.run(|world| Rounds {}.run(world));
    assert_eq!(
        (result, &*called),
        (Ok(32), "p rounds[0].h rounds[1].h rounds[2].h")
    );
    case.check_keys(&["rounds[0].h"]);
}

plan! {
    Both() -> u64 {
        step z = {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            #[after(h)]
            step q = Act { n: 2 };
            q
        };
        #[retry(2, backoff = "0s")]
        step y = {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            #[after(h)]
            step q = Act { n: 2 };
            q
        };
        step x = Act { n: 4 };
        z + y + x
    }
}

fn busy() -> Error {
    Error::msg("busy")
}

/// The options of a run have no effect on keys.
fn keys_are_new_whatever_the_run_was_configured_with<P: Place>() {
    for on_failure in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        for concurrency in [1, 2, 64] {
            let case = Case::<P>::of::<Both>();
            let run = |world| {
                let run = Both {}.run(world);
                run.on_failure(on_failure).concurrency(concurrency)
            };
            for path in ["z.q", "y.q", "x"] {
                case.world.on(path, &[Goes::Fails(busy)]);
            }
            for _ in 0..3 {
                assert!(case.run(run).0.is_err());
                case.retry();
            }
            case.world.all_well();
            assert_eq!(case.run(run).0, Ok(8));
            case.check_keys(&["z.h", "y.h"]);
        }
    }
}

plan! {
    Saga() -> u64 {
        step h = Act { n: 1 };
        #[undo(h)]
        step hb = Undo { n: h };
        #[after(h)]
        step q = Act { n: 2 };
        q
    }
}

/// Runs a plan inside its call, and waits after the plan failed.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Patient {}

impl Call<World> for Patient {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let result = Saga {}.run(world).inside(&context).await;
        world.call(&context).await?;
        Ok(result?)
    }
}

plan! {
    Dropped() -> u64 {
        step c = Patient {};
        step p = Act { n: 5 };
        c + p
    }
}

/// A dropped call has no record, but steps inside the call were undone.
fn a_dropped_call_keeps_what_was_undone_in_it<P: Place>() {
    let case = Case::<P>::of::<Dropped>();
    let run = |world| Dropped {}.run(world).on_failure(OnFailure::Cancel);
    for _ in 0..3 {
        let path = case.world.keys();
        let path = path
            .iter()
            .map(|(path, _)| path)
            .find(|path| path.ends_with("h"));
        assert!(path.is_none_or(|path| path == "c.h"), "{path:?}");
        case.world.on("c.q", &[Goes::Fails(gone)]);
        for path in ["c", "p"] {
            case.world.on(path, &[Goes::Hangs]);
        }
        let first = case.world.keys().len();
        let mut driven = Driven::new(run(&*case.world).durable(&case.db, "r"));
        while !case.world.keys()[first..]
            .iter()
            .any(|(path, _)| path == "c")
        {
            let _ = driven.poll();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(driven);
        case.world.on("p", &[Goes::Fails(gone)]);
        let (result, _) = case.run(run);
        assert!(result.is_err());
        case.world.all_well();
        case.retry();
    }
    let (result, called) = case.run(run);
    assert_eq!((result, &*called), (Ok(7), "c c.h c.q p"));
    case.check_keys(&["c.h", "c.hb"]);
}

/// Runs a plan inside its call.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Inner {
    parts: bool,
}

plan! {
    SagaInParts() -> u64 {
        step h = Act { n: 1 };
        #[undo(h)]
        step hb = {
            step one = Undo { n: h };
            step two = Undo { n: one };
            two
        };
        #[after(h)]
        step q = Act { n: 2 };
        q
    }
}

impl Call<World> for Inner {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        let inside = if self.parts {
            SagaInParts {}.run(world).inside(&context).await
        } else {
            Saga {}.run(world).inside(&context).await
        };
        Ok(inside?)
    }
}

plan! {
    Beside(parts: bool) -> u64 {
        step p = Act { n: 5 };
        step c = Inner { parts };
        c + p
    }
}

/// A failure beside an undo step drops the plan of the step, after the undo call has ended. The effect is undone, so it is repeated with a new key.
fn an_undo_call_that_has_ended_counts_in_a_dropped_plan<P: Place>() {
    let case = Case::<P>::of::<Beside>();
    let run = |world| {
        Beside { parts: false }
            .run(world)
            .on_failure(OnFailure::Cancel)
    };
    case.world.on("c.q", &[Goes::Fails(gone)]);
    case.world.on("c.hb", &[Goes::Hangs]);
    case.world.on("p", &[Goes::FailsLate(gone)]);
    let both = ["p", "c.hb"];
    case.run_until(run, &both, &both).unwrap_err();
    case.world.all_well();
    case.retry();
    case.world.called();
    assert_eq!(case.run(run), (Ok(7), "c.h c.q p".to_owned()));
    case.check_keys(&["c.h"]);
}

/// An undo step of several calls that was dropped or has failed may have undone a part of the effect.
fn an_undo_step_that_has_undone_a_part_refuses_a_retry<P: Place>() {
    for first in ["p", "c.hb.two"] {
        let case = Case::<P>::of::<Beside>();
        let run = |world| {
            Beside { parts: true }
                .run(world)
                .on_failure(OnFailure::Cancel)
        };
        case.world.on("c.q", &[Goes::Fails(gone)]);
        case.world.on("c.hb.two", &[Goes::FailsLate(gone)]);
        case.world.on("p", &[Goes::FailsLate(gone)]);
        let both = ["p", "c.hb.two"];
        case.run_until(run, &both, &[first]).unwrap_err();
        case.world.all_well();
        let retried = at(&case.db, &case.toolbox, &case.world).retry_failed("r");
        let error = retried.unwrap_err().to_string();
        assert!(error.contains("start a new run"), "{error}");
    }
}

plan! {
    Counted() -> u64 {
        step h = Act { n: 1 };
        #[undo(h)]
        step hb = Undo { n: h };
        step c: u64 = std::hint::black_box(2);
        step p = Act { n: 3 };
        h + c + p
    }
}

/// A run may have ended without the record of a step that had ended. The replay drops the step, as the run did, and undoes the other steps.
#[test]
fn a_step_without_a_record_does_not_keep_an_ended_run_from_its_undo_steps() {
    let case = Case::<Folder>::of::<Counted>();
    let run = |world| Counted {}.run(world);
    case.world.on("p", &[Goes::Hangs]);
    let mut driven = Driven::new(run(&*case.world).durable(&case.db, "r"));
    while case.world.keys().len() < 2 {
        let _ = driven.poll();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    drop(driven);
    case.db.cancel_now("r").unwrap();
    let (result, _) = case.run(run);
    let error = result.unwrap_err();
    assert_eq!(error, "plan `counted` was cancelled; undone: `h`");
    let database = rusqlite::Connection::open(case.folder.path()).unwrap();
    let record = "DELETE FROM records WHERE key = 'c@1'";
    assert_eq!(database.execute(record, []).unwrap(), 1);
    drop(database);
    case.world.called();
    assert_eq!(case.run(run).0, Err(error));
    let report = at(&case.db, &case.toolbox, &case.world)
        .report("r")
        .unwrap();
    let undone = report.step("hb").unwrap();
    assert_eq!(undone.status().to_string(), "completed");
}

plan! {
    Twins(flag: bool) -> u64 {
        step z = if flag {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            step q = Act { n: 2 };
            #[after(h, q)]
            step r = Act { n: 3 };
            r
        } else {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            step q = Act { n: h };
            #[after(q)]
            step r = Act { n: 3 };
            r
        };
        z
    }
}

/// Both branches have steps with equal names. Only the branch that has run decides which steps are repeated.
fn branches_with_the_same_names_are_told_apart<P: Place>() {
    for (flag, repeated) in [(true, "z.h z.r"), (false, "z.h z.q z.r")] {
        let case = Case::<P>::of::<Twins>();
        let run = |world| Twins { flag }.run(world);
        for _ in 0..2 {
            case.world.on("z.r", &[Goes::Fails(gone)]);
            case.run(run).0.unwrap_err();
            case.world.all_well();
            case.retry();
        }
        assert_eq!(case.run(run), (Ok(3), repeated.to_owned()));
    }
}

plan! {
    Ended() -> u64 {
        step p = Act { n: 1 };
        step h = Act { n: 2 };
        #[undo(h)]
        step hb = Undo { n: h };
        step z = {
            step i = Act { n: 3 };
            #[undo(i)]
            step ib = Undo { n: i };
            i
        };
        p + h + z
    }
}

/// A call that has ended is done, although the record of a failure comes first: the call is undone.
fn a_call_that_ends_with_a_failure_is_undone<P: Place>() {
    for order in [["p", "h", "z.i"], ["h", "p", "z.i"], ["z.i", "h", "p"]] {
        let case = Case::<P>::of::<Ended>();
        let run = |world| Ended {}.run(world).on_failure(OnFailure::Cancel);
        case.world.on("p", &[Goes::FailsLate(gone)]);
        case.world.on("h", &[Goes::Hangs]);
        case.world.on("z.i", &[Goes::Hangs]);
        let error = case.run_until(run, &order, &order).unwrap_err();
        assert!(error.contains("undone: "), "{error}");
        assert!(error.contains("`h`") && error.contains("`z.i`"), "{error}");
        assert!(!error.contains("not undone"), "{error}");
        case.world.called();
        assert_eq!(case.run(run).0, Err(error));
        case.world.all_well();
        case.retry();
        assert_eq!(case.run(run), (Ok(6), "h p z.i".to_owned()));
        case.check_keys(&["h", "z.i"]);
    }
}

plan! {
    AtOnce() -> u64 {
        step a = { step h = Act { n: 1 }; h };
        step b = Act { n: 2 };
        #[undo(b)]
        step bb = Undo { n: b };
        a + b
    }
}

/// The failure came before the other step began. A replay cannot tell, and calls nothing in any case.
#[test]
fn a_failed_run_calls_nothing_when_it_is_begun_again() {
    let (world, journal) = (World::new(), Memory::new());
    world.on("a.h", &[Goes::Fails(gone)]);
    let run = || smol::block_on(AtOnce {}.run(&world).durable(&journal, "r")).unwrap_err();
    let first = run().to_string();
    assert_eq!(world.called(), "a.h b bb");
    for _ in 0..2 {
        world.all_well();
        let again = run();
        assert_eq!(world.called(), "");
        assert!(again.to_string().contains(&first), "{again}");
    }
}

plan! {
    Locked() -> u64 {
        step a = {
            step h = Act { n: 1 };
            #[always]
            step told = Act { n: 2 };
            h
        };
        #[after(a)]
        step p = Act { n: 3 };
        #[always]
        step closed = Act { n: 4 };
        a + p
    }
}

/// The always steps of a block run again if something in the block does.
fn a_block_that_stays_as_it_is_has_ended<P: Place>() {
    let case = Case::<P>::of::<Locked>();
    case.world.on("p", &[Goes::Fails(gone)]);
    assert!(case.run(|world| Locked {}.run(world)).0.is_err());
    case.world.all_well();
    case.retry();
    let (result, called) = case.run(|world| Locked {}.run(world));
    assert_eq!((result, &*called), (Ok(4), "closed p"));
}

plan! {
    Branched(flag: bool) -> u64 {
        step z = if flag {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            step q = Act { n: 2 };
            #[after(h, q)]
            step p = Act { n: 3 };
            p
        } else {
            step h = Act { n: 1 };
            #[undo(h)]
            step hb = Undo { n: h };
            step q = Act { n: h };
            q
        };
        z
    }
}

/// A branch that has not run decides nothing, even if its steps have the names of steps that have run.
fn a_branch_that_has_not_run_repeats_no_step<P: Place>() {
    let case = Case::<P>::of::<Branched>();
    case.world.on("z.p", &[Goes::Fails(gone)]);
    let run = |world| Branched { flag: true }.run(world);
    case.run(run).0.unwrap_err();
    case.world.all_well();
    case.retry();
    assert_eq!(case.run(run).1, "z.h z.p");
}

/// A version without records of undone steps may have undone a step, which must not count as done.
#[test]
fn a_run_that_an_older_version_has_undone_is_refused() {
    let case = Case::<Folder>::of::<Absorbed>();
    case.world.on("p", &[Goes::Fails(gone)]);
    case.run(|world| Absorbed {}.run(world)).0.unwrap_err();
    let database = rusqlite::Connection::open(case.folder.path()).unwrap();
    let notes = "DELETE FROM records WHERE key LIKE '%_!undone'";
    assert!(database.execute(notes, []).unwrap() > 0);
    drop(database);
    let refused = at(&case.db, &case.toolbox, &case.world).retry_failed("r");
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.ends_with("its records lack details for a retry; start a new run"),
        "{refused}"
    );
}

plan! {
    Asked() -> u64 {
        step h = Act { n: 1 };
        #[undo(h)]
        step hb = Undo { n: h };
        #[after(h)]
        step p = Act { n: 2 };
        h + p
    }
}

/// A gate that answers after this time.
struct Desk(Duration);

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        drop(call);
        if !self.0.is_zero() {
            smol::Timer::after(self.0).await;
        }
        Decision::Allow
    }
}

/// Between its failure and its retry, a run waits for no answer, and for no turn at a throttle.
fn the_time_before_a_retry_is_no_wait<P: Place>() {
    let pause = Duration::from_secs(1);
    for wait in [None, Some(0), Some(20)] {
        let wait = wait.map(Duration::from_millis);
        let case = Case::<P>::of::<Asked>();
        let throttle = Throttle::new().concurrency("act", 4);
        let run = |world| {
            let run = Asked {}.run(world).throttle(&throttle);
            match wait {
                Some(wait) => run.gate(Desk(wait)),
                None => run,
            }
        };
        let wait = wait.unwrap_or_default();
        case.world.on("p", &[Goes::Fails(gone)]);
        case.run(run).0.unwrap_err();
        std::thread::sleep(pause);
        case.world.all_well();
        case.retry();
        assert_eq!(case.run(run), (Ok(3), "h p".to_owned()));
        let report = at(&case.db, &case.toolbox, &case.world).report("r");
        let report = report.unwrap();
        for id in ["h", "p"] {
            let step = report.step(id).unwrap();
            let waits = step.waits().iter();
            let answers = waits.clone().filter(|it| it.reason() == WaitReason::Answer);
            assert_eq!(answers.count(), usize::from(!wait.is_zero()), "{report}");
            assert!(waits.clone().all(|it| it.started() >= pause), "{report}");
            assert!((wait..pause).contains(&step.waited()), "{report}");
            assert!(step.started().unwrap() >= pause, "{report}");
        }
    }
}

in_each_place! {
    only_failures_that_were_made_up_for_stay
    a_block_that_was_dropped_goes_on
    the_rounds_after_a_redone_round_are_redone
    keys_are_new_whatever_the_run_was_configured_with
    a_dropped_call_keeps_what_was_undone_in_it
    an_undo_call_that_has_ended_counts_in_a_dropped_plan
    an_undo_step_that_has_undone_a_part_refuses_a_retry
    branches_with_the_same_names_are_told_apart
    a_call_that_ends_with_a_failure_is_undone
    a_block_that_stays_as_it_is_has_ended
    a_branch_that_has_not_run_repeats_no_step
    the_time_before_a_retry_is_no_wait
}
