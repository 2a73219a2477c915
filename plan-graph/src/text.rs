//! Escapes for untrusted strings in terminals, logs and pages.

use crate::is_unseen;
use crate::seen::is_ignorable;
use std::fmt::{Display, Formatter, Result, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most combining marks on one letter. More marks would reach into the lines above and below.
const MARKS: u8 = 4;

/// The most spaces in a row. With more spaces, a terminal that wraps its lines shows the rest of a line as a line of its own.
const SPACES: u8 = 8;

/// Decides for each character of a string whether people see the character.
#[derive(Clone, Copy, Debug, Default)]
struct Sight {
    /// The number of further marks that the last letter may have.
    marks: u8,
    /// The number of spaces at the end.
    spaces: u8,
    /// Allows any number of spaces in a row, which indent the lines of a longer string.
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
        let seen = !is_unseen(c) && (!mark || self.marks > 0);
        self.marks = match (seen, mark) {
            (true, true) => self.marks - 1,
            (true, false) if c.is_alphanumeric() => MARKS,
            _ => 0,
        };
        seen
    }
}

/// The characters on each side of a cut that decide whether the cut separates a mark from its letter.
const NEAR: usize = 16;

/// Returns a string with a shorter middle if the string is wider than `columns`. Leaves out characters without a width if a column has more than
/// eight characters.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let is_place = |at: &usize| {
        let (head, tail) = text.split_at(*at);
        let from = head.char_indices().rev().take(NEAR).last();
        let from = from.map_or(*at, |(from, _)| from);
        let until = at + tail.chars().take(NEAR).map(char::len_utf8).sum::<usize>();
        let (head, tail) = (&text[from..*at], &text[*at..until]);
        let is_joined = head.ends_with('\u{200d}') || tail.starts_with('\u{200d}');
        let mark = tail.chars().next().is_some_and(|c| c.width() == Some(0));
        !is_joined && !mark && head.width() + tail.width() == text[from..until].width()
    };
    let places = || (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    let (room, most) = (columns.saturating_sub(1), columns.saturating_mul(8));
    let tail = places()
        .rev()
        .take(most)
        .take_while(|at| text[*at..].width() <= room / 2)
        .filter(is_place)
        .last();
    let tail = tail.map_or("", |at| &text[at..]);
    let room = room - tail.width();
    let head = places()
        .take(most)
        .take_while(|at| text[..*at].width() <= room)
        .filter(is_place)
        .last();
    format!("{}…{tail}", head.map_or("", |at| &text[..at]))
}

/// Returns the escape of an invisible character, or of a space among too many spaces.
fn escape(c: char) -> String {
    match c {
        ' ' => c.escape_unicode().to_string(),
        c => c.escape_default().to_string(),
    }
}

/// Returns `true` if no character of a string needs an escape.
pub fn is_seen(text: &str) -> bool {
    let mut sight = Sight::default();
    text.chars().all(|c| sight.sees(c))
}

/// Returns a string with an escape for each invisible character except line breaks.
pub fn visible(text: &str) -> String {
    let mut out = String::new();
    let mut safe = Safe::line(&mut out);
    safe.keeps_lines = true;
    // A write to a `String` never fails.
    let _ = safe.write_str(text);
    out
}

/// A writer that escapes invisible characters for another writer.
#[derive(Debug)]
pub struct Safe<W> {
    out: W,
    sight: Sight,
    keeps_lines: bool,
}

impl<W: Write> Safe<W> {
    /// Returns a writer that escapes line breaks as well.
    pub fn line(out: W) -> Self {
        let sight = Sight::default();
        Self {
            out,
            sight,
            keeps_lines: false,
        }
    }

    /// Returns a writer that keeps line breaks and the spaces after them.
    pub fn lines(out: W) -> Self {
        let mut safe = Self::line(out);
        safe.keeps_lines = true;
        safe.sight.keeps_spaces = true;
        safe
    }

    /// Writes a trusted string without escapes.
    ///
    /// # Errors
    /// Returns an error if the other writer fails.
    pub fn as_it_is(&mut self, text: &str) -> Result {
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

/// A value on one line, with escapes for invisible characters.
///
/// ```
/// use plan_graph::Line;
///
/// assert_eq!(Line("paid\n\u{202e}17").to_string(), r"paid\n\u{202e}17");
/// ```
#[derive(Debug)]
pub struct Line<T>(pub T);

impl<T: Display> Display for Line<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Safe::line(f), "{}", self.0)
    }
}

/// A value on one line or several lines, with escapes for other invisible characters.
#[derive(Debug)]
pub struct Lines<T>(pub T);

impl<T: Display> Display for Lines<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Safe::lines(f), "{}", self.0)
    }
}

/// A string literal of Rust, with escapes also for the few invisible characters that Rust does not escape.
#[derive(Debug)]
pub struct Quoted<'t>(pub &'t str);

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

/// A name between backquotes in a message, or in a cell of a table. The name is in quotes if backquotes could not delimit the name.
///
/// ```
/// use plan_graph::MessageName;
///
/// assert_eq!(MessageName("send mail").to_string(), "send mail");
/// assert_eq!(MessageName("send\u{200b}").to_string(), r#""send\u{200b}""#);
/// ```
#[derive(Debug)]
pub struct MessageName<'t>(pub &'t str);

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
