//! The subjects of commits, from the commit on that added this file.

use crate::common::skips;
use std::path::Path;
use std::process::Command;

const HERE: &str = "tests/words/commits.rs";

const LONGEST: usize = 72;

/// Returns the output of git, or `None` if git or the history is missing.
fn git(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

/// Returns the subjects of the commits after the check was added.
fn subjects() -> Option<String> {
    if git(&["rev-parse", "--is-shallow-repository"])?.trim() != "false" {
        return None;
    }
    let added = git(&["log", "--diff-filter=A", "--format=%H", "--", HERE])?;
    let base = added.lines().last()?;
    git(&[
        "log",
        "--no-merges",
        "--format=%h %s",
        &format!("{base}..HEAD"),
    ])
}

/// Returns the reason why a subject is wrong.
fn complaint(subject: &str) -> Option<String> {
    let verbs = include_str!("verbs.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let first = subject.split(' ').next().unwrap_or_default();
    let length = subject.chars().count();
    if length > LONGEST {
        return Some(format!(
            "it has {length} characters, and at most {LONGEST} are allowed"
        ));
    }
    if subject.ends_with('.') {
        return Some("it ends with a period".to_owned());
    }
    let is_verb = verbs
        .flat_map(|line| line.split(' '))
        .any(|verb| verb == first);
    (!is_verb).then(|| {
        format!(
            "start with a verb, such as `Add`; if `{first}` is one, add it to tests/words/verbs.txt"
        )
    })
}

#[test]
fn subjects_are_imperative_and_short() {
    let why = || format!("the history has no commit that adds {HERE}");
    let Some(subjects) = skips::unless("commits", subjects().ok_or_else(why)) else {
        return;
    };
    let wrong = subjects.lines().filter_map(|line| {
        let (_, subject) = line.split_once(' ')?;
        let reason = complaint(subject)?;
        Some(format!("{line}: {reason}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "reword these commits:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn complaints() {
    for right in [
        "Derive undo keys from the call they undo",
        &format!("Add {}", "a".repeat(68)),
    ] {
        assert_eq!(complaint(right), None);
    }
    for wrong in [
        "Keys of undo steps are derived from the call",
        "derive undo keys",
        "Derives undo keys from the call",
        "Derive undo keys.",
        &format!("Add {}", "a".repeat(69)),
        "",
    ] {
        assert!(complaint(wrong).is_some(), "{wrong}");
    }
}
