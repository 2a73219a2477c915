//! The plan of a `plan!`, which is made when it is first used.

use super::{Checked, Executable, Graph, Plan};
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

/// The plan of a `plan!`, which is part of the program: what `Name::PLAN` refers to.
///
/// The program contains it in a compact form, which is quick to compile, and decodes it into a [`Plan`] at its first use.
/// It dereferences to that plan.
///
/// ```
/// use plan_runtime::plan::{LazyPlan, Plan};
/// use plan_runtime::plan;
///
/// plan! {
///     Greet(name: String) -> String { format!("Hello, {name}!") }
/// }
///
/// static GREET: &LazyPlan = Greet::PLAN;
///
/// fn inputs(plan: &Plan) -> usize { plan.inputs.len() }
///
/// assert_eq!((inputs(GREET), GREET.steps.len()), (1, 0));
/// let mut other: Plan = GREET.clone();
/// other.description = "Greets somebody.".into();
/// assert_ne!(*GREET, other);
/// ```
pub struct LazyPlan {
    make: fn() -> Plan,
    // A trait object, since each crate that has a plan would otherwise prove that all of a `Plan` is `Sync`, and compute its layout.
    plan: OnceLock<Box<dyn Made>>,
}

/// A plan that was made, and what runs know of it, which is determined at the first one.
trait Made: Send + Sync {
    fn plan(&self) -> &Plan;
    fn graph(&self) -> Checked;
}

impl Made for (Plan, OnceLock<Checked>) {
    fn plan(&self) -> &Plan {
        &self.0
    }

    fn graph(&self) -> Checked {
        self.1.get_or_init(|| Graph::checked(&self.0)).clone()
    }
}

impl LazyPlan {
    /// A plan that is made when it is first used. Not for users: `plan!` makes them.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(make: fn() -> Plan) -> Self {
        Self {
            make,
            plan: OnceLock::new(),
        }
    }

    fn made(&self) -> &dyn Made {
        let make = || -> Box<dyn Made> { Box::new(((self.make)(), OnceLock::new())) };
        &**self.plan.get_or_init(make)
    }

    /// A copy of the plan, which can be changed.
    #[expect(
        clippy::should_implement_trait,
        reason = "what is cloned is the plan, as for any reference to one"
    )]
    #[must_use]
    pub fn clone(&self) -> Plan {
        Plan::clone(self)
    }
}

impl Deref for LazyPlan {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        self.made().plan()
    }
}

/// What its runs need is determined at the first one.
impl<'p> From<&'p LazyPlan> for Executable<'p> {
    fn from(plan: &'p LazyPlan) -> Self {
        let graph = plan.made().graph();
        Self { plan, graph }
    }
}

impl fmt::Debug for LazyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for LazyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl serde::Serialize for LazyPlan {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl PartialEq for LazyPlan {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<Plan> for LazyPlan {
    fn eq(&self, other: &Plan) -> bool {
        **self == *other
    }
}

impl PartialEq<LazyPlan> for Plan {
    fn eq(&self, other: &LazyPlan) -> bool {
        *self == **other
    }
}
