//! How much a resolution makes, and whether it is to go on.

use super::error::{ErrorDetail, Limit, ResolveError};
use serde_json::Value;
use std::cell::Cell;
use std::fmt;

/// How deep templates and values may be nested together.
const DEEPEST: u16 = 256;

/// What each part of a value counts, besides its text: about what it takes in memory.
pub(super) const PART: usize = 32;

/// What a member counts, besides its name and its text.
pub(super) const MEMBER: usize = 64;

/// What an object counts that has members, besides those: there is room for some more in it.
pub(super) const OBJECT: usize = 600;

/// The number of bytes after which the meter checks whether there is time left. Making them takes well below a millisecond.
const SLICE: usize = 64 << 10;

/// Counts the bytes that are made, up to a limit, and asks every so often whether it is to go on.
pub(crate) struct Meter<'a> {
    /// The bytes until the next look.
    left: Cell<usize>,
    /// The bytes after those.
    beyond: Cell<usize>,
    /// The bytes that may be read until the next look.
    unread: Cell<usize>,
    room: MemoryBudget,
    stop: Option<&'a dyn Fn() -> bool>,
}

/// How much room there is for a value: no more than one may take, and no more than is left for all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBudget {
    /// The limit for one value.
    pub(crate) value: usize,
    /// The limit for the arguments of one call.
    pub(crate) arguments: usize,
    /// The limit for all.
    pub(crate) total: usize,
    /// What is left of that.
    pub(crate) left: usize,
    /// Whether the limit is that of many runs together.
    pub(crate) is_of_many: bool,
}

impl MemoryBudget {
    /// For a value that is nobody's but the caller's.
    pub(crate) const UNLIMITED: Self = Self {
        value: usize::MAX,
        arguments: usize::MAX,
        total: usize::MAX,
        left: usize::MAX,
        is_of_many: false,
    };

    /// For a value that is not among all yet.
    pub(crate) fn of_one(self) -> Self {
        Self {
            left: usize::MAX,
            ..self
        }
    }

    #[inline]
    fn bytes(self) -> usize {
        self.value.min(self.left)
    }

    /// Whether a call may have arguments of this size.
    #[inline]
    pub(crate) fn check_arguments(self, bytes: usize) -> Result<(), ResolveError> {
        if bytes > self.arguments {
            return Err(ResolveError::limit(Limit::Arguments(self.arguments)));
        }
        Ok(())
    }

    /// The error for a value that needs more.
    #[cold]
    pub(crate) fn exceeded(self) -> ResolveError {
        ResolveError::limit(match (self.left < self.value, self.is_of_many) {
            (true, true) => Limit::TotalOfMany(self.total),
            (true, false) => Limit::Total(self.total),
            (false, _) => Limit::Value(self.value),
        })
    }
}

impl<'a> Meter<'a> {
    /// A meter that stops where there is no room, and once `stop` says so.
    #[inline]
    pub(crate) fn new(room: MemoryBudget, stop: Option<&'a dyn Fn() -> bool>) -> Self {
        let left = room.bytes().min(SLICE);
        Self {
            left: Cell::new(left),
            beyond: Cell::new(room.bytes() - left),
            unread: Cell::new(SLICE),
            room,
            stop,
        }
    }

    /// A meter that never stops.
    pub(crate) fn unlimited() -> Self {
        Self::new(MemoryBudget::UNLIMITED, None)
    }

    /// Another one like it, which has counted nothing yet.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.room, self.stop)
    }

    /// How much room there was.
    pub(crate) fn room(&self) -> MemoryBudget {
        self.room
    }

    /// The bytes so far.
    #[inline]
    pub(crate) fn spent(&self) -> usize {
        self.room.bytes() - self.left.get() - self.beyond.get()
    }

    /// Counts `bytes` more.
    #[inline(always)]
    pub(super) fn charge(&self, bytes: usize) -> Result<(), ResolveError> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => self.look(bytes),
        }
    }

    /// Asks every so often whether it is to go on, where values are read and nothing is made.
    pub(super) fn read(&self, bytes: usize) -> Result<(), ResolveError> {
        if let Some(unread) = self.unread.get().checked_sub(bytes) {
            self.unread.set(unread);
            return Ok(());
        }
        self.unread.set(SLICE);
        self.look(0)
    }

    #[cold]
    fn look(&self, bytes: usize) -> Result<(), ResolveError> {
        if self.stop.is_some_and(|stop| stop()) {
            return Err(ResolveError::of(ErrorDetail::Interrupted));
        }
        let left = self.left.get() + self.beyond.get();
        let Some(left) = left.checked_sub(bytes) else {
            // Whoever goes on after the error gets no further.
            self.left.set(0);
            self.beyond.set(0);
            return Err(self.room.exceeded());
        };
        let slice = left.min(SLICE);
        self.left.set(slice);
        self.beyond.set(left - slice);
        Ok(())
    }

    /// A whole value is made, or has been.
    pub(crate) fn charge_value(&self, value: &Value) -> Result<(), ResolveError> {
        self.charge_part(value, 0)
    }

    fn charge_part(&self, value: &Value, depth: u16) -> Result<(), ResolveError> {
        if depth > DEEPEST {
            return Err(ResolveError::of(ErrorDetail::TooDeep));
        }
        match value {
            Value::String(text) => self.charge(PART + text.len()),
            Value::Array(items) => {
                self.charge(PART)?;
                items
                    .iter()
                    .try_for_each(|item| self.charge_part(item, depth + 1))
            }
            Value::Object(members) => {
                self.charge(PART + if members.is_empty() { 0 } else { OBJECT })?;
                members.iter().try_for_each(|(name, member)| {
                    self.charge(MEMBER - PART + name.len())?;
                    self.charge_part(member, depth + 1)
                })
            }
            _ => self.charge(PART),
        }
    }
}

impl fmt::Debug for Meter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter")
            .field("room", &self.room)
            .field("spent", &self.spent())
            .finish()
    }
}

/// What a value counts toward the limits of a run.
pub(crate) fn bytes_of(value: &Value) -> usize {
    let meter = Meter::new(MemoryBudget::UNLIMITED, None);
    // One that is too deep counts as far as it was looked at.
    let _ = meter.charge_value(value);
    meter.spent()
}

/// The depth of the parts of a value at this depth.
#[inline]
pub(super) fn deeper(depth: u16) -> Result<u16, ResolveError> {
    if depth >= DEEPEST {
        return Err(ResolveError::of(ErrorDetail::TooDeep));
    }
    Ok(depth + 1)
}

/// Charges where there is a meter.
#[inline(always)]
pub(super) fn charge(meter: Option<&Meter<'_>>, bytes: usize) -> Result<(), ResolveError> {
    match meter {
        Some(meter) => meter.charge(bytes),
        None => Ok(()),
    }
}

/// Charges a whole value where there is a meter.
pub(super) fn charge_value(meter: Option<&Meter<'_>>, value: &Value) -> Result<(), ResolveError> {
    match meter {
        Some(meter) => meter.charge_value(value),
        None => Ok(()),
    }
}

/// A text that is written piece by piece, no further than the meter goes.
pub(super) struct Writing<'m, 'a> {
    pub(super) out: &'m mut String,
    meter: Option<&'m Meter<'a>>,
    stopped: Option<ResolveError>,
}

impl<'m, 'a> Writing<'m, 'a> {
    pub(super) fn new(out: &'m mut String, meter: Option<&'m Meter<'a>>) -> Self {
        Self {
            out,
            meter,
            stopped: None,
        }
    }

    /// Writes what is to be shown.
    pub(super) fn show(mut self, shown: impl fmt::Display) -> Result<(), ResolveError> {
        match fmt::write(&mut self, format_args!("{shown}")) {
            Ok(()) => Ok(()),
            Err(error) => Err(self
                .stopped
                .unwrap_or_else(|| ResolveError::new(error.to_string()))),
        }
    }
}

impl fmt::Write for Writing<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Err(error) = charge(self.meter, text.len()) {
            self.stopped = Some(error);
            return Err(fmt::Error);
        }
        self.out.push_str(text);
        Ok(())
    }
}
