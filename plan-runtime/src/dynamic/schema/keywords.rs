//! The keywords of one schema.

use super::{MOST_FORMS, MOST_NESTED, MOST_OPENED, Opening, Schema, TooMuchWork, Types, same};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::rc::Rc;

impl<'a> Schema<'a> {
    pub(super) fn sub(self, at: &'a Value) -> Self {
        Self { at, ..self }
    }

    pub(super) fn keyword(self, name: &str) -> Option<&'a Value> {
        self.at.get(name)
    }

    pub(super) fn object(self, name: &str) -> Option<&'a Map<String, Value>> {
        self.keyword(name)?.as_object()
    }

    pub(super) fn list(self, name: &str) -> &'a [Value] {
        self.keyword(name)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    pub(in crate::dynamic) fn number(self, name: &str) -> Option<f64> {
        self.keyword(name)?.as_f64()
    }

    pub(in crate::dynamic) fn text(self, name: &str) -> Option<&'a str> {
        self.keyword(name)?.as_str()
    }

    pub(in crate::dynamic) fn length(self, name: &str) -> Option<usize> {
        let length = self.keyword(name)?;
        if let Some(length) = length.as_u64() {
            return Some(usize::try_from(length).unwrap_or(usize::MAX));
        }
        // To JSON Schema `5.0` is an integer.
        let length = length.as_f64()?;
        (length >= 0.0 && length.fract() == 0.0).then_some(length as usize)
    }

    /// Returns `true` for `exclusiveMinimum: true` of the fourth draft.
    pub(in crate::dynamic) fn is(self, name: &str) -> bool {
        self.keyword(name) == Some(&Value::Bool(true))
    }

    /// Returns the targets of references into the same document.
    pub(super) fn targets(self) -> Result<Vec<Self>, TooMuchWork> {
        let mut targets = Vec::new();
        for target in REFERENCES.iter().filter_map(|name| self.keyword(name)) {
            let work = self.work;
            let found = match target.as_str() {
                Some(target) => part(self.root, target, || work.anchors(self.root)),
                None => Some(None),
            };
            match found {
                Some(Some(at)) if at.is_object() || at.is_boolean() => targets.push(self.sub(at)),
                None => {}
                Some(_) => {
                    let target = target
                        .as_str()
                        .map_or_else(|| target.to_string(), str::to_owned);
                    return Err(TooMuchWork::Target(target.into()));
                }
            }
        }
        Ok(targets)
    }

    /// Returns `true` if the schema consists of references and of combinations of other schemas.
    fn only_combines(self) -> bool {
        const COMBINES: [&str; 8] = [
            "$ref",
            "$defs",
            "allOf",
            "anyOf",
            "definitions",
            "description",
            "oneOf",
            "title",
        ];
        self.at
            .as_object()
            .is_some_and(|all| all.keys().all(|it| COMBINES.contains(&it.as_str())))
    }

    /// Returns the forms of the values; all schemas of a form have to fit.
    pub(super) fn forms(self, opening: &mut Opening) -> Result<Vec<Vec<Self>>, TooMuchWork> {
        let this: *const Value = self.at;
        // A schema that contains itself adds nothing to its own value.
        if opening.open.contains(&this) {
            return Ok(vec![Vec::new()]);
        }
        if opening.open.len() == MOST_NESTED {
            return Err(TooMuchWork::Work);
        }
        opening.spend(1)?;
        opening.open.push(this);
        opening.names += self.list("type").len() + self.list("required").len();
        let own = (!self.only_combines()).then_some(self);
        let mut forms = vec![Vec::from_iter(own)];
        for target in self.targets()? {
            let target = target.forms(opening)?;
            forms = opening.product(forms, target)?;
        }
        for part in self.list("allOf") {
            let part = self.sub(part).forms(opening)?;
            forms = opening.product(forms, part)?;
        }
        for name in ["anyOf", "oneOf"] {
            let choices = self.list(name);
            if !choices.is_empty() {
                let mut all = Vec::new();
                for choice in choices {
                    all.append(&mut self.sub(choice).forms(opening)?);
                }
                forms = opening.product(forms, all)?;
            }
        }
        opening.open.pop();
        Ok(forms)
    }

    pub(super) fn types(self) -> Types {
        let Value::Object(keywords) = self.at else {
            return match self.at {
                Value::Bool(false) => Types::NONE,
                _ => Types::ALL,
            };
        };
        let named = |name: &Value| name.as_str().map_or(Types::ALL, Types::named);
        let any = |types: Types, value: Types| types.or(value);
        let mut types = match keywords.get("type") {
            Some(Value::Array(names)) => names.iter().map(named).fold(Types::NONE, any),
            Some(name) => named(name),
            None => Types::ALL,
        };
        if let Some(value) = keywords.get("const") {
            types = types.and(Types::of(value));
        }
        if let Some(values) = self.counted() {
            types = types.and(self.work.allowed(values).types);
        }
        if self.is("nullable") {
            types.or(Types::NULL)
        } else {
            types
        }
    }

    /// Returns the values of `enum`.
    pub(super) fn counted(self) -> Option<&'a [Value]> {
        self.keyword("enum")?.as_array().map(Vec::as_slice)
    }

    /// Returns the values of `const` or `enum`, whichever are fewer.
    pub(super) fn listed(self) -> Option<&'a [Value]> {
        let one = self.keyword("const").map(std::slice::from_ref);
        one.or_else(|| self.counted())
    }

    /// Returns `true` if the schema lists the value, or lists no values.
    pub(super) fn allows(self, value: &Value) -> bool {
        self.keyword("const").is_none_or(|one| same(one, value))
            && self
                .counted()
                .is_none_or(|values| self.work.allows(values, value))
    }

    /// Returns the schemas of a list's first elements, and the schema of the others.
    pub(super) fn elements(self) -> (&'a [Value], Option<&'a Value>) {
        match (self.keyword("prefixItems"), self.keyword("items")) {
            (Some(Value::Array(first)), rest) => (first, rest),
            (_, Some(Value::Array(first))) => (first, self.keyword("additionalItems")),
            (_, rest) => (&[], rest),
        }
    }
}

impl Opening {
    pub(super) fn spend(&mut self, schemas: usize) -> Result<(), TooMuchWork> {
        self.opened += schemas;
        if self.opened <= MOST_OPENED {
            Ok(())
        } else {
            Err(TooMuchWork::Work)
        }
    }

    /// Returns each combination of two forms.
    pub(super) fn product<'a>(
        &mut self,
        mut forms: Vec<Vec<Schema<'a>>>,
        others: Vec<Vec<Schema<'a>>>,
    ) -> Result<Vec<Vec<Schema<'a>>>, TooMuchWork> {
        if forms.len() * others.len() > MOST_FORMS {
            return Err(TooMuchWork::Work);
        }
        let lengths = |forms: &[Vec<Schema<'a>>]| forms.iter().map(Vec::len).sum::<usize>();
        if let [other] = &others[..] {
            self.spend(other.len() * forms.len())?;
            forms.iter_mut().for_each(|form| form.extend(other));
            return Ok(forms);
        }
        self.spend(lengths(&forms) * others.len() + lengths(&others) * forms.len())?;
        let mut all = Vec::with_capacity(forms.len() * others.len());
        for form in &forms {
            let with = |other: &Vec<Schema<'a>>| form.iter().chain(other).copied().collect();
            all.extend(others.iter().map(with));
        }
        Ok(all)
    }
}

/// The keywords whose schema is elsewhere.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The JSON Pointers to the parts of a document that have a name.
pub(in crate::dynamic) type Anchors = HashMap<String, String>;

/// Returns the named parts of a document.
pub(in crate::dynamic) fn anchors(root: &Value) -> Anchors {
    let (mut all, mut open) = (Anchors::new(), vec![(String::new(), root)]);
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match (&**name, member) {
                        ("$anchor" | "$dynamicAnchor", Value::String(anchor)) => {
                            all.insert(anchor.clone(), place.clone());
                        }
                        ("$id", Value::String(id)) if id.starts_with('#') => {
                            all.insert(id[1..].to_owned(), place.clone());
                        }
                        // These contain values, and not schemas.
                        ("const" | "enum" | "default" | "examples", _) => {}
                        _ => {
                            let token = name.replace('~', "~0").replace('/', "~1");
                            open.push((format!("{place}/{token}"), member));
                        }
                    }
                }
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, item)| (format!("{place}/{index}"), item)));
            }
            _ => {}
        }
    }
    all
}

/// Returns the part of a document that a reference names. Returns `None` for another document, and `Some(None)` for a missing part.
pub(in crate::dynamic) fn part<'a>(
    root: &'a Value,
    target: &str,
    anchors: impl FnOnce() -> Rc<Anchors>,
) -> Option<Option<&'a Value>> {
    let id = root.get("$id").and_then(Value::as_str);
    let id = id.map_or("", |id| id.trim_end_matches('#'));
    let name = match target.strip_prefix(id).unwrap_or(target) {
        "" => "",
        rest => rest.strip_prefix('#')?,
    };
    let found = decoded(name).and_then(|name| {
        if name.is_empty() || name.starts_with('/') {
            return root.pointer(&name);
        }
        anchors().get(&name).and_then(|place| root.pointer(place))
    });
    Some(found)
}

/// Returns the text of a percent-encoded address; `None` if the result is not text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%');
        let hex = hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let value = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(value.unwrap_or(byte));
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}
