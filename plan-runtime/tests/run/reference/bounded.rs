//! Random plans whose runs make few calls at one time: a run that the machine decides does the same as a run of the scheduler, in the same order. The model has no bounds.
//!
//! The plans have no inner scopes, because the machine starts the first call of the plan, and the scheduler starts the call that has waited longest. The plans have no undo steps
//! and no always steps, because the scheduler starts all ready steps of this kind before any other.

use super::hand::{Begun, End, Event, GRACE, Hand};
use super::play::{POLICIES, waits};
use super::random::{cases, scope};
use super::tree::{Node, Work, plans};
use fastrand::Rng;
use plan_runtime::plan::{Executable, Role};
use plan_runtime::run::OnFailure;

/// The next of the events that can happen. Most calls succeed.
fn choose(random: &mut Rng, hand: &Hand<'_>, stopped: bool, waits: &mut Vec<String>) -> Event {
    let running = hand.running();
    match random.u8(..40) {
        0 if !stopped => return Event::Cancel,
        1 if !stopped => return Event::Deadline,
        0 | 1 => return Event::Grace,
        2..6 if !stopped && !waits.is_empty() => {
            return Event::Send(waits.swap_remove(random.usize(..waits.len())));
        }
        _ => {}
    }
    match random.choice(running) {
        Some(call) => {
            let end = match random.u8(..8) {
                0 => End::Permanent,
                1 | 2 => End::Transient,
                _ => End::Ok,
            };
            Event::End(call, end)
        }
        None if stopped => Event::Grace,
        None if waits.is_empty() => Event::Cancel,
        None => Event::Send(waits.swap_remove(0)),
    }
}

/// Has two runs go the same way. Returns the number of events.
fn play(random: &mut Rng, steps: &[Node], on_failure: OnFailure, bound: usize) -> usize {
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let hands = [(); 2].map(|()| Hand::new(&plans).within(bound));
    let mut runs = [
        hands[0].begin(on_failure, GRACE),
        hands[1].begin_driven(on_failure, GRACE),
    ];
    let mut waits = waits(steps, "");
    let (mut stopped, mut events) = (false, Vec::new());
    loop {
        let ended = runs.each_mut().map(Begun::settle);
        let [scheduled, driven] = hands.each_ref().map(|hand| (hand.starts(), hand.running()));
        let is_at = || format!("{steps:?}\nunder {on_failure:?} with {bound}, after {events:?}");
        let why = || {
            runs.each_ref()
                .map(|run| run.error().map(ToString::to_string))
        };
        assert_eq!(driven, scheduled, "{:?} {}", why(), is_at());
        assert_eq!(ended[1], ended[0], "{:?} {}", why(), is_at());
        if ended[0] {
            let [scheduled, driven] = runs.map(|run| run.outcome(steps));
            assert_eq!(driven, scheduled, "{}", is_at());
            return events.len();
        }
        let event = choose(random, &hands[0], stopped, &mut waits);
        stopped |= matches!(event, Event::Cancel | Event::Deadline);
        runs.iter_mut().for_each(|run| run.happen(&event));
        events.push(event);
    }
}

/// Replaces inner scopes by calls.
fn flat(work: &Work) -> Work {
    match work {
        Work::Call | Work::Loop(..) | Work::Block(_) | Work::Plan(_) => Work::Call,
        Work::Await => Work::Await,
        Work::If(holds, work) => Work::If(*holds, Box::new(flat(work))),
        Work::For(work) => Work::For(Box::new(flat(work))),
    }
}

#[test]
fn random_plans_within_a_bound_go_as_the_scheduler_has_them() {
    let mut events = 0;
    for seed in 0..5 * cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=20);
        let mut steps = scope(&mut random, size, true);
        steps.retain(|node| node.role == Role::Work);
        for node in &mut steps {
            node.work = flat(&node.work);
        }
        for on_failure in POLICIES {
            let bound = random.usize(1..=4);
            events += play(&mut random, &steps, on_failure, bound);
        }
    }
    println!("{events} events");
    assert!(events as u64 > 20 * cases());
}
