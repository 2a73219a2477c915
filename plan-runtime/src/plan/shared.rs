//! Parts of a plan that many steps have in common.

use super::{Policy, ToolInfo};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A part of a plan that many steps have in common: it is in a `static`, or all of them share one allocation.
///
/// ```
/// use plan_runtime::plan::{Policy, Shared};
///
/// static PATIENT: Shared<Policy> = Shared::Static(&Policy { attempts: 5, ..Policy::DEFAULT });
/// assert_eq!(PATIENT.attempts, 5);
///
/// let read: Shared<Policy> = Policy { attempts: 3, ..Policy::DEFAULT }.into();
/// let mut other = read.clone();
/// other.to_mut().attempts = 4;
/// assert_eq!((read.attempts, other.attempts), (3, 4));
/// ```
pub enum Shared<T: 'static> {
    /// It is part of the program.
    Static(&'static T),
    /// It was made at run time.
    Made(Arc<T>),
}

impl<T: Clone> Shared<T> {
    /// The part, to be changed for this step alone; it is copied where others have it, too.
    pub fn to_mut(&mut self) -> &mut T {
        if let Self::Static(part) = self {
            *self = Self::Made(Arc::new(part.clone()));
        }
        match self {
            Self::Made(part) => Arc::make_mut(part),
            Self::Static(_) => unreachable!("it was made above"),
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Static(part) => part,
            Self::Made(part) => part,
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(part) => Self::Static(part),
            Self::Made(part) => Self::Made(Arc::clone(part)),
        }
    }
}

impl From<Policy> for Shared<Policy> {
    fn from(policy: Policy) -> Self {
        if policy.is_default() {
            Self::default()
        } else {
            Self::Made(Arc::new(policy))
        }
    }
}

impl From<ToolInfo> for Shared<ToolInfo> {
    fn from(tool: ToolInfo) -> Self {
        Self::Made(Arc::new(tool))
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

/// [`Policy::DEFAULT`], for which there is no allocation.
impl Default for Shared<Policy> {
    fn default() -> Self {
        static DEFAULT: Policy = Policy::DEFAULT;
        Self::Static(&DEFAULT)
    }
}
