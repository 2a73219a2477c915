//! What is public is in `tests/public-api.txt`, so that a change of it is seen. `UPDATE_EXPECT=1` writes the file. What is public may grow without
//! a breaking change.
//!
//! rustdoc gives it as JSON, which is not stable: the format is that of the rustc that the project is built with. With
//! another one that has another format, this test says so, and checks nothing.

use crate::common::{self, skips};
use public_api::Builder;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The version of rustdoc's JSON that `public-api` reads, in the version that this is built with.
const FORMAT: u64 = 57;

#[test]
fn listing() {
    let form = if common::is_long() || std::env::var_os("UPDATE_EXPECT").is_some() {
        Ok(())
    } else {
        Err("the long form compares it: `PLAN_TESTS=all`".to_owned())
    };
    if skips::unless("public_api", form).is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public-api");
    let made = Command::new(env!("CARGO"))
        .args(["rustdoc", "--quiet", "--locked", "--package=plan-runtime"])
        .args(["--lib", "--all-features", "--target-dir"])
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format=json"])
        .args(["--cap-lints=allow"])
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root)
        .status();
    assert!(made.unwrap().success(), "rustdoc fails");

    let json = target.join("doc/plan_runtime.json");
    let text = fs::read_to_string(&json).unwrap();
    let version = serde_json::from_str::<Value>(&text).unwrap()["format_version"].clone();
    let format = if version == FORMAT {
        Ok(())
    } else {
        Err(format!(
            "rustdoc writes JSON of format {version}, not {FORMAT}"
        ))
    };
    if skips::unless("public_api", format).is_none() {
        return;
    }
    let api = Builder::from_rustdoc_json(&json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .unwrap();
    // The guide is there in documentation only.
    let items = api.items().map(|item| format!("{item}\n"));
    let is: String = items
        .filter(|item| !item.starts_with("pub mod plan_runtime::guide"))
        .collect();

    let file = root.join("tests/public-api.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, is).unwrap();
        return;
    }
    let was = fs::read_to_string(&file).unwrap_or_default();
    let gone = was.lines().filter(|line| !is.lines().any(|it| it == *line));
    let new = is.lines().filter(|line| !was.lines().any(|it| it == *line));
    let gone: String = gone.map(|line| format!("- {line}\n")).collect();
    let new: String = new.map(|line| format!("+ {line}\n")).collect();
    assert!(
        is == was,
        "the public API is another than in tests/public-api.txt; if that is meant, UPDATE_EXPECT=1 writes it:\n{gone}{new}"
    );
}

/// Public enums, and structs with public fields, that everybody may match or build in full, and why. All others are `#[non_exhaustive]`.
const CLOSED: [(&str, &str); 9] = [
    ("plan::Catch", "nothing, the step or each element"),
    ("plan::Comparison", "Rust has these"),
    (
        "plan::Key",
        "a member has a name, or its value is merged into the object",
    ),
    ("plan::Number", "JSON has these"),
    ("plan::Optional", "nothing, the step or each element"),
    ("plan::Part", "a `format!` has text and values"),
    ("plan::Selector", "a list has indices, an object has names"),
    ("plan::Tag", "serde has these"),
    ("Sleep", "plans build calls of tools"),
];

#[test]
fn new_fields_and_variants_break_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let api = fs::read_to_string(root.join("tests/public-api.txt")).unwrap();
    let has_fields = |path: &str| {
        let field = format!("pub {path}::");
        let mut rest = api.lines().filter_map(|line| line.strip_prefix(&field));
        rest.any(|rest| {
            rest.split_once(": ")
                .is_some_and(|(name, _)| !name.contains(['(', ':']))
        })
    };
    let mut closed = Vec::new();
    for line in api.lines() {
        let Some((kind, rest)) = line.strip_prefix("pub ").and_then(|it| it.split_once(' ')) else {
            continue;
        };
        let path = rest.split(['<', '(']).next().unwrap_or(rest);
        let name = path.trim_start_matches("plan_runtime::");
        if kind == "enum" || (kind == "struct" && has_fields(path)) {
            closed.push(name);
        }
    }
    let known: Vec<&str> = CLOSED.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        closed, known,
        "add `#[non_exhaustive]`, or the reason against it to the list"
    );
}
