use super::path::{self, Names};
use super::{Flaw, Piece, Scan, Target, Written, no_part, quote, quoted};
use crate::plan::Segment;
use std::ops::Range;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";
pub(in crate::dynamic) const INPUT: &str = "PLACEHOLDER_";

/// `{{inbox.result.data[0].id}}` and `{{PLACEHOLDER_reply}}`, alone or inside a text.
pub(super) fn scan<'t>(text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
    Scan::embedded(text, OPEN, &piece, &|scan, text, range| {
        plain(scan, text, range, known);
    })
}

/// What stands between references, where `{inbox.result.id}` looks like one.
fn plain<'t>(
    scan: &mut Scan<'t>,
    text: &'t str,
    range: Range<usize>,
    known: &dyn Fn(&str) -> bool,
) {
    let part = &text[range.clone()];
    scan.text(part);
    for (open, _) in part.match_indices('{') {
        let inner = part[open + 1..].trim_start();
        let id = &inner[..Names::Wide.end(inner, 0)];
        if inner[id.len()..].starts_with(".result") && known(id) {
            // Not beyond what opens the next one, so that each part is looked at once.
            let rest = &part[open + 1..];
            let close = rest.find(['{', '}']).unwrap_or(rest.len());
            let end = open + 1 + close + usize::from(rest[close..].starts_with('}'));
            let path = part[open + 1..end].trim_end_matches('}').trim();
            let place = range.start + open..range.start + end;
            scan.flaws.push(
                Flaw::new(place, "a reference stands in two braces")
                    .help(format!("did you mean `{{{{{path}}}}}`?")),
            );
        }
    }
}

fn piece(text: &str, start: usize) -> Result<(Piece<'_>, usize), Box<Flaw>> {
    let inner = start + OPEN.len();
    let whole = start..end_of(text, inner);
    if text[inner..].starts_with('"') {
        return match quoted(text, inner) {
            Some((literal, end)) if text[end..].starts_with(CLOSE) => {
                Ok((Piece::Text(literal.into()), end + CLOSE.len()))
            }
            _ => Err(Flaw::new(whole, "this is neither a reference nor a string of JSON").into()),
        };
    }
    let (id, end) = match path::key(text, inner) {
        Some(found) => found,
        None => {
            let end = Names::Wide.end(text, inner);
            (text[inner..end].to_owned(), end)
        }
    };
    let (mut path, at) = path::read(text, end, Names::Wide)
        .map_err(|flaw| not_closed(text, &whole).unwrap_or(flaw))?;
    if id.is_empty() || !text[at..].starts_with(CLOSE) {
        return Err(
            not_closed(text, &whole).unwrap_or_else(|| Box::new(malformed(text, whole, at)))
        );
    }
    let range = start..at + CLOSE.len();
    let written = &text[range.clone()];
    let mut lacks = None;
    let target = match id.strip_prefix(INPUT) {
        Some("") => {
            let message = "the name of an input is missing behind `PLACEHOLDER_`";
            return Err(Flaw::new(range, message).into());
        }
        Some(name) => {
            if !path.is_empty() {
                let flaw = Flaw::new(end..at, "an input is given as a whole, and has no path");
                return Err(flaw.help(format!("write `{{{{{id}}}}}`")).into());
            }
            Target::Input(name.to_owned())
        }
        _ => {
            if matches!(path.first(), Some(Segment::Key(key, _)) if key == "result") {
                path.remove(0);
            } else {
                let message = format!("`{written}` does not say that it reads the step's output");
                let meant = format!("{{{{{}.result{}", &text[inner..end], &text[end..range.end]);
                let flaw = Flaw::new(range.clone(), message).general();
                lacks = Some(flaw.help(format!(
                    "did you mean `{meant}`? To keep the text, write `{}`",
                    literal(written)
                )));
            }
            Target::Id(id)
        }
    };
    let end_of_piece = range.end;
    let written = Written {
        text: written,
        range,
        target,
        named: inner..end,
        path,
        lacks,
    };
    Ok((Piece::Reference(written), end_of_piece))
}

/// Where what begins with `{{` is meant to end.
fn end_of(text: &str, inner: usize) -> usize {
    let rest = &text[inner..];
    let next = rest.find(OPEN).unwrap_or(rest.len());
    match rest[..next].find(CLOSE) {
        Some(close) => inner + close + CLOSE.len(),
        None => inner + rest[..next].find('}').map_or(next, |close| close + 1),
    }
}

fn not_closed(text: &str, whole: &Range<usize>) -> Option<Box<Flaw>> {
    let written = &text[whole.clone()];
    if written.ends_with(CLOSE) {
        return None;
    }
    let path = written[OPEN.len()..].trim_end_matches('}').trim();
    let flaw = Flaw::new(whole.clone(), "the reference is not closed with `}}`");
    Some(Box::new(if path.contains(char::is_whitespace) {
        flaw.help(format!("to keep the text, write `{}`", literal(OPEN)))
    } else {
        flaw.help(format!("did you mean `{{{{{path}}}}}`?"))
    }))
}

fn malformed(text: &str, whole: Range<usize>, at: usize) -> Flaw {
    let written = &text[whole.clone()];
    let inner = written[OPEN.len()..].trim_end_matches('}');
    let plain = inner.trim();
    if plain != inner && !plain.is_empty() && plain.chars().all(|c| !c.is_whitespace()) {
        let literal = literal(written);
        let help = if plain.contains(".result") || plain.starts_with(INPUT) {
            format!("did you mean `{{{{{plain}}}}}`? To keep the text, write `{literal}`")
        } else {
            format!("to keep the text, write `{literal}`")
        };
        let flaw = Flaw::new(whole, "a reference has no spaces in it");
        return flaw.general().help(help);
    }
    let message = match text[at..].chars().next() {
        Some(sign) if !plain.is_empty() && !text[at..].starts_with(CLOSE) => no_part(sign),
        _ => "the id of a step is missing".to_owned(),
    };
    let help = format!(
        "a reference is `{{{{id.result…}}}}`; to keep the text, write `{}`",
        literal(written)
    );
    Flaw::new(whole, message).help(help)
}

/// How text is written that is no reference.
pub(super) fn literal(text: &str) -> String {
    format!("{{{{{}}}}}", quote(text))
}
