//! The limits of a run, and the amounts that the run has used.

use super::super::admission::{Throttle, allows};
use super::super::last_waker::LastWaker;
use super::super::limits::Limits;
use super::gate::AnyGate;
use crate::Plan;
use crate::error::{Cause, StepError};
use crate::plan::Action;
use crate::print::{MessageName, some_of};
use crate::resolve::{Limit, MemoryBudget, ResolveError};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The calls that a run may make.
#[derive(Default)]
pub(in crate::run) struct Permissions {
    pub(in crate::run) gate: Option<Arc<dyn AnyGate>>,
    /// The names of the tools that may be called.
    pub(in crate::run) only: Option<Vec<String>>,
    pub(in crate::run) throttles: Vec<Throttle>,
}

/// The limits and permissions of a run and of the plans inside the run, with the amounts used so far. A run inside another run has the limits and permissions of
/// both runs.
pub(in crate::run) struct Allowance {
    limits: Limits,
    /// The smallest limits on one value, and on the arguments of one call, including the limits of enclosing runs.
    value: usize,
    arguments: usize,
    /// `true` if this allowance or an enclosing allowance limits calls, attempts or elements.
    counts: bool,
    permissions: Permissions,
    around: Option<Arc<Self>>,
    /// `true` if many runs share the allowance. A run that exceeds a shared limit does not end the other runs.
    is_of_many: bool,
    /// The number of plans around the plan of this allowance.
    depth: usize,
    held: AtomicUsize,
    calls: AtomicUsize,
    attempts: AtomicUsize,
    elements: AtomicUsize,
    /// The exceeded limit, and its position.
    exceeded: OnceLock<Arc<str>>,
    /// The waker of the run of this allowance. An exceeded limit wakes the run.
    pub(in crate::run) waker: LastWaker,
}

impl Allowance {
    pub(in crate::run) fn new(
        limits: Limits,
        permissions: Permissions,
        around: Option<Arc<Self>>,
        depth: usize,
    ) -> Arc<Self> {
        let (mut value, mut arguments) = (limits.value, limits.arguments);
        let unlimited = Limits::DEFAULT;
        let mut counts = (limits.calls, limits.attempts, limits.elements)
            != (unlimited.calls, unlimited.attempts, unlimited.elements);
        if let Some(around) = &around {
            value = value.min(around.value);
            arguments = arguments.min(around.arguments);
            counts |= around.counts;
        }
        Arc::new(Self {
            limits,
            value,
            arguments,
            counts,
            permissions,
            around,
            is_of_many: false,
            depth,
            held: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            attempts: AtomicUsize::new(0),
            elements: AtomicUsize::new(0),
            exceeded: OnceLock::new(),
            waker: LastWaker::default(),
        })
    }

    /// Creates the allowance of many runs. The runs hold at most `total` bytes together.
    pub(in crate::run) fn of_many(total: usize) -> Arc<Self> {
        let limits = Limits::DEFAULT.total(total);
        let mut this = Self::new(limits, Permissions::default(), None, 0);
        // The allowance has no other owner yet.
        if let Some(this) = Arc::get_mut(&mut this) {
            this.is_of_many = true;
        }
        this
    }

    /// Returns `true` if many runs share the allowance.
    pub(in crate::run) fn is_of_many(&self) -> bool {
        self.is_of_many
    }

    /// Returns `true` if the run shares the directly enclosing allowance with other runs.
    pub(in crate::run) fn is_among_many(&self) -> bool {
        self.around.as_ref().is_some_and(|it| it.is_of_many)
    }

    /// Returns this allowance and the enclosing allowances, the innermost first.
    #[inline]
    fn chain(&self) -> impl Iterator<Item = &Self> {
        successors(Some(self), |it| it.around.as_deref())
    }

    /// Returns the limits of this allowance alone.
    pub(in crate::run) fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the gates that decide about each call, the outermost first.
    pub(in crate::run) fn gates(&self) -> Vec<Arc<dyn AnyGate>> {
        let gates = self.chain().filter_map(|it| it.permissions.gate.clone());
        let mut gates: Vec<_> = gates.collect();
        gates.reverse();
        gates
    }

    /// Returns the throttles of all calls.
    pub(in crate::run) fn throttles(&self) -> Vec<Throttle> {
        let throttles = self.chain().flat_map(|it| &it.permissions.throttles);
        throttles.cloned().collect()
    }

    /// Returns an error if the plan calls tools that the run may not call.
    pub(in crate::run) fn refuses(&self, plan: &Plan) -> Option<Cause> {
        let mut refused: BTreeMap<(&str, usize), Vec<String>> = BTreeMap::new();
        let lists = self.chain().filter_map(|it| it.permissions.only.as_deref());
        let lists: Vec<&[String]> = lists.collect();
        if lists.is_empty() {
            return None;
        }
        plan.calls(&mut |tool, path| {
            let mut lists = lists.iter();
            if let Some(list) = lists.position(|list| !allows(list, &tool.name)) {
                let steps = refused.entry((&tool.name, list)).or_default();
                if steps.last().is_none_or(|last| last != path) {
                    steps.push(path.to_owned());
                }
            }
        });
        let refused = refused.into_iter().map(|((tool, list), steps)| {
            let tool = MessageName(tool);
            let calls = match steps.len() {
                1 => format!("step {} calls", some_of(&steps)),
                _ => format!("steps {} call", some_of(&steps)),
            };
            let may = match lists[list] {
                [] => "nothing".into(),
                list => some_of(list).to_string(),
            };
            format!("the run may not call `{tool}`, which {calls}; it may call {may}")
        });
        let refused: Vec<String> = refused.collect();
        (!refused.is_empty()).then_some(Cause::Unfit(refused))
    }

    /// Returns the memory budget for a further value of a plan that holds these bytes.
    #[inline]
    pub(in crate::run) fn room(&self, held: &Held) -> MemoryBudget {
        let (total, left, is_of_many) = if held.is_shared() {
            self.left()
        } else {
            let total = self.limits.total;
            (total, total.saturating_sub(held.bytes), false)
        };
        MemoryBudget {
            value: self.value,
            arguments: self.arguments,
            total,
            left,
            is_of_many,
        }
    }

    /// Returns the total limit with the fewest bytes left, the number of bytes left, and `true` if many runs share the limit.
    #[inline(never)]
    fn left(&self) -> (usize, usize, bool) {
        let left = self.chain().map(|it| {
            let total = it.limits.total;
            let left = total.saturating_sub(it.held.load(Ordering::Relaxed));
            (total, left, it.is_of_many)
        });
        left.min_by_key(|(_, left, _)| *left).expect("there is one")
    }

    /// Counts the elements of a list of this length.
    pub(in crate::run) fn list(&self, length: usize) -> Result<(), ResolveError> {
        let mut result = Ok(());
        for it in self.chain() {
            let before = it.elements.fetch_add(length, Ordering::Relaxed);
            let most = it.limits.elements;
            if before.saturating_add(length) > most {
                result = Err(ResolveError::limit(Limit::Elements(most)));
            }
        }
        result
    }

    /// Counts calls and attempts. Returns `false` if their number exceeds a limit.
    #[inline(never)]
    fn count(&self, calls: usize, attempts: usize) -> bool {
        let mut is_within = true;
        for it in self.chain() {
            let calls = it.calls.fetch_add(calls, Ordering::Relaxed) + calls;
            let attempts = it.attempts.fetch_add(attempts, Ordering::Relaxed) + attempts;
            is_within &= calls <= it.limits.calls && attempts <= it.limits.attempts;
        }
        is_within
    }

    /// Returns the error of a call or attempt that exceeds a limit. The outermost limit counts.
    #[cold]
    fn too_many_calls(&self) -> StepError {
        let exceeds = |count: &AtomicUsize, most| count.load(Ordering::Relaxed) > most;
        let limits = self.chain().filter_map(|it| {
            let Limits {
                calls, attempts, ..
            } = it.limits;
            if exceeds(&it.calls, calls) {
                Some(Limit::Calls(calls))
            } else {
                exceeds(&it.attempts, attempts).then_some(Limit::Attempts(attempts))
            }
        });
        let limit = limits.last();
        StepError::arguments(ResolveError::limit(limit.expect("a limit is exceeded")))
    }

    /// Checks that a plan may start at this depth.
    pub(in crate::run) fn enter(&self, depth: usize) -> Result<(), ResolveError> {
        let mut chain = self.chain();
        match chain.find(|it| depth - it.depth > it.limits.depth) {
            Some(it) => Err(ResolveError::limit(Limit::Depth(it.limits.depth))),
            None => Ok(()),
        }
    }

    /// Returns the exceeded limit with its position, if a limit was exceeded.
    #[inline]
    pub(in crate::run) fn exceeded(&self) -> Option<&Arc<str>> {
        self.chain().find_map(|it| it.exceeded.get())
    }

    /// Ends the run whose limit was exceeded, with all plans inside the run.
    #[cold]
    pub(in crate::run) fn exceed(&self, limit: Limit, place: &str) {
        // If the enclosing run has an equal limit, both runs have exceeded the limit.
        let chain = || self.chain().filter(|it| !it.is_of_many);
        let exceeded = chain().filter(|it| it.limits.has(limit)).last();
        let it = exceeded.or(chain().last()).unwrap_or(self);
        if it.exceeded.set(place.into()).is_ok() {
            it.waker.wake();
        }
    }
}

impl Limits {
    /// Returns `true` if `self` contains this limit.
    fn has(&self, limit: Limit) -> bool {
        match limit {
            Limit::Value(value) => self.value == value,
            Limit::Arguments(arguments) => self.arguments == arguments,
            Limit::Total(total) => self.total == total,
            Limit::Calls(calls) => self.calls == calls,
            Limit::Attempts(attempts) => self.attempts == attempts,
            Limit::Elements(elements) => self.elements == elements,
            Limit::Depth(depth) => self.depth == depth,
            // Many runs share this limit.
            Limit::TotalOfMany(_) => false,
            Limit::Recorded(recorded) => self.recorded == recorded,
        }
    }
}

/// The bytes that one plan of a run holds, and the calls that it has made, as [`Limits`] count them.
pub(in crate::run) struct Held {
    bytes: usize,
    /// `true` if the allowance counts bytes for plans inside or around this plan as well.
    is_shared: Cell<bool>,
    pub(in crate::run) allowance: Arc<Allowance>,
}

impl Held {
    pub(in crate::run) fn new(allowance: Arc<Allowance>, is_shared: bool) -> Self {
        Self {
            bytes: 0,
            is_shared: Cell::new(is_shared),
            allowance,
        }
    }

    #[inline]
    pub(in crate::run) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.is_shared.get() {
            self.add_shared(bytes);
        }
    }

    #[cold]
    fn add_shared(&self, bytes: usize) {
        for it in self.allowance.chain() {
            it.held.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(in crate::run) fn remove(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.bytes, "what is removed was added");
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        if self.is_shared.get() {
            self.remove_shared(bytes);
        }
    }

    #[cold]
    fn remove_shared(&self, bytes: usize) {
        for it in self.allowance.chain() {
            it.held.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// Adds the bytes to the shared allowance from now on.
    pub(in crate::run) fn share(&self) {
        if !self.is_shared.replace(true) {
            self.add_shared(self.bytes);
        }
    }

    /// Returns `true` if the plan shares its counts.
    #[inline]
    pub(in crate::run) fn is_shared(&self) -> bool {
        self.is_shared.get()
    }

    #[inline(always)]
    pub(in crate::run) fn room(&self) -> MemoryBudget {
        self.allowance.room(self)
    }

    /// Counts an attempt to call a tool, and the call if the call `is_new`.
    #[inline(always)]
    pub(in crate::run) fn charge(&self, action: &Action, is_new: bool) -> Result<(), StepError> {
        if action.tool.is_none() {
            return Ok(());
        }
        self.charge_calls(usize::from(is_new), 1)
    }

    /// Counts a call whose attempts count later.
    pub(in crate::run) fn charge_call(&self) -> Result<(), StepError> {
        self.charge_calls(1, 0)
    }

    #[inline(always)]
    fn charge_calls(&self, calls: usize, attempts: usize) -> Result<(), StepError> {
        let allowance = &self.allowance;
        if !allowance.counts || allowance.count(calls, attempts) {
            return Ok(());
        }
        Err(allowance.too_many_calls())
    }

    /// Returns `true` if the run may hold `bytes` more.
    #[inline(always)]
    pub(in crate::run) fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.room().left
    }

    /// Returns the error of an output that exceeds the limit on bytes.
    #[cold]
    pub(in crate::run) fn no_room(&self) -> StepError {
        StepError::output(self.exceeded())
    }

    /// Returns the error of another value that exceeds the limit on bytes.
    #[cold]
    pub(in crate::run) fn full(&self) -> StepError {
        StepError::arguments(self.exceeded())
    }

    fn exceeded(&self) -> ResolveError {
        let full = MemoryBudget {
            left: 0,
            ..self.room()
        };
        full.exceeded()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.remove(self.bytes);
    }
}
