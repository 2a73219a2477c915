//! JSON text, opened one level at a time.

use super::JsonType;
use crate::print::short;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Mistake {
    message: String,
    /// The names and indices that lead to the place, the innermost first.
    place: Vec<String>,
}

pub(super) type Result<T> = std::result::Result<T, Mistake>;

/// A mistake as an error.
pub(super) fn wrong<T>(message: impl Into<String>) -> Result<T> {
    let message = message.into();
    let place = Vec::new();
    Err(Mistake { message, place })
}

pub(super) trait WithPlace {
    /// Adds to the place of a mistake that it is in this member or element.
    fn at(self, token: impl ToString) -> Self;
}

impl<T> WithPlace for Result<T> {
    fn at(self, token: impl ToString) -> Self {
        self.map_err(|mut mistake| {
            mistake.place.push(short(&token.to_string()));
            mistake
        })
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if self.place.is_empty() {
            return Ok(());
        }
        let place = jsonptr::PointerBuf::from_tokens(self.place.iter().rev());
        write!(f, " at {place}")
    }
}

/// A JSON value.
#[derive(Clone, Copy)]
pub(super) struct Value<'a>(&'a RawValue);

impl<'a> Value<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(raw) => Ok(Self(raw)),
            Err(error) => wrong(error.to_string()),
        }
    }

    pub(super) fn text(self) -> &'a str {
        self.0.get()
    }

    pub(super) fn kind(self) -> JsonType {
        JsonType::of(self.text())
    }

    pub(super) fn string(self, what: &str) -> Result<String> {
        self.read(what, "a string")
    }

    /// A value as serde reads it.
    pub(super) fn read<T: serde::Deserialize<'a>>(self, what: &str, expected: &str) -> Result<T> {
        serde_json::from_str(self.text()).or_else(|_| {
            let found = match self.kind() {
                JsonType::Null => "null",
                JsonType::Bool => "a `bool`",
                JsonType::Number => "a number",
                JsonType::String => "a string",
                JsonType::List => "a list",
                JsonType::Object => "an object",
            };
            wrong(format!("{what} is {found}, but must be {expected}"))
        })
    }

    pub(super) fn items(self, what: &str) -> Result<Vec<Self>> {
        let items: Vec<&RawValue> = self.read(what, "a list")?;
        Ok(items.into_iter().map(Self).collect())
    }

    /// The members of an object, each there once.
    pub(super) fn members(self, what: &str) -> Result<ObjectMembers<'a>> {
        if self.kind() != JsonType::Object {
            self.read::<serde::de::IgnoredAny>(what, "an object")?;
            return wrong(format!("{what} must be an object"));
        }
        let mut json = serde_json::Deserializer::from_str(self.text());
        let Ok(members) = json.deserialize_map(Pairs) else {
            return wrong(format!("{what} has a member whose name is not text"));
        };
        let mut seen = HashSet::with_capacity(members.len());
        for (name, _) in &members {
            if !seen.insert(name) {
                return wrong(format!("duplicate member `{}`", short(name)));
            }
        }
        Ok(ObjectMembers(members))
    }

    /// The members of an object that has no others than these.
    pub(super) fn object(self, what: &str, known: &[&str]) -> Result<ObjectMembers<'a>> {
        let members = self.members(what)?;
        match members
            .0
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()))
        {
            Some((name, _)) => wrong(format!("unknown member `{}` in {what}", short(name))),
            None => Ok(members),
        }
    }
}

pub(super) struct ObjectMembers<'a>(pub(super) Vec<(String, Value<'a>)>);

impl<'a> ObjectMembers<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Value<'a>> {
        let mut members = self.0.iter();
        members
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }

    /// The same, but null is as nothing.
    pub(super) fn given(&self, name: &str) -> Option<Value<'a>> {
        self.get(name)
            .filter(|value| value.kind() != JsonType::Null)
    }

    /// A string that may be left out.
    pub(super) fn string(&self, name: &str) -> Result<String> {
        self.given(name).map_or_else(
            || Ok(String::new()),
            |value| value.string(&format!("`{name}`")).at(name),
        )
    }

    /// The elements of a list that may be left out.
    pub(super) fn items(&self, name: &str) -> Result<Vec<Value<'a>>> {
        self.given(name).map_or_else(
            || Ok(Vec::new()),
            |value| value.items(&format!("`{name}`")).at(name),
        )
    }

    /// A member that is there, and is not null.
    pub(super) fn required(&self, name: &str, what: &str) -> Result<Value<'a>> {
        let given = self.given(name).map(Ok);
        given.unwrap_or_else(|| wrong(format!("{what} has no `{name}`")))
    }

    /// A name, which is not empty.
    pub(super) fn name(&self, name: &str, what: &str) -> Result<String> {
        let text = self
            .required(name, what)?
            .string(&format!("`{name}`"))
            .at(name)?;
        if text.trim().is_empty() {
            return wrong(format!("the {name} of {what} is empty")).at(name);
        }
        Ok(text)
    }
}

struct Pairs;

impl<'a> Visitor<'a> for Pairs {
    type Value = Vec<(String, Value<'a>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, raw)) = map.next_entry()? {
            members.push((name, Value(raw)));
        }
        Ok(members)
    }
}
