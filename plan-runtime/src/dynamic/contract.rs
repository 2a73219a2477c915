//! The description of a tool.

use super::schema;
#[cfg(feature = "jsonschema")]
use super::validation::Validators;
use crate::Tool;
use crate::plan::{Action, InnerPlan, Plan, ToolInfo};
use crate::shape::Secrets;
use crate::shape::inside::Types;
use crate::shape::{FieldPlace, TypeShape};
use crate::shape::{secrets, secrets_inside};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

crate::print::visible_debug! {
    /// A description of a tool: its name, its purpose, and the schemas of its arguments and its output.
    ///
    /// Schemas are [JSON Schemas](https://json-schema.org). serde writes a contract as a description of the tool for a model:
    ///
    /// ```
    /// use plan_runtime::dynamic::Contract;
    /// use serde_json::json;
    ///
    /// let contract = Contract::new("find_person")
    ///     .description("Finds a person.")
    ///     .read_only()
    ///     .arguments(json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}));
    /// assert_eq!(serde_json::to_value(&contract)?, json!({
    ///     "name": "find_person",
    ///     "description": "Finds a person.",
    ///     "read_only": true,
    ///     "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    /// }));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Clone, PartialEq, Serialize)]
    #[non_exhaustive]
    pub struct Contract {
        /// The name by which plans call the tool.
        pub name: String,
        /// The purpose of the tool. Empty without a description.
        pub description: String,
        /// `true` if the tool declares that it [only reads](Tool::READ_ONLY).
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub read_only: bool,
        /// The JSON Schema of the object of arguments, or `None` if the schema is unknown.
        #[serde(rename = "parameters", skip_serializing_if = "Option::is_none")]
        pub arguments: Option<Value>,
        /// The JSON Schema of the output, or `None` if the schema is unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub output: Option<Value>,
        /// The secret parts of the arguments, in addition to parts that the schema marks with `"writeOnly": true` or
        /// `"format": "password"`.
        #[serde(skip)]
        pub secret_arguments: Secrets,
        /// The secret parts of the output, in addition to parts that the schema marks.
        #[serde(skip)]
        pub secret_output: Secrets,
        /// The plan of the tool, if the tool is a plan.
        #[serde(skip)]
        pub(crate) plan: InnerPlan,
    }
}

impl Contract {
    /// Creates a contract with only a name.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            read_only: false,
            arguments: None,
            output: None,
            secret_arguments: Secrets::default(),
            secret_output: Secrets::default(),
            plan: InnerPlan::default(),
        }
    }

    /// Sets the purpose of the tool.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Declares that the tool only reads: a call to it changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Sets the JSON Schema of the arguments.
    #[must_use]
    pub fn arguments(mut self, schema: impl Into<Value>) -> Self {
        self.arguments = Some(schema.into());
        self
    }

    /// Sets the JSON Schema of the output.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Value>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// Returns the contract that a tool's Rust type determines: its name, its description, and the names of its
    /// arguments, but no types.
    ///
    /// The schema refuses other arguments, unless a field is `#[serde(flatten)]`. The schema contains no `#[serde(alias)]`.
    ///
    /// ```
    /// use plan_runtime::{Result, dynamic::Contract, tool};
    /// use serde_json::json;
    ///
    /// /// Counts e-mails.
    /// #[tool(read_only)]
    /// async fn count_emails(sender: String, unread: Option<bool>) -> Result<u64> {
    ///     Ok(0)
    /// }
    ///
    /// let contract = Contract::of::<CountEmails>();
    /// assert_eq!((&*contract.name, &*contract.description), ("count_emails", "Counts e-mails."));
    /// assert!(contract.read_only);
    /// assert_eq!(contract.arguments, Some(json!({
    ///     "type": "object",
    ///     "properties": {"sender": {}, "unread": {}},
    ///     "required": ["sender"],
    ///     "additionalProperties": false,
    /// })));
    /// ```
    pub fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME.into(),
            description: T::DESCRIPTION.into(),
            read_only: T::READ_ONLY,
            arguments: schema_of(&T::SHAPE),
            output: None,
            secret_arguments: secrets(T::SHAPE, Types::default(), false),
            secret_output: secrets_inside(T::OUTPUT(), Types::default(), true),
            plan: InnerPlan::of(T::PLAN),
        }
    }

    /// Returns the contract of a tool whose arguments and output have schemas from [`schemars`]. The tool accepts no other
    /// arguments, unless its struct has a flattened field.
    ///
    /// ```
    /// use plan_runtime::{Result, dynamic::Contract, tool};
    /// use schemars::JsonSchema;
    ///
    /// #[tool]
    /// #[derive(JsonSchema)]
    /// async fn count_emails(sender: String, unread: Option<bool>) -> Result<u64> {
    ///     Ok(0)
    /// }
    ///
    /// let contract = Contract::with_schema::<CountEmails>();
    /// assert_eq!(contract.arguments.unwrap()["properties"]["sender"]["type"], "string");
    /// assert_eq!(contract.output.unwrap()["type"], "integer");
    /// ```
    #[cfg(feature = "schema")]
    pub fn with_schema<T>() -> Self
    where
        T: Tool + schemars::JsonSchema,
        T::Output: schemars::JsonSchema,
    {
        use schemars::generate::SchemaSettings;
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
        let arguments = settings.clone().for_deserialize().into_generator();
        let output = settings.for_serialize().into_generator();
        let mut arguments = arguments.into_root_schema_for::<T>();
        // The contract itself contains these members.
        arguments.remove("title");
        arguments.remove("description");
        let known = Self::of::<T>();
        // serde ignores unknown members, so the schema forbids them to report them to the author of a plan.
        const CLOSED: &str = "additionalProperties";
        let closed = known.arguments.as_ref().and_then(|it| it.get(CLOSED));
        if let (Some(closed), None) = (closed, arguments.get(CLOSED)) {
            arguments.insert(CLOSED.to_owned(), closed.clone());
        }
        Self {
            arguments: Some(arguments.into()),
            output: Some(output.into_root_schema_for::<T::Output>().into()),
            ..known
        }
    }
}

/// Returns the schema of the object from which a struct with named fields is read.
fn schema_of(shape: &TypeShape) -> Option<Value> {
    let TypeShape::Struct(fields) = shape else {
        return None;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut open = false;
    for field in *fields {
        match field.argument {
            FieldPlace::Key(name) => {
                let schema = if field.secret {
                    json!({"writeOnly": true})
                } else {
                    json!({})
                };
                properties.insert(name.to_owned(), schema);
                if field.required {
                    required.push(name);
                }
            }
            FieldPlace::Flattened => open = true,
            FieldPlace::LeftOut(_) => {}
            // A tuple, or a struct that serde reads as its only field.
            FieldPlace::Index(_) | FieldPlace::Inner => return None,
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if !open {
        schema["additionalProperties"] = false.into();
    }
    Some(schema)
}

/// Contracts of several tools, in the order of their addition.
///
/// Serializes to a list of the contracts, which describes the tools to a model.
///
/// ```
/// use plan_runtime::dynamic::{Contract, Contracts};
///
/// let contracts: Contracts = [Contract::new("write"), Contract::new("read").read_only()].into_iter().collect();
/// assert_eq!(contracts.names().collect::<Vec<_>>(), ["write", "read"]);
/// assert!(contracts.get("read").unwrap().read_only);
/// assert_eq!(contracts.to_json()[1]["name"], "read");
/// ```
#[derive(Clone, Default, Serialize)]
#[serde(transparent)]
pub struct Contracts {
    list: Vec<Contract>,
    #[serde(skip)]
    places: HashMap<String, usize>,
    /// `true` if any tool has secrets.
    #[serde(skip)]
    pub(super) may_have_secrets: bool,
    /// The compiled schemas of all tools, if calls are validated.
    #[cfg(feature = "jsonschema")]
    #[serde(skip)]
    pub(super) validators: Option<HashMap<String, Arc<Validators>>>,
}

crate::print::visible_debug!(struct Contracts {
    list,
    places,
    may_have_secrets,
    #[cfg(feature = "jsonschema")]
    validators,
});

impl Contracts {
    /// Creates an empty list of contracts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the plan with the secrets of each tool, and with the plan of each tool that is a
    /// plan.
    pub(super) fn mark_secrets(&self, mut plan: Plan) -> Plan {
        if self.may_have_secrets {
            let mut marked = HashMap::new();
            for step in &mut plan.steps {
                step.body
                    .each_action_mut(&mut |it| self.mark(it, &mut marked));
            }
        }
        plan
    }

    /// Marks the tool of an action. Steps that call one tool share its description.
    fn mark(&self, action: &mut Action, marked: &mut HashMap<*const ToolInfo, Arc<ToolInfo>>) {
        let Some(tool) = &mut action.tool else { return };
        let Some(contract) = self.get(&tool.name) else {
            return;
        };
        let mark = || {
            let mut tool = ToolInfo::clone(tool);
            tool.secret_arguments.add(contract.secret_arguments.clone());
            tool.secret_output.add(contract.secret_output.clone());
            if !tool.plan.is_some() {
                tool.plan = contract.plan;
            }
            Arc::new(tool)
        };
        let shared = marked.entry(Arc::as_ptr(tool)).or_insert_with(mark);
        *tool = Arc::clone(shared);
    }

    /// Adds a contract. If a contract with this name exists, the new contract takes its position, and the old one is
    /// returned.
    pub fn insert(&mut self, mut contract: Contract) -> Option<Contract> {
        if let Some(schema) = &contract.arguments {
            contract.secret_arguments.add(schema::secrets(schema));
        }
        if let Some(schema) = &contract.output {
            contract.secret_output.add(schema::secrets(schema));
        }
        self.may_have_secrets |= !contract.secret_arguments.is_empty()
            || !contract.secret_output.is_empty()
            || contract.plan.is_some();
        match self.places.get(&contract.name).copied() {
            Some(place) => Some(std::mem::replace(&mut self.list[place], contract)),
            None => {
                self.places.insert(contract.name.clone(), self.list.len());
                self.list.push(contract);
                None
            }
        }
    }

    /// Returns the compiled schemas of a tool, if its calls are validated.
    #[cfg(feature = "jsonschema")]
    pub(super) fn validators(&self, name: &str) -> Option<&Arc<Validators>> {
        self.validators.as_ref()?.get(name)
    }

    /// Keeps only these contracts.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Contract) -> bool) {
        self.list.retain(keep);
        let names = self.list.iter().map(|contract| contract.name.clone());
        self.places = names.zip(0..).collect();
    }

    /// Returns the contract with this name.
    pub fn get(&self, name: &str) -> Option<&Contract> {
        self.find(name).map(|(_, contract)| contract)
    }

    /// Returns the contracts, in the order of their addition.
    pub fn iter(&self) -> std::slice::Iter<'_, Contract> {
        self.list.iter()
    }

    /// Returns the names, in the order of their addition.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> + fmt::Debug {
        self.list.iter().map(|contract| &*contract.name)
    }

    /// Returns the number of contracts.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns `true` without contracts.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the contracts as JSON: a list of objects with `name` and `description`, with the JSON Schemas `parameters` and
    /// `output` if they are known, and with `read_only` if the tool only reads.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a contract is made of strings and JSON")
    }

    /// Returns the index of a contract in the order, and the contract.
    pub(super) fn find(&self, name: &str) -> Option<(usize, &Contract)> {
        let place = *self.places.get(name)?;
        Some((place, &self.list[place]))
    }
}

impl<'c> IntoIterator for &'c Contracts {
    type Item = &'c Contract;
    type IntoIter = std::slice::Iter<'c, Contract>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Contract> for Contracts {
    fn extend<I: IntoIterator<Item = Contract>>(&mut self, contracts: I) {
        for contract in contracts {
            self.insert(contract);
        }
    }
}

/// Collects contracts. The last of several contracts with one name replaces the others.
impl FromIterator<Contract> for Contracts {
    fn from_iter<I: IntoIterator<Item = Contract>>(contracts: I) -> Self {
        let mut all = Self::new();
        all.extend(contracts);
        all
    }
}
