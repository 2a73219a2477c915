//! Whether what one schema allows can be allowed by another.

use super::{Element, Form, Property, Type, Types, same};

/// How deep two types are compared. What lies deeper fits.
const DEPTH: usize = 8;
/// How many pairs of forms are compared at most.
const MOST_PAIRS: usize = 10_000;

/// How two types differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dynamic) enum Clash {
    /// No value is of both.
    Kind,
    /// The kinds fit, but the allowed values are others.
    Values,
    /// Both are lists or objects, and what is in them differs.
    Inside,
}

impl Type<'_> {
    /// How these values clash with those that another type allows; `None` where at least one of them may fit.
    ///
    /// That both allow null is not enough.
    pub(in crate::dynamic) fn clash(&self, takes: &Type<'_>) -> Option<Clash> {
        clash(self, takes, DEPTH, &mut MOST_PAIRS.clone())
    }

    pub(in crate::dynamic) fn fits(&self, takes: &Type<'_>) -> bool {
        self.clash(takes).is_none()
    }
}

fn clash(given: &Type<'_>, takes: &Type<'_>, depth: usize, fuel: &mut usize) -> Option<Clash> {
    if depth == 0 {
        return None;
    }
    let values = given.types().without(Types::NULL);
    if values.is_empty() {
        let fits = given.types().is_empty() || takes.types().overlaps(Types::NULL);
        return (!fits).then_some(Clash::Kind);
    }
    if !values.overlaps(takes.types()) {
        return Some(Clash::Kind);
    }
    let mut nearest = Clash::Kind;
    for form in given.forms() {
        for other in takes.forms() {
            if *fuel == 0 {
                return None;
            }
            *fuel -= 1;
            match pair(form, other, depth, fuel) {
                None => return None,
                Some(Clash::Kind) => {}
                Some(clash) => nearest = clash,
            }
        }
    }
    Some(nearest)
}

fn pair(given: &Form<'_>, takes: &Form<'_>, depth: usize, fuel: &mut usize) -> Option<Clash> {
    let shared = given.types().and(takes.types()).without(Types::NULL);
    if shared.is_empty() {
        return Some(Clash::Kind);
    }
    if let (Some(given), Some(takes)) = (given.allowed(), takes.allowed()) {
        let some = |value: &&serde_json::Value| takes.iter().any(|other| same(value, other));
        let not_null = given.iter().filter(|value| !value.is_null());
        if !not_null.copied().any(|value| some(&value)) {
            return Some(Clash::Values);
        }
    }
    let inside = match shared {
        Types::LIST => match (given.element(None), takes.element(None)) {
            (Element::Type(given), Element::Type(takes)) => {
                clash(&given, &takes, depth - 1, fuel).is_some()
            }
            _ => false,
        },
        Types::OBJECT => objects(given, takes, depth, fuel),
        _ => false,
    };
    inside.then_some(Clash::Inside)
}

/// Whether a member clashes that is always there or has to be. A member too many does no harm to most that read objects.
fn objects(given: &Form<'_>, takes: &Form<'_>, depth: usize, fuel: &mut usize) -> bool {
    let required = takes.required();
    let sure = given.required();
    let names = required
        .iter()
        .chain(sure.iter().filter(|name| !required.contains(name)));
    names
        .copied()
        .any(|name| match (given.property(name), takes.property(name)) {
            (Property::Closed, _) => required.contains(&name),
            (Property::Type(given), Property::Type(takes)) => {
                clash(&given, &takes, depth - 1, fuel).is_some()
            }
            _ => false,
        })
}
