//! What JSON Schemas say of values.
//!
//! Only what is understood says anything: a keyword that is not, a `$ref` to another document, `pattern`, `format`, `not` and the like
//! leave a value free, so that nothing is found wrong that may be right. A schema that refers to itself without a property or an element
//! between says nothing at that place.
//!
//! A schema that is too large to be worked off is another matter: it does say something, which nobody looked at. So does one with a
//! `$ref` into its own document that leads nowhere. It becomes [`Form::Beyond`], and whatever meets one of those is an error.

mod allowed;
mod overlap;
mod types;
mod work;

pub(super) use overlap::Clash;
use serde_json::{Map, Value};
use std::collections::HashSet;
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
    /// Anything of these kinds.
    Plain(Types),
    /// Nobody knows, of this and of all that is inside.
    Beyond(Beyond),
}

/// Why nobody knows what fits.
#[derive(Clone, Debug)]
pub(super) enum Beyond {
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

impl<'a> Schema<'a> {
    fn sub(self, at: &'a Value) -> Self {
        Self { at, ..self }
    }

    fn keyword(self, name: &str) -> Option<&'a Value> {
        self.at.get(name)
    }

    fn object(self, name: &str) -> Option<&'a Map<String, Value>> {
        self.keyword(name)?.as_object()
    }

    fn list(self, name: &str) -> &'a [Value] {
        self.keyword(name)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.keyword(name)?.as_f64()
    }

    pub(super) fn length(self, name: &str) -> Option<usize> {
        let length = self.keyword(name)?;
        if let Some(length) = length.as_u64() {
            return Some(usize::try_from(length).unwrap_or(usize::MAX));
        }
        // To JSON Schema `5.0` is an integer.
        let length = length.as_f64()?;
        (length >= 0.0 && length.fract() == 0.0).then_some(length as usize)
    }

    /// `exclusiveMinimum: true`, as the fourth draft has it.
    pub(super) fn is(self, name: &str) -> bool {
        self.keyword(name) == Some(&Value::Bool(true))
    }

    /// The schema of the same document that a `$ref` leads to; `None` without a `$ref`, or if it leads to another document.
    fn target(self) -> Result<Option<Self>, Beyond> {
        let Some(target) = self.keyword("$ref") else {
            return Ok(None);
        };
        let pointer = match target.as_str() {
            Some("") => Some(""),
            Some(target) => match target.strip_prefix('#') {
                Some(pointer) => Some(pointer),
                None => return Ok(None),
            },
            None => None,
        };
        let pointer = pointer.and_then(decoded);
        let found = pointer.and_then(|pointer| self.root.pointer(&pointer));
        match found.filter(|at| at.is_object() || at.is_boolean()) {
            Some(at) => Ok(Some(self.sub(at))),
            None => {
                let target = target
                    .as_str()
                    .map_or_else(|| target.to_string(), str::to_owned);
                Err(Beyond::Target(target.into()))
            }
        }
    }

    /// The forms of the values that fit, each as the schemas that all fit.
    fn forms(self, opening: &mut Opening) -> Result<Vec<Vec<Self>>, Beyond> {
        let this: *const Value = self.at;
        // A schema that is being opened says nothing more of the same value.
        if opening.open.contains(&this) {
            return Ok(vec![Vec::new()]);
        }
        if opening.open.len() == MOST_NESTED {
            return Err(Beyond::Work);
        }
        opening.spend(1)?;
        opening.open.push(this);
        opening.names += self.list("type").len() + self.list("required").len();
        let mut forms = vec![vec![self]];
        if let Some(target) = self.target()? {
            let target = target.forms(opening)?;
            forms = opening.product(forms, target)?;
        }
        for part in self.list("allOf") {
            let part = self.sub(part).forms(opening)?;
            forms = opening.product(forms, part)?;
        }
        for name in ["anyOf", "oneOf"] {
            let choices = self.list(name);
            if !choices.is_empty() {
                let mut all = Vec::new();
                for choice in choices {
                    all.append(&mut self.sub(choice).forms(opening)?);
                }
                forms = opening.product(forms, all)?;
            }
        }
        opening.open.pop();
        Ok(forms)
    }

    fn types(self) -> Types {
        let Value::Object(keywords) = self.at else {
            return match self.at {
                Value::Bool(false) => Types::NONE,
                _ => Types::ALL,
            };
        };
        let named = |name: &Value| name.as_str().map_or(Types::ALL, Types::named);
        let any = |types: Types, value: Types| types.or(value);
        let mut types = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().map(named).fold(Types::NONE, any),
            Some(name) => named(name),
            None => Types::ALL,
        };
        if let Some(value) = keywords.get("const") {
            types = types.and(Types::of(value));
        }
        if let Some(values) = self.counted() {
            types = types.and(self.work.allowed(values).types);
        }
        if self.is("nullable") {
            types.or(Types::NULL)
        } else {
            types
        }
    }

    /// The values of `enum`.
    fn counted(self) -> Option<&'a [Value]> {
        self.keyword("enum")?.as_array().map(Vec::as_slice)
    }

    /// The values that `const` or `enum` count up, whichever are fewer.
    fn listed(self) -> Option<&'a [Value]> {
        let one = self.keyword("const").map(std::slice::from_ref);
        one.or_else(|| self.counted())
    }

    /// Whether a value is among those that are counted up, where they are.
    fn allows(self, value: &Value) -> bool {
        self.keyword("const").is_none_or(|one| same(one, value))
            && self
                .counted()
                .is_none_or(|values| self.work.allows(values, value))
    }

    /// The schemas of a list's first elements, and the schema of the others.
    fn elements(self) -> (&'a [Value], Option<&'a Value>) {
        match (self.keyword("prefixItems"), self.keyword("items")) {
            (Some(Value::Array(first)), rest) => (first, rest),
            (_, Some(Value::Array(first))) => (first, self.keyword("additionalItems")),
            (_, rest) => (&[], rest),
        }
    }
}

impl Opening {
    fn spend(&mut self, schemas: usize) -> Result<(), Beyond> {
        self.opened += schemas;
        if self.opened <= MOST_OPENED {
            Ok(())
        } else {
            Err(Beyond::Work)
        }
    }

    /// Each of these with each of those.
    fn product<'a>(
        &mut self,
        mut forms: Vec<Vec<Schema<'a>>>,
        others: Vec<Vec<Schema<'a>>>,
    ) -> Result<Vec<Vec<Schema<'a>>>, Beyond> {
        if forms.len() * others.len() > MOST_FORMS {
            return Err(Beyond::Work);
        }
        let lengths = |forms: &[Vec<Schema<'a>>]| forms.iter().map(Vec::len).sum::<usize>();
        if let [other] = &others[..] {
            self.spend(other.len() * forms.len())?;
            forms.iter_mut().for_each(|form| form.extend(other));
            return Ok(forms);
        }
        self.spend(lengths(&forms) * others.len() + lengths(&others) * forms.len())?;
        let mut all = Vec::with_capacity(forms.len() * others.len());
        for form in &forms {
            let with = |other: &Vec<Schema<'a>>| form.iter().chain(other).copied().collect();
            all.extend(others.iter().map(with));
        }
        Ok(all)
    }
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
    pub(super) fn unknown(why: Beyond) -> Self {
        Self::form(Form::Beyond(why))
    }

    /// How much work it was to make it.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Why nobody knows what it is, where that is so.
    pub(super) fn beyond(&self) -> Option<&Beyond> {
        self.forms.iter().find_map(|form| match form {
            Form::Beyond(why) => Some(why),
            _ => None,
        })
    }

    /// The same type, where it is known what it is.
    pub(super) fn known(&self) -> Result<&Self, Beyond> {
        self.beyond().map_or(Ok(self), |why| Err(why.clone()))
    }

    pub(super) fn any() -> Self {
        Self::form(Form::All(Vec::new()))
    }

    pub(super) fn plain(types: Types) -> Self {
        Self::form(Form::Plain(types))
    }

    pub(super) fn list(element: Self) -> Self {
        let lists = element.lists + 1;
        if let Some(why) = element.beyond() {
            return Self::unknown(why.clone());
        }
        if lists > MOST_NESTED {
            return Self::unknown(Beyond::Work);
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
            self.forms = vec![Form::Beyond(Beyond::Work)];
        } else {
            self.forms.append(&mut other.forms);
        }
        self
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

impl<'a> Form<'a> {
    pub(super) fn schemas(&self) -> &[Schema<'a>] {
        match self {
            Self::All(schemas) => schemas,
            Self::List(_) | Self::Plain(_) | Self::Beyond(_) => &[],
        }
    }

    pub(super) fn types(&self) -> Types {
        match self {
            Self::All(schemas) => {
                let both = |types: Types, schema: &Schema<'a>| types.and(schema.types());
                schemas.iter().fold(Types::ALL, both)
            }
            Self::List(_) => Types::LIST,
            Self::Plain(types) => *types,
            Self::Beyond(_) => Types::ALL,
        }
    }

    /// What tells this form from others, for as long as the schemas are borrowed.
    fn key(&self) -> Vec<usize> {
        let mut key = Vec::new();
        self.push_key(&mut key);
        key
    }

    fn push_key(&self, key: &mut Vec<usize>) {
        match self {
            Self::All(schemas) => {
                let places = schemas
                    .iter()
                    .map(|schema| std::ptr::from_ref(schema.at).addr());
                key.extend(places);
                key.push(0);
            }
            Self::List(element) => {
                key.push(1);
                element.forms.iter().for_each(|form| form.push_key(key));
                key.push(2);
            }
            Self::Plain(types) => key.extend([3, types.bits()]),
            Self::Beyond(_) => key.push(4),
        }
    }

    /// Whether the values that are allowed are counted up.
    pub(super) fn counts(&self) -> bool {
        self.schemas()
            .iter()
            .any(|schema| schema.listed().is_some())
    }

    /// The fewest values that one of its schemas counts up; not all of them need be [allowed](Self::allows).
    fn listed(&self) -> &'a [Value] {
        let lists = self.schemas().iter().filter_map(|schema| schema.listed());
        lists.min_by_key(|list| list.len()).unwrap_or_default()
    }

    /// Whether a value is among those that are counted up, where they are.
    pub(super) fn allows(&self, value: &Value) -> bool {
        self.schemas().iter().all(|schema| schema.allows(value))
    }

    /// The values that are allowed, of those that are counted up.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &'a Value> {
        // A single `const` or `enum` allows all that it lists.
        let keywords = self.schemas().iter();
        let keywords =
            keywords.flat_map(|schema| ["const", "enum"].map(|name| schema.keyword(name)));
        let alone = keywords.flatten().count() == 1;
        let values = self.listed().iter();
        values.filter(move |value| alone || self.allows(value))
    }

    pub(super) fn property(&self, name: &str) -> Property<'a> {
        if let Self::Beyond(why) = self {
            return Property::Type(Type::unknown(why.clone()));
        }
        let (mut listed, mut others) = (Vec::new(), Vec::new());
        let (mut open, mut closed, mut lists) = (false, false, false);
        for schema in self.schemas() {
            let properties = schema.object("properties");
            if let Some(property) = properties.and_then(|properties| properties.get(name)) {
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
            () if open || !lists => Property::Open,
            () => Property::Unlisted,
        }
    }

    /// The members that are named.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let properties = self.schemas().iter().filter_map(|s| s.object("properties"));
        once(properties.flat_map(|properties| properties.keys().map(String::as_str)))
    }

    pub(super) fn required(&self) -> Vec<&'a str> {
        let lists = self.schemas().iter().map(|schema| schema.list("required"));
        once(lists.flat_map(|list| list.iter().filter_map(Value::as_str)))
    }

    pub(super) fn presence(&self, name: &str) -> Presence {
        let mut lists = self.schemas().iter().map(|schema| schema.list("required"));
        if lists.any(|list| list.iter().any(|required| required == name)) {
            return Presence::Sure;
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

    /// The element at an index, or any element.
    pub(super) fn element(&self, index: Option<usize>) -> Element<'a> {
        if let Self::List(element) = self {
            return Element::Type(element.clone());
        }
        if let Self::Beyond(why) = self {
            return Element::Type(Type::unknown(why.clone()));
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

    /// How many elements of a list have schemas of their own.
    pub(super) fn first_elements(&self) -> usize {
        let first = self
            .schemas()
            .iter()
            .map(|schema| schema.elements().0.len());
        first.max().unwrap_or_default()
    }

    /// What the schema of a member says that it is for.
    pub(super) fn description(&self, name: &str) -> Option<&'a str> {
        let property = |schema: &Schema<'a>| schema.object("properties")?.get(name);
        let property = self.schemas().iter().find_map(property)?;
        property.get("description")?.as_str()
    }
}

/// A text without the percent signs of an address; `None` where that is not text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let value = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(value.unwrap_or(byte));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// The names, each once.
fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
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
