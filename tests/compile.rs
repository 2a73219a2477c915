//! Programs that must not compile, with the compiler's messages, and programs that must compile.
//!
//! In the quick form, `trybuild` compares the messages of a sample, and almost all correct programs are checked as modules of one program.

use crate::common::{self, skips};
use crate::mistakes::rustc;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of cases for each case in the sample.
const ONE_IN: usize = 8;

/// Dependencies that some programs need; they are left to the long form.
const NEEDED: [&str; 2] = ["smol::", "plan_renamed::"];

/// The files `tests/ui/*/*.rs`, or `tests/ui/*/pass/*.rs`.
fn cases(pass: bool) -> Vec<PathBuf> {
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut cases: Vec<PathBuf> = files(Path::new("tests/ui"))
        .iter()
        .flat_map(|folder| {
            files(&if pass {
                folder.join("pass")
            } else {
                folder.clone()
            })
        })
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect();
    cases.sort();
    assert!(cases.len() > 20, "{cases:?}");
    cases
}

/// Returns `true` if the command selects cases by their path, such as `-- trybuild=cycle`.
fn is_chosen() -> bool {
    std::env::args().any(|argument| argument.starts_with("trybuild="))
}

#[test]
fn mistakes() {
    if skips::unless("compile", rustc::version()).is_none() {
        return;
    }
    let runner = trybuild::TestCases::new();
    let all = common::is_long() || is_chosen() || std::env::var_os("TRYBUILD").is_some();
    for (at, case) in cases(false).iter().enumerate() {
        if all || at % ONE_IN == 0 || case.starts_with("tests/ui/readme") {
            runner.compile_fail(case);
        }
    }
}

#[test]
fn correct_programs() {
    let Some(rustc) = rustc::pinned("compile-pass") else {
        return;
    };
    if common::is_long() || is_chosen() {
        let runner = trybuild::TestCases::new();
        runner.pass("tests/ui/*/pass/*.rs");
        return;
    }
    let tools = fs::canonicalize("tests/ui/tools.rs").unwrap();
    let mut together = String::from("#![allow(dead_code)]\n");
    let mut programs = Vec::new();
    for (number, case) in cases(true).iter().enumerate() {
        let path = fs::canonicalize(case).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        if NEEDED.iter().any(|needed| text.contains(needed)) {
            continue;
        }
        if text.contains("crate::") {
            let text = text.replace("../../tools.rs", tools.to_str().unwrap());
            programs.push((format!("pass_{number}"), text));
        } else {
            let _ = writeln!(together, "#[path = {path:?}]\nmod m{number};");
        }
    }
    together.push_str("fn main() {}\n");
    programs.push(("pass".to_owned(), together));
    let said = rustc.check(&programs);
    let messages = said.iter().flatten();
    let errors: Vec<_> = messages.filter(|message| message.is_error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
