//! The particular parts of the schema of action plans.

use crate::dynamic::dialects::references::NameSyntax;
use crate::dynamic::dialects::schema::patterns::{literal, name_without, path, plain, whole};
use crate::dynamic::dialects::schema::{Document, Form, Parts, Strings};
use serde_json::json;

pub(super) const FORM: Form = Form {
    strings: Some(strings),
    document,
    needs_id: true,
    by_place: false,
};

fn strings() -> Strings {
    // An input and an output of a step have different forms. The name of a step does not begin like an input.
    let (name, path) = (name_without("PLAC"), path(NameSyntax::Wide));
    let input = r#"\{\{(?:PLACEHOLDER_[A-Za-z0-9_$@-]+|\["PLACEHOLDER_[^"\\\x00-\x1f]+"\])\}\}"#;
    let reference = format!(r"(?:\{{\{{{name}\.result{path}\}}\}}|{input})");
    let literal = literal(r"\{\{", r"\}\}");
    let plain = plain("[^${]");
    let marked = format!("(?:{reference}|{literal})");
    Strings {
        text: whole(&format!("{plain}*")),
        template: whole(&format!("{plain}*{marked}(?:{plain}|{marked})*")),
        reference: whole(&reference),
        input: Some(input.to_owned()),
    }
}

fn document(parts: &Parts) -> Document {
    let input = json!({
        "type": "object",
        "properties": { "name": parts.id, "type": parts.string, "description": parts.string },
        "required": ["name"],
        "additionalProperties": false,
    });
    Document {
        steps: "plan",
        may_be_list: true,
        members: vec![
            ("name", parts.string.clone()),
            ("description", parts.string.clone()),
            ("inputs", json!({"type": "array", "items": input})),
            ("output", parts.value.clone()),
            ("output_type", parts.string.clone()),
        ],
        required: &[],
    }
}
