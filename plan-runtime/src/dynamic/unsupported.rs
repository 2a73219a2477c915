//! Parts of a plan that the target cannot express.

use crate::Plan;
use crate::print::{Line, short};
use std::fmt;

crate::print::visible_debug! {
    /// The reasons why a plan is not written: the target cannot express some of its parts, or the parts need a review first.
    ///
    /// ```
    /// use plan_runtime::Plan;
    ///
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "inputs": [{"name": "count"}], "steps": [
    ///     {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"x": {"text": [{"value": 5}]}}}}
    /// ], "output": {"value": {"computed": {"written": "count + 1", "reads": [{"input": "count"}]}}}}"#)?;
    /// let lacking = plan.to_blueprint().unwrap_err();
    /// assert_eq!(lacking.to_string(), "\
    /// a blueprint (`${step[0]…}`) cannot express 3 parts of the plan:
    /// - input `count`: a blueprint has no inputs
    /// - argument `x` of step `a`: the value `5` in a string
    /// - the output: the computed value `count + 1`");
    /// assert_eq!(lacking.all()[1].place, "argument `x` of step `a`");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Clone, PartialEq, Eq)]
    pub struct Unsupported {
        message: String,
        all: Vec<UnsupportedPart>,
        help: Option<&'static str>,
    }
}

crate::print::visible_debug! {
    /// A part of a plan that the target cannot express.
    #[derive(Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct UnsupportedPart {
        /// The position: ``step `sent` ``, ``argument `to` of step `sent` ``, `the output`.
        pub place: String,
        /// The construct: ``an `if` ``.
        pub construct: String,
    }
}

impl UnsupportedPart {
    /// Creates a part at this position.
    pub fn new(place: impl Into<String>, construct: impl Into<String>) -> Self {
        let (place, construct) = (place.into(), construct.into());
        Self { place, construct }
    }

    /// Returns the parts of a plan that are nested deeper than in plan JSON. Code that visits such a part recursively can exceed its stack.
    pub fn deep(plan: &Plan) -> Vec<Self> {
        let steps = plan.steps.iter().filter(|step| step.is_deep());
        let steps = steps.map(|step| format!("step `{}`", shown(&step.id)));
        let output = plan.output.value.is_deep();
        let places = steps.chain(output.then(|| "the output".to_owned()));
        let part = |place| Self::new(place, "a value that is nested too deeply");
        places.map(part).collect()
    }
}

impl Unsupported {
    /// Creates the error of a target that cannot express these parts.
    pub fn new(target: &str, all: Vec<UnsupportedPart>) -> Self {
        let parts = match all.len() {
            1 => "a part".to_owned(),
            count => format!("{count} parts"),
        };
        Self {
            message: format!("{target} cannot express {parts} of the plan"),
            all,
            help: None,
        }
    }

    /// Creates the error for parts that need a review first.
    pub fn unreviewed(
        message: impl Into<String>,
        all: Vec<UnsupportedPart>,
        help: &'static str,
    ) -> Self {
        Self {
            message: message.into(),
            all,
            help: Some(help),
        }
    }

    /// Returns all parts that the target cannot express, or all parts to review, in the order of the plan. The slice is never empty.
    pub fn all(&self) -> &[UnsupportedPart] {
        &self.all
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.message)?;
        match &self.all[..] {
            [one] => write!(f, " {one}")?,
            all => all.iter().try_for_each(|one| write!(f, "\n- {one}"))?,
        }
        let mut help = self.help.iter();
        help.try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}

/// Returns a string of the plan, shortened for a message.
pub(in crate::dynamic) fn shown(text: &str) -> String {
    Line(short(text)).to_string()
}

impl fmt::Display for UnsupportedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Line(&self.place), Line(&self.construct))
    }
}

impl std::error::Error for Unsupported {}
