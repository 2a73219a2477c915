//! Strings with references in them, and strings without, as regular expressions.
//!
//! The patterns use the common subset of all regular expression engines: no lookahead, no Unicode classes, no escapes for characters outside of
//! ASCII, and no flags.

use super::super::references::NameSyntax;

/// A string of JSON with any number of characters.
const QUOTED: &str = r#""(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})))*""#;

/// A string of JSON with at least one character.
const QUOTED_NAME: &str = r#""(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:[0-9a-cefA-CEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})))+""#;

/// An index of a list.
pub(crate) const INDEX: &str = "(?:0|[1-9][0-9]{0,8})";

/// A literal dollar sign: alone, or before an amount of money.
const DOLLAR: &str = r#"\$(?:[0-9]+(?:[.,][0-9]+)*)?(?:[ \t\n.,:;!?)%'"/]|$)"#;

/// A literal brace, which no name follows.
const BRACE: &str = r#"\{(?:["'.,:;!?)<>=+*/%#&|\\}\]]|$)"#;

/// Characters of names.
fn names(syntax: NameSyntax) -> &'static str {
    match syntax {
        NameSyntax::Ascii => "[A-Za-z0-9_]",
        NameSyntax::Wide => "[A-Za-z0-9_$@-]",
    }
}

/// Returns the pattern of the name at the start of a reference.
pub(crate) fn name(syntax: NameSyntax) -> String {
    format!(r"(?:{}+|\[{QUOTED_NAME}\])", names(syntax))
}

/// Returns the pattern of the path after a name.
pub(crate) fn path(syntax: NameSyntax) -> String {
    let names = names(syntax);
    format!(r"(?:\.(?:{names}+|\*)|\[(?:{INDEX}|\*|{QUOTED})\])*")
}

/// Matches a JSON string between these marks.
pub(crate) fn literal(open: &str, close: &str) -> String {
    format!("{open}{QUOTED}{close}")
}

/// Returns the pattern of a name that does not begin with this prefix of letters and `_`.
pub(crate) fn name_without(prefix: &str) -> String {
    let names = names(NameSyntax::Wide);
    let bare = |sign: char| match sign {
        '_' => "[A-Za-z0-9$@-]".to_owned(),
        sign => format!("[{}0-9_$@-]", letters_but(sign)),
    };
    let bare = differs(prefix, &bare, &format!("{names}*"));
    // A prefix contains no character with such an escape.
    let escapes = r#"\\(?:["\\/bfnrt]|u00[01][0-9a-fA-F])"#;
    let quoted = |sign: char| format!(r#"(?:[^"\\\x00-\x1f{sign}]|{escapes})"#);
    let quoted = differs(prefix, &quoted, &QUOTED[1..QUOTED.len() - 1]);
    format!(r#"(?:{bare}|\["{quoted}"\])"#)
}

/// Matches a non-empty string that does not begin with a prefix. The string ends within the prefix, or has a different
/// character, which `rest` follows.
fn differs(prefix: &str, other: &dyn Fn(char) -> String, rest: &str) -> String {
    let mut signs = prefix.chars();
    let Some(sign) = signs.next() else {
        return String::new();
    };
    let other_sign = other(sign);
    match signs.as_str() {
        "" => format!("(?:{other_sign}{rest})"),
        after => {
            let after = differs(after, other, rest);
            format!("(?:{other_sign}{rest}|{sign}{after}?)")
        }
    }
}

/// Matches all ASCII letters except this one.
fn letters_but(sign: char) -> String {
    let mut classes = String::new();
    for (first, last) in [('A', 'Z'), ('a', 'z')] {
        if !(first..=last).contains(&sign) {
            classes += &format!("{first}-{last}");
            continue;
        }
        let step = |by: i32| char::from_u32((sign as i32 + by) as u32).unwrap_or(sign);
        if sign > first {
            classes += &format!("{first}-{}", step(-1));
        }
        if sign < last {
            classes += &format!("{}-{last}", step(1));
        }
    }
    classes
}

/// Matches a string without any part that looks like a reference, except for characters with a class of their own.
pub(crate) fn plain(class: &str) -> String {
    format!("(?:{class}|{DOLLAR}|{BRACE})")
}

/// Matches the possible continuations after a character that begins a reference.
pub(crate) fn marks() -> String {
    format!("{DOLLAR}|{BRACE}")
}

/// Returns a pattern that matches a whole string.
pub(crate) fn whole(pattern: &str) -> String {
    format!("^(?:{pattern})$")
}
