use super::ResolveError;
use crate::plan::{Plan, Source};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::Any;
use std::cell::OnceCell;

/// A value that references read: its JSON and, where computed values mention it, its Rust value.
pub struct Held {
    json: Value,
    typed: OnceCell<Box<dyn Any + Send>>,
}

impl Held {
    /// Holds the JSON alone.
    pub fn json(json: Value) -> Self {
        Self {
            json,
            typed: OnceCell::new(),
        }
    }

    /// Holds the JSON of a value and, with `keep`, the value itself.
    pub fn value<T: Serialize + Send + 'static>(
        value: T,
        keep: bool,
    ) -> Result<Self, ResolveError> {
        let json = serde_json::to_value(&value).map_err(|e| ResolveError::new(e.to_string()))?;
        let typed = OnceCell::new();
        if keep {
            let _ = typed.set(Box::new(value) as Box<dyn Any + Send>);
        }
        Ok(Self { json, typed })
    }
}

/// What a template can refer to: the inputs, and the outputs so far.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    plan: &'a Plan,
    inputs: &'a [Held],
    outputs: &'a [Option<Held>],
}

impl<'a> Scope<'a> {
    /// The inputs and outputs of a run of `plan`, each in the plan's order.
    pub fn new(plan: &'a Plan, inputs: &'a [Held], outputs: &'a [Option<Held>]) -> Self {
        Self {
            plan,
            inputs,
            outputs,
        }
    }

    /// The plan that is being run.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    fn held(&self, source: Source) -> Option<&'a Held> {
        match source {
            Source::Step(i) => self.outputs.get(i)?.as_ref(),
            Source::Input(i) => self.inputs.get(i),
        }
    }

    /// The JSON of an input, or of an output that is there.
    pub fn json_of(&self, source: Source) -> Option<&'a Value> {
        self.held(source).map(|held| &held.json)
    }

    /// The Rust value of an input or an output: the one kept, or deserialised once.
    pub fn value_of<T: DeserializeOwned + Send + 'static>(
        &self,
        source: Source,
    ) -> Result<&'a T, ResolveError> {
        let held = self
            .held(source)
            .ok_or_else(|| ResolveError::new("not there".into()))?;
        if held.typed.get().is_none() {
            let value = T::deserialize(&held.json).map_err(|e| ResolveError::new(e.to_string()))?;
            let _ = held.typed.set(Box::new(value));
        }
        held.typed
            .get()
            .and_then(|v| v.downcast_ref())
            .ok_or_else(|| ResolveError::new("another type".into()))
    }
}
