//! Whether values fit what takes them.

use super::bounds::{bound, length, outside};
use super::item::{Item, Kind};
use super::problem::{Place, Problem};
use crate::dynamic::draft::MOST_NAMES;
use crate::dynamic::finding::Code;
use crate::dynamic::schema::{Element, Form, Property, Type, Types, same};
use crate::plan::push_key;
use crate::resolve::describe::{short, similar};
use serde_json::Value;
use std::cell::Cell;

/// How often a value is compared with a form at most. What is left then fits.
const MOST_COMPARED: usize = 20_000;

/// Compares the arguments of one call with what its tool takes.
pub(super) struct Fit<'t> {
    tool: &'t str,
    /// Names that are nearly those of members are mistakes, even where other names are allowed.
    pub(super) guesses: bool,
    fuel: Cell<usize>,
}

impl<'t> Fit<'t> {
    pub(super) fn new(tool: &'t str, guesses: bool) -> Self {
        Self {
            tool,
            guesses,
            fuel: Cell::new(MOST_COMPARED),
        }
    }

    /// What does not fit. `place` is the name of the value as an argument, and empty for all arguments.
    pub(super) fn problems(
        &self,
        item: &Item<'_>,
        takes: &Type<'_>,
        place: &str,
        required: bool,
    ) -> Vec<Problem> {
        match &item.kind {
            Kind::Unknown => return Vec::new(),
            Kind::Reference(found) => {
                let problem = self.reference(item, found, takes, place, required);
                return problem.into_iter().collect();
            }
            // To give null for what may be left out is to leave it out.
            Kind::Null if !required => return Vec::new(),
            _ => {}
        }
        let types = item.types();
        if !types.overlaps(takes.types()) {
            return vec![self.wrong_type(item, takes, place)];
        }
        let forms = takes.forms().iter();
        let forms: Vec<&Form<'_>> = forms.filter(|form| form.types().overlaps(types)).collect();
        let allowed: Option<Vec<Vec<&Value>>> = forms.iter().map(|form| form.allowed()).collect();
        if let (Some(allowed), Some(value)) = (allowed, item.scalar()) {
            let allowed: Vec<&Value> = allowed.into_iter().flatten().collect();
            if !value.is_null() && !allowed.iter().any(|other| same(&value, other)) {
                return vec![not_allowed(item, &value, &allowed, place)];
            }
        }
        let forms = match self.told_apart(item, forms, place) {
            Ok(forms) => forms,
            Err(problem) => return vec![problem],
        };
        let mut best: Option<Vec<Problem>> = None;
        let weight = |problems: &[Problem]| problems.iter().map(Problem::weight).sum::<usize>();
        for form in forms {
            let Some(fuel) = self.fuel.get().checked_sub(1) else {
                return Vec::new();
            };
            self.fuel.set(fuel);
            let problems = self.in_form(item, form, place);
            if problems.is_empty() {
                return problems;
            }
            match &best {
                Some(best) if weight(best) <= weight(&problems) => {}
                _ => best = Some(problems),
            }
        }
        best.unwrap_or_default()
    }

    /// The forms that an object can be meant to have, where a member with a value of its own tells them apart, as the tag of an enum does.
    fn told_apart<'s, 'a>(
        &self,
        item: &Item<'_>,
        forms: Vec<&'s Form<'a>>,
        place: &str,
    ) -> Result<Vec<&'s Form<'a>>, Problem> {
        let (Kind::Object { members, .. }, [first, _, ..]) = (&item.kind, forms.as_slice()) else {
            return Ok(forms);
        };
        let tags = |form: &Form<'a>, name: &str| match form.property(name) {
            Property::Type(ty) => {
                let allowed: Option<Vec<_>> = ty.forms().iter().map(Form::allowed).collect();
                Some(allowed?.concat())
            }
            _ => None,
        };
        let required = first.required();
        for (name, member) in members {
            let tag = member.scalar().filter(|_| required.contains(name));
            let of_each: Option<Vec<Vec<&Value>>> =
                forms.iter().map(|form| tags(form, name)).collect();
            let (Some(tag), Some(of_each)) = (tag, of_each) else {
                continue;
            };
            let meant = |tags: &Vec<&Value>| tags.iter().any(|other| same(&tag, other));
            if !of_each.iter().any(meant) {
                let mut inner = place.to_owned();
                push_key(&mut inner, name);
                return Err(not_allowed(member, &tag, &of_each.concat(), &inner));
            }
            let meant = forms.iter().zip(&of_each).filter(|(_, tags)| meant(tags));
            return Ok(meant.map(|(form, _)| *form).collect());
        }
        Ok(forms)
    }

    fn in_form(&self, item: &Item<'_>, form: &Form<'_>, place: &str) -> Vec<Problem> {
        if let (Some(value), Some(allowed)) = (item.scalar(), form.allowed())
            && !value.is_null()
            && !allowed.iter().any(|other| same(&value, other))
        {
            return vec![not_allowed(item, &value, &allowed, place)];
        }
        match &item.kind {
            Kind::Number(_) | Kind::String(_) => {
                let out = form
                    .schemas()
                    .iter()
                    .find_map(|schema| outside(item, *schema));
                let out = out.map(|bound| out_of_bounds(item, place, &bound));
                out.into_iter().collect()
            }
            Kind::List(items) => self.list(item, items, form, place),
            Kind::Object { members, open } => self.object(item, members, *open, form, place),
            _ => Vec::new(),
        }
    }

    fn list(
        &self,
        item: &Item<'_>,
        items: &[Item<'_>],
        form: &Form<'_>,
        place: &str,
    ) -> Vec<Problem> {
        let lengths = form.schemas().iter();
        if let Some(bound) = lengths
            .filter_map(|schema| length(items.len(), *schema, "Items", "element"))
            .next()
        {
            return vec![out_of_bounds(item, place, &bound)];
        }
        let mut problems = Vec::new();
        for (index, part) in items.iter().enumerate() {
            match form.element(Some(index)) {
                Element::Type(element) => {
                    let place = format!("{place}[{index}]");
                    problems.extend(self.problems(part, &element, &place, true));
                }
                Element::Beyond(most) => {
                    let bound = bound("at most", most, "element");
                    return vec![out_of_bounds(item, place, &bound)];
                }
            }
        }
        problems
    }

    fn object(
        &self,
        item: &Item<'_>,
        members: &[(&str, Item<'_>)],
        open: bool,
        form: &Form<'_>,
        place: &str,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let required = form.required();
        let names = form.names();
        let given = |name: &str| members.iter().any(|(other, _)| *other == name);
        let mut meant = Vec::new();
        for (name, value) in members {
            match form.property(name) {
                Property::Type(ty) => {
                    let mut inner = place.to_owned();
                    push_key(&mut inner, name);
                    let required = required.contains(name);
                    if ty.types().is_empty() {
                        problems.push(self.unknown(value, name, place, &[], None));
                    } else {
                        problems.extend(self.problems(value, &ty, &inner, required));
                    }
                }
                Property::Open => {}
                Property::Unlisted | Property::Closed => {
                    let closed = matches!(form.property(name), Property::Closed);
                    let free = names.iter().copied().filter(|name| !given(name));
                    let similar = similar(name, free);
                    if closed || self.guesses {
                        // One mistake is said once: here, and not as a name that is missing.
                        meant.extend(similar);
                        let warning = !closed && similar.is_none();
                        let problem = self.unknown(value, name, place, &names, similar);
                        let problem = match warning {
                            true => self.unlisted(problem, name, place),
                            false => problem,
                        };
                        problems.push(problem);
                    }
                }
            }
        }
        let missing: Vec<&str> = required
            .into_iter()
            .filter(|name| !given(name) && !meant.contains(name))
            .collect();
        if !missing.is_empty() && !open {
            problems.push(self.missing(item, &missing, form, place));
        }
        problems
    }

    fn missing(&self, item: &Item<'_>, missing: &[&str], form: &Form<'_>, place: &str) -> Problem {
        let listed: Vec<String> = missing
            .iter()
            .map(|name| format!("`{}`", short(name)))
            .collect();
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
        let help: Vec<String> = match missing.len() <= MOST_NAMES {
            true => missing.iter().filter_map(describe).collect(),
            false => Vec::new(),
        };
        let help = (!help.is_empty()).then(|| help.join("; "));
        let plural = if missing.len() == 1 { "" } else { "s" };
        let (message, part) = match place {
            "" => (
                format!("`{}` needs the argument{plural} {listed}", short(self.tool)),
                Place::Tool,
            ),
            place => (format!("{} lacks {listed}", subject(place)), Place::Value),
        };
        Problem::new(Code::MissingArgument, item.at, message)
            .at(part)
            .help(help)
    }

    fn unknown(
        &self,
        value: &Item<'_>,
        name: &str,
        place: &str,
        names: &[&str],
        similar: Option<&str>,
    ) -> Problem {
        let name = short(name);
        let message = match place {
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
                Some(match names {
                    [one] => format!("its only {what} is `{one}`"),
                    all => format!("its {what}s are `{}`", all.join("`, `")),
                })
            }
            None => None,
        };
        Problem::new(Code::UnknownArgument, value.at, message)
            .at(Place::Key)
            .help(help)
    }

    /// Nothing is said of the name, so that the tool may look at it, or not.
    fn unlisted(&self, problem: Problem, name: &str, place: &str) -> Problem {
        let (name, tool) = (short(name), short(self.tool));
        let message = match place {
            "" => format!("the schema of `{tool}` names no argument `{name}`"),
            place => format!(
                "the schema of `{tool}` names no `{name}` in {}",
                subject(place)
            ),
        };
        Problem { message, ..problem }.warning(true)
    }

    fn wrong_type(&self, item: &Item<'_>, takes: &Type<'_>, place: &str) -> Problem {
        let message = format!(
            "{} is {}, and has to be {}",
            subject(place),
            item.words(),
            takes.words()
        );
        let fits = |item: &Item<'_>, ty: &Type<'_>| self.problems(item, ty, place, true).is_empty();
        let types = takes.types();
        let (mut code, mut help) = (Code::WrongType, None);
        let listed = takes.element();
        if types.without(Types::NULL) == Types::LIST && fits(item, &listed) {
            code = Code::ListOrElement;
            help = Some(match item.scalar() {
                Some(value) => format!("put it in a list: `[{}]`", short(&value.to_string())),
                None => "put it in a list".to_owned(),
            });
        }
        match &item.kind {
            Kind::List(items) if matches!(items.as_slice(), [item] if fits(item, takes)) => {
                code = Code::ListOrElement;
                help = Some("take it out of the list".to_owned());
            }
            Kind::List(items)
                if !items.is_empty() && items.iter().all(|item| fits(item, takes)) =>
            {
                code = Code::ListOrElement;
                help = Some("give one of the elements; for each of them, make a step".to_owned());
            }
            Kind::String(text) => {
                let value: Option<Value> = serde_json::from_str(text.trim()).ok();
                if let Some(value) = value
                    && !value.is_string()
                    && fits(&Item::of_value(&value), takes)
                {
                    help = Some(format!(
                        "without its quotes it fits: `{}`",
                        short(text.trim())
                    ));
                }
            }
            Kind::Number(_) | Kind::Bool(_) if types.overlaps(Types::STRING) => {
                if let Some(value) = item.scalar() {
                    let text = value.to_string();
                    if fits(
                        &Item {
                            at: None,
                            kind: Kind::String(&text),
                        },
                        takes,
                    ) {
                        help = Some(format!("write it as a string: `\"{text}\"`"));
                    }
                }
            }
            Kind::Text => {
                help = Some(
                    "a reference in a longer text is text; one that is the whole string keeps its type"
                        .to_owned(),
                );
            }
            _ => {}
        }
        Problem::new(code, item.at, message).help(help)
    }
}

/// `argument `filters.sender``.
pub(super) fn subject(place: &str) -> String {
    match place {
        "" => "the arguments".to_owned(),
        place => format!("argument `{}`", short(place)),
    }
}

pub(super) fn list_values(values: &[&Value]) -> String {
    let mut listed = Vec::new();
    for value in values {
        let written = match value {
            Value::String(text) => format!("`{}`", short(text)),
            other => format!("`{}`", short(&other.to_string())),
        };
        if !listed.contains(&written) {
            listed.push(written);
        }
    }
    let more = listed.len().saturating_sub(2 * MOST_NAMES);
    listed.truncate(2 * MOST_NAMES);
    match more {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

fn not_allowed(item: &Item<'_>, value: &Value, allowed: &[&Value], place: &str) -> Problem {
    let has_to = match allowed {
        [one] => format!("has to be {}", list_values(&[one])),
        all => format!("has to be one of {}", list_values(all)),
    };
    let message = format!("{} is {}, and {has_to}", subject(place), item.words());
    let texts = || allowed.iter().filter_map(|value| value.as_str());
    let help = value.as_str().and_then(|text| {
        let parts: Vec<&str> = text.split([',', ';', '|']).map(str::trim).collect();
        match similar(text, texts()) {
            Some(meant) => Some(format!("did you mean `{meant}`?")),
            None if parts.len() > 1
                && parts.iter().all(|part| texts().any(|text| text == *part)) =>
            {
                Some("it takes one of them at a time: make a step for each".to_owned())
            }
            None => None,
        }
    });
    Problem::new(Code::NotAllowed, item.at, message).help(help)
}

fn out_of_bounds(item: &Item<'_>, place: &str, bound: &str) -> Problem {
    let message = format!("{} is {}, and {bound}", subject(place), item.words());
    Problem::new(Code::NotAllowed, item.at, message)
}
