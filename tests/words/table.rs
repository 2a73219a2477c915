//! The points of each file, as `points.txt` has them.

use std::collections::BTreeMap;
use std::fmt;

/// The most points per 100 words of a new file.
const NEW: f64 = 2.75;

/// The words from which a new file is measured per word: a shorter one may have as many points.
const SHORT: usize = 150;

const HEADER: &str = "\
# The prose of each file, as tests/words.rs measures it.
# Record improvements and new files: UPDATE_EXPECT=1 cargo test -p plan-tests --test project words
# Record all files, after a merge or a move: rm tests/words/points.txt, then the command above.
# points  words  heavy  openings  file
";

/// The measure of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) points: usize,
    pub(crate) words: usize,
    /// Sentences that need a rewrite.
    pub(crate) heavy: usize,
    /// First words of documentation that do not name its subject.
    pub(crate) openings: usize,
}

/// Returns the most points per 100 words of a file.
pub(crate) fn limit(allowed: Option<&Row>) -> f64 {
    allowed.map_or(NEW, Row::density)
}

impl Row {
    pub(crate) fn density(&self) -> f64 {
        100.0 * self.points as f64 / self.words.max(1) as f64
    }

    /// Returns `true` if the file has no more points than before, or no more points per word.
    pub(crate) fn fits(&self, allowed: Option<&Self>) -> bool {
        match allowed {
            Some(before) => {
                self.points <= before.points
                    || self.points * before.words <= before.points * self.words
            }
            None => 100.0 * self.points as f64 <= NEW * self.words.max(SHORT) as f64,
        }
    }

    /// Returns the better of both measures.
    pub(crate) fn at_most(&self, before: &Self) -> Self {
        let is_better = self.points * before.words <= before.points * self.words;
        let best = if is_better { self } else { before };
        Self {
            points: best.points,
            words: best.words,
            heavy: self.heavy.min(before.heavy),
            openings: self.openings.min(before.openings),
        }
    }
}

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) rows: BTreeMap<String, Row>,
}

impl Table {
    pub(crate) fn read(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rows = lines.map(|line| {
            let mut rest = line;
            let mut number = || {
                let (column, after) = rest.trim_start().split_once(' ').expect("a column");
                rest = after;
                column
                    .parse()
                    .unwrap_or_else(|error| panic!("`{line}`: {error}"))
            };
            let row = Row {
                points: number(),
                words: number(),
                heavy: number(),
                openings: number(),
            };
            (rest.trim_start().to_owned(), row)
        });
        Self {
            rows: rows.collect(),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEADER)?;
        for (path, row) in &self.rows {
            let Row {
                points,
                words,
                heavy,
                openings,
            } = row;
            writeln!(f, "{points:>6} {words:>6} {heavy:>6} {openings:>6}  {path}")?;
        }
        Ok(())
    }
}
