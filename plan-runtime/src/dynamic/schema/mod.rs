//! What JSON Schemas say of values.
//!
//! Only what is understood says anything: a keyword that is not, a `$ref` to another document, `pattern`, `format`, `not` and the like
//! leave a value free, so that nothing is found wrong that may be right. A schema that refers to itself without a property or an element
//! between says nothing at that place.
//!
//! A schema that is too large to be worked off is another matter: it does say something, which nobody looked at. So does one with a
//! `$ref` into its own document that leads nowhere. It becomes [`Form::Beyond`], and whatever meets one of those is an error.

mod allowed;
mod form;
mod keywords;
mod overlap;
mod secrets;
mod types;
mod work;

use crate::plan::{ERR, OK};
pub(super) use overlap::Clash;
pub(super) use secrets::secrets;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::LazyLock;
pub(super) use types::Types;
pub(super) use work::Work;

/// How many forms a type has at most.
const MOST_FORMS: usize = 16_384;
/// How many schemas are opened for one type at most, and how many its forms have.
const MOST_OPENED: usize = 20_000;
/// How deep `$ref`, `allOf`, `anyOf` and `oneOf` may be in one another.
const MOST_NESTED: usize = 128;

/// In how many members of an object it is looked for what any of them may be.
const MOST_MEMBERS: usize = 256;

/// How many names a schema lists for the work of opening one.
const NAMES: usize = 32;

/// What is not null.
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

/// The values that are allowed: those of any of the forms.
#[derive(Clone, Debug)]
pub(super) struct Type<'a> {
    forms: Vec<Form<'a>>,
    /// How many schemas were opened to make it.
    cost: usize,
    /// How many lists and objects that no schema speaks of are in one another.
    lists: usize,
}

/// A form that a value may have.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// All of these schemas fit. Their `$ref`, `allOf`, `anyOf` and `oneOf` need no further look.
    All(Vec<Schema<'a>>),
    /// A list of such elements.
    List(Type<'a>),
    /// A list of just these elements.
    Tuple(Vec<Type<'a>>),
    /// An object of just these members.
    Members(Vec<(&'a str, Type<'a>)>),
    /// Anything of these kinds.
    Plain(Types),
    /// Nobody knows, of this and of all that is inside.
    Beyond(TooMuchWork),
}

/// Why nobody knows what fits.
#[derive(Clone, Debug)]
pub(super) enum TooMuchWork {
    /// Finding out is too much work.
    Work,
    /// This `$ref` leads nowhere.
    Target(Rc<str>),
}

/// Opens the schemas of one type.
#[derive(Default)]
struct Opening {
    /// The schemas that are being opened.
    open: Vec<*const Value>,
    opened: usize,
    /// How many names are listed in what was opened.
    names: usize,
}

/// What is known of a member of an object.
pub(super) enum Property<'a> {
    Type(Type<'a>),
    /// It may be there.
    Open,
    /// The schema names other members, and does not say whether there may be more.
    Unlisted,
    /// It is not there.
    Closed,
}

/// What is known of whether a member is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Sure,
    Maybe,
    /// The schema does not say of any member that it is required, as many do that were written in haste.
    Unknown,
}

/// What is known of an element of a list.
pub(super) enum Element<'a> {
    Type(Type<'a>),
    /// The list has at most this number of elements.
    Beyond(usize),
}

impl<'a> Type<'a> {
    /// The values that fit a schema that is a document of its own.
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
        for schema in schemas {
            opening.open.clear();
            forms = forms.and_then(|forms| {
                let others = schema.forms(&mut opening)?;
                opening.product(forms, others)
            });
        }
        let cost = opening.opened + opening.names / NAMES;
        match forms {
            Ok(forms) => Self {
                forms: forms.into_iter().map(Form::All).collect(),
                cost,
                lists: 0,
            },
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

    /// What nobody knows.
    pub(super) fn unknown(why: TooMuchWork) -> Self {
        Self::form(Form::Beyond(why))
    }

    /// How much work it was to make it.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Why nobody knows what it is, where that is so.
    pub(super) fn beyond(&self) -> Option<&TooMuchWork> {
        self.forms.iter().find_map(|form| match form {
            Form::Beyond(why) => Some(why),
            _ => None,
        })
    }

    /// The same type, where it is known what it is.
    pub(super) fn known(&self) -> Result<&Self, TooMuchWork> {
        self.beyond().map_or(Ok(self), |why| Err(why.clone()))
    }

    pub(super) fn any() -> Self {
        Self::form(Form::All(Vec::new()))
    }

    pub(super) fn plain(types: Types) -> Self {
        Self::form(Form::Plain(types))
    }

    /// `{"Ok": …}` with a value of this type, or `{"Err": …}` with a [`Failure`](crate::Failure).
    pub(super) fn result(ok: Self, work: &'a Work) -> Self {
        let failure = Self::of(&FAILURE, work);
        Self::members(vec![(OK, ok)]).or(Self::members(vec![(ERR, failure)]))
    }

    /// Whether it can be in no further list or object that no schema speaks of.
    pub(super) fn is_deep(&self) -> bool {
        self.lists >= MOST_NESTED
    }

    /// A list of just these elements.
    pub(super) fn tuple(elements: Vec<Self>) -> Self {
        let parts = Self::around(elements.iter());
        parts.with(Form::Tuple(elements))
    }

    /// An object of just these members.
    pub(super) fn members(members: Vec<(&'a str, Self)>) -> Self {
        let parts = Self::around(members.iter().map(|(_, member)| member));
        parts.with(Form::Members(members))
    }

    /// What is known of a value with such parts, but for its form.
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

    /// The same with this form, where it is known.
    fn with(mut self, form: Form<'a>) -> Self {
        if self.forms.is_empty() {
            self.forms.push(form);
        }
        self
    }

    /// The values that are not null. A type that may be anything stays so.
    pub(super) fn present(self, work: &'a Work) -> Self {
        let is_null = |types: Types| types.overlaps(Types::NULL) && types != Types::ALL;
        let forms = self.forms.into_iter().filter_map(|form| {
            let types = form.types();
            match form {
                form if !is_null(types) => Some(form),
                _ if types == Types::NULL => None,
                Form::All(mut schemas) => {
                    schemas.push(Schema {
                        root: &PRESENT,
                        at: &PRESENT,
                        work,
                    });
                    Some(Form::All(schemas))
                }
                _ => Some(Form::Plain(types.without(Types::NULL))),
            }
        });
        let forms = forms.collect();
        Self { forms, ..self }
    }

    /// The same, with each form once.
    pub(super) fn once(mut self) -> Self {
        let mut seen = HashSet::new();
        self.forms.retain(|form| seen.insert(form.key()));
        self
    }

    /// What a `for` over it binds: an element of a list, or a name and a member of an object, as a pair.
    pub(super) fn iterated(&self, work: &Work) -> Self {
        let is_open = |form: &Form<'a>| form.types() == Types::ALL;
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

    /// A side of a `Result`, by the name that it has in JSON.
    pub(super) fn side(&self, name: &str) -> Self {
        let mut all = Self::none();
        for form in &self.forms {
            if !form.types().overlaps(Types::OBJECT) {
                continue;
            }
            match form.property(name) {
                Property::Type(side) => all = all.or(side),
                Property::Closed => {}
                Property::Open | Property::Unlisted => return Self::any(),
            }
        }
        if all.types().is_empty() {
            Self::any()
        } else {
            all
        }
    }

    pub(super) fn list(element: Self) -> Self {
        let parts = Self::around(std::iter::once(&element));
        parts.with(Form::List(element))
    }

    /// What fits either.
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

    /// What fits it, or null.
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

    /// What tells this type from others: the places of its schemas.
    pub(super) fn key(&self) -> Vec<usize> {
        let mut key = Vec::new();
        self.forms.iter().for_each(|form| form.push_key(&mut key));
        key
    }

    pub(super) fn types(&self) -> Types {
        let any = |types: Types, form: &Form<'a>| types.or(form.types());
        self.forms.iter().fold(Types::NONE, any)
    }

    /// Whether null is listed among the values.
    pub(super) fn says_null(&self) -> bool {
        self.forms.iter().any(|form| {
            let types = form.types();
            types != Types::ALL && types.overlaps(Types::NULL)
        })
    }

    /// What an element of a list may be; anything, where something else than lists is known.
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

    /// What a member of an object may be, where all that is known of objects says so.
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

/// Whether two values are one to JSON Schema, for which `1` and `1.0` are.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a != b => {
            (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(has)
        }
        _ => a == b,
    }
}
