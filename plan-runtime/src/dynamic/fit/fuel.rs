//! How much work comparing may be.
//!
//! The work grows with the values of a document. For each, there is fuel for as many forms as an honest schema has; a schema that has
//! many more of them around each other is met by so few values that what every check has from the start suffices. Where the fuel is spent, the check fails: see [`Beyond`].

use crate::dynamic::schema::Beyond;
use std::cell::Cell;

/// The fuel of a check of few values.
const LEAST: usize = 2_000_000;

/// The fuel for each value.
const PER_VALUE: usize = 512;

/// Fuel for comparing so many values. A unit is the work of opening a schema, or of comparing a value with a form.
pub(super) fn for_values(values: usize) -> Cell<usize> {
    Cell::new(values.saturating_mul(PER_VALUE).saturating_add(LEAST))
}

pub(super) fn spend(fuel: &Cell<usize>, work: usize) -> Result<(), Beyond> {
    let rest = fuel.get().checked_sub(work);
    fuel.set(rest.unwrap_or_default());
    rest.map(drop).ok_or(Beyond::Work)
}
