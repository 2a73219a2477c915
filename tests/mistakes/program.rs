//! The programs that cases are put into.

use crate::common;
use crate::mistakes::case::Case;
use std::ops::Range;

/// A program that is compiled on its own.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) source: String,
    /// The pieces of the source that errors underline, in bytes.
    pub(crate) marks: Vec<Range<usize>>,
    pub(crate) case: Case,
}

/// The position of a case.
const HERE: &str = "$code";

/// The positions of expressions, by type.
const PLACES: &str = include_str!("cases/places.txt");

/// Returns the programs of all cases, including those with an applied fix.
pub(crate) fn all(cases: &[Case]) -> Vec<Program> {
    let mut programs = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let places = around(&case.place);
        let count = places.len();
        for (at, (place, around)) in places.into_iter().enumerate() {
            // In the quick form, one case in four is compiled in one position.
            if !common::is_long() && (number % 4 != 0 || at != number / 4 % count) {
                continue;
            }
            let name = match place {
                "" => case.name.clone(),
                place => format!("{}__in_{place}", case.name),
            };
            let program = program(&name, &around, case, &case.code);
            let right = |suffix: &str, code: &str| {
                let case = Case::default();
                self::program(&format!("{name}__{suffix}"), &around, &case, code)
            };
            if !case.fixes.is_empty() {
                programs.push(right("fixed", &fixed(&case.code, &case.fixes)));
            }
            if let Some(code) = &case.right {
                programs.push(right("right", code));
            }
            programs.push(program);
        }
    }
    programs
}

/// Returns the programs around code of a kind, each with the name of its position.
fn around(kind: &str) -> Vec<(&'static str, String)> {
    match kind {
        "file" => vec![("", HERE.to_owned())],
        "plan" => vec![("", format!("plan_runtime::plan! {{ {HERE} }}"))],
        "steps" => vec![("", steps(HERE, "inbox.total"))],
        kind => {
            let places: Vec<_> = PLACES
                .lines()
                .filter_map(|line| line.split_once(": "))
                .filter(|(head, _)| head.split(' ').next() == Some(kind))
                .map(|(head, code)| {
                    let place = head.split(' ').nth(1).expect("a place has a name");
                    (
                        place,
                        match place {
                            "tail" => steps("", code),
                            _ => steps(code, "inbox.total"),
                        },
                    )
                })
                .collect();
            assert!(!places.is_empty(), "no place takes `{kind}`");
            places
        }
    }
}

fn steps(steps: &str, tail: &str) -> String {
    let output = match tail {
        "inbox.total" => "u64",
        _ => "String",
    };
    format!(
        "plan_runtime::plan! {{\n    pub Work(filters: Filters, n: u64, name: String, maybe: Option<String>) -> {output} {{\n        \
         step inbox = FetchEmails {{ filters }};\n        {steps}\n        {tail}\n    }}\n}}\n"
    )
}

fn program(name: &str, around: &str, case: &Case, code: &str) -> Program {
    let marked = around.replacen(HERE, code.trim_end(), 1);
    let mut source =
        "#![allow(dead_code, unused_imports, unused_variables)]\nuse mailbox::*;\nuse serde_json::{Value, json};\n\n"
            .to_owned();
    let mut marks = Vec::new();
    let mut start = None;
    for c in marked.chars() {
        match c {
            '«' => start = Some(source.len()),
            '»' => marks.push(start.take().expect("a mark is opened")..source.len()),
            c => source.push(c),
        }
    }
    source.push_str("\nfn main() {}\n");
    Program {
        name: name.to_owned(),
        source,
        marks,
        case: case.clone(),
    }
}

/// Returns the code with a help's proposals in place of the marked pieces.
fn fixed(code: &str, fixes: &[String]) -> String {
    let mut fixed = String::new();
    let mut fixes = fixes.iter();
    for (at, piece) in code.split('«').enumerate() {
        match (at, piece.split_once('»')) {
            (0, _) | (_, None) => fixed.push_str(piece),
            (_, Some((_, rest))) => {
                fixed.push_str(fixes.next().expect("a fix for each mark"));
                fixed.push_str(rest);
            }
        }
    }
    fixed
}
