//! What a call knows of the run that it is part of.

mod allowance;
mod gate;
mod inside;
mod live;
mod polled;
mod record;

pub(super) use allowance::{Allowance, Held, Permissions};
pub(super) use gate::{AnyGate, Question};
pub use gate::{Decision, Gate, PendingCall};
pub(super) use inside::Inside;
pub(super) use live::{CallState, RunningCall};
pub(super) use polled::{Blocked, Polled};
pub use record::CallRecord;

use super::catch::locked;
use super::durable::{Segment, of_element};
use super::hash::StableHasher;
use super::lasting::{LastingPaths, Undone};
use super::shared::SharedRun;
use super::signals::Signals;
use crate::Plan;
use crate::error::Elements;
use crate::print::MessageName;
use crate::resolve::StoredValue;
use crate::shape::Secrets;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a call to a tool knows of the run that it is part of: the step, the element, the attempt, the time that is left, and whether
/// anyone still waits for it.
///
/// A tool asks for it with a parameter, which is not an argument of the tool. Plans inside it run as a part of the same run if they get it, too:
///
/// ```
/// use plan_runtime::run::CallContext;
/// use plan_runtime::{Result, plan, tool};
///
/// /// Says where it is called.
/// #[tool]
/// async fn locate(#[context] context: CallContext, name: String) -> Result<String> {
///     Ok(format!("{name}: {context}, attempt {}", context.attempt()))
/// }
///
/// plan! {
///     Pages(names: Vec<String>) -> Vec<String> {
///         step found = for name in names { Locate { name } };
///         found
///     }
/// }
///
/// plan! {
///     Book(names: Vec<String>) -> Vec<String> {
///         step pages = Pages { names };
///         pages
///     }
/// }
///
/// let book = Book { names: vec!["a".into(), "b".into()] };
/// assert_eq!(
///     smol::block_on(book.run(&()))?,
///     ["a: pages.found[0], attempt 1", "b: pages.found[1], attempt 1"]
/// );
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// A tool may keep the context for longer than the call. Once the call is over, no plan runs [inside](crate::run::Run::inside) it any more.
///
/// It prints as the path of the call: the step, with the index of the element in each list of a `for`, after those of the plans around it.
/// The default value is the context of a call outside of a run, as a test makes it: its path is empty.
#[derive(Clone, Default)]
pub struct CallContext(Option<Arc<CallPlace>>);

/// Where a call is.
pub(super) struct CallPlace {
    pub(super) run: Arc<SharedRun>,
    pub(super) allowance: Arc<Allowance>,
    /// In how many others the plan runs.
    pub(super) depth: usize,
    /// The place of the call in the plan and in those around it.
    pub(super) at: Vec<usize>,
    /// The call of the plan that the step is of.
    pub(super) outer: Option<CallContext>,
    /// The name of the plan that the step is of, if a tool runs it inside its call.
    pub(super) beside: Option<Arc<str>>,
    pub(super) plan: String,
    pub(super) step: String,
    pub(super) element: Vec<usize>,
    /// Which of the actions of the step it is.
    pub(super) action: usize,
    pub(super) attempt: u32,
    /// The count of the step, or of the step that it undoes. For an always step, the count of the run.
    pub(super) times: u32,
    /// `true` for an always step.
    pub(super) is_always: bool,
    /// Of a durable run, when the call began, counted from when the run did: while it replays, the recorded time.
    pub(super) began: Option<Duration>,
    /// When the run, the step, or one around it is over at the latest.
    pub(super) deadline: Option<Instant>,
    /// Set for the call of a plan, whose calls count in its place.
    pub(super) called: Option<PlanCall>,
    /// Whether it is made once the work has ended, of its plan or of one around it.
    pub(super) is_last: bool,
    /// Where the reports of the plans inside it go, if the run has one.
    pub(super) inside: Option<Arc<Inside>>,
    pub(super) state: CallState,
    /// What the run says of the call, if that is on another machine.
    pub(super) elsewhere: Option<Elsewhere>,
}

/// The call of a plan.
pub(super) struct PlanCall {
    /// `true` if code makes the arguments in a durable run.
    pub(super) computes: bool,
    /// The secrets in the arguments.
    pub(super) secrets: Option<Secrets>,
}

/// What a run on another machine says of a call.
pub(super) struct Elsewhere {
    pub(super) path: String,
    pub(super) lasting: LastingPaths,
}

impl CallContext {
    pub(super) fn new(place: CallPlace) -> Self {
        Self(Some(Arc::new(place)))
    }

    /// The id of the run: what [`Run::id`](super::Run::id) set, or 32 random hexadecimal digits. Plans inside the run have the same. It is
    /// empty outside of a run.
    pub fn run_id(&self) -> &str {
        self.0.as_ref().map_or("", |place| place.run.id())
    }

    /// The name of the plan that the step is part of.
    pub fn plan(&self) -> &str {
        self.0.as_ref().map_or("", |place| &place.plan)
    }

    /// The name of the step.
    pub fn step(&self) -> &str {
        self.0.as_ref().map_or("", |place| &place.step)
    }

    /// The index of the element in each list of a `for`, the outermost first; empty where the step has none.
    pub fn element(&self) -> &[usize] {
        self.0.as_ref().map_or(&[], |place| &place.element)
    }

    /// Which attempt it is, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.0.as_ref().map_or(1, |place| place.attempt)
    }

    /// Returns a string that identifies the call, for a service that makes a call with the same key only once: the [id of the run](Self::run_id) and the path of the call.
    ///
    /// Each attempt of the call has the same key, before a crash and after it, and where a plan or a block around the call is tried again. Every other call has another key.
    ///
    /// - Once an undo step has undone the call, a further attempt of the plan or block around the call has a new key, since the old key names an effect that does not exist any more.
    /// - The key of an undo step changes with the key of the step that it undoes.
    /// - An always step has a new key in each attempt of the plan or block that it is part of, and after each `Server::retry_failed`.
    /// - A plan that a tool runs with [`Run::inside`](crate::run::Run::inside) is known by its name and its inputs, so the order of such plans does not matter. Plans with
    ///   the same name and the same inputs are told apart by their order.
    ///
    /// ```
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Pays once, even if it is tried several times.
    /// #[tool]
    /// async fn pay(#[context] context: CallContext, cents: u64) -> Result<String> {
    ///     Ok(format!("{cents} cents, as {}", context.idempotency_key()))
    /// }
    ///
    /// let plan = plan! { step paid = for cents in [1, 2] { Pay { cents } }; paid };
    /// let paid = smol::block_on(plan.run(&()).id("order-17"))?;
    /// assert_eq!(paid, ["1 cents, as order-17/paid[0]", "2 cents, as order-17/paid[1]"]);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// Without [`Run::durable`](crate::run::Run::durable) or [`Run::id`](crate::run::Run::id), the id of the run is random. It is empty outside of a run.
    pub fn idempotency_key(&self) -> String {
        match &self.0 {
            Some(place) => format!("{}/{}", place.run.id(), self.lasting_path()),
            None => String::new(),
        }
    }

    /// Returns the path of the call, with the counts of the parts that were undone.
    pub(super) fn lasting_path(&self) -> String {
        self.lasting(false)
    }

    /// Returns the lasting paths of the call. A worker cannot make them, since it does not know the blocks and plans around the call.
    pub(super) fn lasting_paths(&self) -> LastingPaths {
        LastingPaths {
            all: self.lasting(false),
            this: self.lasting(true),
        }
    }

    /// Returns the counts of undone steps in the plans that the tool has run inside the call.
    pub(super) fn undone_inside(&self) -> Undone {
        let run = self.run();
        run.map_or_else(Undone::new, |run| run.undone_inside(|| self.lasting_path()))
    }

    /// What the paths of steps begin with in a plan that runs inside the call: as the step that it is, or beside it under this name.
    pub(super) fn lasting_inside(&self, beside: Option<&str>) -> String {
        self.lasting(false) + beside.unwrap_or_default() + "."
    }

    /// Returns the lasting path of the call, or the path of this attempt alone, with the attempts of all blocks and plans around the call.
    fn lasting(&self, of_attempt: bool) -> String {
        let Some(place) = &self.0 else {
            return String::new();
        };
        if let Some(call) = &place.elsewhere {
            let LastingPaths { all, this } = &call.lasting;
            return if of_attempt { this } else { all }.clone();
        }
        let outer = place.outer.as_ref().map_or_else(String::new, |outer| {
            // An always step runs once in each attempt of the scope that it is part of.
            let outer = outer.lasting(of_attempt || place.is_always);
            outer + place.beside.as_deref().unwrap_or_default() + "."
        });
        let mut path = of_element(&outer, &place.step, &[]);
        if place.times > 0 {
            path += &format!("~{}", place.times);
        }
        if place.action > 0 {
            path += &format!("/{}", place.action);
        }
        path += &Elements(&place.element).to_string();
        if of_attempt && place.attempt > 1 {
            path += &format!("@{}", place.attempt);
        }
        path
    }

    /// The call of the plan that the step is part of, if that plan runs as a step of another.
    pub fn outer(&self) -> Option<&Self> {
        self.0.as_ref()?.outer.as_ref()
    }

    /// When the call is dropped at the latest, by the run's [timer](super::Run::timer): the first of the time limits of the step, the run, and all
    /// steps around it. `None` if nothing limits it.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }

    /// What the run has in common with the plans inside it.
    pub(super) fn run(&self) -> Option<&Arc<SharedRun>> {
        Some(&self.0.as_ref()?.run)
    }

    /// The path of the call, with names as they are.
    pub(super) fn path(&self) -> String {
        let Some(place) = &self.0 else {
            return String::new();
        };
        if let Some(call) = &place.elsewhere {
            return call.path.clone();
        }
        let mut path = place.outer.as_ref().map_or_else(String::new, Self::path);
        if !path.is_empty() {
            path.push('.');
        }
        path + &place.step + &Elements(&place.element).to_string()
    }

    /// What the keys of records begin with in a plan that runs inside the call: as the step that it is, or beside it under this name.
    pub(super) fn key_inside(&self, beside: Option<&str>) -> String {
        format!("{}{}.", self.key(), beside.unwrap_or_default())
    }

    /// Returns the name of a plan that the tool runs inside the call. A tool may run plans in any order, and in another order when the tool is called again. So the names of the plans and
    /// their inputs tell the plans apart. Plans with equal names and inputs are told apart by their order.
    pub(super) fn beside(&self, plan: &Plan, inputs: &[StoredValue]) -> Arc<str> {
        let mut hasher = StableHasher::new();
        for input in inputs {
            // A value that JSON cannot hold fails where a step reads the value.
            if let Ok(json) = input.as_json() {
                hasher.json(json);
            }
            hasher.text(",");
        }
        let name = Segment(&plan.name);
        let name = format!("#{name}-{:016x}", hasher.finish());
        let Some(place) = &self.0 else {
            return name.into();
        };
        let mut plans = locked(&place.state.plans_inside);
        let count = plans.entry(name.clone()).or_insert(0_usize);
        *count += 1;
        format!("{name}.{count}").into()
    }

    /// The key of the call's record.
    pub(super) fn key(&self) -> String {
        let Some(place) = &self.0 else {
            return String::new();
        };
        let outer = place.outer.as_ref();
        let prefix = outer.map_or_else(String::new, |it| it.key_inside(place.beside.as_deref()));
        let key = of_element(&prefix, &place.step, &place.element);
        format!("{key}@{}", place.attempt)
    }

    /// Whether code makes the inputs of the plan that is called, which may make others after a crash.
    pub(super) fn computes(&self) -> bool {
        let called = self.0.as_ref().and_then(|place| place.called.as_ref());
        called.is_some_and(|plan| plan.computes)
    }

    /// Whether it is made once the work has ended, of its plan or of one around it.
    pub(super) fn is_last(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.is_last)
    }

    /// Where the reports of the plans inside it go.
    pub(super) fn inside(&self) -> Option<&Arc<Inside>> {
        self.0.as_ref()?.inside.as_ref()
    }

    /// What sends to the steps of a plan that is called here.
    pub(super) fn signals(&self) -> Signals {
        let inbox = self.run().and_then(|run| run.inbox.as_ref());
        match inbox {
            Some(inbox) => Signals::new(Arc::clone(inbox), Some(self.path())),
            None => Signals::to_nobody(false),
        }
    }

    /// What is secret of the inputs of the plan that is called, if anything.
    pub(super) fn secrets(&self) -> Option<&Secrets> {
        let secrets = self.0.as_ref()?.called.as_ref()?.secrets.as_ref();
        secrets.filter(|secrets| !secrets.is_empty())
    }

    /// What the plan may do and hold.
    pub(super) fn allowance(&self) -> Option<&Arc<Allowance>> {
        Some(&self.0.as_ref()?.allowance)
    }

    /// In how many others a plan runs that is called here.
    pub(super) fn depth_inside(&self) -> usize {
        self.0.as_ref().map_or(0, |place| place.depth + 1)
    }

    /// The place of the call among those of the run.
    pub(super) fn at(&self) -> &[usize] {
        self.0.as_ref().map_or(&[], |place| &place.at)
    }

    /// A number that only this call of the run has.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = StableHasher::new();
        let mut at = Some(self);
        while let Some(place) = at.and_then(|context| context.0.as_ref()) {
            hasher.text(&place.step);
            hasher.text(place.beside.as_deref().unwrap_or_default());
            for index in &place.element {
                hasher.write(&(*index as u64).to_le_bytes());
            }
            hasher.write(&place.attempt.to_le_bytes());
            at = place.outer.as_ref();
        }
        hasher.finish()
    }
}

/// The path of the call: `pages[3].chunked`.
impl fmt::Display for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = &self.0 else { return Ok(()) };
        if let Some(call) = &place.elsewhere {
            return f.write_str(&call.path);
        }
        if let Some(outer) = &place.outer {
            write!(f, "{outer}.")?;
        }
        let (step, element) = (MessageName(&place.step), Elements(&place.element));
        write!(f, "{step}{element}")
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallContext(`{self}`, attempt {})", self.attempt())
    }
}
