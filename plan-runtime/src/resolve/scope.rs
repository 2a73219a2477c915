//! Values that references read, and the scope in which a template finds them.

use super::error::ErrorDetail;
use super::meter::{MemoryBudget, Meter, charge_value};
use super::value::InValue;
use super::{ResolveError, describe, encode, encode_within};
use crate::plan::{Plan, Source};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::any::{Any, type_name};
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value that references read: its JSON and, where computed values mention it, its Rust value.
pub struct StoredValue {
    json: Value,
    /// Boxed twice, since nearly all have none: so it takes one word.
    typed: RustValue,
    /// What it counts towards the limits of a run.
    bytes: usize,
}

/// A Rust value that is kept. What its destructor panics about is lost: nothing reads the value any more.
#[derive(Default)]
struct RustValue(OnceCell<Box<Box<dyn Any + Send>>>);

impl Drop for RustValue {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(value);
        }
    }
}

impl StoredValue {
    /// Holds the JSON alone.
    #[inline]
    pub fn json(json: Value) -> Self {
        Self::weighed(json, 0)
    }

    /// Holds the JSON alone, which counts `bytes`.
    #[inline]
    pub(crate) fn weighed(json: Value, bytes: usize) -> Self {
        Self {
            json,
            typed: RustValue::default(),
            bytes,
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
        Self::metered(value, keep, &Meter::new(MemoryBudget::UNLIMITED, None))
    }

    /// As [`value`](Self::value), as far as a meter goes.
    pub(crate) fn metered<T: Serialize + Send + 'static>(
        value: T,
        keep: bool,
        meter: &Meter<'_>,
    ) -> Result<Self, ResolveError> {
        let before = meter.spent();
        let json = encode_within(&value, Some(meter))?;
        let stored = Self::weighed(json, meter.spent() - before);
        if keep {
            let _ = stored.typed.0.set(Box::new(Box::new(value)));
        }
        Ok(stored)
    }

    /// Holds JSON that somebody else made, where there is no more room than this.
    pub(crate) fn made(json: Value, room: MemoryBudget) -> Result<Self, ResolveError> {
        let meter = Meter::new(room, None);
        meter.charge_value(&json)?;
        Ok(Self::weighed(json, meter.spent()))
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

    /// What it counts towards the limits of a run.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The Rust value, where one of this type is kept.
    #[doc(hidden)]
    pub fn typed<T: 'static>(&self) -> Option<&T> {
        self.typed.0.get()?.downcast_ref()
    }
}

impl std::fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredValue")
            .field("json", &self.json)
            .field("typed", &self.typed.0.get().is_some())
            .finish()
    }
}

/// Drops what has a destructor of the author's, which may panic. So may that of the panic's payload, which is left alone then.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
    {
        std::mem::forget(payload);
    }
}

/// Everything that a template can refer to: the inputs, the outputs so far, and the local values around it.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    plan: &'a Plan,
    inputs: &'a [StoredValue],
    outputs: &'a [Option<StoredValue>],
    locals: &'a [&'a StoredValue],
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
            meter: None,
        }
    }

    /// The same with these local values, the outermost first.
    #[doc(hidden)]
    #[must_use]
    pub fn with_locals(self, locals: &'a [&'a StoredValue]) -> Self {
        Self { locals, ..self }
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
    fn stored(&self, source: Source) -> Option<&'a StoredValue> {
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
        self.stored(source).map(|stored| &stored.json)
    }

    /// The Rust value of an input, an output or a local value: the one kept, or deserialized once.
    ///
    /// # Errors
    ///
    /// If there is no output, if it cannot be deserialized, or if it is kept as a value of another type.
    #[doc(hidden)]
    pub fn value_of<T: DeserializeOwned + Send + 'static>(
        &self,
        source: Source,
    ) -> Result<&'a T, ResolveError> {
        let name = || self.name_of(source);
        let Some(stored) = self.stored(source) else {
            return Err(ResolveError::of(ErrorDetail::NoOutput).named_source(name()));
        };
        if stored.typed.0.get().is_none() {
            let whole = InValue::whole(&stored.json, self.meter);
            let value = T::deserialize(whole).map_err(|e| e.read_whole(name()))?;
            let _ = stored.typed.0.set(Box::new(Box::new(value)));
        }
        stored.typed().ok_or_else(|| {
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
        let known = self.stored(source).and_then(StoredValue::typed);
        known.expect("a computed value looks for what it mentions first")
    }
}
