//! Runs that resume with other settings: each recorded effect counts, is undone, or stops the run.

use super::rough::Rough;
use super::support::{Act, Driven, Goes, Undo, World, crash, finish, secs};
use plan_runtime::run::CallContext;
use plan_runtime::{Call, Error, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

fn busy() -> Error {
    Error::msg("busy")
}

fn gone() -> Error {
    Error::permanent("gone")
}

/// Versions of plans that differ only in a policy.
mod policies {
    macro_rules! version {
        ($name:ident, $attempts:literal, $rounds:literal, $deadline:literal, $at_once:literal) => {
            pub(crate) mod $name {
                use crate::durable::support::{Act, Undo};
                use plan_runtime::plan;

                plan! {
                    pub(crate) Retried() -> u64 {
                        #[retry($attempts, backoff = "0s")]
                        step held = Act { n: 1 };
                        #[undo(held)]
                        step released = Undo { n: held };
                        step paid = Act { n: held };
                        #[undo(paid)]
                        step repaid = Undo { n: paid };
                        #[after(paid)]
                        step last = Act { n: 3 };
                        last
                    }
                }

                plan! {
                    pub(crate) Blocked() -> u64 {
                        #[retry($attempts, backoff = "0s")]
                        step block = {
                            step held = Act { n: 1 };
                            #[undo(held)]
                            step released = Undo { n: held };
                            #[after(held)]
                            step paid = Act { n: 2 };
                            paid
                        };
                        #[after(block)]
                        step last = Act { n: 3 };
                        last
                    }
                }

                plan! {
                    pub(crate) Repeated() -> u64 {
                        #[at_most($rounds)]
                        step rounds = loop {
                            step held = Act { n: 1 };
                            #[undo(held)]
                            step released = Undo { n: held };
                            step more: bool = false;
                            held
                        } while !more;
                        #[after(rounds)]
                        step last = Act { n: 3 };
                        last
                    }
                }

                plan! {
                    pub(crate) Timed() -> u64 {
                        #[retry(5, backoff = "10s")]
                        #[deadline($deadline)]
                        step held = Act { n: 1 };
                        #[undo(held)]
                        step released = Undo { n: held };
                        #[after(held)]
                        step last = Act { n: 3 };
                        last
                    }
                }

                plan! {
                    pub(crate) Listed() -> Vec<u64> {
                        #[concurrency($at_once)]
                        step each = for n in [1, 2] {
                            step held = Act { n };
                            #[undo(held)]
                            step released = Undo { n: held };
                            held
                        };
                        each
                    }
                }
            }
        };
    }
    version!(wide, 5, 4, "1h", 2);
    version!(narrow, 2, 2, "15s", 1);
}
use policies::{narrow, wide};

#[test]
fn a_recorded_attempt_counts_under_a_lower_number_of_attempts() {
    let (world, journal) = (World::new(), Rough::new());
    world.on(
        "held",
        &[
            Goes::Fails(busy),
            Goes::Fails(busy),
            Goes::Fails(busy),
            Goes::Well,
        ],
    );
    world.on("last", &[Goes::Hangs]);
    crash(wide::Retried {}.run(&world).durable(&journal, "r"));
    world.on("last", &[Goes::Fails(gone)]);
    world.called();
    let error = finish(narrow::Retried {}.run(&world).durable(&journal, "r")).unwrap_err();
    let undone: Vec<&str> = error.undone().collect();
    assert_eq!(undone, ["paid", "held"], "{error}");
    assert_eq!(world.called(), "last repaid released");
}

#[test]
fn an_attempt_that_has_begun_is_repeated_under_a_lower_number_of_attempts() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("block.paid", &[Goes::Fails(busy)]);
    world.on_scope("block.held", &[Goes::Well]);
    world.hang_at("block.paid", 4);
    crash(wide::Blocked {}.run(&world).durable(&journal, "r"));
    world.hang_at("", 0);
    world.called();
    // The fourth attempt has the effect of `held`, so it continues and is the last one.
    let error = finish(narrow::Blocked {}.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(world.called(), "block.paid block.released", "{error}");
}

#[test]
fn a_recorded_round_counts_under_a_lower_number_of_rounds() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("rounds[3].held", &[Goes::Hangs]);
    crash(wide::Repeated {}.run(&world).durable(&journal, "r"));
    world.all_well();
    world.called();
    let error = finish(narrow::Repeated {}.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(error.undone().count(), 3, "{error}");
    assert_eq!(
        world.called(),
        "rounds[2].released rounds[1].released rounds[0].released"
    );
}

#[test]
fn a_recorded_attempt_counts_under_a_shorter_deadline() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("held", &[Goes::Fails(busy), Goes::Fails(busy), Goes::Well]);
    world.on("last", &[Goes::Hangs]);
    let mut run = Driven::new(
        wide::Timed {}
            .run(&world)
            .timer(world.timer.clone())
            .durable(&journal, "r"),
    );
    run.pending();
    for wait in [10, 20] {
        world.timer.advance(secs(wait));
        run.pending();
    }
    drop(run);
    assert_eq!(world.called(), "held held#2 held#3 last");
    world.on("last", &[Goes::Fails(gone)]);
    let again = narrow::Timed {}.run(&world).timer(world.timer.clone());
    let error = finish(again.durable(&journal, "r")).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["held"], "{error}");
    assert_eq!(world.called(), "last released");
}

#[test]
fn a_recorded_element_counts_under_a_lower_concurrency_of_the_list() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("each[0].held", &[Goes::Hangs]);
    crash(wide::Listed {}.run(&world).durable(&journal, "r"));
    assert_eq!(world.called(), "each[0].held each[1].held");
    world.on("each[0].held", &[Goes::Fails(gone)]);
    let error = finish(narrow::Listed {}.run(&world).durable(&journal, "r")).unwrap_err();
    assert_eq!(
        error.undone().collect::<Vec<_>>(),
        ["each[1].held"],
        "{error}"
    );
    assert_eq!(world.called(), "each[0].held each[1].released");
}

plan! {
    Beside() -> u64 {
        step first = Act { n: 1 };
        step held = Act { n: 2 };
        #[undo(held)]
        step released = Undo { n: held };
        step later = Act { n: 3 };
        first + held + later
    }
}

#[test]
fn a_recorded_call_counts_under_a_lower_concurrency() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("first", &[Goes::Hangs]);
    world.on("later", &[Goes::Hangs]);
    let run = |most| {
        Beside {}
            .run(&world)
            .concurrency(most)
            .durable(&journal, "r")
    };
    crash(run(2));
    assert_eq!(world.called(), "first held later");
    world.on("first", &[Goes::Fails(gone)]);
    let error = finish(run(1)).unwrap_err();
    assert_eq!(error.undone().collect::<Vec<_>>(), ["held"], "{error}");
    // No more calls than allowed.
    assert_eq!(world.called(), "first released");
}

plan! {
    Again() -> u64 {
        step first = Act { n: 1 };
        #[retry(2, backoff = "0s")]
        step block = {
            step held = Act { n: 2 };
            #[undo(held)]
            step released = Undo { n: held };
            #[after(held)]
            step paid = Act { n: 3 };
            paid
        };
        first + block
    }
}

#[test]
fn a_recorded_failure_counts_before_its_undo_steps_under_a_lower_concurrency() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("first", &[Goes::Hangs]);
    world.on("block.paid", &[Goes::Fails(busy)]);
    world.hang_at("block.paid", 2);
    let run = |most| {
        Again {}
            .run(&world)
            .concurrency(most)
            .durable(&journal, "r")
    };
    crash(run(2));
    assert_eq!(
        world.called(),
        "first block.held block.paid block.released block.held block.paid"
    );
    world.hang_at("", 0);
    world.on("first", &[Goes::Fails(gone)]);
    let error = finish(run(1)).unwrap_err();
    assert!(error.journal().is_none(), "{error}");
    assert_eq!(world.called(), "first block.paid block.released");
}

static FAILS: AtomicBool = AtomicBool::new(false);

fn lookup() -> std::result::Result<u64, String> {
    if FAILS.load(Ordering::SeqCst) {
        Err("no such order".to_owned())
    } else {
        Ok(5)
    }
}

plan! {
    Booking(n: u64) -> u64 {
        step held = Act { n };
        #[undo(held)]
        step released = Undo { n: held };
        #[after(held)]
        step paid = Act { n };
        paid
    }
}

plan! {
    Booked() -> u64 {
        step booking = Booking { n: lookup()? };
        booking
    }
}

/// The tests that change what `lookup` returns.
static LOOKUP: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn a_called_plan_continues_if_its_arguments_fail_now() {
    let _alone = LOOKUP.lock().unwrap();
    for fails in [false, true] {
        let (world, journal) = (World::new(), Rough::new());
        FAILS.store(false, Ordering::SeqCst);
        world.on("booking.paid", &[Goes::Hangs]);
        crash(Booked {}.run(&world).durable(&journal, "r"));
        world.called();
        FAILS.store(fails, Ordering::SeqCst);
        world.on("booking.paid", &[Goes::Fails(gone)]);
        let error = finish(Booked {}.run(&world).durable(&journal, "r")).unwrap_err();
        assert_eq!(world.called(), "booking.paid booking.released", "{error}");
        assert_eq!(
            error.undone().collect::<Vec<_>>(),
            ["booking.held"],
            "{error}"
        );
    }
    FAILS.store(false, Ordering::SeqCst);
}

plan! {
    Once() -> u64 {
        step paid = Act { n: lookup()? };
        paid
    }
}

#[test]
fn a_call_that_may_have_begun_is_named_if_its_arguments_fail_now() {
    let _alone = LOOKUP.lock().unwrap();
    let (world, journal) = (World::new(), Rough::new());
    FAILS.store(false, Ordering::SeqCst);
    world.on("paid", &[Goes::Hangs]);
    crash(Once {}.run(&world).durable(&journal, "r"));
    FAILS.store(true, Ordering::SeqCst);
    let error = finish(Once {}.run(&world).durable(&journal, "r")).unwrap_err();
    FAILS.store(false, Ordering::SeqCst);
    let words = error.to_string();
    assert!(
        words.contains("an earlier process may have made the call"),
        "{words}"
    );
    // The first process does not say so.
    FAILS.store(true, Ordering::SeqCst);
    let error = finish(Once {}.run(&world).durable(&journal, "s")).unwrap_err();
    FAILS.store(false, Ordering::SeqCst);
    let words = error.to_string();
    assert!(!words.contains("an earlier process"), "{words}");
}

/// Two versions of a plan that another one calls with an argument from Rust code.
mod gains {
    fn one() -> u64 {
        1
    }

    macro_rules! version {
        ($name:ident, ($($input:tt)*)) => {
            pub(crate) mod $name {
                use super::one;
                use crate::durable::support::Act;
                use plan_runtime::plan;

                plan! {
                    pub(crate) Inner($($input)*) -> u64 {
                        step first = Act { n };
                        #[after(first)]
                        step second = Act { n };
                        second
                    }
                }

                plan! {
                    pub(crate) Outer() -> u64 {
                        step inner = Inner { n: one(), .. };
                        inner
                    }
                }
            }
        };
    }
    version!(old, (n: u64));
    version!(new, (n: u64, _more: Option<u64>));
}

#[test]
fn a_called_plan_with_arguments_from_code_may_gain_an_optional_input() {
    let (world, journal) = (World::new(), Rough::new());
    world.on("inner.second", &[Goes::Hangs]);
    crash(gains::old::Outer {}.run(&world).durable(&journal, "r"));
    world.all_well();
    world.called();
    assert_eq!(
        finish(gains::new::Outer {}.run(&world).durable(&journal, "r")).unwrap(),
        1
    );
    assert_eq!(world.called(), "inner.second");
}

/// A run of an older version has the inputs of the plan, and no arguments.
#[test]
fn a_called_plan_continues_with_inputs_from_an_older_version() {
    let _alone = LOOKUP.lock().unwrap();
    let (world, journal) = (World::new(), Rough::new());
    FAILS.store(false, Ordering::SeqCst);
    world.on("booking.held", &[Goes::Hangs]);
    crash(Booked {}.run(&world).durable(&journal, "r"));
    let keys = journal.keys();
    assert!(keys.contains("booking@1?arguments"), "{keys:?}");
    FAILS.store(true, Ordering::SeqCst);
    world.all_well();
    journal.hide("booking@1?arguments");
    journal.write("r", "booking@1.!inputs", "[7]");
    assert_eq!(
        finish(Booked {}.run(&world).durable(&journal, "r")).unwrap(),
        7
    );
    FAILS.store(false, Ordering::SeqCst);
}

plan! {
    Pay(order: u64, #[shape(secret)] _card: String) -> u64 {
        step charged = Act { n: order };
        #[after(charged)]
        step sent = Act { n: order };
        sent
    }
}

/// Pays two orders inside its call, in another order after a restart.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Vec<u64>)]
struct PayBoth {}

impl Call<World> for PayBoth {
    async fn call(self, _: &World) -> Result<Vec<u64>> {
        Err(Error::permanent("it has no context"))
    }

    async fn call_in(self, world: &World, context: CallContext) -> Result<Vec<u64>> {
        let pay = |order| {
            Pay {
                order,
                _card: format!("4111-{order}"),
            }
            .run(world)
            .inside(&context)
        };
        let mut orders = [1, 2];
        if world.lives() > 0 {
            orders.reverse();
        }
        let (one, other) = smol::future::zip(pay(orders[0]), pay(orders[1])).await;
        Ok(vec![one?, other?])
    }
}

plan! {
    PaysBoth() -> Vec<u64> {
        step both = PayBoth {};
        both
    }
}

#[test]
fn plans_with_secrets_inside_a_call_are_known_by_their_other_inputs() {
    let (world, journal) = (World::new(), Rough::keyed());
    let run = || PaysBoth {}.run(&world).durable(&journal, "r");
    // Only the first order is charged before the crash.
    world.hang_as(Some(1));
    crash(run());
    assert_eq!(world.called(), "both.charged both.charged both.sent");
    world.hang_as(None);
    world.begin_again();
    assert_eq!(finish(run()).unwrap(), [2, 1]);
    let charged = |key: &&(String, String)| key.0 == "both.charged";
    let keys = world.keys();
    let mut keys: Vec<&String> = keys.iter().filter(charged).map(|(_, key)| key).collect();
    assert_eq!(keys.len(), 3, "{keys:?}");
    // The second order is charged again, with its key.
    assert_eq!(keys[1], keys[2]);
    keys.dedup();
    assert_eq!(keys.len(), 2);
}
