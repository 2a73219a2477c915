//! The scope in which a template finds the values that it refers to.

use super::error::ErrorDetail;
use super::meter::{MemoryBudget, Meter, charge_value};
use super::{ResolveError, StoredValue, describe, encode_within};
use crate::plan::{Plan, Source};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::type_name;

/// Everything that a template can refer to: the inputs, the outputs so far, and the local values around it.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    plan: &'a Plan,
    inputs: &'a [StoredValue],
    outputs: &'a [Option<StoredValue>],
    locals: &'a [&'a StoredValue],
    /// Those that nobody else is to read, so that they are given away.
    given: &'a [(Source, StoredValue)],
    meter: Option<&'a Meter<'a>>,
}

impl<'a> Scope<'a> {
    /// The inputs and outputs of a run of `plan`, each in the plan's order. There are no local values.
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

    /// The same with these local values, the outermost first.
    #[doc(hidden)]
    #[must_use]
    pub fn with_locals(self, locals: &'a [&'a StoredValue]) -> Self {
        Self { locals, ..self }
    }

    /// The same, with these values, which were taken from their places.
    pub(crate) fn with_given<'g>(&self, given: &'g [(Source, StoredValue)]) -> Scope<'g>
    where
        'a: 'g,
    {
        Scope { given, ..*self }
    }

    /// The same, in which this meter counts what is made.
    pub(crate) fn metered(self, meter: &'a Meter<'a>) -> Self {
        Self {
            meter: Some(meter),
            ..self
        }
    }

    /// What counts what is made, if something does.
    #[inline]
    pub(crate) fn meter(&self) -> Option<&'a Meter<'a>> {
        self.meter
    }

    /// Whether what was made so far may be the arguments of a call.
    #[inline]
    pub(crate) fn check_arguments(&self) -> Result<(), ResolveError> {
        match self.meter {
            Some(meter) => meter.room().check_arguments(meter.spent()),
            None => Ok(()),
        }
    }

    /// How much room there is for what a tool gives.
    #[inline]
    pub(crate) fn room(&self) -> MemoryBudget {
        self.meter
            .map_or(MemoryBudget::UNLIMITED, |meter| meter.room().of_one())
    }

    /// The JSON of a computed value, as far as there is room.
    pub(crate) fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<Value, ResolveError> {
        encode_within(value, self.meter)
    }

    /// Counts a value that was made without a meter.
    pub(crate) fn charge(&self, value: &Value) -> Result<(), ResolveError> {
        charge_value(self.meter, value)
    }

    /// The plan that is being run.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    #[inline]
    pub(super) fn stored(&self, source: Source) -> Option<&'a StoredValue> {
        // A value that was taken from its place is not there.
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

    /// The JSON of an input, of a local value, or of an output that is there.
    ///
    /// # Errors
    ///
    /// As those of [`StoredValue::as_json`].
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

    /// The Rust value of an input, an output or a local value: the one kept, or deserialized once.
    ///
    /// # Errors
    ///
    /// If there is no output, if it cannot be deserialized, or if it was read as a value of another type.
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

    /// The Rust value that [`value_of`](Self::value_of) found before.
    ///
    /// # Panics
    ///
    /// Where it found none.
    #[doc(hidden)]
    #[must_use]
    pub fn known<T: 'static>(&self, source: Source) -> &'a T {
        let known = self.stored(source).and_then(StoredValue::typed::<T>);
        known.expect("a computed value looks for what it mentions first")
    }
}
