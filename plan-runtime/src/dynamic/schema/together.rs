//! Lists and objects that several forms accept only together.
//!
//! `{"v": string or integer}` fits `{"v": string}` or `{"v": integer}`, though neither form alone accepts each value. The check splits each part of
//! the given form into its cases. For each combination of cases, the check requires one form that accepts the combination.

use super::cases::{MOST_CASES, cases};
use super::inclusion::{First, Found, Inclusion};
use super::mismatch::{Mismatch, Reason};
use super::{Element, Form, Presence, Property, TooMuchWork, Type, Types, same};
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// Maximum number of forms that several forms have for a part.
const MOST_TOGETHER: usize = 2048;

/// Maximum number of members in the search for a tag, and of values of a tag.
const MOST_TRIED: usize = 64;

/// The forms that accept a case: one bit for each form.
#[derive(Clone, Copy)]
struct Accepts {
    surely: u64,
    /// Includes the forms for which no schema decides.
    perhaps: u64,
}

impl Accepts {
    /// Compares a case with each form.
    fn of<'f>(
        others: &[&'f Form<'f>],
        mut compare: impl FnMut(&'f Form<'f>) -> Found,
    ) -> Result<Self, TooMuchWork> {
        let (mut surely, mut perhaps) = (0, 0);
        for (index, other) in others.iter().enumerate() {
            let found = compare(other)?;
            surely |= u64::from(found.is_none()) << index;
            perhaps |= u64::from(found.is_none_or(|it| it.is_unknown())) << index;
        }
        Ok(Self { surely, perhaps })
    }
}

impl Inclusion<'_> {
    /// Compares a list or an object with forms, none of which accepts each value alone.
    pub(super) fn together(
        &mut self,
        form: &Form<'_>,
        part: Types,
        others: &[&Form<'_>],
        nearest: Mismatch,
    ) -> Found {
        // A case is accepted by one form or by none.
        if self.in_case && matches!(form, Form::Narrowed(..) | Form::Tuple(_)) {
            return Ok(Some(nearest));
        }
        let many = || Ok(Some(Mismatch::of(Reason::NoSingleForm)));
        if others.len() > 64 {
            return many();
        }
        for is_deep in [false, true] {
            let parts = if part == Types::LIST {
                self.elements(form, others, is_deep)?
            } else {
                self.members(form, others, is_deep)?
            };
            match combined(&parts, others.len()) {
                Some(Accepts { surely, .. }) if surely > 0 => return Ok(None),
                Some(Accepts { perhaps: 0, .. }) => return Ok(Some(nearest)),
                _ => {}
            }
        }
        many()
    }

    /// Compares by a tag, whose values distinguish the other forms; returns `None` without a tag.
    pub(super) fn tagged(
        &mut self,
        form: &Form<'_>,
        others: &[&Form<'_>],
    ) -> Result<Option<Option<Mismatch>>, TooMuchWork> {
        for name in form.names().into_iter().take(MOST_TRIED) {
            let Some(values) = tags(form, name).filter(|_| form.presence(name) == Presence::Sure)
            else {
                continue;
            };
            let all = others.iter().map(|other| tags(other, name));
            let Some(all) = all.collect::<Option<Vec<_>>>() else {
                continue;
            };
            self.work.spend(values.len() * others.len())?;
            let mut first = First::default();
            for value in values {
                let allows = |tags: &Vec<Value>| tags.iter().any(|it| same(it, &value));
                let meant = others.iter().zip(&all).filter(|(_, tags)| allows(tags));
                let always = false;
                let refused = Mismatch::of(Reason::Value {
                    value: value.clone(),
                    always,
                });
                let mut found = Some(refused.in_member(name));
                for (other, _) in meant {
                    found = self.objects(form, other, Some(name))?;
                    if found.is_none() {
                        break;
                    }
                }
                if let Some(found) = first.certain(found) {
                    return Ok(Some(Some(found)));
                }
            }
            return Ok(Some(first.0));
        }
        Ok(None)
    }

    /// Returns the first mismatch of a member or an element that no form accepts.
    pub(super) fn refused(&mut self, form: &Form<'_>, part: Types, others: &[&Form<'_>]) -> Found {
        if part == Types::OBJECT {
            for name in form.names() {
                if let Property::Type(part) = form.property(name) {
                    let found = self.by_all(&part, others, &|other| other.property(name))?;
                    if let Some(found) = found {
                        return Ok(Some(found.in_member(name)));
                    }
                }
            }
            return Ok(None);
        }
        for index in 0..form.first_elements() {
            if let Element::Type(part) = form.element(Some(index)) {
                let found = self.by_all(&part, others, &|other| element(other, index))?;
                if let Some(found) = found {
                    return Ok(Some(found.behind(format!("[{index}]"))));
                }
            }
        }
        Ok(None)
    }

    /// Returns the certain mismatch of a part with the union of the types that the forms have for the part.
    fn by_all<'o>(
        &mut self,
        part: &Type<'_>,
        others: &[&'o Form<'o>],
        in_form: &dyn Fn(&'o Form<'o>) -> Property<'o>,
    ) -> Found {
        let mut all = Type::none();
        for other in others {
            match in_form(other) {
                Property::Type(ty) if all.forms.len() < MOST_TOGETHER => all = all.or(ty),
                Property::Closed => {}
                _ => return Ok(None),
            }
        }
        if part.types().is_empty() || all.types().is_empty() || all.beyond().is_some() {
            return Ok(None);
        }
        let found = self.types(part, &all.once(), false)?;
        Ok(found.filter(|it| !it.is_unknown()))
    }

    /// Returns the forms that accept each case of each element.
    fn elements(
        &mut self,
        form: &Form<'_>,
        others: &[&Form<'_>],
        is_deep: bool,
    ) -> Result<Vec<Vec<Accepts>>, TooMuchWork> {
        let first = others.iter().map(|other| other.first_elements());
        let first = first.max().unwrap_or_default().max(form.first_elements());
        let mut all = Vec::new();
        for index in 0..=first {
            let Element::Type(part) = form.element(Some(index)) else {
                break;
            };
            // The elements after the first ones may contain each case at once.
            let is_one = index < first;
            let take_apart = is_one.then_some(is_deep);
            all.push(self.part(
                &part,
                take_apart,
                others,
                &|other| match element(other, index) {
                    Property::Closed if !is_one => Property::Open,
                    element => element,
                },
            )?);
        }
        Ok(all)
    }

    /// Returns the forms that accept each case of each member.
    fn members(
        &mut self,
        form: &Form<'_>,
        others: &[&Form<'_>],
        is_deep: bool,
    ) -> Result<Vec<Vec<Accepts>>, TooMuchWork> {
        let names = form.names();
        let mut all = vec![vec![Accepts::of(others, |it| {
            self.others(form, it, &names)
        })?]];
        let mut missing: HashSet<&str> = HashSet::new();
        others.iter().for_each(|it| missing.extend(it.required()));
        for name in names {
            missing.remove(name);
            let Property::Type(part) = form.property(name) else {
                continue;
            };
            if part.types().is_empty() {
                continue;
            }
            let mut cases =
                self.part(&part, Some(is_deep), others, &|other| other.property(name))?;
            if form.presence(name) != Presence::Sure {
                cases.push(without(form, name, others)?);
            }
            all.push(cases);
        }
        for name in missing {
            all.push(vec![without(form, name, others)?]);
        }
        Ok(all)
    }

    /// Returns the forms that accept each case of a part. With `Some(true)`, the parts of the part are taken apart as well; with `None`,
    /// not even the part is.
    fn part<'o>(
        &mut self,
        part: &Type<'_>,
        take_apart: Option<bool>,
        others: &[&'o Form<'o>],
        in_form: &dyn Fn(&'o Form<'o>) -> Property<'o>,
    ) -> Result<Vec<Accepts>, TooMuchWork> {
        let whole = self.accepts(part, others, in_form)?;
        let is_whole = whole.surely.count_ones() as usize == others.len();
        let Some(is_deep) = take_apart.filter(|_| !is_whole) else {
            return Ok(vec![whole]);
        };
        let cases = cases(part, is_deep.then_some(0));
        if !self.work.may_take_apart(cases.len()) {
            let perhaps = u64::MAX;
            return Ok(vec![Accepts { perhaps, ..whole }]);
        }
        let is_inside = std::mem::replace(&mut self.in_case, true);
        let accepts = cases.iter().map(|case| {
            let ty = case.ty.as_ref().unwrap_or(part);
            let found = self.accepts(ty, others, in_form)?;
            let perhaps = if case.is_exact {
                found.perhaps
            } else {
                u64::MAX
            };
            Ok(Accepts { perhaps, ..found })
        });
        let accepts = accepts.collect();
        self.in_case = is_inside;
        accepts
    }

    /// Returns the forms that accept a part.
    fn accepts<'o>(
        &mut self,
        part: &Type<'_>,
        others: &[&'o Form<'o>],
        in_form: &dyn Fn(&'o Form<'o>) -> Property<'o>,
    ) -> Result<Accepts, TooMuchWork> {
        part.literals(&mut self.kept);
        Accepts::of(others, |other| match in_form(other) {
            Property::Type(ty) if !ty.types().is_empty() => self.types(part, &ty, false),
            Property::Type(_) | Property::Closed => {
                Ok(Some(Mismatch::of(Reason::Extra(String::new()))))
            }
            Property::Open | Property::Unlisted => Ok(None),
        })
    }
}

/// Returns the element at an index as a property.
fn element<'a>(form: &Form<'a>, index: usize) -> Property<'a> {
    match form.element(Some(index)) {
        Element::Type(ty) => Property::Type(ty),
        Element::Beyond(_) => Property::Closed,
    }
}

/// Returns the fewest forms that accept a combination of cases; `None` for too many combinations.
fn combined(parts: &[Vec<Accepts>], others: usize) -> Option<Accepts> {
    let all = u64::MAX >> (64 - others);
    let fewest = |of: fn(&Accepts) -> u64| {
        let mut accepts = HashSet::from([all]);
        for cases in parts {
            let with = |it: &u64| cases.iter().map(|case| it & of(case)).collect::<Vec<_>>();
            accepts = accepts.iter().flat_map(with).collect();
            if accepts.len() > MOST_CASES {
                return None;
            }
        }
        accepts.into_iter().min()
    };
    Some(Accepts {
        surely: fewest(|case| case.surely)?,
        perhaps: fewest(|case| case.perhaps)?,
    })
}

/// Returns the forms that accept an object without this member.
fn without(form: &Form<'_>, name: &str, others: &[&Form<'_>]) -> Result<Accepts, TooMuchWork> {
    let is_known = match form.property(name) {
        Property::Closed | Property::Unlisted => true,
        Property::Open => false,
        Property::Type(_) => form.presence_of_optional(name) == Presence::Maybe,
    };
    Accepts::of(others, |other| {
        let reason = if is_known {
            let (name, always) = (name.to_owned(), false);
            Reason::Missing { name, always }
        } else {
            Reason::Presence(name.to_owned())
        };
        let is_required = other.required().contains(&name);
        Ok(is_required.then(|| Mismatch::of(reason)))
    })
}

/// Returns the values of a tag: a member whose forms all list values.
fn tags(form: &Form<'_>, name: &str) -> Option<Vec<Value>> {
    let Property::Type(ty) = form.property(name) else {
        return None;
    };
    let mut all = Vec::new();
    for form in ty.forms() {
        match form {
            Form::Literal(value) => all.push(Value::clone(value)),
            form if form.counts() => {
                let null = form.types().overlaps(Types::NULL).then_some(&Value::Null);
                let is_value = |it: &&Value| !it.is_null() && form.bound(it).is_none();
                let values = form.allowed().filter(is_value).chain(null);
                all.extend(values.take(MOST_TRIED + 1).cloned());
            }
            _ => return None,
        }
    }
    let is_tag = !all.is_empty() && all.len() <= MOST_TRIED;
    is_tag.then_some(all)
}

impl Type<'_> {
    /// Adds the literals of the type.
    fn literals(&self, all: &mut Vec<Rc<Value>>) {
        for form in &self.forms {
            match form {
                Form::Literal(value) => all.push(Rc::clone(value)),
                Form::List(element) => element.literals(all),
                Form::Tuple(elements) => elements.iter().for_each(|it| it.literals(all)),
                Form::Members(members) => members.iter().for_each(|(_, it)| it.literals(all)),
                Form::Merged(forms) => {
                    let each = forms.iter().cloned();
                    each.for_each(|form| Type::form(form).literals(all));
                }
                Form::Narrowed(_, members) => {
                    let members = members.iter().filter_map(|(_, it)| it.as_ref());
                    members.for_each(|it| it.literals(all));
                }
                _ => {}
            }
        }
    }
}
