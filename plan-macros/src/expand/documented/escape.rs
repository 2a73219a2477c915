//! Strings for Markdown and HTML, escaped so that they contain no markup and end no cell or line.

use plan_graph::is_unseen;
use std::fmt::{Display, Formatter, Result, Write};

/// A string on one line. A character that could be markup is written as a numeric character reference, which Markdown
/// and HTML both decode.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut before = ' ';
        for c in self.0.trim().chars() {
            match c {
                // Markdown merges spaces as well.
                c if c.is_whitespace() => {
                    if before != ' ' {
                        f.write_char(' ')?;
                    }
                    before = ' ';
                    continue;
                }
                c if is_unseen(c) => f.write_char('\u{fffd}')?,
                ' ' | ',' | '.' | ';' | '(' | ')' | '?' | '/' | '%' | '\'' => f.write_char(c)?,
                // Between words these characters are no markup. A `:` matters only in a URL, because rustdoc warns about
                // bare URLs.
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

/// A name or a piece of Rust in a cell of Markdown: as code, unless a character in it would end the code.
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
