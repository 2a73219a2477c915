//! Text in HTML: nothing in it is ever markup.

use crate::print::Safe;
use serde_json::Value;
use std::fmt::{Display, Formatter, Result, Write};
use std::time::Duration;

/// How many characters of a value are shown.
const MOST: usize = 20_000;

/// A text between tags, or in an attribute's double quotes. What people would not see is there as Rust escapes it.
pub(super) struct Text<T>(pub(super) T);

impl<T: Display> Display for Text<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(Safe::lines(Escape(f)), "{}", self.0)
    }
}

struct Escape<'e, 'f>(&'e mut Formatter<'f>);

impl Write for Escape<'_, '_> {
    fn write_str(&mut self, text: &str) -> Result {
        for c in text.chars() {
            match c {
                '&' => self.0.write_str("&amp;")?,
                '<' => self.0.write_str("&lt;")?,
                '>' => self.0.write_str("&gt;")?,
                '"' => self.0.write_str("&quot;")?,
                '\'' => self.0.write_str("&#39;")?,
                c => self.0.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A value as JSON over several lines, its end cut off where it is long.
pub(super) struct Json<'v>(pub(super) &'v Value);

impl Display for Json<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = format!("{:#}", self.0);
        match text.char_indices().nth(MOST) {
            None => write!(f, "{}", Text(text)),
            Some((end, _)) => {
                let more = text[end..].chars().count();
                write!(f, "{}\n… and {more} more characters", Text(&text[..end]))
            }
        }
    }
}

/// A time in the unit that suits it.
pub(super) struct Time(pub(super) Duration);

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let millis = self.0.as_secs_f64() * 1e3;
        match millis {
            0.0 => f.write_str("0"),
            ..0.095 => write!(f, "{:.0} µs", millis * 1e3),
            ..9.95 => write!(f, "{millis:.1} ms"),
            ..999.5 => write!(f, "{millis:.0} ms"),
            ..59_995.0 => write!(f, "{:.2} s", millis / 1e3),
            _ => {
                let seconds = self.0.as_secs_f64().round() as u64;
                match seconds / 3600 {
                    0 => write!(f, "{} min {} s", seconds / 60, seconds % 60),
                    hours => write!(f, "{hours} h {} min", seconds % 3600 / 60),
                }
            }
        }
    }
}
