//! Invisible characters.

/// Returns `true` if a character is invisible, ends a line, or changes the direction of later characters.
///
/// With such a character in a string, a reader and a program read different strings.
///
/// ```
/// use plan_graph::is_unseen;
///
/// assert!("\n\u{1b}\u{202e}\u{200b}\u{3164}".chars().all(is_unseen));
/// assert!(!"größe, 名前: \"\\'".chars().any(is_unseen));
/// ```
pub fn is_unseen(c: char) -> bool {
    is_ignorable(c) || !is_printable(c)
}

/// Returns `true` for the invisible characters that the standard library takes for printable: the letters and marks with the property
/// `Default_Ignorable_Code_Point`, and a pattern without dots.
pub(crate) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns `true` for a printable character. The standard library escapes all control, format, private and unassigned characters, and line
/// separators. At the beginning of a string it also escapes marks, so the tested string begins with a letter.
fn is_printable(c: char) -> bool {
    let mut buffer = [b'a'; 5];
    let end = 1 + c.encode_utf8(&mut buffer[1..]).len();
    let is_quote = matches!(c, '\\' | '\'' | '"');
    let is_space = || c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    is_quote
        || std::str::from_utf8(&buffer[..end]).is_ok_and(|text| text.escape_debug().eq(['a', c]))
        || is_space()
}
