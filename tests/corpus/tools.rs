//! The crate of the corpus' tools.

use crate::corpus::model::Corpus;
use crate::corpus::types::{Field, Struct, Type};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A struct a tool, and a module a tool for the types of its arguments and its output.
pub(crate) fn source(corpus: &Corpus) -> String {
    let mut modules = BTreeMap::<&str, String>::new();
    for one in &corpus.structs.0 {
        let text = modules.entry(&one.module).or_default();
        define(corpus, one, "Shape", "", "super", text);
    }
    let mut source = String::from(
        "#![deny(warnings)]\nuse plan_runtime::{Shape, Tool};\nuse serde::{Deserialize, Serialize};\n\n",
    );
    for tool in &corpus.tools {
        let fields = tool.arguments.iter().map(|argument| {
            let (json, ident, ty) = (
                argument.json.clone(),
                argument.ident.clone(),
                argument.ty.clone(),
            );
            Field { json, ident, ty }
        });
        let one = Struct {
            module: String::new(),
            name: tool.rust.clone(),
            fields: fields.collect(),
        };
        let output = corpus.structs.rust(&tool.output, "crate");
        let attribute = format!("#[tool(output = {output}, name = {:?})]\n", tool.name);
        define(
            corpus,
            &one,
            "Shape, Tool",
            &attribute,
            "crate",
            &mut source,
        );
    }
    for (module, text) in modules {
        let _ = write!(
            source,
            "pub mod {module} {{\nuse plan_runtime::Shape;\nuse serde::{{Deserialize, Serialize}};\n\n{text}}}\n\n"
        );
    }
    source
}

fn define(
    corpus: &Corpus,
    one: &Struct,
    derives: &str,
    attribute: &str,
    root: &str,
    into: &mut String,
) {
    let plain = |field: &Field| field.ident.trim_start_matches("r#").to_owned();
    let all_camel = one
        .fields
        .iter()
        .all(|field| camel_case(&plain(field)) == field.json);
    let some_renamed = one.fields.iter().any(|field| plain(field) != field.json);
    let _ = writeln!(
        into,
        "#[derive(Serialize, Deserialize, {derives})]\n{attribute}",
        attribute = attribute.trim_end()
    );
    if all_camel && some_renamed {
        into.push_str("#[serde(rename_all = \"camelCase\")]\n");
    }
    let _ = writeln!(into, "pub struct {} {{", one.name);
    for field in &one.fields {
        let rename = (!all_camel && plain(field) != field.json)
            .then(|| format!("rename = {:?}", field.json));
        let default = matches!(field.ty, Type::Maybe(_)).then(|| "default".to_owned());
        let serde: Vec<String> = [rename, default].into_iter().flatten().collect();
        if !serde.is_empty() {
            let _ = writeln!(into, "    #[serde({})]", serde.join(", "));
        }
        let _ = writeln!(
            into,
            "    pub {}: {},",
            field.ident,
            corpus.structs.rust(&field.ty, root)
        );
    }
    into.push_str("}\n\n");
}

/// Converts a field's name like serde does.
fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for (index, part) in name.split('_').enumerate() {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if index > 0 => camel.extend(first.to_uppercase().chain(chars)),
            Some(first) => camel.extend(std::iter::once(first).chain(chars)),
            None => {}
        }
    }
    camel
}
