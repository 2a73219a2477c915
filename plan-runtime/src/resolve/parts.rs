//! Lists and objects, part by part, in templates and in outputs.

use super::access::KeyOrText;
use super::error::{Location, ResolveError};
use super::meter::{MEMBER, Meter, PART, charge};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess};

/// The deserializer of a value that has parts.
pub(super) trait Parts<'a>: Deserializer<'a, Error = ResolveError> + Copy {
    type Part;

    /// Creates the deserializer of a part. `self` has the depth of the part.
    fn part(self, part: &'a Self::Part) -> Self;

    fn meter(self) -> Option<&'a Meter<'a>>;

    /// Completes an error with the part that it was in.
    fn inside(error: ResolveError, place: Location) -> ResolveError;

    /// Completes an error with the member whose name does not fit.
    fn at_name(error: ResolveError, name: &str) -> ResolveError;
}

pub(super) struct Items<'a, D: Parts<'a>> {
    pub(super) inside: D,
    pub(super) items: std::slice::Iter<'a, D::Part>,
    /// The number of parts read so far.
    pub(super) index: usize,
}

impl<'a, D: Parts<'a>> SeqAccess<'a> for Items<'a, D> {
    type Error = ResolveError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some(part) = self.items.next() else {
            return Ok(None);
        };
        let index = self.index;
        self.index += 1;
        charge(self.inside.meter(), PART)?;
        match seed.deserialize(self.inside.part(part)) {
            Ok(item) => Ok(Some(item)),
            Err(error) => Err(D::inside(error, Location::Index(index))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

pub(super) struct NamedParts<'a, D: Parts<'a>, I> {
    pub(super) inside: D,
    pub(super) members: I,
    /// The member whose name was read last.
    pub(super) pending: Option<(&'a str, &'a D::Part)>,
}

impl<'a, D, I> MapAccess<'a> for NamedParts<'a, D, I>
where
    D: Parts<'a>,
    I: Iterator<Item = (&'a str, &'a D::Part)>,
{
    type Error = ResolveError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ResolveError> {
        let Some((name, part)) = self.members.next() else {
            return Ok(None);
        };
        self.pending = Some((name, part));
        charge(self.inside.meter(), MEMBER + name.len())?;
        match seed.deserialize(KeyOrText::Borrowed(name)) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(D::at_name(error, name)),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, ResolveError> {
        let Some((name, part)) = self.pending.take() else {
            return Err(ResolveError::custom("a value was asked for before its key"));
        };
        match seed.deserialize(self.inside.part(part)) {
            Ok(value) => Ok(value),
            Err(error) => Err(in_member::<D>(error, name)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.members.size_hint().1
    }
}

#[cold]
pub(super) fn in_member<'a, D: Parts<'a>>(error: ResolveError, name: &str) -> ResolveError {
    D::inside(error, Location::Key(name.to_owned()))
}
