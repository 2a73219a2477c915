//! The findings for references to missing parts.

use super::outputs::{KnownReference, variable};
use super::path::{Given, words};
use super::reference::first_element;
use super::unresolved::{Unresolved, UnresolvedReason, Unstated};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::dialects::references::{Places, ReferenceTarget, Style, name_in};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::{Form, Types};
use crate::plan::{Segment, Selector, Source, ToolInfo};
use crate::resolve::describe::{counted, quoted, short};
use plan_graph::similar;
use std::ops::Range;

/// Maximum number of fields in the search for a suggestion.
const MOST_TRIED: usize = 64;

/// Members that other systems have around the output of a step.
const ENVELOPES: [&str; 8] = [
    "result", "results", "output", "outputs", "data", "value", "response", "return",
];

/// Names that other languages have for a length.
const LENGTHS: [&str; 6] = ["length", "len", "size", "count", "length()", "len()"];

impl<'r> KnownReference<'_, 'r> {
    /// Returns the note for a reference that leads nowhere.
    pub(super) fn lost(&self, at: usize, lost: &Unresolved<'_>) -> Note {
        let Self { known, reference } = *self;
        let path = &reference.path;
        let segment = &path[lost.segment];
        let name = match &segment.selector {
            Selector::Key(key) => format!("`{}`", short(key)),
            Selector::Index(index) => format!("[{index}]"),
            Selector::Each => "[*]".to_owned(),
        };
        let whose = self.whose();
        let skipped = self.variable().map_or(0, |(_, skipped)| skipped);
        let before = lost.segment.saturating_sub(skipped);
        let inside = match words(&path[skipped.min(path.len())..], before).as_str() {
            "" => whose,
            place => format!("`{}` in {whose}", short(place)),
        };
        let given = lost.inside.words();
        if lost.segment < skipped {
            let pattern = short(self.pattern().unwrap_or_default());
            let message = match lost.why {
                UnresolvedReason::NoElement(length) => {
                    let most = counted(length, "element");
                    format!(
                        "the pattern `{pattern}` has a name for {name}, but its value has {most} at most"
                    )
                }
                _ => {
                    format!("the pattern `{pattern}` takes a list apart, but its value is {given}")
                }
            };
            let help = "write one name, such as `x`, for the whole value".to_owned();
            return Note::error(Code::ListOrElement, known.place(at), message).help(help);
        }
        let code = match lost.why {
            UnresolvedReason::NoList | UnresolvedReason::List => Code::ListOrElement,
            _ => Code::UnknownField,
        };
        let message = match lost.why {
            UnresolvedReason::NoField => format!("{inside} has no field {name}"),
            UnresolvedReason::Scalar | UnresolvedReason::List => {
                format!("{inside} is {given}, which has no field {name}")
            }
            UnresolvedReason::NoElement(0) => {
                format!("{inside} is an empty list, which has no element {name}")
            }
            UnresolvedReason::NoElement(length) => {
                let most = counted(length, "element");
                format!("{inside} has at most {most}, so it has no element {name}")
            }
            UnresolvedReason::NoList if segment.is_each() => {
                format!("{inside} is {given}, which has no elements")
            }
            UnresolvedReason::NoList => format!("{inside} is {given}, which has no element {name}"),
        };
        let (message, help) = match &lost.when {
            Some(when) => (format!("if {when}, {message}"), None),
            None if lost.segment == 0 && known.is_caught(reference.source) => {
                let step = short(known.plan.name_of(reference.source).unwrap_or_default());
                let value = self.with_path(&[]);
                let help = value.map(|value| {
                    format!(
                        r#"read the output in a branch: `"pattern": "Ok(x)", "value": {value}`"#
                    )
                });
                let message = format!(
                    "an always step reads the `Result` of step `{step}`, which has no field {name}"
                );
                (message, help)
            }
            None => (message, self.way_out(lost)),
        };
        Note::error(code, known.place(at), message).help(help)
    }

    /// Returns the note for a reference that fails in some runs, or whose path no schema describes.
    pub(super) fn unsure(
        &self,
        at: usize,
        found: &Given<'_>,
        may_be_missing: bool,
    ) -> Option<Note> {
        let Self { known, reference } = *self;
        let (written, place) = (short(&reference.text()), known.place(at));
        let whose = self.whose();
        if let Some(mixed) = &found.mixed {
            let message = format!("`{written}` fails in some runs: in {whose}, {mixed}");
            return Some(Note::error(Code::WrongType, place, message));
        }
        if let Some(found) = found.breaks.as_ref().filter(|_| !may_be_missing) {
            let message = format!("`{written}` may have no value: {}", found.why);
            let help = self.instead_of_value(found);
            return Some(Note::error(Code::MaybeAbsent, place, message).help(help));
        }
        let (message, help) = match found.unstated.as_ref()? {
            Unstated::Type(part) => {
                let part = match &**part {
                    "" => whose.clone(),
                    part => format!("`{part}` in {whose}"),
                };
                (
                    format!("`{written}` is not checked: no schema describes {part}"),
                    self.stating(),
                )
            }
            Unstated::Presence(_) if may_be_missing => return None,
            Unstated::Presence(part) => return Some(self.presence(place, part)),
        };
        Some(known.unchecked(place, message).help(help))
    }

    /// Returns the note for a reference to a part whose presence no schema states.
    pub(super) fn presence(&self, place: Range<usize>, part: &str) -> Note {
        let message = format!(
            "`{}` is not checked: no schema states whether `{part}` is always present",
            short(&self.reference.text())
        );
        let whose = self.whose();
        self.known.unchecked(place, message).help(format!(
            "if the part is always present, list it in `required` of the schema of {whose}"
        ))
    }

    /// Returns the help for a value without a type.
    pub(super) fn stating(&self) -> String {
        let whose = self.whose();
        match (self.tool(), self.reference.source) {
            (Some(_), _) => format!("state its type in the schema of {whose}"),
            (None, Source::Local(_)) => {
                format!(
                    "state the type of {whose} in the schema of the tool that returns the value"
                )
            }
            (None, _) => format!("state the type of {whose}"),
        }
    }

    fn tool(&self) -> Option<&'r ToolInfo> {
        let Source::Step(index) = self.reference.source else {
            return None;
        };
        self.known.plan.steps.get(index)?.action()?.tool.as_deref()
    }

    /// Returns the notation of references to the same source.
    pub(super) fn style(&self) -> Style {
        let Self { known, reference } = *self;
        let source = reference.source;
        let rules = known.rules;
        // A dialect without references in strings shows them as `plan!` has them.
        if let Some((name, skipped)) = self.variable()
            && rules.places == Places::Nowhere
        {
            let style = Style::rust(name);
            return Style { skipped, ..style };
        }
        // Only references name local values, and a block's inputs are not those of its plan.
        if let Source::Local(_) | Source::Input(_) = source
            && let Some((name, skipped)) = name_in(known.rules, reference)
            && let Some(style) = (rules.style)(ReferenceTarget::Value(&name), &reference.text())
        {
            return Style { skipped, ..style };
        }
        let name = known.plan.name_of(source).unwrap_or("value");
        let to = match source {
            Source::Step(index) => Some(ReferenceTarget::Step(index, name)),
            Source::Input(_) => Some(ReferenceTarget::Input(name)),
            Source::Local(_) => None,
        };
        let style = to.and_then(|to| (rules.style)(to, &reference.text()));
        style.unwrap_or_else(|| Style::rust(name))
    }

    /// Returns the suggestion for a reference that leads nowhere.
    fn way_out(&self, lost: &Unresolved<'_>) -> Option<String> {
        let path = &self.reference.path;
        let follow = |segments: &[Segment]| {
            let found = self.follow(segments).ok();
            found.filter(|found| found.lost.is_none())
        };
        let meant = |fixed: &[Segment]| format!("did you mean `{}`?", self.shown(fixed));
        let key = |name: &str| Segment::new(Selector::Key(name.to_owned()));
        let mut fixed = path.to_vec();
        if let Selector::Key(wrong) = &path[lost.segment].selector {
            // Other systems have such members between a step and its output.
            if ENVELOPES.contains(&wrong.as_str()) {
                fixed.remove(lost.segment);
                if follow(&fixed).is_some() {
                    let meant = meant(&fixed);
                    let whole = lost.segment == 0;
                    return Some(if whole {
                        format!("{meant} A reference begins with the output itself")
                    } else {
                        meant
                    });
                }
                fixed = path.to_vec();
            }
            if let Some(length) = self.length(lost) {
                return Some(length);
            }
        }
        match (&path[lost.segment].selector, lost.why) {
            (Selector::Key(wrong), UnresolvedReason::NoField) => {
                let forms = lost.inside.forms().iter();
                let names = forms.flat_map(Form::names).filter(|name| name != wrong);
                let names: Vec<&str> = names.collect();
                if !self.known.work.may_compare(names.len()) {
                    return None;
                }
                if let Some(name) = similar(wrong, names.iter().copied()) {
                    fixed[lost.segment] = key(name);
                    return Some(meant(&fixed));
                }
                // The field of an object around the output, which its schema requires.
                let wrapped = names.iter().take(MOST_TRIED).find_map(|name| {
                    let mut fixed = path.to_vec();
                    fixed.insert(lost.segment, key(name));
                    let wrapping = follow(&fixed[..=lost.segment])?;
                    wrapping.ty.property(wrong)?;
                    follow(&fixed).map(|_| meant(&fixed))
                });
                wrapped.or_else(|| {
                    let few = !names.is_empty() && names.len() <= MOST_NAMES;
                    few.then(|| format!("it has {}", quoted(names)))
                })
            }
            (_, UnresolvedReason::List) => {
                fixed.insert(lost.segment, Segment::new(Selector::Index(0)));
                follow(&fixed).map(|_| first_element(self, &fixed))
            }
            (_, UnresolvedReason::NoList) => {
                fixed.remove(lost.segment);
                follow(&fixed).map(|_| meant(&fixed))
            }
            _ => None,
        }
    }

    /// Returns the suggestion for a length that is written as a field.
    fn length(&self, lost: &Unresolved<'_>) -> Option<String> {
        let (last, around) = self.reference.path.split_last()?;
        let Selector::Key(name) = &last.selector else {
            return None;
        };
        let types = lost.inside.types();
        let has_length = Types::LIST.or(Types::STRING);
        let is_length = LENGTHS.contains(&name.as_str())
            && around.len() == lost.segment
            && !types.is_empty()
            && types.without(Types::NULL).without(has_length).is_empty();
        if !is_length {
            return None;
        }
        let value = self.with_path(around)?;
        let length = format!(r#"{{"len": {value}}}"#);
        if self.known.rules.wraps() {
            return Some(format!("its length is `{length}`"));
        }
        Some(format!(
            r#"in a comparison of a condition, its length is `{length}`: `{{"compare": [{length}, ">", 0]}}`; for an argument, call a tool that counts the elements"#
        ))
    }

    /// `the output of `find``.
    pub(super) fn whose(&self) -> String {
        let Self { known, reference } = *self;
        match reference.source {
            Source::Step(index) => {
                let step = known.plan.steps.get(index);
                match (self.tool(), step) {
                    (Some(tool), _) => format!("the output of `{}`", short(&tool.name)),
                    (None, Some(step)) => format!("the output of step `{}`", short(&step.id)),
                    (None, None) => "the output".to_owned(),
                }
            }
            Source::Input(index) if known.block.is_some() => {
                let read = known.block.and_then(|reads| reads.get(index));
                read.map_or_else(String::new, |read| read.whose.clone())
            }
            Source::Input(_) => {
                let name = known.plan.name_of(reference.source).unwrap_or("value");
                format!("the input `{}`", short(name))
            }
            Source::Local(_) => match self.variable() {
                Some((name, _)) => variable(name),
                None => "the local value".to_owned(),
            },
        }
    }
}
