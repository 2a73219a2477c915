//! Labels of boxes, and the size that a label needs.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most letters of a label.
const LETTERS: usize = 24;
/// The height of a box with two lines, in pixels.
pub const HEIGHT: f64 = 44.0;

/// Returns the width of a string, in letters.
fn letters(text: &str) -> usize {
    text.width()
}

/// Returns a string on one line, cut to the length of a label.
pub fn cut(text: &str) -> String {
    let text = text.trim().replace('\n', " ");
    if letters(&text) <= LETTERS {
        return text;
    }
    let mut room = LETTERS;
    let fits = |c: &char| {
        room = room.saturating_sub(c.width().unwrap_or(1));
        room > 0
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}

/// Returns the width of a box, in pixels, for two lines that are [`cut`]: a bold one of 13 pixels beside an icon, and
/// one of 11.5 pixels below.
pub fn width(id: &str, what: &str) -> f64 {
    let id = letters(&cut(id)) as f64 * 8.2 + 44.0;
    let what = letters(&cut(what)) as f64 * 6.8 + 26.0;
    id.max(what).max(96.0).ceil()
}

#[cfg(test)]
mod tests {
    use super::{cut, letters, width};

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(cut(" two\nlines "), "two lines");
        let long = cut(&"字".repeat(40));
        assert!(letters(&long) <= 25 && long.ends_with('…'), "{long}");
        assert!(width(&"x".repeat(1000), "y") < 300.0);
        assert_eq!(width("", ""), 96.0);
    }
}
