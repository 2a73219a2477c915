//! Labels of boxes, and the size that a label needs.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The most letters of the first line of a label, which is bold.
const LETTERS: usize = 24;
/// The most letters of the second line, which is as long and has smaller letters.
const SMALL: usize = 32;
/// The height of a box with two lines, in pixels.
pub const HEIGHT: f64 = 44.0;

/// Returns the width of a string, in letters.
fn letters(text: &str) -> usize {
    text.width()
}

/// Returns the first line of a label, cut to the length of a label.
pub fn cut(text: &str) -> String {
    within(text, LETTERS)
}

/// Returns the second line of a label, cut to the length of a label.
pub fn cut_small(text: &str) -> String {
    within(text, SMALL)
}

fn within(text: &str, most: usize) -> String {
    let text = text.trim().replace('\n', " ");
    if letters(&text) <= most {
        return text;
    }
    let mut room = most;
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
    let what = letters(&cut_small(what)) as f64 * 6.8 + 26.0;
    id.max(what).max(96.0).ceil()
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_small, letters, width};

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(cut(" two\nlines "), "two lines");
        let long = cut(&"字".repeat(40));
        assert!(letters(&long) <= 25 && long.ends_with('…'), "{long}");
        assert_eq!(
            cut_small("for each: email_send, event_book")
                .chars()
                .count(),
            32
        );
        let long = "x".repeat(1000);
        assert!((width(&long, "y") - width("y", &long)).abs() < 5.0);
        assert_eq!(width("", ""), 96.0);
    }
}
