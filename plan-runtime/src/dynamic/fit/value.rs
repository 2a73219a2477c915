//! Whether values fit what takes them.

use super::bounds::{bound, length, outside};
use super::input::Inputs;
use super::item::{Item, Kind};
use super::problem::{Place, Problem, Problems};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::finding::Code;
use crate::dynamic::schema::{Beyond, Element, Form, Property, Type, Types, Work};
use crate::plan::push_key;
use crate::resolve::describe::short;
use plan_graph::similar;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

/// In how many lists and objects what was found is remembered, where choices lead to them more than once.
const MOST_REMEMBERED: usize = 4096;

/// How many names of members are listed as missing.
const MOST_LISTED: usize = 2 * MOST_NAMES;

/// How many values one that is not allowed is compared with, to find the one that was meant.
const MOST_COMPARED: usize = 1000;

/// How many values are compared with one another, to count those that are not listed.
const MOST_COUNTED: usize = 1000;

/// How long a string may be that is read for what it holds, to tell what to do about it.
const MOST_READ: usize = 1000;

/// Compares the arguments of one call with what its tool takes.
pub(super) struct Fit<'t> {
    tool: &'t str,
    /// Names that are nearly those of members are mistakes, even where other names are allowed.
    guesses: bool,
    pub(super) work: &'t Work,
    /// It only matters whether something does not fit.
    quiet: bool,
    /// The name of the value as an argument; empty for all arguments.
    place: RefCell<String>,
    /// How many values are around this one that may have several forms.
    choices: Cell<usize>,
    /// What was found in values that such choices led to.
    seen: RefCell<HashMap<Seen, Problems>>,
}

/// A value, what takes it, and whether it is required.
type Seen = (usize, Vec<usize>, bool);

impl<'t> Fit<'t> {
    pub(super) fn new(tool: &'t str, guesses: bool, work: &'t Work) -> Self {
        Self {
            tool,
            guesses,
            work,
            quiet: false,
            place: RefCell::default(),
            choices: Cell::new(0),
            seen: RefCell::default(),
        }
    }

    /// Whether a value fits that is not part of the arguments as they are.
    fn fits(&self, item: Item<'_>, takes: &Type<'_>) -> Result<bool, Beyond> {
        let fit = Self {
            quiet: true,
            ..Self::new(self.tool, self.guesses, self.work)
        };
        Ok(fit.problems(item, takes, true)?.is_empty())
    }

    fn spend(&self, work: usize) -> Result<(), Beyond> {
        self.work.spend(work)
    }

    /// Does something with a part of the value that is looked at.
    fn within<T>(&self, name: impl FnOnce(&mut String), inner: impl FnOnce() -> T) -> T {
        let length = self.place.borrow().len();
        name(&mut self.place.borrow_mut());
        let result = inner();
        self.place.borrow_mut().truncate(length);
        result
    }

    fn at_member<T>(&self, name: &str, inner: impl FnOnce() -> T) -> T {
        self.within(|place| push_key(place, name), inner)
    }

    fn at_element<T>(&self, index: usize, inner: impl FnOnce() -> T) -> T {
        let name = |place: &mut String| {
            let _ = write!(place, "[{index}]");
        };
        self.within(name, inner)
    }

    /// What does not fit.
    pub(super) fn problems(
        &self,
        item: Item<'_>,
        takes: &Type<'_>,
        required: bool,
    ) -> Result<Problems, Beyond> {
        self.spend(1 + takes.cost())?;
        takes.known()?;
        let inside = match item.kind() {
            Kind::Unknown => return Ok(Problems::default()),
            Kind::Reference(found) => {
                let place = self.place.borrow();
                let problem = self.reference(&item, &found, takes, &place, required)?;
                return Ok(problem.map(Problems::from).unwrap_or_default());
            }
            // To give null for what may be left out is to leave it out.
            Kind::Null if !required => return Ok(Problems::default()),
            Kind::String(text) => {
                self.spend(text.len() / 64)?;
                false
            }
            Kind::List(_) | Kind::Object { .. } => self.choices.get() > 0,
            _ => false,
        };
        if !inside {
            return self.compared(item, takes);
        }
        let key = (item.key(), takes.key(), required);
        if let Some(problems) = self.seen.borrow().get(&key) {
            return Ok(problems.clone());
        }
        let problems = self.compared(item, takes)?;
        let mut seen = self.seen.borrow_mut();
        if seen.len() < MOST_REMEMBERED {
            seen.insert(key, problems.clone());
        }
        Ok(problems)
    }

    fn compared(&self, item: Item<'_>, takes: &Type<'_>) -> Result<Problems, Beyond> {
        let types = item.types();
        if !types.overlaps(takes.types()) {
            return Ok(self.wrong_type(item, takes)?.into());
        }
        let forms = takes.forms().iter();
        let forms: Vec<&Form<'_>> = forms.filter(|form| form.types().overlaps(types)).collect();
        if forms.iter().all(|form| form.counts()) && !self.is_one_of(item, &forms)? {
            return Ok(self.not_allowed(item, &forms).into());
        }
        let forms = match self.told_apart(item, forms)? {
            Ok(forms) => forms,
            Err(problem) => return Ok(problem.into()),
        };
        if let [form] = forms[..] {
            return self.in_form(item, form);
        }
        self.choices.set(self.choices.get() + 1);
        let best = self.nearest(item, &forms);
        self.choices.set(self.choices.get() - 1);
        best
    }

    /// Whether it may be one of the values that these forms count up, or null, of which its type says whether it may be.
    fn is_one_of(&self, item: Item<'_>, forms: &[&Form<'_>]) -> Result<bool, Beyond> {
        if let Some(value) = item.literal(self.work)? {
            self.spend(forms.len())?;
            return Ok(value.is_null() || forms.iter().any(|form| form.allows(&value)));
        }
        for other in forms.iter().flat_map(|form| form.allowed()) {
            if item.may_be(other, self.work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is wrong by the form that is nearest.
    fn nearest(&self, item: Item<'_>, forms: &[&Form<'_>]) -> Result<Problems, Beyond> {
        let mut best: Option<Problems> = None;
        for form in forms {
            let problems = self.in_form(item, form)?;
            if problems.is_empty() {
                return Ok(problems);
            }
            match &best {
                Some(best) if best.weight() <= problems.weight() => {}
                _ => best = Some(problems),
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// What is known of a member, once the work of knowing it is paid for.
    fn property<'a>(&self, form: &Form<'a>, name: &str) -> Result<Property<'a>, Beyond> {
        let property = form.property(name);
        let cost = match &property {
            Property::Type(ty) => ty.cost(),
            _ => 0,
        };
        self.spend(form.schemas().len() + cost)?;
        Ok(property)
    }

    /// The forms that an object can be meant to have, where a member with a value of its own tells them apart, as the tag of an enum does.
    fn told_apart<'s, 'a>(
        &self,
        item: Item<'_>,
        forms: Vec<&'s Form<'a>>,
    ) -> Result<Result<Vec<&'s Form<'a>>, Problem>, Beyond> {
        let (Kind::Object { .. }, [first, _, ..]) = (item.kind(), forms.as_slice()) else {
            return Ok(Ok(forms));
        };
        let tags = |form: &Form<'a>, name: &str| -> Result<Option<Type<'a>>, Beyond> {
            Ok(match self.property(form, name)? {
                Property::Type(ty) if ty.forms().iter().all(Form::counts) => Some(ty),
                _ => None,
            })
        };
        let required: HashSet<&str> = first.required().into_iter().collect();
        self.spend(required.len())?;
        for (name, member) in item.members() {
            if !required.contains(name) {
                continue;
            }
            let Some(tag) = member.scalar() else { continue };
            let mut of_each = Vec::with_capacity(forms.len());
            for form in &forms {
                match tags(form, name)? {
                    Some(tags) => of_each.push(tags),
                    None => break,
                }
            }
            if of_each.len() < forms.len() {
                continue;
            }
            let meant = |tags: &Type<'_>| tags.forms().iter().any(|form| form.allows(&tag));
            if !of_each.iter().any(meant) {
                let tags: Vec<_> = of_each.iter().flat_map(Type::forms).collect();
                let problem = self.at_member(name, || self.not_allowed(member, &tags));
                return Ok(Err(problem));
            }
            let meant = forms.iter().zip(&of_each).filter(|(_, tags)| meant(tags));
            return Ok(Ok(meant.map(|(form, _)| *form).collect()));
        }
        Ok(Ok(forms))
    }

    fn in_form(&self, item: Item<'_>, form: &Form<'_>) -> Result<Problems, Beyond> {
        self.spend(1 + form.schemas().len())?;
        if form.counts() && !self.is_one_of(item, &[form])? {
            return Ok(self.not_allowed(item, &[form]).into());
        }
        match item.kind() {
            Kind::Number(_) | Kind::String(_) => {
                let mut schemas = form.schemas().iter();
                let out = schemas.find_map(|schema| outside(&item, *schema));
                let out = out.map(|bound| self.out_of_bounds(item, &bound));
                Ok(out.map(Problems::from).unwrap_or_default())
            }
            Kind::List(count) => self.list(item, count, form),
            Kind::Object { open } => self.object(item, open, form),
            _ => Ok(Problems::default()),
        }
    }

    fn list(&self, item: Item<'_>, count: usize, form: &Form<'_>) -> Result<Problems, Beyond> {
        let mut lengths = form.schemas().iter();
        if let Some(bound) = lengths.find_map(|schema| length(count, *schema, "Items", "element")) {
            return Ok(self.out_of_bounds(item, &bound).into());
        }
        let mut problems = Problems::default();
        // Those after the first ones are all alike.
        let (first, mut others) = (form.first_elements(), None);
        for (index, part) in item.elements().enumerate() {
            let own;
            let element = match &others {
                Some(others) => others,
                None => {
                    let element = match form.element(Some(index)) {
                        Element::Type(element) => element,
                        Element::Beyond(most) => {
                            let bound = bound("at most", most, "element");
                            return Ok(self.out_of_bounds(item, &bound).into());
                        }
                    };
                    self.spend(1 + form.schemas().len() + element.cost())?;
                    if index < first {
                        own = element;
                        &own
                    } else {
                        others.insert(element)
                    }
                }
            };
            let inside = self.at_element(index, || self.problems(part, element, true));
            problems.append(inside?);
            if problems.is_full() || (self.quiet && !problems.is_empty()) {
                break;
            }
        }
        Ok(problems)
    }

    fn object(&self, item: Item<'_>, open: bool, form: &Form<'_>) -> Result<Problems, Beyond> {
        let mut problems = Problems::default();
        let given: HashSet<&str> = item.members().map(|(name, _)| name).collect();
        let required = form.required();
        let needs: HashSet<&str> = required.iter().copied().collect();
        let names = form.names();
        self.spend(given.len() + required.len() + names.len())?;
        let mut meant = HashSet::new();
        for (name, value) in item.members() {
            match self.property(form, name)? {
                Property::Type(ty) => {
                    if ty.types().is_empty() {
                        problems.push(self.unknown(value, name, &[], None));
                    } else {
                        let required = needs.contains(name);
                        let inside = self.at_member(name, || self.problems(value, &ty, required));
                        problems.append(inside?);
                    }
                }
                Property::Open => {}
                property @ (Property::Unlisted | Property::Closed) => {
                    let closed = matches!(property, Property::Closed);
                    // Whether a name is similar is a comparison of texts.
                    self.spend(8 * names.len().min(1000))?;
                    let free = names.iter().copied().filter(|name| !given.contains(name));
                    let similar = similar(name, free);
                    if closed || self.guesses {
                        // A mistake is reported once: here, and not as a missing name.
                        meant.extend(similar);
                        let warning = !closed && similar.is_none();
                        let problem = self.unknown(value, name, &names, similar);
                        let problem = if warning {
                            self.unlisted(problem, name)
                        } else {
                            problem
                        };
                        problems.push(problem);
                    }
                }
            }
            if problems.is_full() || (self.quiet && !problems.is_empty()) {
                return Ok(problems);
            }
        }
        let missing: Vec<&str> = required
            .into_iter()
            .filter(|name| !given.contains(name) && !meant.contains(name))
            .collect();
        if !missing.is_empty() && !open {
            problems.push(self.missing(item, &missing, form));
        }
        Ok(problems)
    }

    /// Remembers what arguments of inputs must be.
    pub(super) fn inputs<'a>(
        &self,
        item: Item<'a>,
        takes: &Type<'a>,
        inputs: &mut Inputs<'a>,
    ) -> Result<(), Beyond> {
        self.spend(1 + takes.cost())?;
        match item.kind() {
            Kind::Reference(found) => {
                // What may be anything says nothing of the input.
                if let Some(input) = found.input
                    && takes.types() != Types::ALL
                {
                    inputs.expect(input, takes, item.at, &self.place.borrow());
                }
                Ok(())
            }
            Kind::List(_) => item.elements().enumerate().try_for_each(|(index, item)| {
                if !item.may_be_input() {
                    return Ok(());
                }
                let forms = takes.forms().iter();
                let elements = forms.filter_map(|form| match form.element(Some(index)) {
                    Element::Type(element) if form.types().overlaps(Types::LIST) => Some(element),
                    _ => None,
                });
                let element = elements.reduce(Type::or).unwrap_or_else(Type::any);
                self.at_element(index, || self.inputs(item, &element, inputs))
            }),
            Kind::Object { .. } => item.members().try_for_each(|(name, member)| {
                if !member.may_be_input() {
                    return Ok(());
                }
                let ty = takes.property(name).unwrap_or_else(Type::any);
                self.at_member(name, || self.inputs(member, &ty, inputs))
            }),
            _ => Ok(()),
        }
    }

    fn missing(&self, item: Item<'_>, missing: &[&str], form: &Form<'_>) -> Problem {
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
        value: Item<'_>,
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
            .at(Place::Key)
            .help(help)
    }

    /// The schema does not mention the name, so the tool may read it or ignore it.
    fn unlisted(&self, problem: Problem, name: &str) -> Problem {
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

    fn wrong_type(&self, item: Item<'_>, takes: &Type<'_>) -> Result<Problem, Beyond> {
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
    fn meant(&self, item: Item<'_>, takes: &Type<'_>) -> Result<(Code, Option<String>), Beyond> {
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
            Kind::List(count) if count > 0 => {
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
            Kind::String(text) if text.len() <= MOST_READ => {
                let value: Option<Value> = serde_json::from_str(text.trim()).ok();
                if let Some(value) = value
                    && !value.is_string()
                    && self.fits(Item::of_value(&value), takes)?
                {
                    let text = short(text.trim());
                    help = Some(format!("remove the quotes: `{text}`"));
                }
            }
            Kind::Number(_) | Kind::Bool(_) if types.overlaps(Types::STRING) => {
                if let Some(value) = item.scalar() {
                    let text = value.to_string();
                    if self.fits(Item::of_text(&text), takes)? {
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
        Ok((code, help))
    }

    /// The values that these forms count up.
    pub(super) fn allowed(&self, forms: &[&Form<'_>]) -> Rc<str> {
        self.work.said(forms, || {
            let values = forms.iter().flat_map(|form| form.allowed());
            list_values(&values.collect::<Vec<_>>())
        })
    }

    /// The problem that it is not one of the values that these forms list.
    fn not_allowed(&self, item: Item<'_>, forms: &[&Form<'_>]) -> Problem {
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
            Kind::String(text)
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

    fn out_of_bounds(&self, item: Item<'_>, bound: &str) -> Problem {
        let place = self.place.borrow();
        let message = format!("{} is {}, but {bound}", subject(&place), item.words());
        Problem::new(Code::NotAllowed, item.at, message)
    }
}

/// `argument `filters.sender``.
pub(super) fn subject(place: &str) -> String {
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
