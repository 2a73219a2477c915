//! The errors of tools, of steps and of runs.

mod block;
mod caught;
mod json;
mod kind;
mod left;
mod path;
mod run;
mod text;

pub(crate) use block::BlockPlace;
pub use kind::RunErrorKind;
pub(crate) use left::LeftWork;
pub(crate) use path::{Elements, StepPath, elements};
pub(crate) use run::{Cause, Interrupt, Undoing};
pub use run::{FailedStep, RunError, StepError};

use crate::print::{Cut, Line, Lines, MOST, visibly};
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// The result of a tool.
pub type Result<T, E = Error> = std::result::Result<T, E>;

type Boxed = Box<dyn StdError + Send + Sync>;

/// The error of a tool.
///
/// The operator `?` converts every type that converts into a boxed error: any [`std::error::Error`], a string, `anyhow::Error`. An error is
/// *transient* (another attempt may succeed) unless it is marked as *permanent*. The error of a called plan is transient
/// if all its failures are transient.
///
/// `{}` writes only the error, and `{:#}` adds its causes, on one line. Characters that a terminal would not show, such as escape
/// sequences and characters without a width, appear as Rust escapes. The errors of [`chain`](Self::chain) print without such
/// escapes.
///
/// Like `anyhow::Error`, this type does not implement [`std::error::Error`], but converts into a `Box<dyn Error>`.
///
/// ```
/// use plan_runtime::{Error, Result, ResultExt};
///
/// fn port(text: &str) -> Result<u16> {
///     if text.is_empty() {
///         return Err(Error::msg("the service has not written its port yet"));
///     }
///     text.parse().permanent()
/// }
///
/// assert!(port("").unwrap_err().is_transient());
/// assert!(port("http").unwrap_err().is_permanent());
/// ```
pub struct Error {
    error: Boxed,
    permanent: bool,
    retry_after: Option<Duration>,
    code: Option<Box<str>>,
}

impl Error {
    /// Creates a transient error from an error, a string, or another type that converts into a boxed error, such as
    /// `anyhow::Error`.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// let error = Error::new(std::fmt::Error);
    /// assert!(error.is_transient());
    /// ```
    pub fn new(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let error = error.into();
        let run = error.downcast_ref::<RunError>();
        Self {
            permanent: run.is_some_and(RunError::is_permanent)
                || error
                    .downcast_ref::<crate::failure::Failure>()
                    .is_some_and(|failure| !failure.transient),
            retry_after: run.and_then(RunError::retry_delay),
            code: None,
            error,
        }
    }

    /// Creates a transient error with a message.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// assert_eq!(Error::msg("mailbox is locked").to_string(), "mailbox is locked");
    /// ```
    pub fn msg(message: impl fmt::Display) -> Self {
        Self::new(message.to_string())
    }

    /// Creates a permanent error, for which another attempt would not help, from the types that [`Error::new`] accepts.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// assert!(Error::permanent("there is no such mailbox").is_permanent());
    /// ```
    pub fn permanent(error: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(error).into_permanent()
    }

    /// Marks the error as permanent: another attempt would not help.
    fn into_permanent(mut self) -> Self {
        self.permanent = true;
        self
    }

    /// Sets the permanence and the retry time of the error, from a record.
    pub(crate) fn meaning(self, permanent: bool, retry_after: Option<Duration>) -> Self {
        Self {
            permanent,
            retry_after,
            ..self
        }
    }

    /// Adds the operation that failed. The original error becomes the [source](Self::source), and the new error is transient if the
    /// original error is transient.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// let error = Error::msg("connection refused").context("fetching the inbox");
    /// assert_eq!(error.to_string(), "fetching the inbox");
    /// assert_eq!(format!("{error:#}"), "fetching the inbox: connection refused");
    /// ```
    #[must_use]
    pub fn context(self, message: impl fmt::Display) -> Self {
        Self {
            error: Box::new(Context {
                message: message.to_string(),
                source: self.error,
            }),
            permanent: self.permanent,
            retry_after: self.retry_after,
            code: self.code,
        }
    }

    /// Sets the shortest time until a retry, such as the value of a server's [`Retry-After`](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
    /// (RFC 9110, section 10.2.3) with status 429. A step with `#[retry]` waits at least for this time, but at most an hour. Calls that share a
    /// [`Throttle`](crate::run::Throttle) with the tool wait as well.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// # use std::time::Duration;
    /// let error = Error::msg("too many requests").retry_after(Duration::from_secs(30));
    /// assert_eq!(error.retry_delay(), Some(Duration::from_secs(30)));
    /// ```
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Returns the shortest time until a retry, if [`retry_after`](Self::retry_after) set a time. For the error of a plan, returns the
    /// longest time of its failures.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Sets a code for programs, such as `"NOT_FOUND"`. The [`code`](crate::Failure::code) of the failure is this code.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// assert_eq!(Error::msg("there is no moon").with_code("NOT_FOUND").code(), Some("NOT_FOUND"));
    /// ```
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into().into());
        self
    }

    /// Returns the [code](Self::with_code), if the tool set one.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns `true` if another attempt may succeed.
    pub fn is_transient(&self) -> bool {
        !self.permanent
    }

    /// Returns `true` if another attempt would not help.
    pub fn is_permanent(&self) -> bool {
        self.permanent
    }

    /// Returns the cause of the error.
    pub fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source()
    }

    /// Returns the error and its chain of causes.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn StdError + 'static)> + fmt::Debug {
        chain(&*self.error)
    }

    /// Returns the first error of type `E` among the error and its causes.
    ///
    /// ```
    /// # use plan_runtime::Error;
    /// let error = Error::new("x".parse::<u8>().unwrap_err()).context("reading the age");
    /// assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
    /// ```
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        self.chain().find_map(|error| error.downcast_ref())
    }

    pub(crate) fn into_std(self) -> Boxed {
        self.error
    }

    pub(crate) fn as_std(&self) -> &(dyn StdError + 'static) {
        &*self.error
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        error.error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            write!(f, "{}", on_one_line(self.as_std()))
        } else {
            write!(f, "{}", Lines(&self.error))
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return visibly(f, |f| {
                let mut debug = f.debug_struct("Error");
                debug.field("error", &self.error);
                debug.field("permanent", &self.permanent).finish()
            });
        }
        write!(f, "{}", Line(&self.error))?;
        if self.permanent {
            f.write_str("; the error is permanent")?;
        }
        if self.source().is_some() {
            f.write_str("\n\nCaused by:")?;
            for cause in self.chain().skip(1) {
                write!(f, "\n    {}", Line(cause))?;
            }
        }
        Ok(())
    }
}

/// Marks the error of a result as permanent.
pub trait ResultExt<T> {
    /// Marks the error as permanent: a further attempt would fail as well.
    ///
    /// ```
    /// # use plan_runtime::{Result, ResultExt};
    /// fn age(text: &str) -> Result<u8> {
    ///     Ok(text.parse::<u8>().permanent()?)
    /// }
    /// assert!(age("old").unwrap_err().is_permanent());
    /// ```
    fn permanent(self) -> Result<T>;
}

impl<T, E: Into<Error>> ResultExt<T> for Result<T, E> {
    fn permanent(self) -> Result<T> {
        self.map_err(|error| error.into().into_permanent())
    }
}

#[derive(Debug)]
struct Context {
    message: String,
    source: Boxed,
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Context {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

fn chain<'e>(
    error: &'e (dyn StdError + 'static),
) -> impl Iterator<Item = &'e (dyn StdError + 'static)> + fmt::Debug {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// The largest number of causes that a chain contains, because an error may be its own cause.
const CAUSES: usize = 50;

/// Writes an error and its causes on one line, up to a length that people read.
fn on_one_line(error: &(dyn StdError + 'static)) -> impl fmt::Display {
    Cut(Line(Causes(error)), MOST)
}

/// An error and its causes. A cause whose message is part of its effect's message is omitted.
struct Causes<'e>(&'e (dyn StdError + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = String::new();
        for error in chain(self.0).take(CAUSES) {
            let text = Cut(error, MOST).to_string();
            if said.is_empty() {
                f.write_str(&text)?;
            } else if said.contains(&text) {
                continue;
            } else {
                write!(f, ": {text}")?;
            }
            said = text;
        }
        Ok(())
    }
}
