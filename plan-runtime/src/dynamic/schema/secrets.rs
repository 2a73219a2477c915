//! Secret parts of a value: those with `"writeOnly": true` or `"format": "password"` in its JSON Schema.

use super::keywords::{Anchors, REFERENCES, anchors, part};
use crate::shape::Secrets;
use serde_json::Value;
use std::rc::Rc;

/// Maximum number of schemas in the search. Everything beyond is secret.
const MOST: usize = 10_000;

/// Maximum nesting of schemas, including references. Everything beyond is secret.
const DEEPEST: usize = 128;

/// Returns the secret parts of a value of this schema.
pub(in crate::dynamic) fn secrets(schema: &Value) -> Secrets {
    if !mentions(schema) {
        return Secrets::default();
    }
    let mut search = SchemaSearch {
        root: schema,
        open: Vec::new(),
        left: MOST,
        depth: 0,
        anchors: None,
    };
    search.schema(schema).bounded()
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Returns `true` if a part of the schema is secret.
fn mentions(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => is_secret(schema) || members.values().any(mentions),
        Value::Array(items) => items.iter().any(mentions),
        _ => false,
    }
}

struct SchemaSearch<'a> {
    root: &'a Value,
    /// The schemas that references led to.
    open: Vec<*const Value>,
    left: usize,
    depth: usize,
    anchors: Option<Rc<Anchors>>,
}

impl<'a> SchemaSearch<'a> {
    fn schema(&mut self, schema: &'a Value) -> Secrets {
        let Value::Object(keywords) = schema else {
            return Secrets::default();
        };
        self.left = self.left.saturating_sub(1);
        if is_secret(schema) || self.left == 0 || self.depth == DEEPEST {
            return Secrets::whole();
        }
        self.depth += 1;
        let mut found = Secrets::default();
        for (keyword, value) in keywords {
            match (&**keyword, value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        found.add(self.schema(property).under(name.as_str()));
                    }
                }
                ("patternProperties", Value::Object(properties)) => {
                    for property in properties.values() {
                        found.add(self.schema(property).in_list());
                    }
                }
                ("prefixItems" | "items", Value::Array(items)) => {
                    for (place, item) in items.iter().enumerate() {
                        found.add(self.schema(item).under(place.to_string()));
                    }
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contains",
                    value,
                ) => found.add(self.schema(value).in_list()),
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for schema in schemas {
                        found.add(self.schema(schema));
                    }
                }
                ("if" | "then" | "else", schema) => found.add(self.schema(schema)),
                ("dependentSchemas", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        found.add(self.schema(schema));
                    }
                }
                (name, Value::String(target)) if REFERENCES.contains(&name) => {
                    found.add(self.target(target));
                }
                _ => {}
            }
        }
        self.depth -= 1;
        found
    }

    fn target(&mut self, target: &str) -> Secrets {
        let (root, known) = (self.root, &mut self.anchors);
        let known = || Rc::clone(known.get_or_insert_with(|| Rc::new(anchors(root))));
        let Some(Some(target)) = part(root, target, known) else {
            return Secrets::default();
        };
        let place: *const Value = target;
        if self.open.contains(&place) {
            // A schema that contains itself is secret at any depth if a part is secret.
            return Secrets::whole();
        }
        self.open.push(place);
        let found = self.schema(target);
        self.open.pop();
        found
    }
}
