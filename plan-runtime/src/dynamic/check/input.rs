//! The types of inputs, from the arguments that refer to them.

use crate::Plan;
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::schema::{Presence, Property, Type, Types};
use crate::resolve::describe::short;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

/// The uses of inputs without a stated type.
#[derive(Default)]
pub(super) struct Inputs(BTreeMap<usize, Vec<Expected>>);

struct Expected {
    form: Expectation,
    words: String,
    place: Range<usize>,
    /// The name of the place: ``argument `x` ``.
    whose: String,
}

/// Maximum nesting of the parts of an expected value, and number of expected forms of an input.
const DEEPEST: usize = 4;
const MOST_FORMS: usize = 64;

/// The values that one use of an input accepts.
#[derive(PartialEq)]
struct Expectation {
    kinds: Types,
    /// The only accepted values.
    listed: Option<Vec<Value>>,
    element: Option<Box<Self>>,
    /// The members with schemas of their own. `true` marks a required member.
    members: BTreeMap<String, (bool, Self)>,
    /// Other members are accepted.
    is_open: bool,
}

impl Expectation {
    fn of(ty: &Type<'_>, depth: usize) -> Self {
        let mut all = Self {
            kinds: ty.types(),
            listed: None,
            element: None,
            members: BTreeMap::new(),
            is_open: true,
        };
        // The forms of a union are not compared.
        let ([form], true) = (ty.forms(), depth < DEEPEST) else {
            return all;
        };
        if form.counts() {
            all.listed = Some(form.allowed().take(MOST_FORMS).cloned().collect());
        }
        if all.kinds == Types::LIST {
            all.element = Some(Box::new(Self::of(&ty.element(), depth + 1)));
        }
        if all.kinds == Types::OBJECT {
            all.is_open = !matches!(form.rest(), Property::Closed);
            for (name, member) in form.properties().into_iter().take(MOST_FORMS) {
                let is_required = form.presence(name) == Presence::Sure;
                let member = Self::of(&member, depth + 1);
                all.members.insert(name.to_owned(), (is_required, member));
            }
        }
        all
    }

    /// Returns `true` if some value fits both uses. A list needs an element, and an object its required members.
    fn overlaps(&self, other: &Self) -> bool {
        let kinds = self.kinds.and(other.kinds);
        if kinds.overlaps(Types::NULL) {
            return true;
        }
        if let (Some(listed), Some(others)) = (&self.listed, &other.listed) {
            let is_cut = |all: &Vec<Value>| all.len() == MOST_FORMS;
            return is_cut(listed) || is_cut(others) || listed.iter().any(|it| others.contains(it));
        }
        let is_part = |(one, other): (&Self, &Self)| {
            let member = |(name, (is_required, member)): (&String, &(bool, Self))| match other
                .members
                .get(name)
            {
                Some((_, like)) => !*is_required || member.overlaps(like),
                None => !*is_required || other.is_open,
            };
            one.members.iter().all(member)
        };
        match (&self.element, &other.element) {
            (Some(element), Some(like)) => element.overlaps(like),
            _ if kinds == Types::OBJECT => is_part((self, other)) && is_part((other, self)),
            _ => !kinds.is_empty(),
        }
    }
}

impl Inputs {
    /// Adds the type that an input must have at this place of the document.
    pub(super) fn expect(&mut self, input: usize, ty: &Type<'_>, at: Range<usize>, whose: String) {
        let mut form = Expectation::of(ty, 0);
        form.kinds = form.kinds.without(Types::NULL);
        let places = self.0.entry(input);
        // Most inputs are used once.
        let places = places.or_insert_with(|| Vec::with_capacity(1));
        if places.len() < MOST_FORMS && places.iter().all(|other| other.form != form) {
            places.push(Expected {
                form,
                words: ty.words(),
                place: at,
                whose,
            });
        }
    }

    /// Returns the Rust types of the inputs. An input that needs two types at the same time is an error.
    pub(super) fn types(self, plan: &Plan, notes: &mut Notes) -> Vec<(usize, String)> {
        let mut types = Vec::new();
        for (input, places) in self.0 {
            let Some(name) = plan.inputs.get(input).map(|input| &input.name) else {
                continue;
            };
            let (mut all, mut elements) = (Types::ALL, Types::ALL);
            for (at, place) in places.iter().enumerate() {
                let form = &place.form;
                if form.kinds.is_empty() {
                    continue;
                }
                let mut others = places[..at].iter();
                let other = others
                    .find(|it| !it.form.kinds.is_empty() && !it.form.overlaps(form))
                    .or_else(|| places.first().filter(|_| !all.overlaps(form.kinds)));
                let Some(other) = other else {
                    all = all.and(form.kinds);
                    let element = form.element.as_ref().map_or(Types::ALL, |it| it.kinds);
                    elements = elements.and(element);
                    continue;
                };
                let elsewhere = match &*other.words {
                    words if words == place.words => format!("{words} of another form"),
                    words => words.to_owned(),
                };
                let message = format!(
                    "the input `{name}` must be {} here, but {elsewhere} elsewhere",
                    place.words
                );
                notes.push(
                    Note::error(Code::WrongType, place.place.clone(), message)
                        .label(place.whose.clone())
                        .related(
                            other.place.clone(),
                            format!("{} must be {}", other.whose, other.words),
                        )
                        .help("split the input into two inputs".to_owned()),
                );
                all = Types::NONE;
                break;
            }
            if let Some(name) = rust(all, Some(elements)) {
                types.push((input, name));
            }
        }
        types
    }
}

/// Returns the Rust type of values of one kind.
fn rust(types: Types, elements: Option<Types>) -> Option<String> {
    Some(match types {
        Types::NONE => return None,
        Types::STRING => "String".to_owned(),
        Types::INTEGER => "i64".to_owned(),
        Types::NUMBER => "f64".to_owned(),
        Types::BOOL => "bool".to_owned(),
        Types::OBJECT => "serde_json::Value".to_owned(),
        Types::LIST => {
            let element = rust(elements.unwrap_or(Types::ALL), None);
            let element = element.unwrap_or_else(|| "serde_json::Value".to_owned());
            format!("Vec<{element}>")
        }
        other if other.overlaps(Types::STRING) => return None,
        _ => "serde_json::Value".to_owned(),
    })
}

/// Returns the type with this Rust name; any value for a type outside of the standard library.
pub(super) fn stated(type_name: &str) -> Type<'static> {
    let mut name = type_name.trim();
    let mut around: Vec<fn(Type<'static>) -> Type<'static>> = Vec::new();
    loop {
        if let Some(inner) = generic(name, "Option") {
            around.push(Type::nullable);
            name = inner.trim();
        } else if let Some(inner) = generic(name, "Vec") {
            around.push(Type::list);
            name = inner.trim();
        } else {
            break;
        }
    }
    let element = match kinds(name) {
        Types::ALL => Type::any(),
        kinds => Type::plain(kinds),
    };
    around.iter().rev().fold(element, |ty, around| around(ty))
}

/// Returns the kinds of values of a plain type of the standard library; all kinds for another type.
fn kinds(name: &str) -> Types {
    match name {
        "String" | "&str" | "char" => Types::STRING,
        "bool" => Types::BOOL,
        "Duration" | "std::time::Duration" => Types::STRING.or(Types::OBJECT),
        "f32" | "f64" => Types::NUMBER,
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" => Types::INTEGER,
        _ => Types::ALL,
    }
}

/// Returns the error of a value that does not have the named type, after a subject: `` the input `n` is a string, but must be an integer (`u8`) ``. The error
/// contains no values, because a value may be secret.
pub(in crate::dynamic) fn misfit(subject: &str, type_name: &str, value: &Value) -> Option<String> {
    let (at, wrong) = misfit_at(type_name.trim(), value)?;
    let place = at.map_or_else(String::new, |at| format!(", at {at},"));
    Some(format!(
        "{subject}{place} {wrong} (`{}`)",
        short(type_name.trim())
    ))
}

/// Returns the misfit with its place in a list.
fn misfit_at(type_name: &str, value: &Value) -> Option<(Option<String>, String)> {
    if let Some(inner) = generic(type_name, "Option") {
        return match value {
            Value::Null => None,
            value => misfit_at(inner.trim(), value),
        };
    }
    let found = Types::of(value);
    let must_be = |expected: Types| {
        let message = format!("is {}, but must be {}", found.words(), expected.words());
        Some((None, message))
    };
    if let Some(inner) = generic(type_name, "Vec") {
        let Value::Array(items) = value else {
            return must_be(Types::LIST);
        };
        let mut wrong = items.iter().map(|item| misfit_at(inner.trim(), item));
        let (at, (inside, message)) = wrong
            .by_ref()
            .enumerate()
            .find_map(|(at, wrong)| Some((at, wrong?)))?;
        let inside = inside.unwrap_or_default();
        return Some((Some(format!("[{at}]{inside}")), message));
    }
    let kinds = kinds(type_name);
    let is_float = kinds == Types::INTEGER && value.is_f64();
    if is_float || !kinds.overlaps(found) {
        return must_be(kinds);
    }
    if type_name == "char" && value.as_str().is_some_and(|it| it.chars().count() != 1) {
        return Some((None, "must have 1 character".to_owned()));
    }
    let (least, most) = range(type_name)?;
    let number = value.as_i64().map(i128::from);
    let number = number.or_else(|| value.as_u64().map(i128::from))?;
    let message = match most {
        Some(most) => format!("must be from {least} to {most}"),
        None => format!("must be at least {least}"),
    };
    let fits = number >= least && most.is_none_or(|most| number <= most);
    (!fits).then_some((None, message))
}

/// The least and the largest value of an integer type; `None` for one that is above all numbers of JSON.
fn range(type_name: &str) -> Option<(i128, Option<i128>)> {
    let (least, most): (i128, i128) = match type_name {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        "u128" => return Some((0, None)),
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        _ => return None,
    };
    Some((least, Some(most)))
}

fn generic<'n>(name: &'n str, outer: &str) -> Option<&'n str> {
    let inner = name.strip_prefix(outer)?.trim_start();
    inner.strip_prefix('<')?.strip_suffix('>')
}
