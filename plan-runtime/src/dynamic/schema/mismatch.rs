//! The part of a value that another type does not accept.

use super::Types;
use crate::plan::push_key;
use serde_json::Value;

/// The part of a value that does not fit.
#[derive(Clone, Debug)]
pub(in crate::dynamic) struct Mismatch {
    /// The place of the part in the value, such as `[..].cc`; empty for the whole value.
    pub(in crate::dynamic) place: String,
    pub(in crate::dynamic) reason: Reason,
}

/// Why a part does not fit. `always` means that no value of the part fits.
#[derive(Clone, Debug)]
pub(in crate::dynamic) enum Reason {
    /// The part may be of these kinds.
    Kind {
        given: Types,
        takes: String,
        always: bool,
    },
    /// The part may be this value, which the other type does not list.
    Value { value: Value, always: bool },
    /// The part may be the value in these words, which exceeds a bound.
    Bound {
        value: String,
        bound: String,
        always: bool,
    },
    /// The part may be any value of these kinds, of which the other type lists some.
    Listed(Types),
    /// The member of this name may be missing.
    Missing { name: String, always: bool },
    /// The list may have more elements than the other type allows. Without `is_sure`, no schema states its length.
    Longer { most: usize, is_sure: bool },
    /// No form of the other type accepts each value, although a form accepts each part.
    NoSingleForm,
    /// The member of this name is unknown in the other type.
    Extra(String),
    /// No schema describes the part.
    Unstated,
    /// No schema states whether the member is always there.
    Presence(String),
}

impl Mismatch {
    pub(super) fn of(reason: Reason) -> Self {
        Self {
            place: String::new(),
            reason,
        }
    }

    /// Returns `true` if the schemas do not tell whether the value fits.
    pub(in crate::dynamic) fn is_unknown(&self) -> bool {
        matches!(
            self.reason,
            Reason::Unstated
                | Reason::Presence(_)
                | Reason::NoSingleForm
                | Reason::Longer { is_sure: false, .. }
        )
    }

    pub(super) fn in_member(self, name: &str) -> Self {
        let mut place = String::new();
        push_key(&mut place, name);
        if !self.place.is_empty() && !self.place.starts_with('[') {
            place.push('.');
        }
        self.behind(place)
    }

    pub(super) fn behind(self, mut place: String) -> Self {
        place += &self.place;
        Self { place, ..self }
    }
}
