//! The limit of the work of comparisons, and the cache of their results.
//!
//! The work grows with the values of a document. A check has *fuel* for each value, which is enough for a normal schema, and extra fuel for a few
//! larger schemas. The check fails if the fuel is spent: see [`TooMuchWork`].
//!
//! The values of an `enum` cost no fuel. Each check sorts them once, which costs about as much as reading the schema.

use super::allowed::Allowed;
use super::keywords::{Anchors, anchors};
use super::mismatch::Mismatch;
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

/// Maximum number of names that a check compares with misspelled names. Later errors have no suggestion.
const MOST_NAMES: usize = 50_000;

/// Maximum number of names that one misspelled name is compared with.
const MOST_SIMILAR: usize = 1000;

/// Maximum number of cases of values that several forms accept only together.
const MOST_CASES: usize = 20_000;

/// The fuel and the caches of one check.
#[derive(Debug)]
pub(in crate::dynamic) struct Work {
    fuel: Cell<usize>,
    names: Cell<usize>,
    cases: Cell<usize>,
    hashes: RandomState,
    /// The values of each `enum`, by its address. A check borrows the schemas, so they do not move.
    allowed: RefCell<HashMap<usize, Rc<Allowed>>>,
    /// The named parts of each schema, by its address.
    anchors: RefCell<HashMap<usize, Rc<Anchors>>>,
    /// The comparisons of two types, by their keys and by whether null is accepted.
    pub(super) compared: RefCell<HashMap<Pair, Option<Mismatch>>>,
    /// The descriptions of the values that types allow, by their keys.
    said: RefCell<HashMap<Vec<usize>, Rc<str>>>,
}

/// The keys of two types, and whether null is accepted.
pub(super) type Pair = (Vec<usize>, Vec<usize>, bool);

impl Work {
    /// Fuel for comparing `values` values. A unit is the work of opening a schema, or of comparing a value with a form.
    pub(in crate::dynamic) fn for_values(values: usize) -> Self {
        Self {
            fuel: Cell::new(values.saturating_mul(PER_VALUE).saturating_add(LEAST)),
            names: Cell::new(MOST_NAMES),
            cases: Cell::new(MOST_CASES),
            hashes: RandomState::new(),
            allowed: RefCell::default(),
            anchors: RefCell::default(),
            compared: RefCell::default(),
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

    /// Returns `true` if the fuel is spent.
    pub(in crate::dynamic) fn is_spent(&self) -> bool {
        self.fuel.get() == 0
    }

    pub(in crate::dynamic) fn spend(&self, work: usize) -> Result<(), TooMuchWork> {
        let rest = self.fuel.get().checked_sub(work);
        self.fuel.set(rest.unwrap_or_default());
        rest.map(drop).ok_or(TooMuchWork::Work)
    }

    /// Spends the work of comparing this number of names with a misspelled one. Only the first 1,000 names are compared.
    pub(in crate::dynamic) fn may_compare(&self, names: usize) -> bool {
        let rest = self.names.get().checked_sub(names.min(MOST_SIMILAR));
        self.names.set(rest.unwrap_or_default());
        rest.is_some()
    }

    /// Returns `true` if this number of cases is within the limit.
    pub(super) fn may_take_apart(&self, cases: usize) -> bool {
        let rest = self.cases.get().checked_sub(cases);
        self.cases.set(rest.unwrap_or_default());
        rest.is_some()
    }

    /// Returns the named parts of a schema, collected once.
    pub(super) fn anchors(&self, root: &Value) -> Rc<Anchors> {
        let mut all = self.anchors.borrow_mut();
        let found = all
            .entry(std::ptr::from_ref(root).addr())
            .or_insert_with(|| Rc::new(anchors(root)));
        Rc::clone(found)
    }

    /// Returns the values of an `enum`, sorted once.
    pub(super) fn allowed(&self, values: &[Value]) -> Rc<Allowed> {
        let mut all = self.allowed.borrow_mut();
        let allowed = all
            .entry(values.as_ptr().addr())
            .or_insert_with(|| Rc::new(Allowed::new(values, &self.hashes)));
        Rc::clone(allowed)
    }

    /// Returns `true` if a value is listed in an `enum`.
    pub(super) fn allows(&self, values: &[Value], value: &Value) -> bool {
        self.allowed(values).has(values, value, &self.hashes)
    }

    /// Returns the description of the values that these forms allow.
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
}
