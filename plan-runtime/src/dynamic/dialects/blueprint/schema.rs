//! The particular parts of the schema of blueprints.

use crate::dynamic::dialects::references::NameSyntax;
use crate::dynamic::dialects::schema::patterns::{INDEX, literal, marks, name, path, whole};
use crate::dynamic::dialects::schema::{Document, Form, Parts, Strings};

pub(super) const FORM: Form = Form {
    strings: Some(strings),
    document,
    needs_id: false,
    by_place: true,
};

fn strings() -> Strings {
    let (name, path) = (name(NameSyntax::Wide), path(NameSyntax::Wide));
    let reference = format!(r"\$\{{(?:step\[{INDEX}\]|{name})\.(?:data|result){path}\}}");
    let literal = literal(r"\$\{", r"\}");
    let marked = format!("{reference}|{literal}");
    let marks = marks();
    // `(step[0]` is a malformed reference, so a string with its beginning must continue differently.
    let begun = r"\((?:steps?|ste|st|s)?";
    let others = [
        r"\([^s($\{]",
        r"\(s[^t($\{]",
        r"\(st[^e($\{]",
        r"\(ste[^p($\{]",
        r"\(step[^s\[($\{]",
        r"\(steps[^\[($\{]",
    ];
    let others = others.join("|");
    let piece =
        |marks: &str| format!("(?:[^$({{]|{marks}|(?:{begun})*(?:{others}|{begun}(?:{marks}|$)))");
    let plain = piece(&marks);
    let any = piece(&format!("{marks}|{marked}"));
    Strings {
        text: whole(&format!("{plain}*")),
        template: whole(&format!("{plain}*(?:{begun})*(?:{marked}){any}*")),
        reference: whole(&reference),
        input: None,
    }
}

fn document(parts: &Parts) -> Document {
    Document {
        steps: "steps",
        may_be_list: true,
        members: vec![
            ("requestId", parts.string.clone()),
            ("description", parts.string.clone()),
            ("output", parts.value.clone()),
            ("output_type", parts.string.clone()),
        ],
        required: &[],
    }
}
