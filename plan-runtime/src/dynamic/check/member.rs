//! The part of a value at a segment of a path, in the type of the value.

use super::unresolved::{UnresolvedReason, index_of};
use crate::dynamic::schema::{Element, Form, Presence, Property, Type, Types};
use crate::plan::{Segment, Selector};

/// A part of a value.
pub(super) struct Member<'a> {
    pub(super) ty: Type<'a>,
    pub(super) presence: Presence,
    /// The kinds of values without the part, except null.
    pub(super) others: Types,
    /// No schema states the kind of some values.
    pub(super) is_unstated: bool,
}

/// Returns the part of a value at a segment.
///
/// # Errors
///
/// Returns the reason for a missing part, and `true` if the part may be present outside of the schema.
pub(super) fn member<'a>(
    ty: &Type<'a>,
    segment: &Segment,
) -> Result<Member<'a>, (UnresolvedReason, bool)> {
    let index = index_of(&segment.selector);
    let name = match &segment.selector {
        Selector::Key(key) => key.clone(),
        Selector::Index(index) => index.to_string(),
        Selector::Each => String::new(),
    };
    let (others, is_unstated) = others(ty, segment, index, &name);
    let found = |ty, presence| Member {
        ty,
        presence,
        others,
        is_unstated,
    };
    if segment.is_each() {
        let is_list = ty.types().overlaps(Types::LIST);
        let elements = is_list.then(|| found(ty.element(), Presence::Sure));
        return elements.ok_or((UnresolvedReason::NoList, false));
    }
    let mut part: Option<Type<'a>> = None;
    let mut presence = Presence::Sure;
    let (mut why, mut may_be_there) = (None, false);
    for form in ty.forms() {
        let types = form.types();
        let (property, present) = match index {
            Some(index) if types.overlaps(Types::LIST) => match form.element(Some(index)) {
                Element::Type(element) => (Property::Type(element), form.has_element(index)),
                Element::Beyond(length) => {
                    why = Some(UnresolvedReason::NoElement(length));
                    continue;
                }
            },
            _ if types.overlaps(Types::OBJECT) => (form.property(&name), form.presence(&name)),
            _ => continue,
        };
        let property = match property {
            Property::Type(property) if !property.types().is_empty() => property,
            Property::Open => Type::any(),
            // A forbidden member has the schema `false`.
            Property::Unlisted | Property::Closed | Property::Type(_) => {
                may_be_there |= matches!(property, Property::Unlisted);
                why = Some(match index {
                    Some(_) => UnresolvedReason::NoList,
                    None => UnresolvedReason::NoField,
                });
                continue;
            }
        };
        presence = match (present, presence) {
            (Presence::Sure, others) => others,
            (Presence::Unknown, _) | (_, Presence::Unknown) => Presence::Unknown,
            (Presence::Maybe, _) => Presence::Maybe,
        };
        part = Some(match part {
            Some(others) => others.or(property),
            None => property,
        });
    }
    match (part, why) {
        // Only some of the forms have it.
        (Some(part), Some(UnresolvedReason::NoField)) => Ok(found(part, Presence::Maybe)),
        (Some(part), Some(_)) => Ok(found(part, Presence::Unknown)),
        (Some(part), None) => Ok(found(part, presence)),
        (None, Some(why)) => Err((why, may_be_there)),
        (None, None) if ty.types().overlaps(Types::LIST) => Err((UnresolvedReason::List, false)),
        (None, None) if index.is_some() => Err((UnresolvedReason::NoList, false)),
        (None, None) => Err((UnresolvedReason::Scalar, false)),
    }
}

/// Returns the kinds of values without the part, except null, and `true` if no schema states the kind of some values.
fn others(ty: &Type<'_>, segment: &Segment, index: Option<usize>, name: &str) -> (Types, bool) {
    let has_part = |form: &Form<'_>| match index {
        _ if segment.is_each() => Types::LIST,
        Some(_) => match form.property(name) {
            Property::Unlisted | Property::Closed => Types::LIST,
            Property::Type(_) | Property::Open => Types::LIST.or(Types::OBJECT),
        },
        None => Types::OBJECT,
    };
    let (mut others, mut is_unstated) = (Types::NONE, false);
    let is_known = |form: &&Form<'_>| !matches!(form, Form::Trusted | Form::Beyond(_));
    for form in ty.forms().iter().filter(is_known) {
        match form.types() {
            Types::ALL => is_unstated = true,
            types => others = others.or(types.without(has_part(form)).without(Types::NULL)),
        }
    }
    (others, is_unstated)
}
