//! Tests that the properties of dialects are confined to this folder.

use super::Dialect;
use std::fs;
use std::path::Path;

/// Returns `true` if code may name a variant of [`Dialect`]: in this folder, and in examples for users of the library.
fn is_allowed(path: &Path, line: &str) -> bool {
    path.components().any(|part| part.as_os_str() == "dialects")
        || path.ends_with("tests.rs")
        || line.trim_start().starts_with("//")
}

fn search(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, found);
            continue;
        }
        if path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        for (at, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let variants = Dialect::ALL.map(|dialect| format!("Dialect::{dialect:?}"));
            let names = variants.iter().any(|variant| line.contains(variant));
            if names && !is_allowed(&path, line) {
                found.push(format!("{}:{}: {line}", path.display(), at + 1));
            }
        }
    }
}

#[test]
fn nothing_else_asks_which_dialect_it_is() {
    let mut found = Vec::new();
    search(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn each_dialect_is_in_the_table_once() {
    for (at, dialect) in Dialect::ALL.iter().enumerate() {
        assert!(!Dialect::ALL[..at].contains(dialect));
        for other in &Dialect::ALL[..at] {
            let (one, two) = (dialect.rules(), other.rules());
            assert_ne!(one.name, two.name);
            assert_ne!(one.document, two.document);
            assert!(one.mark.is_none() || one.mark != two.mark);
        }
    }
}
