//! Random plans whose runs make few calls at one time: the bound holds, and the order of the calls stays the same. The model has no bounds.

use super::hand::{End, Event, GRACE, Hand};
use super::play::{POLICIES, waits};
use super::random::{cases, scope};
use super::tree::{Node, plans};
use crate::golden;
use fastrand::Rng;
use plan_runtime::plan::Executable;
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

/// Plays one way through a plan. Returns what happened, the actions that started before each event, and the outcome.
fn play(random: &mut Rng, steps: &[Node], on_failure: OnFailure, bound: usize) -> String {
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let hand = Hand::new(&plans).within(bound);
    let mut run = hand.begin(on_failure, GRACE);
    let mut waits = waits(steps, "");
    let (mut stopped, mut way) = (false, format!("{on_failure:?} with {bound}"));
    while !run.settle() {
        assert!(hand.running().len() <= bound, "{steps:?}\n{way}");
        let event = choose(random, &hand, stopped, &mut waits);
        stopped |= matches!(event, Event::Cancel | Event::Deadline);
        run.happen(&event);
        way += &format!("\n{:?} {event:?}", hand.starts());
    }
    assert!(hand.running().is_empty(), "{steps:?}\n{way}");
    format!("{way}\n{:?} {:#?}", hand.starts(), run.outcome(steps))
}

#[test]
fn random_plans_within_a_bound_keep_their_order() {
    let (mut events, mut outcomes) = (0, Vec::new());
    for seed in 0..5 * cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=20);
        let steps = scope(&mut random, size, true);
        let ways = POLICIES.map(|on_failure| {
            let bound = random.usize(1..=4);
            play(&mut random, &steps, on_failure, bound)
        });
        events += ways.iter().map(|way| way.lines().count()).sum::<usize>();
        outcomes.push(ways.join("\n\n"));
    }
    println!("{events} events");
    assert!(events as u64 > 20 * cases());
    golden::check("bounded", &outcomes);
}
