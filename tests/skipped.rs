//! Prints the number of skipped tests in one line. This is the last binary that `cargo test --workspace` runs.
#![forbid(unsafe_code)]

mod common;

use common::skips;
use std::collections::BTreeMap;
use std::fs;

fn main() {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for entry in fs::read_dir(skips::folder()).into_iter().flatten() {
        let path = entry.unwrap().path();
        *reasons
            .entry(fs::read_to_string(&path).unwrap())
            .or_default() += 1;
        fs::remove_file(path).unwrap();
    }
    let count: usize = reasons.values().sum();
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(why, count)| format!("{count} ({why})"))
        .collect();
    let colon = if count == 0 { "" } else { ": " };
    println!("\nskipped tests: {count}{colon}{}\n", reasons.join(", "));
}
