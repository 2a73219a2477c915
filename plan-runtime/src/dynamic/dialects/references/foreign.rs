//! References in the forms of other dialects, and malformed references.

use super::path::{self, NameSyntax};
use super::{Mark, Piece, Places, Scan, ScannedReference, Target, is_wrapped};
use crate::dynamic::dialects::{Dialect, Rules};
use std::ops::Range;
use std::sync::LazyLock;

/// The marks of a reference in a string.
struct ReferenceSyntax {
    mark: Mark,
    /// The dialect that has this form.
    of: Option<&'static Rules>,
    /// The requirements besides the mark and a name, since such marks have other uses.
    needs: Needs,
}

impl ReferenceSyntax {
    fn of(rules: &'static Rules) -> Option<Self> {
        Some(Self {
            mark: rules.mark?,
            of: Some(rules),
            needs: Needs::Nothing,
        })
    }
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
    let mut forms: Vec<ReferenceSyntax> =
        Dialect::table().filter_map(ReferenceSyntax::of).collect();
    forms.extend(OF_OTHERS);
    forms.sort_by_key(|form| std::cmp::Reverse(form.mark.open.len()));
    forms
});

/// The forms that no dialect has: `{mail.subject}` of `format!`, and `$mail.subject` of shells.
const OF_OTHERS: [ReferenceSyntax; 2] = [
    ReferenceSyntax {
        mark: Mark::new("{", "}"),
        of: None,
        needs: Needs::Path,
    },
    ReferenceSyntax {
        mark: Mark::new("$", ""),
        of: None,
        needs: Needs::PathAlone,
    },
];

/// A reference in a form that the dialect of the document does not have.
pub(crate) struct ForeignReference<'t> {
    /// The equivalent reference, without the parts that other dialects put between a step and its output.
    pub(crate) written: ScannedReference<'t>,
    /// The dialect of the reference, or `None` for a malformed reference.
    pub(crate) of: Option<&'static Rules>,
}

/// Finds the references in forms of other dialects, outside of this dialect's own references, errors and escapes. `known` returns
/// `true` if the target of a reference exists.
///
/// Returns the first [`MOST`] references, and the number of the others.
///
/// The search takes linear time: no two references share a part of the string, and a string without a reference is skipped
/// after its first part.
pub(crate) fn foreign<'t>(
    rules: &Rules,
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
            Some(form) if rules.mark == Some(form.mark) => None,
            Some(form) => read(form, text, start).map(|written| (form, written)),
            None => None,
        };
        let mut next = start + 1;
        if let Some((form, written)) = written
            && known(&written.target)
            && !overlaps(&own, &written.range)
        {
            next = written.range.end;
            let of = form.of.filter(|other| is_of(other, text, &written));
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

/// Returns the reference in the form of this dialect at a position of a string, with a target in the notation of any
/// dialect.
pub(crate) fn meant<'t>(
    rules: &'static Rules,
    text: &'t str,
    at: usize,
) -> Option<ScannedReference<'t>> {
    let form = ReferenceSyntax::of(rules)?;
    text[at..]
        .starts_with(form.mark.open)
        .then(|| read(&form, text, at))?
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
    let (target, end, own) = target(text, inner)?;
    let of = own.or(form.of);
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
    if form.of.is_none() && matches!(&target, Target::Id(id) if super::is_number(id)) {
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
    if !matches!(target, Target::Input(_)) && is_wrapped(&path, of.map_or(&[], |of| of.wrappers)) {
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

/// Reads `step[0]`, `PLACEHOLDER_reply`, `mail` or `["the mail"]`. Returns its end, and its dialect if only one dialect has this notation.
fn target(text: &str, at: usize) -> Option<(Target, usize, Option<&'static Rules>)> {
    let of_dialect = Dialect::table().find_map(|rules| {
        let (target, end) = (rules.target)(text, at)?;
        Some((target, end, Some(rules)))
    });
    of_dialect.or_else(|| {
        let (name, end) = path::name(text, at, NameSyntax::Wide);
        (!name.is_empty()).then_some((Target::Id(name), end, None))
    })
}

/// Returns `true` for a valid reference of this dialect.
fn is_of(rules: &Rules, text: &str, written: &ScannedReference<'_>) -> bool {
    if matches!(written.target, Target::Input(_)) {
        return false;
    }
    let alone = written.range == (0..text.len());
    let scan = (rules.scan)(written.text, &|_| false);
    let is_same = |piece: &Piece<'_>| matches!(piece, Piece::Reference(it) if it.compat_only.is_none() && it.target == written.target);
    let sound = scan.scan_errors.is_empty() && scan.pieces.iter().all(is_same);
    sound && scan.is_whole() && (alone || rules.places != Places::Whole)
}
