//! Help for a value that fits only in some runs: an `if` or a `for` in the dialect of the document.

use super::outputs::KnownReference;
use super::value::Passed;
use crate::dynamic::schema::{Mismatch, Presence, Property, Reason, Types};
use crate::plan::{Segment, Selector};
use serde_json::Value;

/// Maximum number of branches in a help.
const MOST_BRANCHES: usize = 4;

/// Maximum number of listed values in the search for a help.
const MOST_LISTED: usize = 64;

/// Maximum number of members of an object in a help.
const MOST_MEMBERS: usize = 16;

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
            ("", Reason::Missing { always: false, .. }) => self.with_members(),
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

    /// Returns the help with a call that runs only if the optional members are present.
    fn with_members(&self) -> Option<String> {
        let KnownReference { known, reference } = self.read;
        let ([given], [takes]) = (self.given.ty.forms(), self.takes.forms()) else {
            return None;
        };
        let part = |name: &str| {
            let mut path = reference.path.to_vec();
            path.push(Segment::new(Selector::Key(name.to_owned())));
            self.read.with_path(&path)
        };
        let mut free = known.new_variables();
        let (mut members, mut patterns) = (Vec::new(), Vec::new());
        for name in takes.names().into_iter().take(MOST_MEMBERS) {
            let is_sure = matches!(given.property(name), Property::Type(_))
                && given.presence(name) == Presence::Sure;
            let value = match () {
                () if is_sure => part(name)?,
                () if takes.required().contains(&name) => {
                    let (depth, free) = (known.depth() + patterns.len(), free.next()?);
                    let value = part(name)?;
                    patterns.push(format!(r#""pattern": "Some({free})", "value": {value}"#));
                    known.rules.variable(depth, free)
                }
                () => continue,
            };
            members.push(format!("{}: {value}", Value::from(name)));
        }
        let object = known.rules.object_of(&members.join(", "));
        let call = self.call_with(&object);
        let (what, patterns) = match &patterns[..] {
            [one] => ("member is", one.clone()),
            all => (
                "members are",
                format!(r#""all": [{{{}}}]"#, all.join("}, {")),
            ),
        };
        Some(format!(
            r#"call the tool only if the {what} present: `"if": [{{{patterns}, "then": {{{call}}}}}]`"#
        ))
    }
}

/// Returns `true` if the value is not a reference in any dialect.
fn is_plain(value: &Value) -> bool {
    let has_mark = |text: &str| text.contains(['$', '{']);
    !value.as_str().is_some_and(has_mark) && !value.is_array() && !value.is_object()
}
