//! Types of values, from JSON Schemas.
//!
//! An unsupported keyword, such as `pattern`, `format`, `not` or a `$ref` into another document, leaves a value free, so a right value never
//! has a finding. A `$ref` cycle without a property or an element, such as `"a": {"$ref": "#/$defs/a"}`, has no effect.
//!
//! A schema that is too large, or that has a `$ref` to a missing part of its own document, becomes [`Form::Beyond`], and each use of its
//! values is an error.

mod allowed;
mod bounds;
mod cases;
mod form;
mod inclusion;
mod keywords;
mod listed;
mod merged;
mod mismatch;
mod secrets;
mod together;
mod types;
mod work;

use crate::plan::{ERR, OK};
pub(super) use allowed::same;
pub(super) use bounds::bound;
#[cfg(feature = "jsonschema")]
pub(super) use keywords::{Anchors, anchors, part};
pub(super) use mismatch::{Mismatch, Reason};
pub(super) use secrets::secrets;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::LazyLock;
pub(super) use types::Types;
pub(super) use work::Work;

/// Maximum number of forms of a type.
const MOST_FORMS: usize = 16_384;
/// Maximum number of schemas that are opened for one type, and of schemas in its forms.
const MOST_OPENED: usize = 20_000;
/// Maximum nesting of `$ref`, `allOf`, `anyOf` and `oneOf`.
const MOST_NESTED: usize = 128;

/// Maximum number of members whose types are combined.
const MOST_MEMBERS: usize = 256;

/// Number of listed names that cost as much work as opening a schema.
const NAMES: usize = 32;

/// The schema of all values except null.
static PRESENT: LazyLock<Value> =
    LazyLock::new(|| json!({"type": ["boolean", "number", "string", "array", "object"]}));

/// A [`Failure`](crate::Failure).
static FAILURE: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "step": {"type": "string"},
            "code": {"type": "string"},
            "message": {"type": "string"},
            "transient": {"type": "boolean"},
            "attempts": {"type": "integer"},
            "expression": {"type": "string"},
        },
        "required": ["step", "code", "message", "transient", "attempts"],
    })
});

/// A schema, in the document that its `$ref`s lead into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    at: &'a Value,
    work: &'a Work,
}

/// A type: the values of any of its forms.
#[derive(Clone, Debug)]
pub(super) struct Type<'a> {
    forms: Vec<Form<'a>>,
    /// The number of schemas that were opened for the type.
    cost: usize,
    /// The nesting of lists and objects outside of schemas.
    lists: usize,
}

/// A form of values.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// The values of all these schemas. Their `$ref`, `allOf`, `anyOf` and `oneOf` are already opened.
    All(Vec<Schema<'a>>),
    /// A list of elements of one type.
    List(Type<'a>),
    /// A list with exactly these elements.
    Tuple(Vec<Type<'a>>),
    /// An object with exactly these members.
    Members(Vec<(&'a str, Type<'a>)>),
    /// The objects of a form in which these members have these types, or are missing.
    Narrowed(Box<Form<'a>>, Vec<(&'a str, Option<Type<'a>>)>),
    /// The members of all these objects. A later object replaces members of earlier objects.
    Merged(Vec<Form<'a>>),
    /// All values of these kinds.
    Plain(Types),
    /// A literal value of the plan.
    Literal(Rc<Value>),
    /// A value that fits everything, because the document already has a finding for the value.
    Trusted,
    /// An unknown type, with unknown parts.
    Beyond(TooMuchWork),
}

/// The reason why a type is unknown.
#[derive(Clone, Debug)]
pub(super) enum TooMuchWork {
    /// The comparison is too much work.
    Work,
    /// A `$ref` leads nowhere.
    Target(Rc<str>),
}

/// Opens the schemas of one type.
#[derive(Default)]
struct Opening {
    /// The schemas that are being opened.
    open: Vec<*const Value>,
    opened: usize,
    /// The number of names in the opened schemas.
    names: usize,
}

/// The type of a member of an object.
pub(super) enum Property<'a> {
    Type(Type<'a>),
    /// A member of unknown type, which may be present.
    Open,
    /// A member outside of a schema that neither allows nor forbids other members.
    Unlisted,
    /// A member that is never present.
    Closed,
}

/// The presence of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Sure,
    Maybe,
    /// The schema has no `required`.
    Unknown,
}

/// The type of an element of a list.
pub(super) enum Element<'a> {
    Type(Type<'a>),
    /// The list has at most this number of elements.
    Beyond(usize),
}

impl<'a> Type<'a> {
    /// Returns the values of a schema that is a whole document.
    pub(super) fn of(schema: &'a Value, work: &'a Work) -> Self {
        let root = Schema {
            root: schema,
            at: schema,
            work,
        };
        Self::all([root])
    }

    fn all(schemas: impl IntoIterator<Item = Schema<'a>>) -> Self {
        let mut opening = Opening::default();
        let mut forms = Ok(vec![Vec::new()]);
        let mut schemas: Vec<_> = schemas.into_iter().collect();
        distinct(&mut schemas);
        for schema in schemas {
            opening.open.clear();
            forms = forms.and_then(|forms| {
                let others = schema.forms(&mut opening)?;
                opening.product(forms, others)
            });
        }
        let cost = opening.opened + opening.names / NAMES;
        match forms {
            Ok(mut forms) => {
                // Schemas of a recursive `allOf` would double in each member.
                forms.iter_mut().for_each(distinct);
                let all = Self {
                    forms: forms.into_iter().map(Form::All).collect(),
                    cost,
                    lists: 0,
                };
                if all.forms.len() > 1 { all.once() } else { all }
            }
            Err(why) => Self {
                cost,
                ..Self::unknown(why)
            },
        }
    }

    fn form(form: Form<'a>) -> Self {
        Self {
            forms: vec![form],
            cost: 1,
            lists: 0,
        }
    }

    /// Returns an unknown type.
    pub(super) fn unknown(why: TooMuchWork) -> Self {
        Self::form(Form::Beyond(why))
    }

    /// Returns the work of making the type.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Returns the work of comparing a value with each form.
    pub(super) fn width(&self) -> usize {
        let forms = self.forms.iter();
        forms.map(|form| 1 + form.schemas().len()).sum()
    }

    /// Returns the reason why the type is unknown.
    pub(super) fn beyond(&self) -> Option<&TooMuchWork> {
        self.forms.iter().find_map(|form| match form {
            Form::Beyond(why) => Some(why),
            _ => None,
        })
    }

    /// Returns the type if the type is known.
    pub(super) fn known(&self) -> Result<&Self, TooMuchWork> {
        self.beyond().map_or(Ok(self), |why| Err(why.clone()))
    }

    pub(super) fn any() -> Self {
        Self::form(Form::All(Vec::new()))
    }

    pub(super) fn trusted() -> Self {
        Self::form(Form::Trusted)
    }

    /// Returns the type of a literal.
    pub(super) fn literal(value: Value) -> Self {
        Self::form(Form::Literal(Rc::new(value)))
    }

    /// Returns `true` if the value fits everything.
    pub(super) fn is_trusted(&self) -> bool {
        self.forms.iter().any(|form| matches!(form, Form::Trusted))
    }

    /// Returns `true` if the value or a part of it fits everything.
    pub(super) fn has_trusted(&self) -> bool {
        self.forms.iter().any(|form| match form {
            Form::Trusted => true,
            Form::List(element) => element.has_trusted(),
            Form::Tuple(elements) => elements.iter().any(Self::has_trusted),
            Form::Members(members) => members.iter().any(|(_, member)| member.has_trusted()),
            Form::All(_)
            | Form::Narrowed(..)
            | Form::Merged(_)
            | Form::Plain(_)
            | Form::Literal(_)
            | Form::Beyond(_) => false,
        })
    }

    pub(super) fn plain(types: Types) -> Self {
        Self::form(Form::Plain(types))
    }

    /// Returns `{"Ok": …}` with a value of this type, or `{"Err": …}` with a [`Failure`](crate::Failure).
    pub(super) fn result(ok: Self, work: &'a Work) -> Self {
        let failure = Self::of(&FAILURE, work);
        Self::members(vec![(OK, ok)]).or(Self::members(vec![(ERR, failure)]))
    }

    /// Returns `true` at the maximum nesting of lists and objects outside of schemas.
    pub(super) fn is_deep(&self) -> bool {
        self.lists >= MOST_NESTED
    }

    /// A list with exactly these elements.
    pub(super) fn tuple(elements: Vec<Self>) -> Self {
        let parts = Self::around(elements.iter());
        parts.with(Form::Tuple(elements))
    }

    /// An object with exactly these members.
    pub(super) fn members(members: Vec<(&'a str, Self)>) -> Self {
        let parts = Self::around(members.iter().map(|(_, member)| member));
        parts.with(Form::Members(members))
    }

    /// Returns the type of a value with these parts, still without a form.
    fn around<'t>(parts: impl Iterator<Item = &'t Self>) -> Self
    where
        'a: 't,
    {
        let mut all = Self::none();
        for part in parts {
            if let Some(why) = part.beyond() {
                return Self::unknown(why.clone());
            }
            all.cost += part.cost;
            all.lists = all.lists.max(part.lists);
        }
        (all.cost, all.lists) = (all.cost + 1, all.lists + 1);
        if all.lists > MOST_NESTED {
            return Self::unknown(TooMuchWork::Work);
        }
        all
    }

    /// Adds the form to a known type.
    fn with(mut self, form: Form<'a>) -> Self {
        if self.forms.is_empty() {
            self.forms.push(form);
        }
        self
    }

    /// Returns the values that are not null. A type of any value remains.
    pub(super) fn present(self) -> Self {
        let is_null = |types: Types| types.overlaps(Types::NULL) && types != Types::ALL;
        let forms = self.forms.into_iter().filter_map(|form| {
            let types = form.types();
            match form {
                form if !is_null(types) => Some(form),
                _ if types == Types::NULL => None,
                Form::All(mut schemas) => {
                    // A form without schemas may be anything.
                    let first = schemas[0];
                    schemas.push(Schema {
                        root: &PRESENT,
                        at: &PRESENT,
                        ..first
                    });
                    Some(Form::All(schemas))
                }
                _ => Some(Form::Plain(types.without(Types::NULL))),
            }
        });
        let forms = forms.collect();
        Self { forms, ..self }
    }

    /// Returns the type without duplicate forms.
    pub(super) fn once(mut self) -> Self {
        let mut seen = HashSet::new();
        self.forms.retain(|form| seen.insert(form.key()));
        self
    }

    /// Returns the element of a `for`: an element of a list, or a pair of a name and a member of an object.
    pub(super) fn iterated(&self, work: &Work) -> Self {
        let is_open = |form: &Form<'a>| form.types() == Types::ALL;
        if self.is_trusted() {
            return Self::trusted();
        }
        if self.beyond().is_none() && self.forms.iter().any(is_open) {
            return Self::any();
        }
        let mut all = self.element();
        for form in &self.forms {
            if !form.types().overlaps(Types::OBJECT) {
                continue;
            }
            let names = form.names().len();
            let value = match work.spend(1 + names) {
                Ok(()) if names <= MOST_MEMBERS => form.any_member(),
                Ok(()) => Self::any(),
                Err(why) => Self::unknown(why),
            };
            all = all.or(Self::tuple(vec![Self::plain(Types::STRING), value]));
        }
        all.once()
    }

    /// Returns a side of a `Result` by its name in JSON.
    pub(super) fn side(&self, name: &str) -> Self {
        let mut all = Self::none();
        for form in &self.forms {
            if !form.types().overlaps(Types::OBJECT) {
                continue;
            }
            match form.property(name) {
                Property::Type(side) => all = all.or(side),
                Property::Closed => {}
                _ if form.types() == Types::ALL => return Self::any(),
                Property::Open | Property::Unlisted => return Self::trusted(),
            }
        }
        // Another value than a `Result` has a finding.
        if all.types().is_empty() {
            Self::trusted()
        } else {
            all
        }
    }

    pub(super) fn list(element: Self) -> Self {
        let parts = Self::around(std::iter::once(&element));
        parts.with(Form::List(element))
    }

    /// Returns the union of two types.
    pub(super) fn or(mut self, mut other: Self) -> Self {
        self.cost += other.cost;
        self.lists = self.lists.max(other.lists);
        if self.forms.len() + other.forms.len() > MOST_FORMS {
            self.forms = vec![Form::Beyond(TooMuchWork::Work)];
        } else {
            self.forms.append(&mut other.forms);
        }
        self
    }

    /// Returns the type or null.
    pub(super) fn nullable(self) -> Self {
        if self.says_null() {
            return self;
        }
        self.or(Self::plain(Types::NULL))
    }

    pub(super) fn none() -> Self {
        Self {
            forms: Vec::new(),
            cost: 0,
            lists: 0,
        }
    }

    pub(super) fn forms(&self) -> &[Form<'a>] {
        &self.forms
    }

    /// Returns the key that identifies the type: the places of its schemas.
    pub(super) fn key(&self) -> Vec<usize> {
        let mut key = Vec::new();
        self.forms.iter().for_each(|form| form.push_key(&mut key));
        key
    }

    pub(super) fn types(&self) -> Types {
        let any = |types: Types, form: &Form<'a>| types.or(form.types());
        self.forms.iter().fold(Types::NONE, any)
    }

    /// Returns `true` if the type includes null explicitly.
    pub(super) fn says_null(&self) -> bool {
        self.forms.iter().any(|form| {
            let types = form.types();
            types != Types::ALL && types.overlaps(Types::NULL)
        })
    }

    /// Returns the type of an element of a list.
    pub(super) fn element(&self) -> Self {
        let lists = self
            .forms
            .iter()
            .filter(|f| f.types().overlaps(Types::LIST));
        lists.fold(Self::none(), |all, form| match form.element(None) {
            Element::Type(element) => all.or(element),
            Element::Beyond(_) => all,
        })
    }

    /// Returns the type of the first element of a list.
    pub(super) fn first_element(&self) -> Self {
        let first = self
            .forms
            .iter()
            .filter_map(|form| match form.element(Some(0)) {
                Element::Type(first) if form.types().overlaps(Types::LIST) => Some(first),
                _ => None,
            });
        first.fold(Self::none(), Self::or)
    }

    /// Returns the type of a member if all forms of objects describe the member.
    pub(super) fn property(&self, name: &str) -> Option<Self> {
        let objects = self
            .forms
            .iter()
            .filter(|f| f.types().overlaps(Types::OBJECT));
        let mut all = Self::none();
        for form in objects {
            match form.property(name) {
                Property::Type(property) => all = all.or(property),
                Property::Closed => {}
                Property::Open | Property::Unlisted => return None,
            }
        }
        (!all.forms.is_empty()).then_some(all)
    }

    /// `a list of strings`, `an integer or null`.
    pub(super) fn words(&self) -> String {
        let types = self.types();
        if types.without(Types::NULL) == Types::LIST
            && let Some(plural) = self.element().types().plural()
        {
            let null = if types == Types::LIST { "" } else { " or null" };
            return format!("a list of {plural}{null}");
        }
        types.words()
    }
}

/// Removes duplicates.
fn distinct(schemas: &mut Vec<Schema<'_>>) {
    if schemas.len() > 1 {
        let mut seen = HashSet::new();
        schemas.retain(|schema| seen.insert(std::ptr::from_ref(schema.at)));
    }
}

/// Returns the type of a member in these forms, or `None` if a form allows any value.
pub(super) fn member_of<'f, 'a: 'f>(
    forms: impl IntoIterator<Item = &'f Form<'a>>,
    name: &str,
) -> Option<Type<'a>> {
    let mut all = Type::none();
    for form in forms {
        match form.property(name) {
            Property::Type(member) => all = all.or(member),
            Property::Closed | Property::Unlisted => {}
            Property::Open => return None,
        }
    }
    Some(all)
}
