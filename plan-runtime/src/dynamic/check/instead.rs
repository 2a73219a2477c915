//! What can be written instead of something that does not fit, in the dialect of the document.

use super::checked_value::CheckedValue;
use super::outputs::{KnownOutputs, Outputs};
use super::value::ValueCheck;
use crate::dynamic::dialects::references::{Places, ReferenceTarget, quote};
use crate::dynamic::schema::{Form, Presence, Type, Types};
use crate::plan::{Body, Optional, Reference, Segment, Selector, Source};
use crate::resolve::describe::short;

/// In how many members something is looked for.
const MOST_TRIED: usize = 64;

/// How many fields are named.
const MOST_NAMED: usize = 3;

impl Outputs<'_, '_> {
    /// A reference as the document has it, as a value of JSON.
    pub(super) fn as_json(&self, reference: &Reference) -> Option<String> {
        if self.dialect.rules().places != Places::Nowhere {
            let text = reference.text();
            // A long one would not be read.
            return (short(&text) == *text).then(|| quote(&text));
        }
        let name = self.plan.name_of(reference.source);
        let to = match reference.source {
            Source::Step(index) => ReferenceTarget::Step(index, name?),
            Source::Input(_) => ReferenceTarget::Input(name?),
            Source::Local(depth) => ReferenceTarget::Local(depth, ""),
        };
        (self.dialect.rules().form)(to, reference.path.as_slice())
    }

    /// The same, or a letter for it.
    pub(super) fn as_operand(&self, reference: Option<&Reference>) -> String {
        let shown = reference.and_then(|reference| self.as_json(reference));
        shown.unwrap_or_else(|| "a".to_owned())
    }

    /// A name for a variable that no other has here.
    pub(super) fn new_variable(&self) -> &'static str {
        const NAMES: [&str; 4] = ["x", "y", "z", "found"];
        let is_free = |name: &&str| {
            let is_named = self.plan.step(name).is_some() || self.plan.input(name).is_some();
            !is_named && !self.is_bound(name)
        };
        NAMES.into_iter().find(is_free).unwrap_or("x")
    }

    /// The list that an element was taken of.
    pub(super) fn list_around(&self, reference: &Reference) -> Option<String> {
        let (last, segments) = reference.path.split_last()?;
        if segments.len() < self.variable(reference).map_or(0, |(_, skipped)| skipped) {
            return None;
        }
        let found = self.follow(reference, segments).ok()?;
        let is_element =
            matches!(last.selector, Selector::Index(_)) && found.ty.types() == Types::LIST;
        let list = self.style(reference).write(segments);
        is_element.then(|| format!("did you mean the whole list, `{list}`?"))
    }

    /// What makes the output of a step be there, which may be absent as a whole.
    fn always_there(&self, reference: &Reference) -> Option<String> {
        let Source::Step(index) = reference.source else {
            return None;
        };
        self.given(reference.source).absent?;
        let step = self.plan.steps.get(index)?;
        let id = short(&step.id);
        if step.policy.optional == Optional::Whole {
            let help = format!("replace `optional` of `{id}` with a `fallback` in its `policy`");
            return Some(help);
        }
        let Body::If(branches) = &step.body else {
            return None;
        };
        let has_last = branches.iter().any(|branch| branch.conditions.is_empty());
        (!has_last).then(|| format!("give the `if` of `{id}` a last branch without a condition"))
    }

    /// What the last part of a reference is a field of.
    fn siblings(&self, reference: &Reference) -> Option<Type<'_>> {
        let (last, segments) = reference.path.split_last()?;
        if !matches!(last.selector, Selector::Key(_)) {
            return None;
        }
        let found = self.follow(reference, segments).ok()?;
        found.absent.is_none().then_some(found.ty)
    }
}

impl KnownOutputs<'_> {
    /// What to write where a text has a value that may be absent.
    pub(super) fn instead_in_text(&self, reference: &Reference, found: &Type<'_>) -> String {
        let mut ways = Vec::new();
        ways.extend(self.always_there(reference));
        let (name, variable, value) = self.asked(reference);
        let variable = variable.trim_matches('"');
        ways.push(format!(
            r#"write the text only if the value is there: `"if": [{{"pattern": "Some({name})", "value": {value}, "then": {{…}}}}]`, where the text has `{variable}`"#
        ));
        let kinds = found.types().without(Types::NULL);
        if kinds != Types::ALL.without(Types::NULL) {
            let check = ValueCheck::new("", 0..0, false, self.work);
            ways.extend(check.other_field(self, reference, &Type::plain(kinds)));
        }
        ways.join(", or ")
    }

    /// What to write where the list of a `for` may be absent.
    pub(super) fn instead_of_list(&self, reference: &Reference) -> String {
        let mut ways = Vec::new();
        ways.extend(self.always_there(reference));
        let (name, variable, value) = self.asked(reference);
        ways.push(format!(
            r#"go through the list only if it is there: `"if": [{{"pattern": "Some({name})", "value": {value}, "then": {{"for": {{"pattern": "…", "list": {variable}, "body": {{…}}}}}}}}]`"#
        ));
        ways.join(", or ")
    }

    /// A new variable, how it is written as a value, and how a reference is that it may be bound to.
    fn asked(&self, reference: &Reference) -> (&'static str, String, String) {
        let name = self.new_variable();
        let value = self.as_json(reference);
        let variable = self.dialect.variable(self.depth(), name);
        (name, variable, value.unwrap_or_else(|| "a".to_owned()))
    }
}

impl ValueCheck<'_> {
    /// What to write where an argument is required, and a reference may lead to nothing.
    pub(super) fn instead_of_absent(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        takes: &Type<'_>,
    ) -> String {
        let CheckedValue::Template(_, _, known) = item else {
            return "use a value that is always there".to_owned();
        };
        let mut ways = Vec::new();
        ways.extend(known.always_there(reference));
        let (name, variable, value) = known.asked(reference);
        let place = self.place.borrow();
        let is_argument = !place.is_empty() && !place.contains(['.', '[']);
        let argument = if is_argument {
            short(&place)
        } else {
            "…".to_owned()
        };
        let call = known
            .dialect
            .call_with(&short(self.tool), &argument, &variable);
        let counts = if known.dialect.rules().guide.wraps {
            ", in which `local` counts all such values from the outermost"
        } else {
            ""
        };
        ways.push(format!(
            r#"call the tool only if the value is there: `"if": [{{"pattern": "Some({name})", "value": {value}, "then": {{{call}}}}}]`{counts}"#
        ));
        ways.extend(self.other_field(known, reference, takes));
        ways.join(", or ")
    }

    /// Another field of the same object that is always there.
    fn other_field(
        &self,
        known: &KnownOutputs<'_>,
        reference: &Reference,
        takes: &Type<'_>,
    ) -> Option<String> {
        let parent = known.siblings(reference)?;
        let sure = |form: &Form<'_>, name: &str| form.presence(name) == Presence::Sure;
        let fitting = self.fields(&parent, takes, &|name| {
            parent.forms().iter().all(|form| sure(form, name))
        });
        let mut path = reference.path.clone();
        *path.last_mut()? = Segment::new(Selector::Key((*fitting.first()?).to_owned()));
        let other = known.style(reference).write(&path);
        Some(format!("use another field: `{other}` is always there"))
    }

    /// The fields of an object that fit what takes one of them.
    fn fields<'a>(
        &self,
        given: &Type<'a>,
        takes: &Type<'_>,
        allows: &dyn Fn(&str) -> bool,
    ) -> Vec<&'a str> {
        let names = given.forms().iter().flat_map(Form::names);
        let fits = |name: &&str| {
            let field = allows(name).then(|| given.property(name)).flatten();
            field.is_some_and(|ty| {
                ty.types() != Types::ALL
                    && !ty.types().overlaps(Types::NULL)
                    && self.leads_to(&ty, takes)
            })
        };
        names
            .take(MOST_TRIED)
            .filter(fits)
            .take(MOST_NAMED)
            .collect()
    }

    /// What to write where an object is given, and one of its fields fits.
    pub(super) fn fitting_field(
        &self,
        item: &CheckedValue<'_>,
        reference: &Reference,
        given: &Type<'_>,
        takes: &Type<'_>,
    ) -> Option<String> {
        let maybe = |form: &Form<'_>, name: &str| form.presence(name) == Presence::Maybe;
        let fields = self.fields(given, takes, &|name| {
            !given.forms().iter().any(|form| maybe(form, name))
        });
        let style = item.style(reference);
        let written = fields.iter().map(|name| {
            let mut path = reference.path.clone();
            path.push(Segment::new(Selector::Key((*name).to_owned())));
            format!("`{}`", style.write(&path))
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

    /// How a number or a boolean is written as text.
    pub(super) fn as_text(&self, item: &CheckedValue<'_>, reference: &Reference) -> Option<String> {
        let CheckedValue::Template(_, _, known) = item else {
            return None;
        };
        let rules = known.dialect.rules();
        let text = match rules.places {
            Places::Whole => return None,
            Places::Anywhere => format!("{}{}", reference.text(), (rules.literal)("")),
            Places::Nowhere => {
                let value = known.as_json(reference)?;
                format!(r#"{{"text": [{{"value": {value}}}]}}"#)
            }
        };
        Some(format!("the value as text is `{text}`"))
    }
}
