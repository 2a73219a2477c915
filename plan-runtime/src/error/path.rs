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

/// The index of an element in each list: `[2][0]`.
pub(crate) struct Elements<'e>(pub(crate) &'e [usize]);

impl fmt::Display for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|index| write!(f, "[{index}]"))
    }
}

/// Returns the elements at the beginning of a string in the format of [`Elements`], and the rest. Returns `None` if an element
/// has another format.
pub(crate) fn elements(mut text: &str) -> Option<(Vec<usize>, &str)> {
    let mut elements = Vec::new();
    while let Some(rest) = text.strip_prefix('[') {
        let (index, rest) = rest.split_once(']')?;
        let element = index.parse().ok()?;
        elements.push(element);
        text = (index == usize::to_string(&element)).then_some(rest)?;
    }
    Some((elements, text))
}

#[cfg(test)]
mod tests {
    use super::elements;

    #[test]
    fn an_index_is_written_in_one_way() {
        assert_eq!(elements("[0][12].x"), Some((vec![0, 12], ".x")));
        assert_eq!(elements(".x"), Some((vec![], ".x")));
        for wrong in ["[01]", "[+1]", "[]", "[x]", "[1", "[-1]"] {
            assert_eq!(elements(wrong), None, "{wrong}");
        }
    }
}
