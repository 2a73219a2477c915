//! Requests to start an action.

use super::StepError;
use super::context::CallContext;
use super::engine::Engine;
use super::mock::Known;
use crate::Tool;
use crate::plan::{Action, Keep};
use crate::resolve::{
    Arguments, ErrorKind, Handed, MemoryBudget, Meter, ResolveError, Scope, encode_within,
    from_json,
};
use crate::shape::Secrets;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::Cell;
use std::sync::Arc;

/// The purpose of a request.
#[derive(Clone, Copy)]
pub(super) enum Mode<'s> {
    /// To call.
    Call,
    /// To call later than the future is made: the journal or a throttle does not allow the call yet.
    Later,
    /// To ask gates about the call.
    Question,
    /// To check the type of this recorded output.
    Recorded(&'s Value),
    /// To have the engine make the call.
    Elsewhere(&'s Arc<dyn Engine>),
}

/// A request to start an action, with the scope of the action.
#[derive(Clone, Copy)]
pub struct Request<'s> {
    pub(super) scope: &'s Scope<'s>,
    pub(super) action: &'s Action,
    /// The cell for the resolved arguments as JSON.
    pub(super) captured: Option<&'s Cell<Option<Value>>>,
    /// Makes the context of the call. The argument is `true` if the tool is a plan.
    pub(super) context: Option<&'s dyn Fn(bool) -> CallContext>,
    pub(super) mode: Mode<'s>,
    /// The arguments that gates were shown.
    pub(super) shown: Option<&'s Value>,
    /// The values that are handed over to the action.
    pub(super) given: Option<&'s Handed>,
    /// The form of the stored output.
    pub(super) keep: Keep,
    /// The secrets among the arguments, if the plan has secrets.
    pub(super) secret: Option<&'s Secrets>,
    /// The answers of the mock around the plan.
    pub(super) known: Option<&'s Arc<Known>>,
}

impl<'s> Request<'s> {
    /// Creates a request to start an action of the plan in `scope`.
    pub fn new(scope: &'s Scope<'s>, action: &'s Action) -> Self {
        Self {
            scope,
            action,
            captured: None,
            context: None,
            mode: Mode::Call,
            shown: None,
            given: None,
            keep: Keep::Json,
            secret: None,
            known: None,
        }
    }

    /// Replaces the action, whose arguments are in an equivalent form.
    pub(crate) fn with_action(self, action: &'s Action) -> Self {
        Self { action, ..self }
    }

    /// Sets the resolved arguments.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn with_arguments(self, arguments: &'s Value) -> Self {
        Self {
            shown: Some(arguments),
            ..self
        }
    }

    /// Returns the recorded output whose type the request checks.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn recorded(&self) -> Option<&'s Value> {
        match self.mode {
            Mode::Recorded(output) => Some(output),
            _ => None,
        }
    }

    /// Returns the secrets among the arguments.
    pub(super) fn secrets(&self) -> Secrets {
        let tool = self.action.tool.as_ref();
        let secret = self.secret.or(tool.map(|tool| &tool.secret_arguments));
        secret.cloned().unwrap_or_default()
    }

    /// Returns `true` if the request is to call, and nothing else.
    #[inline]
    pub(super) fn is_only_a_call(&self) -> bool {
        let is_more = self.captured.is_some() | self.shown.is_some();
        !is_more & matches!(self.mode, Mode::Call)
    }

    /// Returns how the output is kept, and the room for the output.
    #[inline]
    pub(super) fn kept(&self) -> (Keep, MemoryBudget) {
        (self.keep, self.scope.room())
    }

    /// Resolves the arguments of a call to a tool.
    #[inline]
    pub(super) fn arguments<T: Tool>(&self) -> Result<T, StepError> {
        self.arguments_with(|| T::take(&Arguments::new(&self.action.args, self.scope, self.given)))
    }

    /// Resolves the arguments of a call as JSON.
    pub(crate) fn arguments_as_json(&self) -> Result<Value, StepError> {
        self.arguments_with(|| {
            Arguments::new(&self.action.args, self.scope, self.given).read_json()
        })
    }

    /// Returns the arguments of a call. `make` resolves the arguments unless gates were shown them.
    #[inline]
    pub(super) fn arguments_with<T: DeserializeOwned>(
        &self,
        make: impl FnOnce() -> Result<T, ResolveError>,
    ) -> Result<T, StepError> {
        let arguments = match self.shown {
            None => make(),
            Some(shown) => from_json(shown).map_err(serde::de::Error::custom),
        };
        let arguments = arguments.map_err(StepError::arguments)?;
        match self.scope.check_arguments() {
            Ok(()) => Ok(arguments),
            Err(error) => Err(StepError::arguments(error)),
        }
    }

    /// Reads the tool and its arguments. Returns `None` if the request is for the question to gates.
    pub(super) fn read<T: Tool>(&self) -> Result<Option<(T, Value)>, StepError> {
        let asks = matches!(self.mode, Mode::Question);
        if asks && T::PLAN.is_some() {
            return Ok(None);
        }
        let arguments: Value = self.arguments_as_json()?;
        let tool = match from_json::<T>(&arguments) {
            Ok(tool) => tool,
            // Only a second read, from the plan, finds the wrong argument.
            Err(_) => self.arguments()?,
        };
        if asks {
            return Ok(None);
        }
        self.capture(&tool)?;
        Ok(Some((tool, arguments)))
    }

    /// Stores the arguments for the report, if the report contains arguments.
    pub(super) fn capture<T: Tool>(&self, tool: &T) -> Result<(), StepError> {
        if let Some(captured) = self.captured {
            let meter = self.scope.meter().map(Meter::again);
            match encode_within(tool, meter.as_ref()) {
                Err(error) if stops(&error) => return Err(StepError::arguments(error)),
                arguments => captured.set(arguments.ok()),
            }
        }
        Ok(())
    }

    /// Returns the context of the call.
    pub(super) fn context(&self, is_plan: bool) -> CallContext {
        self.context
            .map_or_else(CallContext::default, |make| make(is_plan))
    }

    /// Returns the action.
    pub fn action(&self) -> &'s Action {
        self.action
    }

    /// Returns the scope of the action.
    pub fn scope(&self) -> &'s Scope<'s> {
        self.scope
    }
}

/// Returns `true` if an error ends all work.
fn stops(error: &ResolveError) -> bool {
    matches!(error.kind(), ErrorKind::Limit | ErrorKind::Interrupted)
}
