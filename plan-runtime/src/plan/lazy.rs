//! The plan of a `plan!`, which is created at its first use.

use super::{Checked, Executable, Graph, Plan};
use std::fmt;
use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

/// The plan of a `plan!`, which is part of the program: the target of `Name::PLAN`.
///
/// The program contains it in a compact form, which is quick to compile, and decodes it into a [`Plan`] at its first use.
/// It dereferences to that plan.
///
/// ```
/// use plan_runtime::plan::LazyPlan;
/// use plan_runtime::Plan;
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

/// A created plan, with its graph, which the first run computes.
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

/// The plans in creation, and the threads that wait for them. The creation of a plan calls the functions of serde's defaults, which may
/// use another plan.
static MAKING: Mutex<Vec<Making>> = Mutex::new(Vec::new());

/// Notifies the waiting threads that a plan was created, or could not be.
static ENDED: Condvar = Condvar::new();

/// A plan, by its address, and a thread that makes it or waits for it.
#[derive(Clone, Copy, PartialEq)]
struct Making {
    plan: usize,
    thread: ThreadId,
    waits: bool,
}

impl Making {
    fn list() -> MutexGuard<'static, Vec<Self>> {
        MAKING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if this thread is creating this plan already, or waits for a thread that waits for this one.
    fn is_endless(self, list: &[Self]) -> bool {
        let maker = list.iter().find(|it| !it.waits && it.plan == self.plan);
        maker.is_some_and(|maker| {
            let waiting = list.iter().find(|it| it.waits && it.thread == maker.thread);
            let plan = waiting.map(|waiting| waiting.plan);
            maker.thread == self.thread
                || plan.is_some_and(|plan| Self { plan, ..self }.is_endless(list))
        })
    }
}

/// A plan in creation, until this value is dropped.
struct Maker(Making);

impl Drop for Maker {
    fn drop(&mut self) {
        Making::list().retain(|it| *it != self.0);
        ENDED.notify_all();
    }
}

impl LazyPlan {
    /// Creates a plan lazily, at its first use. Hidden from users: `plan!` generates the call.
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
        let maker = self.maker();
        // If this thread has waited, another thread may have created the plan.
        let made = self
            .plan
            .get_or_init(|| Box::new(((self.make)(), OnceLock::new())));
        drop(maker);
        &**made
    }

    /// Waits for the thread that creates the plan, if there is one, and takes its turn.
    fn maker(&self) -> Maker {
        let plan = std::ptr::from_ref(self).addr();
        let thread = std::thread::current().id();
        let [making, waiting] = [false, true].map(|waits| Making {
            plan,
            thread,
            waits,
        });
        let mut list = Making::list();
        while list.iter().any(|it| !it.waits && it.plan == plan) {
            if making.is_endless(&list) {
                drop(list);
                panic!(
                    "a plan is used while it is made: the function of a serde default in it uses the plan itself, directly or through another plan"
                );
            }
            list.push(waiting);
            list = ENDED.wait(list).unwrap_or_else(PoisonError::into_inner);
            list.retain(|it| *it != waiting);
        }
        list.push(making);
        Maker(making)
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

/// Computes the graph at the first run.
impl<'p> From<&'p LazyPlan> for Executable<'p> {
    fn from(plan: &'p LazyPlan) -> Self {
        let graph = plan.made().graph();
        Self {
            plan,
            graph,
            is_source: true,
        }
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
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    static ITSELF: LazyPlan = LazyPlan::new(|| Plan::new(ITSELF.name.clone()));
    static OTHER: LazyPlan = LazyPlan::new(|| Plan::new("other"));
    static OF_OTHER: LazyPlan = LazyPlan::new(|| Plan::new(OTHER.name.clone()));

    /// Returns the panic message of a use of the plan.
    fn panic(plan: &'static LazyPlan) -> String {
        let panic = catch_unwind(AssertUnwindSafe(|| plan.name.clone())).unwrap_err();
        let message = panic.downcast_ref::<&str>().copied();
        message.unwrap_or_default().to_owned()
    }

    #[test]
    fn a_plan_that_uses_itself_is_a_panic_each_time() {
        for _ in 0..2 {
            assert!(panic(&ITSELF).starts_with("a plan is used while it is made"));
            assert_eq!(OF_OTHER.name, "other");
        }
    }

    static ARRIVED: AtomicUsize = AtomicUsize::new(0);
    static MEET: Barrier = Barrier::new(3);
    static FIRST: LazyPlan = LazyPlan::new(|| uses(&SECOND));
    static SECOND: LazyPlan = LazyPlan::new(|| uses(&THIRD));
    static THIRD: LazyPlan = LazyPlan::new(|| uses(&FIRST));

    /// Makes a plan that needs another plan. The first three calls wait for each other.
    fn uses(other: &LazyPlan) -> Plan {
        if ARRIVED.fetch_add(1, Ordering::SeqCst) < 3 {
            MEET.wait();
        }
        Plan::new(other.name.clone())
    }

    #[test]
    fn plans_that_use_each_other_are_a_panic_in_each_thread() {
        let (sender, receiver) = channel();
        for plan in [&FIRST, &SECOND, &THIRD] {
            let sender = sender.clone();
            std::thread::spawn(move || sender.send(panic(plan)));
        }
        for _ in 0..3 {
            let message = receiver.recv_timeout(Duration::from_secs(60));
            let message = message.expect("each thread ends");
            assert!(message.starts_with("a plan is used while it is made"));
        }
    }

    static SLOW: LazyPlan = LazyPlan::new(|| {
        assert!(ARRIVED_AT_SLOW.fetch_add(1, Ordering::SeqCst) == 0);
        std::thread::sleep(Duration::from_millis(50));
        Plan::new("slow")
    });
    static ARRIVED_AT_SLOW: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn a_plan_that_many_threads_use_is_made_once() {
        let names = [(); 8].map(|()| std::thread::spawn(|| SLOW.name.clone()));
        for name in names {
            assert_eq!(name.join().unwrap(), "slow");
        }
    }
}
