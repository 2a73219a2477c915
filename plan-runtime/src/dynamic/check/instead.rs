//! Suggested replacements, in the dialect of the document.

use super::checked_value::{CheckedValue, ValueKind};
use super::outputs::{KnownReference, Outputs};
use super::unresolved::Break;
use super::value::Passed;
use crate::dynamic::dialects::reading::is_reference;
use crate::dynamic::dialects::references::{Places, ReferenceTarget, quote};
use crate::dynamic::json_node::outside;
use crate::dynamic::schema::{Form, Presence, Type, Types, Work};
use crate::plan::json::names::reference::{ELSE, OPTIONAL};
use crate::plan::{Absent, Body, Optional, Segment, Selector, Source};
use crate::resolve::describe::short;

/// Maximum number of members in a search for a suggestion.
const MOST_TRIED: usize = 64;

/// Maximum number of fields in a suggestion.
const MOST_NAMED: usize = 3;

impl Outputs<'_, '_> {
    /// Returns names for new variables, which the plan does not use.
    pub(super) fn new_variables(&self) -> impl Iterator<Item = &'static str> + '_ {
        ["x", "found", "there", "given"].into_iter().filter(|name| {
            !self.is_bound(name)
                && self.plan.step(name).is_none()
                && self.plan.input(name).is_none()
        })
    }
}

impl KnownReference<'_, '_> {
    /// Returns a reference as JSON, as the document has it.
    pub(super) fn as_json(&self) -> Option<String> {
        if self.known.rules.places != Places::Nowhere {
            let text = self.reference.text();
            // Nobody reads a long suggestion.
            return (short(&text) == *text).then(|| quote(&text));
        }
        self.object(&self.reference.path)
    }

    /// Returns a reference with another path as an object, for a dialect without references in strings.
    fn object(&self, path: &[Segment]) -> Option<String> {
        let Self { known, reference } = *self;
        let name = known.plan.name_of(reference.source);
        let to = match reference.source {
            Source::Step(at) | Source::Input(at) if known.is_step(reference.source) => {
                ReferenceTarget::Step(at, name?)
            }
            Source::Step(_) | Source::Input(_) => ReferenceTarget::Input(name?),
            Source::Local(depth) => ReferenceTarget::Local(depth, ""),
        };
        let mut form = known.rules.form(to, path)?;
        let otherwise = reference.otherwise.as_ref();
        let otherwise = otherwise.filter(|_| path.len() == reference.path.len());
        let more = [
            reference.optional.then(|| (OPTIONAL, "true".to_owned())),
            otherwise.map(|value| (ELSE, value.to_string())),
        ];
        for (name, value) in more.into_iter().flatten() {
            let end = form.len().checked_sub("}}".len())?;
            form.insert_str(end, &format!(", {}: {value}", quote(name)));
        }
        Some(form)
    }

    /// Returns a reference with another path as JSON.
    pub(super) fn with_path(&self, path: &[Segment]) -> Option<String> {
        let style = self.style();
        if style.is_string() {
            return Some(quote(&style.write(path)));
        }
        self.object(path)
    }

    /// Returns a reference with another path for a message.
    pub(super) fn shown(&self, path: &[Segment]) -> String {
        let style = self.style();
        let object = || self.object(path).filter(|_| !style.is_string());
        object().unwrap_or_else(|| style.write(path))
    }

    /// Returns the list of an element.
    pub(super) fn list_around(&self) -> Option<String> {
        let (last, segments) = self.reference.path.split_last()?;
        if segments.len() < self.variable().map_or(0, |(_, skipped)| skipped) {
            return None;
        }
        let found = self.follow(segments).ok()?;
        let is_element =
            matches!(last.selector, Selector::Index(_)) && found.ty.types() == Types::LIST;
        let list = self.shown(segments);
        is_element.then(|| format!("did you mean the whole list, `{list}`?"))
    }

    /// Returns the change of a step after which its output is never missing.
    fn always_there(&self) -> Option<String> {
        let Self { known, reference } = *self;
        let Source::Step(index) = reference.source else {
            return None;
        };
        known.given(reference.source).absent?;
        let step = known.plan.steps.get(index)?;
        let id = short(&step.id);
        if step.policy.optional == Optional::Whole {
            let help = format!("replace `optional` of `{id}` with a `fallback` in its `policy`");
            return Some(help);
        }
        last_branch(&step.body, &id)
    }

    /// Returns the change of a step after which no element of its list is null.
    pub(super) fn always_in_list(&self) -> Option<String> {
        let reference = self.reference;
        let Source::Step(index) = reference.source else {
            return None;
        };
        let step = self
            .known
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

    /// Returns the help for a text with a value that may be missing.
    pub(super) fn instead_in_text(&self) -> String {
        self.ways(
            None,
            "write the text only if the value is present",
            |name| {
                (
                    "…".to_owned(),
                    format!(", where the text has `{}`", name.trim_matches('"')),
                )
            },
        )
    }

    /// Returns the help for a reference outside of arguments that may lead to nothing.
    pub(super) fn instead_of_value(&self, found: &Break) -> String {
        let what = "use a step that is null if there is no value";
        self.ways(self.without(found), what, |name| {
            (format!(r#""value": {name}"#), String::new())
        })
    }

    /// Returns the help that lets null replace a missing part, in a dialect with such references.
    pub(super) fn without(&self, found: &Break) -> Option<String> {
        if self.style().is_string() {
            return None;
        }
        let mut path = self.reference.path.to_vec();
        if found.is_missing {
            let is_last = found.at + 1 == path.len();
            let part = path.get_mut(found.at)?;
            part.absent = Absent::Default(Box::default());
            part.optional |= !is_last;
            let null = self.object(&path)?;
            return Some(format!("replace the missing part with null: `{null}`"));
        }
        let Some(before) = found.at.checked_sub(1) else {
            return Some("stop the reference at null: add `\"optional\": true` to it".to_owned());
        };
        path.get_mut(before)?.optional = true;
        let ending = self.object(&path)?;
        Some(format!("stop the reference at null: `{ending}`"))
    }

    /// Returns the help for a `for` whose list may be missing.
    pub(super) fn instead_of_list(&self) -> String {
        let what = "iterate over the list only if it is present";
        self.ways(None, what, |name| {
            let body = format!(r#""for": {{"pattern": "…", "list": {name}, "body": {{…}}}}"#);
            (body, String::new())
        })
    }

    /// Returns the help with an `if` for a value that may be missing. `then` has a new variable as JSON, and returns the
    /// body, and the words after the help.
    fn ways(
        &self,
        more: Option<String>,
        what: &str,
        then: impl FnOnce(&str) -> (String, String),
    ) -> String {
        let known = self.known;
        let name = known.new_variables().next().unwrap_or("some_value");
        let value = self.as_json().unwrap_or_else(|| "…".to_owned());
        let (body, after) = then(&known.rules.variable(known.depth(), name));
        let last = format!(
            r#"{what}: `"if": [{{"pattern": "Some({name})", "value": {value}, "then": {{{body}}}}}]`{after}"#
        );
        let ways = self.always_there().into_iter().chain(more).chain([last]);
        ways.collect::<Vec<_>>().join(", or ")
    }
}

/// Returns `true` if a suggestion with this type fits.
pub(super) fn leads_to(given: &Type<'_>, takes: &Type<'_>, work: &Work) -> bool {
    let found = given.mismatch(takes, true, work);
    found.is_ok_and(|found| found.is_none_or(|it| it.is_unknown()))
}

/// Returns a part of the document with another value in it. The part may be inside of a string.
fn spliced(before: &str, value: &str, after: &str) -> Option<String> {
    let quoted = quote(value);
    let inside = quoted.get(1..quoted.len() - 1)?;
    let mut ways = [value, inside].into_iter();
    ways.find_map(|value| outside(&format!("{before}{value}{after}")))
}

/// Returns the change of an `if` after which its value is never missing.
fn last_branch(body: &Body, id: &str) -> Option<String> {
    let Body::If(branches) = body else {
        return None;
    };
    let has_last = branches.iter().any(|branch| branch.conditions.is_empty());
    (!has_last).then(|| format!("give the `if` of `{id}` a last branch without a condition"))
}

impl Passed<'_> {
    /// Returns the help for a required argument that may lead to nothing.
    pub(super) fn instead_of_absent(&self) -> String {
        let counts = if self.read.known.rules.wraps() {
            " (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)"
        } else {
            ""
        };
        let what = "call the tool only if the value is present";
        let then = |name: &str| (self.call_with(name), counts.to_owned());
        self.read.ways(None, what, then)
    }

    /// Returns the members of the call with a variable in place of one argument.
    pub(super) fn call_with(&self, local: &str) -> String {
        let (call, known) = (self.call, self.read.known);
        let tool = short(call.tool);
        let (all, part) = (&call.arguments, self.place());
        let is_inside = all.start <= part.start && part.end <= all.end;
        let before = known.text.get(all.start..part.start);
        let after = known.text.get(part.end..all.end);
        if let (true, Some(before), Some(after)) = (is_inside, before, after)
            && (before.starts_with('{') || part == *all)
            && let Some(arguments) = spliced(before, local, after)
        {
            return known.rules.call_of(&tool, &arguments);
        }
        let place = call.place.borrow();
        let is_argument = !place.is_empty() && !place.contains(['.', '[']);
        let argument = if is_argument {
            short(&place)
        } else {
            "…".to_owned()
        };
        known.rules.call_with(&tool, &argument, local)
    }

    /// Returns the suggestion of a field in place of its object.
    pub(super) fn fitting_field(&self) -> Option<String> {
        let (reference, given) = (self.read.reference, &self.given.ty);
        let is_sure = |name: &str| {
            let mut forms = given.forms().iter();
            forms.all(|form| form.presence(name) != Presence::Maybe)
        };
        let fits = |ty: Type<'_>| {
            let is_typed = ty.types() != Types::ALL && !ty.types().overlaps(Types::NULL);
            is_typed && leads_to(&ty, self.takes, self.call.work)
        };
        let names = given.forms().iter().flat_map(Form::names).take(MOST_TRIED);
        let fields = names.filter(|name| is_sure(name) && given.property(name).is_some_and(fits));
        let written = fields.take(MOST_NAMED).map(|name| {
            let mut path = reference.path.to_vec();
            path.push(Segment::new(Selector::Key(name.to_owned())));
            format!("`{}`", self.read.shown(&path))
        });
        match &written.collect::<Vec<_>>()[..] {
            [] => None,
            [one] => Some(format!("did you mean its field {one}?")),
            all => Some(format!(
                "did you mean one of its fields, {}?",
                all.join(" or ")
            )),
        }
    }

    /// Returns the help that writes a number or a boolean as text.
    pub(super) fn as_text(&self) -> Option<String> {
        let rules = self.read.known.rules;
        let text = match rules.places {
            Places::Whole => return None,
            Places::Anywhere => format!("{}{}", self.read.reference.text(), rules.literal("")),
            Places::Nowhere => {
                let value = self.read.as_json()?;
                format!(r#"{{"text": [{{"value": {value}}}]}}"#)
            }
        };
        Some(format!("write the value as text: `{text}`"))
    }
}

impl CheckedValue<'_> {
    /// Returns the help for an object such as `{"$ref": "mail.from"}`, which is a reference in other languages.
    pub(super) fn as_reference(&self) -> Option<String> {
        let CheckedValue::Template(_, _, known) = self else {
            return None;
        };
        let mut members = self.members();
        let (name, value) = members.next()?;
        if !is_reference(name) || members.next().is_some() {
            return None;
        }
        let reference = match value.kind() {
            ValueKind::String(_) if !known.rules.wraps() => {
                let form = known.rules.form(ReferenceTarget::Step(0, "id"), &[])?;
                return Some(format!("a reference is a string, such as `{form}`"));
            }
            ValueKind::Reference(reference, _) => known.reference(reference).as_json()?,
            _ => return None,
        };
        Some(format!("write the reference as `{reference}`"))
    }
}
