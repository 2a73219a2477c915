//! The members of an object that its schema does not list, and the required members that the object lacks.

use super::{CheckedValue, MOST_COMPARED, ValueCheck};
use crate::dynamic::dialects::reading::MOST_NAMES;
use crate::dynamic::finding::Note;
use crate::dynamic::schema::{Form, Property, TooMuchWork};
use plan_graph::similar;
use std::collections::HashSet;

/// The names of an object's schema, listed only for an unknown name, and the names that unknown names mean.
#[derive(Default)]
pub(super) struct SchemaNames<'f> {
    all: Option<Vec<&'f str>>,
    meant: HashSet<&'f str>,
}

impl ValueCheck<'_> {
    /// Returns the note for a member that the schema does not list.
    ///
    /// Deep values need a small stack frame of [`object`](Self::object), which calls itself.
    pub(super) fn unlisted<'f>(
        &self,
        (name, value): (&str, CheckedValue<'_>),
        property: &Property<'_>,
        given: &HashSet<&str>,
        form: &Form<'f>,
        found: &mut SchemaNames<'f>,
    ) -> Result<Option<Note>, TooMuchWork> {
        let closed = match property {
            Property::Type(_) => return Ok(Some(self.unknown(value, name, &[], None, true))),
            property => matches!(property, Property::Closed),
        };
        if found.all.is_none() {
            let all = form.names();
            self.work.spend(all.len())?;
            found.all = Some(all);
        }
        let names = found.all.as_deref().unwrap_or_default();
        let free = names.iter().copied().filter(|name| !given.contains(name));
        let similar = if closed && !self.work.may_compare(names.len()) {
            None
        } else {
            // The search for a similar name compares strings.
            self.work.spend(8 * names.len().min(MOST_COMPARED))?;
            similar(name, free.clone())
        };
        if !closed && !self.guesses {
            return Ok(None);
        }
        let similar = match similar {
            None if !self.quiet && given.len() <= MOST_NAMES => {
                self.replaced((name, value), given, form)?
            }
            similar => similar,
        };
        let names = if closed && free.count() == 0 {
            &[]
        } else {
            names
        };
        let note = self.unknown(value, name, names, similar, closed);
        // An error is reported once: here, and not as a missing name.
        found.meant.extend(similar);
        Ok(Some(note))
    }

    /// Returns the note for the required members that an object lacks.
    pub(super) fn missing_of(
        &self,
        item: CheckedValue<'_>,
        open: bool,
        given: &HashSet<&str>,
        form: &Form<'_>,
        found: &SchemaNames<'_>,
    ) -> Result<Option<Note>, TooMuchWork> {
        let required = form.required();
        self.work.spend(required.len())?;
        let missing = required
            .into_iter()
            .filter(|name| !given.contains(name) && !found.meant.contains(name));
        let missing: Vec<&str> = missing.collect();
        Ok((!missing.is_empty() && !open).then(|| self.missing(item, &missing, form)))
    }

    /// Returns the only missing name, if the only unknown name has a value for it.
    fn replaced<'f>(
        &self,
        (unknown, value): (&str, CheckedValue<'_>),
        given: &HashSet<&str>,
        form: &Form<'f>,
    ) -> Result<Option<&'f str>, TooMuchWork> {
        let required = form.required();
        let mut missing = required.into_iter().filter(|name| !given.contains(name));
        let (Some(missing), None) = (missing.next(), missing.next()) else {
            return Ok(None);
        };
        for name in given.iter().filter(|name| **name != unknown) {
            if !matches!(self.property(form, name)?, Property::Type(_)) {
                return Ok(None);
            }
        }
        let fits = match self.property(form, missing)? {
            Property::Type(ty) => self.fits(value, &ty)?,
            _ => false,
        };
        Ok(fits.then_some(missing))
    }
}
