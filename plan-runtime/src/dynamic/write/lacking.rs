use crate::print::Line;
use std::fmt;

/// What a plan cannot be written in: all of its parts that have no form there.
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
/// a step blueprint (`${step[0]…}`) has no form for 3 parts of the plan:
/// - input `count`: a plan of this dialect has no inputs
/// - step `a`: a deadline for all attempts together
/// - the output: the computed value `count + 1`");
/// assert_eq!(lacking.all()[1].place, "step `a`");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    target: &'static str,
    all: Vec<Lack>,
}

/// A part of a plan that has no form in what it was to be written in, or that somebody has to look at before it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Where it is: ``step `sent` ``, ``argument `to` of step `sent` ``, `the output`.
    pub place: String,
    /// What it is: `a deadline for all attempts together`.
    pub construct: String,
}

impl Lacking {
    pub(in crate::dynamic) fn new(target: &'static str, all: Vec<Lack>) -> Self {
        Self { target, all }
    }

    /// All parts that have no form, in the order of the plan; there is at least one.
    pub fn all(&self) -> &[Lack] {
        &self.all
    }
}

impl fmt::Display for Lacking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has no form for ", self.target)?;
        match &self.all[..] {
            [one] => write!(f, "a part of the plan: {one}"),
            all => {
                write!(f, "{} parts of the plan:", all.len())?;
                all.iter().try_for_each(|one| write!(f, "\n- {one}"))
            }
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Line(&self.place), Line(&self.construct))
    }
}

impl std::error::Error for Lacking {}
