//! Plans as Rust.
//!
//! - A reference through an optional value gets a `?` there. An optional argument takes it directly. A required argument takes a
//!   computed value with `unwrap_or_default()`.
//! - A reference with another type than the argument becomes a computed value if JSON has one obvious conversion (an integer to a
//!   float, a number to a string, an untyped value to a number or a string). Plans with other references cannot be converted, and
//!   are listed.

use crate::corpus::model::{Argument, Part, Reference};
use crate::corpus::types::{Structs, Type};
use serde_json::Value;

/// A reference in Rust's words.
pub(crate) struct Walked {
    /// `[0]`, `.coordinates`, `?`
    pub hops: Vec<Hop>,
    /// The output, `Maybe` if it may be absent.
    pub ty: Type,
}

#[derive(Clone)]
pub(crate) struct Hop {
    pub text: String,
    /// The struct whose field this is.
    pub field_of: Option<usize>,
}

impl Walked {
    pub(crate) fn text(&self, root: &str) -> String {
        root.to_owned() + &self.hops.iter().map(|hop| &*hop.text).collect::<String>()
    }
}

/// Follows a reference through the type of the step's output.
pub(crate) fn walk(
    structs: &Structs,
    source: &Type,
    reference: &Reference,
) -> Result<Walked, String> {
    let mut hops = Vec::new();
    let mut ty = source.clone();
    let mut maybe = false;
    let mut lists = Vec::new();
    for part in &reference.path {
        if let Type::Maybe(inner) = ty {
            hops.push(Hop {
                text: "?".to_owned(),
                field_of: None,
            });
            ty = *inner;
            maybe = true;
        }
        let mut hop = Hop {
            text: String::new(),
            field_of: None,
        };
        ty = match (part, ty) {
            (Part::Key(key), Type::Struct(index)) => {
                let missing = || format!("`{}` has no field `{key}`", structs.0[index].name);
                let field = structs.0[index].field(key).ok_or_else(missing)?;
                hop = Hop {
                    text: format!(".{}", field.ident),
                    field_of: Some(index),
                };
                field.ty.clone()
            }
            (Part::Key(key), Type::Map(inner)) => {
                hop.text = format!("[{key:?}]");
                *inner
            }
            (Part::Key(key), Type::Json) => {
                hop.text = format!("[{key:?}]");
                Type::Json
            }
            (Part::Index(index), Type::Json) => {
                hop.text = format!("[{index}]");
                Type::Json
            }
            (Part::Index(index), Type::List(inner)) => {
                hop.text = format!("[{index}]");
                *inner
            }
            (Part::Each, Type::List(inner)) => {
                hop.text = "[..]".to_owned();
                lists.push(std::mem::take(&mut maybe));
                *inner
            }
            (Part::Each, ty) => return Err(format!("`*` into {}", structs.rust(&ty, ""))),
            (Part::Index(index), ty) => {
                return Err(format!("[{index}] into {}", structs.rust(&ty, "")));
            }
            (Part::Key(key), ty) => return Err(format!("`{key}` into {}", structs.rust(&ty, ""))),
        };
        hops.push(hop);
    }
    if maybe {
        ty = ty.maybe();
    }
    for outer in lists.into_iter().rev() {
        ty = Type::List(Box::new(ty));
        if outer {
            ty = ty.maybe();
        }
    }
    Ok(Walked { hops, ty })
}

/// The form of a reference in its argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Way {
    /// A direct reference.
    Direct,
    /// A computed value.
    Computed,
}

/// The value of an argument that is a reference.
pub(crate) fn reference(
    structs: &Structs,
    source: &Type,
    reference: &Reference,
    argument: &Argument,
) -> Result<(String, Way), String> {
    let walked = walk(structs, source, reference)?;
    let (given, maybe) = walked.ty.present();
    let (wanted, optional) = argument.ty.present();
    let text = walked.text(&reference.root);
    let fits = given == wanted || *wanted == Type::Json;
    if fits && (!maybe || optional || *wanted == Type::Json) {
        return Ok((text, Way::Direct));
    }
    let place = if maybe {
        present(&walked, &reference.root, given)?
    } else {
        text
    };
    let value = match (given, wanted) {
        _ if given == wanted && maybe => place,
        _ if given == wanted => format!("{place}.clone()"),
        (Type::Int, Type::Float) => format!("{place} as f64"),
        (Type::Int | Type::Float, Type::Text) => format!("{place}.to_string()"),
        (Type::Json, Type::Int) => format!("{place}.as_i64().unwrap_or_default()"),
        (Type::Json, Type::Float) => format!("{place}.as_f64().unwrap_or_default()"),
        (Type::Json, Type::Text) => format!("{place}.as_str().unwrap_or_default().to_owned()"),
        _ => {
            return Err(format!(
                "{} into {}",
                structs.rust(given, ""),
                structs.rust(wanted, "")
            ));
        }
    };
    Ok((
        if optional {
            format!("Some({value})")
        } else {
            value
        },
        Way::Computed,
    ))
}

/// The value that may be absent, or its type's default.
fn present(walked: &Walked, root: &str, given: &Type) -> Result<String, String> {
    let text = walked.text(root);
    let clone = if matches!(given, Type::Bool | Type::Int | Type::Float) {
        ""
    } else {
        ".clone()"
    };
    let mut parts = text.split('?');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(whole), None, None) => Ok(format!("{whole}{clone}.unwrap_or_default()")),
        (Some(outer), Some(inner), None) => {
            let ends_absent = matches!(walked.hops.last(), Some(hop) if hop.text == "?");
            let way = if ends_absent { "and_then" } else { "map" };
            Ok(format!(
                "{outer}.as_ref().{way}(|it| it{inner}{clone}).unwrap_or_default()"
            ))
        }
        _ => Err("absent at several places, into a required argument".to_owned()),
    }
}

/// Writes a literal where a value of this type is wanted.
pub(crate) fn literal(
    structs: &Structs,
    value: &Value,
    ty: &Type,
    root: &str,
) -> Result<String, String> {
    let (wanted, _) = ty.present();
    match (value, wanted) {
        (Value::Null, _) if ty != wanted => Ok("None".to_owned()),
        (Value::Bool(bool), Type::Bool | Type::Json) => Ok(bool.to_string()),
        (Value::Number(number), Type::Float) => {
            let text = number.to_string();
            Ok(if text.contains(['.', 'e']) {
                text
            } else {
                text + ".0"
            })
        }
        (Value::Number(number), Type::Int | Type::Json) => Ok(number.to_string()),
        (Value::String(text), Type::Text | Type::Json) => Ok(format!("{text:?}")),
        (Value::Array(elements), Type::List(inner)) => {
            let elements: Result<Vec<String>, String> = elements
                .iter()
                .map(|element| literal(structs, element, inner, root))
                .collect();
            Ok(format!("[{}]", elements?.join(", ")))
        }
        (Value::Object(members), Type::Struct(index)) => {
            let known = &structs.0[*index];
            if let Some(key) = members.keys().find(|key| known.field(key).is_none()) {
                return Err(format!("`{}` has no field `{key}`", known.name));
            }
            let mut fields = Vec::new();
            for field in &known.fields {
                match members.get(&field.json) {
                    Some(value) => fields.push(format!(
                        "{}: {}",
                        field.ident,
                        literal(structs, value, &field.ty, root)?
                    )),
                    None if field.ty.present().1 => fields.push(format!("{}: None", field.ident)),
                    None => return Err(format!("`{}` lacks `{}`", known.name, field.json)),
                }
            }
            Ok(format!(
                "{root}::{}::{} {{ {} }}",
                known.module,
                known.name,
                fields.join(", ")
            ))
        }
        (Value::Array(_) | Value::Object(_), Type::Json) => {
            Ok(format!("::serde_json::json!({value})"))
        }
        (value, wanted) => Err(format!("{value} into {}", structs.rust(wanted, ""))),
    }
}
