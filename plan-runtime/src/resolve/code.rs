//! The Rust code in a plan, as it is run. Plans hold it without knowing what it needs.

use super::{ResolveError, Scope};
use crate::plan::{Code, Computed, FormatSpec};
use serde_json::Value;
use std::any::Any;

/// A Rust expression, with its type erased. Not for users: `plan!` makes them.
#[doc(hidden)]
pub trait Compute {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError>;
}

/// A `format!` placeholder, with its argument's type erased. Not for users: `plan!` makes them.
#[doc(hidden)]
pub trait Show {
    fn show(&self, value: &Value, out: &mut String) -> Result<(), ResolveError>;
}

impl<T: Compute + Sync> Code<Computed> for T {
    fn offer(&'static self, slot: &mut dyn Any) {
        offer::<dyn Compute + Sync>(self, slot);
    }
}

impl<T: Show + Sync> Code<FormatSpec> for T {
    fn offer(&'static self, slot: &mut dyn Any) {
        offer::<dyn Show + Sync>(self, slot);
    }
}

fn offer<T: ?Sized + 'static>(code: &'static T, slot: &mut dyn Any) {
    if let Some(slot) = slot.downcast_mut() {
        *slot = Some(code);
    }
}

/// The code as the trait by which it is run; `None` if it is run by another.
pub(super) fn known<T: ?Sized + 'static, In>(code: &'static dyn Code<In>) -> Option<&'static T> {
    let mut slot = None;
    code.offer(&mut slot);
    slot
}
