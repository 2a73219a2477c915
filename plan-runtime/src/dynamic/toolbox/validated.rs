//! Calls whose arguments and outputs fit the JSON Schemas of their tools.

use super::{Implementation, Toolbox, mismatches};
use crate::dynamic::validation::Validators;
use crate::dynamic::{Contract, Contracts};
use crate::resolve::ResolveError;
use crate::run::StepError;
use crate::run::start::{Request, Started};
use crate::{Error, Result};
use std::sync::Arc;

impl<App: ?Sized> Toolbox<App> {
    /// Compiles the JSON Schemas of all tools, and validates the arguments and the output of each call. Call this method after you have added all
    /// tools.
    ///
    /// Without this method, the check of a plan and the check before a call know a part of JSON Schema, and no check reads outputs. With this
    /// method, all of JSON Schema 2020-12 applies, or the draft that `$schema` names: `pattern`, `uniqueItems`, `contains`, `if`, `dependentSchemas`,
    /// `unevaluatedProperties`, and so on. `format` is checked as well; unknown formats are ignored.
    ///
    /// A violation fails the step, like an error of the tool. Other attempts would fail as well, so a `retry` does not repeat the call. `optional`
    /// and fallbacks apply. The undo step of the failed step does not run, because the step has no output. The message contains the JSON Pointer of the value and the keyword, and no values. If
    /// the value may be secret, the message contains neither.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use serde_json::json;
    ///
    /// let pay = Contract::new("pay")
    ///     .arguments(json!({"type": "object", "properties": {"iban": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}"}}}))
    ///     .output(json!({"type": "object", "properties": {"cents": {"multipleOf": 5}}}));
    /// let toolbox = Toolbox::<()>::new()
    ///     .with_fn(pay, |_| async { Ok(json!({"cents": 7})) })
    ///     .with_validation()?;
    ///
    /// let call = |iban| smol::block_on(toolbox.call("pay", json!({"iban": iban}), &())).unwrap_err().to_string();
    /// assert_eq!(
    ///     call("12345"),
    ///     "plan `pay` failed: step `called` (pay): the arguments are invalid: \
    ///      at `/iban`: the value does not match \"^[A-Z]{2}[0-9]{2}\" (`pattern` in the schema of `pay`)"
    /// );
    /// assert_eq!(
    ///     call("DE99123"),
    ///     "plan `pay` failed: step `called` (pay): its output is invalid: \
    ///      at `/cents`: the value is not a multiple of 5 (`multipleOf` in the schema of `pay`)"
    /// );
    /// # Ok::<(), plan_runtime::Error>(())
    /// ```
    ///
    /// # Scope
    ///
    /// - The toolbox validates the calls of all its runs, of [`call`](Self::call), [`perform`](Self::perform) and [`submitted`](Self::submitted).
    ///   [`check_arguments`](Self::check_arguments) reports the first violation.
    /// - Arguments with a value that Rust code of a `plan!` computes are checked only by the type of the tool. The calls inside a tool that is a plan of `plan!` are not validated, because rustc has checked
    ///   the plan. The inputs and the output of this plan are validated.
    /// - If a durable run resumes, recorded outputs are validated like new outputs, because the schema may have changed. If an output violates the
    ///   schema, the run does not resume, as for an output of another type.
    ///
    /// # Cost
    ///
    /// The toolbox compiles each schema once. A call costs one walk through its arguments and one through its output. For a Rust tool, the run
    /// also writes the arguments as JSON. Each call of a `for` writes its own JSON, including the values that all calls have in common. Validation happens on the thread of the run. Without this method, the feature costs nothing at run time.
    ///
    /// # Limits
    ///
    /// A schema is one document. A `$ref` to another document, an unknown `$schema` and a nested `$id` are errors; nothing is fetched. Patterns match in linear time, so patterns with lookaround or
    /// backreferences are errors. [Limits](crate::guide::limits#documents) bound the schemas and the work of a validation.
    ///
    /// # Errors
    ///
    /// Returns an error with every schema that is invalid or exceeds a limit.
    pub fn with_validation(mut self) -> Result<Self> {
        let mut invalid = Vec::new();
        let tools = self.contracts.iter();
        let compiled = tools.map(|contract| {
            let schemas = (contract.arguments.as_ref(), contract.output.as_ref());
            let validators = Validators::of(&contract.name, schemas, &mut invalid);
            (contract.name.clone(), validators)
        });
        let compiled = compiled.collect();
        if !invalid.is_empty() {
            return Err(Error::permanent(invalid.join("; ")));
        }
        self.contracts.validators = Some(compiled);
        Ok(self)
    }
}

impl<App: ?Sized> Implementation<App> {
    /// Starts a call whose arguments and output are validated.
    pub(super) fn start_validated<'x>(
        &self,
        request: Request<'_>,
        app: &'x App,
        known: (&Contract, &Contracts),
        validators: &Arc<Validators>,
    ) -> Started<'x> {
        if let Some(recorded) = request.recorded()
            && let Err(error) = validators.output(recorded)
        {
            return Started::Ended(Err(StepError::output(error)));
        }
        let started = match self {
            // The call itself checks the arguments.
            Self::Json(_) => self.call(request, app, known),
            Self::Typed(..) => self.start_typed(request, app, known),
        };
        let validators = Arc::clone(validators);
        started.checking(move |output| validators.output(output))
    }

    fn start_typed<'x>(
        &self,
        request: Request<'_>,
        app: &'x App,
        known: (&Contract, &Contracts),
    ) -> Started<'x> {
        // A run on an engine records the values of Rust code, so no other part may compute them.
        let is_checked = known.0.arguments.is_some() && !request.action().args.has_code();
        if !is_checked || request.recorded().is_some() {
            return self.call(request, app, known);
        }
        let arguments = match request.arguments_as_json() {
            Ok(arguments) => arguments,
            Err(error) => return Started::Ended(Err(error)),
        };
        let mismatches = mismatches(known.0, known.1, &arguments);
        if !mismatches.is_empty() {
            let error = ResolveError::new(mismatches.join("; "));
            return Started::Ended(Err(StepError::arguments(error)));
        }
        match self.call(request.with_arguments(&arguments), app, known) {
            // Only the references of the plan tell which argument is wrong.
            Started::Ended(Err(StepError::Arguments(_))) => self.call(request, app, known),
            started => started,
        }
    }
}
