//! An application for tests, whose tools are closures. `answer.rs` calls the closures.
//!
//! A mock does not implement `Call`: such an implementation would overlap with the implementations of `#[tool]` for all applications. `check/application.rs` implements `Calls` for mocks and for
//! applications. These implementations do not overlap, because applications are `Sync` and a mock is not. A plan inside a run is `Send` and cannot borrow a mock, so it runs on `Mock::STAND_IN`, and each `Request`
//! contains the answers.

use super::catch::locked;
use crate::Plan;
use crate::plan::{Has, MissingTool, missing_tools};
use crate::print::{Line, MessageName};
use crate::shape::Secrets;
use serde_json::Value;
use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// An application for tests. Closures answer the calls of its tools, and the mock records the calls.
///
/// Every plan runs on a mock. [`on`](Self::on) adds an answer for one tool. A run whose plan calls a tool without an answer does not start,
/// and the error names all such tools.
///
/// ```
/// use plan_runtime::run::Mock;
/// use plan_runtime::{Result, plan, tool};
///
/// # struct Shop;
/// /// Returns the price of an item in cents.
/// #[tool]
/// async fn find_price(shop: &Shop, item: String) -> Result<u64> {
///     # let _ = (shop, item);
///     Err(plan_runtime::Error::msg("there is no shop"))
/// }
///
/// /// Pays an amount.
/// #[tool]
/// #[derive(Debug, PartialEq)]
/// async fn pay(shop: &Shop, cents: u64) -> Result<String> {
///     # let _ = (shop, cents);
///     Err(plan_runtime::Error::msg("there is no shop"))
/// }
///
/// plan! {
///     Buy(item: String, count: u64) -> String {
///         step price = FindPrice { item };
///         step receipt = Pay { cents: price * count };
///         receipt
///     }
/// }
///
/// let mock = Mock::new()
///     .on(|FindPrice { .. }| Ok(40))
///     .on(|Pay { cents }| Ok(format!("paid {cents}")));
/// let run = Buy { item: "lamp".into(), count: 3 }.run(&mock);
/// assert_eq!(smol::block_on(run)?, "paid 120");
///
/// assert_eq!(mock.calls::<Pay>(), [Pay { cents: 120 }]);
/// assert_eq!(mock.order(), ["find_price", "pay"]);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// A mock and its runs must stay on one thread, because they are not `Send` and not `Sync`. `block_on`, `#[tokio::test]` and `join!` accept such
/// runs.
///
/// A panic of an answer, such as a failed `assert_eq!`, fails the step. Dropping the mock repeats the panic, so that the test fails even with a `#[retry]`
/// or a `#[fallback]`.
///
/// `{:?}` writes the calls with their arguments, and masks values with [`#[shape(secret)]`](crate::Shape).
pub struct Mock {
    /// `None` in the stand-in for another mock, whose answers come with each request.
    pub(super) known: Option<Arc<Known>>,
    /// Keeps the mock from being `Sync`. Generated code runs plans on every `Sync` type, and on a mock, so rustc must prove that a mock
    /// is never `Sync`. For most types, rustc assumes that the standard library may implement `Sync` later, but not for a reference to a
    /// trait object of this crate.
    _one_thread: &'static dyn OneThread,
}

/// A trait without `Sync`, whose objects stay on their thread.
trait OneThread {}

impl OneThread for () {}

/// The answers of a mock, and the calls.
#[derive(Default)]
pub(super) struct Known {
    answers: Mutex<Vec<Answered>>,
    calls: Mutex<Vec<Recorded>>,
    /// The first panic of an answer.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A tool with an answer.
struct Answered {
    of: TypeId,
    tool: &'static str,
    /// The type of the tool, for people.
    type_name: &'static str,
    closure: Arc<dyn Any + Send + Sync>,
}

/// A call that was made.
pub(super) struct Recorded {
    /// The type of the tool.
    pub(super) of: TypeId,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// The positions of secrets, which `Debug` masks.
    pub(super) secrets: Secrets,
}

impl Known {
    /// Returns the closure that answers a tool. Only the code that stored the closure can read it.
    pub(super) fn closure(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>> {
        let answers = locked(&self.answers);
        let answer = answers.iter().find(|answer| answer.of == of)?;
        Some(Arc::clone(&answer.closure))
    }

    /// Stores the closure that answers the tool `T`.
    pub(super) fn set<T: 'static>(&self, tool: &'static str, closure: Arc<dyn Any + Send + Sync>) {
        let of = TypeId::of::<T>();
        let mut answers = locked(&self.answers);
        answers.retain(|answer| answer.of != of);
        answers.push(Answered {
            of,
            tool,
            type_name: type_name::<T>(),
            closure,
        });
    }

    /// Keeps the first panic of an answer, which the plan may absorb, until the mock is dropped.
    pub(super) fn panicked(&self, payload: Box<dyn Any + Send>) {
        locked(&self.panic).get_or_insert(payload);
    }

    pub(super) fn record(&self, call: Recorded) {
        locked(&self.calls).push(call);
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, Vec<Recorded>> {
        locked(&self.calls)
    }
}

impl Mock {
    /// The mock in a called plan, whose run cannot borrow the mock of the outer run.
    pub(super) const STAND_IN: &'static Self = &Self {
        known: None,
        _one_thread: &(),
    };

    /// Creates a mock without answers. It runs plans that call no tools.
    ///
    /// ```
    /// use plan_runtime::run::Mock;
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step six = Double { number: 3 }; six };
    /// let error = smol::block_on(plan.run(&Mock::new())).unwrap_err();
    /// assert!(!error.has_started());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            known: Some(Arc::default()),
            _one_thread: &(),
        }
    }

    /// Returns the tools of a plan that have no answer.
    pub(crate) fn lacks(&self, plan: &Plan) -> Vec<String> {
        let Some(known) = &self.known else {
            return Vec::new();
        };
        let answers = locked(&known.answers);
        let missing = missing_tools(plan, &|tool| {
            let of = tool.of.id();
            let is_answer = |answer: &Answered| match of {
                Some(of) => answer.of == of,
                None => answer.tool == tool.name,
            };
            if answers.iter().any(is_answer) {
                return Has::Tool;
            }
            tool.plan.plan().map_or(Has::NoType(of), Has::Plan)
        });
        let missing = missing.iter();
        missing.map(|it| unanswered(it, &answers)).collect()
    }

    /// Returns the names of the called tools, in the order of the calls. Each attempt of a step is a call.
    ///
    /// The name of a called plan is before the names of the tools that the plan calls.
    ///
    /// ```
    /// use plan_runtime::run::Mock;
    /// # use plan_runtime::{Result, plan, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let plan = plan! { step twice = Double { number: 3 }; step again = Double { number: twice }; again };
    /// let mock = Mock::new().on(|Double { number }| Ok(number * 2));
    /// smol::block_on(plan.run(&mock))?;
    /// assert_eq!(mock.order(), ["double", "double"]);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[must_use]
    pub fn order(&self) -> Vec<&'static str> {
        let calls = self.known.as_deref().map(Known::calls);
        calls
            .iter()
            .flat_map(|calls| calls.iter())
            .map(|call| call.tool)
            .collect()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let Some(known) = self.known.as_ref().filter(|_| !thread::panicking()) else {
            return;
        };
        let panic = locked(&known.panic).take();
        if let Some(payload) = panic {
            // The panic hook has printed the message already.
            resume_unwind(payload);
        }
    }
}

impl Default for Mock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Mock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mock ")?;
        let mut list = f.debug_list();
        if let Some(known) = &self.known {
            list.entries(known.calls().iter());
        }
        list.finish()
    }
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.secrets.mask(self.arguments.clone());
        write!(f, "{} {}", MessageName(self.tool), Line(shown))
    }
}

/// Returns the message about a tool without an answer, and its fix.
fn unanswered(missing: &MissingTool<'_>, answers: &[Answered]) -> String {
    let (tool, callers) = (MessageName(&missing.tool.name), missing.callers());
    let (of, name) = match missing.tool.of.0 {
        Some((id, name)) => (Some(id), Some(name)),
        None => (None, None),
    };
    let is_other = |answer: &&Answered| answer.tool == missing.tool.name && Some(answer.of) != of;
    if let (Some(name), Some(other)) = (name, answers.iter().find(is_other)) {
        let other = other.type_name;
        return format!(
            "the mock has no answer for the tool `{tool}` that {callers}, which is the type `{name}`; \
             its answer is for another tool of this name, the type `{other}`: add one for `{name}`"
        );
    }
    let add = match struct_name(&missing.tool.name) {
        Some(name) => format!("add `.on(|{name} {{ .. }}| Ok(…))`"),
        None => "add one with `on`".to_owned(),
    };
    format!("the mock has no answer for `{tool}`, which {callers}: {add}")
}

/// Returns the usual name of the struct of a tool: `FindPrice` for `find_price`. Returns `None` for a name that no struct would have by default.
fn struct_name(tool: &str) -> Option<String> {
    let is_plain = |c: char| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit();
    if !tool.starts_with(|c: char| c.is_ascii_lowercase()) || !tool.chars().all(is_plain) {
        return None;
    }
    let words = tool.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters)
    });
    Some(words.flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::struct_name;

    #[test]
    fn structs_are_named_after_their_tools() {
        let name = |tool| struct_name(tool).unwrap_or_default();
        assert_eq!(name("find_price"), "FindPrice");
        assert_eq!(name("load_2_rows"), "Load2Rows");
        for other in ["mail.list", "_", "", "Find", "find price", "2nd", "für"] {
            assert_eq!(name(other), "", "{other}");
        }
    }
}
