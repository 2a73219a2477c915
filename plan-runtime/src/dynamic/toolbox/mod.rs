//! The tools of an application by name, for plans from JSON.

mod run;
#[cfg(feature = "jsonschema")]
mod validated;

use super::contract::{Contract, Contracts};
use super::finding::{Note, Notes};
use super::{Code, Document, Findings, Reader, check};
use crate::print::{MessageName, visibly};
use crate::run::start::{Request, Started};
use crate::run::{CalledPlan, Throttle, allows};
use crate::{Call, Plan, Result};
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The tools of an application by name, for plans that are unknown at compile time.
///
/// You can add every Rust tool of the application, including
/// plans of `plan!`. You can also add a closure from JSON to JSON, for a tool without a Rust type.
///
/// Clones share the tools and the [throttle](Self::throttle).
///
/// ```
/// use plan_runtime::dynamic::{Contract, Toolbox};
/// use plan_runtime::{Error, Plan, Result, tool};
/// use serde_json::{Value, json};
///
/// struct Shop {
///     currency: &'static str,
/// }
///
/// /// Looks up what an item costs.
/// #[tool(read_only)]
/// async fn find_price(_shop: &Shop, item: String) -> Result<usize> {
///     Ok(item.len())
/// }
///
/// let toolbox = Toolbox::new()
///     .with::<FindPrice>()
///     .with_app_fn(Contract::new("write_bill"), |shop: &Shop, arguments: Value| {
///         Box::pin(async move {
///             let total = arguments["total"].as_u64().ok_or_else(|| Error::msg("a bill needs a total"))?;
///             Ok(json!(format!("{total} {}", shop.currency)))
///         })
///     });
///
/// let plan: Plan = serde_json::from_value(json!({
///     "name": "sell",
///     "inputs": [{"name": "item", "type": "String"}],
///     "steps": [
///         {"id": "price", "tool": {"name": "find_price"},
///          "arguments": {"object": {"item": {"reference": {"input": "item", "pointer": ""}}}}},
///         {"id": "bill", "tool": {"name": "write_bill"},
///          "arguments": {"object": {"total": {"reference": {"step": "price", "pointer": ""}}}}},
///     ],
///     "output": {"value": {"reference": {"step": "bill", "pointer": ""}}},
/// }))?;
/// let run = toolbox.run(&plan, json!({"item": "lamp"}), &Shop { currency: "EUR" });
/// assert_eq!(smol::block_on(run)?, "4 EUR");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Toolbox<App: ?Sized> {
    contracts: Contracts,
    /// The implementations, in the order of the contracts.
    tools: Vec<Implementation<App>>,
    throttle: Throttle,
}

/// A tool's future, which may borrow the application.
type AppFuture<'x> = Pin<Box<dyn Future<Output = Result<Value>> + Send + 'x>>;

type AppCall<App> = dyn for<'x> Fn(&'x App, Value) -> AppFuture<'x> + Send + Sync;

pub(super) enum Implementation<App: ?Sized> {
    /// A [`Call`] of a type.
    Typed(
        for<'x> fn(Request<'_>, &'x App) -> Started<'x>,
        /// The plan of the tool, with these inputs.
        for<'x> fn(Value, &'x App) -> std::result::Result<CalledPlan<'x>, String>,
    ),
    /// A closure over JSON.
    Json(Arc<AppCall<App>>),
}

impl<App: ?Sized> Clone for Implementation<App> {
    fn clone(&self) -> Self {
        match self {
            Self::Typed(start, plan) => Self::Typed(*start, *plan),
            Self::Json(call) => Self::Json(Arc::clone(call)),
        }
    }
}

impl<App: ?Sized> Clone for Toolbox<App> {
    fn clone(&self) -> Self {
        Self {
            contracts: self.contracts.clone(),
            tools: self.tools.clone(),
            throttle: self.throttle.clone(),
        }
    }
}

impl<App: ?Sized> Implementation<App> {
    /// Starts a call of the tool with this contract.
    pub(super) fn start<'x>(
        &self,
        request: Request<'_>,
        app: &'x App,
        known: (&Contract, &Contracts),
    ) -> Started<'x> {
        let action = request.action();
        let replaced = check::without_nulls(action, known.0, &|it| request.is_null(it));
        let request = match &replaced {
            Some(action) => request.with_action(action),
            None => request,
        };
        #[cfg(feature = "jsonschema")]
        if let Some(validators) = known.1.validators(&known.0.name) {
            return self.start_validated(request, app, known, validators);
        }
        self.call(request, app, known)
    }

    fn call<'x>(
        &self,
        request: Request<'_>,
        app: &'x App,
        (contract, contracts): (&Contract, &Contracts),
    ) -> Started<'x> {
        match self {
            // Deserializing the type checks its arguments.
            Self::Typed(start, _) => start(request, app),
            Self::Json(call) => {
                let about = (&*contract.name, &*contract.description, contract.read_only);
                let check = |it: &Value| mismatches(contract, contracts, it);
                let started = request.call_json(about, check, |arguments| call(app, arguments));
                started.unwrap_or_else(Started::failed)
            }
        }
    }
}

/// Returns a message for each mismatch between arguments and their schema.
fn mismatches(contract: &Contract, contracts: &Contracts, arguments: &Value) -> Vec<String> {
    let schema = contract.arguments.as_ref();
    let checked = || {
        schema.map_or_else(Vec::new, |schema| {
            check::check_value(&contract.name, arguments, schema)
        })
    };
    #[cfg(feature = "jsonschema")]
    if let Some(validators) = contracts.validators(&contract.name) {
        return validators.arguments(arguments, checked);
    }
    #[cfg(not(feature = "jsonschema"))]
    let _ = contracts;
    checked()
}

impl<App: ?Sized> Toolbox<App> {
    /// Creates a toolbox without tools.
    ///
    /// ```
    /// use plan_runtime::dynamic::Toolbox;
    ///
    /// assert!(Toolbox::<()>::new().contracts().is_empty());
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self {
            contracts: Contracts::new(),
            tools: Vec::new(),
            throttle: Throttle::new(),
        }
    }

    /// Adds a tool of the application, under [`Tool::NAME`](crate::Tool::NAME). The tool may be a plan of `plan!`.
    ///
    /// ```
    /// use plan_runtime::{Result, dynamic::Toolbox, plan, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// async fn double(number: u64) -> Result<u64> {
    ///     Ok(number * 2)
    /// }
    ///
    /// plan! {
    ///     Quadruple(number: u64) -> u64 {
    ///         step twice = Double { number };
    ///         step again = Double { number: twice };
    ///         again
    ///     }
    /// }
    ///
    /// let toolbox = Toolbox::<()>::new().with::<Double>().with::<Quadruple>();
    /// assert_eq!(toolbox.contracts().names().collect::<Vec<_>>(), ["double", "quadruple"]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the toolbox already has a tool with this name, like all methods that add a tool. Check with [`contains`](Self::contains) if the
    /// names come from elsewhere, such as a server.
    #[must_use]
    #[track_caller]
    pub fn with<T: Call<App> + 'static>(self) -> Self
    where
        App: Sync,
    {
        self.add_typed::<T>(Contract::of::<T>())
    }

    /// Adds a tool as [`with`](Self::with) does, with the JSON Schemas of its arguments and its output.
    ///
    /// ```
    /// use plan_runtime::{Result, dynamic::Toolbox, tool};
    ///
    /// #[tool]
    /// #[derive(schemars::JsonSchema)]
    /// async fn double(number: u64) -> Result<u64> {
    ///     Ok(number * 2)
    /// }
    ///
    /// let toolbox = Toolbox::<()>::new().with_schema::<Double>();
    /// let arguments = toolbox.contracts().get("double").unwrap().arguments.as_ref().unwrap();
    /// assert_eq!(arguments["properties"]["number"]["type"], "integer");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is a tool with this name.
    #[cfg(feature = "schema")]
    #[must_use]
    #[track_caller]
    pub fn with_schema<T>(self) -> Self
    where
        App: Sync,
        T: Call<App> + schemars::JsonSchema + 'static,
        T::Output: schemars::JsonSchema,
    {
        self.add_typed::<T>(Contract::with_schema::<T>())
    }

    /// Adds a tool without a Rust type that does not need the application: a closure from the arguments to the output.
    ///
    /// The arguments are the JSON object in the plan. If the contract has a schema of the arguments, the run checks the arguments
    /// before each call.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use serde_json::json;
    ///
    /// let echo = Contract::new("echo").description("Returns its argument.").read_only();
    /// let toolbox = Toolbox::<()>::new().with_fn(echo, |arguments| async move { Ok(arguments) });
    /// assert!(toolbox.contains("echo"));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is a tool with this name.
    #[must_use]
    #[track_caller]
    pub fn with_fn<F, R>(self, contract: Contract, call: F) -> Self
    where
        F: Fn(Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value>> + Send + 'static,
    {
        let call = Arc::new(call);
        self.add_fn(contract, move |_, arguments| {
            let call = Arc::clone(&call);
            Box::pin(async move { call(arguments).await })
        })
    }

    /// Adds a tool without a Rust type that needs the application: a closure whose boxed future may borrow the
    /// application.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use serde_json::{Value, json};
    ///
    /// struct Shop {
    ///     open: bool,
    /// }
    ///
    /// let toolbox = Toolbox::new().with_app_fn(Contract::new("is_open"), |shop: &Shop, _: Value| {
    ///     Box::pin(async move { Ok(json!(shop.open)) })
    /// });
    /// assert!(toolbox.contains("is_open"));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there is a tool with this name.
    #[must_use]
    #[track_caller]
    pub fn with_app_fn<F>(self, contract: Contract, call: F) -> Self
    where
        F: for<'x> Fn(&'x App, Value) -> Pin<Box<dyn Future<Output = Result<Value>> + Send + 'x>>
            + Send
            + Sync
            + 'static,
        App: Sync,
    {
        let call = Arc::new(call);
        self.add_fn(contract, move |app, arguments| {
            let call = Arc::clone(&call);
            Box::pin(async move { call(app, arguments).await })
        })
    }

    /// Adds a closure without code before its future, since a run calls the closure before the call may begin.
    #[track_caller]
    fn add_fn<F>(self, contract: Contract, call: F) -> Self
    where
        F: for<'x> Fn(&'x App, Value) -> AppFuture<'x> + Send + Sync + 'static,
    {
        self.add(contract, Implementation::Json(Arc::new(call)))
    }

    #[track_caller]
    fn add_typed<T: Call<App> + 'static>(self, contract: Contract) -> Self
    where
        App: Sync,
    {
        self.add(
            contract,
            Implementation::Typed(|request, app| request.call::<T, App>(app), called::<T, App>),
        )
    }

    #[track_caller]
    fn add(mut self, contract: Contract, tool: Implementation<App>) -> Self {
        assert!(
            !self.contains(&contract.name),
            "the toolbox already has a tool `{}`: give the other tool another name",
            MessageName(&contract.name)
        );
        #[cfg(feature = "jsonschema")]
        assert!(
            self.contracts.validators.is_none(),
            "`with_validation` has compiled the schemas already: add the tool `{}` before",
            MessageName(&contract.name)
        );
        self.contracts.insert(contract);
        self.tools.push(tool);
        self
    }

    /// Sets a throttle for the calls of all runs of this toolbox.
    ///
    /// ```
    /// use plan_runtime::dynamic::Toolbox;
    /// use plan_runtime::run::Throttle;
    /// # use plan_runtime::{Result, tool};
    /// use serde_json::json;
    ///
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let toolbox = Toolbox::<()>::new().with::<Double>().throttle(Throttle::new().concurrency("double", 1));
    /// assert_eq!(smol::block_on(toolbox.call("double", json!({"number": 3}), &()))?, 6);
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    #[must_use]
    pub fn throttle(mut self, throttle: Throttle) -> Self {
        self.throttle = throttle;
        self
    }

    /// Removes all tools except the tools with these names. A trailing `*` matches any suffix.
    ///
    /// Plans that this toolbox reads or runs cannot call the removed tools.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    ///
    /// let mut toolbox = Toolbox::<()>::new();
    /// for name in ["mail.list", "mail.send", "calendar.list"] {
    ///     toolbox = toolbox.with_fn(Contract::new(name), |arguments| async move { Ok(arguments) });
    /// }
    /// let toolbox = toolbox.only(["mail.*"]);
    /// assert_eq!(toolbox.contracts().names().collect::<Vec<_>>(), ["mail.list", "mail.send"]);
    /// ```
    #[must_use]
    pub fn only<N: AsRef<str>>(self, tools: impl IntoIterator<Item = N>) -> Self {
        let tools: Vec<N> = tools.into_iter().collect();
        self.retain(|contract| allows(&tools, &contract.name))
    }

    /// Keeps only the tools that declare that they [only read](crate::Tool::READ_ONLY).
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    ///
    /// let toolbox = Toolbox::<()>::new()
    ///     .with_fn(Contract::new("list").read_only(), |arguments| async move { Ok(arguments) })
    ///     .with_fn(Contract::new("send"), |arguments| async move { Ok(arguments) })
    ///     .read_only();
    /// assert_eq!(toolbox.contracts().names().collect::<Vec<_>>(), ["list"]);
    /// ```
    #[must_use]
    pub fn read_only(self) -> Self {
        self.retain(|contract| contract.read_only)
    }

    fn retain(mut self, keep: impl Fn(&Contract) -> bool) -> Self {
        let kept: Vec<bool> = self.contracts.iter().map(&keep).collect();
        let mut kept = kept.into_iter();
        self.tools.retain(|_| kept.next() == Some(true));
        self.contracts.retain(keep);
        self
    }

    /// Returns the contracts of the tools, in the order of their addition.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    ///
    /// let echo = Contract::new("echo").description("Returns its argument.");
    /// let toolbox = Toolbox::<()>::new().with_fn(echo, |arguments| async move { Ok(arguments) });
    /// assert_eq!(toolbox.contracts().get("echo").unwrap().description, "Returns its argument.");
    /// ```
    pub fn contracts(&self) -> &Contracts {
        &self.contracts
    }

    /// Returns a prompt for a model that writes plans: the tools, and the format of a plan. See [`Contracts::prompt`].
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use serde_json::json;
    ///
    /// let double = Contract::new("double")
    ///     .description("Doubles a number.")
    ///     .read_only()
    ///     .arguments(json!({
    ///         "type": "object",
    ///         "properties": {"number": {"type": "integer", "minimum": 0, "maximum": 255}},
    ///         "required": ["number"]
    ///     }))
    ///     .output(json!({"type": "integer"}));
    /// let toolbox = Toolbox::<()>::new().with_fn(double, |given| async move { Ok(given["number"].clone()) });
    /// assert!(toolbox.prompt().contains(r#"
    /// double(number: integer (0 to 255)) -> integer
    ///   "Doubles a number." It only reads.
    /// "#));
    /// ```
    #[must_use]
    pub fn prompt(&self) -> String {
        self.contracts.prompt()
    }

    /// Returns the JSON Schema of plans for a model with structured output. See [`Contracts::schema`].
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    ///
    /// let toolbox = Toolbox::<()>::new().with_fn(Contract::new("echo"), |given| async move { Ok(given) });
    /// assert_eq!(toolbox.schema()["type"], "object");
    /// ```
    #[must_use]
    pub fn schema(&self) -> Value {
        self.contracts.schema()
    }

    /// Checks arguments against the schema of a tool, and returns a message for each mismatch. Without a schema, all arguments fit.
    ///
    /// Returns `None` if the toolbox does not contain the tool, for example a tool that only a `plan!` calls. The arguments are then unchecked.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    /// use serde_json::json;
    ///
    /// let schema = json!({"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"]});
    /// let pay = Contract::new("pay").arguments(schema);
    /// let toolbox = Toolbox::<()>::new().with_fn(pay, |arguments| async move { Ok(arguments) });
    /// let mismatches = |tool, cents| toolbox.check_arguments(tool, &json!({"cents": cents})).map(|all| all.len());
    /// assert_eq!(mismatches("pay", json!(5)), Some(0));
    /// assert_eq!(mismatches("pay", json!("5")), Some(1));
    /// assert_eq!(mismatches("send", json!(5)), None);
    /// ```
    pub fn check_arguments(&self, tool: &str, arguments: &Value) -> Option<Vec<String>> {
        let contract = self.contracts.get(tool)?;
        Some(mismatches(contract, &self.contracts, arguments))
    }

    /// Returns `true` if the toolbox has a tool with this name.
    ///
    /// ```
    /// use plan_runtime::dynamic::{Contract, Toolbox};
    ///
    /// let toolbox = Toolbox::<()>::new().with_fn(Contract::new("echo"), |arguments| async move { Ok(arguments) });
    /// assert!(toolbox.contains("echo") && !toolbox.contains("send"));
    /// ```
    pub fn contains(&self, name: &str) -> bool {
        self.contracts.get(name).is_some()
    }

    /// Reads a plan from JSON, and checks the plan against the contracts of these tools, with a strict [`Reader`] that detects the
    /// dialect.
    ///
    /// ```
    /// # use plan_runtime::{Result, dynamic::Toolbox, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let toolbox = Toolbox::new().with::<Double>();
    /// let plan = |tool: &str| format!(r#"{{"steps": [{{"id": "twice", "tool": "{tool}", "arguments": {{"number": 3}}}}]}}"#);
    ///
    /// let findings = toolbox.read(&plan("duoble")).unwrap_err();
    /// assert_eq!(findings.to_string(), "\
    /// error[unknown-tool]: there is no tool `duoble`
    ///   --> 1:36 in step `twice`
    ///    = help: did you mean `double`?
    /// ");
    ///
    /// let text = plan("double");
    /// let document = toolbox.read(&text)?;
    /// assert_eq!(smol::block_on(toolbox.run(document.plan(), (), &()))?["twice"], 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all findings, if at least one is an error.
    pub fn read<'t>(&self, text: &'t str) -> std::result::Result<Document<'t>, Findings> {
        Reader::new().tools(&self.contracts).read(text)
    }

    /// Reads a plan from bytes, as [`Reader::read_slice`] does, and checks it against the contracts of these tools.
    ///
    /// ```
    /// # use plan_runtime::{Result, dynamic::Toolbox, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let toolbox = Toolbox::<()>::new().with::<Double>();
    /// let findings = toolbox.read_slice(&[0xff, 0xfe, b'{', 0, b'}', 0]).unwrap_err();
    /// assert_eq!(findings[0].message, "the document is in UTF-16 (little-endian), and JSON is in UTF-8");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all findings, if at least one is an error.
    pub fn read_slice<'t>(&self, bytes: &'t [u8]) -> std::result::Result<Document<'t>, Findings> {
        Reader::new().tools(&self.contracts).read_slice(bytes)
    }

    /// Checks a plan against the contracts of these tools, as [`read`](Self::read) does. Use this method for a plan that a web framework deserialized, or that you built in Rust.
    ///
    /// The method writes the plan as plan JSON. The positions of the findings are in this JSON, which [`Findings::text`] returns.
    ///
    /// ```
    /// # use plan_runtime::{Plan, Result, dynamic::Toolbox, plan::{Action, Step, Template}, tool};
    /// # #[tool] async fn double(number: u64) -> Result<u64> { Ok(number * 2) }
    /// let toolbox = Toolbox::<()>::new().with::<Double>();
    /// let mut plan = Plan::new("p");
    /// plan.steps = vec![Step::new("twice", Action::call("duoble", Template::object::<&str>([])))];
    ///
    /// let findings = toolbox.check(&plan);
    /// assert!(findings.has_errors());
    /// assert_eq!(findings[0].message, "there is no tool `duoble`");
    /// ```
    pub fn check(&self, plan: &Plan) -> Findings {
        let text = match serde_json::to_string(plan) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("the plan cannot be written as JSON: {error}");
                let mut notes = Notes::default();
                notes.push(Note::error(Code::WrongKind, 0..0, message));
                return notes.into_findings("");
            }
        };
        let read = Reader::of_plans().tools(&self.contracts).read(&text);
        read.map_or_else(|findings| findings, |it| it.warnings().clone())
    }

    pub(crate) fn throttle_of_all(&self) -> &Throttle {
        &self.throttle
    }

    pub(super) fn get(&self, name: &str) -> Option<(&Implementation<App>, &Contract)> {
        let (place, contract) = self.contracts.find(name)?;
        Some((&self.tools[place], contract))
    }
}

impl<App: ?Sized> Default for Toolbox<App> {
    fn default() -> Self {
        Self::new()
    }
}

impl<App: ?Sized> fmt::Debug for Toolbox<App> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.contracts.names().collect();
        visibly(f, |f| f.debug_tuple("Toolbox").field(&names).finish())
    }
}

/// Creates the plan of a tool that is a plan, with these inputs.
fn called<T: Call<App> + 'static, App: ?Sized>(
    inputs: Value,
    app: &App,
) -> std::result::Result<CalledPlan<'_>, String> {
    let tool: T = serde_json::from_value(inputs).map_err(|error| error.to_string())?;
    let is_none = |_| "the tool of this name is not a plan".to_owned();
    tool.plan_on(app).map_err(is_none)
}
