//! Labels of boxes, and the size that a label needs.

use crate::text::cut_middle;
use unicode_width::UnicodeWidthStr;

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
    cut_middle(&text.trim().replace('\n', " "), most)
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
        assert!(letters(&long) <= 24 && long.contains('…'), "{long}");
        assert_eq!(
            cut_small("for each: email_send, event_book")
                .chars()
                .count(),
            32
        );
        // Names that differ only at their ends stay different.
        let [january, february] =
            ["january", "february"].map(|of| cut(&format!("summarize_orders_of_{of}")));
        assert_eq!(january, "summarize_or…_of_january");
        assert_eq!(february, "summarize_or…of_february");
        // A cut separates no mark from its letter.
        let marks = cut(&"e\u{301}".repeat(40));
        assert_eq!(
            marks,
            format!("{}…{}", "e\u{301}".repeat(12), "e\u{301}".repeat(11))
        );
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let families = cut(&family.repeat(40));
        assert_eq!(families.replace(family, ""), "…");
        // The time of a cut does not grow with the square of the marks.
        let marked = format!("{}e{}", "x".repeat(40), "\u{301}".repeat(400_000));
        assert_eq!(cut(&marked), format!("{}…", "x".repeat(23)));
        let long = "x".repeat(1000);
        assert!((width(&long, "y") - width("y", &long)).abs() < 5.0);
        assert_eq!(width("", ""), 96.0);
    }
}
