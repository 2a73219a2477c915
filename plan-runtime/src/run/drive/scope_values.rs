//! The values of one scope, with its secrets, and the values inside a step that is not plain.

use super::super::StepError;
use super::super::context::CallContext;
use super::super::start::{CalledPlan, OwnStart};
use super::task::Site;
use crate::machine::{CallId, Part, ScopeId};
use crate::plan::{Body, Graph, Handing, OK, Plan, Policy, Secrecy};
use crate::resolve::{ResolveError, StoredValue};
use crate::shape::Secrets;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The plan, the block or the round that a scope runs, with the inputs.
pub(super) struct ScopeValues<'x> {
    pub(super) plan: &'x Plan,
    pub(super) graph: Arc<Graph>,
    pub(super) handing: Option<Arc<Handing>>,
    /// `true` if the code that starts the actions passes Rust values on.
    pub(super) hands_over: bool,
    /// The slot of the first step.
    pub(super) first: usize,
    /// The number of the first action.
    pub(super) actions: usize,
    pub(super) inputs: Vec<StoredValue>,
    /// The `Result`s that always steps see instead of outputs. The list is empty before the first always step.
    pub(super) seen: Vec<Option<StoredValue>>,
    pub(super) owner: Option<Opener>,
    /// The number of scopes around the scope.
    pub(super) depth: usize,
    /// The number of plans around the plan that the scope is part of.
    pub(super) plans: usize,
    /// The bytes that the inputs and the scope itself count.
    pub(super) bytes: usize,
    /// The scope of the called plan that the steps are part of.
    pub(super) called: Option<ScopeId>,
    /// The code that starts the actions of a called plan, in the scope of the plan.
    pub(super) own: Option<Box<OwnStart<'x>>>,
    pub(super) secrecy: Option<Arc<Secrecy>>,
    /// The steps with undo steps of which gates have allowed a call.
    pub(super) allowed: Vec<usize>,
    /// `true` if plain calls take the fast path. The run has no watch, no journal and no engine. The scope has no secrets, no enclosing called plan and
    /// no Rust values.
    pub(super) is_plain: bool,
}

impl<'x> ScopeValues<'x> {
    /// Returns the scope of the plan of a run.
    pub(super) fn root(
        plan: &'x Plan,
        graph: Arc<Graph>,
        hands_over: bool,
        inputs: Vec<StoredValue>,
    ) -> Self {
        Self {
            plan,
            graph,
            handing: None,
            hands_over,
            first: 0,
            actions: 0,
            inputs,
            seen: Vec::new(),
            owner: None,
            depth: 0,
            plans: 0,
            bytes: 0,
            called: None,
            own: None,
            secrecy: None,
            allowed: Vec::new(),
            is_plain: false,
        }
    }

    /// Returns the number of the first action of a step.
    #[inline]
    pub(super) fn first_action(&self, step: usize) -> usize {
        self.actions + self.graph.actions[step] as usize
    }

    /// Returns `true` if the scope is part of a called plan or has secrets.
    pub(super) fn is_more(&self) -> bool {
        self.called.is_some() || self.secrecy.is_some()
    }

    /// Returns `true` if a step reads a secret.
    pub(super) fn touches(&self, step: usize) -> bool {
        let secrecy = self.secrecy.as_ref();
        secrecy.is_some_and(|secrecy| secrecy.touches(step))
    }

    /// Returns the error of the output of the scope, or of the condition after a round. The error contains no values if the output may be secret.
    pub(super) fn hushed_output(&self, error: StepError) -> StepError {
        match &self.secrecy {
            Some(secrecy) if secrecy.output_touches() => error.without_values(),
            _ => error,
        }
    }

    /// Returns the secrets among the arguments of an action.
    pub(super) fn secrets(&self, number: usize) -> Option<&Secrets> {
        let secrecy = self.secrecy.as_ref()?;
        Some(secrecy.arguments(number - self.actions))
    }

    /// Masks the secrets among the arguments of an action.
    pub(super) fn mask(&self, number: usize, arguments: &mut Value) {
        if let Some(secrets) = self.secrets(number) {
            secrets.mask_in(arguments);
        }
    }
}

/// The location of a call in a run, with the end of its time.
pub(super) struct At {
    pub(super) of: Site,
    /// The number of the action among the actions of the step.
    pub(super) action: usize,
    pub(super) element: Vec<usize>,
    pub(super) is_plan: bool,
    pub(super) until: Option<Duration>,
}

/// The attempt that has opened a scope.
pub(super) struct Opener {
    pub(super) at: At,
    pub(super) times: u32,
    pub(super) context: OnceCell<CallContext>,
    /// `true` after the value of the scope is made.
    pub(super) has_value: bool,
}

impl Drop for Opener {
    /// Ends the context, which a tool may keep.
    fn drop(&mut self) {
        if let Some(context) = self.context.get() {
            context.close(!self.has_value);
        }
    }
}

/// Returns the secrets of a plan that runs in a call, or of the plan of a run.
pub(super) fn secrecy_of(
    plan: &Plan,
    graph: &Graph,
    around: Option<&CallContext>,
) -> Option<Arc<Secrecy>> {
    let call = around.and_then(CallContext::called);
    match call.filter(|given| !given.is_empty()) {
        Some(given) => Secrecy::of(plan, given, &|_| None),
        None => graph.secrecy.clone(),
    }
}

/// The values inside a step that is not plain.
#[derive(Default)]
pub(super) struct StepValues<'x> {
    /// The bodies in the order of the source, each with the number of its first action.
    pub(super) bodies: Vec<(&'x Body, usize)>,
    /// The policy with the amounts from the start of the step.
    pub(super) policy: Option<Arc<Policy>>,
    lists: Vec<UnfinishedList>,
    /// The values that conditions have bound, by elements.
    lets: BTreeMap<u32, Vec<StoredValue>>,
    pub(super) output: Option<StoredValue>,
    /// `true` if another value replaces the output.
    pub(super) is_replaced: bool,
    /// `true` if the journal has the note that the step has undone its step.
    pub(super) is_noted: bool,
    /// The value of the last round.
    pub(super) last: Value,
    pub(super) rounds: Vec<Value>,
    /// Called plans that are about to begin, by elements.
    pub(super) opening: BTreeMap<u32, Opening<'x>>,
    /// The last errors of elements with a deadline, in a run with a journal. An attempt that would start after the deadline ends with this error.
    pub(super) failed: BTreeMap<u32, StepError>,
    /// The timers and the ends of the time limits of elements.
    pub(super) deadlines: BTreeMap<u32, (CallId, Duration)>,
    /// The bytes charged for all values of the step.
    pub(super) stored: usize,
    /// The part of `stored` for the outputs of calls.
    pub(super) made: usize,
    /// The bytes charged for the value of the last round.
    pub(super) of_round: usize,
}

/// A called plan that is about to begin.
pub(super) struct Opening<'x> {
    pub(super) plan: Box<CalledPlan<'x>>,
    pub(super) context: CallContext,
    /// The bytes that the inputs and the plan itself count.
    pub(super) bytes: usize,
}

/// An unfinished list.
struct UnfinishedList {
    /// The number of the first element.
    first: u32,
    /// The element around the list.
    around: u32,
    items: Vec<Option<StoredValue>>,
    outputs: Vec<Value>,
    missing: usize,
    is_innermost: bool,
}

/// Returns an `Ok` or an `Err`, as serde writes a `Result`.
pub(super) fn outcome(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

impl<'x> StepValues<'x> {
    pub(super) fn new(bodies: Vec<(&'x Body, usize)>) -> Self {
        Self {
            bodies,
            ..Self::default()
        }
    }

    /// Begins a list, whose elements have the numbers from `first` on.
    pub(super) fn open_list(
        &mut self,
        (around, first): (u32, u32),
        items: Vec<Value>,
        is_innermost: bool,
    ) {
        let items = items.into_iter();
        let items: Vec<_> = items.map(|item| Some(StoredValue::json(item))).collect();
        self.lists.push(UnfinishedList {
            first,
            around,
            outputs: vec![Value::Null; items.len()],
            missing: items.len(),
            items,
            is_innermost,
        });
    }

    fn list_of(&self, element: u32) -> Option<usize> {
        let after = self.lists.partition_point(|list| list.first <= element);
        after.checked_sub(1)
    }

    /// Binds a local value in an element.
    pub(super) fn bind(&mut self, element: u32, value: StoredValue) {
        self.lets.entry(element).or_default().push(value);
    }

    /// Returns the number of values that conditions have bound in an element.
    pub(super) fn bound(&self, element: u32) -> usize {
        self.lets.get(&element).map_or(0, Vec::len)
    }

    /// Drops the values that conditions have bound in an element after the first `count`. Returns the bytes that the values counted.
    pub(super) fn unbind(&mut self, element: u32, count: usize) -> usize {
        let lets = self.lets.get_mut(&element);
        lets.map_or(0, |lets| bytes_of_all(lets.drain(count..)))
    }

    /// Returns the local values of an element, the outermost first.
    pub(super) fn locals(&self, element: u32) -> Vec<&StoredValue> {
        let mut locals = Vec::new();
        self.add_locals(element, &mut locals);
        locals
    }

    fn add_locals<'s>(&'s self, element: u32, locals: &mut Vec<&'s StoredValue>) {
        let list = self.list_of(element);
        if let Some(at) = list {
            let list = &self.lists[at];
            self.add_locals(list.around, locals);
            locals.extend(list.items[(element - list.first) as usize].as_ref());
        }
        // The elements of rounds have the values of the step.
        let element = if list.is_some() { element } else { Part::WHOLE };
        locals.extend(self.lets.get(&element).into_iter().flatten());
    }

    /// Stores the value of an element. The last value of a list completes the list, which is then the value of the enclosing element. If the step catches the failures of elements,
    /// a value that is no failure becomes an `Ok`. Returns the bytes charged for the local values that are dropped. `finished` gets the elements that now have their values.
    pub(super) fn deliver(
        &mut self,
        mut element: u32,
        value: StoredValue,
        (mut is_failure, catches): (bool, bool),
        mut finished: Option<&mut Vec<u32>>,
    ) -> Result<usize, ResolveError> {
        if self.list_of(element).is_none() {
            self.output = Some(value);
            return Ok(self.leave(Part::WHOLE));
        }
        let mut value = value.into_json()?;
        let mut left = 0;
        while let Some(at) = self.list_of(element) {
            if let Some(finished) = &mut finished {
                finished.push(element);
            }
            left += self.leave(element);
            let list = &mut self.lists[at];
            let place = (element - list.first) as usize;
            list.items[place] = None;
            if catches && !is_failure && list.is_innermost {
                value = outcome(OK, value);
            }
            is_failure = false;
            list.outputs[place] = value;
            list.missing -= 1;
            if list.missing > 0 {
                return Ok(left);
            }
            value = Value::Array(std::mem::take(&mut list.outputs));
            element = list.around;
        }
        self.output = Some(StoredValue::json(value));
        Ok(left + self.leave(Part::WHOLE))
    }

    fn leave(&mut self, element: u32) -> usize {
        self.lets.remove(&element).map_or(0, bytes_of_all)
    }
}

fn bytes_of_all(values: impl IntoIterator<Item = StoredValue>) -> usize {
    values.into_iter().map(|value| value.bytes()).sum()
}
