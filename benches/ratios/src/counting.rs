//! Instructions, counted by valgrind: the same program with more rounds and with fewer, and the difference.

use std::process::{Command, Stdio};

/// Counts the instructions of one round of a case. Returns `None` without valgrind. `program` runs `case` for a number
/// of rounds.
pub fn instructions(program: &str, case: &str, rounds: u64) -> Option<f64> {
    let total = |rounds: u64| -> Option<u64> {
        let output = Command::new("valgrind")
            .args([
                "--tool=cachegrind",
                "--cache-sim=no",
                "--cachegrind-out-file=/dev/null",
                program,
                "times",
                case,
            ])
            .arg(rounds.to_string())
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let line = said
            .lines()
            .find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
        line.split_once("refs:")?
            .1
            .trim()
            .replace(',', "")
            .parse()
            .ok()
    };
    let (few, many) = (total(rounds)?, total(3 * rounds)?);
    Some((many - few) as f64 / (2 * rounds) as f64)
}
