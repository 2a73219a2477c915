//! Text in Markdown and in HTML: nothing in it is ever markup of either, ends a cell or a line.

use std::fmt::{Display, Formatter, Result, Write};

/// A text on one line. A character that could be markup is written as its number, which Markdown and HTML both read.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut before = ' ';
        for c in self.0.trim().chars() {
            match c {
                // No more than one space, as Markdown would have it.
                c if c.is_whitespace() => {
                    if before != ' ' {
                        f.write_char(' ')?;
                    }
                    before = ' ';
                    continue;
                }
                c if is_unseen(c) => f.write_char('\u{fffd}')?,
                ' ' | ',' | '.' | ';' | '(' | ')' | '?' | '/' | '%' | '\'' => f.write_char(c)?,
                // Between words these are nothing, nor is the last but in addresses, of which rustdoc would have links made.
                '-' | '+' | '=' if before.is_alphanumeric() => f.write_char(c)?,
                ':' if !self.0.contains("://") => f.write_char(c)?,
                c if c.is_ascii_punctuation() => write!(f, "&#{};", u32::from(c))?,
                c => f.write_char(c)?,
            }
            before = c;
        }
        Ok(())
    }
}

/// A name or a piece of Rust in a cell of Markdown: code, where nothing in it could end that.
pub(super) struct Code<'t>(pub(super) &'t str);

impl Display for Code<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ends = |c: char| matches!(c, '`' | '\\') || is_unseen(c);
        match self.0.trim() {
            "" => Ok(()),
            text if text.contains(ends) => write!(f, "{}", Text(text)),
            // The only character that a table removes from code.
            text => write!(f, "`{}`", text.replace('|', "\\|")),
        }
    }
}

/// Whether a character is invisible, or changes the direction of the text after it. `plan_runtime::print` has the same rule, which
/// this crate cannot use, so both lists are kept the same by hand.
fn is_unseen(c: char) -> bool {
    is_ignorable(c) || !is_printable(c)
}

/// Letters, marks and a pattern without dots that are shown as nothing.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character is not a control, format, private or unassigned one, and does not end a line: the standard library does not
/// escape it. At the beginning of a text, it escapes marks, too.
fn is_printable(c: char) -> bool {
    let is_quote = matches!(c, '\\' | '\'' | '"');
    let is_space = c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    let text = String::from_iter(['a', c]);
    is_quote || is_space || text.escape_debug().eq(['a', c])
}
