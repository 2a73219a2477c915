//! A gate of a person who leaves after the work: the undo steps of allowed calls run, and the undo steps of other calls are open questions.

use super::support::{Folder, Place};
use crate::durable::support::{Act, Driven, Goes, Undo, World, crash};
use plan_runtime::journal::Memory;
use plan_runtime::run::{Decision, Gate, PendingCall, Run};
use plan_runtime::{Error, plan};
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::{Arc, Mutex};

plan! {
    Leg(n: u64) -> u64 {
        step booked = Act { n };
        #[undo(booked)]
        step freed = Undo { n: booked };
        booked
    }
}

plan! {
    Unbook(n: u64) -> u64 {
        step one = Undo { n };
        one
    }
}

plan! {
    Trip(ends: u64) -> u64 {
        step held = Act { n: 1 };
        #[undo(held)]
        step released = if held == 1 { Undo { n: held } } else { Unbook { n: held } };
        step inner = {
            step paid = Act { n: held };
            #[undo(paid)]
            step refunded = {
                step back = Undo { n: paid };
                step told = Unbook { n: back };
                told
            };
            paid
        };
        #[undo(inner)]
        step reviewed = Unbook { n: inner };
        step legs = for n in [inner, 5] { Leg { n } };
        #[after(legs)]
        step last = Act { n: ends };
        last
    }
}

const WORK: [&str; 5] = [
    "held: act by undo unbook",
    "inner.paid: act by undo unbook",
    "legs[0].booked: act by undo",
    "legs[1].booked: act by undo",
    "last: act by ",
];

const UNDONE: [&str; 7] = [
    "inner.refunded.back",
    "inner.refunded.told.one",
    "legs[0].freed",
    "legs[1].freed",
    "released",
    "reviewed.one",
    "undone: held, inner, inner.paid, legs[0].booked, legs[1].booked",
];

/// A person who allows calls outside of undo steps, and is never there for others.
#[derive(Clone)]
struct Person {
    asked: Arc<Mutex<Vec<String>>>,
    undone: Arc<Mutex<Vec<String>>>,
    answer: Decision,
}

impl Gate for Person {
    async fn ask(&self, call: PendingCall) -> Decision {
        if let Some(undone) = call.undoes() {
            self.undone.lock().unwrap().push(undone.to_owned());
            return Decision::Allow;
        }
        let (context, tool) = (call.context(), call.tool());
        let by = call.undone_by().join(" ");
        self.asked
            .lock()
            .unwrap()
            .push(format!("{context}: {tool} by {by}"));
        if tool == "undo" {
            return std::future::pending().await;
        }
        self.answer.clone()
    }
}

impl Person {
    fn new(answer: Decision) -> Self {
        Self {
            asked: Arc::default(),
            undone: Arc::default(),
            answer,
        }
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

/// Returns the undo calls of a run, in the order of their paths, and the undone steps.
fn undone(world: &World, person: &Person) -> Vec<String> {
    let called = world.called();
    let is_undo = |path: &&str| UNDONE.contains(path);
    let mut all: Vec<_> = called
        .split(' ')
        .filter(is_undo)
        .map(str::to_owned)
        .collect();
    let mut undone = std::mem::take(&mut *person.undone.lock().unwrap());
    for paths in [&mut all, &mut undone] {
        paths.sort_unstable();
        paths.dedup();
    }
    all.push(format!("undone: {}", undone.join(", ")));
    all
}

fn no() -> Error {
    Error::permanent("no")
}

fn trip<'a>(world: &'a World, person: &Person) -> Run<'a, World, u64> {
    let run = Trip { ends: 9 }.run(world).gate(person.clone());
    run.timer(world.timer.clone()).concurrency(1)
}

#[test]
fn allowed_calls_are_undone_without_a_person() {
    for answer in [Decision::Allow, Decision::AllowStep] {
        for is_cancelled in [false, true] {
            let (world, person) = (World::new(), Person::new(answer.clone()));
            let last = if is_cancelled {
                Goes::Hangs
            } else {
                Goes::Fails(no)
            };
            world.on("last", &[last]);
            let (cancel, cancelled) = smol::channel::bounded::<()>(1);
            let run = trip(&world, &person).cancel_on(async move { cancelled.recv().await });
            let mut run = Driven::new(run.into_future());
            if is_cancelled {
                run.pending();
                cancel.try_send(()).unwrap();
            }
            assert!(run.ended().is_err());
            assert_eq!(person.asked(), WORK);
            assert_eq!(undone(&world, &person), UNDONE);
        }
    }
}

/// A crash in each call, of the work and of the undo steps.
#[test]
fn a_resumed_run_undoes_without_a_person() {
    let folder = Folder::new();
    let db = folder.open();
    for crashed in 0..WORK.len() + UNDONE.len() - 1 {
        let (world, person) = (World::new(), Person::new(Decision::Allow));
        world.on("last", &[Goes::Fails(no)]);
        world.hang_as(Some(crashed));
        let run = || trip(&world, &person).durable(&db, format!("r{crashed}"));
        smol::block_on(async {
            let mut run = pin!(run().into_future());
            while world.keys().len() <= crashed {
                assert!(smol::future::poll_once(&mut run).await.is_none());
                smol::Timer::after(std::time::Duration::from_millis(1)).await;
            }
        });
        world.hang_as(None);
        assert!(smol::block_on(run()).is_err());
        assert_eq!(person.asked(), WORK, "{crashed}");
        assert_eq!(undone(&world, &person), UNDONE, "{crashed}");
    }
}

plan! {
    Tried(n: u64) -> u64 {
        step tried = {
            #[optional]
            step paid = Act { n };
            step value: u64 = paid.unwrap_or(n);
            value
        };
        #[undo(tried)]
        step back = Undo { n: tried };
        #[after(tried)]
        step last = Act { n };
        last
    }
}

/// Without an allowed call, nobody has allowed the undo step.
#[test]
fn an_undo_step_without_an_allowed_call_is_a_question() {
    let (world, person) = (World::new(), Person::new(Decision::Refuse("no".into())));
    let mut run = Driven::new(
        Tried { n: 1 }
            .run(&world)
            .gate(person.clone())
            .into_future(),
    );
    run.pending();
    let asked = ["tried.paid: act by undo", "last: act by ", "back: undo by "];
    assert_eq!(person.asked(), asked);
}

/// A gate that a resumed run gets has not allowed the calls before.
#[test]
fn a_later_gate_has_not_allowed_earlier_calls() {
    let (world, journal) = (World::new(), Memory::new());
    let person = Person::new(Decision::Allow);
    world.on("last", &[Goes::Hangs]);
    crash(Tried { n: 1 }.run(&world).durable(&journal, "r"));
    world.on("last", &[Goes::Fails(no)]);
    crash(
        Tried { n: 1 }
            .run(&world)
            .gate(person.clone())
            .durable(&journal, "r"),
    );
    assert_eq!(person.asked(), ["last: act by ", "back: undo by "]);
    assert_eq!(world.called(), "tried.paid last last");
}
