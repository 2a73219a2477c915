//! The mutants that do not give one error on their line, each with the reason.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// `# reason`, and below it the names of its mutants.
const LIST: &str = include_str!("exceptions.txt");

/// Returns `true` if the mutant with this name is listed with other errors.
pub(crate) fn holds(name: &str) -> bool {
    LIST.lines().any(|line| line == name)
}

/// Writes the list with these of the mutants that were checked, each with the reason that it had before.
pub(crate) fn write(found: &[&str], checked: &[&str]) {
    let mut reasons: Vec<&str> = Vec::new();
    let mut before: HashMap<&str, usize> = HashMap::new();
    for line in LIST.lines() {
        match line.strip_prefix("# ") {
            Some(reason) => reasons.push(reason),
            None => {
                before.insert(line, reasons.len() - 1);
            }
        }
    }
    reasons.push("not looked at yet");
    let unchecked = LIST
        .lines()
        .filter(|line| !line.starts_with('#') && !checked.contains(line));
    let names: Vec<&str> = unchecked.chain(found.iter().copied()).collect();
    let mut text = String::new();
    for (at, reason) in reasons.iter().enumerate() {
        let of_reason = |name: &&&str| before.get(**name).map_or(reasons.len() - 1, |at| *at) == at;
        let of_reason: Vec<&str> = names.iter().filter(of_reason).copied().collect();
        if !of_reason.is_empty() {
            text.push_str(&format!("# {reason}\n{}\n", of_reason.join("\n")));
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutations/exceptions.txt");
    fs::write(file, text).unwrap();
}
