//! The text of a plan in a terminal. The notation resembles Rust, so a lexer finds words, strings and comments.

use super::Terminal;
use crate::plan::is_note;
use crate::print::{Quoted, literal, split_at_width, width, word, wrapped};

/// The colors of code: attributes, strings, keywords, the names of steps, comments.
const ATTRIBUTE: &str = "33";
const STRING: &str = "32";
const KEYWORD: &str = "36";
const NAME: &str = "1";
const COMMENT: &str = "2";

/// The start of the continuation of a broken line of code, and of a broken comment. No line of a plan starts with either sign.
const MORE: &str = "… ";
const MORE_COMMENT: &str = "//   ";

/// Returns the text of a plan in the width and the colors of a terminal.
pub(super) fn shown(text: &str, terminal: Terminal) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let (code, comment) = line.split_at(comment(line).unwrap_or(line.len()));
        let indent = line.len() - line.trim_start().len();
        let fits = width(line) <= terminal.columns;
        if fits || comment.is_empty() {
            write_code(code, comment, indent, terminal, &mut lines);
        } else if code.trim().is_empty() {
            write_comment(comment, indent, terminal, &mut lines);
        } else {
            write_code(code.trim_end(), "", indent, terminal, &mut lines);
            let text = comment.strip_prefix("// ").unwrap_or(comment);
            // In quotes, so that it does not look like the note about a step's dependencies.
            let text = if is_note(text) {
                Quoted(text).to_string()
            } else {
                text.to_owned()
            };
            write_comment(&format!("// {text}"), indent + 2, terminal, &mut lines);
        }
    }
    lines.join("\n") + "\n"
}

/// Returns the start of the comment of a line.
fn comment(line: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        if rest.starts_with("//") {
            return Some(at);
        }
        at += length(rest, c);
    }
    None
}

/// Returns the length of the literal, the word or the sign at the beginning of code.
fn length(rest: &str, first: char) -> usize {
    match (literal(rest), word(rest)) {
        (Some(length @ 1..), _) => length,
        (_, "") => first.len_utf8(),
        (_, word) => word.len(),
    }
}

fn write_comment(text: &str, indent: usize, terminal: Terminal, lines: &mut Vec<String>) {
    let indent = indent.min(terminal.columns / 2);
    let text = text.strip_prefix("// ").unwrap_or(text);
    let mut sign = "// ";
    for part in wrapped(text, terminal.columns - indent - MORE_COMMENT.len()) {
        let part = terminal.painted(COMMENT, &format!("{sign}{part}"));
        lines.push(format!("{:indent$}{part}", ""));
        sign = MORE_COMMENT;
    }
}

/// Adds the lines of a line of code, whose last part has a comment.
fn write_code(
    code: &str,
    comment: &str,
    indent: usize,
    terminal: Terminal,
    lines: &mut Vec<String>,
) {
    let next_indent = (indent + 4).min(terminal.columns / 2);
    let mut colors = colors(code).into_iter().peekable();
    let (mut at, mut start, mut room) = (0, String::new(), terminal.columns);
    loop {
        let end = at + part(&code[at..], room);
        let mut line = start;
        while let Some((until, color)) = colors.peek().copied() {
            let stop = until.min(end);
            line += &terminal.painted(color, &code[at..stop]);
            at = stop;
            if until > end {
                break;
            }
            colors.next();
        }
        if at == code.len() {
            lines.push(line + &terminal.painted(COMMENT, comment));
            return;
        }
        lines.push(line);
        start = format!("{:next_indent$}{}", "", terminal.painted(COMMENT, MORE));
        room = terminal.columns - next_indent - width(MORE);
    }
}

/// Returns the length of the first part of code that fits into a number of columns. The part ends before a space, if it has any: outside of as many
/// brackets as possible, and outside of strings.
fn part(code: &str, columns: usize) -> usize {
    let (fitting, rest) = split_at_width(code, columns);
    if rest.is_empty() {
        return code.len();
    }
    let indent = code.len() - code.trim_start().len();
    // A break in the first half would leave short lines.
    let least = (fitting.len() / 2).max(indent + 1);
    let (mut at, mut depth, mut best) = (0, 0_usize, None);
    while let Some(c) = code[at..].chars().next().filter(|_| at < fitting.len()) {
        let length = length(&code[at..], c);
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let inside = if length > 1 { IN_STRING } else { 0 };
        for (space, _) in code[at..at + length].match_indices(' ') {
            let (space, depth) = (at + space, depth + inside);
            let is_better = best.is_none_or(|(least, _)| depth <= least);
            if (least..fitting.len()).contains(&space) && is_better {
                best = Some((depth, space));
            }
        }
        at += length;
    }
    let last = || fitting.rfind(' ').filter(|space| *space > indent);
    let space = best.map(|(_, space)| space).or_else(last);
    space.unwrap_or(fitting.len()).max(1)
}

/// The depth of a space in a string.
const IN_STRING: usize = 1_000;

/// Returns the colors of code, each with the end of its part.
fn colors(code: &str) -> Vec<(usize, &'static str)> {
    if code.trim_start().starts_with("#[") {
        return vec![(code.len(), ATTRIBUTE)];
    }
    let mut colors = Vec::new();
    let (mut at, mut before) = (0, "");
    while let Some(c) = code[at..].chars().next() {
        let rest = &code[at..];
        let (length, word) = (length(rest, c), word(rest));
        let starts = code[..at].trim().is_empty() || matches!(before, "=" | "}" | "else");
        let is_keyword = starts && !rest[word.len()..].starts_with(':') && KEYWORDS.contains(&word);
        let color = match literal(rest) {
            Some(1..) => STRING,
            _ if matches!(before, "plan" | "step") && !word.is_empty() => NAME,
            _ if is_keyword => KEYWORD,
            _ => "",
        };
        if c != ' ' {
            before = &rest[..length];
        }
        at += length;
        colors.push((at, color));
    }
    colors
}

/// The words that start a line, or the body of a step.
const KEYWORDS: [&str; 11] = [
    "plan", "input", "step", "output", "if", "else", "for", "loop", "while", "await", "tool",
];
