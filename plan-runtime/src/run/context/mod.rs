//! The context of a call in its run.

mod allowance;
mod gate;
mod inside;
mod live;
mod polled;

pub(super) use allowance::{Allowance, Held, Permissions};
pub(super) use gate::{AnyGate, Question};
pub use gate::{Decision, Gate, PendingCall};
pub(super) use inside::Inside;
pub(super) use live::{CallState, RunningCall};
pub(super) use polled::{Blocked, Polled};

use super::catch::locked;
use super::durable::{Segment, Undone, decode, of_element};
use super::hash::StableHasher;
use super::shared::SharedRun;
use super::signals::Signals;
use crate::Plan;
use crate::error::Elements;
use crate::journal::spi::Claim;
use crate::plan::Secrecy;
use crate::print::MessageName;
use crate::resolve::StoredValue;
use crate::shape::Secrets;
use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The context of a call to a tool: its run, step, element and attempt, the remaining time, and cancellation.
///
/// A tool receives the context through a parameter with `#[context]`, which is not an argument of the tool. If the tool runs a plan with the context, the inner run is a part
/// of the outer run:
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
/// A tool may keep the context after the end of the call, but can then no longer run plans [inside](crate::run::Run::inside) the call.
///
/// `Display` writes the path of the call: the step, with the index of the element in each list of a `for`, after the steps of the
/// enclosing plans. `Default` creates the context of a call outside of a run, for example in a test. Its path is empty.
#[derive(Clone, Default)]
pub struct CallContext(Option<Arc<CallPlace>>);

/// The position of a call.
pub(super) struct CallPlace {
    pub(super) run: Arc<SharedRun>,
    pub(super) allowance: Arc<Allowance>,
    /// The number of enclosing plans.
    pub(super) depth: usize,
    /// The position of the call in its plan and in the enclosing plans.
    pub(super) at: Vec<usize>,
    /// The call of the plan that contains the step.
    pub(super) outer: Option<CallContext>,
    /// The name of the plan that contains the step, if a tool runs the plan inside its call.
    pub(super) beside: Option<Arc<str>>,
    pub(super) plan: String,
    pub(super) step: String,
    pub(super) element: Vec<usize>,
    /// The number of the action in its step.
    pub(super) action: usize,
    pub(super) attempt: u32,
    /// The number of times that the step, or the step that it undoes, was undone. For an always step, the number of retries of the run.
    pub(super) times: u32,
    /// `true` for an always step.
    pub(super) is_always: bool,
    /// In a durable run, the start of the call, counted from the start of the run. During a replay, the recorded time.
    pub(super) began: Option<Duration>,
    /// The earliest deadline of the run, the step and the enclosing steps.
    pub(super) deadline: Option<Instant>,
    /// The secrets in the arguments of a called plan, whose own calls count instead of this call.
    pub(super) called: Option<Secrets>,
    /// `true` if the call runs after the end of the work of its plan, or of an enclosing plan.
    pub(super) is_last: bool,
    /// The collector for the reports of the plans inside the call, if the run has a report.
    pub(super) inside: Option<Arc<Inside>>,
    pub(super) state: CallState,
    /// The run's description of the call, if the run is on another machine.
    pub(super) elsewhere: Option<Elsewhere>,
}

/// The description of a call from a run on another machine.
pub(super) struct Elsewhere {
    pub(super) path: String,
    pub(super) lasting: LastingPaths,
}

/// The path of a call for idempotency keys. After the name of each part of the path comes the number of times that the part was undone.
#[derive(Clone)]
pub(super) struct LastingPaths {
    /// A path that all attempts of the call share, and all attempts of the plans and blocks around the call.
    pub(super) all: String,
    /// A path for this attempt alone.
    pub(super) this: String,
}

/// The position of the record at the end of a durable call, from [`CallContext::record`]. A journal can commit other data together with this record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallRecord {
    /// The claim of the run, an argument of [`append`](crate::journal::Journal::append).
    pub claim: Claim,
    /// The key of the record, an argument of [`append`](crate::journal::Journal::append).
    pub key: String,
}

impl CallRecord {
    /// Returns `true` if this body of the record contains the output of the call, and `false` for a failure.
    pub fn has_output(body: &str) -> bool {
        decode(body).is_ok_and(|recorded| recorded.result.is_ok())
    }
}

impl CallContext {
    pub(super) fn new(place: CallPlace) -> Self {
        Self(Some(Arc::new(place)))
    }

    /// Returns the ID of the run: the ID that [`Run::id`](super::Run::id) set, or 32 random hexadecimal digits. Plans inside the run share
    /// its ID. The ID is empty outside of a run.
    pub fn run_id(&self) -> &str {
        self.0.as_ref().map_or("", |place| place.run.id())
    }

    /// Returns the name of the step's plan.
    pub fn plan(&self) -> &str {
        self.0.as_ref().map_or("", |place| &place.plan)
    }

    /// Returns the name of the step.
    pub fn step(&self) -> &str {
        self.0.as_ref().map_or("", |place| &place.step)
    }

    /// Returns the index of the element in each list of a `for`, the outermost first. Empty for a step without
    /// elements.
    pub fn element(&self) -> &[usize] {
        self.0.as_ref().map_or(&[], |place| &place.element)
    }

    /// Returns the number of the attempt, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.0.as_ref().map_or(1, |place| place.attempt)
    }

    /// Returns the idempotency key of the call, for a service that executes only one of several requests with equal keys. The key consists of the [ID of the run](Self::run_id) and
    /// the path of the call.
    ///
    /// All attempts of the call share one key, before and after a crash, even if an enclosing plan or block is retried. Every other call has
    /// another key. Special cases:
    ///
    /// - After an undo step has undone the call, the next attempt of the enclosing plan or block has a new key, because the effect with the old key
    ///   no longer exists.
    /// - The key of an undo step changes with the key of the step that it undoes.
    /// - An always step has a new key in each attempt of its plan or block, and after each `Server::retry_failed`.
    /// - Plans that a tool runs with [`Run::inside`](crate::run::Run::inside) are identified by their names and inputs, in any order. The order
    ///   distinguishes only plans with equal names and equal inputs.
    ///
    /// ```
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Pays once, even after several attempts.
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
    /// Without [`Run::durable`](crate::run::Run::durable) or [`Run::id`](crate::run::Run::id), the ID of the run is random. Outside of a run, the ID is empty.
    pub fn idempotency_key(&self) -> String {
        match &self.0 {
            Some(place) => format!("{}/{}", place.run.id(), self.lasting(false)),
            None => String::new(),
        }
    }

    /// Returns the position of the record of this attempt. Returns `None` if the run is not [durable](crate::run::Run::durable) in a journal, and
    /// after the end of the call. A tool can pass the position to a journal that commits SQL of the tool together with the record.
    ///
    /// ```
    /// use plan_runtime::journal::Memory;
    /// use plan_runtime::run::CallContext;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// /// Returns the key of its record.
    /// #[tool]
    /// async fn key(#[context] context: CallContext) -> Result<Option<String>> {
    ///     Ok(context.record().map(|record| record.key))
    /// }
    ///
    /// let plan = plan! { step of_call = Key {}; of_call };
    /// let key = smol::block_on(plan.run(&()).durable(&Memory::new(), "run-1"))?;
    /// assert_eq!(key.as_deref(), Some("of_call@1"));
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    pub fn record(&self) -> Option<CallRecord> {
        let place = self.0.as_ref()?;
        let durable = place.run.durable.as_ref()?;
        // No later record can be written, so no commit may depend on one.
        if locked(&place.state.dropped).is_over {
            return None;
        }
        Some(CallRecord {
            claim: durable.claimed.claim.clone(),
            key: self.key(),
        })
    }

    /// Returns the lasting paths of the call. A worker cannot compute them, since it does not have the enclosing blocks and plans.
    pub(super) fn lasting_paths(&self) -> LastingPaths {
        LastingPaths {
            all: self.lasting(false),
            this: self.lasting(true),
        }
    }

    /// Returns the counts of undone steps in the plans that the tool has run inside the call.
    pub(super) fn undone_inside(&self) -> Undone {
        let run = self.run();
        run.map_or_else(Undone::new, |run| run.undone_inside(|| self.lasting(false)))
    }

    /// Returns the prefix of step paths in a plan inside the call: the plan that the step calls, or a plan that the tool runs under
    /// this name.
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

    /// Returns the enclosing call, if the step's plan runs as a step of another plan.
    pub fn outer(&self) -> Option<&Self> {
        self.0.as_ref()?.outer.as_ref()
    }

    /// Returns the time when the run drops the call, by the run's [timer](super::Run::timer): the earliest deadline of the step, the run, and all
    /// enclosing steps. Returns `None` without a time limit.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }

    /// Returns the state that the run shares with the plans inside it.
    pub(super) fn run(&self) -> Option<&Arc<SharedRun>> {
        Some(&self.0.as_ref()?.run)
    }

    /// Returns the path of the call, with unescaped names.
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

    /// Returns the prefix of record keys in a plan inside the call: the plan that the step calls, or a plan that the tool runs under
    /// this name.
    pub(super) fn key_inside(&self, beside: Option<&str>) -> String {
        format!("{}{}.", self.key(), beside.unwrap_or_default())
    }

    /// Returns the name of a plan that the tool runs inside the call. A tool may run plans in any order, and in another order when the call is
    /// repeated. So the names of the plans and their inputs identify the plans, and the order distinguishes only plans with equal names and inputs.
    ///
    /// Other services see the keys that contain the name, so the name does not depend on secret inputs.
    pub(super) fn beside(
        &self,
        plan: &Plan,
        inputs: &[StoredValue],
        secrecy: Option<&Secrecy>,
    ) -> Arc<str> {
        let named =
            |hash: &StableHasher| format!("#{}-{:016x}", Segment(&plan.name), hash.finish());
        let mut hasher = StableHasher::new();
        // In a run of an older version, no input of a plan with secrets is a part of the name.
        let nameless = named(&hasher);
        let durable = self.run().and_then(|run| run.durable.as_ref());
        let is_older =
            secrecy.is_some() && durable.is_some_and(|it| it.history(|it| it.has_plan(&nameless)));
        for (place, input) in inputs.iter().enumerate().filter(|_| !is_older) {
            // A value without JSON fails in the step that reads the value.
            match (input.as_json(), secrecy) {
                (Ok(json), None) => hasher.json(json),
                (Ok(json), Some(secrecy)) => {
                    hasher.json(&secrecy.input(place).mask(json.clone()));
                }
                (Err(_), _) => {}
            }
            hasher.text(",");
        }
        let name = named(&hasher);
        let Some(place) = &self.0 else {
            return name.into();
        };
        let mut plans = locked(&place.state.plans_inside);
        let count = plans.entry(name.clone()).or_insert(0_usize);
        *count += 1;
        format!("{name}.{count}").into()
    }

    /// Returns the key of the call's record.
    pub(super) fn key(&self) -> String {
        let Some(place) = &self.0 else {
            return String::new();
        };
        let outer = place.outer.as_ref();
        let prefix = outer.map_or_else(String::new, |it| it.key_inside(place.beside.as_deref()));
        let key = of_element(&prefix, &place.step, &place.element);
        format!("{key}@{}", place.attempt)
    }

    /// Returns the secrets in the arguments, if the call is one of a plan.
    pub(super) fn called(&self) -> Option<&Secrets> {
        self.0.as_ref()?.called.as_ref()
    }

    /// Returns `true` if the call runs after the end of the work of its plan, or of an enclosing plan.
    pub(super) fn is_last(&self) -> bool {
        self.0.as_ref().is_some_and(|place| place.is_last)
    }

    /// Returns the collector for the reports of the plans inside the call.
    pub(super) fn inside(&self) -> Option<&Arc<Inside>> {
        self.0.as_ref()?.inside.as_ref()
    }

    /// Returns the handle that sends to the steps of the called plan.
    pub(super) fn signals(&self) -> Signals {
        let inbox = self.run().and_then(|run| run.inbox.as_ref());
        match inbox {
            Some(inbox) => Signals::new(Arc::clone(inbox), Some(self.path())),
            None => Signals::to_nobody(false),
        }
    }

    /// Returns the limits of the plan, with the amounts used.
    pub(super) fn allowance(&self) -> Option<&Arc<Allowance>> {
        Some(&self.0.as_ref()?.allowance)
    }

    /// Returns the number of plans that enclose a plan called here.
    pub(super) fn depth_inside(&self) -> usize {
        self.0.as_ref().map_or(0, |place| place.depth + 1)
    }

    /// Returns the position of the call in the run.
    pub(super) fn at(&self) -> &[usize] {
        self.0.as_ref().map_or(&[], |place| &place.at)
    }

    /// Returns a number that is unique to this call in the run.
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
