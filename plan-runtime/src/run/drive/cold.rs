//! The values inside a step that is not plain: lists, local values, rounds.

use super::super::StepError;
use super::super::context::CallContext;
use super::super::start::CalledPlan;
use crate::machine::{CallId, Part};
use crate::plan::{Body, OK, Policy};
use crate::resolve::{ResolveError, StoredValue};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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
