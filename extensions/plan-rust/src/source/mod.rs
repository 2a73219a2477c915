//! The writer of a plan's source.
//!
//! `layout.rs` prints a tree of tokens, parses its own output, and compares both token by token. A difference is an error, so no string of a plan can leave its token. Strings that are
//! Rust code pass `fragment.rs`, which accepts exactly one expression, pattern or type.

mod block;
mod docs;
mod fragment;
mod layout;
mod model;
mod names;
mod pattern;
mod policy;
mod reference;
mod step;
mod value;

use fragment::FragmentError;
use layout::{LayoutStyle, Printer, Tree};
use model::is_whole;
use names::{RustNames, TakenNames};
use pattern::Pattern;
use plan_graph::Line;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Unsupported, UnsupportedPart};
use plan_runtime::plan::{Body, Optional, RustText, Source as From, Template};
use proc_macro2::Delimiter;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use value::Takes;

/// Returns the source code of an equivalent `plan!`, ready to be pasted: a model drafts, the compiler checks, the author
/// keeps.
///
/// The plan contains only the names of its tools, so each call ends with `..`, which omits the optional arguments.
/// [`RustSource`] has more options.
///
/// | in the plan | in Rust |
/// |---|---|
/// | the tool `find_mail` | `FindMail`, as `#[tool]` names it |
/// | a key `threadId` in a path | the field `.thread_id`, as `#[serde(rename_all)]` names it |
/// | a key that is not a name, `odd key` | `["odd key"]` |
/// | an index, a projection | `[0]`, `[..]` |
/// | a formatted string | `format!` |
/// | an object | `json!`, because its type is unknown |
/// | a string for an argument whose [schema](RustSource::schema) lists strings, `"high"` | `serde_json::from_value(json!("high"))?`, which fits a `String` and an enum |
/// | an id that is not a Rust identifier, `step-1` | `step_1` |
/// | `plan.output`, without a declared type | the tool's output, or a `serde_json::Value` |
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
/// assert_eq!(plan_rust::to_rust(&plan)?, r#"plan! {
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
/// A string of a plan becomes code only if it is code: names are names, strings are literals, and a reference is derived from
/// its source and path, regardless of its author's notation. The description of a plan from elsewhere is plain text, not
/// Markdown.
///
/// Computed values, patterns and types exist only as Rust code, which would run. Code of the program itself is written
/// unchanged. Code from JSON is an error, unless [`RustSource::allow_code`] accepts it.
///
/// # Errors
///
/// Returns all parts of the plan that `plan!` cannot express. Without such parts, returns all code that is not a
/// part of the program.
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
pub fn to_rust(plan: &Plan) -> Result<String, Unsupported> {
    RustSource::new(plan).write()
}

/// A writer like [`to_rust`](crate::to_rust), with options and schemas of the tools.
///
/// ```
/// use plan_runtime::dynamic::Reader;
/// use plan_rust::RustSource;
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
    allows_code: bool,
}

impl<'p> RustSource<'p> {
    /// Creates the writer of a plan's source code.
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            schemas: HashMap::new(),
            allows_code: false,
        }
    }

    /// Sets the JSON Schema of a tool's arguments, which shows optional arguments, numbers that may be fractions, and strings that may be variants of
    /// an enum.
    #[must_use]
    pub fn schema(mut self, tool: &'p str, arguments: &'p Value) -> Self {
        self.schemas.insert(tool, arguments);
        self
    }

    /// Accepts code that is not part of the program. A program compiled from the source then runs the code of the plan,
    /// so [review it](Self::foreign_code) first.
    ///
    /// ```
    /// use plan_runtime::Plan;
    /// use plan_rust::RustSource;
    ///
    /// let plan: Plan = serde_json::from_str(r#"{"name": "p", "inputs": [{"name": "to", "type": "String"}], "steps": [
    ///     {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
    ///         "to": {"computed": {"written": "to.trim()", "reads": [{"input": "to"}]}}
    ///     }}}
    /// ]}"#)?;
    /// assert_eq!(
    ///     plan_rust::to_rust(&plan).unwrap_err().to_string(),
    ///     "the plan contains code from outside the program: argument `to` of step `sent`: the computed value `to.trim()`\n\
    ///      help: review the code, then call `RustSource::allow_code`",
    /// );
    /// let source = RustSource::new(&plan).allow_code();
    /// assert_eq!(source.foreign_code()?[0].to_string(), "argument `to` of step `sent`: the computed value `to.trim()`");
    /// assert!(source.write()?.contains("Send { to: to.trim(), .. }"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn allow_code(mut self) -> Self {
        self.allows_code = true;
        self
    }

    /// Returns the code in the plan that is not part of the program, with its positions: computed values, conditions, patterns
    /// and types.
    ///
    /// A [`RustText`] records if it is part of the program, which is true for all code of a `plan!`. Code from a
    /// document is not, even after plans are cloned and mixed.
    ///
    /// A mere name is not code. These patterns are not code: a name, `_`, a tuple of them, and one of them in `Some(…)`. These types
    /// are not code: a path, a type of the standard library with such types in `<…>` (`Vec<Option<crate::Mail>>`), and a tuple of such
    /// types.
    ///
    /// # Errors
    ///
    /// Returns the parts of the plan that are nested too deep to be searched for code. Such a plan has no source code
    /// either.
    pub fn foreign_code(&self) -> Result<Vec<UnsupportedPart>, Unsupported> {
        match self.source() {
            Ok((source, _)) => Ok(source.foreign),
            Err(deep) => Err(cannot_express(deep)),
        }
    }

    /// Writes the source.
    ///
    /// # Errors
    ///
    /// Returns all parts of the plan that `plan!` cannot express. Without such parts, returns all code that is not a part of
    /// the program, unless [such code is allowed](Self::allow_code).
    pub fn write(&self) -> Result<String, Unsupported> {
        let (source, text) = self.source().map_err(cannot_express)?;
        if !source.unsupported.is_empty() {
            return Err(cannot_express(source.unsupported));
        }
        if !self.allows_code && !source.foreign.is_empty() {
            const HELP: &str = "review the code, then call `RustSource::allow_code`";
            let places = match source.foreign.len() {
                1 => String::new(),
                count => format!(" in {count} places"),
            };
            let message = format!("the plan contains code from outside the program{places}");
            return Err(Unsupported::unreviewed(message, source.foreign, HELP));
        }
        text.ok_or_else(|| {
            const BUG: &str =
                "its source does not parse back to the same tokens, which is a bug in plan-rust";
            cannot_express(vec![UnsupportedPart::new("the plan", BUG)])
        })
    }

    /// Returns the source code, unless parts of the plan are nested too deeply to be visited.
    fn source(&self) -> Result<(SourceWriter<'_>, Option<String>), Vec<UnsupportedPart>> {
        let deep = UnsupportedPart::deep(self.plan);
        if !deep.is_empty() {
            return Err(deep);
        }
        let write = || {
            let mut taken = TakenNames::default();
            let mut source = SourceWriter {
                plan: self.plan,
                schemas: &self.schemas,
                names: RustNames::of(self.plan, &mut taken),
                taken,
                types: Vec::new(),
                tools: HashMap::new(),
                step: None,
                around: String::new(),
                locals: Vec::new(),
                unsupported: Vec::new(),
                foreign: Vec::new(),
            };
            let text = source.plan();
            (source, text)
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(fragment::STACK);
            let thread = thread.spawn_scoped(scope, write).map_err(|error| {
                let what = format!("no thread could be started to write it: {error}");
                vec![UnsupportedPart::new("the plan", what)]
            })?;
            Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }
}

fn cannot_express(all: Vec<UnsupportedPart>) -> Unsupported {
    Unsupported::new("`plan!`", all)
}

/// The largest number of characters of a name in a message.
const SHORT: usize = 60;

/// Returns a string of the plan, shortened for a message.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => Line(format!("{}…", &text[..end])).to_string(),
        None => Line(text).to_string(),
    }
}

/// A plan that is being written.
struct SourceWriter<'p> {
    plan: &'p Plan,
    schemas: &'p HashMap<&'p str, &'p Value>,
    names: RustNames,
    /// The names of the enclosing plans and blocks.
    taken: TakenNames,
    /// The types of the inputs.
    types: Vec<String>,
    /// The tools by their structs.
    tools: HashMap<String, String>,
    /// The step that is being written; without one, it is the output.
    step: Option<String>,
    /// The prefix of the IDs of a block's steps.
    around: String,
    /// The variables of the enclosing `for`s and `if let`s.
    locals: Vec<Pattern>,
    unsupported: Vec<UnsupportedPart>,
    /// Code that is not part of the program.
    foreign: Vec<UnsupportedPart>,
}

impl SourceWriter<'_> {
    fn cannot_express(&mut self, place: impl Into<String>, construct: impl Into<String>) {
        self.unsupported
            .push(UnsupportedPart::new(place, construct));
    }

    /// Records code as unsupported, unless the code is part of the program.
    fn code(&mut self, place: impl Into<String>, what: &str, code: &RustText) {
        if !code.is_of_program() {
            let construct = format!("{what} `{}`", Line(code));
            self.foreign.push(UnsupportedPart::new(place, construct));
        }
    }

    fn here(&self) -> String {
        match &self.step {
            Some(id) => format!("step `{}`", shown(id)),
            None => "the output".to_owned(),
        }
    }

    fn at(&self, path: &str) -> String {
        match (&self.step, shown(path)) {
            (_, path) if path.is_empty() => match self.step {
                Some(_) => format!("the arguments of {}", self.here()),
                None => self.here(),
            },
            (Some(_), path) => format!("argument `{path}` of {}", self.here()),
            (None, path) => format!("`{path}` of the output"),
        }
    }

    fn plan(&mut self) -> Option<String> {
        let plan = self.plan;
        let inputs = self.inputs();
        let steps: Vec<Vec<Tree>> = plan
            .steps
            .iter()
            .enumerate()
            .map(|(index, step)| self.step(index, step))
            .collect();
        self.step = None;
        let (output, tail) = self.output();
        if !self.unsupported.is_empty() {
            return None;
        }
        let mut printer = Printer::default();
        printer.whole("plan!", 0);
        printer.push(" ");
        printer.open(Delimiter::Brace);
        for line in docs::lines(&plan.description) {
            printer.line(4);
            printer.whole(&line, 4);
        }
        printer.line(4);
        printer.tree(&self.head(inputs, output.as_deref()), 4, 0);
        printer.open(Delimiter::Brace);
        let parts = steps.into_iter().chain(tail.map(|tail| vec![tail]));
        for (number, lines) in parts.enumerate() {
            if number > 0 {
                printer.line(0);
            }
            for tree in lines {
                printer.line(8);
                printer.tree(&tree, 8, 0);
            }
        }
        printer.line(4);
        printer.close(Delimiter::Brace);
        printer.line(0);
        printer.close(Delimiter::Brace);
        printer.finish()
    }

    /// Writes `pub Name(inputs) -> Output`, on one line if it fits.
    fn head(&self, inputs: Vec<(Vec<String>, String)>, output: Option<&str>) -> Tree {
        let structs: HashSet<String> = self.tools.keys().cloned().collect();
        let name = names::plan(&self.plan.name, &structs);
        let arrow = output
            .map(|output| format!(" -> {output}"))
            .unwrap_or_default();
        let lengths = inputs.iter().map(|(_, input)| input.chars().count() + 2);
        let length = name.len() + arrow.chars().count() + lengths.sum::<usize>();
        let style = if length <= 85 && inputs.iter().all(|(doc, _)| doc.is_empty()) {
            LayoutStyle::Beside
        } else {
            LayoutStyle::Inputs
        };
        let item = |(mut lines, input): (Vec<String>, String)| {
            lines.push(input);
            Tree::Text(lines.join("\n"))
        };
        let inputs = inputs.into_iter().map(item).collect();
        Tree::Row(vec![
            Tree::text("pub "),
            Tree::list(name, Delimiter::Parenthesis, style, inputs),
            Tree::Text(arrow + " "),
        ])
    }

    /// Returns the description and the `name: Type` of each input.
    fn inputs(&mut self) -> Vec<(Vec<String>, String)> {
        let plan = self.plan;
        let mut inputs = Vec::with_capacity(plan.inputs.len());
        for (input, name) in plan.inputs.iter().zip(self.names.inputs.clone()) {
            let ty = match &*input.type_name {
                "" => "String".to_owned(),
                _ => {
                    let place = format!("input `{}`", shown(&input.name));
                    self.type_name(place, &input.type_name)
                }
            };
            inputs.push((docs::lines(&input.description), format!("{name}: {ty}")));
            self.types.push(ty);
        }
        inputs
    }

    fn type_name(&mut self, place: impl Into<String>, given: &RustText) -> String {
        match fragment::type_name(given) {
            Ok((ty, is_plain)) => {
                if !is_plain {
                    self.code(place, "the type", given);
                }
                ty
            }
            Err(fragment_error) => {
                let why = match fragment_error {
                    FragmentError::Large => value::said(fragment_error),
                    FragmentError::Other => ", which is not a Rust type",
                };
                self.cannot_express(place, format!("the type `{}`{why}", shown(given)));
                "()".to_owned()
            }
        }
    }

    /// Writes the type and the value of the output.
    fn output(&mut self) -> (Option<String>, Option<Tree>) {
        let type_name = &self.plan.output.type_name;
        let value = self.plan.output.value.plain();
        if type_name.is_empty() && matches!(value, Template::Null) {
            return (None, None);
        }
        if !type_name.is_empty() {
            let ty = self.type_name("the output", type_name);
            return (Some(ty), Some(self.value("", &value, Takes::Anything)));
        }
        if let Some(ty) = self.type_of(&value) {
            return (Some(ty), Some(self.value("", &value, Takes::Anything)));
        }
        let tail = match &value {
            Template::Reference(_) => self.value("", &value, Takes::Anything),
            Template::Computed(computed) => {
                let written = shown(computed.written());
                let what =
                    format!("the computed value `{written}`, whose type the plan does not keep");
                self.cannot_express("the output", what);
                Tree::text("()")
            }
            value => value::json(self.json("", value)),
        };
        (Some("serde_json::Value".to_owned()), Some(tail))
    }

    /// Returns the type of the plan's output, if the plan shows it.
    fn type_of(&self, value: &Template) -> Option<String> {
        let Template::Reference(reference) = value else {
            return step::type_of(value).map(str::to_owned);
        };
        if !is_whole(reference) {
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
            From::Input(input) => self.types.get(input).cloned(),
            _ => None,
        }
    }
}
