//! Random plans of 8 to 12 steps with attempts, with random events: the machine agrees with the model. With a bound, the machine makes no more
//! concurrent calls, and the run ends.

use super::super::hand::{End, Event};
use super::super::model::Model;
use super::super::play::{POLICIES, ends, waits};
use super::super::random::{cases, choose, scope};
use super::super::shapes::unfit;
use super::super::tree::Node;
use super::described::Described;
use super::hand::Hand;
use fastrand::Rng;
use plan_runtime::run::OnFailure;

/// Returns `true` if the run has reached its end.
fn play(random: &mut Rng, steps: &[Node], plan: &Described, on_failure: OnFailure) -> bool {
    let mut model = Model::new(steps, on_failure);
    let mut hand = Hand::new(plan, on_failure, u32::MAX);
    let waits = waits(steps, "");
    let stops_at = random.bool().then(|| random.usize(..16));
    let mut events: Vec<Event> = Vec::new();
    loop {
        if model.is_unclear() {
            return false;
        }
        let is_at = || format!("{steps:?}\nunder {on_failure:?}, after {events:?}");
        hand.compare(&mut model, &is_at);
        if model.is_over() {
            return true;
        }
        let stops = stops_at.is_some_and(|at| at < events.len());
        let event = choose(random, model.events(ends(steps), &waits), stops);
        model.happen(&event);
        hand.happen(&event);
        events.push(event);
    }
}

/// Has the calls of a run end in a random order, at most two at one time.
fn play_bounded(random: &mut Rng, plan: &Described, on_failure: OnFailure) {
    const BOUND: u32 = 2;
    let mut hand = Hand::new(plan, on_failure, BOUND);
    let fails = random.u8(..3) == 0;
    let cancels_at = random.usize(..40);
    hand.happen(&Event::HangUp);
    for turn in 0.. {
        hand.settle();
        if hand.is_done {
            return;
        }
        let running = hand.running();
        assert!(
            !running.is_empty() && running.len() <= BOUND as usize,
            "{running:?}"
        );
        if turn == cancels_at && random.bool() {
            hand.happen(&Event::Cancel);
            continue;
        }
        let call = running[random.usize(..running.len())].clone();
        let end = match random.u8(..8) {
            0 if fails => End::Permanent,
            1 if fails => End::Transient,
            _ => End::Ok,
        };
        hand.happen(&Event::End(call, end));
    }
}

#[test]
fn random_plans_go_as_the_model_does() {
    let (mut ended, mut unclear) = (0, 0);
    for seed in 0..5 * cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=12);
        let steps = scope(&mut random, size, true);
        let plan = Described::new(&steps);
        for on_failure in POLICIES {
            if play(&mut random, &steps, &plan, on_failure) {
                ended += 1;
            } else {
                unclear += 1;
            }
            play_bounded(&mut random, &plan, on_failure);
        }
    }
    println!("{ended} ended, {unclear} unclear");
    assert!(unclear * 10 < ended, "{ended} {unclear}");
}

/// A scope that fails before its work replaces a call. The language leaves open which steps start beside it.
#[test]
fn random_plans_with_scopes_whose_inputs_fail() {
    let (mut ended, mut unclear) = (0, 0);
    for seed in 0..5 * cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=12);
        let mut plans = unfit(&scope(&mut random, size, true));
        plans.retain(|steps| !Model::new(steps, OnFailure::Stop).is_unclear());
        let Some(steps) = random.choice(plans) else {
            continue;
        };
        let plan = Described::new(&steps);
        for on_failure in POLICIES {
            if play(&mut random, &steps, &plan, on_failure) {
                ended += 1;
            } else {
                unclear += 1;
            }
            play_bounded(&mut random, &plan, on_failure);
        }
    }
    println!("{ended} ended, {unclear} unclear");
    assert!(ended > 100 && unclear < ended, "{ended} {unclear}");
}
