//! JSON Schema, word for word and for plain values alone: what the check of a call is compared with.

use serde_json::{Map, Value};

/// The leniency for a schema's keywords that the checker and the oracle may interpret differently.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// A value that is valid by this reading is valid.
    Strict,
    /// A value that is invalid by this reading is invalid: null may replace what may be left out, and a choice may have several ways.
    Lenient,
}

/// A schema of whose keywords each is understood.
pub(crate) struct Oracle<'a> {
    root: &'a Value,
    /// `true` if the schema is composed of others, so that closed members include those of all parts.
    composed: bool,
    fuel: std::cell::Cell<usize>,
}

/// Up to here numbers are exact.
const LARGEST: f64 = 9_007_199_254_740_992.0;

impl<'a> Oracle<'a> {
    /// Creates an oracle for a schema. Returns `None` for a schema with an unknown keyword.
    pub(crate) fn of(root: &'a Value) -> Option<Self> {
        let mut composed = false;
        is_known(root, root, &mut composed).then_some(Self {
            root,
            composed,
            fuel: 50_000.into(),
        })
    }

    /// Returns `true` if a value fits, or `None` if the check takes too long.
    pub(crate) fn fits(&self, value: &Value, reading: Reading) -> Option<bool> {
        self.fuel.set(50_000);
        self.fits_at(self.root, value, reading, &mut Vec::new())
    }

    fn fits_at(
        &self,
        schema: &'a Value,
        value: &Value,
        reading: Reading,
        open: &mut Vec<(*const Value, *const Value)>,
    ) -> Option<bool> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        let Value::Object(keywords) = schema else {
            return Some(schema != &Value::Bool(false));
        };
        let this: (*const Value, *const Value) = (schema, value);
        // A schema that refers to itself for one value adds no constraint.
        if open.contains(&this) {
            return Some(reading == Reading::Lenient);
        }
        open.push(this);
        let fits = self.keywords(keywords, value, reading, open);
        open.pop();
        fits
    }

    fn keywords(
        &self,
        keywords: &'a Map<String, Value>,
        value: &Value,
        reading: Reading,
        open: &mut Vec<(*const Value, *const Value)>,
    ) -> Option<bool> {
        for (name, keyword) in keywords {
            let fits = match (name.as_str(), keyword, value) {
                ("type", Value::Array(names), _) => {
                    names.iter().any(|name| is_of(value, name, reading))
                }
                ("type", name, _) => is_of(value, name, reading),
                ("enum", Value::Array(values), _) => values.iter().any(|v| same(v, value, reading)),
                ("const", allowed, _) => same(allowed, value, reading),
                ("minimum", least, Value::Number(_)) => value.as_f64() >= least.as_f64(),
                ("maximum", most, Value::Number(_)) => value.as_f64() <= most.as_f64(),
                ("exclusiveMinimum", least, Value::Number(_)) => value.as_f64() > least.as_f64(),
                ("exclusiveMaximum", most, Value::Number(_)) => value.as_f64() < most.as_f64(),
                ("minLength", least, Value::String(text)) => size(least) <= text.chars().count(),
                ("maxLength", most, Value::String(text)) => size(most) >= text.chars().count(),
                ("minItems", least, Value::Array(items)) => size(least) <= items.len(),
                ("maxItems", most, Value::Array(items)) => size(most) >= items.len(),
                ("prefixItems", Value::Array(schemas), Value::Array(items)) => {
                    let mut all = true;
                    for (schema, item) in schemas.iter().zip(items) {
                        all &= self.fits_at(schema, item, reading, open)?;
                    }
                    all
                }
                ("items", schema, Value::Array(items)) => {
                    let first = keywords.get("prefixItems").and_then(Value::as_array);
                    let mut all = true;
                    for item in items.iter().skip(first.map_or(0, Vec::len)) {
                        all &= self.fits_at(schema, item, reading, open)?;
                    }
                    all
                }
                ("properties", Value::Object(schemas), Value::Object(members)) => {
                    let required = keywords.get("required").and_then(Value::as_array);
                    let mut all = true;
                    for (name, schema) in schemas {
                        let Some(member) = members.get(name) else {
                            continue;
                        };
                        let required = required.is_some_and(|all| all.iter().any(|it| it == name));
                        let is_left_out =
                            member.is_null() && !required && reading == Reading::Lenient;
                        all &= is_left_out || self.fits_at(schema, member, reading, open)?;
                    }
                    all
                }
                ("required", Value::Array(names), Value::Object(members)) => names
                    .iter()
                    .filter_map(Value::as_str)
                    .all(|name| members.contains_key(name)),
                ("additionalProperties", schema, Value::Object(members))
                    if !self.composed || reading == Reading::Strict =>
                {
                    let listed = keywords.get("properties").and_then(Value::as_object);
                    let mut all = true;
                    for (name, member) in members {
                        if listed.is_some_and(|listed| listed.contains_key(name)) {
                            continue;
                        }
                        let is_left_out = member.is_null()
                            && schema != &Value::Bool(false)
                            && reading == Reading::Lenient;
                        all &= is_left_out || self.fits_at(schema, member, reading, open)?;
                    }
                    all
                }
                ("allOf", Value::Array(schemas), _) => {
                    let mut all = true;
                    for schema in schemas {
                        all &= self.fits_at(schema, value, reading, open)?;
                    }
                    all
                }
                ("anyOf", Value::Array(schemas), _) if !schemas.is_empty() => {
                    let mut any = false;
                    for schema in schemas {
                        any |= self.fits_at(schema, value, reading, open)?;
                    }
                    any
                }
                ("oneOf", Value::Array(schemas), _) if !schemas.is_empty() => {
                    let (mut sure, mut maybe) = (0, 0);
                    for schema in schemas {
                        sure += usize::from(self.fits_at(schema, value, Reading::Strict, open)?);
                        maybe +=
                            usize::from(self.fits_at(schema, value, Reading::Lenient, open)?);
                    }
                    match reading {
                        Reading::Strict => sure == 1 && maybe == 1,
                        Reading::Lenient => maybe > 0,
                    }
                }
                ("$ref", Value::String(target), _) => {
                    let schema = self.root.pointer(&target[1..])?;
                    self.fits_at(schema, value, reading, open)?
                }
                _ => true,
            };
            if !fits {
                return Some(false);
            }
        }
        Some(true)
    }
}

fn size(keyword: &Value) -> usize {
    keyword.as_u64().map_or(usize::MAX, |size| size as usize)
}

fn is_of(value: &Value, name: &Value, reading: Reading) -> bool {
    match (name.as_str().unwrap_or_default(), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => match number.as_f64() {
            Some(float) if number.is_f64() => float.fract() == 0.0 && reading == Reading::Lenient,
            _ => true,
        },
        _ => false,
    }
}

fn same(allowed: &Value, value: &Value, reading: Reading) -> bool {
    let lenient = reading == Reading::Lenient;
    match (allowed, value) {
        (Value::Number(a), Value::Number(b)) => a == b || (lenient && a.as_f64() == b.as_f64()),
        // Only scalars are compared.
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) if lenient => {
            true
        }
        (allowed, value) => allowed == value,
    }
}

fn is_known(schema: &Value, root: &Value, composed: &mut bool) -> bool {
    let Value::Object(keywords) = schema else {
        return schema.is_boolean();
    };
    let types = [
        "null", "boolean", "number", "string", "array", "object", "integer",
    ];
    let is_type = |name: &Value| name.as_str().is_some_and(|name| types.contains(&name));
    keywords.iter().all(|(name, keyword)| {
        let mut known = |schema: &Value| is_known(schema, root, composed);
        match (name.as_str(), keyword) {
            ("title" | "description", _) => true,
            ("type", Value::Array(names)) => !names.is_empty() && names.iter().all(is_type),
            ("type", name) => is_type(name),
            ("enum", Value::Array(values)) => !values.is_empty() && values.iter().all(is_exact),
            ("const", value) => is_exact(value),
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
                is_exact(keyword)
            }
            ("minLength" | "maxLength" | "minItems" | "maxItems", size) => size.is_u64(),
            ("required", Value::Array(names)) => names.iter().all(Value::is_string),
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values().all(known)
            }
            ("items" | "additionalProperties", schema) => known(schema),
            ("prefixItems", Value::Array(schemas)) => schemas.iter().all(known),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                let known = schemas.iter().all(known);
                *composed = true;
                known
            }
            ("$ref", Value::String(target)) => {
                *composed = true;
                let name = target.strip_prefix("#/$defs/");
                let is_name = |name: &str| !name.contains(['/', '~', '%']);
                target == "#" || (name.is_some_and(is_name) && root.pointer(&target[1..]).is_some())
            }
            _ => false,
        }
    })
}

/// Returns `true` if all numbers in a value are exact.
pub(crate) fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|float| float.abs() < LARGEST),
        Value::Array(items) => items.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}
