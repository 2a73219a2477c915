//! The content of plans, tools and documents, made safe for a terminal, a page and a line of print.
//!
//! Printed text shows all its characters. Text for people contains no character that moves a cursor, hides or turns the
//! characters around it, or has no width: each appears as its Rust escape (`\n`, `\u{1b}`, `\u{202e}`).
//!
//! | | for | |
//! |---|---|---|
//! | [`Line`] | messages and descriptions | on one line |
//! | [`Lines`] | content with several lines | line breaks are kept |
//! | [`Name`] | names among Rust code or sentences | in quotes, unless the name is a word |
//! | [`MessageName`] | names between backquotes, or on their own | in quotes, if backquotes could not delimit it |
//! | [`Code`] | types, patterns: Rust that was never parsed | as `code("…")`, if the printed code could be mistaken for other syntax |
//! | [`Quoted`] | strings | in quotes |
//!
//! Outside of quotes a backslash stays a backslash, so a second pass does not change safe output.

mod code;
mod debug;

pub(crate) use code::{
    Code, has_outside, is_code, is_expression, is_part_of_name, is_value, is_whole, literal, root,
    split_outside, word,
};

pub(crate) use debug::{visible_debug, visibly};
pub(crate) use plan_graph::{Line, Lines, MessageName, Quoted, Safe, is_seen, visible};

use std::fmt::{Display, Formatter, Result, Write};
use unicode_width::UnicodeWidthStr;

/// The largest number of characters of a tool's error.
pub(crate) const MOST: usize = 4000;

/// Returns `true` if a name needs no quotes.
pub(crate) fn is_word(key: &str) -> bool {
    let mut chars = key.chars();
    chars
        .next()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$' | '@'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
        && is_seen(key)
}

/// The largest number of characters of a name in a message.
pub(crate) const SHORT: usize = 60;

/// Truncates a long string.
pub(crate) fn short(text: &str) -> String {
    short_to(text, SHORT)
}

/// Truncates a string with more characters than this.
pub(crate) fn short_to(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the width of a safe string in columns of a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the longest beginning of a safe string that fits into this number of columns, and the rest.
pub(crate) fn split_at_width(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += width(c.encode_utf8(&mut [0; 4]));
        (used > columns).then_some(at)
    });
    text.split_at(end.unwrap_or(text.len()))
}

/// Breaks a safe string into lines of words, none wider than this number of columns.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) < columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => {
                let mut word = word;
                while width(word) > columns {
                    // Progress, even if the first character is wider than a line.
                    let first = word.chars().next().map_or(0, char::len_utf8);
                    let end = split_at_width(word, columns).0.len().max(first);
                    lines.push(word[..end].to_owned());
                    word = &word[end..];
                }
                lines.push(word.to_owned());
            }
        }
    }
    lines
}

/// The meaning of a part of a printed line. A terminal has a color for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Title,
    Good,
    Warning,
    Bad,
    Blocked,
    Quiet,
}

/// A name among Rust: a word, or in quotes.
pub(crate) struct Name<'t>(pub(crate) &'t str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // A step with such a name is in quotes, to distinguish the step from the value.
        let value = matches!(self.0, "null" | "true" | "false");
        if is_word(self.0) && !value {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

/// Returns the first of these names, and the number of the others, so that a message stays short.
pub(crate) fn some_of<T: AsRef<str>>(names: &[T]) -> String {
    let names = names.iter().map(|name| MessageName(name.as_ref()));
    some_shown(&names.collect::<Vec<_>>())
}

/// Returns the first of these names, which are safe to print, and the number of the others.
pub(crate) fn some_shown<T: Display>(names: &[T]) -> String {
    const NAMED: usize = 3;
    let quoted = |name: &T| format!("`{name}`");
    let (first, last) = match names {
        [] => return String::new(),
        [only] => return quoted(only),
        [others @ .., last] if others.len() < NAMED => (others, quoted(last)),
        all => (&all[..NAMED], format!("{} more", all.len() - NAMED)),
    };
    let first: Vec<String> = first.iter().map(quoted).collect();
    format!("{} and {last}", first.join(", "))
}

/// The beginning of a value's `Display`, with `…` in place of the omitted rest.
pub(crate) struct Cut<T>(pub(crate) T, pub(crate) usize);

impl<T: Display> Display for Cut<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut room = WriteBudget {
            out: &mut *f,
            left: self.1,
            is_over: false,
        };
        match write!(room, "{}", self.0) {
            Err(_) if room.is_over => f.write_char('…'),
            // An error whose `Display` fails is still an error.
            _ => Ok(()),
        }
    }
}

struct WriteBudget<W> {
    out: W,
    /// The number of characters that may follow.
    left: usize,
    is_over: bool,
}

impl<W: Write> Write for WriteBudget<W> {
    fn write_str(&mut self, text: &str) -> Result {
        match text.char_indices().nth(self.left) {
            Some((end, _)) => {
                self.left = 0;
                if !std::mem::replace(&mut self.is_over, true) {
                    self.out.write_str(&text[..end])?;
                }
                Err(std::fmt::Error)
            }
            None => {
                self.left -= text.chars().count();
                self.out.write_str(text)
            }
        }
    }
}

#[cfg(test)]
mod tests;
