//! Job lists, a fifth dialect: its row, its reader and its tests are in this folder.
//!
//! ```json
//! {"jobs": [
//!     {"id": "mail", "tool": "find", "payload": {"name": "Sarah"}},
//!     {"id": "sent", "tool": "send", "payload": {"to": "<<mail.from>>"}, "follows": ["mail"]}
//! ]}
//! ```

mod tests;

use crate::dynamic::dialects::reading::layout::{self, Layout};
use crate::dynamic::dialects::reading::listing;
use crate::dynamic::dialects::recognize::Sign;
use crate::dynamic::dialects::references::path::{self, NameSyntax};
use crate::dynamic::dialects::references::{
    Mark, Notation, Piece, Places, ReferenceTarget, Scan, ScanError, ScannedReference, Style,
    Target, escaped, named,
};
use crate::dynamic::dialects::{Compat, Recognition, Rules, step_by_id};
use crate::dynamic::json_node::JsonType;
use std::collections::HashSet;

const MARK: Mark = Mark::new("<<", ">>");

pub(in crate::dynamic::dialects) static RULES: Rules = Rules {
    name: "job list",
    document: "a job list (`<<…>>`)",
    recognition: Recognition {
        sign: |outline| outline.has(&["jobs"]).then_some(Sign::Certain),
        has_step: |_, _| false,
        may_lack_calls: |_| false,
        usual: None,
    },
    syntax: &LAYOUT,
    places: Places::Anywhere,
    mark: Some(MARK),
    scan,
    target: |_, _| None,
    wrappers: &[],
    inputs_in: |_, _| HashSet::new(),
    compat: Compat {
        unknown_step_may_be_text: false,
        allow_absence: |_, _| {},
    },
    step: step_by_id,
    style,
    object: None,
};

static LAYOUT: Layout = Layout {
    document: "a job list",
    may_be_list: false,
    top: &["jobs", "title", "description", "output", "output_type"],
    steps: &["jobs"],
    no_steps: ("the list has no `jobs`", None),
    name: ("title", "the title of a job list"),
    inputs: |_, _| {},
    step: &[
        "id",
        "tool",
        "payload",
        "intent",
        "tool_description",
        "follows",
    ],
    body: &layout::body("payload"),
    policy: &[],
    id: None,
    arguments: listing::arguments,
    after: ("follows", JsonType::String),
    own_policy: |_, _, _| {},
    outputs: "output",
    output: |_, _, steps| listing::all_outputs(steps),
};

fn scan<'t>(text: &'t str, _: &dyn Fn(&str) -> bool) -> Scan<'t> {
    Scan::embedded(text, MARK.open, &piece, &|scan, text, range| {
        scan.text(&text[range]);
    })
}

/// Reads `<<mail.from>>`.
fn piece(text: &str, start: usize) -> Result<(Piece<'_>, usize), Box<ScanError>> {
    let inner = start + MARK.open.len();
    let close = text[inner..].find(MARK.close);
    let whole = start..close.map_or(text.len(), |close| inner + close + MARK.close.len());
    if let Some(literal) = escaped(text, inner, MARK.close, &whole) {
        return literal;
    }
    let (id, end) = path::name(text, inner, NameSyntax::Wide);
    let (path, at) = path::read(text, end, NameSyntax::Wide)?;
    if id.is_empty() || !text[at..].starts_with(MARK.close) {
        let scan_error = ScanError::new(whole, "the reference has a wrong form");
        let help = "a reference is `<<id>>`, or `<<id.field>>`";
        return Err(scan_error.general().help(help).into());
    }
    let range = start..at + MARK.close.len();
    let next = range.end;
    let written = ScannedReference {
        text: &text[range.clone()],
        range,
        target: Target::Id(id),
        named: inner..end,
        path,
        compat_only: None,
    };
    Ok((Piece::Reference(written), next))
}

fn style(to: ReferenceTarget<'_>, _: &str) -> Option<Style> {
    let (ReferenceTarget::Step(_, name)
    | ReferenceTarget::Value(name)
    | ReferenceTarget::Local(_, name)) = to
    else {
        return None;
    };
    Some(Style {
        head: format!("{}{}", MARK.open, named(NameSyntax::Wide, name)),
        names: NameSyntax::Wide,
        notation: Notation::Brackets,
        skipped: 0,
        close: MARK.close,
    })
}
