//! JSON text from any format that serde reads, with repeated members and exact numbers.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// JSON text.
pub(crate) struct Json<'de> {
    pub(crate) text: Cow<'de, str>,
    /// `true` if a person or a program wrote the text, so that its line numbers are meaningful.
    pub(crate) is_written: bool,
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        let writer = JsonWriter {
            out: &mut text,
            depth: 0,
        };
        let borrowed = deserializer.deserialize_newtype_struct(RAW, writer)?;
        // Text generated from a value in memory, such as a `Value`, is one line.
        let is_written = borrowed.is_some() || text.contains('\n');
        let text = borrowed.map_or(Cow::Owned(text), Cow::Borrowed);
        Ok(Self { text, is_written })
    }
}

/// The text, if it can be borrowed from the document. Otherwise the writer contains it.
type Borrowed<'de> = Option<&'de str>;

/// Writes deserialized data as JSON, with duplicate members.
struct JsonWriter<'o> {
    out: &'o mut String,
    depth: u16,
}

/// serde_json refuses JSON with a far smaller depth.
const DEEPEST: u16 = 300;

impl JsonWriter<'_> {
    fn inside<E: serde::de::Error>(&mut self) -> Result<JsonWriter<'_>, E> {
        if self.depth == DEEPEST {
            return Err(E::custom(format_args!(
                "lists and objects are nested more than {DEEPEST} levels deep"
            )));
        }
        Ok(JsonWriter {
            out: self.out,
            depth: self.depth + 1,
        })
    }

    fn write<'de, E: serde::de::Error>(
        self,
        value: impl serde::Serialize,
    ) -> Result<Borrowed<'de>, E> {
        let text = serde_json::to_string(&value).map_err(E::custom)?;
        self.out.push_str(&text);
        Ok(None)
    }
}

impl<'de> DeserializeSeed<'de> for JsonWriter<'_> {
    type Value = Borrowed<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Borrowed<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonWriter<'_> {
    type Value = Borrowed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a plan or a part of one, as JSON")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Borrowed<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Borrowed<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Borrowed<'de>, E> {
        self.write(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Borrowed<'de>, E> {
        self.write(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Borrowed<'de>, E> {
        if value.is_finite() {
            self.write(value)
        } else {
            Err(E::custom(format_args!("the number {value} is not finite")))
        }
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Borrowed<'de>, E> {
        self.write(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Borrowed<'de>, A::Error> {
        self.out.push('[');
        let empty = self.out.len();
        while list.next_element_seed(self.inside()?)?.is_some() {
            self.out.push(',');
        }
        if self.out.len() > empty {
            self.out.pop();
        }
        self.out.push(']');
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Borrowed<'de>, A::Error> {
        let mut key = map.next_key::<String>()?;
        if self.depth == 0 && key.as_deref() == Some(RAW) {
            return map.next_value_seed(Raw(self.out));
        }
        let start = self.out.len();
        let mut members = 0;
        self.out.push('{');
        while let Some(name) = key {
            if members > 0 {
                self.out.push(',');
            }
            members += 1;
            self.inside()?.write::<A::Error>(name)?;
            self.out.push(':');
            map.next_value_seed(self.inside()?)?;
            key = map.next_key()?;
        }
        self.out.push('}');
        if members == 1
            && let Some(number) = number(&self.out[start..])
        {
            self.out.truncate(start);
            self.out.push_str(&number);
        }
        Ok(None)
    }
}

/// Returns the number that an object represents. If serde_json has the feature of arbitrary precision, other formats represent
/// a number as an object with one member of a special name, which serde_json reads as a number.
fn number(object: &str) -> Option<String> {
    match serde_json::from_str(object) {
        Ok(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

/// The name of the newtype that makes serde_json return a value's text, as [`RawValue`](serde_json::value::RawValue) requests it. Other
/// formats treat the newtype as an ordinary one.
const RAW: &str = "$serde_json::private::RawValue";

/// The text from serde_json.
struct Raw<'o>(&'o mut String);

impl<'de> DeserializeSeed<'de> for Raw<'_> {
    type Value = Borrowed<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Borrowed<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Raw<'_> {
    type Value = Borrowed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Borrowed<'de>, E> {
        Ok(Some(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Borrowed<'de>, E> {
        self.0.push_str(text);
        Ok(None)
    }

    fn visit_string<E>(self, text: String) -> Result<Borrowed<'de>, E> {
        *self.0 = text;
        Ok(None)
    }
}
