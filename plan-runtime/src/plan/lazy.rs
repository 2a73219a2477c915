//! The plan of a `plan!`, which is made when it is first used.

use super::{Checked, Executable, Graph, Plan};
use std::cell::RefCell;
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

thread_local! {
    /// The addresses of the plans that this thread makes. Making one calls the functions of serde's defaults, which may use another.
    static MAKING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Until it is dropped, a plan is being made, and may not be used by what makes it: a `OnceLock` would wait for itself.
struct Making;

impl Making {
    fn start(plan: &LazyPlan) -> Self {
        let address = std::ptr::from_ref(plan).addr();
        let again = MAKING.with_borrow(|making| making.contains(&address));
        assert!(
            !again,
            "a plan is used while it is made: the function of a serde default in it mentions the plan itself"
        );
        MAKING.with_borrow_mut(|making| making.push(address));
        Self
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        MAKING.with_borrow_mut(Vec::pop);
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
        if let Some(made) = self.plan.get() {
            return &**made;
        }
        let _making = Making::start(self);
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

#[cfg(test)]
mod tests {
    use super::{LazyPlan, Plan};
    use std::panic::catch_unwind;

    static ITSELF: LazyPlan = LazyPlan::new(|| Plan::new(ITSELF.name.clone()));
    static OTHER: LazyPlan = LazyPlan::new(|| Plan::new("other"));
    static OF_OTHER: LazyPlan = LazyPlan::new(|| Plan::new(OTHER.name.clone()));

    #[test]
    fn a_plan_that_uses_itself_is_a_panic_each_time() {
        for _ in 0..2 {
            let panic = catch_unwind(|| ITSELF.name.clone()).unwrap_err();
            let message = panic.downcast_ref::<&str>().copied();
            assert!(
                message
                    .unwrap()
                    .starts_with("a plan is used while it is made")
            );
            assert_eq!(OF_OTHER.name, "other");
        }
    }
}
