//! Checks of plans against the schemas of tools: each error with its findings, and a similar correct plan without findings.

mod absence;
pub(crate) mod applied;
mod arguments;
#[cfg(feature = "macros")]
mod attributes;
mod blocks;
mod dialects;

mod contracts;
mod corrections;
mod decided;
mod holds;
mod named;
mod other_systems;
pub(crate) mod plans;
mod random;
mod runs;
mod schemas;
#[cfg(feature = "schema")]
mod schemas_of_types;
pub(crate) mod sound;
mod sound_runs;
mod texts;
mod unsound;
mod variables;
mod variables_runs;
mod wrong_documents;

use plan_runtime::dynamic::{Contract, Contracts, Document, Findings, Reader};
use serde_json::json;

pub(crate) fn tools() -> Contracts {
    let person = json!({
        "$defs": {"person": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "email": {"type": ["string", "null"]},
                "age": {"type": "integer"},
                "manager": {"$ref": "#/$defs/person"},
                "manager_of": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "null"}]},
            },
            "required": ["id", "email", "age"],
        }},
        "$ref": "#/$defs/person",
    });
    let hit = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "score": {"type": "number"},
            "from": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "email": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": false,
            },
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["id", "score", "from", "tags"],
    });
    [
        Contract::new("search")
            .read_only()
            .arguments(json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "minLength": 1, "maxLength": 40},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                },
                "required": ["query"],
                "additionalProperties": false,
            }))
            .output(json!({"type": "array", "items": hit})),
        Contract::new("read_person")
            .read_only()
            .arguments(json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}))
            .output(person),
        Contract::new("send")
            .arguments(json!({
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "who gets it"},
                    "subject": {"type": "string"},
                    "body": {"type": "string"},
                    "cc": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
                    "priority": {"enum": ["low", "normal", "high"]},
                    "options": {
                        "type": "object",
                        "properties": {"html": {"type": "boolean"}, "footer": {"type": "string"}},
                        "required": ["html"],
                        "additionalProperties": false,
                    },
                },
                "required": ["to", "subject"],
                "additionalProperties": false,
            }))
            .output(json!({
                "type": "object",
                "properties": {"id": {"type": "string"}, "status": {"enum": ["queued", "sent"]}},
                "required": ["id", "status"],
            })),
        Contract::new("notify").arguments(json!({
            "type": "object",
            "properties": {"user_id": {"type": "string"}, "text": {"type": "string"}},
            "required": ["user_id"],
        })),
        Contract::new("archive").arguments(json!({
            "type": "object",
            "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
            "required": ["ids"],
        })),
        Contract::new("draw").arguments(json!({
            "type": "object",
            "properties": {"shape": {"oneOf": [
                {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
                {"type": "object", "properties": {"kind": {"const": "box"}, "sides": {"type": "array", "items": {"type": "number"}}}, "required": ["kind", "sides"]},
            ]}},
        })),
        Contract::new("list_mail").output(json!({
            "type": "object",
            "properties": {
                "paging": {"type": "object", "properties": {"cursor": {"type": "string"}}, "required": ["cursor"]},
                "extra": {"type": "object", "properties": {"id": {}}, "required": ["id"], "additionalProperties": true},
            },
            "required": ["paging", "extra"],
        })),
        Contract::new("locate").output(json!({
            "type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false,
        })),
        Contract::new("anything"),
    ]
    .into_iter()
    .collect()
}

fn tool(steps: &str) -> String {
    format!("{{\"steps\": [\n{steps}\n]}}")
}

fn action(steps: &str) -> String {
    format!("[\n{steps}\n]")
}

fn read(text: &str) -> Findings {
    read_with(&tools(), text)
}

pub(crate) fn read_with(tools: &Contracts, text: &str) -> Findings {
    all_findings(Reader::new().tools(tools).read(text))
}

/// Returns the findings of a document, errors and warnings.
pub(crate) fn all_findings(read: Result<Document<'_>, Findings>) -> Findings {
    read.map_or_else(|it| it, |document| document.warnings().clone())
}

/// Returns the code and the message of each finding.
fn shown(findings: &Findings) -> Vec<String> {
    let findings = findings.iter();
    findings
        .map(|it| format!("{}: {}", it.code, it.message))
        .collect()
}

/// Returns a tool plan with a call of `find`, and then these steps.
fn after_find(steps: &str) -> String {
    format!(
        r#"{{"steps": [{{"id": "a", "tool": "find", "arguments": {{}}}}, {steps}], "output_steps": ["b"]}}"#
    )
}
