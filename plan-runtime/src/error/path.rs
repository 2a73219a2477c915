//! The names of steps in errors.

use crate::print::{Line, MessageName};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The name of a step, or the path of one in a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepPath {
    pub(crate) path: String,
    /// The printed form of a path, with each name escaped separately.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "escaped"
    )]
    pub(super) written: Option<String>,
}

/// Reads a path of a record. Other processes may write records, so the path is escaped once more, which changes no escaped path.
fn escaped<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let written = Option::<String>::deserialize(reader)?;
    Ok(written.map(|written| Line(written).to_string()))
}

impl StepPath {
    pub(crate) fn name(name: &str) -> Self {
        Self {
            path: name.to_owned(),
            written: None,
        }
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(written) => f.write_str(written),
            None => write!(f, "{}", MessageName(&self.path)),
        }
    }
}
