//! The check that values fit their positions.

mod merged;
mod message;
mod named;

use super::checked_value::{CheckedValue, ValueKind};
use super::input::Inputs;
use super::left_out::left_out;
use super::outputs::KnownReference;
use super::path::Given;
use crate::dynamic::finding::{Note, Notes};
use crate::dynamic::schema::{Element, Form, Property, TooMuchWork, Type, Types, Work, bound};
use crate::plan::push_key;
pub(super) use message::{subject, why};
use named::SchemaNames;
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

/// Maximum number of lists and objects whose problems are cached.
const MOST_REMEMBERED: usize = 4096;

/// Maximum number of listed values in the search for a suggestion.
const MOST_COMPARED: usize = 1000;

/// The check of the arguments of one call.
pub(super) struct ValueCheck<'t> {
    pub(super) tool: &'t str,
    /// The place of the tool's name.
    tool_place: Range<usize>,
    /// The place of all arguments.
    pub(super) arguments: Range<usize>,
    /// A name similar to a member's name is an error even if other names are allowed.
    guesses: bool,
    pub(super) work: &'t Work,
    /// Only the existence of a problem matters.
    quiet: bool,
    /// The name of the value as an argument; empty for all arguments.
    pub(super) place: RefCell<String>,
    /// The number of enclosing values with several forms.
    choices: Cell<usize>,
    /// The keys of the values that a call omits if they are null.
    left_out: Rc<[usize]>,
    /// The problems of values inside of such choices.
    seen: RefCell<HashMap<Seen, Notes>>,
}

/// The keys of a value and of its type; `true` for a required value.
type Seen = (usize, Vec<usize>, bool);

/// A reference in the arguments of a call, with its type and the type of its position.
pub(super) struct Passed<'m> {
    pub(super) call: &'m ValueCheck<'m>,
    pub(super) read: KnownReference<'m, 'm>,
    /// The position of the reference among the templates.
    pub(super) at: usize,
    pub(super) given: &'m Given<'m>,
    /// The type of the position.
    pub(super) takes: &'m Type<'m>,
}

impl<'t> ValueCheck<'t> {
    pub(super) fn new(
        tool: &'t str,
        tool_place: Range<usize>,
        guesses: bool,
        work: &'t Work,
    ) -> Self {
        Self {
            tool,
            tool_place,
            arguments: 0..0,
            guesses,
            work,
            quiet: false,
            place: RefCell::default(),
            choices: Cell::new(0),
            left_out: Rc::default(),
            seen: RefCell::default(),
        }
    }

    /// Returns the problems of the arguments of a call, which omits some null values.
    pub(super) fn in_call(
        &mut self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
    ) -> Result<Notes, TooMuchWork> {
        self.left_out = left_out(item, takes).into();
        self.problems(item, takes, true)
    }

    /// Returns `true` for the key of a value that the call omits if the value is null.
    fn is_left_out(&self, key: usize) -> bool {
        self.left_out.binary_search(&key).is_ok()
    }

    /// Returns `true` if a suggested value fits.
    fn fits(&self, item: CheckedValue<'_>, takes: &Type<'_>) -> Result<bool, TooMuchWork> {
        let fit = Self {
            quiet: true,
            left_out: Rc::clone(&self.left_out),
            ..Self::new(self.tool, 0..0, self.guesses, self.work)
        };
        Ok(fit.problems(item, takes, true)?.is_empty())
    }

    /// Returns the problem of a literal value of the plan for this place.
    pub(super) fn literal(
        &self,
        value: &Value,
        takes: &Type<'_>,
        place: String,
    ) -> Result<Option<Note>, TooMuchWork> {
        let fit = Self {
            place: RefCell::new(place),
            ..Self::new(self.tool, 0..0, self.guesses, self.work)
        };
        let problems = fit.problems(CheckedValue::Json(value), takes, true)?;
        Ok(problems.into_first_error())
    }

    /// Calls a function for a part of the value.
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

    /// Returns the problems of a value.
    pub(super) fn problems(
        &self,
        item: CheckedValue<'_>,
        takes: &Type<'_>,
        required: bool,
    ) -> Result<Notes, TooMuchWork> {
        self.work.spend(1 + takes.cost())?;
        takes.known()?;
        let inside = match item.kind() {
            ValueKind::Unknown => return Ok(Notes::default()),
            ValueKind::Reference(reference, given) => {
                // JSON outside of a document has no references.
                let CheckedValue::Template(_, at, known) = item else {
                    return Ok(Notes::default());
                };
                let passed = Passed {
                    call: self,
                    read: known.reference(reference),
                    at,
                    given: &given,
                    takes,
                };
                let problem = passed.problem(required)?;
                return Ok(problem.map(Notes::from).unwrap_or_default());
            }
            ValueKind::Null if !required => return Ok(Notes::default()),
            ValueKind::String(text) => {
                self.work.spend(text.len() / 64)?;
                false
            }
            ValueKind::List(_) | ValueKind::Object { .. } => self.choices.get() > 0,
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

    fn compared(&self, item: CheckedValue<'_>, takes: &Type<'_>) -> Result<Notes, TooMuchWork> {
        let problems = self.in_forms(item, takes)?;
        match item.kind() {
            ValueKind::Object { open: true } if problems.is_empty() => self.merged(item, takes),
            _ => Ok(problems),
        }
    }

    fn in_forms(&self, item: CheckedValue<'_>, takes: &Type<'_>) -> Result<Notes, TooMuchWork> {
        let types = item.kind().types();
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

    /// Returns `true` if the value may be listed by these forms, or is null, which its type decides.
    fn is_one_of(&self, item: CheckedValue<'_>, forms: &[&Form<'_>]) -> Result<bool, TooMuchWork> {
        if let Some(value) = item.literal(self.work)? {
            self.work.spend(forms.len())?;
            return Ok(value.is_null() || forms.iter().any(|form| form.allows(&value)));
        }
        for other in forms.iter().flat_map(|form| form.allowed()) {
            if item.may_be(other, self.work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the problems of the value in the nearest form.
    fn nearest(&self, item: CheckedValue<'_>, forms: &[&Form<'_>]) -> Result<Notes, TooMuchWork> {
        let mut best: Option<Notes> = None;
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

    /// Returns the property of a name, and spends the work of opening the property.
    fn property<'a>(&self, form: &Form<'a>, name: &str) -> Result<Property<'a>, TooMuchWork> {
        let property = form.property(name);
        let cost = match &property {
            Property::Type(ty) => ty.cost(),
            _ => 0,
        };
        self.work.spend(form.schemas().len() + cost)?;
        Ok(property)
    }

    /// Returns the forms that an object's tag selects, as the tag of an enum does.
    fn told_apart<'s, 'a>(
        &self,
        item: CheckedValue<'_>,
        forms: Vec<&'s Form<'a>>,
    ) -> Result<Result<Vec<&'s Form<'a>>, Note>, TooMuchWork> {
        let (ValueKind::Object { .. }, [first, _, ..]) = (item.kind(), forms.as_slice()) else {
            return Ok(Ok(forms));
        };
        let tags = |form: &Form<'a>, name: &str| -> Result<Option<Type<'a>>, TooMuchWork> {
            Ok(match self.property(form, name)? {
                Property::Type(ty) if ty.forms().iter().all(Form::counts) => Some(ty),
                _ => None,
            })
        };
        let required: HashSet<&str> = first.required().into_iter().collect();
        self.work.spend(required.len())?;
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
            let allows = |form: &Form<'_>| match tag {
                Value::Null => form.types().overlaps(Types::NULL),
                _ => form.allows(&tag),
            };
            let meant = |tags: &Type<'_>| tags.forms().iter().any(allows);
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

    fn in_form(&self, item: CheckedValue<'_>, form: &Form<'_>) -> Result<Notes, TooMuchWork> {
        self.work.spend(1 + form.schemas().len())?;
        if form.counts() && !self.is_one_of(item, &[form])? {
            return Ok(self.not_allowed(item, &[form]).into());
        }
        let bound = match item.kind() {
            ValueKind::Number(_) => item.scalar().and_then(|value| form.bound(&value)),
            ValueKind::String(text) => form.bound_of_string(text),
            ValueKind::List(count) => match form.bound_of_list(count) {
                None => return self.list(item, form),
                bound => bound,
            },
            ValueKind::Object { open } => return self.object(item, open, form),
            _ => None,
        };
        let problem = bound.map(|bound| self.out_of_bounds(item, &bound).into());
        Ok(problem.unwrap_or_default())
    }

    fn list(&self, item: CheckedValue<'_>, form: &Form<'_>) -> Result<Notes, TooMuchWork> {
        let mut problems = Notes::default();
        // All elements after the first ones have one type.
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
                    self.work.spend(1 + form.schemas().len() + element.cost())?;
                    if index < first {
                        own = element;
                        &own
                    } else {
                        others.insert(element)
                    }
                }
            };
            let inside = self.at_element(index, || self.problems(part, element, true));
            problems.append(inside?, None);
            if problems.is_full() || (self.quiet && !problems.is_empty()) {
                break;
            }
        }
        Ok(problems)
    }

    fn object(
        &self,
        item: CheckedValue<'_>,
        open: bool,
        form: &Form<'_>,
    ) -> Result<Notes, TooMuchWork> {
        let mut problems = Notes::default();
        let given: HashSet<&str> = item.members().map(|(name, _)| name).collect();
        self.work.spend(given.len())?;
        let mut names = SchemaNames::default();
        for (name, value) in item.members() {
            match self.property(form, name)? {
                Property::Type(ty) if !ty.types().is_empty() => {
                    let required = !self.is_left_out(value.key());
                    let inside = self.at_member(name, || self.problems(value, &ty, required));
                    problems.append(inside?, None);
                }
                Property::Open => {}
                property => {
                    let note = self.unlisted((name, value), &property, &given, form, &mut names);
                    note?.into_iter().for_each(|note| problems.push(note));
                }
            }
            if problems.is_full() || (self.quiet && !problems.is_empty()) {
                return Ok(problems);
            }
        }
        let note = self.missing_of(item, open, &given, form, &names)?;
        note.into_iter().for_each(|note| problems.push(note));
        Ok(problems)
    }

    /// Adds the types that untyped inputs must have as arguments.
    pub(super) fn inputs<'a>(
        &self,
        item: CheckedValue<'a>,
        takes: &Type<'a>,
        inputs: &mut Inputs,
    ) -> Result<(), TooMuchWork> {
        self.work.spend(1 + takes.cost())?;
        match item.kind() {
            ValueKind::Reference(reference, _) => {
                // An argument of any type gives no information about the input.
                if let CheckedValue::Template(_, at, known) = item
                    && let Some(input) = known.reference(reference).untyped_input()
                    && takes.types() != Types::ALL
                {
                    let whose = subject(&self.place.borrow());
                    inputs.expect(input, takes, known.place(at), whose);
                }
                Ok(())
            }
            ValueKind::List(_) => item.elements().enumerate().try_for_each(|(index, item)| {
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
            ValueKind::Object { .. } => item.members().try_for_each(|(name, member)| {
                if !member.may_be_input() {
                    return Ok(());
                }
                let ty = takes.property(name).unwrap_or_else(Type::any);
                self.at_member(name, || self.inputs(member, &ty, inputs))
            }),
            _ => Ok(()),
        }
    }
}
