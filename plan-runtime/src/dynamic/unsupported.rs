//! Parts of a plan that the target cannot express, or that somebody has to review first.

use crate::print::Line;
use std::fmt;

/// Why a plan is not written: the target cannot express some of its parts, or it contains code that somebody has to review first.
///
/// ```
/// use plan_runtime::Plan;
/// use plan_runtime::dynamic::Dialect;
///
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "inputs": [{"name": "count"}], "steps": [
///     {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {}}, "policy": {"deadline": "1m"}}
/// ], "output": {"value": {"computed": {"written": "count + 1", "reads": [{"input": "count"}]}}}}"#)?;
/// let lacking = Dialect::Blueprint.write(&plan).unwrap_err();
/// assert_eq!(lacking.to_string(), "\
/// a step blueprint (`${step[0]…}`) cannot express 3 parts of the plan:
/// - input `count`: a plan of this dialect has no inputs
/// - step `a`: a deadline for all attempts together
/// - the output: the computed value `count + 1`");
/// assert_eq!(lacking.all()[1].place, "step `a`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    why: Reason,
    all: Vec<UnsupportedPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// This target cannot express the parts.
    NoForm(&'static str),
    /// The parts are code from outside the program.
    #[cfg(feature = "rust")]
    Foreign,
}

/// A part of a plan that the target cannot express, or that somebody has to review first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedPart {
    /// Where it is: ``step `sent` ``, ``argument `to` of step `sent` ``, `the output`.
    pub place: String,
    /// What it is: `a deadline for all attempts together`.
    pub construct: String,
}

impl UnsupportedPart {
    pub(in crate::dynamic) fn new(place: impl Into<String>, construct: impl Into<String>) -> Self {
        let (place, construct) = (place.into(), construct.into());
        Self { place, construct }
    }
}

impl Unsupported {
    pub(in crate::dynamic) fn new(target: &'static str, all: Vec<UnsupportedPart>) -> Self {
        let why = Reason::NoForm(target);
        Self { why, all }
    }

    /// Code from outside the program.
    #[cfg(feature = "rust")]
    pub(in crate::dynamic) fn foreign(all: Vec<UnsupportedPart>) -> Self {
        let why = Reason::Foreign;
        Self { why, all }
    }

    /// All parts that cannot be expressed, or all code to review, in the order of the plan; there is at least one.
    pub fn all(&self) -> &[UnsupportedPart] {
        &self.all
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.all.len();
        match (self.why, count) {
            (Reason::NoForm(target), 1) => {
                write!(f, "{target} cannot express a part of the plan:")?;
            }
            (Reason::NoForm(target), _) => {
                write!(f, "{target} cannot express {count} parts of the plan:")?;
            }
            #[cfg(feature = "rust")]
            (Reason::Foreign, 1) => {
                f.write_str("the plan contains code from outside the program:")?;
            }
            #[cfg(feature = "rust")]
            (Reason::Foreign, _) => write!(
                f,
                "the plan contains code from outside the program in {count} places:"
            )?,
        }
        match &self.all[..] {
            [one] => write!(f, " {one}")?,
            all => all.iter().try_for_each(|one| write!(f, "\n- {one}"))?,
        }
        match self.why {
            Reason::NoForm(_) => Ok(()),
            #[cfg(feature = "rust")]
            Reason::Foreign => {
                f.write_str("\nhelp: review the code, then call `RustSource::allow_code`")
            }
        }
    }
}

impl fmt::Display for UnsupportedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Line(&self.place), Line(&self.construct))
    }
}

impl std::error::Error for Unsupported {}
