//! The values inside a step that is not plain: lists, local values, rounds.

use crate::machine::CallId;
use crate::plan::{Body, OK, Policy};
use crate::resolve::{ResolveError, StoredValue};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The number of the step itself among its elements.
pub(super) const WHOLE: u32 = 0;

/// The values inside a step that is not plain.
pub(super) struct StepValues<'x> {
    /// The bodies in the order of the source, each with the number of its first action.
    pub(super) bodies: Vec<(&'x Body, usize)>,
    /// The policy with the amounts that were given when the step started.
    pub(super) policy: Option<Arc<Policy>>,
    lists: Vec<List>,
    /// The values that conditions have bound, with their elements.
    lets: Vec<(u32, StoredValue)>,
    pub(super) output: Option<StoredValue>,
    /// `true` if another value replaces the output.
    pub(super) is_replaced: bool,
    /// The value of the last round, and those of all rounds.
    pub(super) last: Value,
    pub(super) rounds: Vec<Value>,
    /// The waits that failed calls have asked for, with their elements.
    pub(super) delays: Vec<(u32, Duration)>,
    /// The time limits of elements, with their timers and ends.
    pub(super) deadlines: Vec<(u32, CallId, Duration)>,
}

/// A list on its way.
struct List {
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
            policy: None,
            lists: Vec::new(),
            lets: Vec::new(),
            output: None,
            is_replaced: false,
            last: Value::Null,
            rounds: Vec::new(),
            delays: Vec::new(),
            deadlines: Vec::new(),
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
        self.lists.push(List {
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
        self.lets.push((element, value));
    }

    /// Returns the number of values that conditions have bound.
    pub(super) fn bound(&self) -> usize {
        self.lets.len()
    }

    /// Drops the values that conditions have bound after the first `count`.
    pub(super) fn unbind(&mut self, count: usize) {
        self.lets.truncate(count);
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
        let element = if list.is_some() { element } else { WHOLE };
        let lets = self.lets.iter().filter(|it| it.0 == element);
        locals.extend(lets.map(|it| &it.1));
    }

    /// Puts a value where it belongs. The last value of a list makes the list a value. If the failures of elements are caught, each other element is an `Ok`.
    pub(super) fn deliver(
        &mut self,
        mut element: u32,
        value: StoredValue,
        mut is_failure: bool,
        catches: bool,
    ) -> Result<(), ResolveError> {
        if self.list_of(element).is_none() {
            self.output = Some(value);
            return Ok(());
        }
        let mut value = value.into_json()?;
        while let Some(at) = self.list_of(element) {
            self.lets.retain(|it| it.0 != element);
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
                return Ok(());
            }
            value = Value::Array(std::mem::take(&mut list.outputs));
            element = list.around;
        }
        self.output = Some(StoredValue::json(value));
        Ok(())
    }

    /// Returns the wait that the last failed call of an element has asked for.
    pub(super) fn take_delay(&mut self, element: u32) -> Option<Duration> {
        let at = self.delays.iter().position(|it| it.0 == element)?;
        Some(self.delays.swap_remove(at).1)
    }

    /// Returns the timer of an element's time limit, and the end of the time.
    pub(super) fn deadline(&self, element: u32) -> Option<(CallId, Duration)> {
        let mut deadlines = self.deadlines.iter().rev();
        let found = deadlines.find(|it| it.0 == element)?;
        Some((found.1, found.2))
    }
}
