//! All small plans under all policies, with all events in all orders: the machine and the model agree in each state. In each state, another machine receives the events so far and
//! is in the same state, as after a crash.
//!
//! The quick form tries a sample of the plans with three steps. `PLAN_TESTS=100` tries all plans of three steps.

use super::super::exhaustive::{Form, form};
use super::super::hand::{End, Event, Outcome};
use super::super::model::Model;
use super::super::play::{POLICIES, ends, waits};
use super::super::shapes::{plans, unfit};
use super::super::tree::{Node, Work};
use super::super::undos::{RECOVERS, each, elements};
use super::described::Described;
use super::hand::Hand;
use plan_runtime::run::OnFailure;

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    plans: usize,
    ended: usize,
    open: usize,
    unclear: usize,
}

struct Exploring<'t> {
    steps: &'t [Node],
    plan: &'t Described,
    on_failure: OnFailure,
    waits: Vec<String>,
    events: Vec<Event>,
    counts: Counts,
}

impl Hand<'_> {
    /// Compares the machine with the model, once everything has settled.
    pub(super) fn compare(&mut self, model: &mut Model<'_>, is_at: &dyn Fn() -> String) {
        self.settle();
        let expected = (model.started(), model.running(), model.is_over());
        let got = (self.started(), self.running(), self.is_done);
        assert_eq!(got, expected, "{}", is_at());
        if model.is_over() {
            let outcome = model.outcome();
            let expected = Outcome {
                result: outcome.result.map(|_| serde_json::Value::Null),
                ..outcome
            };
            assert_eq!(self.outcome(), expected, "{}", is_at());
        }
    }
}

impl<'t> Exploring<'t> {
    /// Compares the machine with the model, unless the language does not tell how the model continues.
    fn is_unclear(&mut self, model: &mut Model<'t>, hand: &mut Hand<'t>) -> bool {
        if model.is_unclear() {
            self.counts.unclear += 1;
            return true;
        }
        hand.compare(model, &|| {
            format!(
                "{:?}\nunder {:?}, after {:?}",
                self.steps, self.on_failure, self.events
            )
        });
        false
    }

    fn explore(&mut self, mut model: Model<'t>, mut hand: Hand<'t>) {
        if self.is_unclear(&mut model, &mut hand) {
            return;
        }
        self.crash(&hand);
        if model.is_over() {
            self.counts.ended += 1;
            return;
        }
        self.counts.open += 1;
        for event in model.events(ends(self.steps), &self.waits) {
            let (mut next, mut after) = (model.clone(), hand.clone());
            next.happen(&event);
            after.happen(&event);
            self.events.push(event);
            self.explore(next, after);
            self.events.pop();
        }
    }

    /// Has the calls end one after the other: the first of the running calls, or the last. Each call succeeds and fails.
    fn explore_ends(&mut self, mut model: Model<'t>, mut hand: Hand<'t>, is_first: bool) {
        if self.is_unclear(&mut model, &mut hand) {
            return;
        }
        let running = model.running();
        let call = if is_first {
            running.first()
        } else {
            running.last()
        };
        let Some(call) = call.cloned() else {
            self.counts.ended += 1;
            return;
        };
        for end in [End::Ok, End::Transient] {
            let event = Event::End(call.clone(), end);
            let (mut next, mut after) = (model.clone(), hand.clone());
            next.happen(&event);
            after.happen(&event);
            self.events.push(event);
            self.explore_ends(next, after, is_first);
            self.events.pop();
        }
    }

    /// Another machine receives the events so far, and reaches the same state.
    fn crash(&self, before: &Hand<'_>) {
        let mut hand = Hand::new(self.plan, self.on_failure, u32::MAX);
        hand.settle();
        for event in &self.events {
            hand.happen(event);
            hand.settle();
        }
        assert_eq!(hand.running(), before.running());
        assert!(
            hand.machine == before.machine,
            "{:?}: {:?}",
            self.steps,
            self.events
        );
    }
}

/// The way through a plan.
#[derive(Clone, Copy)]
enum Way {
    Everything,
    Ends,
}

fn try_some(size: usize, one_in: usize) -> Counts {
    let counts = try_all(plans(size).iter().step_by(one_in), Way::Everything);
    println!("{size} steps: {counts:?}");
    counts
}

fn try_all<'t>(plans: impl Iterator<Item = &'t Vec<Node>>, way: Way) -> Counts {
    let mut counts = Counts::default();
    for steps in plans {
        counts.plans += 1;
        let plan = Described::new(steps);
        for on_failure in POLICIES {
            let mut exploring = Exploring {
                steps,
                plan: &plan,
                on_failure,
                waits: waits(steps, ""),
                events: Vec::new(),
                counts,
            };
            let model = Model::new(steps, on_failure);
            let hand = Hand::new(&plan, on_failure, u32::MAX);
            match way {
                Way::Everything => exploring.explore(model, hand),
                Way::Ends => {
                    exploring.explore_ends(model.clone(), hand.clone(), true);
                    exploring.explore_ends(model, hand, false);
                }
            }
            counts = exploring.counts;
        }
    }
    counts
}

/// Returns the number of plans for each tried one, in the quick, the long and the exhaustive form.
fn one_in([quick, long, exhaustive]: [usize; 3]) -> usize {
    match form() {
        Form::Quick => quick,
        Form::Long => long,
        Form::Exhaustive => exhaustive,
    }
}

/// A scope that fails before its work replaces a call of a small plan.
#[test]
fn with_scopes_whose_inputs_fail() {
    let mut all = Vec::new();
    for (size, one_in) in [(1, 1), (2, 1), (3, one_in([320, 80, 1]))] {
        let plans = plans(size);
        all.extend(plans.iter().step_by(one_in).flat_map(|it| unfit(it)));
    }
    let counts = try_all(all.iter(), Way::Everything);
    println!("{counts:?}");
    assert!(counts.ended > 1000, "{counts:?}");
}

#[test]
fn of_one_step() {
    let counts = try_some(1, 1);
    assert_eq!((counts.plans, counts.ended, counts.open), (8, 72, 24));
}

#[test]
fn of_two_steps() {
    let counts = try_some(2, 1);
    assert_eq!((counts.plans, counts.ended, counts.open), (234, 6106, 2342));
}

#[test]
fn of_three_steps() {
    let (one_in, expected) = match form() {
        Form::Quick => (320, (30, 4627, 1846)),
        Form::Long => (80, (117, 15946, 6452)),
        Form::Exhaustive => (1, (9356, 1_073_636, 440_112)),
    };
    let counts = try_some(3, one_in);
    assert_eq!((counts.plans, counts.ended, counts.open), expected);
}

#[test]
fn of_four_steps() {
    try_some(4, one_in([400_000, 100_000, 1_000]));
}

/// Plans whose elements are undone, or fail, or are cut.
#[test]
fn elements_that_have_undo_steps() {
    let of = |works: Vec<Work>, one_in: usize| {
        let steps = works
            .into_iter()
            .step_by(one_in)
            .flat_map(|work| RECOVERS.map(|recovers| vec![each(work.clone(), recovers)]));
        steps.collect::<Vec<_>>()
    };
    let works = of(elements(3), one_in([140, 7, 1]));
    let counts = try_all(works.iter(), Way::Ends);
    println!("one after the other: {counts:?}");
    let works = of(elements(3), one_in([465, 31, 3]));
    let counts = try_all(works.iter(), Way::Everything);
    println!("in all orders: {counts:?}");
    assert!(counts.ended > 1000, "{counts:?}");
}
