//! Canonical JSON as it stands, before names are looked up.

use super::Number;
use jsonptr::PointerBuf;
use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use std::fmt;

/// How deep templates may be nested. JSON text cannot hold more before serde_json refuses it.
const DEEPEST: u8 = 128;

/// A template with names in place of places.
pub(super) enum Raw {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Raw>),
    Object(Vec<(String, Raw)>),
    Merge(Vec<Raw>),
    Reference(Box<ReferenceJson>),
    Text(Vec<RawPart>),
    Computed(ComputedJson),
}

pub(super) enum RawPart {
    Literal(String),
    Value(Raw, String),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceJson {
    pub(super) step: Option<Given>,
    pub(super) input: Option<Given>,
    pub(super) local: Option<usize>,
    pub(super) pointer: Option<PointerBuf>,
    pub(super) path: Option<Vec<PathItem>>,
    pub(super) written: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceJson {
    pub(super) step: Option<Given>,
    pub(super) input: Option<Given>,
    pub(super) local: Option<usize>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ComputedJson {
    pub(super) written: String,
    pub(super) reads: Vec<SourceJson>,
}

/// A step or an input: its name, or its place outside of a plan.
#[derive(Default)]
pub(super) struct Given {
    pub(super) name: Option<String>,
    pub(super) place: Option<usize>,
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct GivenVisitor;
        impl Visitor<'_> for GivenVisitor {
            type Value = Given;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Given, E> {
                Ok(Given {
                    name: Some(name.to_owned()),
                    place: None,
                })
            }

            fn visit_u64<E: serde::de::Error>(self, place: u64) -> Result<Given, E> {
                let place = usize::try_from(place).map_err(E::custom)?;
                Ok(Given {
                    name: None,
                    place: Some(place),
                })
            }
        }
        deserializer.deserialize_any(GivenVisitor)
    }
}

pub(super) enum PathItem {
    Token(String, Option<AbsentJson>),
    Each,
    Optional(bool),
    Else(Value),
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AbsentJson {
    Null,
    Stop,
    Default(Value),
}

impl<'de> Deserialize<'de> for PathItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Members {
            token: Option<String>,
            absent: Option<AbsentJson>,
            each: Option<EachJson>,
            optional: Option<OptionalJson>,
            #[serde(default, rename = "else", deserialize_with = "given")]
            other: Option<Value>,
        }
        // Null is a value here.
        fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
            Value::deserialize(deserializer).map(Some)
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum EachJson {
            Element,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum OptionalJson {
            Null,
            Missing,
        }
        struct ItemVisitor;
        impl<'de> Visitor<'de> for ItemVisitor {
            type Value = PathItem;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a reference token, {"each": "element"} or {"optional": …}"#)
            }

            fn visit_str<E>(self, token: &str) -> Result<PathItem, E> {
                Ok(PathItem::Token(token.to_owned(), None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PathItem, A::Error> {
                match Members::deserialize(MapAccessDeserializer::new(map))? {
                    Members {
                        token: Some(token),
                        absent,
                        each: None,
                        optional: None,
                        other: None,
                    } => Ok(PathItem::Token(token, absent)),
                    Members {
                        token: None,
                        absent: None,
                        each: Some(EachJson::Element),
                        optional: None,
                        other: None,
                    } => Ok(PathItem::Each),
                    Members {
                        token: None,
                        absent: None,
                        each: None,
                        optional: Some(optional),
                        other: None,
                    } => Ok(PathItem::Optional(matches!(
                        optional,
                        OptionalJson::Missing
                    ))),
                    Members {
                        token: None,
                        absent: None,
                        each: None,
                        optional: None,
                        other: Some(value),
                    } => Ok(PathItem::Else(value)),
                    _ => Err(A::Error::custom(
                        "a part of a path is one of `token` (with `absent`), `each`, `optional` and `else`",
                    )),
                }
            }
        }
        deserializer.deserialize_any(ItemVisitor)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawSeed(0).deserialize(deserializer)
    }
}

/// Reads a template at this depth.
#[derive(Clone, Copy)]
struct RawSeed(u8);

impl RawSeed {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.0 {
            DEEPEST.. => Err(E::custom(format_args!(
                "a template is nested more than {DEEPEST} levels deep"
            ))),
            depth => Ok(Self(depth + 1)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for RawSeed {
    type Value = Raw;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(self)
    }
}

const WRAPPERS: &[&str] = &["object", "merge", "reference", "text", "computed"];

/// What serde_json calls the one member of a number of any precision.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Visitor<'de> for RawSeed {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a template: a scalar, a list, or one of {"object": …}, {"merge": …}, {"reference": …}, {"text": …}, {"computed": …}"#)
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(Number::Unsigned(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(Number::Signed(value)))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Raw, E> {
        match value.is_finite() {
            true => Ok(Raw::Number(Number::Float(value))),
            false => Err(E::custom(format_args!("the number {value} is not finite"))),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Raw, A::Error> {
        let inside = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(inside)? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let inside = self.deeper()?;
        let one = || A::Error::custom(r#"a template object has one member, such as {"object": …}"#);
        let Some(wrapper) = map.next_key::<String>()? else {
            return Err(one());
        };
        let raw = match wrapper.as_str() {
            "object" => Raw::Object(map.next_value_seed(Members(inside))?),
            "merge" => Raw::Merge(map.next_value_seed(Items(inside))?),
            "reference" => Raw::Reference(map.next_value()?),
            "text" => Raw::Text(map.next_value_seed(Parts(inside))?),
            "computed" => Raw::Computed(map.next_value()?),
            NUMBER => number(&map.next_value::<String>()?)?,
            other => return Err(A::Error::unknown_field(other, WRAPPERS)),
        };
        match map.next_key::<String>()? {
            None => Ok(raw),
            Some(_) => Err(one()),
        }
    }
}

fn number<E: serde::de::Error>(text: &str) -> Result<Raw, E> {
    if let Ok(value) = text.parse() {
        return Ok(Raw::Number(Number::Unsigned(value)));
    }
    match (text.parse(), text.parse::<f64>()) {
        (Ok(value), _) => Ok(Raw::Number(Number::Signed(value))),
        (_, Ok(value)) if value.is_finite() => Ok(Raw::Number(Number::Float(value))),
        _ => Err(E::custom(format_args!("the number {text} is out of range"))),
    }
}

macro_rules! seed {
    ($(#[$doc:meta])* $name:ident -> $value:ty, $method:ident, $expecting:literal, $access:ident, |$self:ident, $items:ident| $body:block) => {
        $(#[$doc])*
        struct $name(RawSeed);

        impl<'de> DeserializeSeed<'de> for $name {
            type Value = $value;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<$value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }

        impl<'de> Visitor<'de> for $name {
            type Value = $value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }

            fn $method<A: $access<'de>>($self, mut $items: A) -> Result<$value, A::Error> $body
        }
    };
}

seed!(Members -> Vec<(String, Raw)>, visit_map, "an object's members", MapAccess, |self, map| {
    let mut members = Vec::new();
    while let Some(name) = map.next_key()? {
        members.push((name, map.next_value_seed(self.0)?));
    }
    Ok(members)
});

seed!(Items -> Vec<Raw>, visit_seq, "a list of templates", SeqAccess, |self, list| {
    let mut items = Vec::new();
    while let Some(item) = list.next_element_seed(self.0)? {
        items.push(item);
    }
    Ok(items)
});

seed!(Parts -> Vec<RawPart>, visit_seq, "a list of the parts of a text", SeqAccess, |self, list| {
    let mut parts = Vec::new();
    while let Some(part) = list.next_element_seed(PartSeed(self.0))? {
        parts.push(part);
    }
    Ok(parts)
});

/// A part of a text: a string, or a value with its format.
struct PartSeed(RawSeed);

impl<'de> DeserializeSeed<'de> for PartSeed {
    type Value = RawPart;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RawPart, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PartSeed {
    type Value = RawPart;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"a string, or {"value": template}"#)
    }

    fn visit_str<E>(self, text: &str) -> Result<RawPart, E> {
        Ok(RawPart::Literal(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPart, A::Error> {
        let (mut value, mut spec) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "value" if value.is_none() => value = Some(map.next_value_seed(self.0)?),
                "spec" if spec.is_none() => spec = Some(map.next_value()?),
                other => return Err(A::Error::unknown_field(other, &["value", "spec"])),
            }
        }
        match value {
            Some(value) => Ok(RawPart::Value(value, spec.unwrap_or_default())),
            None => Err(A::Error::missing_field("value")),
        }
    }
}
