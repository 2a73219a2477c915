//! The values that tests are about.

use super::checked_value::{CheckedValue, ValueKind};
use super::guards::Guards;
use super::outputs::KnownOutputs;
use super::unresolved::{Unstated, index_of};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::schema::{Form, Presence, Type, Types};
use crate::plan::{ERR, OK, Reference, Segment, Template};
use crate::resolve::describe::short;
use serde_json::Value;
use std::ops::Range;

/// An operand of a test.
pub(super) struct Operand<'a> {
    pub(super) types: Types,
    /// The reference, with its type.
    pub(super) found: Option<(&'a Reference, Type<'a>)>,
    /// The value, if it is a scalar of the plan.
    pub(super) literal: Option<Value>,
    /// The reason why the value may be null or missing.
    pub(super) null: Option<String>,
    /// The words for the value.
    pub(super) words: String,
    /// The value as JSON, as the document has it.
    pub(super) shown: String,
    /// The reason why a run fails for want of the value.
    pub(super) breaks: Option<String>,
    /// The part of the reference whose presence no schema states.
    unstated: Option<String>,
    /// The place of the value in the document.
    pub(super) place: Range<usize>,
    /// The value is never absent.
    pub(super) is_sure: bool,
    /// An object may be a `Result`.
    pub(super) may_be_result: bool,
}

impl Operand<'_> {
    /// Returns the kinds of the value that are not these.
    pub(super) fn beside(&self, takes: Types) -> Option<String> {
        let beside = self.types.without(Types::NULL).without(takes);
        (!beside.is_empty()).then(|| beside.words())
    }

    /// Returns `true` if no schema describes the value.
    pub(super) fn is_unstated(&self) -> bool {
        self.types == Types::ALL
    }

    /// Returns the reason why the value may be absent.
    pub(super) fn absent(&self, guards: &Guards<'_>) -> Option<&String> {
        let is_there = self.found.as_ref().is_some_and(|(it, _)| guards.cover(it));
        self.null.as_ref().filter(|_| !is_there)
    }

    /// Returns the reason why a run fails for want of the value.
    pub(super) fn breaks(&self, guards: &Guards<'_>) -> Option<&String> {
        let is_there = self.found.as_ref().is_some_and(|(it, _)| guards.cover(it));
        self.breaks.as_ref().filter(|_| !is_there)
    }

    /// Returns the reference, and the part of it whose presence no schema states.
    pub(super) fn unstated(&self, guards: &Guards<'_>) -> Option<(&Reference, &str)> {
        let (reference, _) = self.found.as_ref()?;
        let part = self.unstated.as_ref().filter(|_| !guards.cover(reference));
        Some((reference, part?))
    }

    /// Returns the reason why the value is never that of the other operand, and the values that it has.
    pub(super) fn never(&self, other: &Self) -> Option<(String, String)> {
        let (value, (reference, ty)) = (other.literal.as_ref()?, self.found.as_ref()?);
        let counts = |form: &Form<'_>| form.counts() || form.types() == Types::NULL;
        let allows =
            |form: &Form<'_>| form.types().overlaps(Types::of(value)) && form.allows(value);
        if value.is_null()
            || ty.types() == Types::NULL
            || !ty.forms().iter().all(counts)
            || ty.forms().iter().any(allows)
        {
            return None;
        }
        let never = format!(
            "`{}` is never `{}`",
            short(&reference.text()),
            short(&value.to_string())
        );
        let values = ty.forms().iter().flat_map(|form| form.allowed());
        let values: Vec<String> = values
            .take(MOST_NAMES)
            .map(|it| short(&it.to_string()))
            .collect();
        Some((
            never,
            format!("compare with one of `{}`", values.join("`, `")),
        ))
    }
}

/// Returns `true` if a form is a side of a `Result`.
fn is_outcome(form: &Form<'_>) -> bool {
    let is_side = |name: &str| matches!(name, OK | ERR) && form.presence(name) == Presence::Sure;
    form.types() == Types::NULL || matches!(form.names()[..], [name] if is_side(name))
}

/// Returns the type of a value, or `None` if the value already has a finding.
pub(super) fn operand<'a>(
    template: &'a Template,
    at: usize,
    known: KnownOutputs<'a>,
) -> Option<Operand<'a>> {
    let value = CheckedValue::Template(template, at, known);
    let kind = value.kind();
    let plain = Operand {
        types: kind.types(),
        found: None,
        literal: value.scalar(),
        null: None,
        words: value.words(),
        shown: "…".to_owned(),
        breaks: None,
        unstated: None,
        place: known.place(at),
        is_sure: false,
        may_be_result: matches!(value.members().collect::<Vec<_>>()[..], [(OK | ERR, _)]),
    };
    Some(match kind {
        ValueKind::Unknown => return None,
        ValueKind::Reference(reference, given) => {
            let replaced = given.replaced.iter().filter(|it| it.lists == 0);
            let replaced = replaced.map(|it| Types::of(&it.value));
            let types = replaced.fold(given.ty.types(), Types::or);
            let is_known = given.mixed.is_none() && !given.ty.is_trusted();
            if types.is_empty() || !is_known || given.ty.beyond().is_some() {
                return None;
            }
            let may_miss = |part: &Segment| index_of(&part.selector).is_some() || part.is_each();
            let is_sure = !types.overlaps(Types::NULL)
                && given.absent.is_none()
                && given.breaks.is_none()
                && given.unstated.is_none()
                && given.lost.is_none()
                && !reference.path.iter().any(may_miss);
            let says_null = || format!("`{}` may be null", short(&reference.text()));
            let null = given.ty.says_null().then(says_null);
            let ty = if given.replaced.is_empty() {
                given.ty
            } else {
                Type::plain(types)
            };
            let may_be_result = ty.forms().iter().all(is_outcome);
            Operand {
                types,
                found: Some((reference, ty)),
                null: given.absent.or(null),
                shown: known.reference(reference).as_json().unwrap_or(plain.shown),
                breaks: given.breaks.map(|it| it.why),
                unstated: given.unstated.and_then(|it| match it {
                    Unstated::Presence(part) => Some(part),
                    Unstated::Type(_) => None,
                }),
                is_sure,
                may_be_result,
                ..plain
            }
        }
        _ => plain,
    })
}
