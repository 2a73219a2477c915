//! Idempotency keys. Each call has one key, unless an undo step has undone the call.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, crash, finish};
use plan_runtime::run::{CallContext, OnFailure};
use plan_runtime::{Call, Error, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

fn busy() -> Error {
    Error::msg("busy")
}

plan! {
    Inner() -> u64 {
        step paid = Act { n: 1 };
        #[after(paid)]
        #[retry(2, backoff = "0s")]
        step sent = Act { n: 2 };
        paid + sent
    }
}

plan! {
    Outer() -> u64 {
        #[retry(3, backoff = "0s")]
        step inner = Inner {};
        #[retry(3, backoff = "0s")]
        step block = {
            step each = for n in [1u64, 2] { Act { n } };
            #[after(each)]
            step last = if each[0] == 1 { Act { n: 1 } } else { Act { n: 2 } };
            last
        };
        inner + block
    }
}

/// The keys by the paths of their calls.
fn keys(world: &World) -> BTreeMap<String, BTreeSet<String>> {
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, key) in world.keys() {
        keys.entry(path).or_default().insert(key);
    }
    keys
}

#[test]
fn a_key_stays_where_what_is_around_it_is_tried_again() {
    for at in ["inner.sent", "block.last", "block.each[1]", "inner.paid"] {
        let (world, journal) = (World::new(), Rough::new());
        let run = || {
            Outer {}
                .run(&world)
                .on_failure(OnFailure::Continue)
                .durable(&journal, "r")
        };
        world.on("inner.sent", &[Goes::Fails(busy)]);
        world.on("block.last", &[Goes::Fails(busy)]);
        let _ = finish(Outer {}.run(&world).durable(&Rough::new(), "r"));
        world.on(at, &[Goes::Hangs]);
        crash(run());
        crash(run());
        world.on(at, &[Goes::Fails(busy)]);
        let _ = finish(run());
        let keys = keys(&world);
        for (path, keys) in &keys {
            assert_eq!(keys.len(), 1, "{path}: {keys:?}");
        }
        let all: BTreeSet<&String> = keys.values().flatten().collect();
        assert_eq!(all.len(), keys.len(), "{keys:?}");
        assert!(all.iter().all(|key| key.starts_with("r/")));
    }
}

plan! {
    Saga() -> u64 {
        #[retry(3, backoff = "0s")]
        step order = {
            step held = Act { n: 1 };
            #[undo(held)]
            step released = Undo { n: held };
            #[after(held)]
            step other = Act { n: 2 };
            #[after(other)]
            step paid = Act { n: 3 };
            step sum: u64 = paid + held + other;
            sum
        };
        order
    }
}

#[test]
fn a_key_is_new_once_its_call_was_undone() {
    // Wherever it crashes: in the call that fails, in the undo step, and in each call of the next attempt.
    let crashes = [
        ("order.paid", 1),
        ("order.released", 1),
        ("order.held", 2),
        ("order.other", 2),
        ("order.paid", 2),
    ];
    for (at, attempt) in crashes {
        let (world, journal) = (World::new(), Rough::new());
        let run = || Saga {}.run(&world).durable(&journal, "r");
        world.on_scope("order.paid", &[Goes::Fails(busy), Goes::Well]);
        let expected = {
            finish(Saga {}.run(&world).durable(&Rough::new(), "r")).unwrap();
            world.called();
            keys(&world)
        };
        world.hang_at(at, attempt);
        crash(run());
        crash(run());
        world.hang_at("", 0);
        assert_eq!(
            finish(run()).unwrap(),
            6,
            "{at} {attempt}: {}",
            world.called()
        );
        assert_eq!(keys(&world), expected, "{at} {attempt}");
        let held = &expected["order.held"];
        assert_eq!(
            held.iter().collect::<Vec<_>>(),
            ["r/order.held", "r/order.held~1"]
        );
        assert_eq!(expected["order.other"].len(), 1);
    }
}

/// Runs a plan inside its call.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Inside {}

impl Call<World> for Inside {
    async fn call(self, _: &World) -> Result<u64> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<u64> {
        Ok(Trip {}.run(world).inside(&context).await?)
    }
}

plan! {
    Trip() -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        #[retry(2, backoff = "0s")]
        step released = { step back = Undo { n: held }; back };
        #[after(held)]
        step paid = Act { n: 3 };
        #[always]
        #[retry(2, backoff = "0s")]
        step told = Act { n: 4 };
        paid
    }
}

plan! {
    Tour() -> u64 {
        #[retry(2, backoff = "0s")]
        step block = {
            step trips = for n in [1u64, 2] {
                step booked = Act { n };
                #[undo(booked)]
                step cancelled = Undo { n: booked };
                booked
            };
            #[after(trips)]
            #[retry(2, backoff = "0s")]
            step trip = Trip {};
            #[undo(trip)]
            step home = Undo { n: trip };
            #[after(trip)]
            #[retry(2, backoff = "0s")]
            step inside = Inside {};
            #[undo(inside)]
            step back = Undo { n: inside };
            #[after(inside)]
            step closed = Act { n: 5 };
            #[always]
            step noted = for n in [6u64, 7] { Act { n } };
            closed
        };
        block
    }
}

/// Returns a world in which the first attempt of each scope of a tour fails.
fn tour() -> World {
    let world = World::new();
    for path in ["block.trip.paid", "block.inside.paid", "block.closed"] {
        world.on_scope(path, &[Goes::Fails(busy), Goes::Well]);
    }
    for path in ["block.trip.told", "block.inside.told"] {
        world.on(path, &[Goes::Fails(busy), Goes::Well]);
    }
    world
}

#[test]
fn each_attempt_of_a_scope_has_its_own_undo_steps_and_always_steps() {
    let expected = {
        let world = tour();
        finish(Tour {}.run(&world).durable(&Rough::new(), "r")).unwrap();
        let (effects, answers) = world.effects();
        assert_eq!(effects.len(), answers, "{effects:?}");
        effects
    };
    let of = |path: &str| -> Vec<&str> {
        let of_path = expected.iter().filter(|(_, of)| *of == path);
        of_path.map(|(key, _)| &**key).collect()
    };
    assert_eq!(
        of("block.trips[1].booked"),
        ["r/block.trips[1].booked", "r/block.trips[1].booked~1"]
    );
    assert_eq!(
        of("block.trips[1].cancelled"),
        ["r/block.trips[1].cancelled"]
    );
    assert_eq!(of("block.home"), ["r/block.home"]);
    let backs = [
        "r/block.trip.released.back",
        "r/block.trip.released~1.back",
        "r/block.trip~1.released.back",
    ];
    assert_eq!(of("block.trip.released.back"), backs);
    let told = [
        "r/block.trip.told",
        "r/block.trip@2.told",
        "r/block@2.trip~1.told",
        "r/block@2.trip~1@2.told",
    ];
    assert_eq!(of("block.trip.told"), told);
    assert_eq!(
        of("block.noted[0]"),
        ["r/block.noted[0]", "r/block@2.noted[0]"]
    );
    // Wherever it crashes, and however often.
    for number in 0.. {
        let (world, journal) = (tour(), Rough::new());
        let run = || Tour {}.run(&world).durable(&journal, "r");
        world.hang_as(Some(number));
        let mut first = Driven::new(run());
        let has_ended = first.settle().is_ready();
        drop(first);
        if has_ended {
            assert!(number > 20, "{number} calls");
            break;
        }
        world.hang_as(Some(world.keys().len()));
        crash(run());
        world.hang_as(None);
        finish(run()).unwrap();
        assert_eq!(world.effects().0, expected, "it crashed in call {number}");
    }
}
