//! The project's prose does not get worse.
//!
//! A habit that hides the noun of a sentence costs points (`words/habits.rs`). `words/points.txt` has the points of each file, and a file fails if it has
//! more. `UPDATE_EXPECT=1 cargo test -p plan-tests --test project words` records files that improved, new files and deleted files. It never records a file that got worse.
//! To record all files, such as after a merge or a move, delete `words/points.txt` first.

mod commits;
mod habits;
mod read;
mod spelling;
mod table;

use habits::{HEAVY, Measure};
use read::Sentence;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use table::{Row, Table};

/// Folders whose files are inputs of tests, or that hold no source.
const SKIPPED: &[&str] = &[
    "benches/peers",
    "target",
    "node_modules",
    "tests/mistakes/cases",
    "tests/ui",
];

/// The first words of documentation that do not name the subject.
const VAGUE: &[&str] = &[
    "how",
    "it",
    "its",
    "one",
    "the other",
    "the same",
    "they",
    "that",
    "this",
    "those",
    "what",
    "whatever",
    "when",
    "where",
    "whether",
    "who",
    "whoever",
];

/// The most findings that a message lists for one file.
const SHOWN: usize = 10;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Adds the Markdown and Rust files of a folder, relative to the root.
fn find(folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().expect("UTF-8");
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        let skipped = name.starts_with('.') || SKIPPED.iter().any(|it| *it == name || *it == path);
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !skipped {
            find(&path, found);
        } else if kind.is_file() && (name.ends_with(".rs") || name.ends_with(".md")) {
            found.push(path);
        }
    }
}

fn files() -> Vec<(String, String)> {
    let mut paths = Vec::new();
    find("", &mut paths);
    paths.sort();
    let read = |path: String| {
        let source = fs::read_to_string(root().join(&path)).unwrap();
        (path, source)
    };
    paths.into_iter().map(read).collect()
}

/// A sentence with its habits.
struct Found {
    points: usize,
    line: usize,
    what: String,
}

/// The measure of a file, with its worst sentences and its vague openings.
struct File {
    path: String,
    row: Row,
    worst: Vec<Found>,
    openings: Vec<Found>,
}

fn is_vague(Sentence { text, .. }: &Sentence) -> bool {
    let text = text.to_lowercase();
    VAGUE.iter().any(|vague| {
        let rest = text.strip_prefix(vague);
        rest.is_some_and(|rest| rest.starts_with([' ', '\'']))
    })
}

fn measure(measure: &Measure, path: &str, source: &str) -> File {
    let (mut row, mut worst) = (Row::default(), Vec::new());
    for Sentence { line, text } in read::sentences(path, source) {
        let found = measure.points(&text);
        row.points += found.points;
        row.words += habits::words(&text);
        row.heavy += usize::from(found.points >= HEAVY);
        if found.points > 1 {
            worst.push(Found {
                points: found.points,
                line,
                what: format!(
                    "{}: {}",
                    found.habits.join(", "),
                    text.replace(habits::CODE, "`…`")
                ),
            });
        }
    }
    worst.sort_by_key(|it| std::cmp::Reverse(it.points));
    let openings = read::openings(path, source).into_iter().filter(is_vague);
    let openings: Vec<Found> = openings
        .map(|it| Found {
            points: 0,
            line: it.line,
            what: it.text,
        })
        .collect();
    row.openings = openings.len();
    File {
        path: path.to_owned(),
        row,
        worst,
        openings,
    }
}

/// Measures all files, on each core.
fn measured() -> Vec<File> {
    let files = files();
    let rules = Measure::new();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((path, source)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push(measure(&rules, path, source));
        }
        done
    };
    let mut all: Vec<File> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let done = threads.into_iter().map(|it| it.join().unwrap());
        done.flatten().collect()
    });
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

impl File {
    /// Describes how the file is worse than its row allows.
    fn complaints(&self, allowed: Option<&Row>) -> Vec<String> {
        let new = Row::default();
        let before = allowed.unwrap_or(&new);
        let mut found = Vec::new();
        let list = |of: &[Found]| -> String {
            let lines = of.iter().take(SHOWN).map(|it| {
                let Found { points, line, what } = it;
                format!("\n    {}:{line}: {points} points, {what}", self.path)
            });
            lines.collect()
        };
        if self.row.heavy > before.heavy {
            let heavy: Vec<&Found> = self.worst.iter().filter(|it| it.points >= HEAVY).collect();
            found.push(format!(
                "{}: {} sentences have {HEAVY} points or more, and {} may. Rewrite the new ones:{}",
                self.path,
                heavy.len(),
                before.heavy,
                list(&self.worst)
            ));
        } else if !self.row.fits(allowed) {
            found.push(format!(
                "{}: {:.2} points per 100 words, and at most {:.2} are allowed. Rewrite new sentences, such as:{}",
                self.path,
                self.row.density(),
                table::limit(allowed),
                list(&self.worst)
            ));
        }
        if self.row.openings > before.openings {
            found.push(format!(
                "{}: {} first words of documentation do not name its subject, and {} may. Start with a verb or a noun:{}",
                self.path,
                self.row.openings,
                before.openings,
                list(&self.openings)
            ));
        }
        found
    }
}

#[test]
fn no_file_gets_worse() {
    let path = root().join("tests/words/points.txt");
    let before = Table::read(&fs::read_to_string(&path).unwrap_or_default());
    let is_new = before.rows.is_empty();
    let files = measured();
    let mut after = Table::default();
    let mut complaints = Vec::new();
    for file in &files {
        let allowed = before.rows.get(&file.path);
        let found = if is_new {
            Vec::new()
        } else {
            file.complaints(allowed)
        };
        let row = match allowed {
            Some(allowed) => Some(file.row.at_most(allowed)),
            None => found.is_empty().then(|| file.row.clone()),
        };
        after.rows.extend(row.map(|row| (file.path.clone(), row)));
        complaints.extend(found);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, after.to_string()).unwrap();
    } else {
        assert!(!is_new, "UPDATE_EXPECT=1 writes tests/words/points.txt");
        let stale = before
            .rows
            .keys()
            .filter(|it| !after.rows.contains_key(*it));
        let stale = stale.map(|it| {
            format!(
                "{it}: is in tests/words/points.txt, and does not exist. UPDATE_EXPECT=1 removes it"
            )
        });
        complaints.extend(stale);
    }
    assert!(complaints.is_empty(), "{}\n", complaints.join("\n"));
}

/// Sentences, with their habits.
#[test]
fn habits_cost_points() {
    let measure = Measure::new();
    let cases: &[(&str, usize, &[&str])] = &[
        ("The tool returns a list of the completed steps.", 0, &[]),
        ("What a run has done is recorded here.", 2, &["noun clause"]),
        ("What does the run record in its journal?", 0, &[]),
        (
            "The report is a list of what the run did.",
            2,
            &["noun clause"],
        ),
        ("The step reads the one that is not started.", 0, &[]),
        (
            "The step reads the one that did not start.",
            2,
            &["hidden noun"],
        ),
        (
            "The report lists steps, some of which failed.",
            2,
            &["hidden noun"],
        ),
        ("The message says the name of the step.", 1, &["say"]),
        ("The run goes on with the next step.", 1, &["go on"]),
        ("The caller is told about the failure.", 1, &["told"]),
        ("The journal is not there after the run.", 1, &["there"]),
        ("It is a list of the completed steps.", 1, &["bare pronoun"]),
        ("The same has an entry in the table.", 1, &["bare pronoun"]),
        ("it is in lowercase in a cell.", 0, &[]),
        ("Of these steps, the last one fails.", 2, &["fronted of"]),
        ("From `plan` the reader takes the steps.", 0, &[]),
        (
            "The run ends once it is cancelled by a caller.",
            1,
            &["passive once"],
        ),
        ("The report has the arguments, too.", 1, &["too"]),
        ("The report is also in the journal of the run.", 1, &["too"]),
        ("The step fails as any step does.", 1, &["as it"]),
        (
            "The text has two places and one mistake.",
            3,
            &["vague noun", "vague noun", "vague noun"],
        ),
        (
            "The tool gives the value back to the caller.",
            1,
            &["give back"],
        ),
        (
            "The run has neither steps nor inputs here.",
            2,
            &["nor", "nor"],
        ),
        (
            "A run records one thing: a call; its outcome; its key.",
            2,
            &["chain"],
        ),
    ];
    for (sentence, points, habits) in cases {
        let sentence = sentence.replace("`plan`", &habits::CODE.to_string());
        let found = measure.points(&sentence);
        assert_eq!(
            (found.points, &*found.habits),
            (*points, *habits),
            "{sentence}"
        );
    }
    let long = "word ".repeat(29);
    assert_eq!(measure.points(&long).habits, ["long"]);
}

#[test]
fn sentences_of_markdown_and_comments() {
    let read = |path: &str, source: &str| -> Vec<(usize, String)> {
        let found = read::sentences(path, source).into_iter();
        found.map(|it| (it.line, it.text)).collect()
    };
    let markdown = "# The first heading here\n\nOne **two** three\nfour. Five [six seven](x) `eight` nine!\n\n```text\nnot a sentence at all\n```\n\n\
                    | a cell of four words | no |\n|---|---|\n| another cell of words | |\n\n- an item of the list\n- two words\n";
    let code = habits::CODE;
    let expected = [
        (1, "The first heading here".to_owned()),
        (3, "One two three four.".to_owned()),
        (3, format!("Five six seven {code} nine!")),
        (10, "a cell of four words".to_owned()),
        (12, "another cell of words".to_owned()),
        (14, "an item of the list".to_owned()),
    ];
    assert_eq!(read("a.md", markdown), expected);
    let rust = "//! A module of the crate.\n\n/// A struct in it,\n/// with a field.\nstruct A; // Not a sentence here.\n    // A comment of the code.\n//// Not one of these lines.\n";
    let expected = [
        (1, "A module of the crate.".to_owned()),
        (3, "A struct in it, with a field.".to_owned()),
        (6, "A comment of the code.".to_owned()),
    ];
    assert_eq!(read("a.rs", rust), expected);
}

#[test]
fn openings_name_the_subject() {
    let source = "//! The same as before.\n\n/// What it is.\nstruct A;\n/// Whatever fails.\n/// It is.\nstruct B;\n/// Items of a list.\n// How it works.\n";
    let openings = read::openings("a.rs", source).into_iter();
    let vague: Vec<usize> = openings.filter(is_vague).map(|it| it.line).collect();
    assert_eq!(vague, [1, 3, 5]);
}

/// A file, before and after a change, against its row.
#[test]
fn the_table_only_improves() {
    let row = |points, words, heavy, openings| Row {
        points,
        words,
        heavy,
        openings,
    };
    let before = row(10, 500, 2, 1);
    // Fewer points, or more words for the points, are no worse.
    for better in [row(10, 400, 2, 1), row(12, 600, 2, 1), row(0, 0, 0, 0)] {
        assert!(better.fits(Some(&before)), "{better:?}");
    }
    for worse in [row(11, 500, 2, 1), row(13, 600, 2, 1)] {
        assert!(!worse.fits(Some(&before)), "{worse:?}");
        assert_eq!(worse.at_most(&before), before);
    }
    assert_eq!(row(8, 500, 3, 0).at_most(&before), row(8, 500, 2, 0));
    // A new file.
    assert!(row(4, 20, 0, 0).fits(None));
    assert!(row(27, 1000, 0, 0).fits(None));
    assert!(!row(28, 1000, 0, 0).fits(None));
    let mut table = Table::default();
    table.rows.insert("a b.md".to_owned(), before);
    assert_eq!(Table::read(&table.to_string()).rows, table.rows);
}
