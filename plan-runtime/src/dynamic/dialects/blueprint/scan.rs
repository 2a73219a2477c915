//! `${step[0].data[0].id}`

use crate::dynamic::dialects::references::path::{self, NameSyntax};
use crate::dynamic::dialects::references::{
    Mark, Notation, Piece, ReferenceTarget, Scan, ScanError, ScannedReference, Style, Target,
    escaped, is_wrapped, named, no_part,
};
use std::ops::Range;

pub(super) const MARK: Mark = Mark::new(OPEN, CLOSE);
pub(super) const WRAPPERS: &[&str] = &["data", "result"];
const OPEN: &str = "${";
const CLOSE: &str = "}";

/// Scans for `${step[0].data[0].id}`, as a whole string or inside a longer one. `known` returns `true` for the name of
/// a value.
pub(super) fn scan<'t>(text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
    Scan::embedded(text, OPEN, &|text, start| piece(text, start, known), &plain)
}

/// Adds the characters between references, which may contain malformed references.
fn plain<'t>(scan: &mut Scan<'t>, text: &'t str, range: Range<usize>) {
    let part = &text[range.clone()];
    scan.text(part);
    for mark in ["step[", "steps["] {
        for (found, _) in part.match_indices(mark) {
            let before = &part[..found];
            let open = before.trim_end_matches(['$', '{', '(']);
            let inner = &part[found + mark.len()..];
            let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
            if open.len() < before.len() && digits > 0 && inner[digits..].starts_with(']') {
                // The reference ends before the start of the next reference, so that no character is read twice.
                let end = inner.find(['}', ')', ' ', '$', '{', '(']);
                let end = end.unwrap_or(inner.len());
                let closed = inner[end..].starts_with(['}', ')', ' ']);
                let rest = &inner[..end];
                let close = found + mark.len() + end + usize::from(closed);
                let range = range.start + open.len()..range.start + close;
                let message = format!("`{}` is not a reference to a step", &text[range.clone()]);
                scan.scan_errors.push(
                    ScanError::new(range, message)
                        .help(format!("did you mean `${{step[{rest}}}`?")),
                );
            }
        }
    }
}

fn piece<'t>(
    text: &'t str,
    start: usize,
    known: &dyn Fn(&str) -> bool,
) -> Result<(Piece<'t>, usize), Box<ScanError>> {
    let inner = start + OPEN.len();
    // An error about the whole reference underlines the string up to the closing brace.
    let whole = start
        ..text[inner..]
            .find('}')
            .map_or(text.len(), |close| inner + close + 1);
    if let Some(literal) = escaped(text, inner, CLOSE, &whole) {
        return literal;
    }
    let step = head(text, inner, "step[");
    let value = || {
        let (name, end) = path::name(text, inner, NameSyntax::Wide);
        known(&name).then_some((Target::Id(name), end))
    };
    let Some((target, end)) = step.or_else(value) else {
        return Err(Box::new(no_head(text, whole)));
    };
    let path = path::read(text, end, NameSyntax::Wide);
    let (mut path, at) = path.map_err(|scan_error| Box::new(scan_error.in_reference(true)))?;
    if !text[at..].starts_with('}') {
        return Err(Box::new(match text[at..].chars().next() {
            None => {
                let help = format!("did you mean `{}}}`?", &text[whole.clone()]);
                ScanError::new(whole, "the reference is not closed with `}`").help(help)
            }
            Some(sign) => ScanError::new(start..at + sign.len_utf8(), no_part(sign))
                .help(r#"write a key with such characters in quotes: `["odd key"]`"#),
        }));
    }
    let written = &text[start..at + 1];
    if !is_wrapped(&path, WRAPPERS) {
        let scan_error = ScanError::new(
            start..at + 1,
            format!("`{written}` has no `.data` after `{}`", &text[inner..end]),
        )
        .in_reference(!path.is_empty());
        return Err(scan_error
            .help(format!(
                "did you mean `{}.data{}`?",
                &text[start..end],
                &text[end..at + 1]
            ))
            .into());
    }
    path.remove(0);
    let written = ScannedReference {
        text: written,
        range: start..at + 1,
        target,
        named: inner..end,
        path,
        compat_only: None,
    };
    Ok((Piece::Reference(written), at + 1))
}

/// Reads `step[0]`, with another word for `step[`, and returns its end.
fn head(text: &str, at: usize, open: &str) -> Option<(Target, usize)> {
    let rest = text[at..].strip_prefix(open)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let index = rest[..digits].parse().ok()?;
    let rest = rest[digits..].strip_prefix(']')?;
    Some((Target::Index(index), text.len() - rest.len()))
}

fn no_head(text: &str, whole: Range<usize>) -> ScanError {
    let written = &text[whole.clone()];
    let inner = written[OPEN.len()..].trim_end_matches('}');
    let plain: String = inner.split_whitespace().collect();
    let plain = plain
        .strip_prefix("steps[")
        .map_or(plain.clone(), |rest| format!("step[{rest}"));
    let scan_error = ScanError::new(whole, format!("`{written}` is not a reference to a step"));
    if head(&plain, 0, "step[").is_some() {
        return scan_error.help(format!("did you mean `${{{plain}}}`?"));
    }
    scan_error.general().help(format!(
        "a reference is `${{step[0].data…}}`; to keep the text, write `{}`",
        MARK.literal(written)
    ))
}

/// Returns the notation of references to a step or a value: with `.data`, or with `.result` like the `written`
/// reference.
pub(super) fn style(to: ReferenceTarget<'_>, written: &str) -> Option<Style> {
    let name = match to {
        ReferenceTarget::Step(index, _) => format!("step[{index}]"),
        ReferenceTarget::Value(name) | ReferenceTarget::Local(_, name) => {
            named(NameSyntax::Wide, name)
        }
        ReferenceTarget::Input(_) => return None,
    };
    let result = format!("{OPEN}{name}.result");
    let head = if written.starts_with(&result) {
        result
    } else {
        format!("{OPEN}{name}.data")
    };
    Some(Style {
        head,
        names: NameSyntax::Wide,
        notation: Notation::Brackets,
        skipped: 0,
        close: CLOSE,
    })
}

/// Reads `step[0]`, or a malformed form of it, and returns its end.
pub(super) fn step(text: &str, at: usize) -> Option<(Target, usize)> {
    head(text, at, "step[").or_else(|| head(text, at, "steps["))
}
