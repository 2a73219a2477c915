//! The types of inputs, from the arguments that refer to them.

use crate::dynamic::finding::{Code, Note, Notes};
use crate::dynamic::schema::{Type, Types};
use crate::plan::Plan;
use crate::resolve::describe::short;
use std::collections::BTreeMap;
use std::ops::Range;

/// Where inputs without a stated type are used.
#[derive(Default)]
pub(super) struct Inputs(BTreeMap<usize, Vec<Expected>>);

struct Expected {
    kinds: Types,
    /// Those of the elements, if it is a list.
    elements: Types,
    words: String,
    place: Range<usize>,
    argument: String,
}

impl Inputs {
    /// Remembers what an argument must be that is an input, at this place of the document.
    pub(super) fn expect(&mut self, input: usize, ty: &Type<'_>, at: Range<usize>, place: &str) {
        let kinds = ty.types().without(Types::NULL);
        let places = self.0.entry(input);
        // Most inputs are used once.
        places
            .or_insert_with(|| Vec::with_capacity(1))
            .push(Expected {
                kinds,
                elements: match kinds {
                    Types::LIST => ty.element().types(),
                    _ => Types::ALL,
                },
                words: ty.words(),
                place: at,
                argument: short(place),
            });
    }

    /// The types of the inputs, as Rust writes them. An input that would need two types at the same time is a mistake.
    pub(super) fn types(self, plan: &Plan, notes: &mut Notes) -> Vec<(usize, String)> {
        let mut types = Vec::new();
        for (input, places) in self.0 {
            let Some(name) = plan.inputs.get(input).map(|input| &input.name) else {
                continue;
            };
            let mut all = Types::ALL;
            for (at, place) in places.iter().enumerate() {
                let kinds = place.kinds;
                if kinds.is_empty() {
                    continue;
                }
                if all.overlaps(kinds) {
                    all = all.and(kinds);
                    continue;
                }
                let other = places[..at]
                    .iter()
                    .find(|other| !other.kinds.overlaps(kinds))
                    .unwrap_or(&places[0]);
                let message = format!(
                    "the input `{name}` must be {} here, but {} elsewhere",
                    place.words, other.words
                );
                notes.push(
                    Note::error(Code::WrongType, place.place.clone(), message)
                        .label(format!("argument `{}`", place.argument))
                        .related(
                            other.place.clone(),
                            format!("argument `{}` must be {}", other.argument, other.words),
                        )
                        .help("split it into two inputs".to_owned()),
                );
                all = Types::NONE;
                break;
            }
            let list = places.iter().find(|place| place.kinds == Types::LIST);
            if let Some(name) = rust(all, list.map(|place| place.elements)) {
                types.push((input, name));
            }
        }
        types
    }
}

/// How Rust calls it, where it is of one kind.
fn rust(types: Types, elements: Option<Types>) -> Option<String> {
    Some(match types {
        Types::STRING | Types::NONE => return None,
        Types::INTEGER => "i64".to_owned(),
        Types::NUMBER => "f64".to_owned(),
        Types::BOOL => "bool".to_owned(),
        Types::OBJECT => "serde_json::Value".to_owned(),
        Types::LIST => {
            let element = match elements.unwrap_or(Types::ALL) {
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
    let element = Type::plain(match name {
        "String" | "&str" | "char" => Types::STRING,
        "bool" => Types::BOOL,
        "f32" | "f64" => Types::NUMBER,
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128"
        | "isize" => Types::INTEGER,
        _ => Types::ALL,
    });
    let element = match element.types() {
        Types::ALL => Type::any(),
        _ => element,
    };
    around.iter().rev().fold(element, |ty, around| around(ty))
}

fn generic<'n>(name: &'n str, outer: &str) -> Option<&'n str> {
    let inner = name.strip_prefix(outer)?.trim_start();
    inner.strip_prefix('<')?.strip_suffix('>')
}
