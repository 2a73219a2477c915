//! The column *resumed* of the table of the language: the behavior of each construct in a resumed run.

use super::rough::Rough;
use super::support::{Act, Goes, Undo, World, crash, finish};
use crate::journal::asking::Asking;
use plan_runtime::journal::spi::Message;
use plan_runtime::{Error, plan};
use std::sync::atomic::{AtomicU64, Ordering};

fn busy() -> Error {
    Error::msg("busy")
}

plan! {
    Undone() -> u64 {
        step a = Act { n: 1 };
        #[undo(a)]
        step ua = Undo { n: a };
        step b = Act { n: a };
        #[undo(b)]
        step ub = Undo { n: b };
        step c = Act { n: b };
        #[always]
        step told = Act { n: 4 };
        c
    }
}

#[test]
fn undo_steps_that_have_ended_do_not_run_again() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Undone {}.run(&world).durable(&journal, "r");
    world.on("c", &[Goes::Fails(busy)]);
    for at in ["ub", "ua", "told"] {
        world.on(at, &[Goes::Hangs]);
        crash(run());
        // An interrupted step runs again.
        crash(run());
        world.on(at, &[Goes::Well]);
    }
    let error = finish(run()).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(world.called(), "a b c ub ub ub ua ua ua told told told");
    let again = finish(run()).unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
    assert_eq!(world.called(), "");
}

#[test]
fn an_undo_step_that_failed_has_failed() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Undone {}.run(&world).durable(&journal, "r");
    world.on("c", &[Goes::Fails(busy)]);
    world.on("ub", &[Goes::Fails(busy)]);
    world.on("told", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    let error = finish(run()).unwrap_err();
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["b"]);
    assert_eq!(world.called(), "a b c ub ua told told");
}

#[test]
fn an_always_step_runs_unless_it_is_recorded() {
    let (world, journal) = (World::new(), Rough::slow());
    let run = || Undone {}.run(&world).durable(&journal, "r");
    // The step has ended, and its record is lost.
    let mut first = super::support::Driven::new(run());
    loop {
        first.pending();
        if journal.keys().contains("c@1") {
            break;
        }
        assert!(journal.flush());
    }
    drop(first);
    journal.lose();
    assert_eq!(world.called(), "a b c told");
    let mut second = super::support::Driven::new(run());
    loop {
        if let std::task::Poll::Ready(output) = second.settle() {
            assert_eq!(output.unwrap(), 1);
            break;
        }
        assert!(journal.flush());
    }
    assert_eq!(world.called(), "told");
}

plan! {
    Recovers() -> (Option<u64>, u64, bool) {
        #[optional]
        step optional = Act { n: 1 };
        #[fallback(7)]
        step fallback = Act { n: 2 };
        #[catch]
        step caught = Act { n: 3 };
        #[after(optional, fallback, caught)]
        step last = Act { n: 4 };
        if last == 4 { (optional, fallback, caught.is_err()) } else { (None, 0, false) }
    }
}

#[test]
fn catch_optional_and_fallback_take_the_recorded_outcome() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Recovers {}.run(&world).durable(&journal, "r");
    for path in ["optional", "fallback", "caught"] {
        world.on(path, &[Goes::Fails(busy)]);
    }
    world.on("last", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    assert_eq!(finish(run()).unwrap(), (None, 7, true));
    assert_eq!(world.called(), "optional fallback caught last last");
}

plan! {
    Retried() -> u64 {
        #[retry(4, backoff = "0s")]
        step tried = Act { n: 1 };
        #[retry(3, backoff = "0s")]
        step block = { step inner = Act { n: 2 }; inner };
        tried + block
    }
}

#[test]
fn retry_counts_recorded_attempts() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Retried {}.run(&world).durable(&journal, "r");
    world.on(
        "tried",
        &[Goes::Fails(busy), Goes::Fails(busy), Goes::Hangs],
    );
    world.on("block.inner", &[Goes::Well]);
    crash(run());
    assert_eq!(world.called(), "tried block.inner tried#2 tried#3");
    world.on("tried", &[Goes::Fails(busy)]);
    let error = finish(run()).unwrap_err();
    assert_eq!(error.failures()[0].attempts(), 4);
    assert_eq!(world.called(), "tried#3 tried#4");

    let journal = Rough::new();
    let run = || Retried {}.run(&world).durable(&journal, "r");
    world.all_well();
    world.on_scope("block.inner", &[Goes::Fails(busy)]);
    world.hang_at("block.inner", 3);
    crash(run());
    assert_eq!(world.called(), "tried block.inner block.inner block.inner");
    world.hang_at("", 0);
    assert!(finish(run()).is_err());
    assert_eq!(world.called(), "block.inner");
}

static LENGTH: AtomicU64 = AtomicU64::new(3);

fn items() -> Vec<u64> {
    (0..LENGTH.fetch_add(1, Ordering::SeqCst)).collect()
}

plan! {
    Listed() -> usize {
        step each = for n in items() { Act { n } };
        each.len()
    }
}

#[test]
fn for_takes_the_recorded_list() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Listed {}.run(&world).durable(&journal, "r");
    world.on("each[1]", &[Goes::Hangs]);
    crash(run());
    world.all_well();
    assert_eq!(finish(run()).unwrap(), 3);
    assert_eq!(world.called(), "each[0] each[1] each[2] each[1]");
}

plan! {
    Looped() -> u64 {
        #[at_most(5)]
        step rounds = loop |last| {
            step seen = Act { n: 1 };
            step sum: u64 = seen + last.unwrap_or(0);
            sum
        } while sum < 4;
        rounds
    }
}

#[test]
fn loop_goes_on_in_its_round() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Looped {}.run(&world).durable(&journal, "r");
    for round in 0..4 {
        let path = format!("rounds[{round}].seen");
        world.on(&path, &[Goes::Hangs]);
        crash(run());
        world.all_well();
    }
    assert_eq!(finish(run()).unwrap(), 4);
    assert_eq!(
        world.called(),
        "rounds[0].seen rounds[0].seen rounds[1].seen rounds[1].seen rounds[2].seen rounds[2].seen rounds[3].seen rounds[3].seen"
    );
}

plan! {
    Waited() -> u64 {
        step reply: u64 = await;
        step last = Act { n: reply };
        last
    }
}

#[test]
fn await_takes_the_recorded_value() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || Waited {}.run(&world).durable(&journal, "r");
    crash(run());
    let signal = |value: &str| {
        let (path, body) = ("reply".to_owned(), value.to_owned());
        journal.send_now("r", &Message::Signal { path, body })
    };
    signal("5").unwrap();
    world.on("last", &[Goes::Hangs]);
    crash(run());
    assert!(signal("6").is_err());
    world.all_well();
    assert_eq!(finish(run()).unwrap(), 5);
    assert!(journal.keys().contains("reply@1"));
    assert_eq!(world.called(), "last last");
}
