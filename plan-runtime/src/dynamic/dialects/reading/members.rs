//! The members of a JSON object, with checks of their JSON types.

use super::PlanReader;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType, Text, on_one_line};
use crate::plan::Input;
use crate::plan::json::names::EXCLUSIVE;
use crate::plan::json::names::input;
use crate::print::short;
use crate::shape::Secrets;
use std::borrow::Cow;
use std::collections::HashMap;

/// The largest number of members that are compared one by one.
const FEW: usize = 16;

impl<'a> Members<'a> {
    /// Splits an object into its members. `scan_error` receives a finding for each omitted member, which has an unreadable
    /// or repeated name.
    pub(crate) fn split(node: JsonNode<'a>, scan_error: &mut dyn FnMut(Note)) -> Self {
        let mut list: Vec<Member<'a>> = Vec::new();
        let mut seen = HashMap::new();
        for (key, value) in node.members() {
            let name = match key.text() {
                Ok(text) => text.value,
                Err(_) => {
                    scan_error(no_text(key));
                    continue;
                }
            };
            let first = match list.len() {
                ..FEW => list.iter().find(|it| it.name == name).map(|it| it.key),
                _ => seen.get(&name).copied(),
            };
            if let Some(first) = first {
                scan_error(duplicate(&name, key, first));
                continue;
            }
            list.push(Member { name, key, value });
            if list.len() >= FEW {
                let new = &list[seen.len()..];
                seen.extend(new.iter().map(|it| (it.name.clone(), it.key)));
            }
        }
        Self { node, list }
    }

    pub(crate) fn get(&self, name: &str) -> Option<JsonNode<'a>> {
        self.member(name).map(|member| member.value)
    }

    /// Returns the value of a member, unless the value is null.
    pub(crate) fn given(&self, name: &str) -> Option<JsonNode<'a>> {
        self.get(name).filter(|node| node.kind() != JsonType::Null)
    }

    /// Returns `true` if the object has a member with one of the names.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.member(name).is_some())
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.list.iter().find(|member| member.name == name)
    }

    /// Returns `true` if the object can have a member of this name without the replaced member.
    pub(crate) fn can_have(&self, name: &str, replaced: &Member<'_>) -> bool {
        let is_given = |other: &&str| **other != *replaced.name && self.given(other).is_some();
        let excludes =
            |[one, other]: [&[&str]; 2]| one.contains(&name) && other.iter().any(is_given);
        let mut exclusive = EXCLUSIVE.into_iter();
        self.member(name).is_none()
            && !exclusive.any(|[one, other]| excludes([one, other]) || excludes([other, one]))
    }

    /// Returns the members with other names than these.
    pub(crate) fn unknown(&self, known: &[&str]) -> impl Iterator<Item = &Member<'a>> {
        let members = self.list.iter();
        members.filter(|member| !known.contains(&&*member.name))
    }
}

impl PlanReader {
    /// Returns the members of an object, or reports a value that is no object.
    pub(crate) fn members<'a>(&mut self, node: JsonNode<'a>, what: &str) -> Option<Members<'a>> {
        if node.kind() != JsonType::Object {
            return self.error(wrong_kind(node, what, "an object"));
        }
        Some(Members::split(node, &mut |note| self.note(note)))
    }

    /// Returns the members of an object, and reports members with other names than these.
    pub(crate) fn object<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
        known: &[&'static str],
    ) -> Option<Members<'a>> {
        let mut members = self.members(node, what)?;
        self.only(&mut members, (what, known), false);
        Some(members)
    }

    /// Returns the elements of a list, or reports a value that is no list.
    pub(crate) fn items<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
    ) -> Option<Vec<JsonNode<'a>>> {
        if node.kind() != JsonType::List {
            return self.error(wrong_kind(node, what, "a list"));
        }
        Some(node.items())
    }

    /// Returns the elements of an optional list.
    pub(crate) fn list<'a>(
        &mut self,
        members: &Members<'a>,
        name: &str,
        what: &str,
    ) -> Vec<JsonNode<'a>> {
        let list = members.given(name).and_then(|it| self.items(it, what));
        list.unwrap_or_default()
    }

    /// Returns the elements of a list of scalars, or reports another value. The help for a single scalar is a list.
    pub(crate) fn scalars<'a>(
        &mut self,
        node: JsonNode<'a>,
        what: &str,
        element: JsonType,
    ) -> Option<Vec<JsonNode<'a>>> {
        if node.kind() != element {
            return self.items(node, what);
        }
        let text = on_one_line(node.slice());
        let help = text.map(|text| format!("put the value in a list: `[{text}]`"));
        self.error(wrong_kind(node, what, "a list").help(help))
    }

    /// Returns the content of a string, or reports a value of another kind.
    pub(crate) fn text<'a>(&mut self, node: JsonNode<'a>, what: &str) -> Option<Text<'a>> {
        if node.kind() != JsonType::String {
            let is_scalar = matches!(node.kind(), JsonType::Bool | JsonType::Number);
            let help =
                is_scalar.then(|| format!("write it in quotes: `\"{}\"`", short(node.slice())));
            return self.error(wrong_kind(node, what, "a string").help(help));
        }
        let most = self.limits.string;
        match node.text() {
            Ok(text) if text.value.len() > most => {
                let bytes = text.value.len();
                let message = format!("the string has {bytes} bytes, but the limit is {most}");
                self.error(Note::limit("string", node.place(), message))
            }
            Ok(text) => Some(text),
            Err(_) => self.error(no_text(node)),
        }
    }

    /// Returns an optional string, which is empty if the member is missing.
    pub(crate) fn optional_text(
        &mut self,
        members: &Members<'_>,
        name: &str,
        what: &str,
    ) -> String {
        let text = members.given(name).and_then(|node| self.text(node, what));
        text.map(|text| text.value.into_owned()).unwrap_or_default()
    }

    /// Reads the type and the description of an input with this name.
    pub(crate) fn input(&mut self, members: &Members<'_>, name: String) -> Input {
        let what = "the type of an input";
        let type_name = self.optional_text(members, input::TYPE, what);
        self.name_fits(&type_name, what, members.node.place());
        let what = "the description of an input";
        Input {
            name,
            type_name: type_name.into(),
            description: self.optional_text(members, input::DESCRIPTION, what).into(),
            secrets: Secrets::default(),
            is_guessed: false,
        }
    }

    /// Reads a required name, which must not be empty.
    pub(crate) fn required_name(
        &mut self,
        members: &Members<'_>,
        owner: &str,
        what: &str,
    ) -> Option<String> {
        let name = self.required(members, input::NAME, owner, what)?;
        if name.trim().is_empty() {
            let place = members.given(input::NAME)?.place();
            return self.fail(Code::EmptyName, place, format!("{what} is empty"), ());
        }
        Some(name)
    }

    /// Reads a required string.
    pub(crate) fn required(
        &mut self,
        members: &Members<'_>,
        name: &str,
        owner: &str,
        what: &str,
    ) -> Option<String> {
        let Some(node) = members.given(name) else {
            let message = format!("{owner} has no `{name}`");
            let help = format!("add `\"{name}\": \"…\"`");
            return self.fail(Code::MissingMember, members.node.place(), message, help);
        };
        Some(self.text(node, what)?.value.into_owned())
    }

    /// Reads one of the allowed strings.
    pub(crate) fn one_of(
        &mut self,
        node: JsonNode<'_>,
        what: &str,
        allowed: &'static [&'static str],
    ) -> Option<&'static str> {
        let expected = match allowed {
            [one] => format!("`\"{one}\"`"),
            all => format!("one of `\"{}\"`", all.join("\"`, `\"")),
        };
        if node.kind() != JsonType::String {
            return self.error(wrong_kind(node, what, &expected));
        }
        let text = self.text(node, what)?.value;
        let found = allowed.iter().find(|allowed| **allowed == text).copied();
        found.or_else(|| {
            let message = format!("{what} is `\"{}\"`, but must be {expected}", short(&text));
            self.fail(Code::NotAllowed, node.place(), message, ())
        })
    }

    /// Deserializes a value with serde, whose error contains the expected type.
    pub(crate) fn value<T: serde::de::DeserializeOwned>(
        &mut self,
        node: JsonNode<'_>,
        what: &str,
        expected: &str,
    ) -> Option<T> {
        if let Ok(value) = node.read() {
            return Some(value);
        }
        let mut note = wrong_kind(node, what, expected);
        let text = node.text().ok().filter(|_| node.kind() == JsonType::String);
        let inside = text.filter(|text| serde_json::from_str::<T>(&text.value).is_ok());
        if let Some(text) = inside {
            note = note.help(format!("remove the quotes: `{}`", short(&text.value)));
        }
        self.error(note)
    }
}

/// The members of an object, each there once.
pub(crate) struct Members<'a> {
    pub(crate) node: JsonNode<'a>,
    pub(crate) list: Vec<Member<'a>>,
}

pub(crate) struct Member<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) key: JsonNode<'a>,
    pub(crate) value: JsonNode<'a>,
}

/// Returns the finding for a value of another kind than expected.
pub(crate) fn wrong_kind(node: JsonNode<'_>, what: &str, expected: &str) -> Note {
    let found = match node.kind() {
        JsonType::Null => "null".to_owned(),
        JsonType::Bool | JsonType::Number => format!("`{}`", short(node.slice())),
        JsonType::String => "a string".to_owned(),
        JsonType::List => "a list".to_owned(),
        JsonType::Object => "an object".to_owned(),
    };
    let message = format!("{what} is {found}, but must be {expected}");
    Note::error(Code::WrongKind, node.place(), message)
}

fn no_text(node: JsonNode<'_>) -> Note {
    let message = "the string contains half of a surrogate pair, which is not valid text";
    Note::error(Code::InvalidJson, node.place(), message)
        .help(r"a character beyond U+FFFF is two escapes: `\ud83d\ude00`")
}

pub(crate) fn duplicate(name: &str, key: JsonNode<'_>, first: JsonNode<'_>) -> Note {
    let message = format!("duplicate member `{}`", short(name));
    Note::error(Code::DuplicateMember, key.place(), message)
        .related(first.place(), "the first one is here")
        .help("only one of them can be used: remove the other")
}
