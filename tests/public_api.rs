//! The public API is recorded in `tests/public-api.txt`, so that reviewers see its changes. `UPDATE_EXPECT=1` writes the file. The API may grow
//! without a breaking change. The implementation of a trait has a line without its functions, which belong to the trait.
//!
//! rustdoc writes the API as JSON in an unstable format, which is tied to the project's rustc. With another format,
//! this test prints that it is skipped.

use crate::common::{self, skips};
use public_api::Builder;
use serde_json::Value;
use std::collections::HashSet;
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
    // The guide exists only in documentation.
    let items = api.items().map(|item| item.to_string());
    let items = items.filter(|item| !item.starts_with("pub mod plan_runtime::guide"));
    let is = short(items).join("\n") + "\n";

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

/// Traits whose implementations for a type share a line.
const COMMON: [&str; 10] = [
    "core::clone::Clone",
    "core::cmp::Eq",
    "core::cmp::Ord",
    "core::cmp::PartialEq",
    "core::cmp::PartialOrd",
    "core::default::Default",
    "core::fmt::Debug",
    "core::fmt::Display",
    "core::hash::Hash",
    "core::marker::Copy",
];

/// Lists an implementation of a trait once, without its functions: the trait has the same functions.
fn short(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut implementations = HashSet::new();
    // The type of the last implementation of a trait, and if that was listed before.
    let mut within: Option<(String, bool)> = None;
    for item in items {
        let Some(implemented) = implementation(&item) else {
            let of_type = within.as_ref().filter(|(of, _)| is_of(&item, of));
            let is_function = item.contains("fn ") && !item.starts_with("pub type");
            match of_type {
                Some((_, is_known)) if is_function || *is_known => {}
                Some(_) => lines.push(item),
                None => {
                    within = None;
                    lines.push(item);
                }
            }
            continue;
        };
        let (start, name, rest) = implemented;
        let is_known = !implementations.insert(item.clone());
        within = Some((rest.trim_start_matches(" for ").to_owned(), is_known));
        if is_known || name == "core::marker::StructuralPartialEq" {
            continue;
        }
        let is_shared = |line: &&mut String| {
            let last = implementation(line);
            COMMON.contains(&name)
                && last.is_some_and(|(before, names, of)| {
                    let mut names = names.split(" + ");
                    (before, of) == (start, rest) && names.all(|it| COMMON.contains(&it))
                })
        };
        let of_type = lines.iter_mut().rev();
        let mut of_type = of_type.take_while(|line| implementation(line).is_some());
        let shared = of_type.find(is_shared);
        match shared {
            Some(line) => *line = line.replacen(rest, &format!(" + {name}{rest}"), 1),
            None => lines.push(item),
        }
    }
    lines
}

/// Returns the parts of an implementation of a trait: `impl<T>`, the trait, and ` for ` with the type.
fn implementation(item: &str) -> Option<(&str, &str, &str)> {
    let rest = item.strip_prefix("impl")?;
    // The parameters have angle brackets of their own, and arrows.
    let mut depth = 0;
    let end = rest.char_indices().find(|(place, c)| {
        match c {
            '<' => depth += 1,
            '>' if !rest[..*place].ends_with('-') => depth -= 1,
            _ => {}
        }
        *c == ' ' && depth == 0
    });
    let start = "impl".len() + end?.0;
    let name = &item[start + 1..];
    let place = name
        .find(" for ")
        .filter(|place| !name[..*place].contains(" where "))?;
    Some((&item[..start], &name[..place], &name[place..]))
}

/// Returns `true` for an item of an implementation for this type.
fn is_of(item: &str, of: &str) -> bool {
    let of = of.split(" where ").next().unwrap_or(of);
    let name = of.split('<').next().unwrap_or(of);
    let path = item.trim_start_matches("pub ").trim_start_matches("const ");
    let path = path.trim_start_matches("fn ").trim_start_matches("type ");
    let is_kept = ["pub fn", "pub const", "pub type"]
        .iter()
        .any(|it| item.starts_with(it));
    is_kept
        && path
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with("::") || rest.starts_with('<'))
}

#[test]
fn a_trait_has_a_line_for_each_type() {
    let items = [
        "pub struct a::B<T>",
        "impl<T> a::B<T>",
        "pub fn a::B<T>::new() -> Self",
        "impl<T: core::clone::Clone> core::clone::Clone for a::B<T>",
        "pub fn a::B<T>::clone(&self) -> a::B<T>",
        "impl<T> core::cmp::Eq for a::B<T>",
        "impl<T> core::fmt::Debug for a::B<T>",
        "pub fn a::B<T>::fmt(&self) -> core::fmt::Result",
        "impl<T> core::future::Future for a::B<T>",
        "pub type a::B<T>::Output = T",
        "pub fn a::B<T>::poll(self)",
        "pub fn a::B_free()",
        "pub fn a::free()",
        "impl<T> core::future::Future for a::B<T>",
        "pub type a::B<T>::Output = T",
        "pub trait a::C",
        "pub fn a::C::call(&self)",
        "impl a::C for a::D",
        "pub fn a::D::call(&self)",
    ];
    let expected = [
        "pub struct a::B<T>",
        "impl<T> a::B<T>",
        "pub fn a::B<T>::new() -> Self",
        "impl<T: core::clone::Clone> core::clone::Clone for a::B<T>",
        "impl<T> core::cmp::Eq + core::fmt::Debug for a::B<T>",
        "impl<T> core::future::Future for a::B<T>",
        "pub type a::B<T>::Output = T",
        "pub fn a::B_free()",
        "pub fn a::free()",
        "pub trait a::C",
        "pub fn a::C::call(&self)",
        "impl a::C for a::D",
    ];
    assert_eq!(short(items.iter().map(|it| (*it).to_owned())), expected);
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
