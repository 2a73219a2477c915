//! Format strings: `"{name:>5} and {}"`.

use proc_macro2::Span;
use syn::Ident;

/// A part of a format string.
pub(crate) enum FormatPiece<'t> {
    Text(&'t str),
    /// The text between braces.
    Placeholder(&'t str),
    /// A brace without its pair, which ends the parts.
    Broken,
}

/// Returns the parts of a format string.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = FormatPiece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let brace = rest.chars().next()?;
        let (piece, after) = match rest.find(['{', '}']) {
            Some(0) if rest[1..].starts_with(brace) => (FormatPiece::Text(&rest[..1]), &rest[2..]),
            Some(0) => match rest[1..].split_once('}') {
                Some((inside, after)) if brace == '{' => (FormatPiece::Placeholder(inside), after),
                _ => (FormatPiece::Broken, ""),
            },
            end => {
                let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
                (FormatPiece::Text(text), after)
            }
        };
        rest = after;
        Some(piece)
    })
}

/// Splits the inside of a placeholder into its argument and its specification.
pub(crate) fn parts(placeholder: &str) -> (&str, &str) {
    let (name, spec) = placeholder.split_once(':').unwrap_or((placeholder, ""));
    (name.trim(), spec)
}

/// Returns the name that a placeholder captures.
pub(crate) fn name(text: &str, at: Span) -> Option<Ident> {
    // In the newest edition of Rust, `gen` is a keyword.
    let plain = syn::parse_str(text).ok().filter(|_| text != "gen");
    let mut name: Ident = match plain {
        Some(name) => name,
        None => syn::parse_str(&format!("r#{text}")).ok()?,
    };
    name.set_span(at);
    Some(name)
}

/// Returns the names in the placeholders: values, widths and precisions, which end with `$`.
pub(crate) fn captured(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for piece in pieces(text) {
        let FormatPiece::Placeholder(inside) = piece else {
            continue;
        };
        let (name, spec) = parts(inside);
        names.push(name);
        let mut counts: Vec<&str> = spec.split('$').collect();
        counts.pop();
        for count in counts {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let start = count.trim_end_matches(is_part).len();
            // A `0` before a width asks for zeros.
            names.push(count[start..].trim_start_matches('0'));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::captured;

    #[test]
    fn what_a_format_string_names() {
        for (text, names) in [
            ("", &[][..]),
            ("{a} and {b:?}", &["a", "b"]),
            ("{{a}} {{{b}}} {c}}}", &["b", "c"]),
            ("{} {0} {a:>5}", &["", "0", "a"]),
            (
                "{a:width$} {b:>08.digits$} {c:#0w$.p$x}",
                &["a", "width", "b", "digits", "c", "w", "p"],
            ),
            ("{a:{<5} {b}", &["a", "b"]),
            ("{a", &[]),
        ] {
            assert_eq!(captured(text), names, "{text}");
        }
    }
}
