//! Answers to the calls on a mock.

use super::catch::NO_TEXT;
use super::mock::{Known, Mock, Recorded};
use super::one_thread::Kept;
use super::start::{Request, Started};
use super::storing::once;
use super::{CalledPlan, Run, Stage, Starter, StepError};
use crate::resolve::{HandOver, Meter, StoredValue, drop_quietly, encode, from_json};
use crate::{Error, Result, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A closure of [`Mock::on`], which answers the calls of a tool.
pub trait Answers<T, When>: 'static {
    /// The name of the tool.
    const TOOL: &'static str;

    /// Returns the closure as a value that the type of the tool identifies.
    fn keep(self) -> Arc<dyn Any + Send + Sync>;
}

impl<T, F, R, When> Answers<T, When> for F
where
    T: Tool + 'static,
    F: FnMut(T) -> R + 'static,
    R: Answer<T::Output, When>,
{
    const TOOL: &'static str = T::NAME;

    fn keep(mut self) -> Arc<dyn Any + Send + Sync> {
        let closure: Closure<T> = RefCell::new(Box::new(move |tool| self(tool).given()));
        Arc::new(Kept::new(closure))
    }
}

/// The return type of a closure of [`Mock::on`]: a `Result`, a future of a `Result`, or the never type of a
/// closure that panics.
#[diagnostic::on_unimplemented(
    message = "a tool that returns `{Output}` cannot be answered with `{Self}`",
    label = "the answer is `{Self}`",
    note = "return `Ok(…)` with a `{Output}`, `Err(…)` with a `plan_runtime::Error`, or an `async` block of one of them"
)]
pub trait Answer<Output, When> {
    /// Returns the answer, which may be a future.
    fn given(self) -> Given<Output>;
}

/// An answer of a mock.
pub enum Given<Output> {
    /// A value.
    Now(Result<Output>),
    /// A future of the value.
    Later(Waiting<Output>),
}

/// Marks an answer as a value.
pub struct Now;

/// Marks an answer as a future.
pub struct Later;

/// Marks a closure that does not return.
pub struct Never;

#[diagnostic::do_not_recommend]
impl<Output> Answer<Output, Now> for Result<Output> {
    fn given(self) -> Given<Output> {
        Given::Now(self)
    }
}

#[diagnostic::do_not_recommend]
impl<Output, F> Answer<Output, Later> for F
where
    F: Future<Output = Result<Output>> + 'static,
{
    fn given(self) -> Given<Output> {
        Given::Later(Box::pin(self))
    }
}

/// The return type of a function, which gives `!` a name.
pub trait Returns {
    /// The type.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

#[diagnostic::do_not_recommend]
impl<Output> Answer<Output, Never> for <fn() -> ! as Returns>::Output {
    fn given(self) -> Given<Output> {
        self
    }
}

type Closure<T> = RefCell<Box<dyn FnMut(T) -> Given<<T as Tool>::Output>>>;

/// An answer that is awaited. The answer stays on the thread of the mock, although the steps of the run must be `Send`.
struct Awaited<Output: 'static> {
    answer: Kept<RefCell<Waiting<Output>>>,
    known: Arc<Known>,
}

/// A future of an answer.
type Waiting<Output> = Pin<Box<dyn Future<Output = Result<Output>>>>;

impl<Output> Future for Awaited<Output> {
    type Output = Result<Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.answer.value().expect("a mock stays on its thread");
        noting(&self.known, || answer.borrow_mut().as_mut().poll(cx))
    }
}

impl Mock {
    /// Answers the calls of a tool with this closure, whose parameter type selects the tool.
    ///
    /// The closure receives the arguments as the tool, and returns the tool's result: `Ok` of its output or `Err`. The closure can keep state, for
    /// example in an `Rc` that a test shares, and answer each call differently. It replaces an earlier answer for the tool, so a test can change one
    /// answer of a shared mock.
    ///
    /// ```
    /// use plan_runtime::run::{ManualTimer, Mock};
    /// use plan_runtime::{Error, Result, plan, tool};
    ///
    /// # struct Mail;
    /// # /// Counts e-mails.
    /// # #[tool] async fn count_emails(mail: &Mail, sender: String) -> Result<u64> { drop(sender); let _ = mail; Ok(0) }
    /// plan! {
    ///     Count(sender: String) -> u64 {
    ///         #[retry(3, backoff = "1s")]
    ///         step count = CountEmails { sender };
    ///         count
    ///     }
    /// }
    /// let count = || Count { sender: "sarah".into() };
    ///
    /// // Several answers, one after the other.
    /// let mut answers = vec![Err(Error::msg("busy")), Ok(2)].into_iter();
    /// let mock = Mock::new().on(move |CountEmails { .. }| answers.next().unwrap());
    /// let timer = ManualTimer::new();
    /// let run = count().run(&mock).timer(timer.clone());
    /// assert_eq!(smol::block_on(timer.skip_waits(run))?, 2);
    /// assert_eq!(mock.calls::<CountEmails>().len(), 2);
    ///
    /// // An answer that takes time: the closure returns a future.
    /// let mock = Mock::new().on(|CountEmails { sender }| async move {
    ///     smol::future::yield_now().await;
    ///     Ok(sender.len() as u64)
    /// });
    /// assert_eq!(smol::block_on(count().run(&mock))?, 5);
    ///
    /// // The tool itself, on an application that has it.
    /// let mock = Mock::new().on(|tool: CountEmails| async { plan_runtime::Call::call(tool, &Mail).await });
    /// assert_eq!(smol::block_on(count().run(&mock))?, 0);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// A plan is a tool as well. If a plan that a step calls has an answer, the answer replaces the whole plan. Without an answer, the plan runs,
    /// and the mock answers the calls of its tools.
    ///
    /// A panic of the closure or of its future, such as a failed `assert_eq!`, fails the step, and the run's error has the message of the panic. If
    /// the plan absorbs the failure, with another attempt or a fallback, the test still fails: the mock repeats the first panic when the mock is
    /// dropped, unless the thread is already panicking. To test a plan with a tool that panics, run the plan on an application of your own.
    #[must_use]
    pub fn on<T: 'static, When>(self, answer: impl Answers<T, When>) -> Self {
        if let Some(known) = &self.known {
            known.set::<T>(tool_of(&answer), answer.keep());
        }
        self
    }

    /// Returns the arguments of each call of a tool, in order. Each attempt of a step is a call.
    ///
    /// ```
    /// use plan_runtime::run::Mock;
    /// use plan_runtime::{Result, plan, tool};
    ///
    /// # /// Sends a text.
    /// #[tool]
    /// #[derive(Debug, PartialEq)]
    /// async fn send(to: String, text: String) -> Result<()> {
    ///     # drop((to, text));
    ///     Err(plan_runtime::Error::msg("there is no mailbox"))
    /// }
    ///
    /// let plan = plan! {
    ///     step sent = for to in ["sarah", "omar"] { Send { to, text: "Hello!" } };
    ///     sent.len()
    /// };
    /// let mock = Mock::new().on(|Send { .. }| Ok(()));
    /// smol::block_on(plan.run(&mock))?;
    /// let to = |to: &str| Send { to: to.into(), text: "Hello!".into() };
    /// assert_eq!(mock.calls::<Send>(), [to("sarah"), to("omar")]);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the tool, now deserialized again from its recorded arguments, has a hand-written `Deserialize` that fails this time.
    #[must_use]
    pub fn calls<T: Tool + 'static>(&self) -> Vec<T> {
        let Some(known) = &self.known else {
            return Vec::new();
        };
        let calls = known.calls();
        let of = calls.iter().filter(|call| call.of == TypeId::of::<T>());
        of.map(|call| from_json::<T>(&call.arguments).expect("it was read from this"))
            .collect()
    }

    /// Starts a step that calls a tool.
    pub(crate) fn start<'x, T>(&self, request: Request<'_>) -> Started<'x>
    where
        T: Tool + 'static,
    {
        let Some(known) = request.known.or(self.known.as_ref()) else {
            return request.unknown();
        };
        let (tool, arguments) = match request.read::<T>() {
            Ok(Some(read)) => read,
            Ok(None) => return request.question_of::<T>(),
            Err(error) => return Started::Ended(Err(error)),
        };
        let call = Recorded {
            of: TypeId::of::<T>(),
            tool: T::NAME,
            arguments: with_defaults(&tool, arguments),
            secrets: request.secrets(),
        };
        if let Some(closure) = known.closure(TypeId::of::<T>()) {
            let (room, keep) = (request.scope().room(), request.keep);
            let known = Arc::clone(known);
            return Started::Running(once(async move {
                let tool = from_json::<T>(&call.arguments);
                let tool =
                    tool.map_err(|error| StepError::arguments(serde::de::Error::custom(error)));
                known.record(call);
                let answer = |tool| noting(&known, || called(closure.downcast_ref(), tool));
                let given = match tool.map(answer)? {
                    Given::Now(output) => Ok(output),
                    Given::Later(output) => Err(Awaited {
                        answer: Kept::new(RefCell::new(output)),
                        known: Arc::clone(&known),
                    }),
                };
                let output = match given {
                    Ok(output) => output,
                    Err(answer) => answer.await,
                };
                let meter = Meter::new(room, None);
                let output = output.map_err(StepError::tool)?;
                StoredValue::kept(output, keep, T::hand_over, &meter).map_err(StepError::output)
            }));
        }
        known.record(call);
        let run = T::ON_MOCK.and_then(|run| run(tool, Mock::STAND_IN));
        match run.and_then(|run| called_on(run, Arc::clone(known), T::hand_over)) {
            Some(plan) => Started::Plan(plan.keeping(request.keep), request.context(true)),
            // If the plan were known to call this type, the run would not have started.
            None => Started::Ended(Err(StepError::tool(Error::permanent(format!(
                "the mock has no answer for `{}`",
                T::NAME
            ))))),
        }
    }
}

/// Returns the name of the tool that a closure answers.
fn tool_of<T, When, A: Answers<T, When>>(_: &A) -> &'static str {
    A::TOOL
}

/// Runs an answer, and notes its panic before the run makes a failure of it.
fn noting<R>(known: &Known, answer: impl FnOnce() -> R) -> R {
    // The test owns the state that a panicking answer leaves behind.
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|payload| {
        let message = match (
            payload.downcast_ref::<String>(),
            payload.downcast_ref::<&str>(),
        ) {
            (Some(message), _) => message.clone(),
            (None, Some(message)) => (*message).to_owned(),
            (None, None) => NO_TEXT.to_owned(),
        };
        known.panicked(payload);
        resume_unwind(Box::new(message))
    })
}

/// Returns the arguments of a call, completed with the tool's defaults. A default can differ each time, so a recorded default is not computed again.
fn with_defaults<T: Tool>(tool: &T, given: Value) -> Value {
    let Ok(all) = encode(tool) else {
        return given;
    };
    let all = completed(&given, all);
    // A tool's `Serialize` can differ from its `Deserialize`.
    match from_json::<T>(&all) {
        Ok(tool) => {
            drop_quietly(tool);
            all
        }
        Err(_) => given,
    }
}

/// Returns the given arguments, and the members that only `whole` has.
fn completed(given: &Value, whole: Value) -> Value {
    match (given, whole) {
        (Value::Object(given), Value::Object(mut whole))
            if given.keys().all(|name| whole.contains_key(name)) =>
        {
            for (name, value) in given {
                if let Some(place) = whole.get_mut(name) {
                    *place = completed(value, place.take());
                }
            }
            whole.into()
        }
        // The elements of a set may be in another order.
        (Value::Array(given), Value::Array(whole))
            if given.len() == whole.len()
                && given
                    .iter()
                    .zip(&whole)
                    .all(|(given, whole)| extends(whole, given)) =>
        {
            let pairs = given.iter().zip(whole);
            pairs
                .map(|(given, whole)| completed(given, whole))
                .collect()
        }
        (given, _) => given.clone(),
    }
}

/// Returns `true` if a value contains the given value, possibly with more members.
fn extends(whole: &Value, given: &Value) -> bool {
    match (whole, given) {
        (Value::Object(whole), Value::Object(given)) => {
            let has = |(name, given): (&String, &Value)| {
                whole.get(name).is_some_and(|whole| extends(whole, given))
            };
            given.iter().all(has)
        }
        (Value::Array(whole), Value::Array(given)) => {
            whole.len() == given.len()
                && whole
                    .iter()
                    .zip(given)
                    .all(|(whole, given)| extends(whole, given))
        }
        (Value::Number(whole), Value::Number(given)) => {
            whole == given || whole.as_f64() == given.as_f64()
        }
        (whole, given) => whole == given,
    }
}

/// Answers a call.
fn called<T: Tool + 'static>(closure: Option<&Kept<Closure<T>>>, tool: T) -> Given<T::Output> {
    let closure = closure.expect("it is stored under its tool");
    let closure = closure.value().expect("a mock stays on its thread");
    let Ok(mut closure) = closure.try_borrow_mut() else {
        panic!("the answer for `{}` calls the tool itself", T::NAME)
    };
    closure(tool)
}

/// Returns the plan for a step of a run on a mock, if the mock of the outer run has the answers in `known`.
fn called_on<'x, O>(
    run: Run<'static, Mock, O>,
    known: Arc<Known>,
    hand_over: fn() -> Option<HandOver<O>>,
) -> Option<CalledPlan<'x>>
where
    O: Serialize + DeserializeOwned + Send + 'static,
{
    let (Stage::New(executable, inputs, _), Starter::Plan(start)) = (run.stage, run.starter) else {
        return None;
    };
    let start = Box::new(move |number: usize, request: Request<'_>| {
        let known = Some(&known);
        start(number, Request { known, ..request }, Mock::STAND_IN)
    });
    Some(CalledPlan::new::<O>(
        executable,
        inputs,
        (start, true),
        hand_over,
    ))
}
