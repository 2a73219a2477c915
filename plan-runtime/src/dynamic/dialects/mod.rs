//! The dialects in which plans are written as JSON.
//!
//! Each has a folder, in which `mod.rs` says what it looks like and where it comes from, and has its [`Rules`], `read.rs` knows the
//! members of plans and steps, `scan.rs` finds the references in a string, and `write.rs` writes a plan. The rest of the library knows
//! only the rules, which are a row of the table in [`Dialect::rules`]. So a new dialect is a folder and a row. Plan JSON, which has no
//! references in strings, has its rules in `rules.rs`. It is read without the feature `dynamic`, too.
//!
//! | | what dialects share |
//! |---|---|
//! | `recognize.rs` | which dialect a document is in |
//! | `reading/` | a plan that is being read: ids, members, steps, templates, limits, and what is found on the way |
//! | `guide.rs` | how to write a plan, for a model |
//! | `story.rs` | the examples in it, as plans |
//! | `schema/` | the JSON Schema of plans |
//! | `references/` | references in strings: their parts, their paths, how they are written, what is nearly one |
//! | `writing/` | a plan that is being written: JSON, strings with references, parts that cannot be expressed |

#[cfg(feature = "dynamic")]
mod action_plan;
#[cfg(feature = "dynamic")]
mod blueprint;
#[cfg(feature = "dynamic")]
mod guide;
mod plan_json;
pub(super) mod reading;
#[cfg(feature = "dynamic")]
mod recognize;
#[cfg(feature = "dynamic")]
pub(super) mod references;
#[cfg(feature = "dynamic")]
mod rules;
#[cfg(feature = "dynamic")]
mod schema;
#[cfg(feature = "dynamic")]
mod story;
#[cfg(feature = "dynamic")]
mod tool_plan;
#[cfg(feature = "dynamic")]
mod writing;

#[cfg(feature = "dynamic")]
pub(super) use recognize::recognize;
#[cfg(feature = "dynamic")]
pub(super) use rules::Rules;

#[cfg(feature = "dynamic")]
use super::{Contracts, Unsupported, UnsupportedPart};
#[cfg(feature = "dynamic")]
use crate::Plan;
#[cfg(feature = "dynamic")]
use serde_json::Value;
#[cfg(feature = "dynamic")]
use std::fmt;

/// How a plan is written as JSON.
///
/// | | steps | a reference | an input |
/// |---|---|---|---|
/// | [`ToolPlan`](Self::ToolPlan) | `{"steps": [{"id", "tool", "arguments"}], "output_steps"}` | `"$ref:inbox.data.0.id"` | – |
/// | [`Blueprint`](Self::Blueprint) | `{"requestId", "steps": [{"tool", "params", "dependsOn", "optional", "retryCount", "timeout"}]}` | `"${step[0].data[0].id}"` | – |
/// | [`ActionPlan`](Self::ActionPlan) | `[{"id", "intent", "tool", "arguments"}]` | `"{{inbox.result.data[0].id}}"` | `"{{PLACEHOLDER_reply}}"` |
/// | [`PlanJson`](Self::PlanJson) | what [`Plan`](crate::Plan) serializes to | | |
///
/// # References
/// A `$ref` is a whole string; the others may also be inside a longer one, where their values are written as text. A reference
/// that is a whole string keeps its type.
///
/// In a path, `.0` and `[0]` are an index, `[*]` and `.*` are every element of a list, and `["odd key"]` is a key that has
/// dots, brackets or other such characters; the string is one of JSON, with its escapes. The same brackets give an id:
/// `$ref:["step-1"].id`.
///
/// Text that only looks like a reference is written as a string of JSON in place of the reference: `$ref:"$ref:x"`, `${"${x}"}`,
/// `{{"{{ name }}"}}`. An empty one beside a reference makes a text of its value: `${step[0].data.count}${""}`.
///
/// A whole reference of another dialect is an error. Text that names a step or an input nearly as some dialect does (`{{now.date}}` in a
/// blueprint, `${now.date}` in an action plan) is text, and a warning shows how this dialect refers to the same. In plan JSON a
/// string is always text, so there it is never more than a warning.
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
///     Some(r#"the reference is `${step[0].data.date}`; to keep the text, write `${"{{now.date}}"}`"#)
/// );
/// # Ok::<(), plan_runtime::dynamic::Findings>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What [`Plan`](crate::Plan) serializes to.
    PlanJson,
    /// agentle4j's tool plans, with `$ref:`. `arguments` is an object, or JSON text of one.
    ToolPlan,
    /// The step blueprint, with `${step[0]…}`.
    Blueprint,
    /// The Action/Step/Orchestrator's action plans, with `{{…}}`.
    ActionPlan,
}

/// How strictly a dialect is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// An unknown member is an error. Text that is nearly a reference is an error, and so is a reference to a missing value.
    #[default]
    Strict,
    /// What the systems do that the dialect comes from, where it does no harm; each such place is a warning where it can be
    /// seen in the document.
    ///
    /// Text that is nearly a reference remains text. Unknown members of a document and of its steps, such as `depends_on` or `retry`, are ignored with a
    /// warning. A member that promises a condition, a repetition or further steps remains an error, and so does an unknown member inside of a body or a policy. In tool plans, a missing field is null. In action
    /// plans, a reference to a missing step, field or input stays in place as text.
    Compat,
}

#[cfg(feature = "dynamic")]
impl Dialect {
    /// The table of dialects: a row for each.
    pub(super) fn rules(self) -> &'static Rules {
        match self {
            Self::PlanJson => &plan_json::RULES,
            Self::ToolPlan => &tool_plan::RULES,
            Self::Blueprint => &blueprint::RULES,
            Self::ActionPlan => &action_plan::RULES,
        }
    }

    /// All of them. Where a document may be in several, it is in the first.
    const ALL: [Self; 4] = [
        Self::ActionPlan,
        Self::PlanJson,
        Self::ToolPlan,
        Self::Blueprint,
    ];

    /// The JSON Schema of plans in this dialect over these tools, for a model whose output is held to one. It is of the draft of 2020-12.
    ///
    /// What the schema accepts, the [strict](Profile::Strict) reader reads: there is no unknown member, no text that is nearly a reference, and no
    /// policy without an effect. Tools are those of the contracts. Where an argument has a type, there is a value of this type, or a reference.
    /// Whether a name exists, what type a reference has, what waits for what, and how many steps there are and how deep they are nested, only the
    /// reader tells. The schema of a secret argument does not list values.
    ///
    /// The schema of an action plan or a blueprint allows a list of steps and an object around it. Set `"type"` to `"object"` where a model must
    /// write an object. The types of all arguments have about 12 MiB. Where that, or another [limit](crate::guide::limits#documents), leaves out types, any value
    /// is accepted in their place, and the schema has a `$comment` that says so; all tools are listed in any case. Where an object
    /// needs a member whose name no plan can write, since it looks like a reference, only a reference to such an object is accepted. There is no computed value in plan JSON, since a run from JSON has no code for it, and no `written` of a reference.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Contracts, Dialect};
    /// use serde_json::json;
    ///
    /// let double = Contract::new("double").arguments(json!({
    ///     "type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]
    /// }));
    /// let tools: Contracts = [double].into_iter().collect();
    /// let schema = Dialect::ToolPlan.schema(&tools);
    /// assert_eq!(schema["required"], json!(["steps"]));
    /// let arguments = &schema["$defs"]["arguments0"]["anyOf"][0];
    /// assert_eq!(arguments["properties"]["number"]["anyOf"], json!([
    ///     {"type": "integer", "minimum": i64::MIN, "maximum": u64::MAX},
    ///     {"$ref": "#/$defs/reference"},
    /// ]));
    /// ```
    #[must_use]
    pub fn schema(self, contracts: &Contracts) -> Value {
        schema::schema(self, contracts)
    }

    /// Writes a plan, of `plan!` or one that was read, as indented JSON of this dialect. Reading that in the
    /// [strict profile](Profile::Strict) gives an equal plan.
    ///
    /// What the systems that the dialect comes from do not know (descriptions, the output, ids of a blueprint's steps, …) is written in
    /// members of their own, and only where a reader would not come to the same without them.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Dialect, Reader};
    ///
    /// let text = r#"{"requestId": "reply", "steps": [
    ///     {"tool": "fetch", "params": {"from": "Sarah"}, "retryCount": 2},
    ///     {"tool": "send", "params": {"to": "<${step[0].data[0].from}>"}}
    /// ]}"#;
    /// let plan = Reader::new().read(text)?.into_plan();
    /// assert_eq!(
    ///     Dialect::ToolPlan.write(&plan).unwrap_err().to_string(),
    ///     "a tool plan (`$ref:`) cannot express a part of the plan: argument `to` of step `step1`: a text with values in it",
    /// );
    /// let written = Dialect::Blueprint.write(&plan)?;
    /// assert!(written.contains(r#""to": "<${step[0].data[0].from}>""#));
    /// assert_eq!(Reader::new().read(&written)?.plan(), &plan);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All parts of the plan that the dialect cannot express.
    pub fn write(self, plan: &Plan) -> Result<String, Unsupported> {
        let rules = self.rules();
        match UnsupportedPart::deep(plan) {
            deep if deep.is_empty() => (rules.write)(plan),
            deep => Err(Unsupported::new(rules.document, deep)),
        }
    }
}

#[cfg(feature = "dynamic")]
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rules().name)
    }
}

#[cfg(all(test, feature = "dynamic"))]
mod tests;
