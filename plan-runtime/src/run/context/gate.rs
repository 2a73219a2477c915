//! Decisions about calls, before each call.

use super::super::catch::{catch, locked};
use super::{CallContext, Polled, RunningCall};
use crate::print::{Cut, Line, MOST, MessageName, visibly};
use crate::shape::Secrets;
use serde_json::Value;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Context;

/// A decision about each call of a run, such as by a person, a rule or a budget.
///
/// [`Run::gate`](crate::run::Run::gate) sets the gate of a run. The run asks the gate before each call to a tool, once for all attempts of the call,
/// and the call has exactly the arguments in the question, unless the gate [changes](Decision::AllowWith) them. For a plan inside the run, the run asks about each call in that plan, and not about the
/// plan itself. A computed value calls nothing, so the gate does not decide on it.
///
/// The run also asks about the calls of undo steps. A cancelled run waits for these answers at most until the end of its [grace period](crate::run::Run::grace_period).
/// [`PendingCall::undoes`] lets a gate allow the undo steps of allowed calls without asking a person.
///
/// Other steps continue while the gate decides, and at most 64 questions are open at one time. The time of the decision counts toward the deadline
/// of the run, and not toward the time limits of the step. If another step fails meanwhile and the run [stops](crate::run::OnFailure), the run
/// drops the question.
///
/// ```
/// use plan_runtime::run::{Decision, Gate, PendingCall};
/// use plan_runtime::{Result, plan, tool};
///
/// /// Looks up what an item costs.
/// #[tool(read_only)]
/// async fn find_price(item: String) -> Result<usize> {
///     Ok(item.len())
/// }
///
/// /// Pays.
/// #[tool]
/// async fn pay(cents: usize) -> Result<usize> {
///     Ok(cents)
/// }
///
/// /// Replaces a person who reads the call and decides.
/// struct Desk;
///
/// impl Gate for Desk {
///     async fn ask(&self, call: PendingCall) -> Decision {
///         if call.is_read_only() {
///             return Decision::AllowStep;
///         }
///         match call.arguments()["cents"].as_u64() {
///             Some(0..10) => Decision::Allow,
///             _ => Decision::Refuse(format!("`{call}` is too much")),
///         }
///     }
/// }
///
/// plan! {
///     Buy(items: Vec<String>) -> Vec<Option<usize>> {
///         step prices = for item in items { FindPrice { item } };
///         #[optional(each)]
///         step paid = for cents in prices { Pay { cents } };
///         paid
///     }
/// }
///
/// let buy = Buy { items: vec!["lamp".into(), "grand piano".into()] };
/// let (paid, report) = smol::block_on(buy.run(&()).gate(Desk).with_report());
/// assert_eq!(paid?, [Some(4), None]);
/// let error = report.step("paid").unwrap().error().unwrap();
/// assert_eq!(error.code(), "REFUSED");
/// assert_eq!(error.to_string(), r#"was refused: `paid[1]: pay {"cents":11}` is too much"#);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// A gate that panics refuses the call. If a gate never completes, the run waits until its deadline.
pub trait Gate: Send + Sync {
    /// Decides on a call. Questions about several calls may be open at one time.
    fn ask(&self, call: PendingCall) -> impl Future<Output = Decision> + Send;
}

impl<T: Gate + ?Sized> Gate for Arc<T> {
    fn ask(&self, call: PendingCall) -> impl Future<Output = Decision> + Send {
        (**self).ask(call)
    }
}

/// The decision of a [`Gate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Allows the call.
    Allow,
    /// Allows this call, and without further questions the corresponding calls for all other elements of the step's `for`. If the step has other
    /// calls in the branches of an `if`, the gate decides on each branch separately. If the step is in a called plan, the decision
    /// applies only to this call of the plan.
    AllowStep,
    /// The call is made with these arguments. Later gates decide about the changed arguments. A resumed run uses the recorded change, and the report
    /// [marks](crate::run::Attempt::is_changed) the attempts of the call. If the tool cannot read the arguments, the step fails. To check a person's
    /// input first, use [`Toolbox::check_arguments`](crate::dynamic::Toolbox::check_arguments).
    ///
    /// Write each secret in full: the run does not replace `"(secret)"`.
    AllowWith(Value),
    /// The call is not made, for this reason. Its step fails with [`StepError::Refused`](crate::run::StepError::Refused), and is not tried again.
    Refuse(String),
}

/// A call that a [`Gate`] decides about.
///
/// `Display` writes the path of the call, the tool, and the arguments as JSON, on one line of at most 4,000 characters, with escapes for
/// characters that a terminal would not show.
#[derive(Clone)]
pub struct PendingCall {
    pub(in crate::run) context: CallContext,
    pub(in crate::run) tool: String,
    pub(in crate::run) description: String,
    pub(in crate::run) is_read_only: bool,
    pub(in crate::run) arguments: Value,
    /// The arguments without secrets, and the secrets, if there are any.
    pub(in crate::run) shown: Option<Box<(Value, Secrets)>>,
    pub(in crate::run) undoes: Option<String>,
    pub(in crate::run) undone_by: Vec<String>,
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        visibly(f, |f| {
            f.debug_struct("PendingCall")
                .field("context", &self.context)
                .field("tool", &self.tool)
                .field("description", &self.description)
                .field("is_read_only", &self.is_read_only)
                .field("arguments", self.arguments())
                .field("undoes", &self.undoes)
                .field("undone_by", &self.undone_by)
                .finish()
        })
    }
}

impl PendingCall {
    /// Returns the position of the call: the run, the plan, the step, and the element of a `for`. The context prints as
    /// a path.
    pub fn context(&self) -> &CallContext {
        &self.context
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the tool's own description. The plan has no influence on it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns `true` if the tool declares that it [only reads](crate::Tool::READ_ONLY).
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns the names of the tools that undo the call if the run fails later: the tools in the undo step of the call's step, and in the undo steps of
    /// the enclosing steps. Show the names with the call, because the undo step of a plan may call any tool.
    pub fn undone_by(&self) -> &[String] {
        &self.undone_by
    }

    /// Returns the path of the step that the call undoes, such as `trip.hotel`, if gates have allowed a call of that step.
    ///
    /// Suppose that a gate asks a person, and shows the tools of [`undone_by`](Self::undone_by) with each question. The gate can then allow each call
    /// for which this method returns a path, so that a run rolls back even if the person is away.
    ///
    /// Returns `None` for a call outside of an undo step. In the undo step of a block or a plan without an allowed call, the result is `None` as well.
    pub fn undoes(&self) -> Option<&str> {
        self.undoes.as_deref()
    }

    /// Returns the arguments of the call, with `"(secret)"` in place of each [secret](crate::Shape#secrets) value.
    pub fn arguments(&self) -> &Value {
        match self.shown.as_deref() {
            Some((shown, _)) => shown,
            None => &self.arguments,
        }
    }

    /// Returns the arguments of the call with their secrets, for a gate that needs them to decide.
    pub fn arguments_with_secrets(&self) -> &Value {
        &self.arguments
    }

    /// Hides these secrets in the shown arguments.
    pub(in crate::run) fn hide(&mut self, secrets: &Secrets) {
        if !secrets.is_empty() {
            let shown = secrets.mask(self.arguments.clone());
            self.shown = Some(Box::new((shown, secrets.clone())));
        }
    }

    /// Replaces the arguments.
    fn change(&mut self, arguments: Value) {
        self.arguments = arguments;
        if let Some((_, secrets)) = self.shown.take().map(|it| *it) {
            self.hide(&secrets);
        }
    }
}

impl fmt::Display for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { context, tool, .. } = self;
        let (tool, arguments) = (MessageName(tool), self.arguments());
        write!(f, "{context}: {tool} {}", Cut(Line(arguments), MOST))
    }
}

/// A gate of any type.
pub(in crate::run) trait AnyGate: Send + Sync {
    fn ask_boxed(&self, call: PendingCall) -> Pin<Box<dyn Future<Output = Decision> + Send + '_>>;
}

impl<G: Gate> AnyGate for G {
    fn ask_boxed(&self, call: PendingCall) -> Pin<Box<dyn Future<Output = Decision> + Send + '_>> {
        Box::pin(self.ask(call))
    }
}

/// The question about a call, and the arguments of the call.
pub(in crate::run) struct Question {
    pub(in crate::run) arguments: Value,
    /// The bytes of the arguments.
    pub(in crate::run) bytes: usize,
    /// `true` if a gate has changed the arguments.
    pub(in crate::run) is_changed: bool,
    answer: Answer,
}

/// The decision of all gates, and `true` if a gate needed time for its decision.
type Answer = Arc<Mutex<Option<(Decision, bool)>>>;

impl Question {
    /// Asks all gates. The future completes after all gates have decided.
    pub(in crate::run) fn ask(
        gates: Vec<Arc<dyn AnyGate>>,
        call: PendingCall,
        bytes: usize,
    ) -> (Self, Pin<Box<dyn Future<Output = ()> + Send>>) {
        let answer = Answer::default();
        let arguments = call.arguments.clone();
        let answered = Arc::clone(&answer);
        let context = call.context.clone();
        let asking = async move {
            let running = RunningCall::of(&context);
            let mut has_waited = false;
            let decision = {
                let mut asking = pin!(Polled::new(&context, ask_all(gates, call)));
                let poll = |cx: &mut Context<'_>| {
                    let polled = asking.as_mut().poll(cx);
                    has_waited |= polled.is_pending();
                    polled
                };
                poll_fn(poll).await
            };
            running.end();
            *locked(&answered) = Some((decision, has_waited));
        };
        let question = Self {
            arguments,
            bytes,
            is_changed: false,
            answer,
        };
        (question, Box::pin(asking))
    }

    /// Creates an answered question, whose gates have changed the arguments to these.
    pub(in crate::run) fn changed(arguments: Value, bytes: usize) -> Self {
        Self {
            arguments,
            bytes,
            is_changed: true,
            answer: Answer::default(),
        }
    }

    /// Takes the decision of all gates, with `true` if a gate needed time for its decision.
    pub(in crate::run) fn take_answer(&self) -> Option<(Decision, bool)> {
        let mut answer = locked(&self.answer);
        answer.take()
    }
}

async fn ask_all(gates: Vec<Arc<dyn AnyGate>>, mut call: PendingCall) -> Decision {
    let mut all = Decision::AllowStep;
    for gate in gates {
        match ask(&*gate, call.clone()).await {
            Decision::AllowWith(arguments) if arguments != call.arguments => {
                call.change(arguments.clone());
                all = Decision::AllowWith(arguments);
            }
            Decision::Allow | Decision::AllowWith(_) if all == Decision::AllowStep => {
                all = Decision::Allow;
            }
            Decision::Allow | Decision::AllowStep | Decision::AllowWith(_) => {}
            refused @ Decision::Refuse(_) => return refused,
        }
    }
    all
}

/// Asks a gate, which may panic.
async fn ask(gate: &dyn AnyGate, call: PendingCall) -> Decision {
    let panicked = || Decision::Refuse("the gate panicked".into());
    let Ok(mut asking) = catch(|| gate.ask_boxed(call)) else {
        return panicked();
    };
    poll_fn(|cx| match catch(|| asking.as_mut().poll(cx)) {
        Ok(polled) => polled,
        Err(_) => std::task::Poll::Ready(panicked()),
    })
    .await
}
