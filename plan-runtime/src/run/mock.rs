//! An application for tests, whose tools are closures. How they are called is in `answer.rs`.

use crate::Plan;
use crate::print::{MessageName, some_of};
use crate::shape::Secrets;
use serde_json::Value;
use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An application for tests: closures answer the calls of its tools, and it records the calls.
///
/// Every plan runs on it. [`on`](Self::on) gives it one tool; a run whose plan calls a tool without an answer does not start, and the error
/// names all such tools.
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
/// A mock and the runs on it stay on one thread: neither is `Send` or `Sync`. `block_on`, `#[tokio::test]` and `join!` need neither.
///
/// `{:?}` writes the calls, each with its arguments. What [`#[shape(secret)]`](crate::Shape) marks is not shown.
pub struct Mock {
    /// Nothing where it takes the place of another one, whose answers come with each request.
    pub(super) known: Option<Arc<Known>>,
    /// Generated code runs plans on all that is `Sync`, and on a mock, so that rustc has to see that a mock never is. Of most types it
    /// takes for granted that the standard library may make them `Sync` some day, but not of a reference to a trait object of this crate.
    _one_thread: &'static dyn OneThread,
}

/// What stays on its thread, since it does not ask for `Sync`.
trait OneThread {}

impl OneThread for () {}

/// The answers of a mock, and the calls.
#[derive(Default)]
pub(super) struct Known {
    answers: Mutex<Vec<Answered>>,
    calls: Mutex<Vec<Recorded>>,
}

/// A tool with an answer.
struct Answered {
    of: TypeId,
    tool: &'static str,
    closure: Arc<dyn Any + Send + Sync>,
}

/// A call that was made.
pub(super) struct Recorded {
    /// The type of the tool.
    pub(super) of: TypeId,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    /// What `Debug` does not show of them.
    pub(super) secrets: Secrets,
}

impl Known {
    /// The closure that answers a tool, which only the one who stored it can read.
    pub(super) fn closure(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>> {
        let answers = locked(&self.answers);
        let answer = answers.iter().find(|answer| answer.of == of)?;
        Some(Arc::clone(&answer.closure))
    }

    pub(super) fn set(&self, of: TypeId, tool: &'static str, closure: Arc<dyn Any + Send + Sync>) {
        let mut answers = locked(&self.answers);
        answers.retain(|answer| answer.of != of);
        answers.push(Answered { of, tool, closure });
    }

    pub(super) fn record(&self, call: Recorded) {
        locked(&self.calls).push(call);
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, Vec<Recorded>> {
        locked(&self.calls)
    }
}

/// A closure that panicked has changed none of it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mock {
    /// Takes the place of a mock in a plan that another one calls: that one's run may not borrow a mock.
    pub(super) const STAND_IN: &'static Self = &Self {
        known: None,
        _one_thread: &(),
    };

    /// A mock without answers. It runs plans that call no tools.
    #[must_use]
    pub fn new() -> Self {
        Self {
            known: Some(Arc::default()),
            _one_thread: &(),
        }
    }

    /// The tools of a plan without an answer.
    pub(crate) fn lacks(&self, plan: &Plan) -> Vec<String> {
        let Some(known) = &self.known else {
            return Vec::new();
        };
        let mut search = Search {
            answered: locked(&known.answers).iter().map(|it| it.tool).collect(),
            seen: HashSet::new(),
            places: HashMap::new(),
            found: Vec::new(),
        };
        search.plan(plan, "");
        search.found.iter().map(Unanswered::to_string).collect()
    }

    /// The names of the tools that were called, in the order of the calls. Each attempt of a step is a call.
    ///
    /// A plan that a step calls is before the tools that it calls.
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
        write!(f, "{} {shown}", self.tool)
    }
}

/// Looks for tools without an answer.
struct Search<'p> {
    answered: HashSet<&'static str>,
    /// The plans that were looked into.
    seen: HashSet<*const Plan>,
    /// Where a tool is in `found`.
    places: HashMap<&'p str, usize>,
    found: Vec<Unanswered<'p>>,
}

impl<'p> Search<'p> {
    fn plan(&mut self, plan: &'p Plan, around: &str) {
        if !self.seen.insert(plan) {
            return;
        }
        plan.calls(&mut |tool, path| {
            if self.answered.contains(&*tool.name) {
                return;
            }
            let path = format!("{around}{path}");
            if let Some(inner) = tool.plan.plan() {
                return self.plan(inner, &format!("{path}."));
            }
            let found = &mut self.found;
            let place = *self.places.entry(&tool.name).or_insert_with(|| {
                found.push(Unanswered {
                    tool: &tool.name,
                    steps: Vec::new(),
                });
                found.len() - 1
            });
            let steps = &mut found[place].steps;
            if steps.last() != Some(&path) {
                steps.push(path);
            }
        });
    }
}

/// A tool without an answer, and the steps that call it.
struct Unanswered<'p> {
    tool: &'p str,
    steps: Vec<String>,
}

impl fmt::Display for Unanswered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tool, steps) = (MessageName(self.tool), some_of(&self.steps));
        let (step, calls) = match self.steps.len() {
            1 => ("step", "calls"),
            _ => ("steps", "call"),
        };
        write!(
            f,
            "the mock has no answer for `{tool}`, which {step} {steps} {calls}: "
        )?;
        match struct_name(self.tool) {
            Some(name) => write!(f, "add `.on(|{name} {{ .. }}| Ok(…))`"),
            None => f.write_str("add one with `on`"),
        }
    }
}

/// The name that the struct of a tool has unless its author gave it another.
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
