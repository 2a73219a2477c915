//! The project's text does not use the words and phrases in `tests/words.txt`.
//!
//! Text is Markdown, and the comments, doc comments and string literals of Rust files.

use proc_macro2::{Span, TokenStream, TokenTree};
use std::fs;
use std::ops::Range;
use std::path::Path;

/// What is searched: files, and folders with their Rust and Markdown files.
const SEARCHED: &[&str] = &[
    "ARCHITECTURE.md",
    "BENCHMARKS.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benches",
    "examples",
    "extensions",
    "fuzz",
    "plan-macros",
    "plan-graph",
    "plan-runtime",
    "tests",
];

/// Takes the place of code, so that no phrase continues across it.
const CODE: u8 = b'\x01';

struct Phrase {
    words: String,
    instead: String,
    /// Longer phrases that contain this one and are right.
    except: Vec<String>,
}

impl Phrase {
    fn read(line: &str) -> Self {
        let mut columns = line.split('\t');
        let words = columns.next().unwrap_or_default().to_lowercase();
        let instead = columns.next().unwrap_or_default().to_owned();
        assert!(!words.is_empty() && !instead.is_empty(), "no tab: `{line}`");
        let except = columns.next().unwrap_or_default().split('|');
        let except = except
            .filter(|it| !it.is_empty())
            .map(str::to_lowercase)
            .collect();
        Self {
            words,
            instead,
            except,
        }
    }

    /// The offsets at which the phrase is in a text of words with one space between them.
    fn find(&self, text: &str) -> Vec<usize> {
        let allowed: Vec<Range<usize>> = self
            .except
            .iter()
            .flat_map(|except| occurrences(text, except))
            .collect();
        occurrences(text, &self.words)
            .filter(|at| !allowed.iter().any(|it| it.contains(&at.start)))
            .map(|at| at.start)
            .collect()
    }
}

/// Where a phrase is in a text, as whole words, or, with `*` at its end, as the start of one.
fn occurrences<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let (words, whole) = match phrase.strip_suffix('*') {
        Some(start) => (start, false),
        None => (phrase, true),
    };
    let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(words)
        .map(|(at, found)| at..at + found.len())
        .filter(move |at| !in_word(text[..at.start].chars().next_back()))
        .filter(move |at| !whole || !in_word(text[at.end..].chars().next()))
}

/// The text in which phrases are searched, in lower case with one space between words, and the line of each byte.
struct Prose {
    text: String,
    lines: Vec<usize>,
}

impl Prose {
    fn new(source: &str) -> Self {
        let mut prose = Self {
            text: String::new(),
            lines: Vec::new(),
        };
        for (index, line) in source.lines().enumerate() {
            let line = line.trim().trim_end_matches('\\');
            let line = line.trim_start_matches(['/', '!', '*', '#', '>', '|', '-']);
            for word in line.split_whitespace() {
                let word = format!("{} ", word.to_lowercase());
                prose.lines.extend(word.bytes().map(|_| index + 1));
                prose.text += &word;
            }
            if line.is_empty() {
                // A paragraph ends.
                prose.lines.push(index + 1);
                prose.text.push(CODE.into());
            }
        }
        prose
    }

    fn markdown(source: &str) -> Self {
        Self::new(&without_messages(source))
    }

    /// Files that cannot be split into tokens, such as tests of unbalanced braces, are text as a whole.
    fn rust(source: &str) -> Self {
        match source.parse::<TokenStream>() {
            Ok(tokens) => {
                let mut bytes = source.as_bytes().to_vec();
                blank(tokens, source, &mut bytes);
                proc_macro2::extra::invalidate_current_thread_spans();
                Self::new(&String::from_utf8(bytes).expect("whole tokens are blanked"))
            }
            Err(_) => Self::new(source),
        }
    }

    fn phrases<'a>(&self, phrases: &'a [Phrase]) -> Vec<(usize, &'a Phrase)> {
        let found = phrases.iter().flat_map(|phrase| {
            let at = phrase.find(&self.text).into_iter();
            at.map(move |at| (self.lines[at], phrase))
        });
        found.collect()
    }
}

/// The compiler's messages after `<!-- tests/ui/… -->` come from string literals, which are searched themselves.
fn without_messages(markdown: &str) -> String {
    let mut text = String::new();
    let mut fence = 0;
    for line in markdown.lines() {
        if line.starts_with("<!-- tests/ui/") {
            fence = 2;
        }
        if fence == 0 {
            text += line;
        }
        if fence > 0 && line.starts_with("```") {
            fence -= 1;
        }
        text += "\n";
    }
    text
}

/// Replaces all tokens except string literals and doc comments by `CODE`. Other comments are between tokens.
fn blank(tokens: TokenStream, source: &str, bytes: &mut [u8]) {
    let text = |span: Span| &source[span.byte_range()];
    let mut cover = |span: Span| {
        let code = bytes[span.byte_range()].iter_mut();
        code.filter(|byte| **byte != b'\n')
            .for_each(|byte| *byte = CODE);
    };
    // Each token of a doc comment has the span of the whole comment.
    let is_comment = |span: Span| text(span).starts_with("//") || text(span).starts_with("/*");
    let is_string = |span: Span| {
        let token = text(span).trim_start_matches(['b', 'c', 'r', '#']);
        token.starts_with('"')
    };
    let mut open = vec![tokens.into_iter()];
    while let Some(tokens) = open.last_mut() {
        match tokens.next() {
            Some(token) if is_comment(token.span()) => {}
            Some(TokenTree::Group(group)) => {
                cover(group.span_open());
                cover(group.span_close());
                open.push(group.stream().into_iter());
            }
            Some(token) if is_string(token.span()) => {}
            Some(token) => cover(token.span()),
            None => drop(open.pop()),
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files under a path, relative to the root.
fn files(path: &str, found: &mut Vec<String>) {
    let absolute = root().join(path);
    if absolute.is_file() {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(&absolute).unwrap_or_else(|error| panic!("{path}: {error}")) {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().expect("UTF-8");
        let kind = entry.file_type().unwrap();
        let hidden = name.starts_with('.') || name == "target";
        let text = name.ends_with(".rs") || name.ends_with(".md");
        if (kind.is_dir() && !hidden) || (kind.is_file() && text) {
            files(&format!("{path}/{name}"), found);
        }
    }
}

fn phrases() -> Vec<Phrase> {
    let text = fs::read_to_string(root().join("tests/words.txt")).unwrap();
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(Phrase::read)
        .collect()
}

#[test]
fn words() {
    let phrases = phrases();
    let mut all = Vec::new();
    SEARCHED.iter().for_each(|path| files(path, &mut all));
    all.sort();

    let mut wrong = Vec::new();
    for file in &all {
        let source = fs::read_to_string(root().join(file)).unwrap();
        let prose = if file.ends_with(".md") {
            Prose::markdown(&source)
        } else {
            Prose::rust(&source)
        };
        for (line, phrase) in prose.phrases(&phrases) {
            let Phrase { words, instead, .. } = phrase;
            wrong.push(format!("{file}:{line}: `{words}`; write: {instead}"));
        }
    }
    assert!(wrong.is_empty(), "reword this:\n{}", wrong.join("\n"));
}

#[test]
fn finds_phrases_only_in_text() {
    let phrases = [
        Phrase::read("blue sky\tazure sky\tclear blue sky|blue sky day"),
        Phrase::read("paint*\tdraw"),
        Phrase::read("hue\tcolor"),
    ];
    let found = |source: &str| -> Vec<(usize, String)> {
        let prose = Prose::rust(source);
        let found = prose.phrases(&phrases).into_iter();
        found
            .map(|(line, phrase)| (line, phrase.words.clone()))
            .collect()
    };
    let at = |line: usize, words: &str| vec![(line, words.to_owned())];

    assert_eq!(found("// A Blue sky.\nfn f() {}"), at(1, "blue sky"));
    assert_eq!(found("fn f() {\n    g(/* a hue */);\n}"), at(2, "hue"));
    assert_eq!(found("/// A blue\n/// sky.\nfn f() {}"), at(1, "blue sky"));
    assert_eq!(
        found("fn f() {\n    \"a blue \\\n     sky\"\n}"),
        at(2, "blue sky")
    );
    assert_eq!(found("const É: &str = r#\"é hue\"#;"), at(1, "hue"));
    assert_eq!(found("//! It paints.\n"), at(1, "paint*"));
    assert_eq!(found("{ // a hue"), at(1, "hue"));

    assert_eq!(found("fn hue(blue: sky) { paint() }"), []);
    assert_eq!(found("// A clear blue sky, on a blue sky day.\n"), []);
    assert_eq!(found("// Various hues.\n"), []);
    assert_eq!(found("// It is blue\n\n// Sky.\n"), []);
    assert_eq!(found("// It is blue\nfn f() {}\n// sky."), []);
}

#[test]
fn messages_are_not_searched() {
    let markdown = "A hue.\n\n<!-- tests/ui/a/b.rs:1 -->\n```text\na hue\n```\n\nA hue.\n";
    let prose = Prose::markdown(markdown);
    assert_eq!(prose.phrases(&[Phrase::read("hue\tcolor")]).len(), 2);
}
