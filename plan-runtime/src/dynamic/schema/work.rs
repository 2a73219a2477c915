//! How much work comparing may be, and what is remembered so that no work is done twice.
//!
//! The work grows with the values of a document. For each, there is fuel for as many forms as an honest schema has; a schema that has
//! many more of them around each other is met by so few values that what every check has from the start suffices. Where the fuel is spent,
//! the check fails: see [`TooMuchWork`].
//!
//! The values of an `enum` cost nothing: they are sorted once for each check, so that the work is never more than reading the schema was.

use super::allowed::Allowed;
use super::{Form, TooMuchWork};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::RandomState;
use std::rc::Rc;

/// The fuel of a check of few values.
const LEAST: usize = 2_000_000;

/// The fuel for describing types, in a prompt or in a schema of plans.
const OF_TYPES: usize = 300_000;

/// The fuel for each value.
const PER_VALUE: usize = 512;

/// How many names a check compares at most with one that may be misspelled. The mistakes after that have no suggestion.
const MOST_NAMES: usize = 50_000;

/// How many values of an `enum` are compared for a unit of fuel.
const VALUES: usize = 8;

/// With how many names one is compared at most.
const MOST_SIMILAR: usize = 1000;

/// What one check has for its work.
#[derive(Debug)]
pub(in crate::dynamic) struct Work {
    fuel: Cell<usize>,
    names: Cell<usize>,
    hashes: RandomState,
    /// The values of each `enum`, by its address. A check borrows the schemas, so that none of them moves.
    allowed: RefCell<HashMap<usize, Rc<Allowed>>>,
    /// Whether two forms have a value in common, by their keys.
    shared: RefCell<HashMap<Pair, bool>>,
    /// The descriptions of the values that types allow, by their keys.
    said: RefCell<HashMap<Vec<usize>, Rc<str>>>,
}

type Pair = (Vec<usize>, Vec<usize>);

impl Work {
    /// Fuel for comparing `values` values. A unit is the work of opening a schema, or of comparing a value with a form.
    pub(in crate::dynamic) fn for_values(values: usize) -> Self {
        Self {
            fuel: Cell::new(values.saturating_mul(PER_VALUE).saturating_add(LEAST)),
            names: Cell::new(MOST_NAMES),
            hashes: RandomState::new(),
            allowed: RefCell::default(),
            shared: RefCell::default(),
            said: RefCell::default(),
        }
    }

    /// Fuel for describing the types of all tools.
    pub(in crate::dynamic) fn for_types() -> Self {
        Self {
            fuel: Cell::new(OF_TYPES),
            ..Self::for_values(0)
        }
    }

    /// Whether nothing is left.
    pub(in crate::dynamic) fn is_spent(&self) -> bool {
        self.fuel.get() == 0
    }

    pub(in crate::dynamic) fn spend(&self, work: usize) -> Result<(), TooMuchWork> {
        let rest = self.fuel.get().checked_sub(work);
        self.fuel.set(rest.unwrap_or_default());
        rest.map(drop).ok_or(TooMuchWork::Work)
    }

    /// Whether this number of names may still be compared with one that may be misspelled. Of more than 1,000, only the first 1,000 are.
    pub(in crate::dynamic) fn may_compare(&self, names: usize) -> bool {
        let rest = self.names.get().checked_sub(names.min(MOST_SIMILAR));
        self.names.set(rest.unwrap_or_default());
        rest.is_some()
    }

    /// The values of an `enum`, sorted once.
    pub(super) fn allowed(&self, values: &[Value]) -> Rc<Allowed> {
        let mut all = self.allowed.borrow_mut();
        let allowed = all
            .entry(values.as_ptr().addr())
            .or_insert_with(|| Rc::new(Allowed::new(values, &self.hashes)));
        Rc::clone(allowed)
    }

    /// Whether a value is one of an `enum`.
    pub(super) fn allows(&self, values: &[Value], value: &Value) -> bool {
        self.allowed(values).has(values, value, &self.hashes)
    }

    /// The description of the values that these forms allow.
    pub(in crate::dynamic) fn said(
        &self,
        forms: &[&Form<'_>],
        say: impl FnOnce() -> String,
    ) -> Rc<str> {
        let mut key = Vec::new();
        forms.iter().for_each(|form| form.push_key(&mut key));
        let mut all = self.said.borrow_mut();
        Rc::clone(all.entry(key).or_insert_with(|| say().into()))
    }

    /// Whether two forms, both of which count up their values, have one in common that is not null.
    pub(super) fn shares(&self, a: &Form<'_>, b: &Form<'_>) -> Result<bool, TooMuchWork> {
        let key = (a.key(), b.key());
        if let Some(shares) = self.shared.borrow().get(&key) {
            return Ok(*shares);
        }
        self.spend(a.listed().len() / VALUES)?;
        let mut values = a.allowed();
        let shares = values.any(|value| !value.is_null() && b.allows(value));
        self.shared.borrow_mut().insert(key, shares);
        Ok(shares)
    }
}
