//! JSON whose members keep their order and whose numbers keep their value.

use crate::plan::Number;
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;

pub(crate) enum OutputJson<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    List(Vec<OutputJson<'a>>),
    Object(OutputMembers<'a>),
}

/// The members of an object.
#[derive(Default)]
pub(crate) struct OutputMembers<'a>(Vec<(Cow<'a, str>, OutputJson<'a>)>);

impl<'a> OutputMembers<'a> {
    pub(crate) fn add(&mut self, name: impl Into<Cow<'a, str>>, value: OutputJson<'a>) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a string, unless it is empty.
    pub(crate) fn text(&mut self, name: &'a str, text: &'a str) {
        if !text.is_empty() {
            self.add(name, text.into());
        }
    }
}

impl<'a> From<&'a str> for OutputJson<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(text.into())
    }
}

impl From<usize> for OutputJson<'_> {
    fn from(number: usize) -> Self {
        Self::Number(Number::Unsigned(number as u64))
    }
}

impl Serialize for OutputJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(Number::Unsigned(value)) => serializer.serialize_u64(*value),
            Self::Number(Number::Signed(value)) => serializer.serialize_i64(*value),
            Self::Number(Number::Float(value)) => serializer.serialize_f64(*value),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.0.len()))?;
                for (name, value) in &members.0 {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}
