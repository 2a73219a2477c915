//! The keywords of one schema.

use super::{MOST_FORMS, MOST_NESTED, MOST_OPENED, Opening, Schema, TooMuchWork, Types, same};
use serde_json::{Map, Value};

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

    /// Returns the target of a `$ref` into the same document; `None` without such a `$ref`.
    pub(super) fn target(self) -> Result<Option<Self>, TooMuchWork> {
        let Some(target) = self.keyword("$ref") else {
            return Ok(None);
        };
        let pointer = match target.as_str() {
            Some("") => Some(""),
            Some(target) => match target.strip_prefix('#') {
                Some(pointer) => Some(pointer),
                None => return Ok(None),
            },
            None => None,
        };
        let pointer = pointer.and_then(decoded);
        let found = pointer.and_then(|pointer| self.root.pointer(&pointer));
        match found.filter(|at| at.is_object() || at.is_boolean()) {
            Some(at) => Ok(Some(self.sub(at))),
            None => {
                let target = target
                    .as_str()
                    .map_or_else(|| target.to_string(), str::to_owned);
                Err(TooMuchWork::Target(target.into()))
            }
        }
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
        let mut forms = vec![vec![self]];
        if let Some(target) = self.target()? {
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

/// Returns the text of a percent-encoded address; `None` if the result is not text.
pub(super) fn decoded(text: &str) -> Option<String> {
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
