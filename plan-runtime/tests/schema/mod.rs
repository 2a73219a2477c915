//! The prompt and the JSON Schema for models.

mod examples;
mod prompts;
mod subset;

use plan_runtime::dynamic::{Contract, Contracts};
use serde_json::json;

/// Tools whose arguments are of all kinds.
fn tools() -> Contracts {
    let all = [
        Contract::new("anything"),
        Contract::new("nothing").arguments(json!({"type": "object", "additionalProperties": false})),
        Contract::new("scalars").arguments(json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 2, "maxLength": 9},
                "number": {"type": "number", "exclusiveMinimum": 0},
                "count": {"type": "integer", "minimum": -3, "maximum": 40},
                "flag": {"type": ["boolean", "null"]},
                "one": {"enum": ["inbox", "${HOME}", "$ref:x", "{{y}}", "(step[0])", "ref:a", 5, null, {"a": ["$ref:a"]}]},
                "any": {},
            },
            "required": ["text", "count"],
            "additionalProperties": false,
        })),
        Contract::new("nested \"tool\"\n").arguments(json!({
            "type": "object",
            "properties": {
                "tree": {"$ref": "#/$defs/node"},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false},
                "list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
                "open": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
                "both": {"allOf": [
                    {"type": "object", "properties": {"x": {"type": "integer"}}},
                    {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]},
                ]},
                "{{odd.result}}": {"type": "string"},
            },
            "required": ["tree"],
            "$defs": {"node": {
                "type": "object",
                "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["value"],
            }},
        })),
        // A tool whose members look like references in some dialects.
        Contract::new("odd").arguments(json!({
            "type": "object",
            "properties": {
                "{{odd.result}}": {"type": "string"}, "${{odd}}": {"type": "string"}, "$ref:odd": {"type": "string"}, "(step[0])": {"type": "string"},
                "inner": {"type": "object", "properties": {"${step[0].result}": {"type": "string"}}, "required": ["${step[0].result}"]},
            },
            "required": ["{{odd.result}}", "inner"],
        })),
        Contract::new("either").arguments(json!({"oneOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
            {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"], "additionalProperties": false},
        ]})),
    ];
    all.into_iter().collect()
}
