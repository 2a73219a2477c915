//! The message of an error.

use super::super::describe;
use super::{ErrorDetail, Limit, ResolveError};
use crate::print::{Cut, Line, MOST, MessageName};
use std::fmt;

/// Writes the error on one line, with escapes for characters that a terminal would not show.
impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Cut(Line(Message(self)), MOST))
    }
}

struct Message<'e>(&'e ResolveError);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        if let Some(input) = &error.0.input {
            write!(f, "input `{}`: ", MessageName(input))?;
        }
        if let Some(part) = error.0.part {
            write!(f, "{part}: ")?;
        }
        let argument = error.argument().map(|argument| describe::short(&argument));
        let from_elsewhere = error.0.reference.is_some() || error.0.computed.is_some();
        match (&error.0.what, &argument) {
            (ErrorDetail::Needed(_), Some(argument)) if !from_elsewhere => {
                return write!(f, "argument `{argument}` is missing");
            }
            (ErrorDetail::Type { expected, .. }, _)
                if from_elsewhere && error.0.found.is_some() =>
            {
                match &argument {
                    Some(argument) => write!(f, "argument `{argument}` takes {expected}, but ")?,
                    None => write!(f, "the value must be {expected}, but ")?,
                }
                self.write_subject(f)?;
                write!(f, " is {}", error.found_text().unwrap_or_default())?;
                if error.found_absence() {
                    f.write_str(
                        "; make the argument optional, or give a default with `unwrap_or`",
                    )?;
                }
                return Ok(());
            }
            (_, Some(argument)) => write!(f, "argument `{argument}`: ")?,
            (_, None) => {}
        }
        self.write_what(f)?;
        match (
            &error.0.what,
            error.found_text(),
            &error.0.reference,
            &error.0.computed,
        ) {
            (
                ErrorDetail::Type { .. } | ErrorDetail::Other(_) | ErrorDetail::Needed(_),
                Some(found),
                Some(_),
                _,
            ) => {
                f.write_str("; ")?;
                self.write_subject(f)?;
                write!(f, " is {found}")
            }
            (_, _, Some(reference), _) if Some(reference) != error.0.source.as_ref() => {
                write!(f, " (reference `{}`)", describe::short(reference))
            }
            (_, _, None, Some(computed)) => {
                write!(f, " (in the computed `{}`)", describe::short(computed))
            }
            _ => Ok(()),
        }
    }
}

impl Message<'_> {
    fn write_what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        let source = MessageName(error.0.source.as_deref().unwrap_or("the value"));
        let found = error.found_text().unwrap_or("something else");
        let reached = error.prefix(0);
        // `inbox` is … at `/data`: the root needs no "at".
        let at = match reached.as_str() {
            "" => String::new(),
            pointer => format!(" at `{}`", describe::pointer(pointer)),
        };
        // The tokens of the pointer are in reverse order.
        let token = error.0.pointer.len().checked_sub(1 + reached.count());
        let next = describe::short(token.map_or("", |at| &error.0.pointer[at]));
        match &error.0.what {
            ErrorDetail::NoMember { known } => {
                write!(f, "`{source}` has no `{next}`{at}; {known}")
            }
            ErrorDetail::NoElement { length } => {
                let elements = describe::counted(*length, "element");
                write!(
                    f,
                    "`{source}` has {elements}{at}, so the list has no element {next}"
                )
            }
            ErrorDetail::NoInside => {
                write!(f, "`{source}` is {found}{at}, so it has no `{next}`")
            }
            ErrorDetail::NoList => {
                write!(
                    f,
                    "`{source}` is {found}{at}, not a list, so `[..]` has no elements to read"
                )
            }
            ErrorDetail::NoObject => {
                write!(
                    f,
                    "only an object can be flattened into the argument, not {found}"
                )
            }
            ErrorDetail::NoOutput => write!(f, "`{source}` has no output to read"),
            ErrorDetail::Failed(failure) => write!(f, "{failure}"),
            ErrorDetail::Raised { message, .. } => f.write_str(message),
            ErrorDetail::NotExecutable => {
                f.write_str("the plan was read from JSON, so there is no code to compute the value")
            }
            ErrorDetail::Encode(message) => match error.prefix(0).as_str() {
                "" => write!(f, "the value {message}"),
                pointer => write!(f, "`{}` {message}", describe::pointer(pointer)),
            },
            ErrorDetail::TooDeep => f.write_str("the value is nested too deeply"),
            ErrorDetail::Limit(limit) => write!(f, "{limit}"),
            ErrorDetail::Interrupted => f.write_str("the run ended before the value was made"),
            ErrorDetail::Type { message, .. } | ErrorDetail::Other(message) => f.write_str(message),
            ErrorDetail::Needed(field) => write!(f, "missing field `{field}`"),
        }
    }

    /// Writes the source of a value that does not fit, as the subject of "is …".
    fn write_subject(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        match (&error.0.reference, &error.0.computed) {
            (Some(reference), _) => match error.prefix(0).as_str() {
                "" => write!(f, "`{}`", describe::short(reference)),
                pointer => write!(
                    f,
                    "`{}` ({})",
                    describe::short(reference),
                    describe::pointer(pointer)
                ),
            },
            (None, Some(computed)) => write!(f, "the computed `{}`", describe::short(computed)),
            (None, None) => f.write_str("the value"),
        }
    }
}

/// Writes the exceeded limit, and a fix.
impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Value(limit) => write!(
                f,
                "the value would take more than {}, the run's limit for one value; read less of it, or raise `run::Limits::value`",
                describe::bytes(limit)
            ),
            Self::Arguments(limit) => write!(
                f,
                "the arguments take more than {}, the run's limit for the arguments of one call; pass less, or raise `run::Limits::arguments`",
                describe::bytes(limit)
            ),
            Self::Total(limit) => write!(
                f,
                "with this value, the run would hold more than {}, its limit; run fewer calls concurrently, read less, or raise `run::Limits::total`",
                describe::bytes(limit)
            ),
            Self::TotalOfMany(limit) => write!(
                f,
                "with this value, the served runs would hold more than {} together, their limit; submit the run again when fewer runs are served, or raise `Serve::total`",
                describe::bytes(limit)
            ),
            Self::Calls(limit) => write!(
                f,
                "the run has made {}, its limit; iterate over less, or raise `run::Limits::calls`",
                describe::counted(limit, "call")
            ),
            Self::Attempts(limit) => write!(
                f,
                "the run has made {}, its limit; retry less, or raise `run::Limits::attempts`",
                describe::counted(limit, "attempt")
            ),
            Self::Elements(limit) => write!(
                f,
                "the run would iterate over more than {}, its limit, which includes the rounds of loops; iterate over less, or raise `run::Limits::elements`",
                describe::counted(limit, "element")
            ),
            Self::Depth(limit) => write!(
                f,
                "more than {} would run inside each other, the run's limit; end the recursion earlier, or raise `run::Limits::depth`",
                describe::counted(limit, "plan")
            ),
            Self::Recorded(limit) => write!(
                f,
                "the run has recorded more than {} in its journal, its limit; return less from its tools, or raise `run::Limits::recorded`",
                describe::bytes(limit)
            ),
        }
    }
}
