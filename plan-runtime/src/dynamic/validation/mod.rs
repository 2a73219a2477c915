//! Compiled JSON Schemas of tools, which validate the arguments and the output of each call.

mod cost;

use crate::print::{MessageName, some_of};
use crate::resolve::ResolveError;
use crate::resolve::describe::short;
use cost::{Cost, Size};
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Bytes of a compiled regular expression. Its automaton reads a byte in at most 5 µs.
const MOST_PATTERN: usize = 128 << 10;

/// The compiled schemas of a tool.
pub(crate) struct Validators {
    arguments: Option<Validator>,
    output: Option<Validator>,
}

struct Validator {
    /// The end of a message: the tool of the schema.
    origin: String,
    schema: jsonschema::Validator,
    cost: Cost,
}

impl Validators {
    /// Compiles the schemas of a tool, and adds a message for each invalid schema.
    pub(super) fn of(
        name: &str,
        (arguments, output): (Option<&Value>, Option<&Value>),
        invalid: &mut Vec<String>,
    ) -> Arc<Self> {
        let mut compile = |part: &str, schema: Option<&Value>| {
            let compiled = schema.map(|schema| Validator::of(name, schema));
            compiled.transpose().unwrap_or_else(|why| {
                let tool = MessageName(name);
                invalid.push(format!("the schema of the {part} of `{tool}` {why}"));
                None
            })
        };
        Arc::new(Self {
            arguments: compile("arguments", arguments),
            output: compile("output", output),
        })
    }

    /// Returns the first violation of the schema of the arguments. `precise` returns messages for common violations.
    pub(crate) fn arguments(
        &self,
        arguments: &Value,
        precise: impl FnOnce() -> Vec<String>,
    ) -> Vec<String> {
        match self.arguments.as_ref().map(|it| it.check(arguments)) {
            None | Some(Ok(())) => Vec::new(),
            Some(Err(why)) => match precise() {
                messages if messages.is_empty() => {
                    vec![format!("the arguments are invalid: {why}")]
                }
                messages => messages,
            },
        }
    }

    /// Returns an error if an output violates its schema.
    pub(crate) fn output(&self, output: &Value) -> Result<(), ResolveError> {
        let checked = self.output.as_ref().map_or(Ok(()), |it| it.check(output));
        checked.map_err(ResolveError::new)
    }
}

impl fmt::Debug for Validators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validators")
    }
}

impl Validator {
    fn of(tool: &str, schema: &Value) -> Result<Self, String> {
        let cost = Cost::of(schema)?;
        let compiled = jsonschema::options()
            // Another crate in the program may enable the features that read files and addresses.
            .offline()
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex().size_limit(MOST_PATTERN))
            .build(schema);
        let schema = compiled.map_err(|error| match error.kind() {
            Kind::Format { format } if format == "regex" => {
                let at = short(error.instance_path().as_str());
                format!(
                    "has a pattern at `{at}` that is too large, or that a linear search cannot match"
                )
            }
            _ => format!("is invalid: {}", words(&error, "")),
        })?;
        Ok(Self {
            origin: format!(" in the schema of `{}`", MessageName(tool)),
            schema,
            cost,
        })
    }

    /// Returns the first violation.
    fn check(&self, value: &Value) -> Result<(), String> {
        let size = Size::of(value);
        if let Some(much) = self.cost.exceeded(&size) {
            return Err(format!("the value is too {much} to be validated"));
        }
        if self.schema.is_valid(value) {
            return Ok(());
        }
        let violation = || self.schema.validate(value).err();
        let violation = self.cost.allows_details(&size).then(violation).flatten();
        Err(match violation {
            Some(error) => words(&error, &self.origin),
            None => format!("the value is not allowed{}", self.origin),
        })
    }
}

/// Returns the position of a violation, its description without values, and its keyword.
fn words(error: &ValidationError<'_>, origin: &str) -> String {
    let what = violation(error);
    let keyword = match error.kind() {
        Kind::FalseSchema => "false",
        Kind::PropertyNames { .. } => "propertyNames",
        _ => error
            .schema_path()
            .as_str()
            .rsplit('/')
            .next()
            .unwrap_or_default(),
    };
    let keyword = match keyword {
        "" => String::new(),
        keyword => format!(" (`{}`{origin})", short(keyword)),
    };
    match error.instance_path().as_str() {
        "" => format!("{what}{keyword}"),
        at => format!("at `{}`: {what}{keyword}", short(at)),
    }
}

/// Describes a violation. The names of members are the only parts of the value in the description.
fn violation(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!(
                "the object has members that are not allowed: {}",
                some_of(unexpected)
            )
        }
        Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } => {
            "the list has more elements than allowed".to_owned()
        }
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            "the value fits no alternative".to_owned()
        }
        Kind::OneOfMultipleValid { .. } => "the value fits several alternatives".to_owned(),
        Kind::Contains => "the list has too few or too many elements of a kind".to_owned(),
        Kind::FalseSchema => "no value is allowed".to_owned(),
        Kind::Not { .. } => "the value is forbidden".to_owned(),
        Kind::PropertyNames { error } => {
            format!("the name of a member is invalid: {}", violation(error))
        }
        Kind::Required { property } => {
            format!(
                "the member `{}` is missing",
                short(property.as_str().unwrap_or_default())
            )
        }
        Kind::UniqueItems => "the list has equal elements".to_owned(),
        _ => error.masked_with("the value").to_string(),
    }
}
