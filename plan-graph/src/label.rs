//! What is written in a box, and how much room it takes.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many letters a box has room for.
const LETTERS: usize = 24;
/// How high a box is that has two lines of text.
pub const HEIGHT: f64 = 44.0;

/// How wide the letters of a text are, counted in letters.
fn letters(text: &str) -> usize {
    text.width()
}

/// A text on one line, its end cut off where a box has no room for it.
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

/// How wide a box is, for what of two texts is left once they are [`cut`]: a bold one of 13 pixels, which has an icon beside it, and one
/// of 11.5 pixels below.
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
