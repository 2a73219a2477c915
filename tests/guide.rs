//! What the guide says that the compiler says is what the compiler says.
//!
//! A comment `<!-- tests/ui/name/unknown.rs:11 -->` is written before a block of text, which then holds the message about this line
//! (and column, if there is one) of this file, as its `.stderr` has it. `UPDATE_EXPECT=1` writes the blocks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const GUIDE: &str = "plan-runtime/src/guide";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(GUIDE)).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "md"));
    files.sort();
    files
}

/// The message about a place, such as `tests/ui/name/unknown.rs:11`.
fn message(place: &str) -> String {
    let (file, _) = place.split_once(".rs:").expect("a place has a line");
    let said = fs::read_to_string(root().join(format!("{file}.stderr")))
        .unwrap_or_else(|error| panic!("{file}.stderr: {error}"));
    let is_about = |message: &&str| {
        let mut lines = message.lines();
        let at = lines.find_map(|line| line.trim_start().strip_prefix("--> "));
        at.is_some_and(|at| at == place || at.starts_with(&format!("{place}:")))
    };
    let found = said.split("\n\n").find(is_about);
    let found = found.unwrap_or_else(|| panic!("no message at {place}"));
    format!("{}\n", found.trim_end()).replace(&format!("{file}.rs"), "src/main.rs")
}

/// The page with the messages put in.
fn with_messages(page: &str) -> String {
    let mut written = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        written += line;
        written += "\n";
        let place = line
            .strip_prefix("<!-- ")
            .and_then(|rest| rest.strip_suffix(" -->"))
            .filter(|rest| rest.starts_with("tests/ui/"));
        if let Some(place) = place {
            assert_eq!(lines.next(), Some("```text"), "the line after `{line}`");
            written += &format!("```text\n{}```\n", message(place));
            lines.find(|line| *line == "```");
        }
    }
    written
}

#[test]
fn messages() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut stale = Vec::new();
    for file in pages() {
        let page = fs::read_to_string(&file).unwrap();
        let expected = with_messages(&page);
        if page != expected && update {
            fs::write(&file, expected).unwrap();
        } else if page != expected {
            let mut both = page.lines().zip(expected.lines());
            let first = both.find(|(is, should)| is != should);
            stale.push(format!("{}: {first:?}", file.display()));
        }
    }
    assert!(stale.is_empty(), "UPDATE_EXPECT=1 writes these: {stale:#?}");
}

/// Each kind of check is in the page on checks.
#[test]
fn checks() {
    let page = fs::read_to_string(root().join(GUIDE).join("checks.md")).unwrap();
    let kinds = fs::read_dir(root().join("tests/ui")).unwrap();
    let kinds = kinds
        .map(|kind| kind.unwrap())
        .filter(|kind| kind.path().is_dir());
    let missing: BTreeSet<String> = kinds
        .map(|kind| format!("tests/ui/{}/", kind.file_name().display()))
        // The same mistakes, elsewhere.
        .filter(|kind| !["tests/ui/readme/", "tests/ui/place/"].contains(&kind.as_str()))
        .filter(|kind| !page.contains(&format!("<!-- {kind}")))
        .collect();
    assert!(missing.is_empty(), "not in the guide: {missing:?}");
}
