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
use serde_json::Value;
use std::rc::Rc;
pub(super) use types::Types;
pub(super) use work::Work;

/// How many forms a type has at most.
const MOST_FORMS: usize = 16_384;
/// How many schemas are opened for one type at most, and how many its forms have.
const MOST_OPENED: usize = 20_000;
/// How deep `$ref`, `allOf`, `anyOf` and `oneOf` may be in one another.
const MOST_NESTED: usize = 128;

/// How many names a schema lists for the work of opening one.
const NAMES: usize = 32;

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
    /// How many lists that no schema speaks of are in one another.
    lists: usize,
}

/// A form that a value may have.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// All of these schemas fit. Their `$ref`, `allOf`, `anyOf` and `oneOf` need no further look.
    All(Vec<Schema<'a>>),
    /// A list of such elements.
    List(Type<'a>),
    /// An object whose only member has this name and type.
    Member(&'static str, Type<'a>),
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

    /// `{"Ok": …}` with a value of this type, or `{"Err": …}`.
    pub(super) fn result(ok: Self) -> Self {
        let any = |name| Self::form(Form::Member(name, Self::any()));
        if let Some(why) = ok.beyond() {
            return Self::unknown(why.clone());
        }
        let (cost, lists) = (ok.cost + 1, ok.lists);
        Self {
            cost,
            lists,
            ..Self::form(Form::Member(OK, ok))
        }
        .or(any(ERR))
    }

    pub(super) fn list(element: Self) -> Self {
        let lists = element.lists + 1;
        if let Some(why) = element.beyond() {
            return Self::unknown(why.clone());
        }
        if lists > MOST_NESTED {
            return Self::unknown(TooMuchWork::Work);
        }
        let cost = element.cost + 1;
        Self {
            cost,
            lists,
            ..Self::form(Form::List(element))
        }
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
