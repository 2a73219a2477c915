//! Values from outside of a run.

use super::RustText;
use crate::shape::Secrets;
use serde_json::Value;
use std::fmt;

/// A value from outside of the run, which [`Run::signals`](crate::run::Run::signals) sends. In `plan!`, it is `step reply: Reply = await;`.
///
/// ```
/// use plan_runtime::plan::{Await, Reference, Source, Step};
/// use plan_runtime::Plan;
///
/// let mut plan = Plan::new("ask");
/// plan.steps = vec![Step::new("reply", Await::new("String"))];
/// plan.output.value = Reference::new(Source::Step(0)).into();
///
/// let run = plan_runtime::dynamic::Toolbox::<()>::new();
/// let run = run.run(&plan, (), &());
/// run.signals().send("reply", "yes")?;
/// assert_eq!(smol::block_on(run).unwrap(), "yes");
/// # Ok::<(), plan_runtime::run::SignalError>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Await {
    /// The type of the value, as written in Rust. A run of a `plan!` checks the value against the type. In other plans, any value
    /// fits.
    pub type_name: RustText,
    /// The secrets in the value.
    pub secrets: Secrets,
    receive: Option<Receive>,
}

/// The code of a `plan!` for the values of a type.
#[derive(Clone, Copy)]
struct Receive {
    type_name: &'static str,
    code: ReceiveFn,
}

/// A function that converts received JSON to the JSON of a value of a type, or returns a description of the mismatch.
pub(crate) type ReceiveFn = fn(&Value) -> Result<Value, String>;

impl Await {
    /// Creates a wait for a value of a type, in the notation of Rust.
    pub fn new(type_name: impl Into<RustText>) -> Self {
        Self {
            type_name: type_name.into(),
            secrets: Secrets::NONE,
            receive: None,
        }
    }

    /// Adds the code for the type of this name.
    pub(crate) fn compiled(self, type_name: &'static str, code: ReceiveFn) -> Self {
        let receive = Some(Receive { type_name, code });
        Self { receive, ..self }
    }

    /// Converts a value to the JSON of the type, if there is code for the type. The description of a mismatch contains no secrets.
    pub(crate) fn receive(&self, value: &Value) -> Option<Result<Value, String>> {
        let receive = self.receive?;
        // If the plan was changed, the code may belong to another type.
        let is_same = *receive.type_name == *self.type_name;
        is_same.then(|| {
            (receive.code)(value).map_err(|message| {
                if self.secrets.is_empty() {
                    message
                } else {
                    "it has another type; a value in it is secret".to_owned()
                }
            })
        })
    }
}

impl fmt::Debug for Await {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Await").field(&self.type_name).finish()
    }
}

/// Compares the names of the types, and the secrets, since parts of a plan are equal if their notation is equal.
impl PartialEq for Await {
    fn eq(&self, other: &Self) -> bool {
        self.type_name == other.type_name && self.secrets == other.secrets
    }
}

impl Eq for Await {}
