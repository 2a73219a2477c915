//! Types in the syntax of TypeScript.

use super::name::{Name, fits, is_format};
use crate::dynamic::schema::{Element, Form, Presence, Property, TooMuchWork, Type, Types, Work};
use crate::print::{Line, Quoted};
use crate::shape::Secrets;
use serde_json::Value;
use std::collections::HashSet;

/// The largest number of characters of a default or an allowed value.
const VALUE: usize = 60;

/// The largest number of allowed values of one type.
const VALUES: usize = 16;

/// The largest number of fields of one object, and of arguments of a tool.
const FIELDS: usize = 40;

/// The largest number of forms of one type.
const FORMS: usize = 8;

/// The largest depth of nested objects and lists.
const DEPTH: usize = 6;

/// The largest number of types inside one type.
const TYPES: usize = 200;

/// Returns `true` if the form describes the members of an object.
pub(super) fn is_object(form: &Form<'_>) -> bool {
    form.types().overlaps(Types::OBJECT)
        && (!form.names().is_empty() || form.types() == Types::OBJECT)
}

/// Returns the names of the listed arguments, required arguments first.
pub(super) fn shown<'a>(form: &Form<'a>) -> Vec<&'a str> {
    let names = form.names();
    let listed: HashSet<&str> = names.iter().copied().collect();
    let required = form.required().into_iter();
    let required: Vec<&str> = required.filter(|name| listed.contains(name)).collect();
    let first: HashSet<&str> = required.iter().copied().collect();
    let others = names.into_iter().filter(|name| !first.contains(name));
    let all = required.iter().copied().chain(others);
    all.filter(|name| fits(name)).take(FIELDS).collect()
}

/// Writes a type.
pub(super) struct TypeText<'s> {
    secrets: &'s Secrets,
    /// `true` for values that the plan writes, which may omit the optional parts.
    is_given: bool,
    /// The number of types that still fit.
    left: usize,
    /// The enclosing types.
    open: Vec<Vec<usize>>,
    /// The budget that the types of all tools share.
    work: &'s Work,
}

impl<'s> TypeText<'s> {
    /// Creates the writer of a type with these secrets, in arguments or in an output.
    pub(super) fn new(secrets: &'s Secrets, is_given: bool, work: &'s Work) -> Self {
        Self {
            secrets,
            is_given,
            left: TYPES,
            open: Vec::new(),
            work,
        }
    }

    /// Writes the type of a whole value.
    pub(super) fn of(&mut self, ty: &Type<'_>) -> String {
        self.union(ty, self.secrets)
    }

    /// Writes the arguments of a tool.
    pub(super) fn arguments(&mut self, form: &Form<'_>) -> String {
        let secrets = self.secrets;
        let names = shown(form);
        let required: HashSet<&str> = form.required().into_iter().collect();
        if self.asks(form, names.len()).is_err() {
            return "…".to_owned();
        }
        let mut all = Vec::with_capacity(names.len());
        for name in &names {
            let optional = !required.contains(name);
            let mut argument = self.member(form, name, optional, secrets);
            if let Some(default) = form.default(name)
                && secrets.at(name).is_empty()
                && !default.is_null()
            {
                argument = format!("{argument} = {}", literal(default));
            }
            all.push(argument);
        }
        all.extend(self.rest(form, names.len(), secrets));
        all.join(", ")
    }

    /// Pays for asking all schemas of a form about as many members.
    fn asks(&self, form: &Form<'_>, members: usize) -> Result<(), TooMuchWork> {
        let listed = form.required().len() / 8;
        self.work
            .spend((form.schemas().len() + listed) * (1 + members))
    }

    /// Returns the entry for the members of an object that are not shown.
    fn rest(&mut self, form: &Form<'_>, shown: usize, secrets: &Secrets) -> Option<String> {
        if form.names().len() > shown {
            return Some("…".to_owned());
        }
        match form.rest() {
            Property::Type(ty) => {
                let ty = self.union(&ty, &secrets.any());
                Some(format!("[key: string]: {ty}"))
            }
            Property::Open if form.types() != Types::ALL => Some("[key: string]: any".to_owned()),
            Property::Open | Property::Unlisted | Property::Closed => None,
        }
    }

    fn member(&mut self, form: &Form<'_>, name: &str, optional: bool, secrets: &Secrets) -> String {
        let ty = match form.property(name) {
            Property::Type(ty) => self.union(&ty, &secrets.at(name)),
            Property::Open | Property::Unlisted | Property::Closed => "any".to_owned(),
        };
        let mark = if optional { "?" } else { "" };
        format!("{}{mark}: {ty}", Name(name))
    }

    fn union(&mut self, ty: &Type<'_>, secrets: &Secrets) -> String {
        self.ty(ty, secrets).join(" | ")
    }

    /// Writes the alternatives of a type, at least one.
    fn ty(&mut self, ty: &Type<'_>, secrets: &Secrets) -> Vec<String> {
        // A type that turns out to be too large costs work as well.
        if self.work.spend(1 + ty.cost()).is_err() {
            return vec!["…".to_owned()];
        }
        let key = ty.key();
        let is_in_itself = key.len() > 1 && self.open.contains(&key);
        if self.left == 0 || self.open.len() == DEPTH || is_in_itself || ty.beyond().is_some() {
            return vec!["…".to_owned()];
        }
        self.left -= 1;
        self.open.push(key);
        let mut all: Vec<String> = Vec::new();
        for form in ty.forms().iter().take(FORMS) {
            for form in self.form(form, secrets) {
                if !all.contains(&form) {
                    all.push(form);
                }
            }
        }
        self.open.pop();
        if ty.forms().len() > FORMS {
            all.push("…".to_owned());
        }
        // Null comes last.
        all.sort_by_key(|form| form == "null");
        if all.is_empty() {
            all.push("nothing".to_owned());
        }
        all
    }

    /// Writes the alternatives of a form.
    fn form(&mut self, form: &Form<'_>, secrets: &Secrets) -> Vec<String> {
        if form.counts() && secrets.is_empty() {
            let mut values: Vec<String> = form.allowed().take(VALUES).map(literal).collect();
            if form.allowed().nth(VALUES).is_some() {
                values.push("…".to_owned());
            }
            return values;
        }
        let types = form.types();
        if types == Types::ALL {
            return vec![if form.names().is_empty() {
                "any".to_owned()
            } else {
                self.object(form, secrets)
            }];
        }
        let mut all = Vec::new();
        if types.overlaps(Types::STRING) {
            all.push(string(form));
        }
        if types.overlaps(Types::NUMBER) {
            all.push(number(form));
        }
        if types.overlaps(Types::BOOL) {
            all.push("boolean".to_owned());
        }
        if types.overlaps(Types::LIST) {
            all.push(self.list(form, secrets));
        }
        if types.overlaps(Types::OBJECT) {
            all.push(self.object(form, secrets));
        }
        if types.overlaps(Types::NULL) {
            all.push("null".to_owned());
        }
        all
    }

    fn list(&mut self, form: &Form<'_>, secrets: &Secrets) -> String {
        let first = form.first_elements();
        if first > 0 {
            let mut all = Vec::new();
            for at in 0..first.min(FORMS) {
                if let Element::Type(ty) = form.element(Some(at)) {
                    all.push(self.union(&ty, &secrets.at(&at.to_string())));
                }
            }
            if first > FORMS {
                all.push("…".to_owned());
            }
            return format!("[{}]", all.join(", "));
        }
        let element = match form.element(None) {
            Element::Type(ty) => self.ty(&ty, &secrets.any()),
            Element::Beyond(_) => vec!["nothing".to_owned()],
        };
        match &element[..] {
            [alone] => format!("{alone}[]"),
            all => format!("({})[]", all.join(" | ")),
        }
    }

    fn object(&mut self, form: &Form<'_>, secrets: &Secrets) -> String {
        let names: Vec<&str> = form.names();
        let names = names.into_iter().filter(|name| fits(name));
        let names: Vec<&str> = names.take(FIELDS).collect();
        if self.asks(form, names.len()).is_err() {
            return "{…}".to_owned();
        }
        let mut all = Vec::with_capacity(names.len());
        for name in &names {
            let optional = match form.presence(name) {
                Presence::Sure => false,
                Presence::Maybe => true,
                Presence::Unknown => self.is_given,
            };
            all.push(self.member(form, name, optional, secrets));
        }
        all.extend(self.rest(form, names.len(), secrets));
        format!("{{{}}}", all.join(", "))
    }
}

/// Writes a JSON value, if it is short.
fn literal(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.len() <= 4 * VALUE => Quoted(text).to_string(),
        Value::String(_) => return "…".to_owned(),
        Value::Array(items) if items.len() > VALUE => return "…".to_owned(),
        Value::Object(members) if members.len() > VALUE => return "…".to_owned(),
        other => Line(other).to_string(),
    };
    if text.chars().nth(VALUE).is_some() {
        "…".to_owned()
    } else {
        text
    }
}

fn string(form: &Form<'_>) -> String {
    let formats = form.schemas().iter();
    let mut formats = formats.filter_map(|schema| schema.text("format"));
    match formats.find(|format| is_format(format)) {
        Some(format) => format!("string ({format})"),
        None => "string".to_owned(),
    }
}

fn number(form: &Form<'_>) -> String {
    let name = if form.types().and(Types::NUMBER) == Types::INTEGER {
        "integer"
    } else {
        "number"
    };
    match form.bounds() {
        [Some(least), Some(most)] => format!("{name} ({least} to {most})"),
        [Some(least), None] => format!("{name} (at least {least})"),
        [None, Some(most)] => format!("{name} (at most {most})"),
        [None, None] => name.to_owned(),
    }
}
