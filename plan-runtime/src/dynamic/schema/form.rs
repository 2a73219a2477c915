//! A *form* is one alternative of a type: several schemas that a value must satisfy together. This file combines their keywords.

use super::merged::{self, once};
use super::{Element, Form, MOST_MEMBERS, Presence, Property, Schema, Type, Types};
use serde_json::Value;
use std::collections::HashMap;

impl<'a> Form<'a> {
    pub(in crate::dynamic) fn schemas(&self) -> &[Schema<'a>] {
        match self {
            Self::All(schemas) => schemas,
            Self::Narrowed(form, _) => form.schemas(),
            Self::List(_)
            | Self::Tuple(_)
            | Self::Members(_)
            | Self::Merged(_)
            | Self::Plain(_)
            | Self::Literal(_)
            | Self::Trusted
            | Self::Beyond(_) => &[],
        }
    }

    pub(in crate::dynamic) fn types(&self) -> Types {
        match self {
            Self::All(schemas) => {
                let both = |types: Types, schema: &Schema<'a>| types.and(schema.types());
                schemas.iter().fold(Types::ALL, both)
            }
            Self::List(_) | Self::Tuple(_) => Types::LIST,
            Self::Members(_) | Self::Narrowed(..) | Self::Merged(_) => Types::OBJECT,
            Self::Plain(types) => *types,
            Self::Literal(value) => Types::of(value),
            Self::Trusted | Self::Beyond(_) => Types::ALL,
        }
    }

    /// Adds the key that identifies this form while the schemas are borrowed.
    pub(super) fn key(&self) -> Vec<usize> {
        let mut key = Vec::new();
        self.push_key(&mut key);
        key
    }

    pub(super) fn push_key(&self, key: &mut Vec<usize>) {
        match self {
            Self::All(schemas) => {
                let start = key.len();
                let places = schemas
                    .iter()
                    .map(|schema| std::ptr::from_ref(schema.at).addr());
                key.extend(places);
                key[start..].sort_unstable();
                key.push(0);
            }
            Self::List(element) => {
                key.push(1);
                element.forms.iter().for_each(|form| form.push_key(key));
                key.push(2);
            }
            Self::Tuple(elements) => {
                key.push(6);
                for element in elements {
                    element.forms.iter().for_each(|form| form.push_key(key));
                    key.push(7);
                }
                key.push(2);
            }
            Self::Members(members) => {
                key.push(5);
                for (name, value) in members {
                    // Names are borrowed for as long as schemas.
                    key.extend([name.as_ptr().addr(), name.len()]);
                    value.forms.iter().for_each(|form| form.push_key(key));
                    key.push(7);
                }
                key.push(2);
            }
            Self::Narrowed(form, members) => {
                key.push(11);
                form.push_key(key);
                for (name, value) in members {
                    key.extend([name.as_ptr().addr(), name.len()]);
                    let forms = value.iter().flat_map(|value| &value.forms);
                    forms.for_each(|form| form.push_key(key));
                    key.push(7);
                }
                key.push(2);
            }
            Self::Merged(forms) => {
                key.push(12);
                forms.iter().for_each(|form| form.push_key(key));
                key.push(2);
            }
            Self::Plain(types) => key.extend([3, types.bits()]),
            Self::Beyond(_) => key.push(4),
            Self::Trusted => key.push(8),
            Self::Literal(value) => key.extend([9, std::rc::Rc::as_ptr(value).addr()]),
        }
    }

    /// Returns `true` if the form lists its values.
    pub(in crate::dynamic) fn counts(&self) -> bool {
        self.schemas()
            .iter()
            .any(|schema| schema.listed().is_some())
    }

    /// Returns `true` if no schema describes the values, or the value fits everything.
    pub(in crate::dynamic) fn is_free(&self) -> bool {
        const STATES: [&str; 8] = [
            "properties",
            "required",
            "additionalProperties",
            "unevaluatedProperties",
            "patternProperties",
            "items",
            "prefixItems",
            "additionalItems",
        ];
        let states = |schema: &Schema<'_>| STATES.iter().any(|it| schema.keyword(it).is_some());
        match self {
            Self::All(schemas) => self.types() == Types::ALL && !schemas.iter().any(states),
            Self::Trusted => true,
            _ => false,
        }
    }

    /// Returns the shortest list of values among its schemas; not all of them are [allowed](Self::allows).
    pub(super) fn listed(&self) -> &'a [Value] {
        let lists = self.schemas().iter().filter_map(|schema| schema.listed());
        lists.min_by_key(|list| list.len()).unwrap_or_default()
    }

    /// Returns `true` if the form lists the value, or lists no values.
    pub(in crate::dynamic) fn allows(&self, value: &Value) -> bool {
        self.schemas().iter().all(|schema| schema.allows(value))
    }

    /// Returns the listed values that are allowed.
    pub(in crate::dynamic) fn allowed(&self) -> impl Iterator<Item = &'a Value> {
        // A single `const` or `enum` allows each of its values.
        let keywords = self.schemas().iter();
        let keywords =
            keywords.flat_map(|schema| ["const", "enum"].map(|name| schema.keyword(name)));
        let alone = keywords.flatten().count() == 1;
        let values = self.listed().iter();
        values.filter(move |value| alone || self.allows(value))
    }

    pub(in crate::dynamic) fn property(&self, name: &str) -> Property<'a> {
        self.member(Some(name))
    }

    /// Returns the property of a member that no schema names.
    pub(in crate::dynamic) fn rest(&self) -> Property<'a> {
        self.member(None)
    }

    /// Returns the property of a name, or of each name outside of the schemas.
    fn member(&self, name: Option<&str>) -> Property<'a> {
        match self {
            Self::Beyond(why) => return Property::Type(Type::unknown(why.clone())),
            Self::Trusted => return Property::Type(Type::trusted()),
            Self::Literal(value) => {
                let Some(name) = name else {
                    return Property::Open;
                };
                let member = value.get(name).cloned();
                return member.map_or(Property::Closed, |it| Property::Type(Type::literal(it)));
            }
            Self::Narrowed(form, members) => {
                let member = members.iter().find(|(member, _)| name == Some(*member));
                return match member {
                    Some((_, Some(value))) => Property::Type(value.clone()),
                    Some((_, None)) => Property::Closed,
                    None => form.member(name),
                };
            }
            Self::Merged(forms) => {
                let member = name.map(|name| merged::member(forms, name).0);
                return member.unwrap_or_else(|| merged::rest(forms));
            }
            _ => {}
        }
        if let Self::Members(members) = self {
            let member = members.iter().find(|(member, _)| name == Some(*member));
            return match member {
                Some((_, value)) => Property::Type(value.clone()),
                None => Property::Closed,
            };
        }
        let (mut listed, mut others) = (Vec::new(), Vec::new());
        let (mut open, mut closed, mut lists) = (false, false, false);
        for schema in self.schemas() {
            let properties = schema.object("properties");
            let property = name.and_then(|name| properties?.get(name));
            if let Some(property) = property {
                listed.push(schema.sub(property));
                continue;
            }
            lists |= properties.is_some_and(|properties| !properties.is_empty());
            if schema.object("patternProperties").is_some() {
                open = true;
                continue;
            }
            match schema.keyword("additionalProperties") {
                Some(Value::Bool(false)) => closed = true,
                Some(Value::Bool(true)) => open = true,
                Some(others_of_it) => others.push(schema.sub(others_of_it)),
                None => closed |= schema.keyword("unevaluatedProperties") == Some(&false.into()),
            }
        }
        match () {
            () if !listed.is_empty() => Property::Type(Type::all(listed)),
            () if closed => Property::Closed,
            () if !others.is_empty() => Property::Type(Type::all(others)),
            () if name.is_some_and(|name| self.requires(name)) => Property::Type(Type::any()),
            () if open || !lists => Property::Open,
            () => Property::Unlisted,
        }
    }

    /// Returns the union of the types of all members.
    pub(super) fn any_member(&self) -> Type<'a> {
        let rest = match self.rest() {
            Property::Open | Property::Unlisted => return Type::any(),
            Property::Closed => Type::none(),
            Property::Type(rest) => rest,
        };
        let mut all = rest;
        for name in self.names() {
            match self.property(name) {
                Property::Type(member) => all = all.or(member),
                Property::Closed => {}
                Property::Open | Property::Unlisted => return Type::any(),
            }
        }
        all.once()
    }

    /// Returns the named members with their types, in one pass over the schemas.
    pub(in crate::dynamic) fn properties(&self) -> Vec<(&'a str, Type<'a>)> {
        if let Self::Members(members) = self {
            return members.clone();
        }
        let mut places: HashMap<&'a str, usize> = HashMap::new();
        let mut listed: Vec<(&'a str, Vec<Schema<'a>>)> = Vec::new();
        for schema in self.schemas() {
            for (name, property) in schema.object("properties").into_iter().flatten() {
                let place = *places.entry(name).or_insert(listed.len());
                if place == listed.len() {
                    listed.push((name, Vec::new()));
                }
                listed[place].1.push(schema.sub(property));
            }
        }
        let listed = listed.into_iter();
        listed.map(|(name, all)| (name, Type::all(all))).collect()
    }

    /// Returns the named members.
    pub(in crate::dynamic) fn names(&self) -> Vec<&'a str> {
        match self {
            Self::Members(members) => return members.iter().map(|(name, _)| *name).collect(),
            Self::Narrowed(form, _) => return form.names(),
            Self::Merged(forms) => return merged::names(forms),
            _ => {}
        }
        let schemas = self.schemas().iter();
        once(schemas.flat_map(|schema| {
            let properties = schema.object("properties").into_iter().flatten();
            let required = schema.list("required").iter().filter_map(Value::as_str);
            properties.map(|(name, _)| name.as_str()).chain(required)
        }))
    }

    /// Returns `true` if a schema requires the member.
    fn requires(&self, name: &str) -> bool {
        let mut lists = self.schemas().iter().map(|schema| schema.list("required"));
        lists.any(|list| list.iter().any(|required| required == name))
    }

    pub(in crate::dynamic) fn required(&self) -> Vec<&'a str> {
        if let Self::Members(members) = self {
            return members.iter().map(|(name, _)| *name).collect();
        }
        if let Self::Merged(forms) = self {
            return merged::required(forms);
        }
        let narrowed = match self {
            Self::Narrowed(_, members) => &members[..],
            _ => &[],
        };
        let narrowed = narrowed.iter().filter(|(_, value)| value.is_some());
        let lists = self.schemas().iter().map(|schema| schema.list("required"));
        let required = lists.flat_map(|list| list.iter().filter_map(Value::as_str));
        once(required.chain(narrowed.map(|(name, _)| *name)))
    }

    pub(in crate::dynamic) fn presence(&self, name: &str) -> Presence {
        if let Self::Members(_) | Self::Trusted | Self::Literal(_) = self {
            return Presence::Sure;
        }
        if self.requires(name) {
            return Presence::Sure;
        }
        self.presence_of_optional(name)
    }

    /// Returns the presence of a member that no schema requires.
    pub(super) fn presence_of_optional(&self, name: &str) -> Presence {
        if let Self::Merged(forms) = self {
            return merged::member(forms, name).1;
        }
        let says = |schema: &&Schema<'a>| {
            let properties = schema.object("properties");
            properties.is_some_and(|properties| properties.contains_key(name))
                && schema
                    .keyword("required")
                    .is_some_and(serde_json::Value::is_array)
        };
        match self.schemas().iter().find(says) {
            Some(_) => Presence::Maybe,
            None => Presence::Unknown,
        }
    }

    /// Returns the tightest inclusive bounds of a number, if a float represents them exactly.
    pub(in crate::dynamic) fn bounds(&self) -> [Option<f64>; 2] {
        let tightest = |name, exclusive, tighter: fn(f64, f64) -> f64| {
            // In the fourth draft, `exclusiveMinimum` is `true` beside a `minimum`.
            let schemas = self.schemas().iter().filter(|it| !it.is(exclusive));
            let bounds = schemas.filter_map(|it| it.number(name));
            bounds.filter(|it| it.abs() < LARGEST).reduce(tighter)
        };
        [
            tightest("minimum", "exclusiveMinimum", f64::max),
            tightest("maximum", "exclusiveMaximum", f64::min),
        ]
    }

    /// Returns the element at an index, or any element.
    pub(in crate::dynamic) fn element(&self, index: Option<usize>) -> Element<'a> {
        match (self, index) {
            (Self::List(element), _) => return Element::Type(element.clone()),
            (Self::Tuple(elements), Some(index)) => {
                return match elements.get(index) {
                    Some(element) => Element::Type(element.clone()),
                    None => Element::Beyond(elements.len()),
                };
            }
            (Self::Tuple(elements), None) => {
                let any = elements.iter().cloned().fold(Type::none(), Type::or);
                return Element::Type(any.once());
            }
            _ => {}
        }
        let first = self.first_elements();
        if index.is_none() && (1..=MOST_MEMBERS).contains(&first) {
            let parts = (0..=first).filter_map(|index| match self.element(Some(index)) {
                Element::Type(part) => Some(part),
                Element::Beyond(_) => None,
            });
            return Element::Type(parts.fold(Type::none(), Type::or).once());
        }
        match self {
            Self::Beyond(why) => return Element::Type(Type::unknown(why.clone())),
            Self::Trusted => return Element::Type(Type::trusted()),
            _ => {}
        }
        let mut elements = Vec::new();
        for schema in self.schemas() {
            let (first, rest) = schema.elements();
            match (index, rest) {
                (None, Some(rest)) if first.is_empty() => elements.push(schema.sub(rest)),
                (None, _) => {}
                (Some(index), _) if index < first.len() => elements.push(schema.sub(&first[index])),
                (Some(_), Some(Value::Bool(false))) => return Element::Beyond(first.len()),
                (Some(_), Some(rest)) => elements.push(schema.sub(rest)),
                (Some(_), None) => {}
            }
            if let (Some(index), Some(most)) = (index, schema.length("maxItems"))
                && index >= most
            {
                return Element::Beyond(most);
            }
        }
        Element::Type(Type::all(elements))
    }

    /// Returns the presence of the element at this index.
    pub(in crate::dynamic) fn has_element(&self, index: usize) -> Presence {
        if let Self::Tuple(elements) = self
            && index < elements.len()
        {
            return Presence::Sure;
        }
        let mut least = self
            .schemas()
            .iter()
            .map(|schema| schema.length("minItems"));
        if least.any(|least| least.is_some_and(|least| index < least)) {
            Presence::Sure
        } else {
            Presence::Unknown
        }
    }

    /// Returns the number of elements with separate schemas.
    pub(in crate::dynamic) fn first_elements(&self) -> usize {
        if let Self::Tuple(elements) = self {
            return elements.len();
        }
        let first = self
            .schemas()
            .iter()
            .map(|schema| schema.elements().0.len());
        first.max().unwrap_or_default()
    }

    /// Returns the default of a member.
    pub(in crate::dynamic) fn default(&self, name: &str) -> Option<&'a Value> {
        let property = |schema: &Schema<'a>| schema.object("properties")?.get(name);
        let property = self.schemas().iter().find_map(property)?;
        property.get("default")
    }

    /// Returns the description of a member.
    pub(in crate::dynamic) fn description(&self, name: &str) -> Option<&'a str> {
        let property = |schema: &Schema<'a>| schema.object("properties")?.get(name);
        let property = self.schemas().iter().find_map(property)?;
        property.get("description")?.as_str()
    }
}

/// The largest integer bound that a float represents exactly.
const LARGEST: f64 = 9e15;
