//! The sentences of Markdown, and of the comments of Rust files.

use super::habits::{CODE, words};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The fewest words of a sentence that counts.
const SHORTEST: usize = 4;

pub(crate) struct Sentence {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// A block of comments, with the line of its first.
struct Comments {
    line: usize,
    marker: &'static str,
    text: String,
}

/// Returns the sentences of a file.
pub(crate) fn sentences(path: &str, source: &str) -> Vec<Sentence> {
    if path.ends_with(".md") {
        return markdown(source, 1);
    }
    let blocks = comments(source).into_iter();
    blocks.flat_map(|it| markdown(&it.text, it.line)).collect()
}

/// Returns the lines of documentation of Rust items, with the number of the line: the first of each item.
pub(crate) fn openings(path: &str, source: &str) -> Vec<Sentence> {
    if path.ends_with(".md") {
        return Vec::new();
    }
    let blocks = comments(source).into_iter().filter(|it| it.marker != "//");
    let first = |block: Comments| Sentence {
        line: block.line,
        text: block.text.lines().next().unwrap_or_default().to_owned(),
    };
    blocks.map(first).collect()
}

fn comments(source: &str) -> Vec<Comments> {
    let mut found: Vec<Comments> = Vec::new();
    let mut open = false;
    for (index, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let marker = ["///", "//!", "//"]
            .into_iter()
            .find(|it| line.starts_with(it));
        let marker = marker.filter(|it| !line[it.len()..].starts_with('/'));
        let Some(marker) = marker else {
            open = false;
            continue;
        };
        let text = &line[marker.len()..];
        let text = text.strip_prefix(' ').unwrap_or(text);
        match found.last_mut().filter(|it| open && it.marker == marker) {
            Some(block) => block.text.push_str(text),
            None => found.push(Comments {
                line: index + 1,
                marker,
                text: text.to_owned(),
            }),
        }
        found.last_mut().expect("a block").text.push('\n');
        open = true;
    }
    found
}

fn markdown(source: &str, first_line: usize) -> Vec<Sentence> {
    let mut found = Vec::new();
    let (mut text, mut start, mut in_code) = (String::new(), 0, false);
    // Lines are counted on, since ranges only increase between blocks.
    let (mut line, mut counted) = (first_line, 0);
    let events = Parser::new_ext(source, Options::ENABLE_TABLES).into_offset_iter();
    for (event, range) in events {
        if ends_a_block(&event) {
            if start >= counted {
                line += source[counted..start].matches('\n').count();
                counted = start;
            }
            found.extend(split(&text).map(|text| Sentence { line, text }));
            text.clear();
        }
        if text.is_empty() {
            start = range.start;
        }
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(it) if !in_code => text += &it,
            Event::Code(_) => text.push(CODE),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    found
}

fn ends_a_block(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => !matches!(
            tag,
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
        ),
        Event::End(tag) => !matches!(
            tag,
            TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
        ),
        _ => false,
    }
}

/// Splits a paragraph after the mark that ends a sentence, if a sentence can start there.
fn split(paragraph: &str) -> impl Iterator<Item = String> {
    let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut sentences = vec![String::new()];
    for word in text.split(' ') {
        let last = sentences.last_mut().expect("a sentence");
        let starts =
            word.starts_with(|c: char| c.is_ascii_uppercase() || c == CODE || "\"(".contains(c));
        if last.ends_with(['.', '!', '?']) && starts {
            sentences.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    sentences.into_iter().filter(|it| words(it) >= SHORTEST)
}
