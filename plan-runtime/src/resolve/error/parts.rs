//! The parts of an error: its kind, its argument, its reference, and the value that it found.

use super::{ErrorDetail, ErrorKind, FoundValue, Location, ResolveError};
use crate::plan::push_key;
use jsonptr::PointerBuf;

impl ResolveError {
    /// Returns the computed value with the error, in its author's notation.
    pub fn expression(&self) -> Option<&str> {
        self.0.computed.as_deref()
    }

    /// Returns the kind of the error, without its position and cause.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.what {
            ErrorDetail::NoMember { .. } | ErrorDetail::NoElement { .. } => ErrorKind::Missing,
            ErrorDetail::NoInside | ErrorDetail::NoList | ErrorDetail::NoObject => {
                ErrorKind::NotInside
            }
            ErrorDetail::Type { .. } if self.found_absence() => ErrorKind::Absent,
            ErrorDetail::Type { .. } => ErrorKind::Type,
            ErrorDetail::Needed(_) if self.0.reference.is_none() => ErrorKind::MissingArgument,
            ErrorDetail::Needed(_) => ErrorKind::Type,
            ErrorDetail::NoOutput => ErrorKind::NoOutput,
            ErrorDetail::Failed(_) => ErrorKind::Failed,
            ErrorDetail::Raised { .. } => ErrorKind::Value,
            ErrorDetail::NotExecutable => ErrorKind::NotExecutable,
            ErrorDetail::Encode(_) => ErrorKind::NotJson,
            ErrorDetail::TooDeep => ErrorKind::TooDeep,
            ErrorDetail::Limit(_) => ErrorKind::Limit,
            ErrorDetail::Interrupted => ErrorKind::Interrupted,
            ErrorDetail::Other(_) => ErrorKind::Other,
        }
    }

    /// Returns `true` if the target of a reference is missing: a member, an element, or a part of null.
    pub(crate) fn is_missing(&self) -> bool {
        match &self.0.what {
            ErrorDetail::NoMember { .. } | ErrorDetail::NoElement { .. } => true,
            ErrorDetail::NoInside => {
                matches!(&self.0.found, Some(FoundValue::Value(found)) if found == "null")
            }
            _ => false,
        }
    }

    /// Returns the argument in its author's notation (`filters.sender`, `tags[2]`), or `None` for the arguments as a
    /// whole.
    pub fn argument(&self) -> Option<String> {
        let mut path = String::new();
        for place in self.0.argument.iter().rev() {
            match place {
                Location::Key(key) => push_key(&mut path, key),
                Location::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        if let (ErrorDetail::Needed(field), None) = (&self.0.what, &self.0.reference) {
            push_key(&mut path, field);
        }
        (!path.is_empty()).then_some(path)
    }

    /// Returns the reference in its author's notation.
    pub fn reference(&self) -> Option<&str> {
        self.0.reference.as_deref()
    }

    /// Returns the pointer into the output: to a value that does not fit, to a missing value, or to a part that JSON
    /// cannot represent.
    pub fn pointer(&self) -> Option<PointerBuf> {
        self.has_pointer()
            .then(|| PointerBuf::from_tokens(self.0.pointer.iter().rev().map(String::as_str)))
    }

    /// Returns the part of the pointer that leads to an existing value.
    pub fn reached(&self) -> Option<PointerBuf> {
        self.has_pointer().then(|| self.prefix(0))
    }

    /// Returns the value at the end of [`reached`](Self::reached), shortened.
    pub fn found_text(&self) -> Option<&str> {
        match self.0.found.as_ref()? {
            FoundValue::Absent => Some("absent"),
            FoundValue::Value(text) => Some(text),
        }
    }

    pub(super) fn found_absence(&self) -> bool {
        matches!(self.0.found, Some(FoundValue::Absent))
    }

    fn has_pointer(&self) -> bool {
        self.0.reference.is_some()
            || matches!(self.0.what, ErrorDetail::Encode(_) | ErrorDetail::TooDeep)
    }

    /// Returns the pointer up to the error, and `more` tokens.
    pub(super) fn prefix(&self, more: usize) -> PointerBuf {
        let end = self.0.pointer.len() - self.0.beyond + more;
        let tokens = self.0.pointer.iter().rev().take(end);
        PointerBuf::from_tokens(tokens.map(String::as_str))
    }
}
