//! Words that the project does not use, in all lines of its files.

use super::files;

/// A word of `spelling.txt`.
struct Wrong<'t> {
    word: &'t str,
    instead: &'t str,
    except: Vec<&'t str>,
}

impl<'t> Wrong<'t> {
    fn read(line: &'t str) -> Self {
        let mut columns = line.split('\t');
        let (word, instead) = (columns.next(), columns.next());
        Self {
            word: word.expect("a word"),
            instead: instead.unwrap_or_else(|| panic!("no tab: `{line}`")),
            except: columns.flat_map(|it| it.split('|')).collect(),
        }
    }

    /// Returns the lines of a lowercase source that contain the word.
    fn lines(&self, source: &str) -> Vec<usize> {
        let (start, whole) = match self.word.strip_suffix('*') {
            Some(start) => (start, false),
            None => (self.word, true),
        };
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        let found = source.match_indices(start).filter(|(at, _)| {
            let (before, rest) = source.split_at(*at);
            let continues = whole && rest[start.len()..].starts_with(in_word);
            let is_right = self.except.iter().any(|it| rest.starts_with(it));
            !(before.ends_with(in_word) || continues || is_right)
        });
        found
            .map(|(at, _)| source[..at].matches('\n').count() + 1)
            .collect()
    }
}

#[test]
fn spelling() {
    let list = include_str!("spelling.txt").lines();
    let list: Vec<Wrong<'_>> = list
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(Wrong::read)
        .collect();
    let mut found = Vec::new();
    for (path, mut source) in files() {
        source.make_ascii_lowercase();
        for wrong in &list {
            let Wrong { word, instead, .. } = wrong;
            let lines = wrong.lines(&source).into_iter();
            found.extend(lines.map(|line| format!("{path}:{line}: `{word}`; write: {instead}")));
        }
    }
    assert!(
        found.is_empty(),
        "reword these lines:\n{}",
        found.join("\n")
    );
}

#[test]
fn misspelled_words_are_found() {
    let source = "a colored hue\nhues, painting\n(paints) my_hue hue";
    let lines = |line| Wrong::read(line).lines(source);
    assert_eq!(lines("hue\tcolor"), [1, 3]);
    assert_eq!(lines("paint*\tdraw\tpainting"), [3]);
    assert_eq!(lines("hue*\tcolor"), [1, 2, 3]);
    assert!(lines("olor*\tpaint").is_empty());
}
