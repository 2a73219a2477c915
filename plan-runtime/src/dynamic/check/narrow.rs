//! Help for a value that fits only in some runs: an `if` or a `for` in the dialect of the document.

use super::checked_value::Passed;
use super::instead::last_branch;
use super::outputs::KnownOutputs;
use super::value::ValueCheck;
use crate::dynamic::schema::{Mismatch, Presence, Property, Reason, Types};
use crate::plan::{Body, Optional, Reference, Segment, Selector, Source};
use crate::resolve::describe::short;
use serde_json::Value;

/// Maximum number of branches in a help.
const MOST_BRANCHES: usize = 4;

/// Maximum number of listed values in the search for a help.
const MOST_LISTED: usize = 64;

/// Maximum number of members of an object in a help.
const MOST_MEMBERS: usize = 16;

impl ValueCheck<'_> {
    /// Returns the help for a value that fits only in some runs.
    pub(super) fn narrowed(&self, passed: &Passed<'_>, mismatch: &Mismatch) -> Option<String> {
        let takes = passed.takes;
        match (&*mismatch.place, &mismatch.reason) {
            ("", Reason::Value { .. }) => self.branches(passed),
            ("", Reason::Kind { .. }) if takes.types().without(Types::NULL) == Types::STRING => {
                passed.as_text()
            }
            (
                "[..]",
                Reason::Kind {
                    given: Types::NULL, ..
                },
            ) => Some(self.each_that_is_there(passed)),
            ("", Reason::Missing { always: false, .. }) => self.with_members(passed),
            _ => None,
        }
    }

    /// Returns the help with a branch for each value that fits.
    fn branches(&self, passed: &Passed<'_>) -> Option<String> {
        let (given, takes) = (&passed.given.ty, passed.takes);
        let shown = passed.known.as_json(passed.reference)?;
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
            let call = self.call_with(passed, &value.to_string());
            format!(
                r#"{{"condition": {{"compare": [{shown}, "==", {value}]}}, "then": {{{call}}}}}"#
            )
        });
        let branches = branches.collect::<Vec<_>>().join(", ");
        Some(format!(
            "call the tool only with a value that fits: `\"if\": [{branches}]`"
        ))
    }

    /// Returns the help with a call for each element that is not null.
    fn each_that_is_there(&self, passed: &Passed<'_>) -> String {
        let &Passed {
            known, reference, ..
        } = passed;
        let mut ways: Vec<String> = known.always_in_list(reference).into_iter().collect();
        if let Some(list) = known.as_json(reference) {
            let names = known.new_variables(&self.arguments);
            let element = known.dialect.variable(known.depth(), &names[0]);
            let there = known.dialect.variable(known.depth() + 1, &names[1]);
            let call = self.call_with(passed, &format!("[{there}]"));
            let [one, other] = names;
            ways.push(format!(
                r#"call the tool for each element that is not null: `"for": {{"pattern": "{one}", "list": {list}, "body": {{"if": [{{"pattern": "Some({other})", "value": {element}, "then": {{{call}}}}}]}}}}`"#
            ));
        }
        ways.join(", or ")
    }

    /// Returns the help with a call that runs only if the optional members are present.
    fn with_members(&self, passed: &Passed<'_>) -> Option<String> {
        let &Passed {
            known, reference, ..
        } = passed;
        let ([given], [takes]) = (passed.given.ty.forms(), passed.takes.forms()) else {
            return None;
        };
        let part = |name: &str| {
            let mut path = reference.path.clone();
            path.push(Segment::new(Selector::Key(name.to_owned())));
            known.with_path(reference, &path)
        };
        let mut free = known.new_variables(&self.arguments).into_iter();
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
                    known.dialect.variable(depth, &free)
                }
                () => continue,
            };
            members.push(format!("{}: {value}", Value::from(name)));
        }
        let object = known.dialect.object_of(&members.join(", "));
        let call = self.call_with(passed, &object);
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

impl KnownOutputs<'_> {
    /// Returns the change of a step after which no element of its list is null.
    fn always_in_list(&self, reference: &Reference) -> Option<String> {
        let Source::Step(index) = reference.source else {
            return None;
        };
        let step = self
            .plan
            .steps
            .get(index)
            .filter(|_| reference.path.is_empty())?;
        let id = short(&step.id);
        let Body::For(each) = &step.body else {
            return None;
        };
        if step.policy.optional == Optional::Each {
            return Some(format!("remove `\"optional\": \"each\"` from `{id}`"));
        }
        last_branch(&each.body, &id)
    }
}

/// Returns `true` if the value is not a reference in any dialect.
fn is_plain(value: &Value) -> bool {
    let has_mark = |text: &str| text.contains(['$', '{']);
    !value.as_str().is_some_and(has_mark) && !value.is_array() && !value.is_object()
}
