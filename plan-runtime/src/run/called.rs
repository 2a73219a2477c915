//! Plans that steps call.

use super::StepError;
use super::start::{Request, Started, StepResult};
use crate::Result;
use crate::error::Cause;
use crate::plan::{Executable, Keep, Template};
use crate::resolve::{
    HandOver, Handed, MemoryBudget, Meter, ResolveError, Scope, StoredValue, drop_quietly, settle,
    take,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// A plan that a step calls, before it starts. It runs as a block does: what is around it may end it, and undo it after it has succeeded. It has the limits of the run around it.
pub struct CalledPlan<'x> {
    pub(super) executable: Executable<'x>,
    pub(super) inputs: Result<Vec<StoredValue>, Cause>,
    pub(super) hands_over: bool,
    pub(super) own: OwnStart<'x>,
}

pub(crate) type StartAction<'x> = dyn FnMut(usize, Request<'_>) -> Started<'x> + Send + 'x;

type StoreOutput =
    dyn Fn(MadeOutput<'_>, Keep, MemoryBudget) -> Result<StepResult, ResolveError> + Send + Sync;

/// The output of a plan, before it has its type.
pub(super) enum MadeOutput<'o> {
    /// It was made as JSON.
    Json(Value),
    /// It is what this refers to.
    At(&'o Template, &'o Scope<'o>, &'o Handed),
}

impl MadeOutput<'_> {
    /// The JSON that it was made as.
    fn json(&self) -> Option<&Value> {
        match self {
            Self::Json(json) => Some(json),
            Self::At(..) => None,
        }
    }

    /// The output as a value of its type.
    pub(super) fn read<O: DeserializeOwned + 'static>(self) -> Result<O, ResolveError> {
        match self {
            Self::Json(json) => O::deserialize(json).map_err(serde::de::Error::custom),
            Self::At(template, scope, given) => take(template, scope, given),
        }
    }
}

/// What starts the actions of a plan that is called, and knows the type of its output.
pub(crate) struct OwnStart<'x> {
    pub(super) start: Box<StartAction<'x>>,
    pub(super) fits: fn(&Value) -> Result<(), serde_json::Error>,
    store: Box<StoreOutput>,
    keep: Keep,
}

impl OwnStart<'_> {
    /// Whether JSON is an output of the plan's type.
    pub(super) fn fits(&self, output: &Value) -> Result<(), serde_json::Error> {
        (self.fits)(output)
    }

    /// The output of the plan, as that of a call.
    pub(super) fn store(
        &self,
        output: MadeOutput<'_>,
        room: MemoryBudget,
    ) -> Result<StepResult, ResolveError> {
        (self.store)(output, self.keep, room)
    }
}

impl<'x> CalledPlan<'x> {
    /// A plan whose output is of a type.
    pub(super) fn new<O>(
        executable: Executable<'x>,
        inputs: Result<Vec<StoredValue>, Cause>,
        (start, hands_over): (Box<StartAction<'x>>, bool),
        hand_over: fn() -> Option<HandOver<O>>,
    ) -> Self
    where
        O: Serialize + DeserializeOwned + Send + 'static,
    {
        let own = OwnStart {
            start,
            fits: |value| O::deserialize(value).map(drop_quietly),
            store: Box::new(move |output, keep, room| {
                let given = output.json().cloned();
                let output = output.read::<O>()?;
                let meter = Meter::new(room, None);
                let stored = StoredValue::kept(output, keep, hand_over, &meter);
                let stored = stored.and_then(|stored| match &given {
                    Some(given) => {
                        let bytes = stored.bytes();
                        let settled = settle(given, stored.into_json()?);
                        Ok(StoredValue::weighed(settled, bytes))
                    }
                    None => Ok(stored),
                });
                Ok(stored.map_err(StepError::output))
            }),
            keep: Keep::Json,
        };
        Self {
            executable,
            inputs,
            hands_over,
            own,
        }
    }

    /// The same, with the elements of its inputs in the order that they had in this, which it was made of.
    pub(crate) fn settled(mut self, given: &Value) -> Self {
        let plan = self.executable.plan;
        self.inputs = self.inputs.and_then(|inputs| {
            let inputs = plan.inputs.iter().zip(inputs).map(|(input, made)| {
                let Some(given) = given.get(&input.name) else {
                    return Ok(made);
                };
                let made = made.into_json().map_err(Cause::Inputs)?;
                Ok(StoredValue::json(settle(given, made)))
            });
            inputs.collect()
        });
        self
    }

    /// The same, whose output is kept like this.
    pub(super) fn keeping(mut self, keep: Keep) -> Box<Self> {
        self.own.keep = keep;
        Box::new(self)
    }
}
