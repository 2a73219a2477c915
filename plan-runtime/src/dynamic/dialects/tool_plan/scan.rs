//! `$ref:inbox.data.0.id`

use crate::dynamic::dialects::references::path::{self, NameSyntax};
use crate::dynamic::dialects::references::{
    Mark, Notation, Piece, ReferenceTarget, Scan, ScanError, ScannedReference, Style, Target,
    is_number, named, no_part, quote, quoted,
};

pub(super) const MARK: Mark = Mark::new(OPEN, "");
const OPEN: &str = "$ref:";

/// Scans for a reference such as `$ref:inbox.data.0.id`, which is a whole string.
pub(super) fn scan<'t>(text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
    if !text.starts_with(OPEN) {
        return match near(text, known) {
            Some(scan_error) => Scan::malformed(text, scan_error),
            None => Scan::of_text(text),
        };
    }
    let mut scan = Scan::default();
    if text[OPEN.len()..].starts_with('"') {
        return match quoted(text, OPEN.len()) {
            Some((literal, end)) if end == text.len() => {
                scan.escaped(literal.into(), 0..end);
                scan
            }
            _ => Scan::malformed(
                text,
                ScanError::new(
                    OPEN.len()..text.len(),
                    "the text after `$ref:` is not a JSON string",
                )
                .help(format!("to keep the text, write `{}`", MARK.literal(text))),
            ),
        };
    }
    match reference(text) {
        Ok(written) => {
            scan.pieces.push(Piece::Reference(written));
            scan
        }
        Err(scan_error) => Scan::malformed(text, *scan_error),
    }
}

fn reference(text: &str) -> Result<ScannedReference<'_>, Box<ScanError>> {
    let start = OPEN.len();
    let (id, end) = path::name(text, start, NameSyntax::Ascii);
    if id.is_empty() {
        let rest = &text[start..];
        if rest.starts_with(|sign| NameSyntax::Wide.has(sign)) {
            return Err(left_over(text, start).into());
        }
        let scan_error = ScanError::new(0..text.len(), "the id of a step is missing after `$ref:`");
        let id = rest.trim();
        let help = if id.is_empty() || id == rest {
            "a reference is `$ref:id`, or `$ref:id.field`".to_owned()
        } else {
            format!("did you mean `{OPEN}{id}`?")
        };
        return Err(scan_error.help(help).into());
    }
    // The deployed resolver takes a reference literally only if its error is a dot at the very end.
    let inside = |scan_error: Box<ScanError>| {
        let is_last = scan_error.range == (end..text.len());
        Box::new(scan_error.in_reference(!is_last))
    };
    let (path, at) = path::read(text, end, NameSyntax::Ascii).map_err(inside)?;
    if at < text.len() {
        return Err(Box::new(left_over(text, at)));
    }
    Ok(ScannedReference {
        text,
        range: 0..text.len(),
        target: Target::Id(id),
        named: start..end,
        path,
        compat_only: None,
    })
}

/// Returns the error for the character at `at`, which cannot be part of a reference.
fn left_over(text: &str, at: usize) -> ScanError {
    let sign = text[at..].chars().next().unwrap_or_default();
    let scan_error = |message: String| ScanError::new(at..at + sign.len_utf8(), message);
    let rest = text[at..].trim_start();
    if ["==", "!=", "<", ">"]
        .iter()
        .any(|sign| rest.starts_with(sign))
    {
        let message = "a condition is not written as text".to_owned();
        return scan_error(message)
            .help(r#"a condition is a test, such as `{"compare": […, ">", …]}`"#);
    }
    if !NameSyntax::Wide.has(sign) {
        return scan_error(no_part(sign))
            .help("a `$ref:` must be the whole string: no text can follow it");
    }
    // A name with characters that are only allowed in quotes: `step-1`.
    let before = &text[..at];
    let word = before.rfind(['.', ':']).map_or(0, |start| start + 1);
    let end = NameSyntax::Wide.end(text, at);
    let dot = usize::from(before[..word].ends_with('.'));
    let fixed = format!(
        "{}[{}]{}",
        &text[..word - dot],
        quote(&text[word..end]),
        &text[end..]
    );
    scan_error(format!("`{sign}` is valid only in a name in quotes"))
        .help(format!("did you mean `{fixed}`?"))
}

/// Returns the error of a string that is or contains a malformed reference.
fn near(text: &str, known: &dyn Fn(&str) -> bool) -> Option<ScanError> {
    if let Some((start, behind)) = mark(text) {
        let end = start
            + text[start..]
                .find(char::is_whitespace)
                .map_or(text.len() - start, |space| space.max(behind - start));
        if text[..start].trim().is_empty() {
            let rest = text[behind..].trim();
            let message = format!("`{}` is not `{OPEN}`", text[start..behind].trim());
            return Some(
                ScanError::new(start..end, message).help(format!("did you mean `{OPEN}{rest}`?")),
            );
        }
        return Some(
            ScanError::new(
                start..end,
                "a `$ref:` is not a reference inside a longer text",
            )
            .help(format!(
                "use a tool to join the parts, or, if this is not a reference, write `{}`",
                MARK.literal(text)
            )),
        );
    }
    // `$inbox.data`, `ref:inbox.data`
    let rest = text
        .strip_prefix("ref:")
        .or_else(|| text.strip_prefix('$'))?;
    let end = NameSyntax::Wide.end(rest, 0);
    let is_path = matches!(rest.as_bytes().get(end), None | Some(b'.' | b'['))
        && path::read(rest, end, NameSyntax::Wide).is_ok_and(|(_, end)| end == rest.len())
        // `$5.00` is a price.
        && !is_number(&rest[..end]);
    (is_path && known(&rest[..end])).then(|| {
        let message = format!("`{text}` does not begin with `{OPEN}`");
        ScanError::new(0..text.len(), message).help(format!("did you mean `{OPEN}{rest}`?"))
    })
}

/// Returns the start and the end of a mark similar to `$ref:`.
fn mark(text: &str) -> Option<(usize, usize)> {
    text.match_indices('$').find_map(|(start, _)| {
        let name = text.get(start + 1..start + 4)?;
        let rest = &text[start + 4..];
        let rest = rest.strip_prefix(['s', 'S']).unwrap_or(rest).trim_start();
        let rest = rest.strip_prefix(':')?;
        name.eq_ignore_ascii_case("ref")
            .then_some((start, text.len() - rest.len()))
    })
}

/// Returns the notation of references to a step or a value: with an index after a dot, or in brackets like the `written`
/// reference.
pub(super) fn style(to: ReferenceTarget<'_>, written: &str) -> Option<Style> {
    let id = match to {
        ReferenceTarget::Step(_, id)
        | ReferenceTarget::Value(id)
        | ReferenceTarget::Local(_, id) => id,
        ReferenceTarget::Input(_) => return None,
    };
    Some(Style {
        head: format!("{OPEN}{}", named(NameSyntax::Ascii, id)),
        names: NameSyntax::Ascii,
        notation: if written.contains('[') {
            Notation::Brackets
        } else {
            Notation::Dots
        },
        skipped: 0,
        close: "",
    })
}
