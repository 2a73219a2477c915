//! The scope of a template: the values that it can refer to.

use super::error::ErrorDetail;
use super::meter::{MemoryBudget, Meter, charge_value};
use super::{ResolveError, StoredValue, describe, encode_within};
use crate::plan::{Plan, Source};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::type_name;

/// The values that a template can refer to: the inputs, the outputs so far, and the local values in scope.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    plan: &'a Plan,
    inputs: &'a [StoredValue],
    outputs: &'a [Option<StoredValue>],
    locals: &'a [&'a StoredValue],
    /// The values without another reader, which a reader can take.
    given: &'a [(Source, StoredValue)],
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Scope<'a> {
    /// Creates a scope with the inputs and outputs of a run of `plan`, each in the plan's order, and without local
    /// values.
    pub fn new(
        plan: &'a Plan,
        inputs: &'a [StoredValue],
        outputs: &'a [Option<StoredValue>],
    ) -> Self {
        Self {
            plan,
            inputs,
            outputs,
            locals: &[],
            given: &[],
            meter: None,
        }
    }

    /// Adds these local values, the outermost first.
    #[doc(hidden)]
    #[must_use]
    pub fn with_locals(self, locals: &'a [&'a StoredValue]) -> Self {
        Self { locals, ..self }
    }

    /// Adds these values, which were taken from their sources.
    pub(crate) fn with_given<'g>(&self, given: &'g [(Source, StoredValue)]) -> Scope<'g>
    where
        'a: 'g,
    {
        Scope { given, ..*self }
    }

    /// Adds a meter for new values.
    pub(crate) fn metered(self, meter: &'a Meter<'a>) -> Self {
        Self {
            meter: Some(meter),
            ..self
        }
    }

    /// Returns the meter of new values, if the scope has one.
    #[inline]
    pub(crate) fn meter(&self) -> Option<&'a Meter<'a>> {
        self.meter
    }

    /// Returns an error if the values so far exceed the limit on a call's arguments.
    #[inline]
    pub(crate) fn check_arguments(&self) -> Result<(), ResolveError> {
        match self.meter {
            Some(meter) => meter.room().check_arguments(meter.spent()),
            None => Ok(()),
        }
    }

    /// Returns the budget for a tool's output.
    #[inline]
    pub(crate) fn room(&self) -> MemoryBudget {
        self.meter
            .map_or(MemoryBudget::UNLIMITED, |meter| meter.room().of_one())
    }

    /// Converts a computed value to JSON, within the memory budget.
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<Value, ResolveError> {
        encode_within(value, self.meter)
    }

    /// Counts a value that was made without a meter.
    pub(crate) fn charge(&self, value: &Value) -> Result<(), ResolveError> {
        charge_value(self.meter, value)
    }

    /// Returns the plan of the run.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    #[inline]
    pub(super) fn stored(&self, source: Source) -> Option<&'a StoredValue> {
        // A value that was taken from `outputs` is not in `outputs`.
        if let Source::Step(i) = source
            && let Some(Some(output)) = self.outputs.get(i)
        {
            return Some(output);
        }
        if !self.given.is_empty()
            && let Some((_, given)) = self.given.iter().find(|(of, _)| *of == source)
        {
            return Some(given);
        }
        match source {
            Source::Step(_) => None,
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

    /// Returns the JSON of an input, of a local value, or of an existing output.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`StoredValue::as_json`].
    #[inline]
    pub fn json_of(&self, source: Source) -> Result<Option<&'a Value>, ResolveError> {
        match self.stored(source) {
            Some(stored) => stored.json_within(self.meter).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the JSON of a source, if there is any.
    #[inline(always)]
    pub(super) fn json_if_there(&self, source: Source) -> Option<&'a Value> {
        let stored = self.stored(source)?;
        match stored.plain_json() {
            Some(json) => Some(json),
            None => stored.json_within(self.meter).ok(),
        }
    }

    /// Returns the Rust value of an input, an output or a local value, which is stored or deserialized once.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no output, if the output cannot be deserialized, or if it was read as a value of
    /// another type.
    #[doc(hidden)]
    pub fn value_of<T: DeserializeOwned + Send + 'static>(
        &self,
        source: Source,
    ) -> Result<&'a T, ResolveError> {
        let name = || self.name_of(source);
        let Some(stored) = self.stored(source) else {
            return Err(ResolveError::of(ErrorDetail::NoOutput).named_source(name()));
        };
        let value = stored.read(self.meter).map_err(|e| e.read_whole(name()))?;
        value.ok_or_else(|| {
            ResolveError::new(format!(
                "`{}` is read as a value of another type than `{}`",
                name(),
                describe::short(type_name::<T>())
            ))
        })
    }

    /// Returns the Rust value that [`value_of`](Self::value_of) found before.
    ///
    /// # Panics
    ///
    /// Panics if that method found no value.
    #[doc(hidden)]
    #[must_use]
    pub fn known<T: 'static>(&self, source: Source) -> &'a T {
        let known = self.stored(source).and_then(StoredValue::typed::<T>);
        known.expect("a computed value looks for what it mentions first")
    }
}
