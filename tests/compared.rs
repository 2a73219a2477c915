//! The guide's table of workflows, with the numbers of lines of a plan and of the hand-written version.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../plan-runtime/src/guide/compared.md");

/// The line width of rustfmt, which does not format plans.
const WIDTH: usize = 100;

#[test]
fn the_numbers_of_lines_are_right() {
    let (mut rows, mut plans, mut by_hand) = (Vec::new(), 0, 0);
    for path in workflows() {
        let source = fs::read_to_string(&path).unwrap();
        let (plan, hand) = (
            lines(&source, "plan! {").len(),
            lines(&source, "mod by_hand {").len(),
        );
        let name = path.file_stem().unwrap().to_str().unwrap();
        rows.push(format!("| `{name}` | {plan} | {hand} |"));
        plans += plan;
        by_hand += hand;
    }
    let shared = fs::read_to_string(folder().join("support/by_hand.rs")).unwrap();
    let shared = shared.lines().filter(|line| counts(line)).count();
    rows.push(format!("| used by several of these | | {shared} |"));
    rows.push(format!("| all | {plans} | {} |", by_hand + shared));

    let missing = rows.iter().filter(|row| !PAGE.contains(&***row));
    assert_eq!(
        missing.count(),
        0,
        "the page should contain:\n{}",
        rows.join("\n")
    );
}

#[test]
fn no_line_of_a_plan_is_longer_than_one_by_hand_may_be() {
    for path in workflows() {
        let source = fs::read_to_string(&path).unwrap();
        for line in lines(&source, "plan! {") {
            assert!(line.chars().count() <= WIDTH, "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_table_has_a_row_for_each_workflow() {
    let rows = PAGE.lines().filter(|line| {
        let name = line.strip_prefix("| `").and_then(|it| it.split('`').next());
        name.is_some_and(|name| folder().join(format!("{name}.rs")).exists())
    });
    assert_eq!(rows.count(), workflows().len());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/workflows")
}

fn workflows() -> Vec<PathBuf> {
    let files = fs::read_dir(folder()).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "rs"));
    files.sort();
    files
}

/// The lines inside the item that starts with this line and ends with a brace below its start.
fn lines<'s>(source: &'s str, start: &str) -> Vec<&'s str> {
    let item = source.lines().skip_while(|line| *line != start).skip(1);
    let lines: Vec<&str> = item.take_while(|line| *line != "}").collect();
    assert!(!lines.is_empty(), "no `{start}`");
    lines.into_iter().filter(|line| counts(line)).collect()
}

/// Returns `true` for a line that is not blank, a comment or an import.
fn counts(line: &str) -> bool {
    let line = line.trim();
    !(line.is_empty() || line.starts_with("//") || line.starts_with("use "))
}
