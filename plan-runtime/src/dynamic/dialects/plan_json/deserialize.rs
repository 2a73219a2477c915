//! Plans out of anything that serde reads: it is made JSON text, and that is read as any other.

use super::read::{Names, PlanReader};
use crate::dynamic::dialects::reading::Draft;
use crate::dynamic::finding::Finding;
use crate::dynamic::node::{Kind, Node, Source};
use crate::dynamic::{Dialect, Limits, Profile, cycle};
use crate::plan::{Plan, Template};
use crate::print::{Line, Told};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Range;

/// How many mistakes one error tells of.
const MOST: usize = 32;

/// What is read from memory needs no other limits than the stack.
const LIMITS: Limits = Limits {
    bytes: usize::MAX,
    steps: usize::MAX,
    depth: 127,
    string: usize::MAX,
    name: usize::MAX,
    values: usize::MAX,
};

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        json.read(|draft, source, node| {
            let plan = super::read::read(draft, source, node)?;
            cycle::check(draft, &plan);
            Some(plan)
        })
        .map_err(|message| D::Error::custom(Line(message)))
    }
}

/// A template outside of a plan has places for names.
impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        json.read(|draft, source, node| {
            Some(PlanReader::new(draft, *source, Names::Places).template(node, None, 0))
        })
        .map_err(|message| D::Error::custom(Line(message)))
    }
}

/// JSON text.
struct Json<'de> {
    text: Cow<'de, str>,
    /// Whether somebody wrote it so, and its lines can be told.
    is_written: bool,
}

impl Json<'_> {
    fn read<T>(
        &self,
        read: impl FnOnce(&mut Draft, &Source<'_>, Node<'_>) -> Option<T>,
    ) -> Result<T, String> {
        let source = Source::document(&self.text);
        let mut draft = Draft::new(Dialect::PlanJson, Profile::Strict, LIMITS);
        let read = match Node::of(&self.text) {
            Ok(node) => read(&mut draft, &source, node),
            Err(invalid) => draft.error(invalid.note(&source, &self.text, None)),
        };
        match read {
            Some(read) if !draft.notes.has_errors() => Ok(read),
            _ => Err(self.message(&draft.notes.into_findings(&self.text))),
        }
    }

    fn message(&self, findings: &[Finding]) -> String {
        let mut message = match findings.len() {
            1 => String::new(),
            count => format!("{count} mistakes: "),
        };
        for (index, finding) in findings.iter().take(MOST).enumerate() {
            if index > 0 {
                message.push_str("; ");
            }
            if let Some(step) = &finding.step {
                let _ = write!(message, "step `{}`: ", Told(step));
            }
            message.push_str(&finding.message);
            let at = &finding.label;
            let _ = match self.is_written {
                true => write!(
                    message,
                    " at line {}, column {} of the plan",
                    at.line, at.column
                ),
                false => write!(message, " at {}", pointer(&self.text, &at.span)),
            };
            if let Some(help) = &finding.help {
                let _ = write!(message, " ({help})");
            }
        }
        if let Some(rest) = findings.len().checked_sub(MOST).filter(|rest| *rest > 0) {
            let _ = write!(message, "; and {rest} more");
        }
        message
    }
}

/// A JSON Pointer to what stands at a place of a text, or around it.
fn pointer(text: &str, place: &Range<usize>) -> String {
    let source = Source::document(text);
    let covers = |node: &Node<'_>| {
        let range = source.place(node.slice());
        range.start <= place.start && place.end <= range.end
    };
    let mut pointer = jsonptr::PointerBuf::new();
    let mut node = Node::of(text).ok();
    while let Some(around) = node {
        node = match around.kind() {
            Kind::Object => around.members().find_map(|(key, value)| {
                if !covers(&key) && !covers(&value) {
                    return None;
                }
                pointer.push_back(key.text().ok()?.value.as_ref());
                Some(value).filter(|value| covers(value))
            }),
            Kind::List => around
                .items()
                .into_iter()
                .enumerate()
                .find_map(|(at, item)| {
                    covers(&item).then(|| pointer.push_back(at))?;
                    Some(item)
                }),
            _ => None,
        };
    }
    match pointer.is_root() {
        true => "the top".to_owned(),
        false => pointer.to_string(),
    }
}

/// What serde_json hands out the text of a value for. Other formats see a newtype like any other, and are written anew.
const RAW: &str = "$serde_json::private::RawValue";

/// What serde_json calls the one member of a number of any precision, where it is held by something that is not serde_json.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = String::new();
        let writer = Writer {
            out: &mut text,
            depth: 0,
        };
        let borrowed = deserializer.deserialize_newtype_struct(RAW, writer)?;
        // Text that was made on the spot, out of a `Value` for instance, is one line.
        let is_written = borrowed.is_some() || text.contains('\n');
        let text = borrowed.map_or(Cow::Owned(text), Cow::Borrowed);
        Ok(Self { text, is_written })
    }
}

/// The text in place of a written one, where it stands in the document as it is.
type Borrowed<'de> = Option<&'de str>;

/// Writes what is read as JSON, with members that are there twice.
struct Writer<'o> {
    out: &'o mut String,
    depth: u16,
}

/// JSON text holds far less before serde_json refuses it.
const DEEPEST: u16 = 300;

impl Writer<'_> {
    fn inside<E: serde::de::Error>(&mut self) -> Result<Writer<'_>, E> {
        if self.depth == DEEPEST {
            let message =
                format_args!("lists and objects are nested more than {DEEPEST} levels deep");
            return Err(E::custom(message));
        }
        Ok(Writer {
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

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = Borrowed<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Borrowed<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
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
        match value.is_finite() {
            true => self.write(value),
            false => Err(E::custom(format_args!("the number {value} is not finite"))),
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
        if key.as_deref() == Some(RAW) && self.depth == 0 {
            return map.next_value_seed(Raw(self.out));
        }
        let start = self.out.len();
        let mut members = 0;
        let mut is_number = false;
        self.out.push('{');
        while let Some(name) = key {
            if members > 0 {
                self.out.push(',');
            }
            members += 1;
            is_number = name == NUMBER;
            self.inside()?.write::<A::Error>(name)?;
            self.out.push(':');
            map.next_value_seed(self.inside()?)?;
            key = map.next_key()?;
        }
        self.out.push('}');
        if is_number && members == 1 {
            self.unwrap_number(start);
        }
        Ok(None)
    }
}

impl Writer<'_> {
    /// Leaves a number of what looks like the object that stands for one.
    fn unwrap_number(&mut self, start: usize) {
        let object: Option<std::collections::BTreeMap<String, String>> =
            serde_json::from_str(&self.out[start..]).ok();
        let number = object.and_then(|mut object| object.remove(NUMBER));
        let number = number.filter(|text| Node::of(text).is_ok_and(|n| n.kind() == Kind::Number));
        if let Some(number) = number {
            self.out.truncate(start);
            self.out.push_str(&number);
        }
    }
}

/// The text that serde_json hands out.
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
