//! The meter of a resolution. The meter counts the bytes of new values, and stops the resolution at a limit.

use super::error::{ErrorDetail, Limit, ResolveError};
use serde_json::Value;
use std::cell::Cell;
use std::fmt;

/// The maximum depth of templates and values together.
const DEEPEST: u16 = 256;

/// The number of bytes for each part of a value, without the part's string. The number is about the part's size in memory.
pub(super) const PART: usize = 32;

/// The number of bytes for each member of an object, without the member's name and string.
pub(super) const MEMBER: usize = 64;

/// The number of bytes for an object with members, without the members. The object has room for further members.
pub(super) const OBJECT: usize = 600;

/// The number of bytes between two checks of the deadline. Building them takes well below a millisecond.
const SLICE: usize = 64 << 10;

/// A counter for the bytes of new values, with a limit and with regular checks of the deadline and of cancellation.
pub(crate) struct Meter<'a> {
    /// The bytes so far.
    spent: Cell<usize>,
    /// The number of bytes at the next look.
    next_look: Cell<usize>,
    /// The bytes that may be read until the next look.
    unread: Cell<usize>,
    room: MemoryBudget,
    stop: Option<&'a dyn Fn() -> bool>,
}

/// The memory budget for a value. The value fits into the limit for one value, and into the rest of the limit for all values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryBudget {
    /// The limit for one value.
    pub(crate) value: usize,
    /// The limit for the arguments of one call.
    pub(crate) arguments: usize,
    /// The limit for all values.
    pub(crate) total: usize,
    /// The bytes left of `total`.
    pub(crate) left: usize,
    /// `true` if many runs share `total`.
    pub(crate) is_of_many: bool,
}

impl MemoryBudget {
    /// The budget of a value that does not count toward a run.
    pub(crate) const UNLIMITED: Self = Self {
        value: usize::MAX,
        arguments: usize::MAX,
        total: usize::MAX,
        left: usize::MAX,
        is_of_many: false,
    };

    /// Returns the budget of a value that does not count toward the total yet.
    #[inline]
    pub(crate) fn of_one(self) -> Self {
        Self::of_bytes(self.value)
    }

    /// Returns the budget of a value with at most this many bytes.
    #[inline]
    pub(crate) fn of_bytes(value: usize) -> Self {
        Self {
            value,
            ..Self::UNLIMITED
        }
    }

    #[inline]
    fn bytes(self) -> usize {
        self.value.min(self.left)
    }

    /// Returns an error if the arguments of a call exceed the limit.
    #[inline]
    pub(crate) fn check_arguments(&self, bytes: usize) -> Result<(), ResolveError> {
        if bytes > self.arguments {
            return Err(ResolveError::limit(Limit::Arguments(self.arguments)));
        }
        Ok(())
    }

    /// Creates the error of a value that exceeds the budget.
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
    /// Creates a meter that stops at the limits of the budget, or if `stop` returns `true`.
    #[inline]
    pub(crate) fn new(room: MemoryBudget, stop: Option<&'a dyn Fn() -> bool>) -> Self {
        Self {
            spent: Cell::new(0),
            next_look: Cell::new(room.bytes().min(SLICE)),
            unread: Cell::new(SLICE),
            room,
            stop,
        }
    }

    /// Creates a meter without limits.
    pub(crate) fn unlimited() -> Self {
        Self::new(MemoryBudget::UNLIMITED, None)
    }

    /// Creates a meter with equal limits that has counted nothing.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.room, self.stop)
    }

    /// Returns the budget of the meter before the first byte.
    #[inline]
    pub(crate) fn room(&self) -> &MemoryBudget {
        &self.room
    }

    /// Returns the counted bytes.
    #[inline]
    pub(crate) fn spent(&self) -> usize {
        self.spent.get()
    }

    /// Counts `bytes` more.
    #[inline(always)]
    pub(super) fn charge(&self, bytes: usize) -> Result<(), ResolveError> {
        let spent = self.spent.get();
        if bytes > self.next_look.get() - spent {
            return self.look(bytes);
        }
        self.spent.set(spent + bytes);
        Ok(())
    }

    /// Counts bytes that are only read, with regular checks of the deadline and of cancellation.
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
        let all = self.room.bytes();
        let left = all - self.spent.get();
        let Some(left) = left.checked_sub(bytes) else {
            // A caller that ignores the error gets it again.
            self.spent.set(all);
            self.next_look.set(all);
            return Err(self.room.exceeded());
        };
        let spent = all - left;
        self.spent.set(spent);
        self.next_look.set(spent + left.min(SLICE));
        Ok(())
    }

    /// Counts the bytes of a whole value.
    pub(crate) fn charge_value(&self, value: &Value) -> Result<(), ResolveError> {
        self.charge_part(value, 0)
    }

    /// Counts the bytes of the parts of a value at this depth. Near a limit, the meter counts nothing and returns `false`. Then a
    /// visitor finds the part that exceeds the limit.
    pub(super) fn counts_parts(&self, value: &Value, depth: u16) -> bool {
        let before = (self.spent.get(), self.next_look.get());
        if self.charge_part(value, depth + 1).is_ok() {
            self.spent.set(self.spent.get() - PART);
            return true;
        }
        self.spent.set(before.0);
        self.next_look.set(before.1);
        false
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

/// Returns the number of bytes of a value for the limits of a run.
pub(crate) fn bytes_of(value: &Value) -> usize {
    let meter = Meter::new(MemoryBudget::UNLIMITED, None);
    // A value that is too deep counts up to the maximum depth.
    let _ = meter.charge_value(value);
    meter.spent()
}

/// Returns the depth of the parts of a value at this depth.
#[inline]
pub(super) fn deeper(depth: u16) -> Result<u16, ResolveError> {
    if depth >= DEEPEST {
        return Err(ResolveError::of(ErrorDetail::TooDeep));
    }
    Ok(depth + 1)
}

/// Charges the meter, if there is one.
#[inline(always)]
pub(super) fn charge(meter: Option<&Meter<'_>>, bytes: usize) -> Result<(), ResolveError> {
    match meter {
        Some(meter) => meter.charge(bytes),
        None => Ok(()),
    }
}

/// Charges the meter for a whole value, if there is a meter.
pub(super) fn charge_value(meter: Option<&Meter<'_>>, value: &Value) -> Result<(), ResolveError> {
    match meter {
        Some(meter) => meter.charge_value(value),
        None => Ok(()),
    }
}

/// A string that grows piece by piece, up to the limit of the meter.
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

    /// Writes a displayed value.
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
