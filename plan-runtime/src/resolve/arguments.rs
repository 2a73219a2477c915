//! The arguments of a call that has values handed over.

use super::error::{Location, ResolveError};
use super::meter::{MEMBER, charge};
use super::node::{At, Node};
use super::{Scope, StoredValue, resolve, resolve_json};
use crate::plan::{Entry, Key, Source, Template};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::cell::RefCell;

/// The values that only this call reads. The caller gets back the values that the call does not take.
#[derive(Default)]
pub(crate) struct Handed(RefCell<Given>);

/// The given values, of which most calls have one.
enum Given {
    One(Option<(Source, StoredValue)>),
    More(Vec<(Source, StoredValue)>),
}

impl Default for Given {
    fn default() -> Self {
        Self::One(None)
    }
}

impl Given {
    fn as_slice(&self) -> &[(Source, StoredValue)] {
        match self {
            Self::One(one) => one.as_slice(),
            Self::More(more) => more,
        }
    }

    /// Takes out the value of this source.
    #[inline]
    fn take(&mut self, source: Source) -> Option<StoredValue> {
        let (_, value) = match self {
            Self::One(one) => one.take_if(|(of, _)| *of == source)?,
            Self::More(more) => {
                let place = more.iter().position(|(of, _)| *of == source)?;
                more.swap_remove(place)
            }
        };
        Some(value)
    }

    fn put_back(&mut self, source: Source, value: StoredValue) {
        match self {
            Self::One(one) => *one = Some((source, value)),
            Self::More(more) => more.push((source, value)),
        }
    }
}

impl Handed {
    /// Creates the list of at most one value.
    #[inline]
    pub(crate) fn one(given: Option<(Source, StoredValue)>) -> Self {
        Self(RefCell::new(Given::One(given)))
    }

    /// Creates the list of these values.
    pub(crate) fn more(given: Vec<(Source, StoredValue)>) -> Self {
        Self(RefCell::new(Given::More(given)))
    }

    /// Calls `each` with each value that was not taken.
    #[inline]
    pub(crate) fn each(self, mut each: impl FnMut(Source, StoredValue)) {
        match self.0.into_inner() {
            Given::One(None) => {}
            Given::One(Some((source, value))) => each(source, value),
            Given::More(more) => more
                .into_iter()
                .for_each(|(source, value)| each(source, value)),
        }
    }
}

/// The sources of a call's arguments. Hidden from users: `#[tool]` and `plan!` read the arguments from them.
#[derive(Clone, Copy)]
pub struct Arguments<'s> {
    template: &'s Template,
    scope: &'s Scope<'s>,
    /// The values to hand over, if there are any.
    given: Option<&'s Handed>,
}

impl<'s> Arguments<'s> {
    pub(crate) fn new(
        template: &'s Template,
        scope: &'s Scope<'s>,
        given: Option<&'s Handed>,
    ) -> Self {
        Self {
            template,
            scope,
            given,
        }
    }

    /// Reads them all from JSON.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](super::resolve()).
    #[inline]
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ResolveError> {
        let Some(given) = self.given else {
            return resolve(self.template, self.scope);
        };
        let given = given.0.borrow();
        resolve(self.template, &self.scope.with_given(given.as_slice()))
    }

    /// Reads them all as JSON.
    pub(crate) fn read_json(&self) -> Result<Value, ResolveError> {
        let Some(given) = self.given else {
            return resolve_json(self.template, self.scope);
        };
        let given = given.0.borrow();
        resolve_json(self.template, &self.scope.with_given(given.as_slice()))
    }

    /// Reads them all as a struct with a derived `Deserialize`.
    #[inline]
    pub(crate) fn read_fields<T: DeserializeOwned>(&self) -> Result<T, ResolveError> {
        match self.given {
            None => {
                let at = At::Arguments(self.template);
                T::deserialize(Node::in_scope(at, self.scope, 0))
            }
            Some(_) => self.read(),
        }
    }

    /// Returns `true` if the arguments have exactly these names, and at least one argument is a value to hand over.
    #[inline]
    #[must_use]
    pub fn are_handed(&self, names: &[&str]) -> bool {
        self.given.is_some_and(|given| self.are_among(given, names))
    }

    #[inline(never)]
    fn are_among(&self, given: &Handed, names: &[&str]) -> bool {
        let Template::Object(entries) = self.template else {
            return false;
        };
        let given = given.0.borrow();
        // Each given value is an argument.
        let is_given = || given.as_slice().iter().any(|(_, value)| value.is_whole());
        let is_there = |source| self.scope.stored(source).is_some_and(StoredValue::is_whole);
        let is_handed = |entry: &Entry| entry.value.whole().is_some_and(is_there);
        entries.len() == names.len()
            && (is_given() || entries.iter().any(is_handed))
            && names.iter().all(|name| self.entry(name).is_some())
    }

    /// Creates a record of the first argument that fails.
    #[inline]
    #[must_use]
    pub fn failed(&self) -> Failed<'s> {
        Failed {
            arguments: *self,
            first: None,
        }
    }

    /// Reads the argument with this name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`resolve`](super::resolve()).
    pub fn field<T: DeserializeOwned + 'static>(&self, name: &str) -> Result<T, ResolveError> {
        self.argument(name, |template, scope| match self.given {
            Some(given) => take(template, scope, given),
            None => read(template, scope),
        })
    }

    #[inline]
    fn argument<T>(
        &self,
        name: &str,
        make: impl FnOnce(&Template, &Scope<'_>) -> Result<T, ResolveError>,
    ) -> Result<T, ResolveError> {
        let Some(entry) = self.entry(name) else {
            return Err(ResolveError::new(format!("there is no argument `{name}`")));
        };
        charge(self.scope.meter(), MEMBER + name.len())?;
        make(&entry.value, self.scope).map_err(|error| error.inside(Location::Key(name.to_owned())))
    }

    fn entry(&self, name: &str) -> Option<&'s Entry> {
        let Template::Object(entries) = self.template else {
            return None;
        };
        entries
            .iter()
            .find(|entry| matches!(&entry.key, Key::Name(key) if key == name))
    }
}

/// The first argument that failed, in the order of their notation, as serde would have reported it.
pub struct Failed<'s> {
    arguments: Arguments<'s>,
    first: Option<(usize, ResolveError)>,
}

impl Failed<'_> {
    /// Returns an argument, and records its error if it has one.
    #[inline]
    pub fn note<T>(&mut self, name: &str, made: Result<T, ResolveError>) -> Option<T> {
        match made {
            Ok(value) => Some(value),
            Err(error) => {
                self.keep(name, error);
                None
            }
        }
    }

    #[cold]
    fn keep(&mut self, name: &str, error: ResolveError) {
        let place = match self.arguments.template {
            Template::Object(entries) => {
                let is_it = |entry: &Entry| matches!(&entry.key, Key::Name(key) if key == name);
                entries.iter().position(is_it).unwrap_or(usize::MAX)
            }
            _ => usize::MAX,
        };
        if self.first.as_ref().is_none_or(|(first, _)| place < *first) {
            self.first = Some((place, error));
        }
    }

    /// Returns the error of the arguments.
    #[cold]
    #[must_use]
    pub fn error(self) -> ResolveError {
        match self.first {
            Some((_, error)) => error,
            None => ResolveError::new("the arguments cannot be read"),
        }
    }
}

/// Takes the Rust value if the template is one whole value of this type. Otherwise, reads the value from JSON.
pub(crate) fn take<T: DeserializeOwned + 'static>(
    template: &Template,
    scope: &Scope<'_>,
    given: &Handed,
) -> Result<T, ResolveError> {
    let mut slot = None;
    if let Some(source) = template.whole() {
        let bytes = hand(source, scope, given, &mut slot);
        if let Some(value) = slot {
            charge(scope.meter(), bytes)?;
            return Ok(value);
        }
    }
    let given = given.0.borrow();
    read(template, &scope.with_given(given.as_slice()))
}

/// Returns a value under this name for one of several readers: shared for a whole value that is handed over, and a copy of the JSON otherwise.
pub(crate) fn share(
    name: &str,
    template: &Template,
    scope: &Scope<'_>,
) -> Result<StoredValue, ResolveError> {
    charge(scope.meter(), MEMBER + name.len())?;
    let stored = template.whole().and_then(|source| scope.stored(source));
    if let Some(shared) = stored.and_then(StoredValue::share) {
        return Ok(shared);
    }
    let json =
        resolve_json(template, scope).map_err(|e| e.inside(Location::Key(name.to_owned())))?;
    Ok(StoredValue::json(json))
}

fn read<T: DeserializeOwned>(template: &Template, scope: &Scope<'_>) -> Result<T, ResolveError> {
    T::deserialize(Node::template(template, scope))
}

/// Fills the slot, if a value of this type is handed over: with the value itself for the last reader, or a clone. Returns the size of the
/// value.
fn hand<T: 'static>(
    source: Source,
    scope: &Scope<'_>,
    given: &Handed,
    slot: &mut Option<T>,
) -> usize {
    let mut given = given.0.borrow_mut();
    if let Some(stored) = given.take(source) {
        let bytes = stored.bytes();
        if let Some(stored) = stored.take_to(slot) {
            given.put_back(source, stored);
        }
        return bytes;
    }
    let stored = scope.stored(source);
    stored.map_or(0, |stored| {
        stored.clone_to(slot);
        stored.bytes()
    })
}
