//! Text of plans, tools and documents, made safe for a terminal, a page and a line of print.
//!
//! What is seen is what is there. Nothing that is printed for people contains a character that moves a cursor, hides or turns the
//! text around it, or has no width of its own: each is written as Rust writes it in a string (`\n`, `\u{1b}`, `\u{202e}`).
//!
//! | | for | |
//! |---|---|---|
//! | [`Line`] | messages and descriptions | on one line |
//! | [`Lines`] | texts that may have several lines | line breaks are kept |
//! | [`Name`] | names among Rust or other text | in quotes, unless it is a word |
//! | [`MessageName`] | names between backquotes, or on their own | in quotes, if backquotes could not delimit it |
//! | [`Code`] | types, patterns: Rust that was never parsed | as `code("…")`, if it could be taken for more than that |
//! | [`Quoted`] | strings | in quotes |
//!
//! Outside of quotes a backslash stays a backslash, so making a text safe twice changes nothing.

mod code;

pub(crate) use code::{
    Code, has_outside, is_code, is_expression, is_part_of_name, is_value, is_whole, literal, root,
    split_outside, word,
};

use std::fmt::{Display, Formatter, Result, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many characters of a tool's error are written.
pub(crate) const MOST: usize = 4000;

/// How many combining marks may be on one letter. More would reach into the lines above and below.
const MARKS: u8 = 4;

/// How many spaces may follow each other. With more, a terminal that wraps its lines shows the text after them as a line of its own.
const SPACES: u8 = 8;

/// Goes through a text, and knows of each character whether people see it.
#[derive(Clone, Copy, Default)]
struct Sight {
    /// How many more marks the character before may have.
    marks: u8,
    /// How many spaces came last.
    spaces: u8,
    /// Any number of spaces may follow each other: they indent what has several lines anyway.
    keeps_spaces: bool,
}

impl Sight {
    fn sees(&mut self, c: char) -> bool {
        self.spaces = if c.is_whitespace() {
            self.spaces.saturating_add(1)
        } else {
            0
        };
        if self.spaces > SPACES && !self.keeps_spaces {
            return false;
        }
        if c.is_ascii() {
            self.marks = if c.is_ascii_alphanumeric() { MARKS } else { 0 };
            return !c.is_ascii_control();
        }
        let mark = c.width() == Some(0);
        let seen = !is_ignorable(c) && is_printable(c) && (!mark || self.marks > 0);
        self.marks = match (seen, mark) {
            (true, true) => self.marks - 1,
            (true, false) if c.is_alphanumeric() => MARKS,
            _ => 0,
        };
        seen
    }
}

/// The characters that are shown as nothing, as far as the standard library takes them for printable: those of the property
/// `Default_Ignorable_Code_Point` that are letters or marks, and a pattern without dots.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character is printable: not a control, format, private or unassigned character, nor one that ends a line. The
/// standard library escapes those. At the beginning of a text it also escapes marks, so the character is tested as the second.
fn is_printable(c: char) -> bool {
    let mut buffer = [b'a'; 5];
    let end = 1 + c.encode_utf8(&mut buffer[1..]).len();
    let is_space = || c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    std::str::from_utf8(&buffer[..end]).is_ok_and(|text| text.escape_debug().eq(['a', c]))
        || is_space()
}

/// The escape of a character that is not seen as it is, or of a space among too many.
fn escape(c: char) -> String {
    match c {
        ' ' => c.escape_unicode().to_string(),
        c => c.escape_default().to_string(),
    }
}

/// Whether a name can be written without quotes.
pub(crate) fn is_word(key: &str) -> bool {
    let mut chars = key.chars();
    chars
        .next()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$' | '@'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
        && is_seen(key)
}

/// Whether all of a text is seen as it is.
pub(crate) fn is_seen(text: &str) -> bool {
    let mut sight = Sight::default();
    text.chars().all(|c| sight.sees(c))
}

/// How many characters a name has at most in a message.
pub(crate) const SHORT: usize = 60;

/// A text, cut if it is long.
pub(crate) fn short(text: &str) -> String {
    short_to(text, SHORT)
}

/// A text, cut if it has more characters than this.
pub(crate) fn short_to(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A text with escapes for what is not seen. Line breaks are kept.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::new();
    let mut safe = Safe::line(&mut out);
    safe.keeps_lines = true;
    // Nothing that is written to a `String` fails.
    let _ = safe.write_str(text);
    out
}

/// How many columns of a terminal a text takes that is safe to print.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Hands text on, with escapes for what is not seen.
pub(crate) struct Safe<W> {
    out: W,
    sight: Sight,
    keeps_lines: bool,
}

impl<W: Write> Safe<W> {
    /// Escapes line breaks as all else.
    pub(crate) fn line(out: W) -> Self {
        let sight = Sight::default();
        Self {
            out,
            sight,
            keeps_lines: false,
        }
    }

    /// Keeps line breaks.
    pub(crate) fn lines(out: W) -> Self {
        let mut safe = Self::line(out);
        safe.keeps_lines = true;
        safe.sight.keeps_spaces = true;
        safe
    }
}

impl<W: Write> Safe<W> {
    /// Hands text on without a look at it.
    #[cfg(feature = "diagnostics")]
    pub(crate) fn as_it_is(&mut self, text: &str) -> Result {
        self.sight.marks = 0;
        self.out.write_str(text)
    }
}

impl<W: Write> Write for Safe<W> {
    fn write_str(&mut self, text: &str) -> Result {
        let mut written = 0;
        for (at, c) in text.char_indices() {
            if self.sight.sees(c) || (self.keeps_lines && c == '\n') {
                continue;
            }
            self.out.write_str(&text[written..at])?;
            write!(self.out, "{}", escape(c))?;
            written = at + c.len_utf8();
        }
        self.out.write_str(&text[written..])
    }
}

/// Something on one line.
pub(crate) struct Line<T>(pub(crate) T);

impl<T: Display> Display for Line<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Safe::line(f), "{}", self.0)
    }
}

/// Something that may have several lines.
pub(crate) struct Lines<T>(pub(crate) T);

impl<T: Display> Display for Lines<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Safe::lines(f), "{}", self.0)
    }
}

/// A string as Rust writes it, with escapes also for the few characters that are not seen and that Rust does not escape.
pub(crate) struct Quoted<'t>(pub(crate) &'t str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        let mut spaces = 0;
        for c in self.0.chars() {
            spaces = if c == ' ' { spaces + 1 } else { 0 };
            match c {
                '\'' => f.write_char(c)?,
                ' ' if spaces > usize::from(SPACES) => write!(f, "{}", c.escape_unicode())?,
                c if is_ignorable(c) => write!(f, "{}", c.escape_unicode())?,
                c => write!(f, "{}", c.escape_debug())?,
            }
        }
        f.write_char('"')
    }
}

/// A name among Rust: a word, or in quotes.
pub(crate) struct Name<'t>(pub(crate) &'t str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        // A step of such a name is not this value.
        let value = matches!(self.0, "null" | "true" | "false");
        if is_word(self.0) && !value {
            f.write_str(self.0)
        } else {
            Quoted(self.0).fmt(f)
        }
    }
}

/// The first of these names, and how many more there are: naming thousands helps nobody.
pub(crate) fn some_of<T: AsRef<str>>(names: &[T]) -> String {
    let names = names.iter().map(|name| MessageName(name.as_ref()));
    some_shown(&names.collect::<Vec<_>>())
}

/// The same for names that are safe to print.
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

/// A name between backquotes in a message, or in a place of its own in a table or a picture.
pub(crate) struct MessageName<'t>(pub(crate) &'t str);

impl Display for MessageName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = self.0;
        let spaced = text.trim() != text || text.contains("  ");
        if text.is_empty() || spaced || text.contains(['`', '"', '[', '→']) || !is_seen(text) {
            Quoted(text).fmt(f)
        } else {
            f.write_str(text)
        }
    }
}

/// The beginning of something, and `…` where that is not all of it.
pub(crate) struct Cut<T>(pub(crate) T, pub(crate) usize);

impl<T: Display> Display for Cut<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut room = Budget {
            out: &mut *f,
            left: self.1,
            is_over: false,
        };
        match write!(room, "{}", self.0) {
            Err(_) if room.is_over => f.write_char('…'),
            // An error whose text cannot be written is still an error.
            _ => Ok(()),
        }
    }
}

struct Budget<W> {
    out: W,
    /// How many more characters are written.
    left: usize,
    is_over: bool,
}

impl<W: Write> Write for Budget<W> {
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
