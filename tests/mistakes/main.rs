//! Mistakes, each with the number of errors that it gives, their tokens and their words: `cases/README.md` says how they are written.
//!
//! All cases are programs of one generated package, which cargo checks at once. `tests/ui` has the messages that people should read whole.
#![forbid(unsafe_code)]

mod case;
mod program;
mod rustc;
mod verdict;

use std::io::Write;

#[test]
fn mistakes_give_one_error_each_at_its_token() {
    let Some(rustc) = rustc::pinned() else {
        return;
    };
    let programs = program::all(&case::all());
    let only = std::env::var("MISTAKES").unwrap_or_default();
    let programs: Vec<_> = programs
        .into_iter()
        .filter(|program| program.name.contains(&only))
        .collect();
    let said = rustc.check(&programs);
    let mut wrong = Vec::new();
    for (program, errors) in programs.iter().zip(&said) {
        wrong.extend(verdict::of(program, errors));
    }
    let summary = format!(
        "tests/mistakes: {} programs, {} as they should be\n",
        programs.len(),
        programs.len() - wrong.len()
    );
    std::io::stderr().write_all(summary.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
