//! Help for a value that fits only in some runs: an `if` or a `for` in the dialect of the document.

use super::checked_value::CheckedValue;
use super::instead::last_branch;
use super::outputs::KnownOutputs;
use super::value::ValueCheck;
use crate::dynamic::schema::{Mismatch, Presence, Property, Reason, Type, Types};
use crate::plan::{Body, Optional, Reference, Segment, Selector, Source};
use crate::resolve::describe::short;
use serde_json::Value;

/// Maximum number of branches in a help.
const MOST_BRANCHES: usize = 4;

/// Maximum number of listed values in the search for a help.
const MOST_LISTED: usize = 64;

/// Maximum number of members of an object in a help.
const MOST_MEMBERS: usize = 16;

/// A reference whose type does not fit its position.
pub(super) struct Misfit<'m> {
    pub(super) item: &'m CheckedValue<'m>,
    pub(super) reference: &'m Reference,
    pub(super) given: &'m Type<'m>,
    pub(super) takes: &'m Type<'m>,
}

impl ValueCheck<'_> {
    /// Returns the help for a value that fits only in some runs.
    pub(super) fn narrowed(&self, misfit: &Misfit<'_>, mismatch: &Mismatch) -> Option<String> {
        let CheckedValue::Template(_, _, known) = misfit.item else {
            return None;
        };
        let takes = misfit.takes;
        match (&*mismatch.place, &mismatch.reason) {
            ("", Reason::Value { .. }) => self.branches(known, misfit),
            ("", Reason::Kind { .. }) if takes.types().without(Types::NULL) == Types::STRING => {
                self.as_text(misfit.item, misfit.reference)
            }
            (
                "[..]",
                Reason::Kind {
                    given: Types::NULL, ..
                },
            ) => Some(self.each_that_is_there(known, misfit)),
            ("", Reason::Missing { always: false, .. }) => self.with_members(known, misfit),
            _ => None,
        }
    }

    /// Returns the help with a branch for each value that fits.
    fn branches(&self, known: &KnownOutputs<'_>, misfit: &Misfit<'_>) -> Option<String> {
        let (given, takes) = (misfit.given, misfit.takes);
        let shown = known.as_json(misfit.reference)?;
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
            let call = self.call_with(misfit.item, known, &value.to_string());
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
    fn each_that_is_there(&self, known: &KnownOutputs<'_>, misfit: &Misfit<'_>) -> String {
        let mut ways: Vec<String> = known.always_in_list(misfit.reference).into_iter().collect();
        if let Some(list) = known.as_json(misfit.reference) {
            let names = known.new_variables(&self.arguments);
            let element = known.dialect.variable(known.depth(), &names[0]);
            let there = known.dialect.variable(known.depth() + 1, &names[1]);
            let call = self.call_with(misfit.item, known, &format!("[{there}]"));
            let [one, other] = names;
            ways.push(format!(
                r#"call the tool for each element that is not null: `"for": {{"pattern": "{one}", "list": {list}, "body": {{"if": [{{"pattern": "Some({other})", "value": {element}, "then": {{{call}}}}}]}}}}`"#
            ));
        }
        ways.join(", or ")
    }

    /// Returns the help with a call that runs only if the optional members are present.
    fn with_members(&self, known: &KnownOutputs<'_>, misfit: &Misfit<'_>) -> Option<String> {
        let ([given], [takes]) = (misfit.given.forms(), misfit.takes.forms()) else {
            return None;
        };
        let part = |name: &str| {
            let mut path = misfit.reference.path.clone();
            path.push(Segment::new(Selector::Key(name.to_owned())));
            known.with_path(misfit.reference, &path)
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
        let call = self.call_with(misfit.item, known, &object);
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
