//! Idempotency keys: one for each call, whatever happens, unless what it names was undone.

use super::rough::Rough;
use super::support::{Act, Goes, Undo, World, crash, finish};
use plan_runtime::run::OnFailure;
use plan_runtime::{Error, plan};
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
