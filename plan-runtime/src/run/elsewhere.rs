//! The calls of a run on an engine, and its values, which the run computes itself.

use super::StepError;
use super::calling::{arguments_on, call_on, decided_on};
use super::context::CallContext;
use super::engine::Engine;
use super::start::{Request, Started};
use super::storing::{StepResult, once};
use crate::Call;
use crate::resolve::{Meter, StoredValue, drop_quietly, encode_within, from_json, resolve, settle};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::sync::Arc;

impl Request<'_> {
    /// Calls a tool through an engine. A plan runs here, and so does a tool that only waits.
    #[cold]
    pub(super) fn call_elsewhere<'x, T, A>(
        self,
        engine: &Arc<dyn Engine>,
        app: &'x A,
    ) -> Result<Started<'x>, StepError>
    where
        T: Call<A> + 'x,
        A: ?Sized,
    {
        let context = self.context(T::PLAN.is_some());
        let has_code = self.action.args.has_code();
        let request = Self {
            captured: None,
            ..self
        };
        let arguments = arguments_on(&**engine, has_code, &context, &mut || {
            // This check makes wrong arguments an error of the arguments, wherever the tool runs.
            match request.read::<T>()? {
                Some((_, arguments)) => Ok(arguments),
                None => Err(StepError::Unknown),
            }
        })?;
        let tool = from_json::<T>(&arguments)
            .map_err(|error| StepError::arguments(serde::de::Error::custom(error)))?;
        self.capture(&tool)?;
        let tool = match tool.plan_on(app) {
            Ok(plan) => {
                let plan = plan.settled(&arguments).keeping(self.keep);
                return Ok(Started::Plan(plan, context));
            }
            Err(tool) if T::WAITS => return Ok(self.call_in_context(tool, app)),
            Err(tool) => tool,
        };
        drop_quietly(tool);
        let fits = |value: &Value| from_json::<T::Output>(value).map(drop_quietly);
        self.have_called(engine, (T::NAME, &arguments), &context, fits)
    }

    /// Makes a call with these arguments through an engine.
    pub(super) fn have_called<'x>(
        self,
        engine: &Arc<dyn Engine>,
        call: (&str, &Value),
        context: &CallContext,
        fits: fn(&Value) -> Result<(), serde_json::Error>,
    ) -> Result<Started<'x>, StepError> {
        let future = call_on(&**engine, call, context, fits, self.scope.room())?;
        Ok(Started::Running(once(future)))
    }

    /// Computes a value for a run on an engine, which remembers it if Rust code makes it.
    #[cold]
    pub(super) fn compute_once<T>(self, engine: &Arc<dyn Engine>) -> StepResult
    where
        T: Serialize + DeserializeOwned,
    {
        let meter = self.scope.meter().map(Meter::again);
        let mut compute = || {
            let value: T = resolve(&self.action.args, self.scope).map_err(StepError::arguments)?;
            encode_within(&value, meter.as_ref()).map_err(StepError::output)
        };
        let decided = if self.action.args.has_code() {
            decided_on(&**engine, self.context(false).key(), &mut compute)
        } else {
            compute().and_then(|made| {
                let given: Value =
                    resolve(&self.action.args, self.scope).map_err(StepError::arguments)?;
                Ok(settle(&given, made))
            })
        };
        let value = decided?;
        let fits = from_json::<T>(&value).map(drop_quietly);
        fits.map_err(|error| StepError::output(serde::de::Error::custom(error)))?;
        StoredValue::made(value, self.scope.room()).map_err(StepError::output)
    }
}
