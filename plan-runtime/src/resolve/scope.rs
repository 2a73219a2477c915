use super::error::What;
use super::value::InValue;
use super::{ResolveError, describe, encode};
use crate::plan::{Plan, Source};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::{Any, type_name};
use std::cell::OnceCell;

/// A value that references read: its JSON and, where computed values mention it, its Rust value.
pub struct Held {
    json: Value,
    /// Boxed twice, since nearly all have none: so it takes one word.
    typed: OnceCell<Box<Box<dyn Any + Send>>>,
}

impl Held {
    /// Holds the JSON alone.
    #[inline]
    pub fn json(json: Value) -> Self {
        Self {
            json,
            typed: OnceCell::new(),
        }
    }

    /// Holds the JSON of a value and, with `keep`, the value itself.
    ///
    /// # Errors
    ///
    /// Where JSON cannot hold the value; see [`encode`].
    #[doc(hidden)]
    pub fn value<T: Serialize + Send + 'static>(
        value: T,
        keep: bool,
    ) -> Result<Self, ResolveError> {
        let held = Self::of(&value)?;
        if keep {
            let _ = held.typed.set(Box::new(Box::new(value)));
        }
        Ok(held)
    }

    /// Holds the JSON of a value.
    ///
    /// # Errors
    ///
    /// Where JSON cannot hold the value; see [`encode`].
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ResolveError> {
        encode(value).map(Self::json)
    }

    /// The JSON.
    pub fn as_json(&self) -> &Value {
        &self.json
    }

    /// The JSON, without the Rust value.
    pub fn into_json(self) -> Value {
        self.json
    }

    /// The Rust value, where one of this type is kept.
    #[doc(hidden)]
    pub fn typed<T: 'static>(&self) -> Option<&T> {
        self.typed.get()?.downcast_ref()
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held")
            .field("json", &self.json)
            .field("typed", &self.typed.get().is_some())
            .finish()
    }
}

/// What a template can refer to: the inputs, the outputs so far, and the local values where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    plan: &'a Plan,
    inputs: &'a [Held],
    outputs: &'a [Option<Held>],
    locals: &'a [&'a Held],
}

impl<'a> Scope<'a> {
    /// The inputs and outputs of a run of `plan`, each in the plan's order. There are no local values.
    pub fn new(plan: &'a Plan, inputs: &'a [Held], outputs: &'a [Option<Held>]) -> Self {
        Self {
            plan,
            inputs,
            outputs,
            locals: &[],
        }
    }

    /// The same with these local values, the outermost first.
    #[doc(hidden)]
    #[must_use]
    pub fn with_locals(self, locals: &'a [&'a Held]) -> Self {
        Self { locals, ..self }
    }

    /// The plan that is being run.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    #[inline]
    fn held(&self, source: Source) -> Option<&'a Held> {
        match source {
            Source::Step(i) => self.outputs.get(i)?.as_ref(),
            Source::Input(i) => self.inputs.get(i),
            Source::Local(i) => self.locals.get(i).copied(),
        }
    }

    fn name_of(&self, source: Source) -> &'a str {
        match source {
            Source::Local(_) => "the local value",
            source => self.plan.name_of(source).unwrap_or("?"),
        }
    }

    /// The JSON of an input, of a local value, or of an output that is there.
    #[inline]
    pub fn json_of(&self, source: Source) -> Option<&'a Value> {
        self.held(source).map(|held| &held.json)
    }

    /// The Rust value of an input, an output or a local value: the one kept, or deserialised once.
    ///
    /// # Errors
    ///
    /// Where there is no output, where it does not deserialise, and where it is kept as a value of another type.
    #[doc(hidden)]
    pub fn value_of<T: DeserializeOwned + Send + 'static>(
        &self,
        source: Source,
    ) -> Result<&'a T, ResolveError> {
        let name = || self.name_of(source);
        let Some(held) = self.held(source) else {
            return Err(ResolveError::of(What::NoOutput).named_source(name()));
        };
        if held.typed.get().is_none() {
            let whole = InValue {
                value: &held.json,
                depth: 0,
            };
            let value = T::deserialize(whole).map_err(|e| e.read_whole(name()))?;
            let _ = held.typed.set(Box::new(Box::new(value)));
        }
        held.typed().ok_or_else(|| {
            ResolveError::new(format!(
                "`{}` is kept as a value of another type than `{}`",
                name(),
                describe::short(type_name::<T>())
            ))
        })
    }

    /// The Rust value that [`value_of`](Self::value_of) found before.
    ///
    /// # Panics
    ///
    /// Where it found none.
    #[doc(hidden)]
    #[must_use]
    pub fn known<T: 'static>(&self, source: Source) -> &'a T {
        let known = self.held(source).and_then(Held::typed);
        known.expect("a computed value looks for what it mentions first")
    }
}
