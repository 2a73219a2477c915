//! Items with one name in one module: rustc reports the second item. The implementations for it would conflict with those for the first, and
//! rustc would report each conflict.

use crate::host;
use proc_macro2::{Ident, Span};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// A line and a column, counted from 1.
type Place = (usize, usize);

/// The items of a file so far.
#[derive(Default)]
struct SourceFile {
    items: BTreeMap<String, Vec<Place>>,
    /// The starts and ends of brackets and comments, each with the number of the innermost one from there on.
    enclosures: Option<Vec<(Place, usize)>>,
}

/// Returns `true` for the plan or tool of a macro call, if the module has another with this name before the call.
pub(crate) fn is_repeated(name: &Ident) -> bool {
    is_known(format!("item {name}"), Span::call_site())
}

/// Returns `true` for the name of a type with a derive, if the module has another such type with this name before it.
pub(crate) fn is_repeated_type(name: &Ident) -> bool {
    is_known(format!("type {name}"), name.span())
}

/// The macros of a crate expand in one process, so the process knows the items before this one.
fn is_known(name: String, at: Span) -> bool {
    static FILES: Mutex<BTreeMap<PathBuf, SourceFile>> = Mutex::new(BTreeMap::new());
    if host::is_editor() || !proc_macro::is_available() {
        return false;
    }
    let start = at.unwrap().start();
    let (Some(path), Ok(mut files)) = (start.local_file(), FILES.lock()) else {
        return false;
    };
    let file = files.entry(path.clone()).or_default();
    let source = || fs::read_to_string(path).unwrap_or_default();
    file.is_repeated(name, (start.line(), start.column()), source)
}

impl SourceFile {
    /// Adds an item. Few files have two items of one name, so `source` reads the file only then.
    fn is_repeated(&mut self, name: String, place: Place, source: impl FnOnce() -> String) -> bool {
        let items = self.items.entry(name).or_default();
        if !items.contains(&place) {
            items.push(place);
        }
        let mut before = items.iter().filter(|item| **item < place).peekable();
        if before.peek().is_none() {
            return false;
        }
        let enclosures = self.enclosures.get_or_insert_with(|| enclosures(&source()));
        let around = |place: Place| {
            let next = enclosures.partition_point(|(start, _)| *start <= place);
            next.checked_sub(1).map(|at| enclosures[at].1)
        };
        let own = around(place);
        own.is_some() && before.any(|item| around(*item) == own)
    }
}

fn enclosures(source: &str) -> Vec<(Place, usize)> {
    let (mut place, mut rest, mut count) = ((1, 1), source, 0);
    let (mut open, mut found) = (vec![0], Vec::new());
    found.extend((!source.is_empty()).then_some((place, 0)));
    while !rest.is_empty() {
        let (token, after) = rest.split_at(length(rest));
        let start = place;
        for char in token.chars() {
            place = match char {
                '\n' => (place.0 + 1, 1),
                _ => (place.0, place.1 + 1),
            };
        }
        let is_comment = token.len() > 1 && token.starts_with('/');
        if is_comment || ["{", "(", "["].contains(&token) {
            count += 1;
            open.push(count);
            found.push((start, count));
        }
        if is_comment || ["}", ")", "]"].contains(&token) {
            open.pop();
            found.push((place, open.last().copied().unwrap_or_default()));
        }
        rest = after;
    }
    found
}

/// Returns the length of the word, literal, comment or character at the start.
fn length(source: &str) -> usize {
    let to = |end: Option<usize>| end.unwrap_or(source.len());
    let word = to(source.find(|char: char| char != '_' && !char.is_alphanumeric()));
    let quoted = source[word..].trim_start_matches('#');
    if ["r", "br", "cr"].contains(&&source[..word]) && quoted.starts_with('"') {
        let start = source.len() - quoted.len();
        let end = format!("\"{}", &source[word..start]);
        return to(quoted[1..].find(&end).map(|at| start + 1 + at + end.len()));
    }
    let mut chars = source.char_indices().skip(1);
    match source.as_bytes() {
        _ if word > 0 => word,
        [b'/', b'/', ..] => to(source.find('\n')),
        [b'/', b'*', rest @ ..] => {
            let (mut depth, mut rest) = (1, rest);
            while depth > 0 && !rest.is_empty() {
                (depth, rest) = match rest {
                    [b'/', b'*', rest @ ..] => (depth + 1, rest),
                    [b'*', b'/', rest @ ..] => (depth - 1, rest),
                    _ => (depth, &rest[1..]),
                };
            }
            source.len() - rest.len()
        }
        // A lifetime has no second quote.
        [b'\'', ..] if !source[1..].starts_with('\\') => {
            let second = chars.nth(1).filter(|(_, char)| *char == '\'');
            second.map_or(1, |(at, _)| at + 1)
        }
        [quote @ (b'"' | b'\''), ..] => {
            let mut is_escaped = false;
            let is_end = |(_, char): &(usize, char)| {
                let ends = !is_escaped && *char == char::from(*quote);
                is_escaped = !is_escaped && *char == '\\';
                ends
            };
            to(chars.find(is_end).map(|(at, _)| at + 1))
        }
        _ => source.chars().next().map_or(1, char::len_utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::SourceFile;

    /// Returns the lines of the items `x` that come after another in the same module.
    fn repeated(source: &str) -> Vec<usize> {
        let mut file = SourceFile::default();
        let lines = source.lines().enumerate();
        let items = lines.flat_map(|(line, text)| {
            let columns = text.match_indices("fn x").map(move |(at, _)| at + 4);
            columns.map(move |column| (line + 1, column))
        });
        let items = items.filter(|item| file.is_repeated("x".into(), *item, || source.into()));
        items.map(|(line, _)| line).collect()
    }

    #[test]
    fn a_module_has_one_item_of_each_name() {
        assert_eq!(repeated("fn x() {}\nfn y() {}"), [0; 0]);
        assert_eq!(repeated("fn x() {}\nfn x() {}\nfn x() {}"), [2, 3]);
        assert_eq!(
            repeated("mod a { fn x() {} }\nmod b { fn x() {} }\nfn x() {}"),
            [0; 0]
        );
        assert_eq!(
            repeated("mod a {\nfn x() {}\nmod b { fn x() {} }\nfn x() {} }"),
            [4]
        );
        assert_eq!(repeated("m!(fn x() {});\nm!(fn x() {});"), [0; 0]);
        assert_eq!(repeated("/// fn x() {}\n/// fn x() {}\nfn x() {}"), [0; 0]);
    }

    #[test]
    fn brackets_in_literals_and_comments_enclose_nothing() {
        for inside in [
            r#""}""#,
            r##"r#"{"{"#"##,
            r#""\"{""#,
            r#"b"\\" "#,
            "'{'",
            "'\\'', '{'",
            "f::<'a, 'b>",
            "/* { /* } */ ' */",
            "r#type",
            "'é', \"é{\"",
            "1 // }",
        ] {
            let source = format!("fn x() {{ {inside}\n}}\nmod a {{\nfn x() {{}} }}\nfn x() {{}}");
            assert_eq!(repeated(&source), [5], "{inside}");
        }
    }
}
