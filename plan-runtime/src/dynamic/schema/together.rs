//! Lists and objects that no single form of a type accepts.
//!
//! The check finds a part that no form accepts, and the forms that a tag selects. For all other objects and lists, the result is [`Reason::NoSingleForm`]:
//! `{"v": string or integer}` fits `{"v": string}` or `{"v": integer}`, but the check compares no combinations of parts and forms.

use super::inclusion::{First, Found, Inclusion};
use super::mismatch::{Mismatch, Reason};
use super::{Element, Form, Presence, Property, TooMuchWork, Type, Types, same};
use serde_json::Value;
use std::collections::HashMap;

/// Maximum number of forms that several forms have for a part.
const MOST_TOGETHER: usize = 2048;

/// Maximum number of members in the search for a tag, and of values of a tag.
const MOST_TRIED: usize = 64;

/// Maximum nesting of objects with one case.
const DEEPEST_CASE: usize = 2;

impl Inclusion<'_> {
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
                let meant: Vec<&Form<'_>> = meant.map(|(other, _)| *other).collect();
                let always = false;
                let refused = Mismatch::of(Reason::Value {
                    value: value.clone(),
                    always,
                });
                let mut found = Some(refused.in_member(name));
                for other in &meant {
                    found = self.objects(form, other, Some(name))?;
                    if found.is_none() {
                        break;
                    }
                }
                if meant.len() > 1 {
                    found = found.map(|_| Mismatch::of(Reason::NoSingleForm));
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
            let mut counts: HashMap<&str, usize> = HashMap::new();
            let names = others.iter().flat_map(|other| other.required());
            names.for_each(|name| *counts.entry(name).or_default() += 1);
            let mut all = others[0].required();
            all.retain(|name| counts[name] == others.len());
            let found = self.required(form, &all, &mut First::default())?;
            if found.is_some() {
                return Ok(found);
            }
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
        for index in 0..=form.first_elements() {
            if let Element::Type(part) = form.element(Some(index)) {
                let found = self.by_all(&part, others, &|other| element(other, index))?;
                if let Some(found) = found {
                    let is_rest = index == form.first_elements();
                    let place = if is_rest {
                        "[..]".to_owned()
                    } else {
                        format!("[{index}]")
                    };
                    return Ok(Some(found.behind(place)));
                }
            }
        }
        Ok(None)
    }

    /// Returns `true` if another form accepts all values of a form or none, because no part of the form has several cases.
    pub(super) fn is_one_case(form: &Form<'_>, depth: usize) -> bool {
        let is_one =
            |ty: &Type<'_>| matches!(ty.forms(), [form] if Self::is_one_case(form, depth + 1));
        match (form, form.types()) {
            (Form::Literal(_), _) => true,
            (Form::Tuple(elements), _) => elements.iter().all(is_one),
            (Form::Members(members), _) => members.iter().all(|(_, member)| is_one(member)),
            (_, Types::OBJECT) if depth < DEEPEST_CASE => {
                let (names, rest) = (form.names(), form.rest());
                let is_sure = |name: &&str| {
                    let property = form.property(name);
                    form.presence(name) == Presence::Sure
                        && matches!(property, Property::Type(ty) if is_one(&ty))
                };
                let is_closed = matches!(rest, Property::Closed | Property::Unlisted);
                is_closed && names.len() <= MOST_TRIED && names.iter().all(is_sure)
            }
            (_, Types::STRING | Types::NUMBER | Types::INTEGER | Types::NULL) => {
                !form.counts() || form.allowed().nth(1).is_none()
            }
            _ => false,
        }
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
}

/// Returns the element at an index as a property.
fn element<'a>(form: &Form<'a>, index: usize) -> Property<'a> {
    match form.element(Some(index)) {
        Element::Type(ty) => Property::Type(ty),
        Element::Beyond(_) => Property::Closed,
    }
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
