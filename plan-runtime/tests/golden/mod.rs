//! Outcomes of runs. Each file of this folder has a line with the number and the hash of each outcome of a test.
//! `UPDATE_EXPECT=1` writes the files, in the quick form of the tests.

use crate::common::is_long;
use std::path::Path;
use std::{env, fs};

/// Returns the FNV-1a hash of a string.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Compares the outcomes of a test with its file. The long form of a test may have more outcomes than the file.
#[track_caller]
pub(crate) fn check(name: &str, outcomes: &[String]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let file = folder.join(format!("{name}.txt"));
    let lines = outcomes.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(number, outcome)| format!("{number} {:016x}", hash(outcome)))
        .collect();
    if env::var_os("UPDATE_EXPECT").is_some() && !is_long() {
        fs::write(&file, lines.join("\n") + "\n").unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let kept: Vec<&str> = kept.lines().collect();
    for ((line, kept), outcome) in lines.iter().zip(&kept).zip(outcomes) {
        assert!(
            line == kept,
            "{name}.txt has `{kept}` and not `{line}`. If the new outcome is right, UPDATE_EXPECT=1 writes its hash:\n{outcome}"
        );
    }
    let has_all = kept.len() == lines.len() || is_long() && !kept.is_empty();
    assert!(
        has_all && kept.len() <= lines.len(),
        "{name}.txt has {} of {} outcomes: UPDATE_EXPECT=1 writes all",
        kept.len(),
        lines.len()
    );
}
