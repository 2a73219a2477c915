//! The behavior of a run, as the language's description defines it: a state, which each event changes.
//!
//! | | |
//! |---|---|
//! | `model.rs` | the run |
//! | `scope.rs` | scopes: plans, blocks and rounds, with their undo steps and always steps |
//! | `job.rs` | a step that runs: its elements, rounds and attempts |
//!
//! After an event, the model repeats all its rules until the state is stable. So the model has no queues and no order of
//! its own.

use super::failed::Why;
use super::hand::{End, Event, Outcome, in_order};
use super::keys::Keys;
use super::scope::Scope;
use super::tree::Node;
use plan_runtime::run::OnFailure;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone)]
pub(crate) struct Model<'t> {
    root: Scope<'t>,
    world: World,
}

/// The state that all scopes of a run share.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) on_failure: OnFailure,
    /// `true` while the grace period after a cancellation or the deadline lasts.
    pub(crate) has_grace: bool,
    /// The reason of an early end.
    pub(crate) stopped: Option<Why>,
    /// The counts of undone steps, by their keys.
    pub(crate) undone: BTreeMap<String, u32>,
    /// The steps that were sent a value.
    pub(crate) sent: BTreeSet<String>,
    pub(crate) hung_up: bool,
    /// The calls and waits that started because of the last event.
    pub(crate) started: Vec<String>,
    /// `true` if a call has failed at the moment of its start, together with others, or several waits have failed together: the language does not
    /// define which of them was first.
    pub(crate) is_unclear: bool,
}

/// The running calls.
#[derive(Default)]
pub(crate) struct Running {
    pub(crate) calls: Vec<String>,
    /// The keys of the calls, by their paths.
    pub(crate) keys: BTreeMap<String, String>,
    pub(crate) waits: usize,
}

impl<'t> Model<'t> {
    pub(crate) fn new(steps: &'t [Node], on_failure: OnFailure) -> Self {
        let mut model = Self {
            root: Scope::new(steps, String::new(), Keys::default()),
            world: World {
                on_failure,
                has_grace: true,
                stopped: None,
                undone: BTreeMap::new(),
                sent: BTreeSet::new(),
                hung_up: false,
                started: Vec::new(),
                is_unclear: false,
            },
        };
        model.settle();
        model
    }

    /// Returns a model without a grace period.
    pub(crate) fn without_grace(mut self) -> Self {
        self.world.has_grace = false;
        self
    }

    pub(crate) fn happen(&mut self, event: &Event) {
        let Self { root, world } = self;
        match event {
            Event::End(path, end) => root.end_call(path, *end),
            Event::Send(path) => {
                world.sent.insert(path.clone());
            }
            Event::HangUp => {
                let mut running = Running::default();
                root.running(&mut running);
                world.is_unclear |= running.waits > 1;
                world.hung_up = true;
            }
            Event::Cancel | Event::Deadline => {
                let is_cancelled = *event == Event::Cancel;
                let why = if is_cancelled {
                    Why::Cancelled
                } else {
                    Why::Late
                };
                world.stopped = Some(why);
                root.cut(why);
                if !world.has_grace {
                    root.drop_all();
                }
            }
            Event::Grace => root.drop_all(),
        }
        self.settle();
    }

    fn settle(&mut self) {
        self.root.settle(&mut self.world);
        self.root.grow_old();
    }

    /// Returns `true` if the language does not define the next state.
    pub(crate) fn is_unclear(&self) -> bool {
        self.world.is_unclear
    }

    pub(crate) fn is_over(&self) -> bool {
        self.root.is_over()
    }

    /// The calls that run, sorted.
    pub(crate) fn running(&self) -> Vec<String> {
        let mut running = Running::default();
        self.root.running(&mut running);
        running.calls.sort();
        running.calls
    }

    /// The keys of the calls that run, by their paths.
    pub(crate) fn keys(&self) -> BTreeMap<String, String> {
        let mut running = Running::default();
        self.root.running(&mut running);
        running.keys
    }

    /// Returns the calls that have started since the last call of this method, sorted. A call that was dropped since
    /// has no effect.
    pub(crate) fn started(&mut self) -> Vec<String> {
        let mut started = std::mem::take(&mut self.world.started);
        let running = self.running();
        started.retain(|path| running.contains(path));
        started.sort();
        started
    }

    /// Returns the next possible events, for these ends of calls and these steps that accept values.
    pub(crate) fn events(&self, ends: &[End], waits: &[String]) -> Vec<Event> {
        let mut events = Vec::new();
        for path in self.running() {
            events.extend(ends.iter().map(|end| Event::End(path.clone(), *end)));
        }
        let World {
            sent,
            hung_up,
            stopped,
            ..
        } = &self.world;
        if !hung_up && !waits.is_empty() && stopped.is_none() {
            let open = waits.iter().filter(|path| !sent.contains(*path));
            events.extend(open.map(|path| Event::Send(path.clone())));
            events.push(Event::HangUp);
        }
        events.push(match stopped {
            None => Event::Cancel,
            Some(_) => Event::Grace,
        });
        events
    }

    pub(crate) fn outcome(&self) -> Outcome {
        let result = self.root.result();
        let sorted = |mut paths: Vec<String>| {
            paths.sort();
            paths
        };
        let (undone, not_undone) = match &result {
            Ok(_) => Default::default(),
            Err(failed) => (failed.undone.clone(), failed.not_undone.clone()),
        };
        Outcome {
            failures: match &result {
                Ok(_) => Vec::new(),
                Err(failed) => in_order(failed.failures.iter().map(|it| it.text()).collect()),
            },
            result: result.map_err(|failed| match failed.cut {
                Some(Why::Cancelled) => "cancelled",
                Some(Why::Late) => "late",
                _ => "failed",
            }),
            steps: self.root.statuses(),
            undone: sorted(undone),
            not_undone: sorted(not_undone),
        }
    }
}
