//! Random plans of 8 to 12 steps, in which random things happen: the run goes as the model does.
//!

use super::hand::{End, Event};
use super::model::Model;
use super::play::{Moment, POLICIES, Play, Tried, any};
use super::shapes::{can_be_undone, unfit};
use super::tree::{Node, Recovers, Work, plans};
use fastrand::Rng;
use plan_runtime::plan::{Executable, Role};
use plan_runtime::run::OnFailure;
use std::time::Duration;

/// The steps of a plan, a block or a round.
pub(super) fn scope(random: &mut Rng, mut left: usize, may_wait: bool) -> Vec<Node> {
    let mut steps: Vec<Node> = Vec::new();
    let mut stage = 0;
    while left > 0 {
        let size = if random.bool() {
            1
        } else {
            random.usize(1..=left)
        };
        left -= size;
        if !steps.is_empty() && stage < 2 {
            stage += usize::from(random.u8(..4) == 0);
        }
        let role = match stage {
            0 => Role::Work,
            1 => match to_undo(random, &steps) {
                Some(place) => Role::Undo(place),
                None => Role::Always,
            },
            _ => Role::Always,
        };
        let is_work = role == Role::Work;
        let mut node = Node::new(work(random, size, may_wait && is_work));
        for (place, before) in steps.iter().enumerate() {
            let may_be = before.role == role && !matches!(role, Role::Undo(_));
            if may_be && random.u8(..3) == 0 {
                node.after.push(place);
            }
        }
        if is_work && random.u8(..3) == 0 {
            node.recovers = recovers(random, &node.work);
        }
        if node.work != Work::Await && random.u8(..4) == 0 {
            node.attempts = random.u32(2..=3);
        }
        steps.push(Node { role, ..node });
    }
    steps
}

/// A step that has no undo step yet.
fn to_undo(random: &mut Rng, steps: &[Node]) -> Option<usize> {
    let has_undo = |place| steps.iter().any(|it| it.role == Role::Undo(place));
    let is_open = |place: &usize| {
        let step = &steps[*place];
        step.role == Role::Work && can_be_undone(&step.work) && !has_undo(*place)
    };
    let open: Vec<usize> = (0..steps.len()).filter(is_open).collect();
    random.choice(open)
}

fn recovers(random: &mut Rng, work: &Work) -> Recovers {
    let all = [
        Recovers::Optional,
        Recovers::Fallback,
        Recovers::Catch,
        Recovers::OptionalEach,
        Recovers::CatchEach,
    ];
    let count = if matches!(work, Work::For(_)) { 5 } else { 3 };
    all[random.usize(..count)]
}

fn work(random: &mut Rng, size: usize, may_wait: bool) -> Work {
    match (size, random.u8(..5)) {
        (1, 0) if may_wait => Work::Await,
        (1, _) => Work::Call,
        (_, 0) => Work::Loop(random.u8(..4) == 0, scope(random, size - 1, may_wait)),
        _ => work_in(random, size, may_wait),
    }
}

/// Returns the work of an element or a branch.
fn work_in(random: &mut Rng, size: usize, may_wait: bool) -> Work {
    match (size, random.u8(..8)) {
        (1, _) => Work::Call,
        (_, 0) => Work::If(
            random.u8(..3) > 0,
            Box::new(work_in(random, size - 1, may_wait)),
        ),
        (_, 1..3) => Work::For(Box::new(work_in(random, size - 1, may_wait))),
        (_, 3..5) => Work::Plan(scope(random, size - 1, false)),
        _ => Work::Block(scope(random, size - 1, may_wait)),
    }
}

/// The next of the events that can happen. Most calls succeed.
pub(super) fn choose(random: &mut Rng, mut events: Vec<Event>, stops: bool) -> Event {
    let last = events.pop().expect("it can be cancelled at any time");
    if last == Event::Grace && (events.is_empty() || random.u8(..8) == 0) {
        return last;
    }
    if last == Event::Cancel && stops {
        return if random.bool() { last } else { Event::Deadline };
    }
    let is_rare = |event: &Event| match event {
        Event::End(_, end) => *end != End::Ok,
        Event::HangUp => true,
        _ => false,
    };
    let wants_rare = random.u8(..4) == 0;
    let some: Vec<&Event> = events
        .iter()
        .filter(|it| is_rare(it) == wants_rare)
        .collect();
    match random.choice(some) {
        Some(event) => event.clone(),
        None => random.choice(events).unwrap_or(last),
    }
}

/// Plays one way through a plan, and has another run be dropped on the way.
fn play(random: &mut Rng, steps: &[Node], on_failure: OnFailure) -> Tried {
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let mut play = Play::new(steps, &plans, on_failure);
    let mut model = Model::new(steps, on_failure);
    if random.u8(..8) == 0 {
        model = model.without_grace();
        play.grace = Duration::ZERO;
    }
    let stops_at = random.bool().then(|| random.usize(..16));
    let drops_at = random.usize(..16);
    let mut path = vec![Moment::of(None, &mut model)];
    while !model.is_over() {
        if path.len() == drops_at {
            play.replay(&path, &model);
        }
        let stops = stops_at.is_some_and(|at| at < path.len());
        let event = choose(random, play.events(&model), stops);
        let before = model.clone();
        model.happen(&event);
        if model.is_unclear() {
            play.replay(&path, &before);
            play.tried.unclear += 1;
            return play.tried;
        }
        path.push(Moment::of(Some(event), &mut model));
    }
    play.replay(&path, &model);
    play.tried
}

pub(super) fn cases() -> u64 {
    crate::common::cases(40, 200)
}

#[test]
fn random_plans_go_as_the_model_does() {
    let mut tried = Tried::default();
    let mut has = [0; 6];
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=12);
        let steps = scope(&mut random, size, true);
        let kinds: [&dyn Fn(&Node) -> bool; 6] = [
            &|node| matches!(node.role, Role::Undo(_)),
            &|node| node.role == Role::Always,
            &|node| node.recovers != Recovers::No,
            &|node| node.attempts > 1,
            &|node| node.work == Work::Await,
            &|node| matches!(node.work, Work::Plan(_)),
        ];
        for (has, kind) in has.iter_mut().zip(kinds) {
            *has += usize::from(any(&steps, kind));
        }
        for on_failure in POLICIES {
            tried += play(&mut random, &steps, on_failure);
        }
        tried.plans += 1;
    }
    println!("{tried:?}, with undo steps, always steps, recovery, attempts, waits, plans: {has:?}");
    // There is something of everything, and hardly a way whose end is unclear.
    assert!(has.iter().all(|has| *has > tried.plans / 5), "{has:?}");
    let few = crate::common::amount::<usize>(10, 20);
    assert!(tried.unclear * few < tried.ended, "{tried:?}");
}

/// A scope that fails before its work replaces a call. The language leaves open which steps start beside it.
#[test]
fn random_plans_with_scopes_whose_inputs_fail() {
    let mut tried = Tried::default();
    for seed in 0..cases() {
        let mut random = Rng::with_seed(seed);
        let size = random.usize(8..=12);
        let mut plans = unfit(&scope(&mut random, size, true));
        plans.retain(|steps| !Model::new(steps, OnFailure::Stop).is_unclear());
        let Some(steps) = random.choice(plans) else {
            continue;
        };
        tried.plans += 1;
        for on_failure in POLICIES {
            tried += play(&mut random, &steps, on_failure);
        }
    }
    println!("{tried:?}");
    assert!(tried.plans > 10 && tried.unclear < tried.ended, "{tried:?}");
}
