//! The types of inputs, from the arguments that they stand for.

use super::item::{Item, Kind};
use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::schema::{Element, Type, Types};
use crate::dynamic::spans::Spans;
use crate::plan::{Plan, push_key};
use std::collections::BTreeMap;

/// Where inputs stand whose types nobody stated.
#[derive(Default)]
pub(super) struct Inputs<'a>(BTreeMap<usize, Vec<Expected<'a>>>);

struct Expected<'a> {
    ty: Type<'a>,
    at: Option<usize>,
    argument: String,
}

impl<'a> Inputs<'a> {
    /// Remembers what arguments of inputs have to be.
    pub(super) fn expect(&mut self, item: &Item<'_>, takes: &Type<'a>, place: &str) {
        match &item.kind {
            Kind::Reference(found) => {
                if let Some(input) = found.input {
                    self.0.entry(input).or_default().push(Expected {
                        ty: takes.clone(),
                        at: item.at,
                        argument: place.to_owned(),
                    });
                }
            }
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let forms = takes.forms().iter();
                    let elements = forms.filter_map(|form| match form.element(Some(index)) {
                        Element::Type(element) if form.types().overlaps(Types::LIST) => {
                            Some(element)
                        }
                        _ => None,
                    });
                    let element = elements.reduce(Type::or).unwrap_or_else(Type::any);
                    self.expect(item, &element, &format!("{place}[{index}]"));
                }
            }
            Kind::Object { members, .. } => {
                for (name, member) in members {
                    let mut inner = place.to_owned();
                    push_key(&mut inner, name);
                    let ty = takes.property(name).unwrap_or_else(Type::any);
                    self.expect(member, &ty, &inner);
                }
            }
            _ => {}
        }
    }

    /// The types of the inputs, as Rust writes them. An input that has to be two things at once is a mistake.
    pub(super) fn types(
        self,
        plan: &Plan,
        spans: &Spans,
        notes: &mut Notes,
    ) -> Vec<(usize, String)> {
        let mut types = Vec::new();
        for (input, places) in self.0 {
            let Some(name) = plan.inputs.get(input).map(|input| &input.name) else {
                continue;
            };
            let mut all = Types::ALL;
            for (at, place) in places.iter().enumerate() {
                let kinds = place.ty.types().without(Types::NULL);
                if kinds.is_empty() {
                    continue;
                }
                if all.overlaps(kinds) {
                    all = all.and(kinds);
                    continue;
                }
                let other = places[..at]
                    .iter()
                    .find(|other| !other.ty.types().overlaps(kinds))
                    .unwrap_or(&places[0]);
                let span = |place: &Expected<'_>| {
                    let template = place.at.and_then(|at| spans.templates.get(at));
                    template.map_or(0..0, |template| template.value.range())
                };
                let message = format!(
                    "the input `{name}` has to be {} here, and {} elsewhere",
                    place.ty.words(),
                    other.ty.words()
                );
                notes.push(
                    Note::error(Code::WrongType, span(place), message)
                        .label(format!("argument `{}`", place.argument))
                        .related(
                            span(other),
                            format!(
                                "argument `{}` has to be {}",
                                other.argument,
                                other.ty.words()
                            ),
                        )
                        .help("make it two inputs".to_owned()),
                );
                all = Types::NONE;
                break;
            }
            let list = places
                .iter()
                .find(|place| place.ty.types().without(Types::NULL) == Types::LIST);
            if let Some(name) = rust(all, list.map(|place| &place.ty)) {
                types.push((input, name));
            }
        }
        types
    }
}

/// How Rust calls it, where it is of one kind.
fn rust(types: Types, list: Option<&Type<'_>>) -> Option<String> {
    Some(match types {
        Types::STRING | Types::NONE => return None,
        Types::INTEGER => "i64".to_owned(),
        Types::NUMBER => "f64".to_owned(),
        Types::BOOL => "bool".to_owned(),
        Types::OBJECT => "serde_json::Value".to_owned(),
        Types::LIST => {
            let element = list.map_or(Types::ALL, |list| list.element().types());
            let element = match element {
                Types::STRING => "String".to_owned(),
                other => rust(other, None).unwrap_or_else(|| "serde_json::Value".to_owned()),
            };
            format!("Vec<{element}>")
        }
        other if other.overlaps(Types::STRING) => return None,
        _ => "serde_json::Value".to_owned(),
    })
}

/// What values of a type look like that is written so; anything, where it is not one of the standard library's.
pub(super) fn stated(type_name: &str) -> Type<'static> {
    let name = type_name.trim();
    if let Some(inner) = generic(name, "Option") {
        return stated(inner).or(Type::plain(Types::NULL));
    }
    if let Some(inner) = generic(name, "Vec") {
        return Type::list(stated(inner));
    }
    Type::plain(match name {
        "String" | "&str" | "char" => Types::STRING,
        "bool" => Types::BOOL,
        "f32" | "f64" => Types::NUMBER,
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" => Types::INTEGER,
        _ => return Type::any(),
    })
}

fn generic<'n>(name: &'n str, outer: &str) -> Option<&'n str> {
    let inner = name.strip_prefix(outer)?.trim_start();
    inner.strip_prefix('<')?.strip_suffix('>')
}
