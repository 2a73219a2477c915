//! The keys of records: `inners[1]@1.each[0]@1` is the first attempt of an element in the first attempt of a plan.

use crate::error::Elements;
use crate::plan::is_word;
use std::fmt::{Display, Formatter, Result};

/// The name of a step, in quotes unless it is a word.
pub(crate) struct Segment<'s>(pub(crate) &'s str);

impl Display for Segment<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if is_word(self.0) {
            f.write_str(self.0)
        } else {
            // As JSON, so that each name is written in one way.
            write!(f, "{}", serde_json::Value::from(self.0))
        }
    }
}

/// The key of a step, or of an element of it, below this prefix.
pub(in crate::run) fn of_element(prefix: &str, step: &str, element: &[usize]) -> String {
    format!("{prefix}{}{}", Segment(step), Elements(element))
}
