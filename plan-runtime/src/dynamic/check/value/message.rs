//! The messages about a value that does not fit.

use super::{MOST_COMPARED, ValueCheck};
use crate::dynamic::check::checked_value::{CheckedValue, ValueKind};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::{Form, Mismatch, Property, Reason, TooMuchWork, Type, Types};
use crate::resolve::describe::{counted, quoted, short};
use plan_graph::similar;
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// Maximum number of missing members in a message.
const MOST_LISTED: usize = 2 * MOST_NAMES;

/// Maximum number of values in the search for duplicates.
const MOST_COUNTED: usize = 1000;

/// Maximum length of a string that is parsed for a suggestion.
const MOST_READ: usize = 1000;

impl ValueCheck<'_> {
    pub(super) fn missing(
        &self,
        item: CheckedValue<'_>,
        missing: &[&str],
        form: &Form<'_>,
    ) -> Note {
        let listed = missing.iter().take(MOST_LISTED);
        let mut listed: Vec<String> = listed.map(|name| format!("`{}`", short(name))).collect();
        match missing.len().saturating_sub(MOST_LISTED) {
            0 => {}
            more => listed.push(format!("{more} more")),
        }
        let listed = match listed.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            all => all.concat(),
        };
        let describe = |name: &&str| {
            let types = match form.property(name) {
                Property::Type(ty) if ty.types() != Types::ALL => Some(ty.words()),
                _ => None,
            };
            let types = types.map_or_else(String::new, |types| format!(" is {types}"));
            let words = match form.description(name) {
                Some(text) if text.chars().count() <= 60 => format!(": {}", text.trim()),
                _ => String::new(),
            };
            let said = format!("{types}{words}");
            (!said.is_empty()).then(|| format!("`{}`{said}", short(name)))
        };
        let help: Vec<String> = if missing.len() <= MOST_NAMES {
            missing.iter().filter_map(describe).collect()
        } else {
            Vec::new()
        };
        let help = (!help.is_empty()).then(|| help.join("; "));
        let plural = if missing.len() == 1 { "" } else { "s" };
        let (message, place) = match self.place.borrow().as_str() {
            "" => (
                format!("`{}` needs the argument{plural} {listed}", short(self.tool)),
                self.tool_place.clone(),
            ),
            place => (format!("{} lacks {listed}", subject(place)), item.place()),
        };
        Note::error(Code::MissingArgument, place, message).help(help)
    }

    /// Returns the note for a name that the schema does not list. `names` are the names of the schema, or none if the object has them all. Unless the schema is `closed`, the tool may read the member.
    pub(super) fn unknown(
        &self,
        value: CheckedValue<'_>,
        name: &str,
        names: &[&str],
        similar: Option<&str>,
        closed: bool,
    ) -> Note {
        let (name, tool) = (short(name), short(self.tool));
        let place = self.place.borrow();
        let what = if place.is_empty() {
            "argument"
        } else {
            "member"
        };
        let may_be_read = !closed && similar.is_none();
        let message = match (place.as_str(), may_be_read) {
            ("", true) => format!("the schema of `{tool}` does not list the argument `{name}`"),
            ("", false) => format!("`{tool}` has no argument `{name}`"),
            (place, true) => {
                let inside = subject(place);
                format!("the schema of `{tool}` names no `{name}` in {inside}")
            }
            (place, false) => format!("{} has no member `{name}`", subject(place)),
        };
        let help = match (similar, names) {
            (Some(similar), _) => Some(format!("did you mean `{similar}`?")),
            (None, []) => closed.then(|| format!("remove `{name}`")),
            (None, [one]) => Some(format!("its only {what} is `{}`", short(one))),
            (None, all) if all.len() <= MOST_NAMES => {
                Some(format!("its {what}s are {}", quoted(all.iter().copied())))
            }
            (None, _) => None,
        };
        let note = Note::error(Code::UnknownArgument, value.key_place(), message);
        note.help(help).warn_if(may_be_read)
    }

    pub(super) fn wrong_type(
        &self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
    ) -> Result<Note, TooMuchWork> {
        let (mut code, mut help) = (Code::WrongType, None);
        // The search for a suggestion looks inside the value, where another part may have a wrong type.
        if !self.quiet {
            (code, help) = self.meant(item, takes)?;
        }
        let message = format!(
            "{} {}, but must be {}",
            subject_is(&self.place.borrow()),
            item.words(),
            takes.words()
        );
        Ok(Note::error(code, item.place(), message).help(help))
    }

    /// Returns the help for a value of a wrong type.
    pub(super) fn meant(
        &self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
    ) -> Result<(Code, Option<String>), TooMuchWork> {
        let types = takes.types();
        let (mut code, mut help) = (Code::WrongType, None);
        let listed = takes.element();
        if types.without(Types::NULL) == Types::LIST && self.fits(item, &listed)? {
            code = Code::ListOrElement;
            help = Some(match item.scalar() {
                Some(value) => {
                    format!("put the value in a list: `[{}]`", short(&value.to_string()))
                }
                None => "put the value in a list".to_owned(),
            });
        }
        match item.kind() {
            ValueKind::List(count) if count > 0 => {
                for item in item.elements() {
                    if !self.fits(item, takes)? {
                        return Ok((code, help));
                    }
                }
                code = Code::ListOrElement;
                help = Some(match count {
                    1 => "pass the element instead of the list".to_owned(),
                    _ => "pass one of the elements, or write a step for each element".to_owned(),
                });
            }
            ValueKind::String(text) if text.len() <= MOST_READ => {
                let value: Option<Value> = serde_json::from_str(text.trim()).ok();
                if let Some(value) = value
                    && !value.is_string()
                    && self.fits(CheckedValue::Json(&value), takes)?
                {
                    let text = short(text.trim());
                    help = Some(format!("remove the quotes: `{text}`"));
                }
            }
            ValueKind::Number(_) | ValueKind::Bool(_) if types.overlaps(Types::STRING) => {
                if let Some(value) = item.scalar() {
                    let text = value.to_string();
                    if self.fits(CheckedValue::Json(&Value::from(text.as_str())), takes)? {
                        help = Some(format!("write it as a string: `\"{text}\"`"));
                    }
                }
            }
            ValueKind::Object { .. } => help = item.as_reference().or(help),
            ValueKind::Text => {
                help = Some(
                    "to keep the type of the value, write the reference as the whole string"
                        .to_owned(),
                );
            }
            _ => {}
        }
        Ok((code, help))
    }

    /// Returns the words for the values that these forms list.
    pub(in crate::dynamic::check) fn allowed(&self, forms: &[&Form<'_>]) -> Rc<str> {
        self.work.said(forms, || {
            let values = forms.iter().flat_map(|form| form.allowed());
            list_values(&values.collect::<Vec<_>>())
        })
    }

    /// Returns the note for a value that these forms do not list.
    pub(super) fn not_allowed(&self, item: CheckedValue<'_>, forms: &[&Form<'_>]) -> Note {
        if self.quiet {
            return Note::error(Code::NotAllowed, item.place(), "");
        }
        let allowed = || forms.iter().flat_map(|form| form.allowed());
        let values = self.allowed(forms);
        let has_to = match allowed().nth(1) {
            None => format!("must be {values}"),
            Some(_) => format!("must be one of {values}"),
        };
        let place = self.place.borrow();
        let message = format!("{} {}, but {has_to}", subject_is(&place), item.words());
        let texts = || allowed().filter_map(Value::as_str).take(MOST_COMPARED);
        let help = match item.kind() {
            ValueKind::String(text)
                if text.len() <= MOST_READ && self.work.may_compare(MOST_COMPARED) =>
            {
                Some(text)
            }
            _ => None,
        };
        let help = help.and_then(|text| {
            let parts = text.split([',', ';', '|']).map(str::trim);
            let parts: Vec<&str> = parts.take(MOST_LISTED + 1).collect();
            match similar(text, texts()) {
                Some(meant) => Some(format!("did you mean `{}`?", short(meant))),
                None if (2..=MOST_LISTED).contains(&parts.len())
                    && parts.iter().all(|part| texts().any(|text| text == *part)) =>
                {
                    Some("write one step for each value".to_owned())
                }
                None => None,
            }
        });
        Note::error(Code::NotAllowed, item.place(), message).help(help)
    }

    pub(super) fn out_of_bounds(&self, item: CheckedValue<'_>, bound: &str) -> Note {
        let place = self.place.borrow();
        let message = format!("{} {}, but {bound}", subject_is(&place), item.words());
        Note::error(Code::NotAllowed, item.place(), message)
    }
}

/// `argument `filters.sender``.
pub(in crate::dynamic::check) fn subject(place: &str) -> String {
    match place {
        "" => "the arguments".to_owned(),
        place => format!("argument `{}`", short(place)),
    }
}

/// `argument `filters.sender` is`.
fn subject_is(place: &str) -> String {
    let verb = if place.is_empty() { "are" } else { "is" };
    format!("{} {verb}", subject(place))
}

fn list_values(values: &[&Value]) -> String {
    let mut seen = HashSet::new();
    let mut listed: Vec<String> = Vec::new();
    let mut more = 0;
    for value in values {
        // Duplicates among very many values are not counted.
        if more < MOST_COUNTED && !seen.insert(*value) {
            continue;
        }
        if listed.len() == MOST_LISTED {
            more += 1;
            continue;
        }
        listed.push(match value {
            Value::String(text) => format!("`{}`", short(text)),
            other => format!("`{}`", short(&other.to_string())),
        });
    }
    match more {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// Returns the reason why a part does not fit: ``its `cc` may be missing``.
pub(in crate::dynamic::check) fn why(mismatch: &Mismatch, subject: &str) -> String {
    let its = match &*mismatch.place {
        "" => "it".to_owned(),
        "[..]" => "an element".to_owned(),
        place => format!("its `{}`", short(place)),
    };
    let member = |name: &str| {
        let dot = if mismatch.place.is_empty() { "" } else { "." };
        format!("its `{}{dot}{}`", short(&mismatch.place), short(name))
    };
    match &mismatch.reason {
        Reason::Kind {
            given,
            takes,
            always,
        } => {
            let verb = if *always { "is" } else { "may be" };
            format!("{its} {verb} {}, but must be {takes}", given.words())
        }
        Reason::Value { value, .. } => {
            format!(
                "{its} may be `{}`, which is not accepted",
                short(&value.to_string())
            )
        }
        Reason::Bound {
            value,
            bound,
            always,
        } => {
            let is = if *always { "is" } else { "may be" };
            format!("{its} {is} {value}, but {bound}")
        }
        Reason::Listed(kinds) => {
            format!(
                "{its} is {}, but only some values are allowed",
                kinds.words()
            )
        }
        Reason::Missing { name, always: true } => format!("{its} has no `{}`", short(name)),
        Reason::Missing { name, .. } => format!("{} may be missing", member(name)),
        Reason::Extra(name) => format!("{subject} has no member for {}", member(name)),
        Reason::Longer { most, .. } => {
            format!("{its} may have more than {}", counted(*most, "element"))
        }
        Reason::NoSingleForm => format!("no single form accepts every value of {its}"),
        Reason::Unstated | Reason::Presence(_) => {
            format!("{its} may be anything")
        }
    }
}
