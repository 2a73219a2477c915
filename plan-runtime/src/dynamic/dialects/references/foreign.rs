//! References in the forms of other dialects, and malformed references.

use super::path::{self, NameSyntax};
use super::{Mark, Piece, Places, Scan, ScannedReference, Target, is_wrapped};
use crate::dynamic::Dialect;
use std::ops::Range;
use std::sync::LazyLock;

/// The marks of a reference in a string.
struct ReferenceSyntax {
    mark: Mark,
    /// The dialect that has this form.
    dialect: Option<Dialect>,
    /// The requirements besides the mark and a name, since such marks have other uses.
    needs: Needs,
}

#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    /// A path after the name.
    Path,
    /// A path, and no other characters around the reference.
    PathAlone,
}

/// The largest number of returned references of one string.
const MOST: usize = 8;

/// The forms. A form comes before the forms that are a prefix of it.
static FORMS: LazyLock<Vec<ReferenceSyntax>> = LazyLock::new(|| {
    let of = |dialect: Dialect| {
        Some(ReferenceSyntax {
            mark: dialect.rules().mark?,
            dialect: Some(dialect),
            needs: Needs::Nothing,
        })
    };
    let mut forms: Vec<ReferenceSyntax> = Dialect::ALL.into_iter().filter_map(of).collect();
    forms.extend(OF_OTHERS);
    forms.sort_by_key(|form| std::cmp::Reverse(form.mark.open.len()));
    forms
});

/// The forms that no dialect has: `{mail.subject}` of `format!`, and `$mail.subject` of shells.
const OF_OTHERS: [ReferenceSyntax; 2] = [
    ReferenceSyntax {
        mark: Mark::new("{", "}"),
        dialect: None,
        needs: Needs::Path,
    },
    ReferenceSyntax {
        mark: Mark::new("$", ""),
        dialect: None,
        needs: Needs::PathAlone,
    },
];

/// A reference in a form that the dialect of the document does not have.
#[derive(Debug)]
pub(crate) struct ForeignReference<'t> {
    /// The equivalent reference, without the parts that other dialects put between a step and its output.
    pub(crate) written: ScannedReference<'t>,
    /// The dialect of the reference, or `None` for a malformed reference.
    pub(crate) of: Option<Dialect>,
}

/// Finds the references in forms of other dialects, outside of this dialect's own references, errors and escapes. `known` returns
/// `true` if the target of a reference exists.
///
/// Returns the first [`MOST`] references, and the number of the others.
///
/// The search takes linear time: no two references share a part of the string, and a string without a reference is skipped
/// after its first part.
pub(crate) fn foreign<'t>(
    dialect: Dialect,
    text: &'t str,
    own: &Scan<'_>,
    known: &dyn Fn(&Target) -> bool,
) -> (Vec<ForeignReference<'t>>, usize) {
    let mut found = Vec::new();
    let mut more = 0;
    let Some(mut start) = mark(text, 0) else {
        return (found, more);
    };
    let own = own.taken();
    loop {
        let written = match FORMS
            .iter()
            .find(|form| text[start..].starts_with(form.mark.open))
        {
            // The dialect itself reports references of its own form.
            Some(form) if form.dialect == Some(dialect) => None,
            Some(form) => read(form, text, start).map(|written| (form, written)),
            None => None,
        };
        let mut next = start + 1;
        if let Some((form, written)) = written
            && known(&written.target)
            && !overlaps(&own, &written.range)
        {
            next = written.range.end;
            let of = form.dialect.filter(|other| is_of(*other, text, &written));
            if found.len() < MOST {
                found.push(ForeignReference { written, of });
            } else {
                more += 1;
            }
        }
        match mark(text, next) {
            Some(mark) => start = mark,
            None => return (found, more),
        }
    }
}

/// Reads a reference without the marks of any dialect, such as `mail.from`.
pub(crate) fn unmarked(text: &str) -> Option<ScannedReference<'_>> {
    const SYNTAX: ReferenceSyntax = ReferenceSyntax {
        mark: Mark::new("", ""),
        dialect: None,
        needs: Needs::Nothing,
    };
    let mut read = read(&SYNTAX, text, 0).filter(|read| read.range == (0..text.len()))?;
    if is_wrapped(&read.path, &["result"]) {
        read.path.remove(0);
    }
    Some(read)
}

/// Returns the reference in the form of this dialect at a position of a string, with a target in the notation of any
/// dialect.
pub(crate) fn meant(dialect: Dialect, text: &str, at: usize) -> Option<ScannedReference<'_>> {
    let mut forms = FORMS.iter();
    let form = forms.find(|form| form.dialect == Some(dialect))?;
    text[at..]
        .starts_with(form.mark.open)
        .then(|| read(form, text, at))?
}

/// Returns the first position from `at` on where a form can begin.
fn mark(text: &str, at: usize) -> Option<usize> {
    let is_start = |byte: &u8| {
        FORMS
            .iter()
            .any(|form| form.mark.open.as_bytes()[0] == *byte)
    };
    let rest = text.as_bytes().get(at..)?;
    rest.iter().position(is_start).map(|mark| at + mark)
}

/// Returns `true` if a range in this sorted list overlaps with the given range.
fn overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = ranges.partition_point(|taken| taken.end <= range.start);
    ranges.get(first).is_some_and(|it| it.start < range.end)
}

fn read<'t>(form: &ReferenceSyntax, text: &'t str, start: usize) -> Option<ScannedReference<'t>> {
    if form.needs == Needs::PathAlone && start > 0 {
        return None;
    }
    let skip = |at: usize| match form.mark.close {
        "" => at,
        _ => text.len() - text[at..].trim_start().len(),
    };
    let inner = skip(start + form.mark.open.len());
    let (target, end) = target(text, inner)?;
    let (mut path, at) = match path::read(text, end, NameSyntax::Wide) {
        Ok(read) => read,
        // A reference without a closing mark may be followed by other characters.
        Err(scan_error) if form.mark.close.is_empty() => {
            path::read(&text[..scan_error.range.start], end, NameSyntax::Wide).ok()?
        }
        Err(_) => return None,
    };
    let close = skip(at);
    let range = if text[close..].starts_with(form.mark.close) {
        start..close + form.mark.close.len()
    } else {
        return None;
    };
    // `{3.14}`, `$5.00`
    if form.dialect.is_none() && matches!(&target, Target::Id(id) if super::is_number(id)) {
        return None;
    }
    let is_marked = !path.is_empty() || !matches!(target, Target::Id(_));
    let is_enough = match form.needs {
        Needs::Nothing => true,
        Needs::Path => is_marked,
        Needs::PathAlone => is_marked && range == (0..text.len()),
    };
    if !is_enough {
        return None;
    }
    let members: &[&str] = match (&target, form.mark) {
        (Target::Index(_), _) | (Target::Id(_), Mark { open: "${", .. }) => &["data", "result"],
        (Target::Id(_), Mark { close: "", .. }) | (Target::Input(_), _) => &[],
        (Target::Id(_), _) => &["result"],
    };
    if is_wrapped(&path, members) {
        path.remove(0);
    }
    Some(ScannedReference {
        text: &text[range.clone()],
        range,
        target,
        named: inner..end,
        path,
        compat_only: None,
    })
}

/// Reads `step[0]`, `PLACEHOLDER_reply`, `mail` or `["the mail"]`, and returns its end.
fn target(text: &str, at: usize) -> Option<(Target, usize)> {
    let mut dialects = Dialect::ALL.into_iter();
    let of_dialect = dialects.find_map(|dialect| (dialect.rules().target)(text, at));
    of_dialect.or_else(|| {
        let (name, end) = path::name(text, at, NameSyntax::Wide);
        (!name.is_empty()).then_some((Target::Id(name), end))
    })
}

/// Returns `true` for a valid reference of this dialect.
fn is_of(dialect: Dialect, text: &str, written: &ScannedReference<'_>) -> bool {
    if matches!(written.target, Target::Input(_)) {
        return false;
    }
    let alone = written.range == (0..text.len());
    let scan = (dialect.rules().scan)(written.text, &|_| false);
    let is_same = |piece: &Piece<'_>| matches!(piece, Piece::Reference(it) if it.compat_only.is_none() && it.target == written.target);
    let sound = scan.scan_errors.is_empty() && scan.pieces.iter().all(is_same);
    sound && scan.is_whole() && (alone || dialect.rules().places != Places::Whole)
}
