pub(super) mod action_plan;
pub(super) mod blueprint;
pub(super) mod plan_json;
pub(super) mod reading;
pub(super) mod references;
pub(super) mod tool_plan;
mod writing;

use std::fmt;

/// How a plan is written as JSON.
///
/// | | steps | a reference | an input |
/// |---|---|---|---|
/// | [`ToolPlan`](Self::ToolPlan) | `{"steps": [{"id", "tool", "arguments"}], "output_steps"}` | `"$ref:inbox.data.0.id"` | – |
/// | [`Blueprint`](Self::Blueprint) | `{"requestId", "steps": [{"tool", "params", "dependsOn", "optional", "retryCount", "timeout"}]}` | `"${step[0].data[0].id}"` | – |
/// | [`ActionPlan`](Self::ActionPlan) | `[{"id", "intent", "tool", "arguments"}]` | `"{{inbox.result.data[0].id}}"` | `"{{PLACEHOLDER_reply}}"` |
/// | [`Canonical`](Self::Canonical) | what [`Plan`](crate::Plan) serialises to | | |
///
/// # References
/// A `$ref` is a whole string; the others may also stand inside a longer one, where their values are written as text. A reference
/// that is a whole string keeps its type.
///
/// In a path, `.0` and `[0]` are an index, `[*]` and `.*` stand for every element of a list, and `["odd key"]` is a key that has
/// dots, brackets or other signs in it; the string is one of JSON, with its escapes. The same brackets give an id:
/// `$ref:["step-1"].id`.
///
/// Text that looks like a reference and is none is a string of JSON in place of the reference: `$ref:"$ref:x"`, `${"${x}"}`,
/// `{{"{{ name }}"}}`. An empty one beside a reference makes a text of its value: `${step[0].data.count}${""}`.
///
/// A whole reference of another dialect is an error. Text that names a step or an input nearly as some dialect does (`{{now.date}}` in a
/// blueprint, `${now.date}` in an action plan) is text, and a warning shows how this dialect refers to the same. In canonical JSON a
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
pub enum Dialect {
    /// What [`Plan`](crate::Plan) serialises to.
    Canonical,
    /// agentle4j's tool plans, with `$ref:`. `arguments` is an object, or JSON text of one.
    ToolPlan,
    /// The step blueprint, with `${step[0]…}`.
    Blueprint,
    /// The Action/Step/Orchestrator's action plans, with `{{…}}`.
    ActionPlan,
}

/// How strictly a dialect is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// What is nearly a reference is an error, and so is a reference that leads to nothing.
    #[default]
    Strict,
    /// What the systems do that the dialect comes from, where it does no harm; each such place is a warning where it can be
    /// seen in the document.
    ///
    /// Text that is nearly a reference stays as it is. In tool plans, a field that is not there is null. In action
    /// plans, a reference to a step or a field that is not there stays in place as text, as does an input that is not given.
    Compat,
}

impl Dialect {
    /// How the dialect is called in messages.
    pub(in crate::dynamic) fn named(self) -> &'static str {
        match self {
            Self::Canonical => "canonical JSON",
            Self::ToolPlan => "a tool plan (`$ref:`)",
            Self::Blueprint => "a step blueprint (`${step[0]…}`)",
            Self::ActionPlan => "an action plan (`{{…}}`)",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canonical => "canonical",
            Self::ToolPlan => "tool plan",
            Self::Blueprint => "blueprint",
            Self::ActionPlan => "action plan",
        })
    }
}
