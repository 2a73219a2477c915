//! Help for a value that fits only in some runs: an `if` or a `for` in the dialect of the document.

use super::value::Passed;
use crate::dynamic::schema::{Mismatch, Reason, Types};
use serde_json::Value;

/// Maximum number of branches in a help.
const MOST_BRANCHES: usize = 4;

/// Maximum number of listed values in the search for a help.
const MOST_LISTED: usize = 64;

impl Passed<'_> {
    /// Returns the help for a value that fits only in some runs.
    pub(super) fn narrowed(&self, mismatch: &Mismatch) -> Option<String> {
        match (&*mismatch.place, &mismatch.reason) {
            ("", Reason::Value { .. }) => self.branches(),
            ("", Reason::Kind { .. })
                if self.takes.types().without(Types::NULL) == Types::STRING =>
            {
                self.as_text()
            }
            (
                "[..]",
                Reason::Kind {
                    given: Types::NULL, ..
                },
            ) => Some(self.read.always_in_list().unwrap_or_else(|| {
                "use a list without null, or pass this list through a tool that removes null"
                    .to_owned()
            })),
            _ => None,
        }
    }

    /// Returns the help with a branch for each value that fits.
    fn branches(&self) -> Option<String> {
        let (given, takes) = (&self.given.ty, self.takes);
        let shown = self.read.as_json()?;
        let accepts = |value: &Value| {
            let mut forms = takes.forms().iter();
            forms.any(|form| form.types().overlaps(Types::of(value)) && form.allows(value))
        };
        let values = given.forms().iter().flat_map(|form| form.allowed());
        let values: Vec<&Value> = values
            .take(MOST_LISTED)
            .filter(|value| accepts(value) && is_plain(value))
            .take(MOST_BRANCHES + 1)
            .collect();
        if values.is_empty() || values.len() > MOST_BRANCHES {
            return None;
        }
        let branches = values.iter().map(|value| {
            let call = self.call_with(&value.to_string());
            format!(
                r#"{{"condition": {{"compare": [{shown}, "==", {value}]}}, "then": {{{call}}}}}"#
            )
        });
        let branches = branches.collect::<Vec<_>>().join(", ");
        Some(format!(
            "call the tool only with a value that fits: `\"if\": [{branches}]`"
        ))
    }
}

/// Returns `true` if the value is not a reference in any dialect.
fn is_plain(value: &Value) -> bool {
    let has_mark = |text: &str| text.contains(['$', '{']);
    !value.as_str().is_some_and(has_mark) && !value.is_array() && !value.is_object()
}
