//! Listed values, each of which another type has to accept.

use super::inclusion::{Found, Inclusion};
use super::mismatch::{Mismatch, Reason};
use super::{Element, Form, Property, TooMuchWork, Type, Types};
use crate::resolve::describe;
use serde_json::Value;

/// Number of values of an `enum` that are compared for a unit of fuel.
const VALUES: usize = 8;

impl Inclusion<'_> {
    /// Compares listed values, each of which has to fit.
    pub(super) fn values<'v>(
        &mut self,
        values: impl IntoIterator<Item = &'v Value>,
        takes: &Type<'_>,
        nullable: bool,
    ) -> Found {
        let mut refused = None;
        let mut always = true;
        let values = values.into_iter().filter(|it| !(nullable && it.is_null()));
        for (index, value) in values.enumerate() {
            if index % VALUES == 0 {
                self.work.spend(takes.width())?;
            }
            if self.value(value, takes)? {
                always = false;
            } else {
                refused = refused.or(Some(value));
            }
        }
        Ok(refused.map(|value| {
            let given = Types::of(value);
            let forms = takes.forms().iter();
            let mut bounds = forms.map(|form| form.bound(value).filter(|_| form.allows(value)));
            Mismatch::of(if let Some(bound) = bounds.find_map(|it| it) {
                let value = describe::value(value);
                Reason::Bound {
                    value,
                    bound,
                    always,
                }
            } else if given.overlaps(takes.types()) {
                let value = value.clone();
                Reason::Value { value, always }
            } else {
                let takes = takes.words();
                Reason::Kind {
                    given,
                    takes,
                    always,
                }
            })
        }))
    }

    fn value(&mut self, value: &Value, takes: &Type<'_>) -> Result<bool, TooMuchWork> {
        if value.is_array() || value.is_object() {
            self.work.spend(1 + takes.known()?.cost())?;
        }
        for form in takes.forms() {
            if form.types().overlaps(Types::of(value))
                && (value.is_null() || form.allows(value))
                && self.in_form(value, form)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_form(&mut self, value: &Value, form: &Form<'_>) -> Result<bool, TooMuchWork> {
        match value {
            value if form.bound(value).is_some() => return Ok(false),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let Element::Type(ty) = form.element(Some(index)) else {
                        return Ok(false);
                    };
                    self.work.spend(1 + ty.known()?.cost())?;
                    if !self.value(item, &ty)? {
                        return Ok(false);
                    }
                }
            }
            Value::Object(members) => {
                let required = form.required();
                if !required.iter().all(|name| members.contains_key(*name)) {
                    return Ok(false);
                }
                for (name, member) in members {
                    let fits = match form.property(name) {
                        Property::Type(ty) => {
                            self.work.spend(1 + ty.known()?.cost())?;
                            self.value(member, &ty)?
                        }
                        Property::Closed => false,
                        Property::Open | Property::Unlisted => true,
                    };
                    if !fits {
                        return Ok(false);
                    }
                }
            }
            _ => {}
        }
        Ok(true)
    }
}
