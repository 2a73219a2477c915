//! The errors of time limits. In memory, with a journal and after a crash, an error names the limit of its own element, and the kind of the limit.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, finish, secs};
use plan_runtime::run::Run;
use plan_runtime::{Failure, Report, RunError, plan};
use std::future::Future;
use std::time::Duration;

plan! {
    Slow(limit: Duration) -> u64 {
        #[timeout(limit)]
        step x = Act { n: 1 };
        x
    }
}

plan! {
    Caught(limits: Vec<Duration>) -> Vec<Result<u64, Failure>> {
        #[catch(each)]
        step all = for limit in limits { Slow { limit } };
        #[after(all)]
        step last = Act { n: 2 };
        if last == 2 { all } else { Vec::new() }
    }
}

/// Runs until the last call hangs, as often as the time is to pass, and then crashes or goes on.
fn ended<F: Future>(world: &World, times: &[u64], crashes: bool, run: impl Fn() -> F) -> F::Output {
    world.on("last", &[Goes::Hangs]);
    let mut first = Driven::new(run());
    for time in times {
        first.pending();
        world.timer.advance(secs(*time));
    }
    first.pending();
    if crashes {
        drop(first);
        world.all_well();
        return finish(run());
    }
    world.release("last");
    first.ended()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Memory,
    Durable,
    Crash,
}

const WAYS: [Way; 3] = [Way::Memory, Way::Durable, Way::Crash];

type Ended<T> = (Result<T, RunError>, Report);

/// Plays a run in one of the ways, whose calls `x` hang.
fn play<T>(
    way: Way,
    hangs: &[&str],
    times: &[u64],
    run: impl Fn(&World) -> Run<'_, World, T>,
) -> Ended<T>
where
    T: 'static,
{
    let (world, journal) = (World::new(), Rough::new());
    for path in hangs {
        world.on(path, &[Goes::Hangs]);
    }
    let begin = || {
        let run = run(&world).timer(world.timer.clone());
        let run = match way {
            Way::Memory => run,
            Way::Durable | Way::Crash => run.durable(&journal, "r"),
        };
        run.with_report()
    };
    let age = times.iter().sum::<u64>();
    journal.set_age(secs(age));
    ended(&world, times, way == Way::Crash, begin)
}

#[test]
fn an_error_names_the_limit_of_its_element() {
    for way in WAYS {
        let limits = vec![secs(1), secs(5)];
        let hangs = ["all[0].x", "all[1].x"];
        let (result, report) = play(way, &hangs, &[1, 4], |world| {
            Caught {
                limits: limits.clone(),
            }
            .run(world)
        });
        let failures = result.unwrap();
        let messages: Vec<&str> = failures
            .iter()
            .map(|it| &*it.as_ref().unwrap_err().message)
            .collect();
        assert!(
            messages[0].contains("took longer than 1s"),
            "{way:?} {messages:?}"
        );
        assert!(
            messages[1].contains("took longer than 5s"),
            "{way:?} {messages:?}"
        );
        let attempts = report.step("all").unwrap().attempts();
        let errors: Vec<String> = attempts
            .iter()
            .map(|it| it.error().unwrap().to_string())
            .collect();
        assert!(
            errors[0].contains("took longer than 1s"),
            "{way:?} {errors:?}"
        );
        assert!(
            errors[1].contains("took longer than 5s"),
            "{way:?} {errors:?}"
        );
    }
}

plan! {
    LateBlock() -> Option<u64> {
        #[optional]
        #[deadline("60s")]
        step late = {
            step x = Act { n: 1 };
            x
        };
        #[after(late)]
        step last = Act { n: 2 };
        if last == 2 { late } else { None }
    }
}

plan! {
    Inner() -> u64 {
        step x = Act { n: 1 };
        x
    }
}

plan! {
    LatePlan() -> Option<u64> {
        #[optional]
        #[deadline("60s")]
        step late = Inner {};
        #[after(late)]
        step last = Act { n: 2 };
        if last == 2 { late } else { None }
    }
}

plan! {
    LateLoop() -> Option<u64> {
        #[optional]
        #[at_most(3)]
        #[deadline("60s")]
        step late = loop {
            step x = Act { n: 1 };
            x
        } while x == 1;
        #[after(late)]
        step last = Act { n: 2 };
        if last == 2 { late } else { None }
    }
}

#[test]
fn an_attempt_names_the_deadline_that_it_has_passed() {
    let check = |(result, report): Ended<Option<u64>>, at: &str| {
        assert_eq!(result.unwrap(), None, "{at}");
        let step = report.step("late").unwrap();
        let attempts = step.attempts();
        let error = attempts[0].error().unwrap().to_string();
        assert_eq!(error, "took longer than 1m over all attempts", "{at}");
        let status = step.status().to_string();
        assert!(status.contains(&error), "{at}: {status}");
    };
    for way in WAYS {
        let ended = play(way, &["late.x"], &[60], |world| LateBlock {}.run(world));
        check(ended, &format!("{way:?} block"));
        let ended = play(way, &["late.x"], &[60], |world| LatePlan {}.run(world));
        check(ended, &format!("{way:?} plan"));
        let ended = play(way, &["late[0].x"], &[60], |world| LateLoop {}.run(world));
        check(ended, &format!("{way:?} loop"));
    }
}

plan! {
    Impatient() -> u64 {
        #[at_most(3)]
        #[retry(2, backoff = "55s", jitter = false)]
        #[deadline("60s")]
        step all = loop {
            step x = Act { n: 1 };
            x
        } while x == 1;
        all
    }
}

/// The next attempt would begin after the deadline, so nothing waits for it.
#[test]
fn a_loop_does_not_wait_for_an_attempt_after_its_deadline() {
    let busy = || plan_runtime::Error::msg("busy");
    for is_durable in [false, true] {
        let (world, journal) = (World::new(), Rough::new());
        world.on("all[0].x", &[Goes::FailsLate(busy)]);
        let run = Impatient {}.run(&world).timer(world.timer.clone());
        let run = if is_durable {
            run.durable(&journal, "r")
        } else {
            run
        };
        let mut run = Driven::new(run);
        run.pending();
        world.timer.advance(secs(10));
        run.pending();
        world.release("all[0].x");
        let error = run.ended().unwrap_err();
        assert!(error.to_string().contains("busy"), "{error}");
    }
}

plan! {
    Undoing() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step one = Undo { n: held };
        step kept = Inner {};
        #[undo(kept)]
        step two = {
            step x = Undo { n: kept };
            x
        };
        #[after(held, kept)]
        step last = Act { n: 2 };
        last
    }
}

#[test]
fn each_note_is_written_once() {
    let (world, journal) = (World::new(), Rough::new());
    world.on(
        "last",
        &[Goes::Fails(|| plan_runtime::Error::permanent("no"))],
    );
    let run = Undoing {}.run(&world).durable(&journal, "r");
    let error = finish(run).unwrap_err();
    assert_eq!(error.undone().count(), 2);
    let notes: Vec<String> = journal
        .keys()
        .into_iter()
        .filter(|key| key.ends_with("!undone"))
        .collect();
    assert_eq!(notes, ["one!undone", "two!undone"]);
    assert_eq!(journal.refused(), 0);
}
