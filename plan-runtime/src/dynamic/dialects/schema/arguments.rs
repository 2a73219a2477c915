//! The arguments of a tool, whose parts are values of the contract's types or references.

use super::{Builder, MOST_BYTES, MOST_TYPES_OF_TOOL, any_of, named, object};
use crate::dynamic::Contract;
use crate::dynamic::schema::{Element, Form, Property, Schema, TooMuchWork, Type, Types};
use crate::shape::Secrets;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The largest number of forms of a type, and of positions at the start of a list, with schemas of their own.
const MOST_FORMS: usize = 64;

/// The largest number of listed values.
const VALUES: usize = 2_000;

/// The largest depth of nested types.
const DEEPEST_TYPE: usize = 16;

/// The comment on a type that is left out.
const LARGE: &str = "This type is deep inside others, or has very many forms, so it is left out: any value is accepted in its place, and checked when the plan is read.";

/// The comment on an object that no plan can write.
const NEVER_WRITTEN: &str = "An object would need a member here that no plan can write: its name looks like a reference, or the schema of the tool requires it and allows no such member. So only a reference fits.";

/// The approximate size in bytes of a type, without the names and values in it, and of a named type.
const BYTES_OF_TYPE: usize = 150;
const BYTES_OF_MEMBER: usize = 40;

/// The arguments of a call to a tool.
pub(super) struct Arguments {
    pub(super) schema: Value,
    /// `true` if the arguments are required.
    pub(super) required: bool,
}

impl Builder<'_> {
    /// Returns the schema of a tool's arguments, or `None` without a schema in the contract.
    pub(super) fn arguments(&mut self, contract: &Contract) -> Option<Arguments> {
        let schema = contract.arguments.as_ref()?;
        if !self.has_room() {
            return None;
        }
        let ty = Type::of(schema, self.work);
        if self.work.spend(ty.cost()).is_err() {
            self.is_cut = true;
            return None;
        }
        self.left_of_tool = MOST_TYPES_OF_TOOL;
        let forms = ty.forms();
        if is_large(&ty) {
            let any = [self.open_object(named("value")), named("reference")];
            let mut schema = any_of(any.into());
            schema["$comment"] = LARGE.into();
            return Some(Arguments {
                schema,
                required: false,
            });
        }
        if ty.beyond().is_some() {
            return None;
        }
        let is_object = |form: &&Form<'_>| form.types().overlaps(Types::OBJECT);
        let objects: Vec<&Form<'_>> = forms.iter().filter(is_object).collect();
        let required = !objects.iter().any(|form| form.required().is_empty());
        let mut all = Vec::new();
        for form in objects {
            if form.types() == Types::ALL && form.names().is_empty() {
                return None;
            }
            all.push(self.object(form, &contract.secret_arguments, 0));
        }
        all.push(named("reference"));
        Some(Arguments {
            schema: any_of(all),
            required,
        })
    }

    /// Returns `true` if the schema has room for more types. Otherwise, marks the schema as incomplete.
    fn has_room(&mut self) -> bool {
        let has_room = self.bytes < MOST_BYTES && !self.work.is_spent();
        self.is_cut |= !has_room;
        has_room
    }

    /// Returns the schema of a value of a type, or of a reference to such a value.
    fn ty(&mut self, ty: &Type<'_>, secrets: &Secrets, depth: usize) -> Value {
        let forms = ty.forms();
        let is_any = |form: &Form<'_>| form.types() == Types::ALL && form.names().is_empty();
        let says_something = !forms.iter().any(|form| is_any(form) && !form.counts());
        // A type that turns out to be too large costs work as well.
        let is_paid = self.work.spend(1 + ty.cost()).is_ok();
        if is_large(ty) || (says_something && depth > DEEPEST_TYPE) {
            return self.noted("large", named("value"), LARGE);
        }
        if !says_something || ty.beyond().is_some() {
            return named("value");
        }
        let has_types = self.left > 0 && self.left_of_tool > 0;
        if !has_types || !is_paid || !self.has_room() {
            self.is_cut = true;
            return named("value");
        }
        self.bytes += BYTES_OF_TYPE;
        self.left -= 1;
        self.left_of_tool -= 1;
        if !ty.types().overlaps(Types::LIST.or(Types::OBJECT)) {
            return self.forms(ty, secrets, depth);
        }
        let key = (ty.key(), secrets.pointers());
        if let Some(name) = self.types.get(&key) {
            return named(name);
        }
        let name = format!("type{}", self.types.len());
        self.types.insert(key, name.clone());
        let schema = self.forms(ty, secrets, depth);
        self.defs.insert(name.clone(), schema);
        named(&name)
    }

    /// Returns the schema with this name, with a comment on its omission.
    fn noted(&mut self, name: &str, schema: Value, comment: &str) -> Value {
        let noted = || json!({"anyOf": [schema], "$comment": comment});
        self.defs.entry(name).or_insert_with(noted);
        named(name)
    }

    fn forms(&mut self, ty: &Type<'_>, secrets: &Secrets, depth: usize) -> Value {
        let mut all = Vec::new();
        for form in ty.forms() {
            for schema in self.form(form, secrets, depth) {
                if !all.contains(&schema) {
                    all.push(schema);
                }
            }
        }
        // A template includes the strings that are one reference.
        let template = named("template");
        let has_references = self.strings.is_some() && all.contains(&template);
        if !has_references {
            all.push(named("reference"));
        }
        any_of(all)
    }

    fn form(&mut self, form: &Form<'_>, secrets: &Secrets, depth: usize) -> Vec<Value> {
        if form.counts() && secrets.is_empty() && form.allowed().nth(VALUES).is_none() {
            let values = form.allowed().filter_map(|value| self.written(value));
            let values: Vec<Value> = values.collect();
            let bytes = values.iter().map(|value| value.to_string().len());
            self.bytes += bytes.sum::<usize>();
            let listed = (!values.is_empty()).then(|| json!({ "enum": values }));
            return listed.into_iter().collect();
        }
        let types = form.types();
        if types == Types::ALL && form.names().is_empty() {
            return vec![named("value")];
        }
        let mut all = Vec::new();
        if types.overlaps(Types::NULL) {
            all.push(json!({"type": "null"}));
        }
        if types.overlaps(Types::BOOL) {
            all.push(json!({"type": "boolean"}));
        }
        if types.overlaps(Types::NUMBER) {
            let mut bounds = bounds(form);
            if types.and(Types::NUMBER) == Types::INTEGER {
                bounds.push(("type", "integer".into()));
            }
            all.push(self.number(&bounds));
        }
        if types.overlaps(Types::STRING) {
            let lengths = lengths(form, ["minLength", "maxLength"]);
            all.extend(self.string(&lengths));
        }
        if types.overlaps(Types::LIST) {
            all.push(self.list(form, secrets, depth));
        }
        if types.overlaps(Types::OBJECT) {
            all.push(self.object(form, secrets, depth));
        }
        all
    }

    fn list(&mut self, form: &Form<'_>, secrets: &Secrets, depth: usize) -> Value {
        let mut schema = lengths(form, ["minItems", "maxItems"]);
        schema.insert("type".to_owned(), "array".into());
        let first = form.first_elements().min(MOST_FORMS);
        let mut elements = Vec::new();
        for at in 0..first {
            elements.push(match form.element(Some(at)) {
                Element::Type(ty) => self.ty(&ty, &secrets.at(&at.to_string()), depth + 1),
                Element::Beyond(_) => false.into(),
            });
        }
        let has_more = form.first_elements() > MOST_FORMS;
        let rest = match form.element(if first > 0 { Some(first) } else { None }) {
            _ if has_more => self.noted("large", named("value"), LARGE),
            Element::Type(ty) => self.ty(&ty, &secrets.any(), depth + 1),
            Element::Beyond(_) => false.into(),
        };
        if !elements.is_empty() {
            schema.insert("prefixItems".to_owned(), elements.into());
        }
        schema.insert("items".to_owned(), rest);
        schema.into()
    }

    fn object(&mut self, form: &Form<'_>, secrets: &Secrets, depth: usize) -> Value {
        let required = form.required();
        let listed: Vec<(&str, Property<'_>)> = match form {
            Form::Beyond(_) => Vec::new(),
            form => {
                let listed = form.properties().into_iter();
                listed
                    .map(|(name, ty)| (name, Property::Type(ty)))
                    .collect()
            }
        };
        let names: HashSet<&str> = listed.iter().map(|(name, _)| *name).collect();
        let others = required.iter().filter(|name| !names.contains(*name));
        // A required member that is not listed has the schema of other members.
        let others = others.map(|name| (*name, form.rest()));
        let all: Vec<(&str, Property<'_>)> = listed.into_iter().chain(others).collect();
        let _ = self.work.spend(form.schemas().len() + all.len());
        let required: HashSet<&str> = required.into_iter().collect();
        let mut members = Vec::with_capacity(all.len());
        let mut may_be_open = true;
        for (name, property) in all {
            let (may_be, beside_others) = self.may_be_key(name);
            may_be_open &= beside_others;
            if !may_be || matches!(property, Property::Closed) {
                if required.contains(name) {
                    return self.noted("never_written", named("reference"), NEVER_WRITTEN);
                }
                continue;
            }
            self.bytes += 2 * name.len() + BYTES_OF_MEMBER;
            let schema = match property {
                Property::Type(ty) => self.ty(&ty, &secrets.at(name), depth + 1),
                Property::Open | Property::Unlisted | Property::Closed => named("value"),
            };
            members.push((name, schema, required.contains(name)));
        }
        let mut schema = object(members);
        let rest = match form.rest() {
            Property::Type(ty) if may_be_open => Some(self.ty(&ty, &secrets.any(), depth + 1)),
            Property::Open if may_be_open => Some(named("value")),
            _ => None,
        };
        if let Some(rest) = rest {
            schema["additionalProperties"] = rest;
            self.limit_names(&mut schema);
        }
        self.wrapped(schema)
    }
}

/// Returns `true` if a type has more forms than the limit, or was not opened completely.
fn is_large(ty: &Type<'_>) -> bool {
    matches!(ty.beyond(), Some(TooMuchWork::Work)) || ty.forms().len() > MOST_FORMS
}

/// The bounds of a number.
fn bounds(form: &Form<'_>) -> Vec<(&'static str, Value)> {
    let bounds = form.bounds();
    let all = [
        ("minimum", bounds.minimum),
        ("maximum", bounds.maximum),
        ("exclusiveMinimum", bounds.exclusive_minimum),
        ("exclusiveMaximum", bounds.exclusive_maximum),
    ];
    let given = all.into_iter();
    let given = given.filter_map(|(name, bound)| Some((name, number(bound?))));
    let steps = form.schemas().iter();
    let steps = steps.filter_map(|schema| schema.number("multipleOf"));
    let steps: Vec<Value> = steps.filter(|step| *step > 0.0).map(number).collect();
    let steps = match &steps[..] {
        [] => None,
        [step] => Some(("multipleOf", step.clone())),
        steps => {
            let each = steps.iter().map(|step| json!({ "multipleOf": step }));
            Some(("allOf", each.collect()))
        }
    };
    given.chain(steps).collect()
}

/// Returns an integer as such, if JSON readers treat it as one.
fn number(bound: f64) -> Value {
    const ABOVE_ALL: f64 = 18_446_744_073_709_551_616.0; // 2⁶⁴
    if bound.fract() != 0.0 || bound.abs() > ABOVE_ALL {
        bound.into()
    } else if bound < 0.0 {
        (bound as i64).into()
    } else {
        (bound as u64).into()
    }
}

/// The bounds of a length.
fn lengths(form: &Form<'_>, [least, most]: [&str; 2]) -> Map<String, Value> {
    let given = |name: &str| -> Vec<usize> {
        let length = |schema: &Schema<'_>| schema.length(name);
        form.schemas().iter().filter_map(length).collect()
    };
    let least = (least, given(least).into_iter().max());
    let most = (most, given(most).into_iter().min());
    let bounds = [least, most].into_iter();
    let bounds = bounds.filter_map(|(name, length)| Some((name.to_owned(), length?.into())));
    bounds.collect()
}
