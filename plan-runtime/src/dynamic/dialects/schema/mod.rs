//! The JSON Schema of plans in a dialect: what its reader reads, over some tools.
//!
//! A schema is made of objects that list all their members, so that a model which is held to it writes nothing that the reader does not know. What no
//! schema can say is left to the reader: whether a name exists, how many steps there are, how deep they are nested.
//!
//! | | |
//! |---|---|
//! | `steps.rs` | steps, and what they do |
//! | `policy.rs` | policies, which depend on what a step does |
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

/// How many types of arguments a schema has at most. Beyond, it says nothing of a value.
const MOST_TYPES: usize = 20_000;

/// How many bytes the types of all arguments have, about, before those of further tools are left out.
const MOST_BYTES: usize = 12 << 20;

/// How many bytes a call has in each kind of step and in bodies, beside its tool and its arguments.
const BYTES_OF_CALL: usize = 500;

/// How many of them one tool has at most.
const MOST_TYPES_OF_TOOL: usize = 2_000;

/// What a schema says if types are left out.
const CUT: &str = "The types of all arguments are too large for one schema, so some are left out: any value is accepted in their place, and checked when the plan is read.";

/// What the schema of a dialect has of its own.
pub(crate) struct Form {
    /// How strings with references look; `None` where references are objects.
    pub(crate) strings: Option<fn() -> Strings>,
    /// The members of a document, beside the steps, with those of them that it needs.
    pub(crate) document: fn(&Parts) -> Document,
    /// Whether each step has an id.
    pub(crate) needs_id: bool,
    /// Whether steps are named by their places, and have the members of a blueprint.
    pub(crate) by_place: bool,
}

/// The patterns of strings, each of which is about the whole string.
pub(crate) struct Strings {
    /// Text, in which nothing looks like a reference.
    pub(crate) text: String,
    /// One reference.
    pub(crate) reference: String,
    /// What has a reference in it, or text that is written as a literal, since it looks like one.
    pub(crate) template: String,
    /// A reference to an input, which may give an amount of a policy.
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
    /// Whether the list of steps may be all.
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
    /// The names of types of arguments, by their places and what is secret of them.
    types: HashMap<(Vec<usize>, Vec<String>), String>,
    /// How many types there may still be, of all tools and of this one.
    left: usize,
    left_of_tool: usize,
    /// What comparing all schemas has for its work.
    work: &'c Work,
    /// How many bytes there are, about.
    bytes: usize,
    /// Whether a type was left out for that.
    is_cut: bool,
}

/// The schema of all plans of a dialect over these tools.
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

/// The schema of this name.
fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// An object with these members, each of which is required or not, and no others.
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

/// An object with this one member.
fn member(name: &str, schema: Value) -> Value {
    object([(name, schema, true)])
}

/// One of these, which may be alone.
fn any_of(mut schemas: Vec<Value>) -> Value {
    match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({ "anyOf": schemas }),
    }
}
