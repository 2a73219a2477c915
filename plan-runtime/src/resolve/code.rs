//! The Rust code in a plan, with the traits to run it. Plans store the code without these traits.

use super::{ResolveError, Scope};
use crate::plan::{Code, Computed, FormatSpec};
use serde_json::Value;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe, Location};

/// A Rust expression, with its type erased. Not for users: `plan!` makes them.
#[doc(hidden)]
pub trait Compute {
    fn compute(&self, scope: &Scope<'_>) -> Result<Value, ResolveError>;

    /// Returns the position in the author's code, if the code contains it.
    fn place(&self) -> Option<&'static Location<'static>> {
        None
    }
}

/// A panic of a computed value, with the position of the value.
pub(crate) struct PlacedPanic {
    pub(crate) payload: Box<dyn Any + Send>,
    pub(crate) place: &'static Location<'static>,
}

impl dyn Compute + Sync {
    /// Computes the value. Adds the position of the value to a panic.
    pub(super) fn compute_in(&self, scope: &Scope<'_>) -> Result<Value, ResolveError> {
        panic::catch_unwind(AssertUnwindSafe(|| self.compute(scope))).unwrap_or_else(|payload| {
            panic::resume_unwind(match self.place() {
                Some(place) => Box::new(PlacedPanic { payload, place }),
                None => payload,
            })
        })
    }
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

/// Returns the code as the trait that runs it, or `None` if another trait does.
pub(super) fn known<T: ?Sized + 'static, In>(code: &'static dyn Code<In>) -> Option<&'static T> {
    let mut slot = None;
    code.offer(&mut slot);
    slot
}
