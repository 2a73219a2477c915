//! A step that runs: its elements or rounds, each with its attempts.

use super::failed::{Failed, Failure, Why};
use super::hand::End;
use super::keys::{Keys, elements};
use super::model::{Running, World};
use super::scope::{Scope, State};
use super::tree::{Node, Recovers, Unfit, Work};
use plan_runtime::plan::Role;
use plan_runtime::run::OnFailure;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job<'t> {
    node: &'t Node,
    path: String,
    keys: Keys,
    /// The attempts, in the order of their starts.
    attempts: Vec<Attempt<'t>>,
    /// The values of the elements. A step without a list has one element with an empty index.
    values: BTreeMap<Vec<usize>, Value>,
    /// The first element that has failed, in the order of the list.
    failed: Option<(Vec<usize>, Failed)>,
    /// `true` if null or a fallback replaces the value of an element.
    missed: bool,
    /// `true` if its calls were dropped, or a part of it will not start.
    is_cut: bool,
    /// `true` if the enclosing scope was ended early, so that failures have no replacement.
    is_over: bool,
    /// The outcomes of its undone elements, and of the interrupted ones.
    left: Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Attempt<'t> {
    element: Vec<usize>,
    number: u32,
    doing: Doing<'t>,
    fate: Fate,
    /// `true` if the last event started the attempt.
    is_new: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Doing<'t> {
    Call(Option<End>),
    Wait,
    /// A scope that fails before its work.
    Unfit(Unfit),
    Scope(Box<Scope<'t>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Runs,
    /// The scope has succeeded, and may have to be undone.
    Kept,
    IsUndone,
    Over,
}

impl<'t> Job<'t> {
    pub(crate) fn start(node: &'t Node, path: String, keys: Keys, world: &mut World) -> Self {
        let mut job = Self {
            node,
            path,
            keys,
            attempts: Vec::new(),
            values: BTreeMap::new(),
            failed: None,
            missed: false,
            is_cut: false,
            is_over: false,
            left: Failed::default(),
        };
        job.enter(&node.work, Vec::new(), world);
        job
    }

    /// Starts all elements of some work.
    fn enter(&mut self, work: &'t Work, element: Vec<usize>, world: &mut World) {
        match work {
            // The step ends at the moment of its start.
            Work::If(false, _) => world.started.push(self.place(&element)),
            Work::If(true, work) => self.enter(work, element, world),
            Work::For(work) => {
                for index in 0..2 {
                    self.enter(work, [&*element, &[index]].concat(), world);
                }
            }
            Work::Loop(..) | Work::Unfit(Unfit::Round) => self.attempt(vec![0], 1, world),
            Work::Unfit(_) | Work::Call | Work::Await | Work::Block(_) | Work::Plan(_) => {
                self.attempt(element, 1, world);
            }
        }
    }

    fn place(&self, element: &[usize]) -> String {
        format!("{}{}", self.path, elements(element))
    }

    fn attempt(&mut self, element: Vec<usize>, number: u32, world: &mut World) {
        let path = self.place(&element);
        let work = &self.node.work;
        let doing = match (work.unfit(), work.inner(), work.waits()) {
            (Some(unfit), ..) => Doing::Unfit(unfit),
            (None, Some(steps), _) => {
                let keys = self.keys.inside(&element, number);
                let mut scope = Scope::new(steps, format!("{path}."), keys);
                scope.settle(world);
                Doing::Scope(Box::new(scope))
            }
            (None, None, true) => Doing::Wait,
            (None, None, false) => Doing::Call(None),
        };
        if !matches!(doing, Doing::Scope(_)) {
            world.started.push(path);
        }
        self.attempts.push(Attempt {
            element,
            number,
            doing,
            fate: Fate::Runs,
            is_new: true,
        });
    }

    /// Makes all progress that needs no event.
    pub(crate) fn settle(&mut self, is_stopping: bool, world: &mut World) {
        for attempt in &mut self.attempts {
            if let (Doing::Scope(scope), Fate::Runs | Fate::IsUndone) =
                (&mut attempt.doing, attempt.fate)
            {
                scope.settle(world);
            }
        }
        for place in 0..self.attempts.len() {
            self.settle_attempt(place, is_stopping, world);
        }
    }

    fn settle_attempt(&mut self, place: usize, is_stopping: bool, world: &mut World) {
        let attempt = &self.attempts[place];
        if attempt.fate != Fate::Runs {
            return;
        }
        let path = self.place(&attempt.element);
        let failed = |code, transient| {
            let failure = Failure {
                path: path.clone(),
                code,
                transient,
                attempts: attempt.number as usize,
                blocked: Vec::new(),
                role: Role::Work,
            };
            Failed {
                failures: vec![failure],
                ..Failed::default()
            }
        };
        let result = match &attempt.doing {
            Doing::Call(None) => return,
            Doing::Call(Some(End::Ok)) => Ok(path.clone().into()),
            Doing::Call(Some(end)) => Err(failed("FAILED", *end == End::Transient)),
            Doing::Wait if world.sent.contains(&path) => Ok("sent".into()),
            Doing::Wait if world.hung_up => Err(failed("NO_SIGNALS", false)),
            Doing::Wait if is_stopping => {
                self.attempts[place].fate = Fate::Over;
                self.is_cut = true;
                return;
            }
            Doing::Wait => return,
            // The error of a plan before its start is the error of its call.
            Doing::Unfit(Unfit::Block | Unfit::Round) => Err(failed("ARGUMENTS", false)),
            Doing::Unfit(Unfit::Inputs | Unfit::Refused) => Err(failed("FAILED", false)),
            Doing::Scope(scope) if scope.is_over() => scope.result(),
            Doing::Scope(_) => return,
        };
        // After the last round, its condition may still hold.
        let result = match (result, &self.node.work, &*attempt.element) {
            (Ok(value), Work::Loop(true, _), [1]) => Err((failed("TOO_MANY_ROUNDS", false), value)),
            (result, ..) => result.map_err(|failed| (failed, Value::Null)),
        };
        let (element, number, is_new) = (attempt.element.clone(), attempt.number, attempt.is_new);
        let succeeds = match &result {
            Ok(_) => true,
            Err((failed, _)) => failed
                .failures
                .iter()
                .any(|it| it.code == "TOO_MANY_ROUNDS" && it.path == path),
        };
        let attempt = &mut self.attempts[place];
        attempt.fate = match attempt.doing {
            Doing::Scope(_) if succeeds => Fate::Kept,
            _ => Fate::Over,
        };
        match result {
            Ok(value) => self.deliver(element, value, is_stopping, world),
            Err((failed, _)) if failed.cut.is_some() => self.add_cut(element, failed),
            Err((failed, _)) => {
                world.is_unclear |= is_new && world.started.len() > 1;
                let may_retry = !is_stopping && !self.is_cut && self.failed.is_none();
                if may_retry && failed.is_transient() && number < self.node.attempts {
                    return self.attempt(element, number + 1, world);
                }
                self.fail(element, failed, world);
            }
        }
    }

    fn deliver(&mut self, element: Vec<usize>, value: Value, is_stopping: bool, world: &mut World) {
        if let Work::Loop(..) = self.node.work {
            self.values.insert(Vec::new(), value);
            if element == [0] {
                self.values.clear();
                if is_stopping || self.is_cut {
                    self.is_cut = true;
                } else {
                    self.attempt(vec![1], 1, world);
                }
            }
            return;
        }
        let value = match self.node.recovers {
            Recovers::CatchEach if !element.is_empty() => json!({ "Ok": value }),
            _ => value,
        };
        self.values.insert(element, value);
    }

    /// A scope in it that was cut has ended. Only what it has not undone is of interest.
    fn add_cut(&mut self, element: Vec<usize>, failed: Failed) {
        if failed.not_undone.is_empty() {
            self.left.add(failed.of_cut());
        } else {
            self.note(element, failed);
        }
    }

    /// The first failed element in the list is the failure of the step. The results of the undo steps in the other elements count as well.
    fn note(&mut self, element: Vec<usize>, failed: Failed) {
        let (noted, other) = match self.failed.take() {
            None => ((element, failed), None),
            Some(first) if first.0 <= element => (first, Some(failed)),
            Some((_, other)) => ((element, failed), Some(other)),
        };
        self.failed = Some(noted);
        if let Some(other) = other {
            self.left.add(other.of_cut());
        }
    }

    /// An element has failed for good.
    fn fail(&mut self, element: Vec<usize>, failed: Failed, world: &mut World) {
        let is_element = !element.is_empty() && !self.is_over;
        let instead = match self.node.recovers {
            Recovers::CatchEach if is_element => {
                self.left.add_absorbed(failed.clone());
                Some(failed.caught(&self.path))
            }
            Recovers::OptionalEach if is_element && failed.not_undone.is_empty() => {
                Some(Value::Null)
            }
            _ => None,
        };
        if let Some(value) = instead {
            self.missed = true;
            self.values.insert(element, value);
            return;
        }
        self.note(element, failed);
        if world.on_failure == OnFailure::Cancel {
            self.cut_attempts(Why::Beside);
        }
    }

    fn cut_attempts(&mut self, why: Why) {
        self.is_cut = true;
        for attempt in &mut self.attempts {
            match &mut attempt.doing {
                Doing::Scope(scope) if attempt.fate == Fate::Runs => scope.cut(why),
                Doing::Call(_) | Doing::Wait | Doing::Unfit(_) if attempt.fate == Fate::Runs => {
                    attempt.fate = Fate::Over;
                }
                _ => {}
            }
        }
    }

    /// Drops its calls: another step has failed, or the scope around it was ended before its time.
    pub(crate) fn cut(&mut self, why: Why, is_over: bool) {
        // A step whose elements are undone has failed before.
        let is_undone = self.attempts.iter().any(|it| it.fate == Fate::IsUndone);
        self.is_over |= is_over || is_undone;
        match self.failed.take() {
            Some((_, failed)) if !is_undone && failed.not_undone.is_empty() => {
                self.left.add(failed.of_cut());
            }
            failed => self.failed = failed,
        }
        self.cut_attempts(why);
    }

    /// Ends it, with all inside it.
    pub(crate) fn drop_all(&mut self) {
        for attempt in &mut self.attempts {
            if let (Doing::Scope(scope), Fate::Runs | Fate::IsUndone) =
                (&mut attempt.doing, attempt.fate)
            {
                scope.drop_all();
                self.left.add(scope.undoing().of_cut());
            }
            if let Fate::Runs | Fate::IsUndone = attempt.fate {
                attempt.fate = Fate::Over;
            }
        }
    }

    pub(crate) fn add_progress(&self, progress: &mut Vec<u8>) {
        for attempt in &self.attempts {
            progress.push(attempt.fate as u8);
            if let Doing::Scope(scope) = &attempt.doing {
                scope.add_progress(progress);
            }
        }
    }

    /// The event is over that has started what is new.
    pub(crate) fn grow_old(&mut self) {
        for attempt in &mut self.attempts {
            attempt.is_new = false;
            if let Doing::Scope(scope) = &mut attempt.doing {
                scope.grow_old();
            }
        }
    }

    fn runs(&self) -> bool {
        self.attempts
            .iter()
            .any(|attempt| attempt.fate == Fate::Runs)
    }

    /// Returns the value, after all elements have theirs.
    fn value(&self, work: &Work, element: Vec<usize>) -> Option<Value> {
        match work {
            Work::If(false, _) => Some(Value::Null),
            Work::If(true, work) => self.value(work, element),
            Work::For(work) => {
                let is_list = matches!(**work, Work::For(_));
                let is_caught = self.node.recovers == Recovers::CatchEach && !is_list;
                let value = |index| {
                    let at = [&*element, &[index]].concat();
                    // The output and the failure of a call are in a `Result` already.
                    let has_result = self.values.contains_key(&at);
                    let value = self.value(work, at)?;
                    Some(if is_caught && !has_result {
                        json!({ "Ok": value })
                    } else {
                        value
                    })
                };
                (0..2)
                    .map(value)
                    .collect::<Option<Vec<Value>>>()
                    .map(Value::from)
            }
            _ => self.values.get(&element).cloned(),
        }
    }

    /// Returns the end of the step, if it has ended. If the step fails or is interrupted, its elements are undone
    /// first.
    pub(crate) fn take_end(&mut self, left: &mut Failed) -> Option<State> {
        if self.runs() {
            return None;
        }
        if self.failed.is_none()
            && let Some(value) = self.value(&self.node.work, Vec::new())
        {
            if self.node.role != Role::Work {
                // A completed undo step or always step is not undone.
                self.left = self.absorbed();
                self.attempts.iter_mut().for_each(|it| it.fate = Fate::Over);
            }
            let value = match self.node.recovers {
                Recovers::Catch => json!({ "Ok": value }),
                _ => value,
            };
            return Some(match () {
                () if self.node.work.is_skipped() => State::Skipped(value),
                () if self.missed => State::Recovered(value),
                () => State::Completed(value),
            });
        }
        if !self.undo() {
            return None;
        }
        let undone = std::mem::take(&mut self.left);
        let Some((_, mut failed)) = self.failed.take() else {
            left.add(undone);
            return Some(State::Cancelled);
        };
        failed.add(undone);
        Some(match self.node.recovers {
            _ if self.is_over => State::Failed(failed),
            Recovers::Catch => {
                let caught = failed.caught(&self.path);
                left.add_absorbed(failed);
                State::Recovered(caught)
            }
            _ if !failed.not_undone.is_empty() => State::Failed(failed),
            Recovers::Optional => State::Recovered(Value::Null),
            Recovers::Fallback => State::Recovered("instead".into()),
            _ => State::Failed(failed),
        })
    }

    /// Undoes the completed scopes: elements concurrently, rounds from the last to the first. Returns `true` after the
    /// end of the undoing.
    pub(crate) fn undo(&mut self) -> bool {
        let is_loop = matches!(self.node.work, Work::Loop(..));
        for attempt in self.attempts.iter_mut().rev() {
            let Doing::Scope(scope) = &mut attempt.doing else {
                continue;
            };
            match attempt.fate {
                Fate::Kept => {
                    attempt.fate = Fate::IsUndone;
                    scope.begin_undo();
                }
                Fate::IsUndone if scope.is_over() => {
                    attempt.fate = Fate::Over;
                    self.left.add(scope.undoing().of_cut());
                }
                _ => {}
            }
            if is_loop && attempt.fate == Fate::IsUndone {
                break;
            }
        }
        let is_open = |it: &Attempt<'_>| matches!(it.fate, Fate::Kept | Fate::IsUndone);
        !self.attempts.iter().any(is_open)
    }

    pub(crate) fn end_call(&mut self, path: &str, end: End) {
        for place in 0..self.attempts.len() {
            let here = self.place(&self.attempts[place].element);
            let attempt = &mut self.attempts[place];
            match &mut attempt.doing {
                Doing::Call(ended) if attempt.fate == Fate::Runs && here == path => {
                    *ended = Some(end);
                }
                Doing::Scope(scope) if attempt.fate != Fate::Over => scope.end_call(path, end),
                _ => {}
            }
        }
    }

    pub(crate) fn running(&self, running: &mut Running) {
        for attempt in &self.attempts {
            match &attempt.doing {
                Doing::Call(_) if attempt.fate == Fate::Runs => {
                    let path = self.place(&attempt.element);
                    let key = self.keys.of_element(&attempt.element);
                    running.keys.insert(path.clone(), key);
                    running.calls.push(path);
                }
                Doing::Wait if attempt.fate == Fate::Runs => running.waits += 1,
                Doing::Scope(scope) => scope.running(running),
                _ => {}
            }
        }
    }

    /// Returns the outcomes of the scopes inside that are not undone, or were undone after their success.
    pub(crate) fn left(&self) -> Failed {
        let mut left = self.left.clone();
        if let Some((_, failed)) = self.failed.clone() {
            left.add(failed.of_cut());
        }
        for attempt in &self.attempts {
            if let (Doing::Scope(scope), Fate::Kept) = (&attempt.doing, attempt.fate) {
                left.add(scope.undoing().of_cut());
            }
        }
        left
    }

    /// Returns the work that caught failures leave in the step.
    pub(crate) fn absorbed(&self) -> Failed {
        let mut absorbed = self.left.clone();
        for attempt in &self.attempts {
            if let (Doing::Scope(scope), Fate::Kept) = (&attempt.doing, attempt.fate) {
                absorbed.add(scope.absorbed());
            }
        }
        absorbed
    }

    /// Returns the attempts, with the statuses of the steps in each.
    pub(crate) fn attempts(&self) -> String {
        let words = self.attempts.iter().map(|attempt| {
            let element = elements(&attempt.element);
            let inside = match &attempt.doing {
                Doing::Scope(scope) => format!("{{{}}}", scope.statuses()),
                _ => String::new(),
            };
            format!(" {element}#{}{inside}", attempt.number)
        });
        words.collect()
    }
}
