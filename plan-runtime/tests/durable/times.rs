//! The time of a run, which passes while no process runs it, and decisions by that time, which are permanent.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, crash, finish, secs};
use plan_runtime::run::{Run, RunErrorKind};
use plan_runtime::{Error, Sleep, plan};

fn busy() -> Error {
    Error::msg("busy")
}

plan! {
    Patient() -> u64 {
        #[retry(3, backoff = "10s", jitter = false)]
        #[deadline("60s")]
        step first = Act { n: 1 };
        #[after(first)]
        step last = Act { n: 2 };
        first + last
    }
}

#[test]
fn a_deadline_is_not_passed_by_what_is_recorded() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Patient {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("first", &[Goes::Fails(busy), Goes::Well]);
    world.on("last", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(10));
    first.pending();
    drop(first);
    assert_eq!(world.called(), "first first#2 last");
    // An hour later, the step has still ended in its time.
    journal.set_age(secs(3600));
    world.all_well();
    assert_eq!(finish(run()).unwrap(), 3);
    assert_eq!(world.called(), "last");
}

plan! {
    Polled() -> u64 {
        #[at_most(5, every = "10s")]
        #[deadline("60s")]
        step polled = loop |last| {
            step seen = Act { n: 1 };
            step sum: u64 = seen + last.unwrap_or(0);
            sum
        } while sum < 3;
        #[after(polled)]
        step done = Act { n: 2 };
        polled + done
    }
}

#[test]
fn a_loop_that_has_ended_in_its_time_stays_so() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Polled {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("done", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    for _ in 0..2 {
        first.pending();
        world.timer.advance(secs(10));
    }
    first.pending();
    drop(first);
    assert_eq!(
        world.called(),
        "polled[0].seen polled[1].seen polled[2].seen done"
    );
    journal.set_age(secs(3600));
    world.all_well();
    assert_eq!(finish(run()).unwrap(), 5);
    assert_eq!(world.called(), "done");
}

plan! {
    Limited() -> Option<u64> {
        #[optional]
        #[timeout("60s")]
        step block = {
            #[retry(3, backoff = "10s", jitter = false)]
            step first = Act { n: 1 };
            first
        };
        #[after(block)]
        step last = Act { n: 2 };
        if last == 2 { block } else { None }
    }
}

#[test]
fn a_block_that_has_ended_in_its_time_stays_so() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Limited {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("block.first", &[Goes::Fails(busy), Goes::Well]);
    world.on("last", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(10));
    first.pending();
    drop(first);
    assert_eq!(world.called(), "block.first block.first#2 last");
    journal.set_age(secs(3600));
    world.all_well();
    assert_eq!(finish(run()).unwrap(), Some(1));
    assert_eq!(world.called(), "last");
}

plan! {
    CutOff() -> Option<u64> {
        #[optional]
        #[timeout("60s")]
        step block = {
            #[retry(3, backoff = "10s", jitter = false)]
            step first = Act { n: 1 };
            #[undo(first)]
            step undone = Undo { n: first };
            step paid = Act { n: first };
            paid
        };
        block
    }
}

#[test]
fn a_block_whose_time_was_over_has_done_what_it_did_before() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        let run = CutOff {}.run(&world).timer(world.timer.clone());
        run.durable(&journal, "r")
    };
    world.on("block.first", &[Goes::Fails(busy), Goes::Well]);
    world.on("block.paid", &[Goes::Hangs]);
    world.on("block.undone", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(10));
    first.pending();
    world.timer.advance(secs(50));
    first.pending();
    drop(first);
    assert_eq!(
        world.called(),
        "block.first block.first#2 block.paid block.undone"
    );
    world.all_well();
    journal.set_age(secs(61));
    assert_eq!(finish(run()).unwrap(), None);
    assert_eq!(world.called(), "block.undone");
}

plan! {
    Inner() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Undo { n: held };
        step paid = Act { n: held };
        paid
    }
}

plan! {
    TimedPlan() -> Option<u64> {
        #[optional]
        #[timeout("60s")]
        step inner = Inner {};
        #[after(inner)]
        step last = Act { n: 2 };
        if last == 2 { inner } else { None }
    }
}

#[test]
fn a_plan_whose_time_was_over_is_not_run_again() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        TimedPlan {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("inner.paid", &[Goes::Hangs]);
    world.on("last", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(60));
    first.pending();
    drop(first);
    assert_eq!(world.called(), "inner.held inner.paid inner.released last");
    journal.set_age(secs(61));
    world.all_well();
    assert_eq!(finish(run()).unwrap(), None);
    assert_eq!(world.called(), "last");
}

#[test]
fn a_plan_that_was_cut_off_has_the_time_that_is_left() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        TimedPlan {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("inner.paid", &[Goes::Hangs]);
    crash(run());
    world.called();
    journal.set_age(secs(50));
    let mut second = Driven::new(run());
    second.pending();
    world.timer.advance(secs(10));
    assert_eq!(second.ended().unwrap(), None);
    assert_eq!(world.called(), "inner.paid inner.released last");
}

plan! {
    Backoff() -> u64 {
        #[retry(3, backoff = "100s", jitter = false)]
        step first = Act { n: 1 };
        first
    }
}

#[test]
fn a_wait_is_as_long_as_it_would_have_been() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Backoff {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("first", &[Goes::Fails(busy), Goes::Well]);
    crash(run());
    journal.set_age(secs(40));
    let mut second = Driven::new(run());
    second.pending();
    assert_eq!(world.called(), "first");
    world.timer.advance(secs(59));
    second.pending();
    world.timer.advance(secs(1));
    assert_eq!(second.ended().unwrap(), 1);
    assert_eq!(world.called(), "first#2");
}

#[test]
fn a_clock_that_was_set_back_delays_nothing() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Patient {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("first", &[Goes::Fails(busy), Goes::Well]);
    crash(run());
    journal.set_age(secs(5));
    crash(run());
    // Yesterday.
    journal.set_back(secs(86_400));
    let mut second = Driven::new(run());
    second.pending();
    world.timer.advance(secs(10));
    assert_eq!(second.ended().unwrap(), 3);
}

plan! {
    Long() -> u64 {
        step first = Act { n: 1 };
        #[after(first)]
        #[retry(2, backoff = "10s", jitter = false)]
        step second = Act { n: 2 };
        second
    }
}

#[test]
fn a_clock_that_was_set_back_behind_records_delays_nothing() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Long {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("first", &[Goes::Hangs]);
    world.on("second", &[Goes::Fails(busy), Goes::Well]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(86_400));
    world.release("first");
    first.pending();
    drop(first);
    assert_eq!(world.called(), "first second");
    // By this clock, the run has just begun.
    journal.set_back(secs(1));
    let mut again = Driven::new(run());
    again.pending();
    world.timer.advance(secs(10));
    assert_eq!(again.ended().unwrap(), 2);
    assert_eq!(world.called(), "second#2");
}

plan! {
    Napping() -> u64 {
        step nap = Sleep { time: "100s" };
        #[after(nap)]
        step last = Act { n: 2 };
        last
    }
}

#[test]
fn a_sleep_goes_on_while_nobody_runs_it() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Napping {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    crash(run());
    journal.set_age(secs(99));
    let mut second = Driven::new(run());
    second.pending();
    assert_eq!(world.called(), "");
    world.timer.advance(secs(1));
    assert_eq!(second.ended().unwrap(), 2);
}

#[test]
fn the_deadline_of_a_run_counts_from_its_first_start() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        let run = Napping {}.run(&world).timer(world.timer.clone());
        run.deadline(secs(50)).durable(&journal, "r")
    };
    crash(run());
    journal.set_age(secs(40));
    let mut second = Driven::new(run());
    second.pending();
    world.timer.advance(secs(10));
    assert_eq!(second.ended().unwrap_err().kind(), RunErrorKind::Deadline);
    // Again and again.
    journal.set_age(secs(3));
    assert_eq!(finish(run()).unwrap_err().kind(), RunErrorKind::Deadline);
    assert_eq!(world.called(), "");
}

plan! {
    Grace() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = Undo { n: held };
        step paid = Act { n: held };
        #[always]
        step told = Act { n: 3 };
        paid
    }
}

#[test]
fn the_grace_does_not_count_the_time_in_which_nobody_ran_it() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        let run = Grace {}.run(&world).timer(world.timer.clone());
        run.deadline(secs(50))
            .grace_period(secs(20))
            .durable(&journal, "r")
    };
    world.on("paid", &[Goes::Hangs]);
    world.on("released", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(50));
    first.pending();
    drop(first);
    assert_eq!(world.called(), "held paid released");
    journal.set_age(secs(3600));
    let mut second = Driven::new(run());
    second.pending();
    assert_eq!(world.called(), "released");
    world.timer.advance(secs(19));
    second.pending();
    world.release("released");
    let error = second.ended().unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Deadline);
    assert_eq!(error.undone().collect::<Vec<_>>(), ["held"]);
    assert_eq!(world.called(), "told");
    // And once the grace is over, it is over.
    assert_eq!(finish(run()).unwrap_err().kind(), RunErrorKind::Deadline);
    assert_eq!(world.called(), "");
}

#[test]
fn a_grace_that_was_over_stays_over() {
    let (world, journal) = (World::new(), Rough::slow());
    let run = || {
        let run = Grace {}.run(&world).timer(world.timer.clone());
        run.deadline(secs(50))
            .grace_period(secs(20))
            .durable(&journal, "r")
    };
    world.on("paid", &[Goes::Hangs]);
    world.on("released", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    let settle = |run: &mut Driven<_>| {
        loop {
            run.pending();
            if !journal.flush() {
                break;
            }
        }
    };
    settle(&mut first);
    world.timer.advance(secs(50));
    settle(&mut first);
    world.timer.advance(secs(20));
    // The end of the grace is written, and the end of the run is not.
    first.pending();
    journal.flush();
    first.pending();
    drop(first);
    journal.lose();
    world.called();
    let mut second = Driven::new(run());
    let error = loop {
        if let std::task::Poll::Ready(ended) = second.settle() {
            break ended.unwrap_err();
        }
        assert!(journal.flush(), "it runs on: {}", world.called());
    };
    assert_eq!(error.kind(), RunErrorKind::Deadline);
    assert_eq!(error.not_undone().collect::<Vec<_>>(), ["held"]);
    assert_eq!(world.called(), "");
}

plan! {
    Beside() -> u64 {
        #[retry(2, backoff = "10s", jitter = false)]
        step again = Act { n: 1 };
        #[timeout("15s")]
        step other = Act { n: 2 };
        again + other
    }
}

#[test]
fn a_further_attempt_on_its_way_is_made_again_after_a_failure_beside_it() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Beside {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("again", &[Goes::Fails(busy), Goes::Hangs]);
    world.on("other", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    for _ in 0..2 {
        world.timer.advance(secs(10));
        first.pending();
    }
    drop(first);
    assert_eq!(world.called(), "again other again#2");
    world.all_well();
    let error = finish(run()).unwrap_err();
    assert_eq!(error.failures().len(), 1, "{error}");
    assert_eq!(world.called(), "again#2");
}

#[test]
fn an_attempt_begins_after_all_that_is_being_recorded_before_it() {
    let (world, journal) = (World::new(), Rough::slow());
    let run = Beside {}
        .run(&world)
        .timer(world.timer.clone())
        .durable(&journal, "r");
    world.on("again", &[Goes::Fails(busy)]);
    world.on("other", &[Goes::Fails(|| Error::permanent("gone"))]);
    let mut run = Driven::new(run);
    run.pending();
    let is_recorded = |key: &str| journal.keys().iter().any(|it| it.starts_with(key));
    while !is_recorded("again@1") {
        assert!(journal.flush());
        run.pending();
    }
    assert!(!is_recorded("other@1"));
    world.timer.advance(secs(10));
    run.pending();
    // The failure of the other step is recorded first, so that this step starts nothing.
    let error = loop {
        match run.settle() {
            std::task::Poll::Ready(ended) => break ended.unwrap_err(),
            std::task::Poll::Pending => assert!(journal.flush()),
        }
    };
    assert_eq!(error.failures().len(), 2, "{error}");
    assert_eq!(world.called(), "again other");
}

#[test]
fn a_deadline_counts_the_time_in_which_nobody_ran_a_further_attempt() {
    let (world, journal) = (World::new(), Rough::new());
    let run = || {
        Patient {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r")
    };
    world.on("first", &[Goes::Fails(busy), Goes::Hangs]);
    let mut first = Driven::new(run());
    first.pending();
    world.timer.advance(secs(10));
    first.pending();
    drop(first);
    assert_eq!(world.called(), "first first#2");
    journal.set_age(secs(3600));
    world.all_well();
    let error = finish(run()).unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert_eq!(world.called(), "");
}

plan! {
    TimedRounds() -> u64 {
        #[at_most(3)]
        #[deadline("60s")]
        step rounds = loop |last| {
            step held = Act { n: 1 };
            #[undo(held)]
            step released = Undo { n: held };
            #[after(held)]
            step paid = Act { n: 2 };
            step sum: u64 = paid + last.unwrap_or(0);
            sum
        } while sum < 10;
        rounds
    }
}

plan! {
    TimedAttempts() -> u64 {
        #[retry(3, backoff = "10s", jitter = false)]
        #[deadline("60s")]
        step block = {
            step held = Act { n: 1 };
            #[undo(held)]
            step released = Undo { n: held };
            #[after(held)]
            step paid = Act { n: 2 };
            paid
        };
        block
    }
}

/// Lets the time of a step pass in a later round or attempt, and opens the ended run again. Once, the run crashes while the last of these calls runs.
fn pass_the_time(
    run: for<'w> fn(&'w World) -> Run<'w, World, u64>,
    outcomes: fn(&World),
    calls: &str,
) {
    for crashes in [false, true] {
        let (world, journal) = (World::new(), Rough::new());
        let run = || {
            let run = run(&world).timer(world.timer.clone());
            run.durable(&journal, "r")
        };
        outcomes(&world);
        if crashes {
            let before = calls.split(' ').count() - 1;
            world.hang_as(Some(before));
        }
        let mut first = Driven::new(run());
        let mut ended = None;
        for _ in 0..=6 {
            match first.settle() {
                std::task::Poll::Ready(result) => ended = Some(result),
                std::task::Poll::Pending => world.timer.advance(secs(10)),
            }
        }
        drop(first);
        assert_eq!(world.called(), calls);
        world.hang_as(None);
        let error = ended.unwrap_or_else(|| finish(run())).unwrap_err();
        assert!(error.to_string().contains("took longer than 1m"), "{error}");
        assert!(error.undone().len() > 0 && error.not_undone().len() == 0);
        world.called();
        let again = finish(run()).unwrap_err();
        assert_eq!(again.to_string(), error.to_string());
        assert_eq!(world.called(), "");
    }
}

#[test]
fn a_loop_whose_time_was_over_in_a_later_round_has_its_end() {
    pass_the_time(
        |world| TimedRounds {}.run(world),
        |world| world.on("rounds[1].paid", &[Goes::Hangs]),
        "rounds[0].held rounds[0].paid rounds[1].held rounds[1].paid rounds[1].released rounds[0].released",
    );
}

#[test]
fn a_block_whose_time_was_over_in_a_later_attempt_has_its_end() {
    pass_the_time(
        |world| TimedAttempts {}.run(world),
        |world| world.on_scope("block.paid", &[Goes::Fails(busy), Goes::Hangs]),
        "block.held block.paid block.released block.held block.paid block.released",
    );
}
