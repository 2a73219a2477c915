//! Scopes: their work, then their undo steps, then their always steps.

use super::failed::{Failed, Why};
use super::hand::End;
use super::job::Job;
use super::keys::Keys;
use super::model::{Running, World};
use super::tree::Node;
use plan_runtime::plan::Role;
use plan_runtime::run::OnFailure;
use serde_json::Value;

/// A plan, a block or a round on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope<'t> {
    steps: &'t [Node],
    /// The number of enclosing scopes, including itself.
    depth: usize,
    /// The prefix of its steps' paths.
    path: String,
    keys: Keys,
    states: Vec<State>,
    jobs: Vec<Option<Job<'t>>>,
    phase: Phase,
    /// The reason why its calls were dropped, if an enclosing scope dropped them.
    cut: Option<Why>,
    /// `true` if its work has failed.
    failed: bool,
    /// `true` if it is undone after its success, since an enclosing scope fails.
    is_undone: bool,
    /// The outcomes of scopes inside it that were interrupted, or undone after their success.
    left: Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Work,
    Undo,
    Always,
    Over,
}

/// The state of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting,
    Running,
    Completed(Value),
    Skipped(Value),
    /// Another value replaces its own.
    Recovered(Value),
    Failed(Failed),
    Blocked(usize),
    Cancelled,
}

impl State {
    fn value(&self) -> Option<Value> {
        match self {
            Self::Completed(value) | Self::Recovered(value) | Self::Skipped(value) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    fn is_over(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Running)
    }

    fn word(&self, steps: &[Node], depth: usize, role: Role) -> String {
        match self {
            Self::Waiting | Self::Skipped(_) if role != Role::Work => "idle".to_owned(),
            Self::Waiting => "not started".to_owned(),
            Self::Completed(_) => "completed".to_owned(),
            Self::Skipped(_) => "skipped".to_owned(),
            Self::Recovered(_) => "recovered".to_owned(),
            Self::Failed(_) => "failed".to_owned(),
            Self::Blocked(by) => format!("blocked by {}", steps[*by].id(depth, *by)),
            Self::Running | Self::Cancelled => "cancelled".to_owned(),
        }
    }
}

impl<'t> Scope<'t> {
    pub(crate) fn new(steps: &'t [Node], path: String, keys: Keys) -> Self {
        Self {
            steps,
            depth: path.matches('.').count() + 1,
            path,
            keys,
            states: vec![State::Waiting; steps.len()],
            jobs: vec![None; steps.len()],
            phase: Phase::Work,
            cut: None,
            failed: false,
            is_undone: false,
            left: Failed::default(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn places(&self, role: impl Fn(Role) -> bool) -> Vec<usize> {
        let places = 0..self.steps.len();
        places
            .filter(|place| role(self.steps[*place].role))
            .collect()
    }

    fn work(&self) -> Vec<usize> {
        self.places(|role| role == Role::Work)
    }

    fn path_of(&self, place: usize) -> String {
        format!("{}{}", self.path, self.steps[place].id(self.depth, place))
    }

    fn undo_of(&self, place: usize) -> Option<usize> {
        let undo = self.places(|role| role == Role::Undo(place));
        undo.first().copied()
    }

    /// Returns `true` if it starts no more work.
    fn is_stopping(&self, world: &World) -> bool {
        let has_failed = self.states.iter().any(|it| matches!(it, State::Failed(_)));
        self.phase == Phase::Work
            && (self.cut.is_some() || has_failed && world.on_failure != OnFailure::Continue)
    }

    /// Makes all progress that needs no event.
    pub(crate) fn settle(&mut self, world: &mut World) {
        loop {
            let before = self.progress();
            for place in 0..self.steps.len() {
                self.settle_step(place, world);
            }
            match self.phase {
                Phase::Work => self.do_work(world),
                Phase::Undo => self.undo(world),
                Phase::Always => self.do_always(world),
                Phase::Over => return,
            }
            if self.progress() == before {
                return;
            }
        }
    }

    /// Returns a measure of its progress, which is equal if the state has not changed.
    fn progress(&self) -> Vec<u8> {
        let mut progress = Vec::new();
        self.add_progress(&mut progress);
        progress
    }

    pub(crate) fn add_progress(&self, progress: &mut Vec<u8>) {
        progress.push(self.phase as u8);
        for (state, job) in self.states.iter().zip(&self.jobs) {
            progress.push(match state {
                State::Waiting => 0,
                State::Running => 1,
                _ => 2,
            });
            if let Some(job) = job {
                job.add_progress(progress);
            }
        }
    }

    fn start(&mut self, place: usize, world: &mut World) {
        self.states[place] = State::Running;
        let node = &self.steps[place];
        let id = |place: usize| self.steps[place].id(self.depth, place);
        let counted = match node.role {
            Role::Undo(undone) => Some(undone),
            Role::Always => None,
            _ => Some(place),
        };
        let times = counted.and_then(|place| world.undone.get(&self.keys.counted(&id(place))));
        let times = times.copied().unwrap_or_default();
        let keys = self
            .keys
            .of_step(&id(place), times, node.role == Role::Always);
        self.jobs[place] = Some(Job::start(node, self.path_of(place), keys, world));
    }

    fn do_work(&mut self, world: &mut World) {
        for place in self.work() {
            let after = &self.steps[place].after;
            let is_ready = after.iter().all(|it| self.states[*it].value().is_some());
            if self.states[place] == State::Waiting && is_ready && !self.is_stopping(world) {
                self.start(place, world);
            }
        }
        let runs = |place: &usize| self.states[*place] == State::Running;
        if !self.work().iter().any(runs) {
            let has_value = |place: &usize| self.states[*place].value().is_some();
            self.failed = self.cut.is_some() || !self.work().iter().all(has_value);
            self.phase = Phase::Undo;
        }
    }

    /// Lets a running step continue. If the step has failed finally, so has the scope.
    fn settle_step(&mut self, place: usize, world: &mut World) {
        let is_stopping = self.is_stopping(world);
        let Some(job) = &mut self.jobs[place] else {
            return;
        };
        job.settle(is_stopping, world);
        if self.states[place] != State::Running {
            return;
        }
        let Some(state) = job.take_end(&mut self.left) else {
            return;
        };
        self.states[place] = state;
        if let (State::Completed(_), Role::Undo(undone)) =
            (&self.states[place], self.steps[place].role)
        {
            let undone = self
                .keys
                .counted(&self.steps[undone].id(self.depth, undone));
            *world.undone.entry(undone).or_default() += 1;
        }
        let State::Failed(_) = &self.states[place] else {
            return;
        };
        if self.steps[place].role == Role::Work {
            self.block(place);
            if world.on_failure == OnFailure::Cancel {
                self.drop_work(Why::Beside);
            }
        }
    }

    /// Marks all steps that need a failed step.
    fn block(&mut self, by: usize) {
        let mut blocked = vec![by];
        for place in self.work() {
            if self.steps[place]
                .after
                .iter()
                .any(|it| blocked.contains(it))
            {
                let state = &mut self.states[place];
                match state {
                    State::Waiting => *state = State::Blocked(by),
                    State::Blocked(other) => *other = by.min(*other),
                    _ => continue,
                }
                blocked.push(place);
            }
        }
    }

    /// Drops the calls of the work.
    fn drop_work(&mut self, why: Why) {
        for place in self.work() {
            if self.states[place] == State::Running
                && let Some(job) = &mut self.jobs[place]
            {
                job.cut(why, self.cut.is_some());
            }
        }
    }

    /// Ends it before its time. If its work has ended, that changes nothing.
    pub(crate) fn cut(&mut self, why: Why) {
        if self.phase == Phase::Work {
            self.cut = self.cut.or(Some(why));
            self.drop_work(why);
        }
    }

    /// Ends it without what comes after the work.
    pub(crate) fn drop_all(&mut self) {
        for job in self.jobs.iter_mut().flatten() {
            job.drop_all();
        }
        for state in &mut self.states {
            if *state == State::Running {
                *state = State::Cancelled;
            }
        }
        self.failed |= self.phase == Phase::Work;
        self.phase = Phase::Over;
    }

    /// Undoes it after it has succeeded.
    pub(crate) fn begin_undo(&mut self) {
        self.is_undone = true;
        self.phase = Phase::Undo;
    }

    /// Undoes each step after its dependents, and before its dependencies.
    fn undo(&mut self, world: &mut World) {
        if self.failed || self.is_undone {
            let mut open = Vec::new();
            for place in self.work().into_iter().rev() {
                let waits = |other: &usize| self.steps[*other].after.contains(&place);
                if open.iter().any(waits) || !self.undo_step(place, world) {
                    open.push(place);
                }
            }
            if !open.is_empty() {
                return;
            }
        }
        self.phase = if self.is_undone {
            Phase::Over
        } else {
            Phase::Always
        };
    }

    /// Undoes a step: first with its own undo step, then with the undo steps of the scopes in it. Returns `true` after
    /// the end of the undoing.
    fn undo_step(&mut self, place: usize, world: &mut World) -> bool {
        let has_completed = matches!(self.states[place], State::Completed(_));
        if let Some(undo) = self.undo_of(place).filter(|_| has_completed) {
            if self.states[undo] == State::Waiting {
                self.start(undo, world);
            }
            if !self.states[undo].is_over() {
                return false;
            }
        }
        match &mut self.jobs[place] {
            Some(job) => job.undo(),
            None => true,
        }
    }

    fn do_always(&mut self, world: &mut World) {
        let always = self.places(|role| role == Role::Always);
        for &place in &always {
            let after = &self.steps[place].after;
            let is_before = |it: &&usize| always.contains(it);
            let mut before = after.iter().filter(is_before);
            if self.states[place] == State::Waiting && before.all(|it| self.states[*it].is_over()) {
                self.start(place, world);
            }
        }
        if always.iter().all(|place| self.states[*place].is_over()) {
            self.phase = Phase::Over;
        }
    }

    pub(crate) fn end_call(&mut self, path: &str, end: End) {
        for job in self.jobs.iter_mut().flatten() {
            job.end_call(path, end);
        }
    }

    /// The event is over that has started what is new.
    pub(crate) fn grow_old(&mut self) {
        self.jobs.iter_mut().flatten().for_each(Job::grow_old);
    }

    pub(crate) fn running(&self, running: &mut Running) {
        for job in self.jobs.iter().flatten() {
            job.running(running);
        }
    }

    /// Returns the value or the failure, after the end of the scope.
    pub(crate) fn result(&self) -> Result<Value, Failed> {
        if !self.failed {
            let values = self
                .work()
                .into_iter()
                .map(|place| self.states[place].value());
            return Ok(values
                .collect::<Option<Vec<Value>>>()
                .unwrap_or_default()
                .into());
        }
        let mut failed = Failed {
            cut: self.cut,
            ..self.undoing()
        };
        failed.failures.sort_by_key(|failure| match failure.role {
            Role::Work => 0,
            Role::Undo(_) => 1,
            _ => 2,
        });
        Err(failed)
    }

    /// Returns the outcomes of its steps, and of the scopes in them.
    pub(crate) fn undoing(&self) -> Failed {
        let mut all = Failed::default();
        for (place, state) in self.states.iter().enumerate() {
            if let State::Failed(failed) = state {
                let mut failed = failed.clone();
                let role = self.steps[place].role;
                if role != Role::Work {
                    failed.failures.iter_mut().for_each(|it| it.role = role);
                }
                let is_blocked = |it: &usize| self.states[*it] == State::Blocked(place);
                let blocked = self.work().into_iter().filter(is_blocked);
                let blocked = blocked.map(|it| self.path_of(it));
                if let Some(first) = failed.failures.first_mut() {
                    first.blocked.extend(blocked);
                }
                all.add(failed);
            }
            if let (State::Completed(_), Some(undo)) = (state, self.undo_of(place)) {
                let is_undone = matches!(self.states[undo], State::Completed(_));
                let list = if is_undone {
                    &mut all.undone
                } else {
                    &mut all.not_undone
                };
                list.push(self.path_of(place));
            }
        }
        all.add(self.left.clone());
        for job in self.jobs.iter().flatten() {
            all.add(job.left());
        }
        all
    }

    /// Returns the work that caught failures leave in the scope.
    pub(crate) fn absorbed(&self) -> Failed {
        let mut absorbed = self.left.clone();
        for state in &self.states {
            // Only always steps fail in a scope that succeeds.
            if let State::Failed(failed) = state {
                absorbed.undone.extend(failed.undone.clone());
                absorbed.not_undone.extend(failed.not_undone.clone());
            }
        }
        for job in self.jobs.iter().flatten() {
            absorbed.add(job.absorbed());
        }
        absorbed
    }

    /// Returns the status of each step.
    pub(crate) fn statuses(&self) -> String {
        let words = self.steps.iter().zip(&self.states).enumerate();
        let words = words.map(|(place, (node, state))| {
            let inside = self.jobs[place]
                .as_ref()
                .map_or_else(String::new, Job::attempts);
            format!(
                "{} {}{inside}",
                node.id(self.depth, place),
                state.word(self.steps, self.depth, node.role)
            )
        });
        words.collect::<Vec<_>>().join(", ")
    }
}
