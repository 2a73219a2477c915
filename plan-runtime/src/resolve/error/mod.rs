//! Errors of resolving a template, with the argument, the reference and the pointer.

mod message;
mod parts;
mod raised;

use super::describe;
use crate::failure::Failure;
use crate::plan::{Reference, written};
use crate::shape::MASK;
use serde::de::{Expected, Unexpected};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::error::Error as StdError;
use std::fmt;

/// The error of a template that could not be resolved, or of a value without JSON.
///
/// The error contains the argument, the reference, the end of the pointer's path, and the value found there:
///
/// ```
/// use plan_runtime::plan::Source;
/// use plan_runtime::Plan;
/// use plan_runtime::resolve::{StoredValue, Scope, resolve};
///
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
///     {"id": "inbox", "tool": {"name": "fetch"}},
///     {"id": "sent", "tool": {"name": "reply"}, "arguments": {"object": {"to":
///         {"reference": {"step": "inbox", "pointer": "/data/0", "written": "inbox.data[0]"}}}}}
/// ]}"#)?;
/// let outputs = [Some(StoredValue::json(serde_json::json!({"data": []}))), None];
/// let scope = Scope::new(&plan, &[], &outputs);
/// let error = resolve::<serde_json::Value>(&plan.steps[1].action().unwrap().args, &scope).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument `to`: `inbox` has 0 elements at `/data`, so the list has no element 0 (reference `inbox.data[0]`)"
/// );
/// assert_eq!(error.reached().unwrap().as_str(), "/data");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct ResolveError(Box<Inner>);

struct Inner {
    what: ErrorDetail,
    /// The position in the argument, the innermost part first, in the order in which errors are completed.
    argument: Vec<Location>,
    /// Reference tokens, unescaped, innermost first.
    pointer: Vec<String>,
    /// The number of the pointer's tokens beyond the last existing value.
    beyond: usize,
    /// The input that contains the value, before the start of the plan.
    input: Option<String>,
    /// The role of the value in its step, unless the value is the arguments.
    part: Option<&'static str>,
    source: Option<String>,
    reference: Option<String>,
    computed: Option<String>,
    found: Option<FoundValue>,
    /// Set if the error must show no value, since one of them is secret.
    is_hushed: bool,
}

pub(crate) use raised::Raised;

/// An error may name itself as its cause.
pub(crate) const MOST_CAUSES: usize = 50;

/// The value in place of the expected one.
enum FoundValue {
    Absent,
    /// A description of the value.
    Value(String),
}

/// A part of the path to an argument.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Location {
    Key(String),
    Index(usize),
}

pub(super) enum ErrorDetail {
    /// The object lacks the member. The strings describe its members.
    NoMember {
        known: String,
    },
    /// A list is too short.
    NoElement {
        length: usize,
    },
    /// The value has no parts, or no part with such a name.
    NoInside,
    /// `[..]` on a value that is not a list.
    NoList,
    /// A flattened value that is not an object.
    NoObject,
    /// The value has another type. `expected` is serde's description of the right type.
    Type {
        message: String,
        expected: String,
    },
    /// A member that deserializing needs is missing.
    Needed(String),
    NoOutput,
    /// The referenced step failed, and its failure was caught.
    Failed(Box<Failure>),
    /// A `?` in a computed value met this error.
    Raised {
        /// The message, with its causes.
        message: String,
        error: Box<dyn StdError + Send + Sync>,
    },
    NotExecutable,
    /// The value at the pointer cannot be held as JSON.
    Encode(String),
    TooDeep,
    /// A limit of the run was exceeded.
    Limit(Limit),
    /// No time was left.
    Interrupted,
    Other(String),
}

/// A limit of a run, with its maximum. [`run::Limits`](crate::run::Limits) documents each limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Value(usize),
    Arguments(usize),
    Total(usize),
    TotalOfMany(usize),
    Calls(usize),
    Attempts(usize),
    Elements(usize),
    Depth(usize),
    Recorded(usize),
}

/// The kind of an error, without its position and cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The target of a reference is missing.
    Missing,
    /// The pointer continues after a value that has no parts, or no parts of this kind.
    NotInside,
    /// An optional reference is absent, and its argument is required.
    Absent,
    /// A value does not fit its argument.
    Type,
    /// A required argument is missing.
    MissingArgument,
    /// The step of a reference has no output, or its input has no value.
    NoOutput,
    /// A step that is referred to failed: its output is a caught [`Failure`](crate::Failure).
    Failed,
    /// A `?` in a computed value met an error, which is the [source](std::error::Error::source) of this one.
    Value,
    /// A computed value of a plan that was read from JSON has no code.
    NotExecutable,
    /// JSON cannot represent a value (NaN, a map key that is not a string, an integer beyond 64 bits …).
    NotJson,
    /// A value or a template is nested too deep.
    TooDeep,
    /// A [limit](crate::run::Limits) of the run was exceeded.
    Limit,
    /// The time of the run or of the attempt was over, or the run was cancelled.
    Interrupted,
    /// Any other error, such as an error of a `Deserialize` implementation.
    Other,
}

impl ErrorDetail {
    /// Creates the error for the JSON of a caught failure.
    pub(super) fn failed(failure: &Value) -> Self {
        let failure = Failure::deserialize(failure);
        Self::Failed(Box::new(failure.unwrap_or_else(|_| Failure::unclear())))
    }
}

impl ResolveError {
    /// Creates the error of a `?` in a computed value.
    pub(crate) fn raised(message: String, error: Box<dyn StdError + Send + Sync>) -> Self {
        Self::of(ErrorDetail::Raised { message, error })
    }

    /// Returns the caught failure behind the error: the failure of the step that a reference reads, or a failure that
    /// reached a `?`.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        match &self.0.what {
            ErrorDetail::Failed(failure) => Some(failure),
            ErrorDetail::Raised { error, .. } => {
                let first: &(dyn StdError + 'static) = &**error;
                std::iter::successors(Some(first), |error| (**error).source())
                    .take(MOST_CAUSES)
                    .find_map(|error| error.downcast_ref())
            }
            _ => None,
        }
    }

    /// Creates an error with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::of(ErrorDetail::Other(message.into()))
    }

    /// Creates the error of an exceeded limit.
    pub(crate) fn limit(limit: Limit) -> Self {
        Self::of(ErrorDetail::Limit(limit))
    }

    /// Adds the role of the value in its step.
    pub(crate) fn of_part(mut self, part: &'static str) -> Self {
        self.0.part = Some(part);
        self
    }

    /// Returns the exceeded limit of the run, if the error is about a limit.
    pub(crate) fn exceeded(&self) -> Option<Limit> {
        match self.0.what {
            ErrorDetail::Limit(limit) => Some(limit),
            _ => None,
        }
    }

    pub(super) fn of(what: ErrorDetail) -> Self {
        Self(Box::new(Inner {
            what,
            argument: Vec::new(),
            pointer: Vec::new(),
            beyond: 0,
            input: None,
            part: None,
            source: None,
            reference: None,
            computed: None,
            found: None,
            is_hushed: false,
        }))
    }

    /// Returns `true` if the error shows no value, since one of them is secret.
    pub(crate) fn is_hushed(&self) -> bool {
        self.0.is_hushed
    }

    /// Marks an error that shows no value.
    pub(crate) fn hushed(mut self, is_hushed: bool) -> Self {
        self.0.is_hushed = is_hushed;
        self
    }

    fn unfit(what: &str, unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::of(ErrorDetail::Type {
            message: format!("invalid {what}: {unexpected}, expected {expected}"),
            expected: expected.to_string(),
        })
    }

    /// Records the input whose value has the error.
    pub(crate) fn of_input(mut self, name: &str) -> Self {
        self.0.input = Some(name.to_owned());
        self
    }

    /// Creates the error of a path that ended at `value`, before `tokens[reached]`.
    pub(super) fn on_the_way(
        what: ErrorDetail,
        value: &Value,
        tokens: impl DoubleEndedIterator<Item = String> + ExactSizeIterator,
        reached: usize,
    ) -> Self {
        let mut error = Self::of(what).found(value);
        error.0.beyond = tokens.len() - reached;
        error.0.pointer = tokens.rev().collect();
        error
    }

    /// Records the value found. The first call, which is the innermost, takes precedence.
    pub(super) fn found(mut self, value: &Value) -> Self {
        if self.0.found.is_none() && self.0.reference.is_none() {
            self.0.found = Some(FoundValue::Value(describe::value(value)));
        }
        self
    }

    /// Records that the value found is a list of this length.
    pub(super) fn found_list(mut self, length: usize) -> Self {
        let list = || FoundValue::Value(describe::list(length));
        self.0.found.get_or_insert_with(list);
        self
    }

    pub(super) fn found_absent(mut self) -> Self {
        self.0.found.get_or_insert(FoundValue::Absent);
        self
    }

    /// Adds a part of the argument to the position of the error.
    pub(super) fn inside(mut self, place: Location) -> Self {
        self.0.argument.push(place);
        self
    }

    /// Adds a part of a referenced value to the position of the error.
    pub(super) fn inside_value(mut self, place: Location) -> Self {
        if self.0.reference.is_none() {
            self.0.pointer.push(match &place {
                Location::Key(key) => key.clone(),
                Location::Index(index) => index.to_string(),
            });
        }
        self.inside(place)
    }

    /// Adds these tokens of the reference before the position of the error, the last one first.
    pub(super) fn behind(mut self, tokens: impl Iterator<Item = String>) -> Self {
        if self.0.reference.is_none() {
            self.0.pointer.extend(tokens);
        }
        self
    }

    /// Records the reference to the value with the error. The tokens of the pointer are then complete.
    pub(super) fn referred(mut self, reference: &Reference, source: Option<&str>) -> Self {
        if self.0.reference.is_none() {
            let source = source.map_or_else(|| reference.source.name(), str::to_owned);
            let text = reference.as_written_for(&source).map(str::to_owned);
            self.0.reference = Some(text.unwrap_or_else(|| written(&source, reference.path())));
            self.0.source = Some(source);
            // A variable may be a part of the local value. If that part exists, the error is about its content.
            if let Some((_, parts @ 1..)) = reference.variable() {
                match self.0.pointer.len().checked_sub(parts) {
                    Some(rest) if rest >= self.0.beyond => self.0.pointer.truncate(rest),
                    _ => self.0.source = None,
                }
            }
        }
        self
    }

    /// Makes this value the subject. It was read as a whole, so positions in it are not positions in an argument.
    pub(super) fn read_whole(mut self, name: &str) -> Self {
        self.0.argument.clear();
        self.0.source = Some(name.to_owned());
        self.0.reference = Some(name.to_owned());
        self
    }

    /// Makes the error one of serialization. Positions in the serialized value are not positions in an argument.
    pub(super) fn not_json(mut self) -> Self {
        self.0.argument.clear();
        if let ErrorDetail::Other(message) = &self.0.what {
            self.0.what = ErrorDetail::Encode(format!("cannot be serialized: {message}"));
        }
        self
    }

    /// Removes the values from the error, and the positions in them.
    pub(crate) fn without_values(&self) -> Self {
        let error = &self.0;
        let mut is_on_the_way = false;
        let what = match &error.what {
            ErrorDetail::NoMember { .. } => {
                is_on_the_way = true;
                let known = "its other members are secret".to_owned();
                ErrorDetail::NoMember { known }
            }
            ErrorDetail::NoElement { length } => {
                is_on_the_way = true;
                ErrorDetail::NoElement { length: *length }
            }
            ErrorDetail::NoInside => {
                is_on_the_way = true;
                ErrorDetail::NoInside
            }
            ErrorDetail::NoList => {
                is_on_the_way = true;
                ErrorDetail::NoList
            }
            ErrorDetail::NoObject => ErrorDetail::NoObject,
            ErrorDetail::Type { expected, .. } => ErrorDetail::Type {
                message: format!("the value is {MASK}, expected {expected}"),
                expected: expected.clone(),
            },
            ErrorDetail::Needed(field) => ErrorDetail::Needed(field.clone()),
            ErrorDetail::NoOutput => ErrorDetail::NoOutput,
            // Its message is the responsibility of the tool's author.
            ErrorDetail::Failed(failure) => ErrorDetail::Failed(failure.clone()),
            // The values were removed from the error before its record was written.
            ErrorDetail::Raised { message, .. } if error.is_hushed => ErrorDetail::Raised {
                message: message.clone(),
                error: message.clone().into(),
            },
            ErrorDetail::Other(message) if error.is_hushed => ErrorDetail::Other(message.clone()),
            ErrorDetail::Raised { .. } => {
                let message = "the error is hidden, because the value contains secrets";
                ErrorDetail::Raised {
                    message: message.to_owned(),
                    error: message.into(),
                }
            }
            ErrorDetail::NotExecutable => ErrorDetail::NotExecutable,
            ErrorDetail::Encode(_) => {
                ErrorDetail::Encode("the value is not JSON; it is secret".to_owned())
            }
            ErrorDetail::TooDeep => ErrorDetail::TooDeep,
            ErrorDetail::Limit(limit) => ErrorDetail::Limit(*limit),
            ErrorDetail::Interrupted => ErrorDetail::Interrupted,
            ErrorDetail::Other(_) => ErrorDetail::Other(
                "a value does not fit; the values are hidden, because some values are secret"
                    .to_owned(),
            ),
        };
        let mut hidden = Self::of(what).hushed(true);
        let inner = &mut hidden.0;
        // The name of the argument belongs to the tool; a position inside it may come from the value.
        if let Some(Location::Key(name)) = error.argument.last() {
            inner.argument.push(Location::Key(name.clone()));
        }
        if is_on_the_way {
            inner.pointer.clone_from(&error.pointer);
            inner.beyond = error.beyond;
        }
        inner.found = error.found.as_ref().map(|found| match found {
            FoundValue::Absent => FoundValue::Absent,
            FoundValue::Value(_) => FoundValue::Value(MASK.to_owned()),
        });
        inner.input.clone_from(&error.input);
        inner.part = error.part;
        inner.source.clone_from(&error.source);
        inner.reference.clone_from(&error.reference);
        inner.computed.clone_from(&error.computed);
        hidden
    }

    /// Removes the position, since the value's parts are unknown.
    pub(super) fn bare(self) -> Self {
        Self::of(self.0.what)
    }

    /// Converts the error of a whole value to the error of serde_json.
    #[cold]
    pub(super) fn into_json_error(self) -> serde_json::Error {
        let message = match self.0.what {
            ErrorDetail::Type { message, .. } => {
                match message.strip_prefix("invalid type: unit value") {
                    Some(rest) => format!("invalid type: null{rest}"),
                    None => message,
                }
            }
            ErrorDetail::Needed(field) => format!("missing field `{field}`"),
            ErrorDetail::Other(message) => message,
            what => Self::of(what).to_string(),
        };
        serde::de::Error::custom(message)
    }

    /// Makes the error one about a value that is no argument.
    pub(super) fn in_value(self) -> Self {
        let pointer = self.prefix(0);
        let what = self.bare();
        match pointer.as_str() {
            "" => what,
            pointer => Self::new(format!("at `{}`: {what}", describe::pointer(pointer))),
        }
    }

    /// Returns `true` if the error contains a position inside a value.
    pub(super) fn is_placed(&self) -> bool {
        !self.0.argument.is_empty() || !self.0.pointer.is_empty()
    }

    pub(super) fn named_source(mut self, name: &str) -> Self {
        self.0.source.get_or_insert_with(|| name.to_owned());
        self
    }

    pub(super) fn computed(mut self, written: &str) -> Self {
        self.0.computed.get_or_insert_with(|| written.to_owned());
        self
    }
}

impl fmt::Debug for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolveError")
            .field("kind", &self.kind())
            .field("message", &self.to_string())
            .finish()
    }
}

impl StdError for ResolveError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.what {
            ErrorDetail::Raised { error, .. } => Some(&**error),
            _ => None,
        }
    }
}

impl serde::de::Error for ResolveError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::unfit("type", unexpected, expected)
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::unfit("value", unexpected, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::of(ErrorDetail::Needed(field.to_owned()))
    }
}

impl serde::ser::Error for ResolveError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}
