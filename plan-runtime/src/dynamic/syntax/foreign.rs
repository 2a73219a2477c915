//! References in forms that the document's dialect does not have: those of other dialects, and what is nearly one.

use super::path::{self, Names};
use super::{Piece, Scan, Target, Written, scan};
use crate::dynamic::Dialect;
use crate::plan::Segment;
use std::ops::Range;

/// How a reference is marked in a text.
struct Form {
    open: &'static str,
    close: &'static str,
    /// The dialect that has this form.
    dialect: Option<Dialect>,
    /// What has to be there besides the mark and a name, since texts have such marks for other reasons.
    needs: Needs,
}

#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    /// A path behind the name.
    Path,
    /// A path, and no text around the reference.
    PathAlone,
}

/// How many of them are given of one string. A long string may have many.
const MOST: usize = 8;

/// The forms, where one that starts like another comes before it.
const FORMS: [Form; 5] = [
    Form {
        open: "{{",
        close: "}}",
        dialect: Some(Dialect::ActionPlan),
        needs: Needs::Nothing,
    },
    Form {
        open: "${",
        close: "}",
        dialect: Some(Dialect::Blueprint),
        needs: Needs::Nothing,
    },
    Form {
        open: "$ref:",
        close: "",
        dialect: Some(Dialect::ToolPlan),
        needs: Needs::Nothing,
    },
    // `{mail.subject}` of `format!`, and `$mail.subject` of shells.
    Form {
        open: "{",
        close: "}",
        dialect: None,
        needs: Needs::Path,
    },
    Form {
        open: "$",
        close: "",
        dialect: None,
        needs: Needs::PathAlone,
    },
];

/// A reference in a form that the dialect of the document does not have.
#[derive(Debug)]
pub(in crate::dynamic) struct Foreign<'t> {
    /// What it would read, without what other dialects put between a step and its output.
    pub(in crate::dynamic) written: Written<'t>,
    /// The dialect in which it is a reference; without one, it is only nearly one.
    pub(in crate::dynamic) of: Option<Dialect>,
}

/// The references in forms of others, outside of this dialect's own references and flaws and of what it escapes. `known` says whether the plan has
/// what one names.
///
/// Of those, the first [`MOST`] are given, and how many there are besides.
///
/// It takes time in proportion to the text: no two references share a part of it, and what is none is left after its first part.
pub(in crate::dynamic) fn foreign<'t>(
    dialect: Dialect,
    text: &'t str,
    own: &Scan<'_>,
    known: &dyn Fn(&Target) -> bool,
) -> (Vec<Foreign<'t>>, usize) {
    let mut found = Vec::new();
    let mut more = 0;
    let Some(mut start) = mark(text, 0) else {
        return (found, more);
    };
    let own = own.taken();
    loop {
        let written = match FORMS
            .iter()
            .find(|form| text[start..].starts_with(form.open))
        {
            // The dialect has said all of its own form.
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
                found.push(Foreign { written, of });
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

/// What is in the form of this dialect at a place of a text, and names what it reads as any dialect does.
pub(in crate::dynamic) fn meant(dialect: Dialect, text: &str, at: usize) -> Option<Written<'_>> {
    let mut forms = FORMS.iter();
    let form = forms.find(|form| form.dialect == Some(dialect))?;
    text[at..]
        .starts_with(form.open)
        .then(|| read(form, text, at))?
}

/// The first place from `at` on where a form can begin.
fn mark(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let mark = rest.iter().position(|byte| matches!(byte, b'$' | b'{'));
    mark.map(|mark| at + mark)
}

/// Whether one of these ranges, which are in their order, has a part of this one.
fn overlaps(ranges: &[Range<usize>], range: &Range<usize>) -> bool {
    let first = ranges.partition_point(|taken| taken.end <= range.start);
    ranges.get(first).is_some_and(|it| it.start < range.end)
}

fn read<'t>(form: &Form, text: &'t str, start: usize) -> Option<Written<'t>> {
    if form.needs == Needs::PathAlone && start > 0 {
        return None;
    }
    let skip = |at: usize| match form.close {
        "" => at,
        _ => text.len() - text[at..].trim_start().len(),
    };
    let inner = skip(start + form.open.len());
    let (target, end) = target(text, inner)?;
    let (mut path, at) = match path::read(text, end, Names::Wide) {
        Ok(read) => read,
        // Behind a reference that nothing closes, text goes on.
        Err(flaw) if form.close.is_empty() => {
            path::read(&text[..flaw.range.start], end, Names::Wide).ok()?
        }
        Err(_) => return None,
    };
    let close = skip(at);
    let range = if text[close..].starts_with(form.close) {
        start..close + form.close.len()
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
    let is_envelope = |segment: &Segment| match (segment, &target) {
        (Segment::Key(key, _), Target::Index(_)) => key == "data" || key == "result",
        (Segment::Key(key, _), Target::Id(_)) => key == "result" && !form.close.is_empty(),
        _ => false,
    };
    if path.first().is_some_and(is_envelope) {
        path.remove(0);
    }
    Some(Written {
        text: &text[range.clone()],
        range,
        target,
        named: inner..end,
        path,
        lacks: None,
    })
}

/// `step[0]`, `PLACEHOLDER_reply`, `mail` or `["the mail"]`, and where it ends.
fn target(text: &str, at: usize) -> Option<(Target, usize)> {
    let rest = &text[at..];
    if let Some(inner) = ["step[", "steps["]
        .iter()
        .find_map(|open| rest.strip_prefix(open))
    {
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        if inner[digits..].starts_with(']')
            && let Ok(index) = inner[..digits].parse()
        {
            return Some((Target::Index(index), text.len() - inner.len() + digits + 1));
        }
    }
    let (name, end) = path::key(text, at).unwrap_or_else(|| {
        let end = Names::Wide.end(text, at);
        (text[at..end].to_owned(), end)
    });
    let input = name.strip_prefix(super::action_plan::INPUT);
    match input.filter(|name| !name.is_empty()) {
        Some(input) => Some((Target::Input(input.to_owned()), end)),
        None => (!name.is_empty()).then_some((Target::Id(name), end)),
    }
}

/// Whether it is a reference in this dialect, as it is.
fn is_of(dialect: Dialect, text: &str, written: &Written<'_>) -> bool {
    if matches!(written.target, Target::Input(_)) {
        return false;
    }
    let alone = written.range == (0..text.len());
    let scan = scan(dialect, written.text, &|_| false);
    let is_same = |piece: &Piece<'_>| matches!(piece, Piece::Reference(it) if it.lacks.is_none() && it.target == written.target);
    let sound = scan.flaws.is_empty() && scan.pieces.iter().all(is_same);
    sound && scan.is_whole() && (alone || dialect != Dialect::ToolPlan)
}
