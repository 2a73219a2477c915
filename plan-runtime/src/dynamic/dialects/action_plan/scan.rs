//! `{{inbox.result.data[0].id}}` and `{{PLACEHOLDER_reply}}`.

use crate::dynamic::dialects::references::path::{self, NameSyntax};
use crate::dynamic::dialects::references::{
    Mark, Notation, Piece, ReferenceTarget, Scan, ScanError, ScannedReference, Style, Target,
    escaped, is_wrapped, named, no_part,
};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::{Segment, Selector};
use plan_graph::similar;
use std::collections::HashSet;
use std::ops::Range;

pub(super) const MARK: Mark = Mark::new(OPEN, CLOSE);
const OPEN: &str = "{{";
const CLOSE: &str = "}}";
/// The prefix of input names.
const INPUT: &str = "PLACEHOLDER_";

/// Scans for `{{inbox.result.data[0].id}}` and `{{PLACEHOLDER_reply}}`, as a whole string or inside a longer one.
pub(super) fn scan<'t>(text: &'t str, known: &dyn Fn(&str) -> bool) -> Scan<'t> {
    Scan::embedded(
        text,
        OPEN,
        &|text, start| piece(text, start, known),
        &|scan, text, range| plain(scan, text, range, known),
    )
}

/// Adds the characters between references, where `{inbox.result.id}` is a malformed reference.
fn plain<'t>(
    scan: &mut Scan<'t>,
    text: &'t str,
    range: Range<usize>,
    known: &dyn Fn(&str) -> bool,
) {
    let part = &text[range.clone()];
    scan.text(part);
    // `${{a.result.id}}` of other systems.
    if part.ends_with('$') && text[range.end..].starts_with(OPEN) {
        let dollar = range.end - 1..range.end;
        let end = end_of(text, range.end + OPEN.len());
        let help = format!("did you mean `{}`?", &text[range.end..end]);
        let scan_error = ScanError::new(dollar, "a reference is written without `$`");
        scan.scan_errors.push(scan_error.general().help(help));
    }
    if range == (0..text.len()) {
        scan.scan_errors.extend(of_arazzo(text, known));
    }
    for (open, _) in part.match_indices('{') {
        let inner = part[open + 1..].trim_start();
        let id = &inner[..NameSyntax::Wide.end(inner, 0)];
        if inner[id.len()..].starts_with(".result") && known(id) {
            // The reference ends before the next opening brace, so that no character is read twice.
            let rest = &part[open + 1..];
            let close = rest.find(['{', '}']).unwrap_or(rest.len());
            let end = open + 1 + close + usize::from(rest[close..].starts_with('}'));
            let path = part[open + 1..end].trim_end_matches('}').trim();
            let place = range.start + open..range.start + end;
            scan.scan_errors.push(
                ScanError::new(place, "a reference is written in double braces")
                    .help(format!("did you mean `{{{{{path}}}}}`?")),
            );
        }
    }
}

/// `$steps.a.outputs.id`
fn of_arazzo(text: &str, known: &dyn Fn(&str) -> bool) -> Option<ScanError> {
    let rest = text.strip_prefix("$steps.")?;
    let (name, end) = path::name(rest, 0, NameSyntax::Wide);
    let (path, at) = path::read(rest, end, NameSyntax::Wide).ok()?;
    let mut all = vec![Segment::new(Selector::Key(name))];
    all.extend(path);
    let meant = meant("steps", &all, known).filter(|_| at == rest.len())?;
    let message = format!("`{text}` is not in double braces");
    let scan_error = ScanError::new(0..text.len(), message);
    Some(scan_error.help(format!("did you mean `{meant}`?")))
}

fn piece<'t>(
    text: &'t str,
    start: usize,
    known: &dyn Fn(&str) -> bool,
) -> Result<(Piece<'t>, usize), Box<ScanError>> {
    let inner = start + OPEN.len();
    let whole = start..end_of(text, inner);
    if let Some(literal) = escaped(text, inner, CLOSE, &whole) {
        return literal;
    }
    let (id, end) = path::name(text, inner, NameSyntax::Wide);
    let (mut path, at) = path::read(text, end, NameSyntax::Wide)
        .map_err(|scan_error| not_closed(text, &whole).unwrap_or(scan_error))?;
    if id.is_empty() || !text[at..].starts_with(CLOSE) {
        return Err(
            not_closed(text, &whole).unwrap_or_else(|| Box::new(malformed(text, whole, at, known)))
        );
    }
    let range = start..at + CLOSE.len();
    let written = &text[range.clone()];
    let mut compat_only = None;
    let target = match id.strip_prefix(INPUT) {
        Some("") => {
            let message = "the name of an input is missing after `PLACEHOLDER_`";
            return Err(ScanError::new(range, message).into());
        }
        Some(name) => {
            if !path.is_empty() {
                let scan_error = ScanError::new(
                    end..at,
                    "an input is inserted as a whole, so it cannot have a path",
                );
                return Err(scan_error.help(format!("write `{{{{{id}}}}}`")).into());
            }
            Target::Input(name.to_owned())
        }
        _ => {
            if is_wrapped(&path, &["result"]) {
                path.remove(0);
            } else {
                let message = match marked(&id) {
                    Some(mark) if !known(&id) => format!("`{mark}` is not `{INPUT}`"),
                    _ if known(&id) || !path.is_empty() => {
                        format!("`{written}` has no `.result` after `{}`", &text[inner..end])
                    }
                    _ => format!("`{written}` is neither a step nor an input"),
                };
                let scan_error = ScanError::new(range.clone(), message);
                let (scan_error, meant) = match meant(&id, &path, known) {
                    Some(meant) => (scan_error, meant),
                    None => {
                        let form = with_result(written, end - start, (&id, &path), known);
                        (scan_error.general(), form)
                    }
                };
                compat_only = Some(scan_error.help(format!(
                    "did you mean `{meant}`? To keep the text, write `{}`",
                    MARK.literal(written)
                )));
            }
            Target::Id(id)
        }
    };
    let end_of_piece = range.end;
    let written = ScannedReference {
        text: written,
        range,
        target,
        named: inner..end,
        path,
        compat_only,
    };
    Ok((Piece::Reference(written), end_of_piece))
}

/// Returns the reference that other languages write as `{{steps.a.outputs.x}}`, `{{a.output.x}}` or `{{inputs.x}}`.
fn meant(id: &str, path: &[Segment], known: &dyn Fn(&str) -> bool) -> Option<String> {
    let key = |segment: &Segment| match &segment.selector {
        Selector::Key(key) => Some(key.clone()),
        _ => None,
    };
    let first = key(path.first()?)?;
    let is_output = |key: &str| {
        matches!(key, "output" | "outputs" | "result") || similar(key, ["result"]).is_some()
    };
    let step = |name: &str, path: &[Segment]| {
        let rest = match path.first().and_then(key) {
            Some(first) if is_output(&first) => &path[1..],
            _ => path,
        };
        style(ReferenceTarget::Step(0, name)).write(rest)
    };
    match id {
        _ if known(id) => (is_output(&first) && path.len() > 1).then(|| step(id, path)),
        "step" | "steps" if known(&first) => Some(step(&first, &path[1..])),
        "input" | "inputs" if path.len() == 1 => {
            Some(style(ReferenceTarget::Input(&first)).write(&[]))
        }
        _ => None,
    }
}

/// Returns the probable form of a reference without `.result`. The id ends at the position `end`.
fn with_result(
    written: &str,
    end: usize,
    (id, path): (&str, &[Segment]),
    known: &dyn Fn(&str) -> bool,
) -> String {
    // Only an input has the name.
    let input = input_of(id).filter(|_| path.is_empty() && !known(id));
    input.unwrap_or_else(|| format!("{}.result{}", &written[..end], &written[end..]))
}

/// Returns the input that a name without a value may mean.
fn input_of(name: &str) -> Option<String> {
    let name = marked(name).map_or(name, |mark| &name[mark.len()..]);
    (!name.is_empty() && !name.eq_ignore_ascii_case("placeholder"))
        .then(|| format!("{OPEN}{INPUT}{name}{CLOSE}"))
}

/// Returns the beginning of a name if it is the prefix of input names in another case.
fn marked(name: &str) -> Option<&str> {
    let start = name.get(..INPUT.len());
    start.filter(|start| start.eq_ignore_ascii_case(INPUT))
}

/// Returns the probable end of a reference that begins with `{{`.
fn end_of(text: &str, inner: usize) -> usize {
    let rest = &text[inner..];
    let next = rest.find(OPEN).unwrap_or(rest.len());
    match rest[..next].find(CLOSE) {
        Some(close) => inner + close + CLOSE.len(),
        None => inner + rest[..next].find('}').map_or(next, |close| close + 1),
    }
}

fn not_closed(text: &str, whole: &Range<usize>) -> Option<Box<ScanError>> {
    let written = &text[whole.clone()];
    if written.ends_with(CLOSE) {
        return None;
    }
    let path = written[OPEN.len()..].trim_end_matches('}').trim();
    let scan_error = ScanError::new(whole.clone(), "the reference is not closed with `}}`");
    Some(Box::new(if path.contains(char::is_whitespace) {
        scan_error.help(format!("to keep the text, write `{}`", MARK.literal(OPEN)))
    } else {
        scan_error.help(format!("did you mean `{{{{{path}}}}}`?"))
    }))
}

fn malformed(
    text: &str,
    whole: Range<usize>,
    at: usize,
    known: &dyn Fn(&str) -> bool,
) -> ScanError {
    let written = &text[whole.clone()];
    let inner = written[OPEN.len()..].trim_end_matches('}');
    let plain = inner.trim();
    if plain != inner && !plain.is_empty() && plain.chars().all(|c| !c.is_whitespace()) {
        let literal = MARK.literal(written);
        let keep = format!("to keep the text, write `{literal}`");
        let help = match without_spaces(plain, known) {
            Some(meant) => format!("did you mean `{meant}`? T{}", &keep[1..]),
            None => keep,
        };
        let scan_error = ScanError::new(whole, "a reference cannot contain spaces");
        return scan_error.general().help(help);
    }
    let message = match text[at..].chars().next() {
        Some(sign) if !plain.is_empty() && !text[at..].starts_with(CLOSE) => no_part(sign),
        _ => "the id of a step is missing".to_owned(),
    };
    let help = format!(
        "a reference is `{{{{id.result…}}}}`; to keep the text, write `{}`",
        MARK.literal(written)
    );
    ScanError::new(whole, message).help(help)
}

/// Returns the right form of a reference with spaces between its braces.
fn without_spaces(plain: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
    let written = format!("{OPEN}{plain}{CLOSE}");
    let (id, end) = path::name(&written, OPEN.len(), NameSyntax::Wide);
    let (path, at) = path::read(&written, end, NameSyntax::Wide).ok()?;
    if id.is_empty() || &written[at..] != CLOSE {
        return None;
    }
    if id.starts_with(INPUT) || is_wrapped(&path, &["result"]) {
        return Some(written);
    }
    let meant = meant(&id, &path, known);
    Some(meant.unwrap_or_else(|| with_result(&written, end, (&id, &path), known)))
}

/// Returns the notation of references.
pub(super) fn style(to: ReferenceTarget<'_>) -> Style {
    let (name, rest, skipped) = match to {
        ReferenceTarget::Step(_, id)
        | ReferenceTarget::Value(id)
        | ReferenceTarget::Local(_, id) => (id.to_owned(), ".result", 0),
        // The dialect has no path into an input.
        ReferenceTarget::Input(input) => (format!("{INPUT}{input}"), "", usize::MAX),
    };
    Style {
        head: format!("{OPEN}{}{rest}", named(NameSyntax::Wide, &name)),
        names: NameSyntax::Wide,
        notation: Notation::Brackets,
        skipped,
        close: CLOSE,
    }
}

/// Reads `PLACEHOLDER_reply`, with or without quotes, and returns its end.
pub(super) fn input(text: &str, at: usize) -> Option<(Target, usize)> {
    let (name, end) = path::name(text, at, NameSyntax::Wide);
    let input = name.strip_prefix(INPUT).filter(|name| !name.is_empty())?;
    Some((Target::Input(input.to_owned()), end))
}

/// Returns the names of inputs in all references of a document. Intents and descriptions contain no references. A name with escapes is not
/// found, so strings before its first reference lack its finding.
pub(super) fn inputs(document: JsonNode<'_>, longest: usize) -> HashSet<Box<str>> {
    let mut inputs = HashSet::new();
    let mut nodes = vec![document];
    while let Some(node) = nodes.pop() {
        match node.kind() {
            JsonType::String => inputs_in(node.slice(), longest, &mut inputs),
            JsonType::List => nodes.extend(node.each_item()),
            _ => {}
        }
        for (key, value) in node.members() {
            match (key.slice().trim_matches('"'), value.kind()) {
                ("intent" | "description" | "tool_description", JsonType::String) => {}
                // The names in these values are names of the author.
                ("arguments" | "value" | "fallback" | "output", _)
                | ("inputs", JsonType::Object) => inputs_in(value.slice(), longest, &mut inputs),
                _ => nodes.push(value),
            }
        }
    }
    inputs
}

fn inputs_in(json: &str, longest: usize, inputs: &mut HashSet<Box<str>>) {
    for (at, mark) in json.match_indices(INPUT) {
        let rest = &json[at + mark.len()..];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let before = &json[..at];
        let is_open = before.ends_with(OPEN) && !before.ends_with(r#"\"{{"#);
        if is_open && end > 0 && end <= longest && rest[end..].starts_with(CLOSE) {
            inputs.insert(rest[..end].into());
        }
    }
}
