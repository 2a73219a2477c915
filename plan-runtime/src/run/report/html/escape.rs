//! Escaped text, values and times of a page.

use plan_graph::Safe;
use plan_graph::entity;
use serde_json::Value;
use std::fmt::{Arguments, Display, Formatter, Result, Write};

/// The largest number of characters of a value on a page.
const MOST: usize = 20_000;

/// Appends escaped text. Invisible characters appear as Rust escapes.
pub(super) fn escape(text: Arguments<'_>, out: &mut String) {
    let mut safe = Safe::lines(HtmlEscape(out));
    // Writing to a `String` never fails, but a `Display` may return an error.
    let _ = safe.write_fmt(text);
}

struct HtmlEscape<'e>(&'e mut String);

impl Write for HtmlEscape<'_> {
    fn write_str(&mut self, text: &str) -> Result {
        for c in text.chars() {
            match entity(c) {
                Some(entity) => self.0.push_str(entity),
                None => self.0.push(c),
            }
        }
        Ok(())
    }
}

/// A value as JSON over several lines, truncated if it is long.
pub(super) struct HtmlJson<'v>(pub(super) &'v Value);

impl Display for HtmlJson<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = format!("{:#}", self.0);
        match text.char_indices().nth(MOST) {
            None => f.write_str(&text),
            Some((end, _)) => {
                let more = text[end..].chars().count();
                write!(f, "{}\n… and {more} more characters", &text[..end])
            }
        }
    }
}
