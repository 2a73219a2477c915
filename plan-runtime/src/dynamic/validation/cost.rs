//! The largest cost of a validation, computed before the validation.
//!
//! Without these bounds, a schema whose references double at each level, or that nests `unevaluatedProperties`, would take exponential time, and
//! a deep value with a recursive schema would overflow the stack.

use crate::dynamic::schema::{Anchors, anchors, part};
use crate::resolve::describe::short;
use serde_json::Value;
use std::collections::HashSet;
use std::rc::Rc;

/// Maximum cost of a schema for one value, where a plain schema costs 1.
const MOST: usize = 50_000;

/// Maximum nesting of schemas, including references.
const MOST_NESTED: usize = 128;

/// Maximum number of nested schemas that are open at one time in a recursive schema. In a build without optimization, they take 1 MiB of the stack.
const MOST_OPEN: usize = 1024;

/// Maximum cost of the validation of a value.
const MOST_WORK: usize = 1 << 28;

/// Maximum cost of the search for a violation.
const MOST_SEARCHED: usize = 1 << 20;

/// The cost of a regular expression for four bytes, compared to the cost of a schema for a value.
const PATTERN: usize = 100;

/// The factor between the costs of nested schemas with `unevaluatedProperties` or `unevaluatedItems`.
const UNEVALUATED: usize = 4;

/// The cost of a schema.
#[derive(Default)]
pub(super) struct Cost {
    /// The cost for one value, if no reference is recursive.
    once: usize,
    /// The largest number of nested schemas.
    nested: usize,
    /// The number of recursive references.
    recursive: usize,
    has_patterns: bool,
    has_choices: bool,
}

/// The size of a value.
pub(super) struct Size {
    values: usize,
    /// The bytes of all strings.
    text: usize,
    depth: usize,
}

impl Size {
    pub(super) fn of(value: &Value) -> Self {
        let mut size = Self {
            values: 0,
            text: 0,
            depth: 0,
        };
        size.add(value, 0);
        size
    }

    fn add(&mut self, value: &Value, depth: usize) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        if depth > MOST_OPEN {
            return;
        }
        match value {
            Value::String(text) => self.text += text.len(),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, depth + 1)),
            Value::Object(members) => {
                for (name, member) in members {
                    self.text += name.len();
                    self.add(member, depth + 1);
                }
            }
            _ => {}
        }
    }
}

impl Cost {
    /// Returns the cost of a schema, or the reason for which the schema cannot be used.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        if Size::of(schema).depth > MOST_NESTED {
            return Err(too_large());
        }
        only_document(schema)?;
        let mut walk = Walk {
            root: schema,
            anchors: None,
            open: vec![schema],
            cost: Self::default(),
        };
        walk.schema(schema, 1, 0)?;
        Ok(walk.cost)
    }

    /// Returns the property of a value that makes a validation too expensive.
    pub(super) fn exceeded(&self, size: &Size) -> Option<&'static str> {
        let open = match self.recursive {
            0 => size.depth,
            _ => size.depth.saturating_mul(self.nested),
        };
        let text = if self.has_patterns { size.text / 4 } else { 0 };
        let work = self.once.saturating_mul(size.values.saturating_add(text));
        if open > MOST_OPEN {
            Some("deep")
        } else {
            (work > MOST_WORK).then_some("large")
        }
    }

    /// Returns `true` if a search for the violation takes a short time. The search tries all alternatives, and remembers no results.
    pub(super) fn allows_details(&self, size: &Size) -> bool {
        if !self.has_choices && self.recursive <= 1 {
            return true;
        }
        let depth = u32::try_from(size.depth).unwrap_or(u32::MAX);
        let repeated = self.recursive.max(1).saturating_pow(depth);
        self.once
            .saturating_mul(size.values)
            .saturating_mul(repeated)
            <= MOST_SEARCHED
    }
}

fn too_large() -> String {
    "is too large, or has too many nested references".to_owned()
}

/// Returns an error if parts of the schema have addresses of their own, or equal names. Then a reference could lead to another part than [`part`]
/// finds.
fn only_document(schema: &Value) -> Result<(), String> {
    let is_draft_4 = schema["$schema"]
        .as_str()
        .is_some_and(|it| it.contains("draft-04"));
    let mut names = HashSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match (&**name, member) {
                        ("$anchor" | "$dynamicAnchor", Value::String(name))
                            if !names.insert(name) =>
                        {
                            return Err(format!(
                                "has several parts with the name `{}`",
                                short(name)
                            ));
                        }
                        ("$id", Value::String(id))
                            if !std::ptr::eq(value, schema) && !id.starts_with('#') =>
                        {
                            return Err(format!("contains another document, `{}`", short(id)));
                        }
                        ("id", Value::String(id)) if is_draft_4 => {
                            return Err(format!("has an `id` of draft 4, `{}`", short(id)));
                        }
                        _ => open.push(member),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    Ok(())
}

/// A walk through a schema that opens each reference, as a validation does.
struct Walk<'a> {
    root: &'a Value,
    anchors: Option<Rc<Anchors>>,
    /// The targets of the open references.
    open: Vec<*const Value>,
    cost: Cost,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, at: &'a Value, weight: usize, depth: usize) -> Result<(), String> {
        self.spend(weight)?;
        self.cost.nested = self.cost.nested.max(depth);
        if depth > MOST_NESTED {
            return Err(too_large());
        }
        let keywords = match at {
            Value::Object(keywords) => keywords,
            Value::Array(schemas) => {
                return schemas
                    .iter()
                    .try_for_each(|it| self.schema(it, weight, depth + 1));
            }
            _ => return Ok(()),
        };
        let is_unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
        let has_unevaluated = is_unevaluated
            .iter()
            .any(|name| keywords.contains_key(*name));
        let weight = if has_unevaluated {
            weight.saturating_mul(UNEVALUATED)
        } else {
            weight
        };
        for (name, value) in keywords {
            match (&**name, value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                    self.target(target, weight, depth)?;
                }
                ("pattern", _) => self.pattern(1, weight)?,
                // Only references use these schemas.
                ("$defs" | "definitions", _) => {}
                ("const" | "default" | "enum" | "examples", value) => {
                    self.spend(weight.saturating_mul(Size::of(value).values))?;
                }
                (
                    "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
                    Value::Object(schemas),
                ) => {
                    if name == "patternProperties" {
                        self.pattern(schemas.len(), weight)?;
                    }
                    for schema in schemas.values() {
                        self.schema(schema, weight, depth + 1)?;
                    }
                }
                (name, schema) => {
                    self.cost.has_choices |= matches!(name, "anyOf" | "oneOf");
                    self.schema(schema, weight, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn target(&mut self, target: &str, weight: usize, depth: usize) -> Result<(), String> {
        let (root, known) = (self.root, &mut self.anchors);
        let known = || Rc::clone(known.get_or_insert_with(|| Rc::new(anchors(root))));
        let found = match part(root, target, known) {
            Some(Some(found)) => found,
            Some(None) => {
                return Err(format!(
                    "refers to `{}`, which does not exist",
                    short(target)
                ));
            }
            None => return Err(format!("refers to another document, `{}`", short(target))),
        };
        let place: *const Value = found;
        if self.open.contains(&place) {
            self.cost.recursive += 1;
            return Ok(());
        }
        self.open.push(place);
        self.schema(found, weight, depth + 1)?;
        self.open.pop();
        Ok(())
    }

    fn pattern(&mut self, count: usize, weight: usize) -> Result<(), String> {
        self.cost.has_patterns = true;
        self.spend(weight.saturating_mul(count).saturating_mul(PATTERN))
    }

    fn spend(&mut self, cost: usize) -> Result<(), String> {
        self.cost.once = self.cost.once.saturating_add(cost);
        if self.cost.once > MOST {
            Err(too_large())
        } else {
            Ok(())
        }
    }
}
