//! The type of an object with the members of several objects, of which the last one has precedence.

use super::{Form, Presence, Property, Type, Types};
use std::collections::HashSet;

/// Maximum number of merged objects, and of the combinations of their forms.
const MOST_MERGED: usize = 32;
const MOST_COMBINED: usize = 64;

impl<'a> Type<'a> {
    /// Returns the type of the merged objects. Null has no members. A part that may be another value has another finding.
    pub(in crate::dynamic) fn merged(parts: &[Self]) -> Self {
        let is_free = |part: &Self| part.forms.iter().any(|form| form.types() == Types::ALL);
        if parts
            .iter()
            .any(|part| part.beyond().is_none() && is_free(part))
        {
            return Self::trusted();
        }
        let mut all = Self::around(parts.iter());
        if all.beyond().is_some() {
            return all;
        }
        let mut forms = vec![Vec::new()];
        for part in parts {
            let is_object = |form: &&Form<'a>| form.types().overlaps(Types::OBJECT);
            let objects = part.forms.iter().filter(is_object).map(members_of);
            let nothing = part.says_null().then(|| Form::Members(Vec::new()));
            let objects: Vec<Form<'a>> = objects.chain(nothing).collect();
            if forms.len() * objects.len() > MOST_COMBINED || forms[0].len() == MOST_MERGED {
                return Self::any();
            }
            let with = |before: &Vec<Form<'a>>| {
                let each = objects.iter().cloned();
                each.map(|form| [&before[..], &[form]].concat())
                    .collect::<Vec<_>>()
            };
            forms = forms.iter().flat_map(with).collect();
            if forms.is_empty() {
                return Self::trusted();
            }
        }
        all.forms = forms.into_iter().map(Form::Merged).collect();
        all
    }
}

/// Returns a form of the objects of a form. The members of a literal are not borrowed, so they are unknown.
fn members_of<'a>(form: &Form<'a>) -> Form<'a> {
    match form {
        Form::Literal(_) => Form::Plain(Types::OBJECT),
        form => form.clone(),
    }
}

/// Returns the property of a member in merged forms, and the presence of the member.
pub(super) fn member<'a>(forms: &[Form<'a>], name: &str) -> (Property<'a>, Presence) {
    let mut all: Option<(Type<'a>, Presence)> = None;
    for form in forms {
        let ty = match form.property(name) {
            Property::Type(ty) if !ty.types().is_empty() => ty,
            Property::Open => Type::any(),
            Property::Type(_) | Property::Unlisted | Property::Closed => continue,
        };
        let presence = form.presence(name);
        all = Some(match (all, presence) {
            (None, _) | (_, Presence::Sure) => (ty, presence),
            (Some((before, was)), _) => {
                let presence = match (was, presence) {
                    (Presence::Sure, _) => Presence::Sure,
                    (Presence::Maybe, Presence::Maybe) => Presence::Maybe,
                    _ => Presence::Unknown,
                };
                (before.or(ty), presence)
            }
        });
    }
    match all {
        Some((ty, presence)) => (Property::Type(ty), presence),
        None => (Property::Closed, Presence::Sure),
    }
}

/// Returns the property of a member that no merged form names.
pub(super) fn rest<'a>(forms: &[Form<'a>]) -> Property<'a> {
    let mut all = Property::Closed;
    for form in forms {
        all = match (all, form.rest()) {
            (all, Property::Closed | Property::Unlisted) => all,
            (Property::Closed, rest) => rest,
            (Property::Type(all), Property::Type(rest)) => Property::Type(all.or(rest)),
            _ => Property::Open,
        };
    }
    all
}

/// Returns the members that the merged forms name.
pub(super) fn names<'a>(forms: &[Form<'a>]) -> Vec<&'a str> {
    once(forms.iter().flat_map(Form::names))
}

/// Returns the members that the merged forms require.
pub(super) fn required<'a>(forms: &[Form<'a>]) -> Vec<&'a str> {
    once(forms.iter().flat_map(Form::required))
}

/// Returns each name once.
pub(super) fn once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}
