//! The particular parts of the schema of tool plans.

use crate::dynamic::dialects::references::NameSyntax;
use crate::dynamic::dialects::schema::patterns::{literal, marks, name, path, plain, whole};
use crate::dynamic::dialects::schema::{Document, Form, Parts, Strings};
use serde_json::json;

pub(super) const FORM: Form = Form {
    strings: Some(strings),
    document,
    needs_id: true,
    by_place: false,
};

fn strings() -> Strings {
    let (name, path) = (name(NameSyntax::Ascii), path(NameSyntax::Ascii));
    let reference = format!(r"\$ref:{name}{path}");
    let literal = literal(r"\$ref:", "");
    let (plain, marks) = (plain("[^${]"), marks());
    // `ref:mail` is nearly a reference.
    let first = ["[^r${]", "r(?:[^e${])", "re(?:[^f${])", "ref(?:[^:${])"].join("|");
    let first = format!("(?:{first}|r?(?:{marks})|re(?:{marks})|ref(?:{marks}))");
    Strings {
        text: whole(&format!("(?:{first}{plain}*|r|re|ref)?")),
        template: whole(&format!("{reference}|{literal}")),
        reference: whole(&reference),
        input: None,
    }
}

fn document(parts: &Parts) -> Document {
    Document {
        steps: "steps",
        may_be_list: false,
        members: vec![
            ("output_steps", json!({"type": "array", "items": parts.id})),
            ("name", parts.string.clone()),
            ("description", parts.string.clone()),
            ("output", parts.value.clone()),
            ("output_type", parts.string.clone()),
        ],
        required: &[],
    }
}
