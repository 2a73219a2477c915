//! Values with references in them, and conditions.

use super::patterns::whole;
use super::policy::DURATION;
use super::{Builder, any_of, member, named, object};
use crate::dynamic::DocumentLimits;
use crate::dynamic::dialects::references::Piece;
use crate::plan::Comparison;
use crate::plan::depth::DEEPEST_BODY;
use crate::plan::json::MOST_PARTS;
use crate::plan::json::names::{
    absent, default, element, part, reference, segment, source, template,
};
use serde_json::{Map, Value, json};

/// Names of object members without parts that look like a reference.
const KEY: &str = "^[^${]*$";

/// The range of integers that readers represent exactly. Other numbers may be inexact.
const LEAST: i64 = i64::MIN;
const MOST: u64 = u64::MAX;

/// A string with more than spaces. The spaces are literal, since engines have no common escape for characters outside of ASCII.
const NOT_BLANK: &str = "[^ \\t\\n\\r\\x0b\\x0c\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}]";

/// A JSON Pointer.
const POINTER: &str = "^(?:/(?:[^~/]|~[01])*)*$";

impl Builder<'_> {
    /// Adds the schemas of values, each under its name.
    pub(super) fn values(&mut self) {
        // A character has at most four bytes.
        let longest = DocumentLimits::DEFAULT.name / 4;
        let mut all = vec![(
            "id",
            json!({"type": "string", "maxLength": longest, "pattern": NOT_BLANK}),
        )];
        all.push(("duration", json!({"type": "string", "pattern": DURATION})));
        all.extend(self.input_schema().map(|schema| ("input", schema)));
        match &self.strings {
            Some(strings) => {
                let string = |pattern: &str| json!({"type": "string", "pattern": pattern});
                all.push(("text", string(&strings.text)));
                all.push(("reference", string(&strings.reference)));
                all.push(("template", string(&strings.template)));
            }
            None => {
                all.push(("reference", member(template::REFERENCE, references())));
                all.push(("template", text()));
                all.push(("plain", plain()));
            }
        }
        let tests = self.tests();
        let scalars = vec![
            json!({"type": ["null", "boolean"]}),
            self.number(&[]),
            list(),
        ];
        let mut strings = self.string(&Map::new());
        let mut value = [scalars.clone(), strings.clone()].concat();
        let mut operand = [scalars, std::mem::take(&mut strings)].concat();
        if self.strings.is_some() {
            value.push(self.open_object(named("value")));
        } else {
            let open = self.open_object(named("value"));
            value.extend([open, named("reference"), merged(), named("test")]);
            operand = vec![named("value")];
        }
        if self.strings.is_some() {
            operand.push(named("test"));
        }
        let condition = vec![
            json!({"type": "boolean"}),
            named("reference"),
            named("test"),
        ];
        all.push(("value", any_of(value)));
        all.push(("operand", any_of(operand)));
        all.push(("test", tests));
        all.push(("condition", any_of(condition)));
        let all = all.into_iter();
        self.defs
            .extend(all.map(|(name, schema)| (name.to_owned(), schema)));
    }

    /// Tests, each an object with one member.
    fn tests(&self) -> Value {
        let both = json!({"type": "array", "items": named("condition"), "minItems": 2});
        let signs: Vec<&str> = Comparison::ALL.map(Comparison::sign).to_vec();
        let compared = json!({
            "type": "array",
            "prefixItems": [named("operand"), {"enum": signs}, named("operand")],
            "items": false,
            "minItems": 3,
            "maxItems": 3,
        });
        let mut all = vec![
            member(template::ALL_OF, both.clone()),
            member(template::ANY, both),
            member(template::NOT, named("condition")),
            member(template::COMPARE, compared),
        ];
        let questions = [
            template::IS_SOME,
            template::IS_NONE,
            template::IS_OK,
            template::IS_ERR,
            template::IS_EMPTY,
            template::LEN,
        ];
        all.extend(questions.map(|name| member(name, named("operand"))));
        any_of(all)
    }

    /// Returns the schemas of a string with these keywords: a literal string, and a string with references.
    pub(super) fn string(&self, keywords: &Map<String, Value>) -> Vec<Value> {
        let mut text = keywords.clone();
        if self.strings.is_none() {
            text.insert("type".to_owned(), "string".into());
        } else if text.is_empty() {
            return vec![named("text"), named("template")];
        } else if let Some(strings) = &self.strings {
            text.insert("type".to_owned(), "string".into());
            text.insert("pattern".to_owned(), strings.text.as_str().into());
        }
        vec![text.into(), named("template")]
    }

    /// Returns the schema of a number with these bounds.
    pub(super) fn number(&self, bounds: &[(&str, Value)]) -> Value {
        let mut schema = json!({"type": "number", "minimum": LEAST, "maximum": MOST});
        for (name, bound) in bounds {
            schema[*name] = bound.clone();
        }
        schema
    }

    /// Returns the schema of an object with members of any name.
    pub(super) fn open_object(&self, value: Value) -> Value {
        let mut schema = json!({"type": "object", "additionalProperties": value});
        self.limit_names(&mut schema);
        self.wrapped(schema)
    }

    /// Allows only names of members that look like no reference.
    pub(super) fn limit_names(&self, object: &mut Value) {
        if self.strings.is_some() {
            object["propertyNames"] = json!({ "pattern": KEY });
        }
    }

    /// Returns an object in its written form.
    pub(super) fn wrapped(&self, object: Value) -> Value {
        match self.strings {
            Some(_) => object,
            None => member(template::OBJECT, object),
        }
    }

    /// Returns the schema of a reference to an input, if an amount can be one.
    pub(super) fn input(&self) -> Option<Value> {
        self.defs.contains_key("input").then(|| named("input"))
    }

    fn input_schema(&self) -> Option<Value> {
        match &self.strings {
            Some(strings) => {
                let pattern = strings.input.as_ref()?;
                Some(json!({"type": "string", "pattern": whole(pattern)}))
            }
            None => {
                let reads = object([
                    (source::INPUT, json!({"type": "string"}), true),
                    (reference::POINTER, pointer(), true),
                ]);
                Some(member(template::REFERENCE, reads))
            }
        }
    }

    /// Returns two flags about a member's name: `true` if it is a literal, and `true` if it could also match the
    /// pattern for names.
    pub(super) fn may_be_key(&self, name: &str) -> (bool, bool) {
        if self.strings.is_none() {
            return (true, true);
        }
        let scan = (self.dialect.rules().scan)(name, &|_| true);
        let is_reference = |piece: &Piece<'_>| matches!(piece, Piece::Reference(_));
        (
            !scan.pieces.iter().any(is_reference),
            !name.contains(['$', '{']),
        )
    }

    /// Returns the written form of a schema's value in a plan.
    pub(super) fn written(&self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Null | Value::Bool(_) => value.clone(),
            // A reader may not represent other numbers exactly.
            Value::Number(number) => {
                let is_known = crate::plan::json::number(&number.to_string()).is_some();
                is_known.then(|| value.clone())?
            }
            Value::String(text) if self.strings.is_some() && text.contains(MARKS) => {
                (self.dialect.rules().literal)(text).into()
            }
            Value::String(text) if self.strings.is_some() && text.starts_with("ref:") => {
                (self.dialect.rules().literal)(text).into()
            }
            Value::String(_) => value.clone(),
            Value::Array(items) => {
                let items = items.iter().map(|item| self.written(item));
                Value::Array(items.collect::<Option<_>>()?)
            }
            Value::Object(members) => {
                let mut written = Map::new();
                for (name, value) in members {
                    if !self.may_be_key(name).0 {
                        return None;
                    }
                    written.insert(name.clone(), self.written(value)?);
                }
                match self.strings {
                    Some(_) => written.into(),
                    None => json!({ template::OBJECT: written }),
                }
            }
        })
    }
}

/// Characters of references, which only strings contain.
const MARKS: [char; 3] = ['$', '{', '('];

fn list() -> Value {
    json!({"type": "array", "items": named("value")})
}

fn pointer() -> Value {
    json!({"type": "string", "pattern": POINTER})
}

/// Returns the schema of a plan JSON reference.
fn references() -> Value {
    let string = || json!({"type": "string"});
    let token = object([
        (segment::TOKEN, string(), true),
        (
            segment::ABSENT,
            any_of(vec![
                json!({"enum": [absent::NULL, absent::END]}),
                member(default::DEFAULT, named("plain")),
            ]),
            false,
        ),
        (segment::OPTIONAL, json!({"type": "boolean"}), false),
    ]);
    let each = member(segment::EACH, json!({"enum": [element::ELEMENT]}));
    let parts = any_of(vec![string(), token, each]);
    let path = json!({"type": "array", "items": parts, "maxItems": MOST_PARTS});
    let sources = [
        (source::STEP, string()),
        (source::INPUT, string()),
        (
            source::LOCAL,
            json!({"type": "integer", "minimum": 0, "maximum": DEEPEST_BODY - 1}),
        ),
    ];
    let mut all = Vec::new();
    for (name, schema) in sources {
        for (way, leads) in [
            (reference::POINTER, pointer()),
            (reference::PATH, path.clone()),
        ] {
            let members = |optional: Value, more: Option<Value>| {
                let is_required = more.is_some();
                let replaced = more.map(|it| (reference::ELSE, it, true));
                let first = [
                    (name, schema.clone(), true),
                    (way, leads.clone(), true),
                    (reference::OPTIONAL, optional, is_required),
                ];
                object(first.into_iter().chain(replaced))
            };
            all.push(members(json!({"type": "boolean"}), None));
            all.push(members(json!({"enum": [true]}), Some(named("plain"))));
        }
    }
    any_of(all)
}

/// Returns the schema of a formatted string in plan JSON.
fn text() -> Value {
    let value = object([(part::VALUE, named("value"), true)]);
    let part = any_of(vec![json!({"type": "string"}), value]);
    member(template::TEXT, json!({"type": "array", "items": part}))
}

/// Returns the schema of an object that consists of other objects.
fn merged() -> Value {
    let part = any_of(vec![json!({"type": "null"}), named("reference")]);
    member(template::MERGE, json!({"type": "array", "items": part}))
}

/// Returns the schema of JSON without references.
fn plain() -> Value {
    json!({"anyOf": [
        {"type": ["null", "boolean", "string"]},
        {"type": "number", "minimum": LEAST, "maximum": MOST},
        {"type": "array", "items": named("plain")},
        {"type": "object", "additionalProperties": named("plain")},
    ]})
}
