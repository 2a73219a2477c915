//! The messages of errors of steps and runs.

use super::on_one_line;
use super::path::Elements;
use super::run::{Cause, FailedStep, Interrupt, RunError, StepError, Undoing};
use crate::journal::JournalError;
use crate::print::{Cut, Line, MOST, MessageName, some_shown, visibly};
use humantime::format_duration;
use std::fmt;

/// Writes a tool's error with its causes, on one line. A line break appears as `\n`, and other characters that a terminal
/// would not show as Rust escapes. A message of more than 4,000 characters is truncated.
impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(error) => write!(f, "{}", on_one_line(error.as_std())),
            Self::Panic(message) => write!(f, "panicked: {}", Cut(Line(message), MOST)),
            Self::Arguments(error) | Self::Limit(error) => write!(f, "{error}"),
            Self::Output(error) => write!(f, "its output is invalid: {error}"),
            Self::Timeout(limit) => write!(f, "took longer than {}", format_duration(*limit)),
            Self::Deadline(limit) => {
                write!(
                    f,
                    "took longer than {} over all attempts",
                    format_duration(*limit)
                )
            }
            Self::Fallback(error) => write!(f, "its fallback: {error}"),
            Self::Refused(reason) => write!(f, "was refused: {}", Cut(Line(reason), MOST)),
            Self::Failed(failure) => write!(f, "{failure}"),
            Self::Block(run) => run.write_failures(f, ""),
            Self::TooManyRounds(most) => write!(
                f,
                "its condition is still true after {most} rounds, the maximum (`at_most`)"
            ),
            Self::NoSignals => {
                f.write_str("no value can arrive: the program dropped all `Signals` of the run")
            }
            Self::Unknown => f.write_str("the program has no code that runs this step"),
        }
    }
}

impl fmt::Display for FailedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (step, element) = (&self.step, Elements(&self.element));
        write!(f, "step `{step}{element}`")?;
        if let Some(tool) = self.tool() {
            write!(f, " ({})", MessageName(tool))?;
        }
        write!(f, ": {}", self.error)?;
        if self.blocked.is_empty() {
            return Ok(());
        }
        write!(f, " (this blocked {})", some_shown(&self.blocked))
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cached, since each enclosing error formats the errors inside it.
        f.write_str(self.0.text.get_or_init(|| ErrorText(self).to_string()))
    }
}

/// The message of an error, which the error formats once.
struct ErrorText<'e>(&'e RunError);

impl fmt::Display for ErrorText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        // A journal without the run has no name of a plan.
        if let Cause::Journal(error) = &error.0.cause
            && let JournalError::Unknown { .. } = **error
        {
            return error.fmt(f);
        }
        let plan = MessageName(error.plan());
        write!(f, "plan `{plan}` ")?;
        match &error.0.cause {
            Cause::Inputs(inputs) => write!(f, "cannot start: {inputs}")?,
            Cause::NoSignals(why) => write!(f, "cannot start: {}", Line(why))?,
            Cause::Unfit(mistakes) => write!(f, "cannot start: {}", Line(mistakes.join("; ")))?,
            Cause::Journal(error) => write!(f, "cannot start: {error}")?,
            Cause::Plan(message) => write!(f, "cannot run: {}", Line(message))?,
            Cause::Output(output) => write!(f, "failed: its output: {output}")?,
            Cause::Panicked(panic) => write!(f, "{}", Line(panic))?,
            Cause::Steps => f.write_str("failed")?,
            Cause::Interrupted(Interrupt::Cancelled) => f.write_str("was cancelled")?,
            Cause::Interrupted(Interrupt::Deadline(limit)) => {
                write!(f, "took longer than {}", format_duration(*limit))?;
            }
            Cause::Interrupted(Interrupt::Outer) => {
                f.write_str("exceeded the time limit of the enclosing call")?;
            }
            Cause::Interrupted(Interrupt::Limit(place) | Interrupt::Recorded(place)) => {
                write!(f, "was ended: {place}")?;
            }
            Cause::Interrupted(Interrupt::Outside(why)) => write!(f, "was ended: {why}")?,
            Cause::Interrupted(Interrupt::Journal(error)) => {
                let advice = match **error {
                    JournalError::Changed { .. } => "resume the run with its original plans",
                    JournalError::Misfit { .. } => {
                        "resume the run with a plan whose types match the recorded values, or start a new run with another ID"
                    }
                    JournalError::Untaken { .. } => {
                        "resume the run with its earlier plan and options"
                    }
                    JournalError::Ended { .. } => {
                        "start the run with the plan and the options with which it ended, or start a new run with another ID"
                    }
                    _ => "start the run again to resume from its records",
                };
                write!(f, "stopped: {error}; {advice}")?;
            }
            Cause::Interrupted(Interrupt::Nested(plans)) => write!(
                f,
                "is nested too deeply: {plans} plans are already inside each other, the maximum; end the recursion earlier, or write a loop in a tool"
            )?,
        }
        error.write_failures(
            f,
            match error.0.cause {
                Cause::Steps => ": ",
                _ => "; ",
            },
        )
    }
}

impl RunError {
    /// Writes all failures, the first one after this separator, and the outcomes of the steps that have undo steps.
    pub(super) fn write_failures(
        &self,
        f: &mut fmt::Formatter<'_>,
        mut separator: &str,
    ) -> fmt::Result {
        for failure in self.failures() {
            if self.exceeds_limit() && failure.is_limit() {
                continue;
            }
            write!(f, "{separator}{failure}")?;
            separator = "; ";
        }
        write!(f, "{}", UndoingText(&self.0.undoing, separator))
    }
}

/// The undone steps and the steps that were not undone, each list after this sign.
struct UndoingText<'e>(&'e Undoing, &'e str);

impl fmt::Display for UndoingText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Undoing { undone, not_undone }, separator) = self;
        for (steps, what) in [(undone, "undone"), (not_undone, "not undone")] {
            if !steps.is_empty() {
                write!(f, "{separator}{what}: {}", some_shown(steps))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.cause, self.failures()) {
            _ if f.alternate() => visibly(f, |f| fmt::Debug::fmt(&self.0, f)),
            (_, failures @ [_, _, ..]) => {
                write!(f, "plan `{}` failed:", MessageName(self.plan()))?;
                failures.iter().try_for_each(|it| write!(f, "\n    {it}"))?;
                write!(f, "{}", UndoingText(&self.0.undoing, "\n    "))
            }
            (Cause::Unfit(mistakes), _) if mistakes.len() > 1 => {
                write!(f, "plan `{}` cannot start:", MessageName(self.plan()))?;
                mistakes
                    .iter()
                    .try_for_each(|it| write!(f, "\n    {}", Line(it)))
            }
            _ => fmt::Display::fmt(self, f),
        }
    }
}
