//! References, in the syntax of `plan!`.

use super::model::{Path, can_end, outcome};
use super::{SourceWriter, names, shown};
use plan_graph::Quoted;
use plan_runtime::plan::{Absent, Reference, Segment, Selector, Source as From};
use serde_json::Value;
use std::borrow::Cow;

/// The largest number of parts in a path. The compiler recurses for each part.
const MOST: usize = 128;

impl SourceWriter<'_> {
    /// Returns the name of a step or an input in the plan, and its name in Rust.
    pub(super) fn named(&self, source: From) -> Option<(&str, &str)> {
        match source {
            From::Step(step) => Some((
                self.plan.steps.get(step)?.id.as_ref(),
                self.names.steps.get(step)?,
            )),
            From::Input(input) => Some((
                self.plan.inputs.get(input)?.name.as_ref(),
                self.names.inputs.get(input)?,
            )),
            _ => None,
        }
    }

    /// Returns the innermost local value with this name.
    pub(super) fn binding(&self, name: &str) -> Option<usize> {
        self.locals.iter().rposition(|local| local.binds(name))
    }

    /// Writes a reference for a message, with the current name of its source.
    fn shown_reference(&self, reference: &Reference) -> String {
        let path = Path::of(reference);
        let now = match reference.source {
            From::Local(depth) => self.locals.get(depth).and_then(|it| it.start(path)),
            source => self.plan.name_of(source).map(|name| (name, path)),
        };
        let written = reference.as_written();
        shown(&match now {
            Some((name, path)) => match written.filter(|text| text.contains(name)) {
                Some(text) => text.to_owned(),
                None => path.after(name),
            },
            None => reference.to_string(),
        })
    }

    /// Writes a reference, derived from its source and path.
    pub(super) fn reference(&self, reference: &Reference) -> Result<String, String> {
        let shown = self.shown_reference(reference);
        let nothing = || format!("the reference `{shown}`, which has no target");
        let (name, path) = match reference.source {
            From::Local(depth) => {
                let local = self.locals.get(depth).ok_or_else(nothing)?;
                let found = local.start(Path::of(reference));
                let (name, path) = found.ok_or_else(|| {
                    format!("the part `{shown}` of `{}`", super::shown(&local.text))
                })?;
                let name = names::keyword(name).ok_or_else(nothing)?;
                if self.binding(&name) != Some(depth) {
                    let what = "whose name another pattern binds again";
                    return Err(format!("the reference `{shown}`, {what}"));
                }
                (Cow::Owned(name), path)
            }
            source => {
                let (_, name) = self.named(source).ok_or_else(nothing)?;
                if self.binding(name).is_some() {
                    let what = "whose name a pattern around it binds";
                    return Err(format!("the reference `{shown}`, {what}"));
                }
                (Cow::Borrowed(name), Path::of(reference))
            }
        };
        way(&name, path, &shown)
    }
}

/// Returns a name and the path after it, in the syntax of `plan!`, if that can express the path. Types determine the
/// effect of an absent value.
fn way(name: &str, path: Path<'_>, shown: &str) -> Result<String, String> {
    let mut text = name.to_owned();
    if path.segments.len() > MOST {
        let count = path.segments.len();
        let what = format!("which has {count} parts, and at most {MOST} are written");
        return Err(format!("the reference `{shown}`, {what}"));
    }
    if path.otherwise.is_some() {
        let what = format!("the default for the reference `{shown}` of the compat profile");
        return Err(what);
    }
    if path.optional {
        text.push('?');
    }
    for segment in path.segments {
        if let Some(outcome) = outcome(segment) {
            text.push_str(outcome);
            if segment.optional {
                text.push('?');
            }
            continue;
        }
        let may_be_missing = match &segment.absent {
            Absent::Default(value) if !is_default_of(&segment.selector, value) => {
                let why = "which the type has to say in Rust";
                return Err(format!("the default of the reference `{shown}`, {why}"));
            }
            Absent::End if !segment.optional => {
                let why = "which is absent if a part of its path is absent";
                return Err(format!("the reference `{shown}`, {why}"));
            }
            Absent::Default(value) => value.is_null(),
            Absent::End => true,
            _ => false,
        };
        match &segment.selector {
            Selector::Key(key) => match names::field(key) {
                Some(field) => text.push_str(&format!(".{field}")),
                None => text.push_str(&format!("[{}]", Quoted(key))),
            },
            Selector::Index(index) if may_be_missing => text.push_str(&format!(".get({index})")),
            Selector::Index(index) => text.push_str(&format!("[{index}]")),
            Selector::Each => text.push_str("[..]"),
        }
        if segment.optional {
            text.push('?');
        }
    }
    Ok(text)
}

/// Returns `true` if the reference has its meaning in Rust code as well, where `a?` fails the step if `a` is absent, and
/// `.get(0)` returns an `Option`.
pub(super) fn is_place(reference: &Reference) -> bool {
    let is_place = |segment: &Segment| match &segment.selector {
        Selector::Key(_) => outcome(segment).is_none(),
        Selector::Index(_) => matches!(segment.absent, Absent::Error),
        Selector::Each => false,
    };
    !can_end(reference) && reference.path.iter().all(is_place)
}

/// Returns `true` if a Rust type determines the replacement for this missing part: a default for a struct's field, and
/// null for `.get(0)`.
fn is_default_of(selector: &Selector, value: &Value) -> bool {
    match selector {
        Selector::Key(key) => names::field(key).is_some() && is_zero(value),
        Selector::Index(_) => value.is_null(),
        Selector::Each => true,
    }
}

/// Returns `true` for the `Default` value of some Rust type, which such types omit.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}
