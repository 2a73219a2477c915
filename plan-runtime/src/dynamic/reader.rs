//! The reader of documents, which recognizes the dialect, reads the plan, and checks the plan.

use super::dialects;
use super::dialects::reading::{PlanReader, cycle, inputs, roles};
use super::finding::{Code, Findings, Note, Notes};
use super::invalid;
use super::json_node::{JsonNode, Source};
use super::spans::Spans;
use super::{Contracts, Dialect, DocumentLimits, Profile, bytes, check, source};
use crate::Plan;
use crate::plan::{Checked, Executable, Graph, Origin};
use std::sync::OnceLock;

/// Reads plans from JSON.
///
/// By default, a reader recognizes the dialect, is strict, and has the default [`DocumentLimits`].
///
/// ```
/// use plan_runtime::dynamic::{Dialect, Reader};
///
/// let document = Reader::new().read(r#"[
///     {"id": "mail", "intent": "Find the mail.", "tool": "fetch", "arguments": {"from": "Sarah"}},
///     {"id": "sent", "tool": "send", "arguments": {
///         "to": "{{mail.result.data[0].from}}",
///         "subject": "Re: {{mail.result.data[0].subject}}",
///         "body": "{{PLACEHOLDER_reply}}"
///     }}
/// ]"#)?;
/// assert_eq!(document.dialect(), Dialect::ActionPlan);
/// assert_eq!(document.plan().inputs[0].name, "reply");
/// assert_eq!(document.plan().dependencies("sent")[0].id, "mail");
/// # Ok::<(), plan_runtime::dynamic::Findings>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reader<'c> {
    dialect: Option<Dialect>,
    profile: Profile,
    limits: DocumentLimits,
    name: Option<String>,
    tools: Option<&'c Contracts>,
    origin: Origin,
}

impl Reader<'_> {
    /// Creates a reader that recognizes the dialect.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a reader of plans that are already plans in memory, as plan JSON.
    pub(super) fn of_plans() -> Self {
        Self {
            dialect: Some(Dialect::OF_PLANS),
            limits: DocumentLimits::OF_PLANS,
            origin: Origin::Recorded,
            ..Self::default()
        }
    }

    /// Restricts the reader to this dialect.
    #[must_use]
    pub fn dialect(self, dialect: Dialect) -> Self {
        let dialect = Some(dialect);
        Self { dialect, ..self }
    }

    /// Sets the strictness. The default is [`Profile::Strict`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets the limits. A larger document is a [finding](super::Code::LimitPassed).
    #[must_use]
    pub fn limits(self, limits: DocumentLimits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the name for plans whose document does not specify one. The default is `plan`.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        let name = Some(name.into());
        Self { name, ..self }
    }

    /// Sets the tools that the reader checks plans against.
    ///
    /// With tools, the reader also finds:
    ///
    /// - unknown tools, arguments and fields of outputs
    /// - missing arguments
    /// - values and references of wrong types
    /// - optional values in required arguments
    ///
    /// Warnings report parts without an effect: unused outputs of read-only tools, and unneeded dependencies. An input
    /// without a declared type has the type of the arguments that refer to it.
    ///
    /// A value without a schema in the [contracts](super::Contract) is a warning in a position that needs a type. An output has the fields in its
    /// schema, and others only if the schema allows them with `additionalProperties`. Unknown arguments are an error if the schema forbids
    /// them, and a warning otherwise.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Code, Contract, Contracts, Reader};
    /// use serde_json::json;
    ///
    /// let tools: Contracts = [
    ///     Contract::new("find").output(json!({"type": "array", "items": {"type": "object", "properties": {"email": {"type": "string"}}}})),
    ///     Contract::new("send").arguments(json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]})),
    /// ].into_iter().collect();
    ///
    /// let findings = Reader::new().tools(&tools).read(r#"{"steps": [
    ///     {"id": "people", "tool": "find", "arguments": {}},
    ///     {"id": "sent", "tool": "send", "arguments": {"to": "$ref:people.email"}}
    /// ]}"#).unwrap_err();
    /// assert_eq!(findings[0].code, Code::ListOrElement);
    /// assert_eq!(findings.to_string(), "\
    /// error[list-or-element]: the output of `find` is a list of objects, which has no field `email`
    ///   --> 3:56 in step `sent`
    ///    = help: did you mean the first element, `$ref:people.0.email`?
    /// ");
    /// ```
    #[must_use]
    pub fn tools(self, tools: &Contracts) -> Reader<'_> {
        Reader {
            tools: Some(tools),
            dialect: self.dialect,
            profile: self.profile,
            limits: self.limits,
            name: self.name,
            origin: self.origin,
        }
    }

    /// Returns the dialect in which this reader reads a document, or `None` if the document is too long, is not JSON, or is no plan.
    ///
    /// The document may have errors.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Dialect, Reader};
    ///
    /// let dialect = |text: &str| Reader::new().recognize(text);
    /// assert_eq!(dialect(r#"[{"id": "sent", "tool": "send", "arguments": {"to": "{{PLACEHOLDER_to}}"}}]"#), Some(Dialect::ActionPlan));
    /// assert_eq!(dialect("{}"), None);
    /// ```
    pub fn recognize(&self, text: &str) -> Option<Dialect> {
        let source = Source::document(text);
        let is_short = self.too_long(text.as_bytes()).is_none();
        let node = is_short.then(|| JsonNode::of(without_fence(text), &source));
        self.dialect_of(node?.ok()?)
    }

    fn dialect_of(&self, node: JsonNode<'_>) -> Option<Dialect> {
        self.dialect.or_else(|| dialects::recognize(node))
    }

    /// Reads a plan. The reader ignores a byte order mark, and a Markdown fence that a language model writes around the JSON.
    ///
    /// The reader checks the JSON, names, references, cycles and the form of each part. With
    /// [`tools`](Self::tools), it also checks the plan against these tools.
    ///
    /// # Errors
    ///
    /// Returns all findings, if at least one is an error.
    pub fn read<'t>(&self, text: &'t str) -> Result<Document<'t>, Findings> {
        if let Some(findings) = self.too_long(text.as_bytes()) {
            return Err(findings);
        }
        let mut notes = Notes::default();
        let read = match self.plan_reader(text, &mut notes) {
            Some((dialect, reader, plan)) => {
                let mut spans;
                // The names of all steps are freed before the list of positions is copied to its exact size.
                (notes, spans) = reader.end();
                spans.shrink_to_fit();
                plan.map(|plan| (dialect, plan, spans))
            }
            None => None,
        };
        let failed = notes.has_errors();
        match read {
            Some((dialect, plan, spans)) if !failed => Ok(Document {
                text,
                plan: match self.tools {
                    Some(tools) => tools.mark_secrets(plan),
                    None => plan,
                },
                dialect,
                profile: self.profile,
                most: self.limits.findings,
                spans,
                warnings: notes.into_findings(text),
                graph: OnceLock::new(),
            }),
            _ => Err(notes.into_findings(text)),
        }
    }

    /// Reads a plan from bytes: a file, or the body of a request.
    ///
    /// JSON must be encoded in UTF-8. A document in UTF-16 or UTF-32 has a finding, and so has a document with an invalid byte. For such a
    /// document, [`Findings::text`] is the part before the invalid byte.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Code, Reader};
    ///
    /// let document = Reader::new().read_slice(b"\xef\xbb\xbf[{\"id\": \"a\", \"tool\": \"t\"}]")?;
    /// assert_eq!(document.plan().steps[0].id, "a");
    ///
    /// let findings = Reader::new().read_slice(b"[{\"id\": \"caf\xe9\"}]").unwrap_err();
    /// assert_eq!(findings[0].code, Code::InvalidJson);
    /// assert_eq!(findings.to_string(), "\
    /// error[invalid-json]: the document is not UTF-8: byte 12, 0xe9, does not begin a character
    ///   --> 1:13
    ///    = help: save the document as UTF-8
    /// ");
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all findings, if at least one is an error.
    pub fn read_slice<'t>(&self, bytes: &'t [u8]) -> Result<Document<'t>, Findings> {
        match self.too_long(bytes) {
            Some(findings) => Err(findings),
            None => self.read(bytes::text(bytes)?),
        }
    }

    /// Returns the finding for a document that is too long, with the part that is short enough.
    fn too_long(&self, bytes: &[u8]) -> Option<Findings> {
        let most = self.limits.bytes.min(u32::MAX as usize);
        if bytes.len() <= most {
            return None;
        }
        let text = bytes::valid(&bytes[..most]);
        let end = text.len();
        let message = format!(
            "the document has {} bytes, but the limit is {most} bytes",
            bytes.len()
        );
        let mut notes = Notes::default();
        let raised = (most < u32::MAX as usize).then_some("bytes");
        notes.push(Note::limit(raised, end..end, message).label("the limit is here"));
        Some(notes.into_findings(text))
    }

    pub(super) fn plan_reader(
        &self,
        text: &str,
        notes: &mut Notes,
    ) -> Option<(Dialect, PlanReader, Option<Plan>)> {
        let source = Source::document(text);
        let json = without_fence(text);
        let node = match JsonNode::of(json, &source) {
            Ok(node) => node,
            Err(error) => {
                notes.push(invalid::note(json, &source, &error, None));
                return None;
            }
        };
        let Some(dialect) = self.dialect_of(node) else {
            let message = "the document is not a plan in a known dialect";
            let help = "a plan is an object with a list of `steps`, or a list of steps".to_owned();
            notes.push(Note::error(Code::UnknownDialect, node.place(), message).help(help));
            return None;
        };
        let rules = dialect.rules();
        let mut reader = PlanReader::new(rules, self.profile, self.limits);
        reader.origin = self.origin;
        inputs::expect(&mut reader, node);
        reader.allow_values(text.len());
        let plan = rules.syntax.document(&mut reader, node);
        let plan = plan.map(|mut plan| {
            if plan.name.is_empty() {
                plan.name = self.name.clone().map_or("plan".into(), Into::into);
            }
            if reader.is_over() {
                return plan;
            }
            cycle::check(&mut reader, &plan);
            roles::check(&mut reader, &plan);
            if let Some(tools) = self.tools {
                let types = check::check(
                    &plan,
                    (text, &reader.here.spans),
                    (rules, self.profile),
                    tools,
                    &mut reader.notes,
                );
                self.type_inputs(&mut plan, types);
            }
            plan
        });
        Some((dialect, reader, plan))
    }

    fn type_inputs(&self, plan: &mut Plan, types: Vec<(usize, String)>) {
        for (input, type_name) in types {
            if let Some(input) = plan.inputs.get_mut(input) {
                input.is_guessed = false;
                input.type_name = match self.profile {
                    Profile::Compat => format!("Option<{type_name}>"),
                    Profile::Strict | Profile::Typed => type_name,
                }
                .into();
            }
        }
    }
}

crate::print::visible_debug! {
    /// A plan from a document, with the positions of its parts, from [`Reader::read`].
    ///
    /// ```
    /// use plan_runtime::dynamic::{Code, Contract, Contracts, Reader};
    /// use serde_json::json;
    ///
    /// let document = Reader::new().read(r#"[{"id": "sent", "tool": "send", "arguments": {"to": 5}}]"#)?;
    /// assert_eq!(document.plan().steps[0].id, "sent");
    ///
    /// // A document that was read without tools can be checked against tools later.
    /// let send = Contract::new("send").arguments(json!({"properties": {"to": {"type": "string"}}}));
    /// let findings = document.check(&Contracts::from_iter([send]));
    /// assert_eq!(findings[0].code, Code::WrongType);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    #[derive(Clone)]
    pub struct Document<'t> {
        text: &'t str,
        plan: Plan,
        dialect: Dialect,
        profile: Profile,
        /// The largest number of listed findings.
        most: usize,
        spans: Spans,
        warnings: Findings,
        graph: OnceLock<Checked>,
    }
}

/// The plan is checked at its first run.
impl<'p> From<&'p Document<'_>> for Executable<'p> {
    fn from(document: &'p Document<'_>) -> Self {
        let plan = &document.plan;
        let graph = document.graph.get_or_init(|| Graph::checked(plan)).clone();
        Self {
            plan,
            graph,
            is_source: false,
        }
    }
}

impl<'t> Document<'t> {
    /// Returns the plan.
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let document = Reader::new().read(r#"[{"id": "sent", "tool": "send", "arguments": {}}]"#)?;
    /// assert_eq!(document.plan().steps[0].id, "sent");
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Converts the document to its plan, without the positions in the text.
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let document = Reader::new().name("greet").read(r#"[{"id": "sent", "tool": "send", "arguments": {}}]"#)?;
    /// assert_eq!(document.into_plan().name, "greet");
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn into_plan(self) -> Plan {
        self.plan
    }

    /// Returns the JSON of the document.
    ///
    /// ```
    /// use plan_runtime::dynamic::Reader;
    ///
    /// let text = r#"[{"id": "sent", "tool": "send", "arguments": {}}]"#;
    /// assert_eq!(Reader::new().read(text)?.text(), text);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the dialect of the document.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Dialect, Reader};
    ///
    /// let document = Reader::new().read(r#"[{"id": "sent", "tool": "send", "arguments": {"to": "{{PLACEHOLDER_to}}"}}]"#)?;
    /// assert_eq!(document.dialect(), Dialect::ActionPlan);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the strictness of the reader.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Profile, Reader};
    ///
    /// let document = Reader::new().read(r#"[{"id": "sent", "tool": "send", "arguments": {}}]"#)?;
    /// assert_eq!(document.profile(), Profile::Strict);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Checks the plan against these tools, as [`Reader::tools`] does. Unlike `Reader::tools`, this method does not derive the types of inputs from the tools.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Code, Contract, Contracts, Reader};
    ///
    /// let document = Reader::new().read(r#"[{"id": "sent", "tool": "sned", "arguments": {}}]"#)?;
    /// let findings = document.check(&Contracts::from_iter([Contract::new("send")]));
    /// assert_eq!(findings[0].code, Code::UnknownTool);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn check(&self, tools: &Contracts) -> Findings {
        let mut notes = Notes::of(self.most);
        check::check(
            &self.plan,
            (self.text, &self.spans),
            (self.dialect.rules(), self.profile),
            tools,
            &mut notes,
        );
        notes.into_findings(self.text)
    }

    /// Returns the warnings from reading the document.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Code, Reader};
    ///
    /// let document = Reader::new().read(r#"{"requestId": "r", "steps": [
    ///     {"id": "now", "tool": "clock", "params": {}},
    ///     {"tool": "write", "params": {"text": "It is {{now.date}}."}}
    /// ]}"#)?;
    /// assert_eq!(document.warnings()[0].code, Code::MalformedReference);
    /// # Ok::<(), plan_runtime::dynamic::Findings>(())
    /// ```
    pub fn warnings(&self) -> &Findings {
        &self.warnings
    }
}

/// Returns the JSON in a Markdown fence, if the document has one fence and is not JSON from its start. A fence at the start of a line is no
/// part of JSON.
fn without_fence(text: &str) -> &str {
    const FENCE: &str = "```";
    let bare = &text[source::start(text)..];
    if bare.trim_start().starts_with(['{', '[']) {
        return bare;
    }
    let Some((_, fenced)) = bare.split_once(FENCE) else {
        return bare;
    };
    let ends: Vec<usize> = fenced.match_indices(FENCE).map(|(at, _)| at).collect();
    let starts_line = |at: &usize| {
        let before = fenced[..*at].rsplit_once('\n');
        before.is_some_and(|(_, line)| line.trim().is_empty())
    };
    let at_lines: Vec<usize> = ends.iter().copied().filter(starts_line).collect();
    match (&at_lines[..], &ends[..]) {
        ([end], _) | ([], [end]) => {
            let fenced = &fenced[..*end];
            fenced.split_once('\n').map_or(fenced, |(_, json)| json)
        }
        _ => bare,
    }
}
