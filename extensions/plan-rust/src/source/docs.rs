//! Descriptions as doc comments.

use plan_graph::Line;
use plan_runtime::plan::RustText;

/// Returns the lines of a doc comment. A string of the program itself is Markdown. A string from elsewhere appears as plain text:
/// no code that documentation would run, no HTML, no links.
pub(super) fn lines(text: &RustText) -> Vec<String> {
    let text_lines = text.trim_end().lines();
    let line = |line: &str| {
        let line = if text.is_of_program() {
            // Code may be indented with tabs.
            let parts = line.trim_end().split('\t');
            let parts: Vec<String> = parts.map(|part| Line(part).to_string()).collect();
            parts.join("\t")
        } else {
            inert(line.trim())
        };
        if line.is_empty() {
            "///".to_owned()
        } else {
            format!("/// {line}")
        }
    };
    text_lines.map(line).collect()
}

/// Returns a line of Markdown that renders as this string.
fn inert(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let line = Line(line.replace('\t', " ")).to_string();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut before = ' ';
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let is_markup = match c {
            '\\' => !(next == 'u' && is_number(&line[at..])),
            '`' | '*' | '[' | ']' | '<' | '>' | '&' | '#' | '~' | '|' => true,
            // Between letters, an underscore is literal.
            '_' => !(before.is_alphanumeric() && next.is_alphanumeric()),
            '-' | '+' | '=' => at == 0,
            '.' | ')' => digits > 0 && at == digits,
            // An address becomes no link.
            ':' => next == '/',
            _ => false,
        };
        if is_markup {
            text.push('\\');
        }
        text.push(c);
        before = c;
    }
    text
}

/// Returns `true` if a string begins with the number of a character, whose `\` is not markup.
fn is_number(text: &str) -> bool {
    let inside = text
        .strip_prefix("\\u{")
        .and_then(|rest| rest.split_once('}'));
    inside.is_some_and(|(number, _)| number.chars().all(|c| c.is_ascii_hexdigit()))
}
