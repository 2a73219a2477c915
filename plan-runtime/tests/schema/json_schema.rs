//! JSON Schema as far as the schemas of dialects use it: what fits, and random values that do.

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Number, Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The depth from which generated values are minimal.
const DEEP: usize = 7;

/// A schema with only supported keywords.
pub(crate) struct JsonSchema {
    pub(crate) root: Value,
    patterns: RefCell<HashMap<String, Rc<(Regex, Hir)>>>,
    /// The depth of the smallest value of each named schema.
    heights: HashMap<String, usize>,
}

impl JsonSchema {
    pub(crate) fn new(root: Value) -> Self {
        let mut schema = Self {
            root,
            patterns: RefCell::default(),
            heights: HashMap::new(),
        };
        let defs = schema.root["$defs"].as_object().cloned().unwrap();
        loop {
            let before = schema.heights.len();
            for (name, def) in &defs {
                if let Some(height) = schema.height(def) {
                    let known = schema.heights.entry(name.clone()).or_insert(height);
                    *known = height.min(*known);
                }
            }
            if schema.heights.len() == before {
                assert_eq!(before, defs.len(), "a schema is never met");
                return schema;
            }
        }
    }

    fn target<'s>(&'s self, reference: &Value) -> (&'s str, &'s Value) {
        let name = reference
            .as_str()
            .unwrap()
            .strip_prefix("#/$defs/")
            .unwrap();
        let (name, def) = self.root["$defs"]
            .as_object()
            .unwrap()
            .get_key_value(name)
            .unwrap();
        (name, def)
    }

    fn height(&self, schema: &Value) -> Option<usize> {
        let Some(keywords) = schema.as_object() else {
            return (schema != false).then_some(0);
        };
        let mut height = 0;
        for (name, keyword) in keywords {
            let inside = match name.as_str() {
                "$ref" => self.heights.get(self.target(keyword).0).copied()?,
                "anyOf" => {
                    let all = keyword.as_array().unwrap();
                    all.iter().filter_map(|it| self.height(it)).min()?
                }
                "properties" => {
                    let required = keywords.get("required").and_then(Value::as_array);
                    let required = required.into_iter().flatten();
                    let heights =
                        required.map(|name| self.height(&keyword[name.as_str().unwrap()]));
                    heights
                        .collect::<Option<Vec<_>>>()?
                        .into_iter()
                        .max()
                        .unwrap_or(0)
                        + 1
                }
                "items" if keywords.contains_key("minItems") && keyword != false => {
                    self.height(keyword)? + 1
                }
                "prefixItems" => {
                    let all = keyword.as_array().unwrap().iter();
                    let all: Option<Vec<usize>> = all.map(|it| self.height(it)).collect();
                    all?.into_iter().max().unwrap_or(0) + 1
                }
                _ => 0,
            };
            height = height.max(inside);
        }
        Some(height)
    }

    fn pattern(&self, pattern: &Value) -> Rc<(Regex, Hir)> {
        let pattern = pattern.as_str().unwrap();
        let mut all = self.patterns.borrow_mut();
        let made = all.entry(pattern.to_owned()).or_insert_with(|| {
            let hir = regex_syntax::parse(pattern).unwrap_or_else(|error| panic!("{error}"));
            Rc::new((Regex::new(pattern).unwrap(), hir))
        });
        Rc::clone(made)
    }

    /// Returns the reason why a value does not fit.
    pub(crate) fn mistake(&self, value: &Value) -> Option<String> {
        self.check(&self.root, value, "").err()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let Some(keywords) = schema.as_object() else {
            return match schema {
                Value::Bool(true) => Ok(()),
                _ => Err(format!("{at}: nothing may be here")),
            };
        };
        for (name, keyword) in keywords {
            let fits = match (name.as_str(), value) {
                ("$schema" | "$defs" | "$comment", _) => true,
                ("$ref", _) => {
                    self.check(self.target(keyword).1, value, at)?;
                    true
                }
                ("anyOf", _) => {
                    let all = keyword.as_array().unwrap().iter();
                    let all = all.map(|it| self.check(it, value, at));
                    let mut mistakes = Vec::new();
                    for result in all {
                        match result {
                            Ok(()) => {
                                mistakes.clear();
                                break;
                            }
                            Err(why) => mistakes.push(why),
                        }
                    }
                    if let Some(why) = mistakes.into_iter().max_by_key(|why| why.find(": ")) {
                        return Err(why);
                    }
                    true
                }
                ("not", _) => self.check(keyword, value, at).is_err(),
                ("enum", _) => keyword.as_array().unwrap().contains(value),
                ("type", _) => match keyword {
                    Value::Array(names) => names.iter().any(|name| is_of(name, value)),
                    name => is_of(name, value),
                },
                ("pattern", Value::String(text)) => self.pattern(keyword).0.is_match(text),
                ("minLength", Value::String(text)) => {
                    keyword.as_u64() <= Some(text.chars().count() as u64)
                }
                ("maxLength", Value::String(text)) => {
                    keyword.as_u64() >= Some(text.chars().count() as u64)
                }
                ("minimum", Value::Number(_)) => keyword.as_f64() <= value.as_f64(),
                ("maximum", Value::Number(_)) => keyword.as_f64() >= value.as_f64(),
                ("exclusiveMinimum", Value::Number(_)) => keyword.as_f64() < value.as_f64(),
                ("exclusiveMaximum", Value::Number(_)) => keyword.as_f64() > value.as_f64(),
                ("minItems", Value::Array(items)) => keyword.as_u64() <= Some(items.len() as u64),
                ("maxItems", Value::Array(items)) => keyword.as_u64() >= Some(items.len() as u64),
                ("prefixItems", Value::Array(items)) => {
                    for (at_item, (item, schema)) in
                        items.iter().zip(keyword.as_array().unwrap()).enumerate()
                    {
                        self.check(schema, item, &format!("{at}/{at_item}"))?;
                    }
                    true
                }
                ("items", Value::Array(items)) => {
                    let first = keywords.get("prefixItems").and_then(Value::as_array);
                    for (at_item, item) in items.iter().enumerate().skip(first.map_or(0, Vec::len))
                    {
                        self.check(keyword, item, &format!("{at}/{at_item}"))?;
                    }
                    true
                }
                ("required", Value::Object(members)) => {
                    let mut names = keyword.as_array().unwrap().iter();
                    names.all(|name| members.contains_key(name.as_str().unwrap()))
                }
                ("properties", Value::Object(members)) => {
                    for (name, schema) in keyword.as_object().unwrap() {
                        if let Some(member) = members.get(name) {
                            self.check(schema, member, &format!("{at}/{name}"))?;
                        }
                    }
                    true
                }
                ("additionalProperties", Value::Object(members)) => {
                    let listed = keywords.get("properties").and_then(Value::as_object);
                    for (name, member) in members {
                        if listed.is_none_or(|listed| !listed.contains_key(name)) {
                            self.check(keyword, member, &format!("{at}/{name}"))?;
                        }
                    }
                    true
                }
                ("propertyNames", Value::Object(members)) => {
                    for name in members.keys() {
                        self.check(keyword, &name.as_str().into(), at)?;
                    }
                    true
                }
                (
                    "pattern"
                    | "minLength"
                    | "maxLength"
                    | "minimum"
                    | "maximum"
                    | "exclusiveMinimum"
                    | "exclusiveMaximum"
                    | "minItems"
                    | "maxItems"
                    | "prefixItems"
                    | "items"
                    | "required"
                    | "properties"
                    | "additionalProperties"
                    | "propertyNames",
                    _,
                ) => true,
                (name, _) => panic!("the keyword `{name}` is not expected"),
            };
            if !fits {
                let value = value.to_string();
                let value: String = value.chars().take(200).collect();
                return Err(format!("{at}: `{name}` of {keyword}: {value}"));
            }
        }
        Ok(())
    }

    /// A random value that fits.
    pub(crate) fn make(&self, random: &mut fastrand::Rng, words: &[&str]) -> Value {
        let value = self.make_at(&self.root, random, words, 0);
        if let Some(why) = self.mistake(&value) {
            panic!("what was made does not fit: {why}\n{value}");
        }
        value
    }

    fn make_at(
        &self,
        schema: &Value,
        random: &mut fastrand::Rng,
        words: &[&str],
        depth: usize,
    ) -> Value {
        for _ in 0..500 {
            let value = self.attempt(schema, random, words, depth);
            if schema.get("not").is_none() || self.check(schema, &value, "").is_ok() {
                return value;
            }
        }
        panic!("nothing fits {schema}");
    }

    fn attempt(
        &self,
        schema: &Value,
        random: &mut fastrand::Rng,
        words: &[&str],
        depth: usize,
    ) -> Value {
        if let Some(reference) = schema.get("$ref") {
            return self.make_at(self.target(reference).1, random, words, depth);
        }
        if let Some(all) = schema.get("anyOf").and_then(Value::as_array) {
            let least = |depth: usize| {
                let by_height = |it: &&Value| self.height(it).unwrap_or(usize::MAX);
                let least = all.iter().map(|it| by_height(&it)).min().unwrap();
                let low = all
                    .iter()
                    .filter(|it| by_height(it) <= least + DEEP.saturating_sub(depth));
                low.collect::<Vec<_>>()
            };
            let all = least(depth);
            let chosen = all[random.usize(..all.len())];
            return self.make_at(chosen, random, words, depth);
        }
        if let Some(all) = schema.get("enum").and_then(Value::as_array) {
            return all[random.usize(..all.len())].clone();
        }
        let name = match &schema["type"] {
            Value::Array(names) => names[random.usize(..names.len())].clone(),
            name => name.clone(),
        };
        match name.as_str().unwrap_or("string") {
            "null" => Value::Null,
            "boolean" => random.bool().into(),
            "integer" => integer(schema, random).into(),
            "number" if random.bool() => integer(schema, random).into(),
            "number" => {
                let (least, most) = bounds(schema);
                let value = (random.f64() * 20.0).clamp(least.max(0.5), most.min(1e6));
                Number::from_f64(value).unwrap().into()
            }
            "string" => self.string(schema, random, words).into(),
            "array" => {
                let first = schema.get("prefixItems").and_then(Value::as_array);
                let mut items: Vec<Value> = first
                    .into_iter()
                    .flatten()
                    .map(|it| self.make_at(it, random, words, depth + 1))
                    .collect();
                let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
                let most = schema["maxItems"].as_u64().unwrap_or(9) as usize;
                let more = if depth > DEEP { 0 } else { random.usize(..4) };
                let rest = schema.get("items").filter(|items| **items != json!(false));
                while items.len() < least.max(more).min(most)
                    && let Some(rest) = rest
                {
                    items.push(self.make_at(rest, random, words, depth + 1));
                }
                items.into()
            }
            "object" => self.object(schema, random, words, depth),
            name => panic!("the type `{name}` is not expected"),
        }
    }

    fn object(
        &self,
        schema: &Value,
        random: &mut fastrand::Rng,
        words: &[&str],
        depth: usize,
    ) -> Value {
        let mut members = Map::new();
        let nothing = Vec::new();
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .unwrap_or(&nothing);
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let is_deep = depth > DEEP;
            let is_required = required.iter().any(|it| it == name);
            if is_required || (!is_deep && random.u8(..) < 100) {
                members.insert(
                    name.clone(),
                    self.make_at(property, random, words, depth + 1),
                );
            }
        }
        let open = schema
            .get("additionalProperties")
            .filter(|it| **it != json!(false));
        if let Some(open) = open.filter(|_| depth <= DEEP) {
            let names = schema
                .get("propertyNames")
                .cloned()
                .unwrap_or_else(|| json!({}));
            for _ in 0..random.usize(..3) {
                let name = self.string(&names, random, words);
                let is_listed = schema["properties"].get(&name).is_some();
                if !is_listed && !members.contains_key(&name) {
                    members.insert(name, self.make_at(open, random, words, depth + 1));
                }
            }
        }
        members.into()
    }

    /// Returns a string, often one of these words if one fits.
    fn string(&self, schema: &Value, random: &mut fastrand::Rng, words: &[&str]) -> String {
        for _ in 0..2_000 {
            let text = if random.bool() {
                words[random.usize(..words.len())].to_owned()
            } else {
                let mut text = String::new();
                match schema.get("pattern") {
                    Some(pattern) => matching(&self.pattern(pattern).1, random, &mut text),
                    None => text = words[random.usize(..words.len())].to_owned(),
                }
                text
            };
            let without = |name: &&String| *name != "not";
            let keywords = schema.as_object().unwrap();
            let rest: Map<String, Value> = keywords
                .iter()
                .filter(|(name, _)| without(name))
                .map(|(name, keyword)| (name.clone(), keyword.clone()))
                .collect();
            if self.check(&rest.into(), &text.as_str().into(), "").is_ok() {
                return text;
            }
        }
        panic!("no string fits {schema}");
    }
}

fn bounds(schema: &Value) -> (f64, f64) {
    let bound = |names: [&str; 2], by: f64| {
        let exclusive = schema[names[1]].as_f64().map(|bound| bound + by);
        exclusive.or_else(|| schema[names[0]].as_f64())
    };
    let least = bound(["minimum", "exclusiveMinimum"], 1.0);
    let most = bound(["maximum", "exclusiveMaximum"], -1.0);
    (least.unwrap_or(-1e6), most.unwrap_or(1e6))
}

fn integer(schema: &Value, random: &mut fastrand::Rng) -> i64 {
    let (least, most) = bounds(schema);
    if random.u8(..) < 8 && least < -1e18 {
        return i64::MIN;
    }
    let small = random.i64(-9..30);
    (small as f64).clamp(least, most) as i64
}

fn is_of(name: &Value, value: &Value) -> bool {
    match (name.as_str().unwrap(), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_)) => true,
        ("integer", Value::Number(number)) => !number.is_f64(),
        _ => false,
    }
}

/// Appends a string that matches, if its assertions about positions hold.
fn matching(hir: &Hir, random: &mut fastrand::Rng, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).unwrap()),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            // The characters that people write are more often chosen.
            let low = ranges
                .iter()
                .filter(|range| range.start() < '\u{100}')
                .count()
                .max(1);
            let most = if random.u8(..) < 230 {
                low
            } else {
                ranges.len()
            };
            let range = ranges[random.usize(..most)];
            let last = (range.end() as u32).min(range.start() as u32 + 100);
            let chosen = random.u32(range.start() as u32..=last);
            text.push(char::from_u32(chosen).unwrap_or(range.start()));
        }
        HirKind::Class(Class::Bytes(class)) => text.push(char::from(class.ranges()[0].start())),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min + 3);
            for _ in 0..random.u32(repetition.min..=most) {
                matching(&repetition.sub, random, text);
            }
        }
        HirKind::Capture(capture) => matching(&capture.sub, random, text),
        HirKind::Concat(all) => all.iter().for_each(|it| matching(it, random, text)),
        HirKind::Alternation(all) => matching(&all[random.usize(..all.len())], random, text),
    }
}
