//! How far a step has come that is more than one call: its lists, its local values, and its calls.

use super::super::StepError;
use super::super::context::{Decision, Question};
use super::super::signals::Sent;
use super::super::throttle::Turn;
use crate::error::Left;
use crate::plan::{Action, Block, Body, For, Loop, OK, ToolInfo};
use crate::resolve::StoredValue;
use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a wait ends, once it has.
pub(super) type WaitOutcome = Arc<Mutex<Option<Result<Arc<Sent>, StepError>>>>;

/// A wait for a value.
pub(super) struct ValueWait {
    pub(super) place: OutputSlot,
    pub(super) frame: Option<usize>,
    /// Its place in the log.
    pub(super) log: Option<usize>,
    pub(super) outcome: WaitOutcome,
    pub(super) is_over: bool,
}

/// The state of a step with branches, elements or attempts.
#[derive(Default)]
pub(super) struct BodyState<'x> {
    lists: Vec<ForState<'x>>,
    /// The loop that the step is, if it is one.
    pub(super) rounds: Option<Rounds>,
    /// The lists that have elements left to start, the innermost last.
    open: Vec<usize>,
    frames: Vec<Option<Frame>>,
    free: Vec<usize>,
    pub(super) jobs: Vec<Job<'x>>,
    /// The values that it waits for.
    pub(super) waits: Vec<ValueWait>,
    /// The jobs whose wait is over. The one that started first is first.
    pub(super) again: BinaryHeap<Reverse<usize>>,
    /// The calls that run, and those that a gate decides about.
    pub(super) active: usize,
    /// The numbers of the actions whose further calls the gates allow all.
    pub(super) allowed: Vec<usize>,
    /// Whether its next call has to wait until others wait no more.
    pub(super) deferred: bool,
    /// Whether the step is in the queue of those that may start something.
    pub(super) queued: bool,
    /// Whether something of it will never start.
    pub(super) cut: bool,
    /// The failure of the first element, in the order of the list, that failed. Which one failed first in time may vary.
    pub(super) failed: Option<Failed>,
    /// The same for the elements that null replaces.
    pub(super) missed: Option<Failed>,
    pub(super) output: Option<StoredValue>,
    /// What became of the undo steps in its elements, if those have run.
    pub(super) left: Left,
    /// The bytes that all of this counts.
    pub(super) stored: usize,
    /// Those of them that are outputs.
    pub(super) made: usize,
}

/// A `for` on its way.
struct ForState<'x> {
    each: &'x For,
    /// The number of the first action in it.
    number: usize,
    items: std::vec::IntoIter<Value>,
    next: usize,
    outputs: Vec<Value>,
    missing: usize,
    place: OutputSlot,
    frame: Option<usize>,
}

/// How far a loop has come.
#[derive(Default)]
pub(super) struct Rounds {
    /// When the first round started.
    pub(super) started: Duration,
    /// The value of the last round.
    pub(super) last: Value,
    /// The bytes that it counts.
    pub(super) bytes: usize,
    /// The values of all rounds, if these are the step's output.
    pub(super) all: Vec<Value>,
}

/// Where an output belongs: to the step, or to a place in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OutputSlot {
    list: Option<usize>,
    index: usize,
}

/// A local value.
struct Frame {
    stored: StoredValue,
    outer: Option<usize>,
}

/// What a job does.
#[derive(Clone, Copy)]
pub(super) enum Work<'x> {
    Action(&'x Action),
    Block(&'x Block),
    Round(&'x Loop),
}

impl<'x> Work<'x> {
    pub(super) fn tool(self) -> Option<&'x Arc<ToolInfo>> {
        match self {
            Self::Action(action) => action.tool.as_ref(),
            Self::Block(_) | Self::Round(_) => None,
        }
    }
}

/// A call or a block, with all its attempts.
pub(super) struct Job<'x> {
    pub(super) work: Work<'x>,
    /// Its number in the plan.
    pub(super) number: usize,
    pub(super) place: OutputSlot,
    pub(super) frame: Option<usize>,
    pub(super) attempts: u32,
    /// When the first attempt started.
    pub(super) started: Duration,
    /// When the last attempt started.
    pub(super) tried: Duration,
    /// The last attempt's place in the log.
    pub(super) log: Option<usize>,
    /// Whether it counts toward the calls of the run: it was made, or the gates were asked about it.
    pub(super) is_counted: bool,
    /// Whether the gates allow it.
    pub(super) is_allowed: bool,
    /// What the gates were asked about it.
    pub(super) question: Option<Box<Question>>,
    /// What it waits for before it may start.
    pub(super) waits_for: WaitsFor,
    /// Its turn among the calls to the same tools.
    pub(super) turn: Option<Turn>,
    /// While it waits for its next attempt, the error of the last one.
    pub(super) waits: Option<StepError>,
    /// Whether it is a round that is still to start.
    pub(super) is_next: bool,
    pub(super) record: AttemptRecord,
}

impl<'x> Job<'x> {
    /// A job that has not started.
    pub(super) const fn new(
        work: Work<'x>,
        number: usize,
        place: OutputSlot,
        frame: Option<usize>,
    ) -> Self {
        Self {
            work,
            number,
            place,
            frame,
            attempts: 0,
            started: Duration::ZERO,
            tried: Duration::ZERO,
            log: None,
            is_counted: false,
            is_allowed: false,
            question: None,
            waits_for: WaitsFor::Nothing,
            turn: None,
            waits: None,
            is_next: false,
            record: AttemptRecord::None,
        }
    }
}

/// What becomes of the record of an attempt.
#[derive(Default)]
pub(super) enum AttemptRecord {
    /// It has none: it was replayed, or the run has no journal.
    #[default]
    None,
    /// It is to have this key, once the attempt has ended.
    Due(String),
}

/// What a call waits for before it starts.
pub(super) enum WaitsFor {
    Nothing,
    Gates,
    /// The turn of the record of this answer.
    Answer(Decision),
    /// Its turn, which comes here.
    Turn(Arc<Mutex<Option<Turn>>>),
}

/// How a step failed, or an element of it.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) element: Vec<usize>,
    pub(super) error: StepError,
    /// How many attempts were made.
    pub(super) attempts: u32,
}

impl Failed {
    /// A step that is one call, and was tried once.
    pub(super) fn once(error: StepError) -> Self {
        Self {
            element: Vec::new(),
            error,
            attempts: 1,
        }
    }
}

impl Failed {
    /// Returns the results of the undo steps in a block that has failed.
    pub(super) fn left(&self) -> Left {
        match &self.error {
            StepError::Block(run) => Left::of_block(run),
            _ => Left::default(),
        }
    }

    /// Returns the rank among the failures of a step's elements. The least failure is the failure of the step: the failure of the first element in the list. An error that leaves work
    /// and does not name the work comes before all others, since nothing else would keep that fact.
    fn rank(&self) -> (bool, &[usize]) {
        let is_named = matches!(self.error, StepError::Block(_)) || !self.error.leaves_work();
        (is_named, &self.element)
    }
}

/// An `Ok` or an `Err`, as serde writes a `Result`.
pub(super) fn outcome(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

/// Notes the failure of an element. Returns the failure of lower rank if another failure was noted before.
pub(super) fn note(noted: &mut Option<Failed>, failed: Failed) -> Option<Failed> {
    match noted {
        Some(first) if failed.rank() >= first.rank() => Some(failed),
        _ => noted.replace(failed),
    }
}

/// The place of a loop, which is in no list and around none.
const LOOP: usize = usize::MAX;

impl OutputSlot {
    /// The step's own output.
    pub(super) const WHOLE: Self = Self {
        list: None,
        index: 0,
    };

    /// That of a round of the loop that the step is.
    pub(super) const fn round(round: usize) -> Self {
        Self {
            list: Some(LOOP),
            index: round,
        }
    }

    pub(super) fn is_element(self) -> bool {
        self.list.is_some()
    }
}

impl<'x> BodyState<'x> {
    pub(super) fn push_job(&mut self, job: Job<'x>) -> usize {
        self.jobs.push(job);
        self.jobs.len() - 1
    }

    /// A local value is bound, whose bytes are counted already.
    pub(super) fn push_frame(&mut self, stored: StoredValue, outer: Option<usize>) -> usize {
        let frame = Some(Frame { stored, outer });
        match self.free.pop() {
            Some(place) => {
                self.frames[place] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                self.frames.len() - 1
            }
        }
    }

    /// Drops the local values from this frame up to one around it, and returns the bytes that they counted.
    pub(super) fn leave(&mut self, mut frame: Option<usize>, around: Option<usize>) -> usize {
        let mut bytes = 0;
        while let Some(at) = frame.filter(|_| frame != around) {
            let left = self.frames[at].take();
            bytes += left.as_ref().map_or(0, |frame| frame.stored.bytes());
            frame = left.and_then(|frame| frame.outer);
            self.free.push(at);
        }
        self.stored -= bytes;
        bytes
    }

    /// Begins a list that is not empty.
    pub(super) fn push_list(
        &mut self,
        each: &'x For,
        number: usize,
        items: Vec<Value>,
        place: OutputSlot,
        frame: Option<usize>,
    ) {
        self.open.push(self.lists.len());
        self.lists.push(ForState {
            each,
            number,
            outputs: vec![Value::Null; items.len()],
            missing: items.len(),
            items: items.into_iter(),
            next: 0,
            place,
            frame,
        });
    }

    /// The next element to start: its body is that of the list, its value is a new frame.
    pub(super) fn next_element(&mut self) -> Option<(&'x For, usize, OutputSlot, usize)> {
        while let Some(&list) = self.open.last() {
            let at = &mut self.lists[list];
            let Some(item) = at.items.next() else {
                self.open.pop();
                continue;
            };
            let place = OutputSlot {
                list: Some(list),
                index: at.next,
            };
            at.next += 1;
            if at.items.len() == 0 {
                self.open.pop();
            }
            let ForState {
                each,
                number,
                frame,
                ..
            } = self.lists[list];
            let frame = self.push_frame(StoredValue::json(item), frame);
            return Some((each, number, place, frame));
        }
        None
    }

    /// Notes that an element has failed for good. The results of the undo steps in all failed elements are kept.
    pub(super) fn note_failed(&mut self, failed: Failed) {
        if let Some(other) = note(&mut self.failed, failed) {
            self.left.add(other.left());
        }
    }

    /// What was undone in it so far, and what was not.
    pub(super) fn left(&self) -> Left {
        let mut left = self.left.clone();
        if let Some(failed) = &self.failed {
            left.add(failed.left());
        }
        left
    }

    /// Whether nothing of it runs, waits or has ended.
    pub(super) fn is_idle(&self) -> bool {
        self.active == 0
            && !self.has_more()
            && !self.deferred
            && self.output.is_none()
            && self.failed.is_none()
            && self
                .jobs
                .iter()
                .all(|job| job.waits.is_none() && !job.is_next)
    }

    /// The number of the job that it does next.
    pub(super) fn next_job(&self) -> usize {
        let again = self.again.peek();
        again.map_or(self.jobs.len(), |Reverse(job)| *job)
    }

    /// Whether there is something to start.
    pub(super) fn has_more(&self) -> bool {
        !self.again.is_empty() || !self.open.is_empty()
    }

    /// Starts nothing further. What waits for another attempt is given back.
    pub(super) fn cut(&mut self) -> Vec<usize> {
        let mut jobs = self.jobs.iter_mut();
        self.cut |= jobs.any(|job| std::mem::take(&mut job.is_next)) || !self.open.is_empty();
        self.open.clear();
        // Gates have allowed these calls, or are still to be asked about them.
        let mut again = std::mem::take(&mut self.again).into_iter();
        self.cut |= again.any(|Reverse(job)| self.jobs[job].waits.is_none());
        let waiting = |job: &usize| self.jobs[*job].waits.is_some();
        (0..self.jobs.len()).filter(waiting).collect()
    }

    /// The local values of a frame, the outermost first.
    pub(super) fn locals(&self, mut frame: Option<usize>) -> Vec<&StoredValue> {
        let mut locals = Vec::new();
        while let Some(at) = frame.and_then(|frame| self.frames[frame].as_ref()) {
            locals.push(&at.stored);
            frame = at.outer;
        }
        locals.reverse();
        locals
    }

    /// Of which elements a place is.
    pub(super) fn elements(&self, mut place: OutputSlot) -> Vec<usize> {
        let mut elements = Vec::new();
        while let Some(list) = place.list {
            elements.push(place.index);
            match self.lists.get(list) {
                Some(list) => place = list.place,
                None => break,
            }
        }
        elements.reverse();
        elements
    }

    /// Puts an output where it belongs; the last one of a list makes the list an output. If the failures of elements are caught, each element is the `Ok`
    /// of a `Result`, unless it is a failure.
    pub(super) fn deliver(
        &mut self,
        mut place: OutputSlot,
        mut frame: Option<usize>,
        (mut value, mut is_failure): (Value, bool),
        catches: bool,
        watch: &mut dyn FnMut(&Self, OutputSlot),
    ) {
        loop {
            if place.is_element() {
                watch(self, place);
            }
            let around = place.list.and_then(|list| self.lists[list].frame);
            self.leave(frame, around);
            let Some(list) = place.list else {
                self.output = Some(StoredValue::json(value));
                return;
            };
            let list = &mut self.lists[list];
            // Of lists in lists, those of the innermost are caught.
            if catches && !is_failure && !matches!(list.each.body, Body::For(_)) {
                value = outcome(OK, value);
            }
            is_failure = false;
            list.outputs[place.index] = value;
            list.missing -= 1;
            if list.missing > 0 {
                return;
            }
            value = Value::Array(std::mem::take(&mut list.outputs));
            place = list.place;
            frame = list.frame;
        }
    }
}
