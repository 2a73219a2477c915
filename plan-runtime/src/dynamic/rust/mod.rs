//! Plans as the source of `plan!`.

mod layout;
mod names;
mod step;
mod value;

use super::write::{Lack, Lacking};
use crate::Plan;
use crate::plan::{Body, Optional, Output, Source as From, Template};
use layout::Jsons;
use names::Names;
use serde_json::Value;
use std::collections::HashMap;
use value::Takes;

impl Plan {
    /// The source of a `plan!` that says the same, ready to be pasted: a model drafts, the compiler checks, the author keeps.
    ///
    /// Of the tools only their names are known, so each call ends with `..`, which leaves out whatever is optional.
    /// [`RustSource`] is told more.
    ///
    /// | in the plan | in Rust |
    /// |---|---|
    /// | the tool `find_mail` | `FindMail`, as `#[tool]` names it |
    /// | a key `threadId` in a path | the field `.thread_id`, as `#[serde(rename_all)]` names it |
    /// | a key that is no name, `odd key` | `["odd key"]` |
    /// | an index, a projection | `[0]`, `[..]` |
    /// | a text with values in it | `format!` |
    /// | an object | `json!`, as the type is not known that it is of |
    /// | an id that is no name in Rust, `step-1` | `step_1` |
    /// | `plan.output`, where no type is declared | the tool's output, or a `serde_json::Value` |
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let plan = Reader::new().name("reply").read(r#"[
    ///     {"id": "mail", "intent": "Find the mail.", "tool": "find_mail", "arguments": {"from": "{{PLACEHOLDER_sender}}"}},
    ///     {"id": "sent", "tool": "send", "arguments": {
    ///         "thread": "{{mail.result[0].threadId}}",
    ///         "subject": "Re: {{mail.result[0].subject}}"
    ///     }}
    /// ]"#)?.into_plan();
    /// assert_eq!(plan.to_rust()?, r#"plan! {
    ///     pub Reply(sender: String) -> serde_json::Value {
    ///         /// Find the mail.
    ///         step mail = FindMail { from: sender, .. };
    ///
    ///         step sent = Send {
    ///             thread: mail[0].thread_id,
    ///             subject: format!("Re: {}", mail[0].subject),
    ///             ..
    ///         };
    ///
    ///         json!({ "mail": mail, "sent": sent })
    ///     }
    /// }
    /// "#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All parts of the plan that `plan!` has no form for.
    pub fn to_rust(&self) -> Result<String, Lacking> {
        RustSource::new(self).write()
    }
}

/// [`Plan::to_rust`], with what is known of the tools.
///
/// ```
/// use plan_runtime::dynamic::{Reader, RustSource};
/// use serde_json::json;
///
/// let plan = r#"{"steps": [{"id": "paid", "tool": "pay", "arguments": {"amount": 5}}]}"#;
/// let plan = Reader::new().read(plan)?.into_plan();
/// let schema = json!({"properties": {"amount": {"type": "number"}}});
/// let source = RustSource::new(&plan).schema("pay", &schema).write()?;
/// assert!(source.contains("step paid = Pay { amount: 5.0 };"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RustSource<'p> {
    plan: &'p Plan,
    schemas: HashMap<&'p str, &'p Value>,
}

impl<'p> RustSource<'p> {
    /// The source of this plan.
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            schemas: HashMap::new(),
        }
    }

    /// The JSON Schema of a tool's arguments: whether some are left out, and which numbers need not be integers.
    #[must_use]
    pub fn schema(mut self, tool: &'p str, arguments: &'p Value) -> Self {
        self.schemas.insert(tool, arguments);
        self
    }

    /// Writes the source.
    ///
    /// # Errors
    ///
    /// All parts of the plan that `plan!` has no form for.
    pub fn write(&self) -> Result<String, Lacking> {
        let mut source = Source {
            plan: self.plan,
            schemas: &self.schemas,
            names: Names::of(self.plan),
            step: None,
            locals: Vec::new(),
            lacks: Vec::new(),
        };
        let text = source.plan();
        match source.lacks.is_empty() {
            true => Ok(text),
            false => Err(Lacking::new("`plan!`", source.lacks)),
        }
    }
}

/// A plan that is being written.
struct Source<'p> {
    plan: &'p Plan,
    schemas: &'p HashMap<&'p str, &'p Value>,
    names: Names,
    /// The step that is being written; without one, it is the output.
    step: Option<String>,
    /// The patterns of the `for`s and `if let`s around.
    locals: Vec<String>,
    lacks: Vec<Lack>,
}

impl Source<'_> {
    fn lack(&mut self, place: impl Into<String>, construct: impl Into<String>) {
        let (place, construct) = (place.into(), construct.into());
        self.lacks.push(Lack { place, construct });
    }

    fn here(&self) -> String {
        match &self.step {
            Some(id) => format!("step `{id}`"),
            None => "the output".to_owned(),
        }
    }

    fn at(&self, path: &str) -> String {
        match (&self.step, path) {
            (_, "") => match self.step {
                Some(_) => format!("the arguments of {}", self.here()),
                None => self.here(),
            },
            (Some(id), path) => format!("argument `{path}` of step `{id}`"),
            (None, path) => format!("`{path}` of the output"),
        }
    }

    fn plan(&mut self) -> String {
        let plan = self.plan;
        let inputs = self.inputs();
        let steps: Vec<String> = plan
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| self.step(index, step))
            .collect();
        self.step = None;
        let (output, tail) = self.output();
        let mut text = "plan! {\n".to_owned();
        text.push_str(&layout::doc(&plan.description, 4));
        text.push_str(&head(&self.name(), &inputs, output.as_deref()));
        let tail = tail.map(|tail| tail + "\n");
        let parts: Vec<String> = steps.into_iter().chain(tail).collect();
        text.push_str(&parts.join("\n"));
        text.push_str("    }\n}\n");
        text
    }

    /// The plan's name, which is not that of one of its tools.
    fn name(&self) -> String {
        let name = names::structure(&self.plan.name);
        let name = name.unwrap_or_else(|| "Plan".to_owned());
        let actions = self.plan.steps.iter().flat_map(|step| step.actions());
        let mut tools = actions.filter_map(|action| names::structure(&action.tool.as_ref()?.name));
        match tools.any(|tool| tool == name) {
            true => name + "Plan",
            false => name,
        }
    }

    /// The inputs: each one's description, and `name: Type`.
    fn inputs(&mut self) -> Vec<(String, String)> {
        let plan = self.plan;
        let mut inputs = Vec::with_capacity(plan.inputs.len());
        for (input, name) in plan.inputs.iter().zip(self.names.inputs.clone()) {
            let given = match input.type_name.as_ref() {
                "" => "String",
                given => given,
            };
            let ty = layout::type_name(given).unwrap_or_else(|| {
                let place = format!("input `{}`", input.name);
                self.lack(place, format!("the type `{given}`, which is none of Rust"));
                "String".to_owned()
            });
            inputs.push((layout::doc(&input.description, 8), format!("{name}: {ty}")));
        }
        inputs
    }

    /// The type and the value of the output.
    fn output(&mut self) -> (Option<String>, Option<String>) {
        let Output { type_name, value } = &self.plan.output;
        let value = value.plain();
        if type_name.is_empty() && matches!(value, Template::Null) {
            return (None, None);
        }
        let mut jsons = Jsons::default();
        let (ty, text) = match (type_name.as_ref(), self.type_of(&value)) {
            ("", Some(ty)) => (ty, self.value("", &value, Takes::Anything, &mut jsons)),
            ("", None) => {
                let text = match &value {
                    Template::Reference(_) => self.value("", &value, Takes::Anything, &mut jsons),
                    Template::Computed(computed) => {
                        let what = format!(
                            "the computed value `{}`, whose type the plan does not keep",
                            computed.written
                        );
                        self.lack("the output", what);
                        "()".to_owned()
                    }
                    value => {
                        let json = self.json("", value);
                        jsons.add(json)
                    }
                };
                ("serde_json::Value".to_owned(), text)
            }
            (given, _) => {
                let ty = layout::type_name(given).unwrap_or_else(|| {
                    self.lack(
                        "the output",
                        format!("the type `{given}`, which is none of Rust"),
                    );
                    "()".to_owned()
                });
                (ty, self.value("", &value, Takes::Anything, &mut jsons))
            }
        };
        let tail = layout::statement(&text, jsons);
        if tail.is_none() && self.lacks.is_empty() {
            self.lack("the output", "what is no Rust");
        }
        (Some(ty), tail)
    }

    /// The type of what the plan gives, where it shows.
    fn type_of(&self, value: &Template) -> Option<String> {
        let Template::Reference(reference) = value else {
            return step::type_of(value).map(str::to_owned);
        };
        if !reference.path.is_empty() {
            return None;
        }
        match reference.source {
            From::Step(step) => {
                let step = self.plan.steps.get(step)?;
                let Body::Action(action) = &step.body else {
                    return None;
                };
                let tool = names::structure(&action.tool.as_ref()?.name)?;
                let ty = format!("<{tool} as plan_runtime::Tool>::Output");
                Some(match step.policy.optional {
                    Optional::Whole => format!("Option<{ty}>"),
                    Optional::No | Optional::Each => ty,
                })
            }
            From::Input(input) => {
                let input = self.plan.inputs.get(input)?;
                layout::type_name(&input.type_name)
            }
            From::Local(_) => None,
        }
    }
}

/// `pub Name(inputs) -> Output {`, in one line if it fits.
fn head(name: &str, inputs: &[(String, String)], output: Option<&str>) -> String {
    let arrow = output
        .map(|output| format!(" -> {output}"))
        .unwrap_or_default();
    let plain: Vec<&str> = inputs.iter().map(|(_, input)| input.as_str()).collect();
    let line = format!("    pub {name}({}){arrow} {{\n", plain.join(", "));
    if line.len() <= 101 && inputs.iter().all(|(doc, _)| doc.is_empty()) {
        return line;
    }
    let mut text = format!("    pub {name}(\n");
    for (doc, input) in inputs {
        text.push_str(&format!("{doc}        {input},\n"));
    }
    text.push_str(&format!("    ){arrow} {{\n"));
    text
}
