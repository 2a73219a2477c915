//! Parts of a plan that `plan!` cannot express, or that need a review first.

use plan_graph::Line;
use plan_runtime::Plan;
use std::fmt;

/// The largest number of characters of a name in a message.
const SHORT: usize = 60;

/// The reasons why the source of a plan is not written: `plan!` cannot express parts of the plan, or the plan contains code from
/// outside the program, which needs a review first.
///
/// ```
/// use plan_runtime::Plan;
///
/// let plan: Plan = serde_json::from_str(r#"{"name": "p", "steps": [
///     {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"2x": 1, "y": {"text": [{"value": [5]}]}}}}
/// ]}"#)?;
/// let unsupported = plan_rust::to_rust(&plan).unwrap_err();
/// assert_eq!(unsupported.to_string(), "\
/// `plan!` cannot express 2 parts of the plan:
/// - argument `2x` of step `a`: a name that is not a Rust identifier
/// - argument `y` of step `a`: the value `[5]` in a text");
/// assert_eq!(unsupported.all()[1].place, "argument `y` of step `a`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// `true` if the parts are code from outside the program.
    is_foreign: bool,
    all: Vec<UnsupportedPart>,
}

/// A part of a plan that `plan!` cannot express, or code from outside the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedPart {
    /// The position: ``step `sent` ``, ``argument `to` of step `sent` ``, `the output`.
    pub place: String,
    /// The construct: ``a `loop` inside something else``.
    pub construct: String,
}

impl UnsupportedPart {
    pub(crate) fn new(place: impl Into<String>, construct: impl Into<String>) -> Self {
        let (place, construct) = (place.into(), construct.into());
        Self { place, construct }
    }

    /// Returns the parts of a plan that are nested too deeply to be visited and written.
    pub(crate) fn deep(plan: &Plan) -> Vec<Self> {
        let steps = plan.steps.iter().filter(|step| step.is_deep());
        let steps = steps.map(|step| format!("step `{}`", shown(&step.id)));
        let output = plan.output.value.is_deep();
        let places = steps.chain(output.then(|| "the output".to_owned()));
        let part = |place| Self::new(place, "a value that is nested too deeply");
        places.map(part).collect()
    }
}

impl Unsupported {
    pub(crate) fn new(all: Vec<UnsupportedPart>) -> Self {
        let is_foreign = false;
        Self { is_foreign, all }
    }

    /// Creates the error for code from outside the program.
    pub(crate) fn foreign(all: Vec<UnsupportedPart>) -> Self {
        let is_foreign = true;
        Self { is_foreign, all }
    }

    /// Returns all parts that `plan!` cannot express, or all code to review, in the order of the plan. The slice is never
    /// empty.
    pub fn all(&self) -> &[UnsupportedPart] {
        &self.all
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_foreign {
            "the plan contains code from outside the program"
        } else {
            "`plan!` cannot express "
        })?;
        match (self.is_foreign, self.all.len()) {
            (true, 1) => Ok(()),
            (true, count) => write!(f, " in {count} places"),
            (false, 1) => f.write_str("a part of the plan"),
            (false, count) => write!(f, "{count} parts of the plan"),
        }?;
        f.write_str(":")?;
        match &self.all[..] {
            [one] => write!(f, " {one}")?,
            all => all.iter().try_for_each(|one| write!(f, "\n- {one}"))?,
        }
        if self.is_foreign {
            f.write_str("\nhelp: review the code, then call `RustSource::allow_code`")?;
        }
        Ok(())
    }
}

impl fmt::Display for UnsupportedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Line(&self.place), Line(&self.construct))
    }
}

impl std::error::Error for Unsupported {}

/// Returns a string of the plan, shortened for a message.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => Line(format!("{}…", &text[..end])).to_string(),
        None => Line(text).to_string(),
    }
}
