//! The recorded form of the error of a `?`.

use super::{ErrorDetail, Location, ResolveError};
use serde::{Deserialize, Serialize};

/// The error of a `?` in a computed value, in its recorded form.
#[derive(Serialize, Deserialize)]
pub(crate) struct Raised {
    /// The message of the error, with its causes.
    pub(crate) message: String,
    /// The path to the argument, with the innermost part first.
    argument: Vec<Location>,
    /// The computed value, as its author wrote it.
    pub(crate) expression: Option<String>,
}

impl Raised {
    /// Returns the error of a `?` in a computed value, if it is one.
    pub(crate) fn of(error: &ResolveError) -> Option<Self> {
        match &error.0.what {
            ErrorDetail::Raised { message, .. } => Some(Self {
                message: message.clone(),
                argument: error.0.argument.clone(),
                expression: error.0.computed.clone(),
            }),
            _ => None,
        }
    }

    /// Restores a recorded error.
    pub(crate) fn into_error(self) -> ResolveError {
        let error = self.message.clone().into();
        let mut of = ResolveError::raised(self.message, error);
        (of.0.argument, of.0.computed) = (self.argument, self.expression);
        of
    }
}
