//! The particular parts of the schema of plan JSON.

use crate::dynamic::dialects::schema::{Document, Form, Parts};
use crate::plan::json::names::{input, output, plan};
use serde_json::json;

pub(super) const FORM: Form = Form {
    strings: None,
    document,
    needs_id: true,
    by_place: false,
};

fn document(parts: &Parts) -> Document {
    let input = json!({
        "type": "object",
        "properties": {
            (input::NAME): parts.id,
            (input::TYPE): parts.string,
            (input::DESCRIPTION): parts.string,
        },
        "required": [input::NAME],
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": { (output::TYPE): parts.string, (output::VALUE): parts.value },
        "additionalProperties": false,
    });
    Document {
        steps: plan::STEPS,
        may_be_list: false,
        members: vec![
            (plan::NAME, parts.string.clone()),
            (plan::DESCRIPTION, parts.string.clone()),
            (plan::INPUTS, json!({"type": "array", "items": input})),
            (plan::OUTPUT, output),
        ],
        required: &[plan::NAME],
    }
}
