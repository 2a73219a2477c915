//! The messages about a value that does not fit.

use super::{MOST_COMPARED, MOST_COUNTED, MOST_LISTED, MOST_READ, ValueCheck};
use crate::dynamic::check::item::{CheckedValue, ValueKind};
use crate::dynamic::check::problem::{Problem, ProblemPlace};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::finding::Code;
use crate::dynamic::schema::{Form, Property, TooMuchWork, Type, Types};
use crate::resolve::describe::short;
use plan_graph::similar;
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

impl ValueCheck<'_> {
    pub(super) fn missing(
        &self,
        item: CheckedValue<'_>,
        missing: &[&str],
        form: &Form<'_>,
    ) -> Problem {
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
        let place = self.place.borrow();
        let (message, part) = match place.as_str() {
            "" => (
                format!("`{}` needs the argument{plural} {listed}", short(self.tool)),
                ProblemPlace::Tool,
            ),
            place => (
                format!("{} lacks {listed}", subject(place)),
                ProblemPlace::Value,
            ),
        };
        Problem::new(Code::MissingArgument, item.at, message)
            .at(part)
            .help(help)
    }

    pub(super) fn unknown(
        &self,
        value: CheckedValue<'_>,
        name: &str,
        names: &[&str],
        similar: Option<&str>,
    ) -> Problem {
        let name = short(name);
        let place = self.place.borrow();
        let message = match place.as_str() {
            "" => format!("`{}` has no argument `{name}`", short(self.tool)),
            place => format!("{} has no member `{name}`", subject(place)),
        };
        let help = match similar {
            Some(similar) => Some(format!("did you mean `{similar}`?")),
            None if !names.is_empty() && names.len() <= MOST_NAMES => {
                let what = if place.is_empty() {
                    "argument"
                } else {
                    "member"
                };
                let names: Vec<String> = names.iter().map(|name| short(name)).collect();
                Some(match &names[..] {
                    [one] => format!("its only {what} is `{one}`"),
                    all => format!("its {what}s are `{}`", all.join("`, `")),
                })
            }
            None => None,
        };
        Problem::new(Code::UnknownArgument, value.at, message)
            .at(ProblemPlace::Key)
            .help(help)
    }

    /// The schema does not mention the name, so the tool may read it or ignore it.
    pub(super) fn unlisted(&self, problem: Problem, name: &str) -> Problem {
        let (name, tool) = (short(name), short(self.tool));
        let place = self.place.borrow();
        let message = match place.as_str() {
            "" => format!("the schema of `{tool}` does not list the argument `{name}`"),
            place => format!(
                "the schema of `{tool}` names no `{name}` in {}",
                subject(place)
            ),
        };
        Problem { message, ..problem }.warning(true)
    }

    pub(super) fn wrong_type(
        &self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
    ) -> Result<Problem, TooMuchWork> {
        let (mut code, mut help) = (Code::WrongType, None);
        // Looking for what was meant looks inside, where something else may be of a wrong type.
        if !self.quiet {
            (code, help) = self.meant(item, takes)?;
        }
        let message = format!(
            "{} is {}, but must be {}",
            subject(&self.place.borrow()),
            item.words(),
            takes.words()
        );
        Ok(Problem::new(code, item.at, message).help(help))
    }

    /// What is to be done about a value of a wrong type.
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
                Some(value) => format!("put it in a list: `[{}]`", short(&value.to_string())),
                None => "put it in a list".to_owned(),
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
                    _ => "pass one of the elements, or make a step for each of them".to_owned(),
                });
            }
            ValueKind::String(text) if text.len() <= MOST_READ => {
                let value: Option<Value> = serde_json::from_str(text.trim()).ok();
                if let Some(value) = value
                    && !value.is_string()
                    && self.fits(CheckedValue::of_value(&value), takes)?
                {
                    let text = short(text.trim());
                    help = Some(format!("remove the quotes: `{text}`"));
                }
            }
            ValueKind::Number(_) | ValueKind::Bool(_) if types.overlaps(Types::STRING) => {
                if let Some(value) = item.scalar() {
                    let text = value.to_string();
                    if self.fits(CheckedValue::of_text(&text), takes)? {
                        help = Some(format!("write it as a string: `\"{text}\"`"));
                    }
                }
            }
            ValueKind::Text => {
                help = Some(
                    "a reference in a longer text is text; one that is the whole string keeps its type"
                        .to_owned(),
                );
            }
            _ => {}
        }
        Ok((code, help))
    }

    /// The values that these forms count up.
    pub(in crate::dynamic::check) fn allowed(&self, forms: &[&Form<'_>]) -> Rc<str> {
        self.work.said(forms, || {
            let values = forms.iter().flat_map(|form| form.allowed());
            list_values(&values.collect::<Vec<_>>())
        })
    }

    /// The problem that it is not one of the values that these forms list.
    pub(super) fn not_allowed(&self, item: CheckedValue<'_>, forms: &[&Form<'_>]) -> Problem {
        if self.quiet {
            return Problem::new(Code::NotAllowed, item.at, String::new());
        }
        let allowed = || forms.iter().flat_map(|form| form.allowed());
        let values = self.allowed(forms);
        let has_to = match allowed().nth(1) {
            None => format!("must be {values}"),
            Some(_) => format!("must be one of {values}"),
        };
        let place = self.place.borrow();
        let message = format!("{} is {}, but {has_to}", subject(&place), item.words());
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
                    Some("it takes one element at a time: make a step for each".to_owned())
                }
                None => None,
            }
        });
        Problem::new(Code::NotAllowed, item.at, message).help(help)
    }

    pub(super) fn out_of_bounds(&self, item: CheckedValue<'_>, bound: &str) -> Problem {
        let place = self.place.borrow();
        let message = format!("{} is {}, but {bound}", subject(&place), item.words());
        Problem::new(Code::NotAllowed, item.at, message)
    }
}

/// `argument `filters.sender``.
pub(in crate::dynamic::check) fn subject(place: &str) -> String {
    match place {
        "" => "the arguments".to_owned(),
        place => format!("argument `{}`", short(place)),
    }
}

fn list_values(values: &[&Value]) -> String {
    let mut seen = HashSet::new();
    let mut listed: Vec<String> = Vec::new();
    let mut more = 0;
    for value in values {
        // Of very many, nobody counts those that are listed twice.
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
