//! Tests for the borders of a dialect, its folder and its row.

pub(super) mod toy;

use super::{Dialect, Rules};
use std::fs;
use std::path::Path;

/// The shared folders.
const SHARED: [&str; 2] = ["reading", "references"];

/// Calls the function with each code line outside of the table and the folders of dialects.
fn each_line(folder: &Path, see: &mut dyn FnMut(&Path, usize, &str)) {
    let is_in_dialects = folder.ends_with("dialects");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !is_in_dialects || SHARED.iter().any(|shared| path.ends_with(shared)) {
                each_line(&path, see);
            }
            continue;
        }
        let is_code = path.extension().is_some_and(|ending| ending == "rs");
        if !is_code || path.ends_with("tests.rs") || path.ends_with("dialects/mod.rs") {
            continue;
        }
        for (at, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if !line.trim_start().starts_with("//") {
                see(&path, at + 1, line);
            }
        }
    }
}

/// Returns the vocabulary of a dialect, with quotes around names of members.
fn words(rules: &Rules, plan_json: &Rules) -> Vec<String> {
    let own = rules.syntax.policy().iter().map(|(.., name, _)| *name);
    let members = own.chain([
        rules.syntax.after().0,
        rules.syntax.arguments(),
        rules.syntax.outputs(),
    ]);
    let shared = [
        plan_json.syntax.after().0,
        plan_json.syntax.arguments(),
        plan_json.syntax.outputs(),
    ];
    let amounts = rules.syntax.policy().iter().map(|(amount, ..)| *amount);
    let shared: Vec<&str> = amounts.chain(shared).collect();
    let members = members.filter(|name| !shared.contains(name));
    let members = members.flat_map(|name| [format!("\"{name}\""), format!("`{name}`")]);
    members
        .chain([
            rules.name.to_owned(),
            (rules.step)(7, "a").replace("7]", ""),
        ])
        .filter(|word| *word != (plan_json.step)(7, "a"))
        .collect()
}

#[test]
fn no_other_file_names_a_dialect() {
    let plan_json = Dialect::PlanJson.rules();
    let variants = Dialect::ALL.iter().map(|it| format!("Dialect::{it:?}"));
    let words = Dialect::table().flat_map(|rules| words(rules, plan_json));
    let words: Vec<String> = variants.chain(words).collect();
    assert!(
        words.iter().any(|word| word == "\"dependsOn\"")
            && words.iter().any(|word| word == "step["),
        "{words:?}"
    );
    let mut found = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/dynamic");
    each_line(&folder, &mut |path, at, line| {
        if let Some(word) = words.iter().find(|word| line.contains(&**word)) {
            found.push(format!("{}:{at}: {word}: {line}", path.display()));
        }
    });
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
