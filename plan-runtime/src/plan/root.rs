//! The plan as a whole.

use super::{Input, Output, RustText, Step};

/// A plan: named inputs, steps that call tools, and an output.
///
/// `plan!` and [`Plan::new`] create plans, and serde reads a plan from JSON. [`Display`](std::fmt::Display) prints a plan for
/// people. [`Serialize`](serde::Serialize) writes plan JSON. Plan JSON refers to inputs and steps by name, and contains JSON Pointers
/// ([RFC 6901](https://datatracker.ietf.org/doc/html/rfc6901)):
///
/// | template | JSON |
/// |---|---|
/// | null, `bool`, number, string, list | the value itself |
/// | an object | `{"object": {"name": template}}` |
/// | an object with flattened members | `{"merge": [template]}` |
/// | a reference | `{"reference": {"step": "inbox", "pointer": "/data/0", "written": "inbox.data[0]"}}` |
/// | a projection, or a reference through a value that may be absent | `reference` with `"path"` in place of `"pointer"` |
/// | a part of a `"path"` | `"data"`, or `{"each": "element"}` for `[..]` |
/// | a part that may be missing | `{"token": "next", "absent": …}`, where `absent` is `"null"`, `{"default": value}`, or `"end"`, which ends the reference |
/// | `?` after a part or the source | `"optional": true` in the part, or in the reference |
/// | the value that replaces a reference that has ended | `"else": value` in the reference |
/// | `format!` | `{"text": ["Re: ", {"value": template}]}` |
/// | `a && b`, `a \|\| b`, `!a` | `{"all": [template]}`, `{"any": [template]}`, `{"not": template}` |
/// | `a < b` | `{"compare": [template, "<", template]}`, with `==`, `!=`, `<`, `<=`, `>` or `>=` |
/// | `a.is_some()`, `a.len()` | `{"is_some": template}`, `{"len": template}`, and likewise `is_none`, `is_ok`, `is_err`, `is_empty` |
/// | a computed value | `{"computed": {"written": "a + b", "reads": [{"step": "a"}, {"input": "b"}]}}` |
/// | an undo step, an always step | `"undo": "paid"`, or `"always": true` in the step |
/// | a block of steps | `{"steps": [step], "value": template}`, with `"inputs": {"name": template}` for its inputs |
/// | a call at the end of a block | `"tail": {"tool": …}` in the block, instead of `"value"` |
/// | a step that waits for a value | `"await": "Reply"` in the step, with the type of the value |
/// | a step that waits for a value with secrets | `"await": {"type": "Login", "secrets": ["/password"]}` |
/// | a branch with several conditions | `{"all": [template, {"pattern": "Some(x)", "value": template}], "then": …}` |
///
/// The `inputs` of a block are optional. If a step of a block refers to an outer step, an outer input or a local value, the reader adds the missing
/// member of `inputs`.
///
/// `written` is optional. A `written` that does not match its reference is an error. A computed value in plan JSON is source code, which a run cannot
/// execute. Two plans are equal if their plan JSON is equal, apart from `written` in references.
///
/// [`Deserialize`](serde::Deserialize) reads plan JSON without limits on its size, and without a check against tools. Its error lists
/// all errors of the plan. For plans from other programs, use [`Reader`](crate::dynamic::Reader), which has limits, records positions and checks
/// against [tools](crate::dynamic::Reader::tools). To get findings for a `Plan` without a document, write it as
/// plan JSON first.
///
/// ```
/// use plan_runtime::Plan;
///
/// let json = r#"{"name":"reply","inputs":[{"name":"text","type":"String"}],"steps":[
///     {"id":"sent","intent":"Send it.","tool":{"name":"send"},"arguments":{"object":
///         {"body":{"reference":{"input":"text","pointer":""}}}}}
/// ],"output":{"type":"Receipt","value":{"reference":{"step":"sent","pointer":""}}}}"#;
/// let plan: Plan = serde_json::from_str(json)?;
/// assert_eq!(plan.step("sent").unwrap().references()[0].place, "body");
/// assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan)?)?, plan);
/// assert_eq!(plan.to_string(), "\
/// plan reply -> Receipt
///   input text: String
///
///   step sent = send  // Send it.
///     body: text
///     // starts at once
///
///   output sent
/// ");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Plan {
    /// The name of the plan as a tool, in snake case.
    pub name: String,
    /// The description, from the doc comment of the plan. Empty without a doc comment.
    pub description: RustText,
    /// The inputs of the plan.
    pub inputs: Vec<Input>,
    /// The steps, in the order of the plan.
    pub steps: Vec<Step>,
    /// The output.
    pub output: Output,
}

crate::print::visible_debug!(struct Plan {
    name,
    description,
    inputs,
    steps,
    output,
});
