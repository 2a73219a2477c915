//! The JSON Schema of plans in a dialect with some tools: the documents that the dialect's reader accepts.
//!
//! A schema consists of objects that list all their members, so that a model with structured output writes no member that is unknown to the reader.
//! The reader checks the rules that no schema can express: the existence of names, the number of steps, the depth of nesting.
//!
//! | | |
//! |---|---|
//! | `steps.rs` | steps, and their bodies |
//! | `policy.rs` | policies, which depend on the body of the step |
//! | `values.rs` | values with references in them, and conditions |
//! | `arguments.rs` | the arguments of a tool, from its contract |
//! | `patterns.rs` | strings with references in them, and strings without |

mod arguments;
pub(crate) mod patterns;
mod policy;
mod steps;
mod values;

use super::Dialect;
use crate::dynamic::Contracts;
use crate::dynamic::schema::Work;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The largest number of argument types in a schema. The schema accepts any value for further types.
const MOST_TYPES: usize = 20_000;

/// The approximate size in bytes of the types of all arguments, beyond which the types of further tools are left out.
const MOST_BYTES: usize = 12 << 20;

/// The approximate size in bytes of a call in each kind of step and in bodies, without its tool and its arguments.
const BYTES_OF_CALL: usize = 500;

/// The largest number of argument types of one tool.
const MOST_TYPES_OF_TOOL: usize = 2_000;

/// The comment of an incomplete schema.
const CUT: &str = "The types of all arguments are too large for one schema, so some are left out: any value is accepted in their place, and checked when the plan is read.";

/// The particular parts of a dialect's schema.
pub(crate) struct Form {
    /// Returns the patterns of strings with references. `None` if references are objects.
    pub(crate) strings: Option<fn() -> Strings>,
    /// Returns the members of a document besides the steps, and the required ones.
    pub(crate) document: fn(&Parts) -> Document,
    /// `true` if each step has an ID.
    pub(crate) needs_id: bool,
    /// `true` if references name steps by index, and steps have the members of a blueprint.
    pub(crate) by_place: bool,
}

/// The patterns of strings, each of which is about the whole string.
pub(crate) struct Strings {
    /// A literal string, without parts that look like a reference.
    pub(crate) text: String,
    /// A reference.
    pub(crate) reference: String,
    /// A string with a reference, or with a literal part that looks like a reference.
    pub(crate) template: String,
    /// A reference to an input, for an amount of a policy.
    pub(crate) input: Option<String>,
}

/// The schemas of parts of a document.
pub(crate) struct Parts {
    pub(crate) value: Value,
    pub(crate) id: Value,
    pub(crate) string: Value,
}

/// A document as a whole.
pub(crate) struct Document {
    /// The member with the steps.
    pub(crate) steps: &'static str,
    /// `true` if the document may be only the list of steps.
    pub(crate) may_be_list: bool,
    /// All other members.
    pub(crate) members: Vec<(&'static str, Value)>,
    pub(crate) required: &'static [&'static str],
}

/// A schema that is being made.
struct Builder<'c> {
    dialect: Dialect,
    contracts: &'c Contracts,
    form: &'static Form,
    strings: Option<Strings>,
    defs: Map<String, Value>,
    /// The names of argument types, by their positions and secrets.
    types: HashMap<(Vec<usize>, Vec<String>), String>,
    /// The number of types that still fit, for all tools and for this one.
    left: usize,
    left_of_tool: usize,
    /// The work budget for comparing all schemas.
    work: &'c Work,
    /// The approximate size in bytes.
    bytes: usize,
    /// `true` if a type was left out for its size.
    is_cut: bool,
}

/// Returns the schema of all plans of a dialect with these tools.
pub(crate) fn schema(dialect: Dialect, contracts: &Contracts) -> Value {
    let form = &dialect.rules().form_of_schema;
    let work = Work::for_types();
    let mut builder = Builder {
        dialect,
        contracts,
        form,
        strings: form.strings.map(|strings| strings()),
        defs: Map::new(),
        types: HashMap::new(),
        left: MOST_TYPES,
        left_of_tool: 0,
        work: &work,
        bytes: 0,
        is_cut: false,
    };
    builder.values();
    builder.steps();
    let parts = Parts {
        value: named("value"),
        id: named("id"),
        string: json!({"type": "string"}),
    };
    let Document {
        steps,
        may_be_list,
        members,
        required,
    } = (form.document)(&parts);
    let mut properties: Map<String, Value> = members
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    let list = json!({"type": "array", "items": named("step"), "minItems": 1});
    properties.insert(steps.to_owned(), list.clone());
    let needed = [&[steps], required].concat();
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": false,
        "$defs": std::mem::take(&mut builder.defs),
    });
    if builder.is_cut {
        schema["$comment"] = CUT.into();
    }
    if may_be_list {
        schema["type"] = json!(["array", "object"]);
        for keyword in ["items", "minItems"] {
            schema[keyword] = list[keyword].clone();
        }
    }
    schema
}

/// Returns a reference to the schema with this name.
fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Returns the schema of an object with exactly these members, and `true` for each required member.
fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value, bool)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema, is_required) in members {
        if is_required {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema);
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Returns the schema of an object with this single member.
fn member(name: &str, schema: Value) -> Value {
    object([(name, schema, true)])
}

/// Returns the alternatives, or a single schema unchanged.
fn any_of(mut schemas: Vec<Value>) -> Value {
    match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({ "anyOf": schemas }),
    }
}
