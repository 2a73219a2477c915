//! The dialects in which plans are written as JSON.
//!
//! Each dialect has a folder:
//!
//! - `mod.rs` describes the format and its origin, and contains the [`Rules`].
//! - `read.rs` reads the members of plans and steps.
//! - `scan.rs` finds the references in a string.
//!
//! The rest of the library uses only the rules, which are a row of the table in [`Dialect::rules`]. So a new dialect is a folder and a
//! row. The row of plan JSON is in `plan_json/rules.rs`. Plan JSON has no references in strings. The other three dialects, the
//! *string dialects*, write references in strings.
//!
//! | | parts that dialects share |
//! |---|---|
//! | `rules.rs` | the type of a row of the table, `Rules` |
//! | `recognize.rs` | detection of a document's dialect |
//! | `reading/` | reading a plan: IDs, members, steps, templates, limits, and findings |
//! | `references/` | references in strings: their parts, their paths, their notation, malformed references |
//!
//! The prompt asks models for tool plans, so `tool_plan/` contains the instructions and the JSON Schema for models. Plans are written as plan JSON by
//! serde, and as flat blueprints by
//! `blueprint/write.rs`.

mod action_plan;
mod blueprint;
mod plan_json;
pub(super) mod reading;
mod recognize;
pub(super) mod references;
mod rules;
pub(super) mod tool_plan;

pub(super) use recognize::recognize;

use rules::Rules;
use std::fmt;

/// A format for plans as JSON.
///
/// | | steps | a reference | an input |
/// |---|---|---|---|
/// | [`ToolPlan`](Self::ToolPlan) | `{"steps": [{"id", "tool", "arguments"}], "output_steps"}` | `"$ref:inbox.data.0.id"` | – |
/// | [`Blueprint`](Self::Blueprint) | `{"requestId", "steps": [{"tool", "params", "dependsOn", "optional", "retryCount", "timeout"}]}` | `"${step[0].data[0].id}"` | – |
/// | [`ActionPlan`](Self::ActionPlan) | `[{"id", "intent", "tool", "arguments"}]` | `"{{inbox.result.data[0].id}}"` | `"{{PLACEHOLDER_reply}}"` |
/// | [`PlanJson`](Self::PlanJson) | the serde format of [`Plan`](crate::Plan) | | |
///
/// # References
/// A `$ref` is a whole string. References of the other dialects may also be inside a longer string, which contains their
/// formatted values. A reference that is a whole string keeps its type.
///
/// In a path, `.0` and `[0]` are an index, `[*]` and `.*` are every element of a list, and `["odd key"]` is a key that has
/// dots, brackets or other such characters. The string in brackets is a JSON string, with its escapes. The brackets also
/// work for an ID: `$ref:["step-1"].id`.
///
/// To write a string that only looks like a reference, put a JSON string in place of the reference: `$ref:"$ref:x"`,
/// `${"${x}"}`, `{{"{{ name }}"}}`. To convert a reference's value to a string, put an empty JSON string beside the
/// reference: `${step[0].data.count}${""}`.
///
/// A string that is a reference of another dialect is an error. Inside a longer string, the name of a step or an input in another
/// notation (`{{now.date}}` in a blueprint, `${now.date}` in an action plan) stays a part of the string, and a warning shows the
/// notation of this dialect. In plan JSON, every string is literal, so there is at most a warning.
///
/// ```
/// use plan_runtime::dynamic::Reader;
///
/// let document = Reader::new().read(r#"{"requestId": "r", "steps": [
///     {"id": "now", "tool": "clock", "params": {}},
///     {"tool": "write", "params": {"text": "It is {{now.date}}."}}
/// ]}"#)?;
/// assert_eq!(
///     document.warnings()[0].help.as_deref(),
///     Some(r#"write the reference as `${step[0].data.date}`; to keep the text, write `${"{{now.date}}"}`"#)
/// );
/// # Ok::<(), plan_runtime::dynamic::Findings>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// The serde format of [`Plan`](crate::Plan).
    PlanJson,
    /// agentle4j's tool plans, with `$ref:`. `arguments` is an object, or a string that contains the JSON of an object.
    ToolPlan,
    /// The step blueprint, with `${step[0]…}`.
    Blueprint,
    /// The Action/Step/Orchestrator's action plans, with `{{…}}`.
    ActionPlan,
}

/// The strictness of a dialect's reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// The profile without exceptions: unknown members, malformed references and references to missing values are errors.
    #[default]
    Strict,
    /// The strict profile with an additional error: [`Code::Unchecked`](crate::dynamic::Code::Unchecked).
    Typed,
    /// The behavior of the dialect's original system, if it does no harm. Each exception that is visible in the document is
    /// a warning.
    ///
    /// Malformed references remain literal. Unknown members of a document and of its steps, such as `depends_on` or `retry`, are ignored with a
    /// warning. A member whose name usually stands for a condition, an approval, a repetition or further steps remains an error. An unknown member inside of a body or
    /// a policy remains an error as well. In tool plans, a missing field is null. In action plans, a reference to a missing step, field or input remains literal.
    Compat,
}

impl Dialect {
    /// Returns the row of this dialect in the table of dialects.
    pub(super) fn rules(self) -> &'static Rules {
        match self {
            Self::PlanJson => &plan_json::RULES,
            Self::ToolPlan => &tool_plan::RULES,
            Self::Blueprint => &blueprint::RULES,
            Self::ActionPlan => &action_plan::RULES,
        }
    }

    /// The dialect in which serde writes plans.
    pub(super) const OF_PLANS: Self = Self::PlanJson;

    /// All dialects, in order of precedence for a document that fits several.
    const ALL: [Self; 4] = [
        Self::ActionPlan,
        Self::PlanJson,
        Self::ToolPlan,
        Self::Blueprint,
    ];
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rules().name)
    }
}

#[cfg(test)]
mod tests;
