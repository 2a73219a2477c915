//! All possible events of a run, in every order: the run equals the model.

use super::hand::{Begun, End, Event, GRACE, Hand};
use super::model::Model;
use super::tree::{Node, Work, plans};
use plan_runtime::journal::Memory;
use plan_runtime::plan::{Executable, Role};
use plan_runtime::run::OnFailure;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::time::Duration;

/// The counts of tried cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tried {
    pub(crate) plans: usize,
    /// Runs that were followed to their end.
    pub(crate) ended: usize,
    /// Runs that were dropped, one in each state before that.
    pub(crate) dropped: usize,
    /// The number of crashed and resumed runs.
    pub(crate) crashed: usize,
    /// The number of states whose next state the language does not define.
    pub(crate) unclear: usize,
}

impl AddAssign for Tried {
    fn add_assign(&mut self, other: Self) {
        self.plans += other.plans;
        self.ended += other.ended;
        self.dropped += other.dropped;
        self.crashed += other.crashed;
        self.unclear += other.unclear;
    }
}

/// An event, the calls that start with it, and the calls that run after it.
pub(crate) struct Moment {
    event: Option<Event>,
    started: Vec<String>,
    running: Vec<String>,
    /// The keys of the calls that run, by their paths.
    keys: BTreeMap<String, String>,
}

impl Moment {
    pub(crate) fn of(event: Option<Event>, model: &mut Model<'_>) -> Self {
        Self {
            event,
            started: model.started(),
            running: model.running(),
            keys: model.keys(),
        }
    }
}

/// A plan under a policy.
pub(crate) struct Play<'t> {
    steps: &'t [Node],
    plans: &'t [Executable<'t>],
    on_failure: OnFailure,
    ends: &'static [End],
    waits: Vec<String>,
    pub(crate) grace: Duration,
    /// The number of runs for each one that crashes after each moment.
    pub(crate) crash_each: usize,
    /// The number of runs before the first crash.
    first_crash: usize,
    pub(crate) tried: Tried,
}

pub(crate) const POLICIES: [OnFailure; 3] =
    [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel];

/// Tries a plan under all policies. From each state, every possible event happens.
pub(crate) fn try_all(steps: &[Node]) -> Tried {
    let mut tried = Tried {
        plans: 1,
        ..Tried::default()
    };
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    for on_failure in POLICIES {
        let mut play = Play::new(steps, &plans, on_failure);
        play.crash_each = crash_each();
        play.explore(Model::new(steps, on_failure), None, &mut Vec::new());
        tried += play.tried;
    }
    tried
}

/// Tries a plan whose calls end one after the other. There are six ways: each policy in both orders. With `way`, only one of them is tried.
pub(crate) fn try_ends(steps: &[Node], way: Option<usize>) -> Tried {
    let mut tried = Tried {
        plans: 1,
        ..Tried::default()
    };
    let plans = plans(steps);
    let plans: Vec<Executable<'_>> = plans.iter().map(Executable::new).collect();
    let ways = POLICIES.map(|policy| [(policy, true), (policy, false)]);
    for (number, (on_failure, is_first)) in ways.into_iter().flatten().enumerate() {
        if way.is_none_or(|way| way % 6 == number) {
            let mut play = Play::new(steps, &plans, on_failure);
            play.crash_each = crash_each();
            let model = Model::new(steps, on_failure);
            play.explore_ends(model, None, is_first, &mut Vec::new());
            tried += play.tried;
        }
    }
    tried
}

/// `PLAN_TESTS=1000` has all runs of small plans crash.
fn crash_each() -> usize {
    match crate::common::times() {
        Some(1_000..) => 1,
        _ => 16,
    }
}

impl<'t> Play<'t> {
    pub(crate) fn new(
        steps: &'t [Node],
        plans: &'t [Executable<'t>],
        on_failure: OnFailure,
    ) -> Self {
        Self {
            steps,
            plans,
            on_failure,
            ends: ends(steps),
            waits: waits(steps, ""),
            grace: GRACE,
            crash_each: 1,
            // Another for each plan, since many can go but few ways.
            first_crash: format!("{steps:?}").len(),
            tried: Tried::default(),
        }
    }

    /// Returns the next possible events.
    pub(crate) fn events(&self, model: &Model<'_>) -> Vec<Event> {
        model.events(self.ends, &self.waits)
    }

    fn explore(&mut self, mut model: Model<'t>, event: Option<Event>, path: &mut Vec<Moment>) {
        if model.is_unclear() {
            self.tried.unclear += 1;
            return;
        }
        path.push(Moment::of(event, &mut model));
        self.replay(path, &model);
        if !model.is_over() {
            for event in self.events(&model) {
                let mut next = model.clone();
                next.happen(&event);
                self.explore(next, Some(event), path);
            }
        }
        path.pop();
    }

    /// Has the calls end one after the other, and each call succeed and fail. The call that ends is the first or the last of the running calls.
    pub(crate) fn explore_ends(
        &mut self,
        mut model: Model<'t>,
        event: Option<Event>,
        is_first: bool,
        path: &mut Vec<Moment>,
    ) {
        if model.is_unclear() {
            self.tried.unclear += 1;
            return;
        }
        path.push(Moment::of(event, &mut model));
        if model.is_over() {
            self.replay(path, &model);
        } else {
            let mut running = model.running();
            let at = if is_first { 0 } else { running.len() - 1 };
            let call = running.swap_remove(at);
            for end in [End::Ok, End::Transient] {
                let event = Event::End(call.clone(), end);
                let mut next = model.clone();
                next.happen(&event);
                self.explore_ends(next, Some(event), is_first, path);
            }
        }
        path.pop();
    }

    /// Has a run go the same way. If the model is not at its end, the run is dropped.
    pub(crate) fn replay(&mut self, path: &[Moment], model: &Model<'_>) {
        let hand = Hand::new(self.plans);
        let mut run = hand.begin(self.on_failure, self.grace);
        for place in 0..path.len() {
            self.follow(&hand, &mut run, &path[..=place]);
        }
        let is_over = run.settle();
        if is_over != model.is_over() {
            let expected = format!("over: {}", model.is_over());
            self.differs(path, &format!("over: {is_over}"), &expected);
        }
        if is_over {
            self.tried.ended += 1;
            let (got, expected) = (run.outcome(self.steps), model.outcome());
            if got != expected {
                self.differs(path, &format!("{got:#?}"), &format!("{expected:#?}"));
            }
            if got.result.is_err() {
                for step in self.left(path) {
                    if !got.not_undone.contains(&step) {
                        self.differs(path, &format!("{got:#?}"), &format!("{step} is held"));
                    }
                }
            }
        } else {
            self.tried.dropped += 1;
            drop(run);
        }
        assert!(hand.running().is_empty() && hand.started().is_empty());
        // The run on this path crashed in each state before. Only some of the many paths through small plans do.
        if is_over && (self.tried.ended + self.first_crash).is_multiple_of(self.crash_each) {
            self.resume(path, model);
        }
    }

    /// Returns the steps whose undo calls failed. The events alone tell them, so the model and the run cannot forget them together.
    fn left(&self, path: &[Moment]) -> BTreeSet<String> {
        let mut left = BTreeSet::new();
        for event in path.iter().filter_map(|moment| moment.event.as_ref()) {
            if let Event::End(call, end) = event
                && let Some(undone) = undone_by(self.steps, call)
            {
                match end {
                    End::Ok => left.remove(&undone),
                    _ => left.insert(undone),
                };
            }
        }
        left
    }

    /// Repeats the path in a run with a journal that crashes after each moment: it resumes in an equal state, and repeats only the running
    /// calls.
    fn resume(&mut self, path: &[Moment], model: &Model<'_>) {
        // A journal never hangs up.
        if path.iter().any(|it| it.event == Some(Event::HangUp)) {
            return;
        }
        let hand = Hand::new(self.plans);
        let journal = Memory::new();
        let begin = || hand.begin_in(self.on_failure, self.grace, &journal);
        let mut run = begin();
        for place in 0..path.len() {
            if let Some(event) = &path[place].event {
                run.happen(event);
            }
            // It crashes in the waits for other attempts, and after them.
            for _ in 0..2 {
                run.pause();
                drop((run, hand.started()));
                run = begin();
                for event in path[..=place].iter().filter_map(|it| it.event.as_ref()) {
                    if let Event::Send(path) = event {
                        run.send_again(path);
                    }
                }
                run.settle();
                let (running, started) = (hand.running(), hand.started());
                if (&running, &started) != (&path[place].running, &path[place].running) {
                    let got = format!(
                        "crashed, and made {started:?} again, of which {running:?} run: {:?}",
                        run.error()
                    );
                    let expected = format!("{:?}", path[place].running);
                    self.differs(&path[..=place], &got, &expected);
                }
                self.compare_keys(&hand, &path[..=place]);
            }
        }
        assert!(run.settle());
        let (got, expected) = (run.outcome(self.steps), model.outcome());
        if got != expected {
            self.differs(
                path,
                &format!("crashed: {got:#?}"),
                &format!("{expected:#?}"),
            );
        }
        self.tried.crashed += path.len();
    }

    /// Has the last of some moments come.
    fn follow(&self, hand: &Hand<'_>, run: &mut Begun<'_>, path: &[Moment]) {
        let Some(moment) = path.last() else { return };
        if let Some(event) = &moment.event {
            run.happen(event);
        }
        run.settle();
        let got = (hand.started(), hand.running());
        if (&got.0, &got.1) != (&moment.started, &moment.running) {
            let got = format!("{got:?} {:?}", run.error());
            let expected = format!("{:?}", (&moment.started, &moment.running));
            self.differs(path, &got, &expected);
        }
        self.compare_keys(hand, path);
    }

    /// Compares the keys of the calls that run with the keys of the model.
    fn compare_keys(&self, hand: &Hand<'_>, path: &[Moment]) {
        let Some(moment) = path.last() else { return };
        for (call, key) in hand.keys() {
            if moment.keys[&call] != key {
                let got = format!("the key of {call} is {key}");
                self.differs(path, &got, &moment.keys[&call]);
            }
        }
    }

    fn differs(&self, path: &[Moment], got: &str, expected: &str) -> ! {
        let events: Vec<&Event> = path.iter().filter_map(|it| it.event.as_ref()).collect();
        panic!(
            "{:?}\nunder {:?}, after {events:?}\nthe run: {got}\nthe model: {expected}",
            self.steps, self.on_failure
        );
    }
}

/// Returns the path of the step that a call undoes.
fn undone_by(steps: &[Node], call: &str) -> Option<String> {
    let mut inner = steps;
    let parts: Vec<&str> = call.split('.').collect();
    for (part, depth) in parts.iter().zip(1..) {
        let id = part.split('[').next()?;
        let mut nodes = inner.iter().enumerate();
        let (_, node) = nodes.find(|(place, node)| node.id(depth, *place) == id)?;
        if depth == parts.len() {
            let Role::Undo(undone) = node.role else {
                return None;
            };
            let undone = inner[undone].id(depth, undone);
            return Some(format!("{}{undone}", call.strip_suffix(part)?));
        }
        inner = node.work.inner()?;
    }
    None
}

/// Returns the ends of calls: the permanence of a failure matters only with several attempts.
pub(super) fn ends(steps: &[Node]) -> &'static [End] {
    if any(steps, &|node| node.attempts > 1) {
        &[End::Ok, End::Transient, End::Permanent]
    } else {
        &[End::Ok, End::Transient]
    }
}

pub(crate) fn any(steps: &[Node], is_so: &dyn Fn(&Node) -> bool) -> bool {
    let mut nodes = steps.iter();
    nodes.any(|node| is_so(node) || any(node.work.inner().unwrap_or_default(), is_so))
}

/// The paths of all steps that may wait for a value.
pub(super) fn waits(steps: &[Node], path: &str) -> Vec<String> {
    let mut waits = Vec::new();
    let depth = path.matches('.').count() + 1;
    for (place, node) in steps.iter().enumerate() {
        waits_in(
            &node.work,
            format!("{path}{}", node.id(depth, place)),
            &mut waits,
        );
    }
    waits
}

fn waits_in(work: &Work, path: String, found: &mut Vec<String>) {
    match work {
        Work::Call | Work::Plan(_) | Work::Unfit(_) => {}
        Work::Await => found.push(path),
        Work::If(_, work) => waits_in(work, path, found),
        Work::For(work) => (0..2).for_each(|at| waits_in(work, format!("{path}[{at}]"), found)),
        Work::Loop(_, steps) => {
            (0..2).for_each(|at| found.extend(waits(steps, &format!("{path}[{at}]."))));
        }
        Work::Block(steps) => found.extend(waits(steps, &format!("{path}."))),
    }
}
