//! Reads the files with cases.

use std::fs;
use std::path::Path;

/// The code of an author, and the expected messages of the compiler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The position of the code: `steps`, `plan`, `file`, or the type of an expression.
    pub(crate) place: String,
    pub(crate) code: String,
    pub(crate) says: Vec<String>,
    pub(crate) never: Vec<String>,
    /// The help's proposals for the marked pieces.
    pub(crate) fixes: Vec<String>,
    /// The reason if the code in the help is not applied.
    pub(crate) unapplied: Option<String>,
    /// The reason if the actual messages are worse.
    pub(crate) worse: Option<String>,
    /// The similar code that is right.
    pub(crate) right: Option<String>,
}

/// Returns all cases, ordered by file and position.
pub(crate) fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let stem = file.file_stem().unwrap().to_str().unwrap();
            read(stem, &fs::read_to_string(file).unwrap())
        })
        .collect()
}

fn read(file: &str, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("@@ ") {
            let (name, place) = head.split_once(' ').unwrap_or((head, "steps"));
            cases.push(Case {
                name: format!("{file}__{name}"),
                place: place.to_owned(),
                ..Case::default()
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            continue;
        };
        match line.split_at_checked(3) {
            Some(("!! ", words)) => case.says.push(words.to_owned()),
            Some(("!- ", words)) => case.never.push(words.to_owned()),
            Some(("=> ", code)) => case.fixes.push(code.to_owned()),
            Some(("!~ ", reason)) => case.worse = Some(reason.to_owned()),
            Some(("=~ ", reason)) => case.unapplied = Some(reason.to_owned()),
            Some((":: ", code)) => {
                let right = case.right.get_or_insert_default();
                right.push_str(code);
                right.push('\n');
            }
            _ => {
                case.code.push_str(line);
                case.code.push('\n');
            }
        }
    }
    for case in &cases {
        assert!(!case.code.trim().is_empty(), "{}: has no code", case.name);
    }
    cases
}
