//! The step blueprint as GraphQL, with the blueprint's own names.

use crate::budget::Budget;
use crate::error::{Problem, short};
use crate::limits;
use crate::run_id::{Start, request_of};
use crate::runs::report;
use crate::state::{State, state_name};
use async_graphql::parser::types::{Selection, SelectionSet};
use async_graphql::{
    Context, EmptySubscription, Error, ErrorExtensions, InputObject, Json, Object, Pos, Request,
    Response, Result, Schema, SimpleObject, Value as Const,
};
use plan_graph::{Line, Lines};
use plan_runtime::dynamic::{Dialect, Finding, Profile};
use plan_runtime::run::ExecutionResults as Results;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) type Blueprints = Schema<Query, Mutation, EmptySubscription>;

pub(crate) fn schema(state: &Arc<State>) -> Blueprints {
    Schema::build(Query, Mutation, EmptySubscription)
        .limit_depth(limits::QUERY_DEPTH)
        .limit_complexity(limits::QUERY_COMPLEXITY)
        .limit_recursive_depth(limits::QUERY_DEPTH)
        .limit_directives(limits::QUERY_DIRECTIVES)
        .data(Arc::clone(state))
        .finish()
}

/// Escapes invisible characters in the errors of a response, which repeat parts of queries and plans.
pub(crate) fn shown(mut response: Response) -> Response {
    for error in &mut response.errors {
        error.message = Lines(&error.message).to_string();
    }
    response
}

/// What is wrong with a request before it is validated. The complexity of a query does not count `__typename`, nor how often a fragment is spread.
pub(crate) fn refused(request: &mut Request) -> Option<Response> {
    if request.query.len() > limits::QUERY {
        let most = limits::QUERY >> 10;
        return Some(too_complex(format!("the query has more than {most} KiB")));
    }
    let document = match request.parsed_query() {
        Ok(document) => document,
        Err(error) => return Some(Response::from_errors(vec![error])),
    };
    let operations = document.operations.iter().map(|(_, it)| &it.node);
    let variables: usize = operations
        .clone()
        .map(|it| it.variable_definitions.len())
        .sum();
    let sets = operations.map(|it| &it.selection_set.node);
    let fragments = document.fragments.values();
    let mut open: Vec<&SelectionSet> = sets
        .chain(fragments.map(|it| &it.node.selection_set.node))
        .collect();
    let mut count = variables;
    while let Some(set) = open.pop() {
        count += set.items.len();
        open.extend(set.items.iter().filter_map(|it| match &it.node {
            Selection::Field(field) => Some(&field.node.selection_set.node),
            Selection::InlineFragment(inline) => Some(&inline.node.selection_set.node),
            Selection::FragmentSpread(_) => None,
        }));
    }
    let most = limits::QUERY_COMPLEXITY;
    (count > most).then(|| {
        too_complex(format!(
            "the query has more than {most} fields, fragments and variables"
        ))
    })
}

fn too_complex(message: String) -> Response {
    let error = Error::new(message).extend_with(|_, more| {
        more.set("code", "TOO_COMPLEX");
        more.set("help", "Ask for less, or in several requests.");
    });
    Response::from_errors(vec![error.into_server_error(Pos::default())])
}

/// A plan: steps that refer to each other by their places, such as `${step[0].data[0].id}`.
#[derive(InputObject)]
struct PlanInput {
    /// Names the request. The same request again gives the results of the first; another plan under its name is an error. Without it, a name is made.
    request_id: Option<String>,
    steps: Vec<PlanStepInput>,
}

/// A step of a plan.
#[derive(InputObject)]
struct PlanStepInput {
    tool: String,
    params: Json<Value>,
    /// The places of steps that have to end before this one starts. What it refers to is one of them in any case.
    depends_on: Option<Vec<u32>>,
    /// Whether it may run beside others. All steps do that do not need each other.
    parallel: Option<bool>,
    /// Whether the plan goes on if it fails.
    optional: Option<bool>,
    /// How often it is tried again.
    retry_count: Option<u32>,
    /// How many milliseconds an attempt may take.
    timeout: Option<u32>,
}

/// A step of a plan.
#[derive(SimpleObject)]
struct PlanStep {
    tool: String,
    params: Json<Value>,
    depends_on: Vec<u32>,
    parallel: bool,
    optional: bool,
    retry_count: Option<u32>,
    timeout: Option<u32>,
}

/// A plan that was executed.
#[derive(SimpleObject)]
struct Plan {
    request_id: String,
    /// Whether it was read strictly.
    strict: bool,
    /// `running`, `done`, `failed` or `cancelled`.
    state: &'static str,
    steps: Vec<PlanStep>,
}

/// What became of a plan.
#[derive(SimpleObject)]
struct ExecutionResults {
    request_id: String,
    /// `running`, `done`, `failed` or `cancelled`. What runs longer than the server waits is `running`: ask for its results later.
    state: &'static str,
    results: Vec<ToolResult>,
    metadata: ExecutionMetadata,
}

#[derive(SimpleObject)]
struct ExecutionMetadata {
    total_duration_ms: u64,
    successful_steps: usize,
    failed_steps: usize,
    timestamp: String,
}

/// What became of a step.
#[derive(SimpleObject)]
struct ToolResult {
    success: bool,
    tool: String,
    data: Option<Json<Value>>,
    error: Option<ErrorDetails>,
    metadata: ToolResultMetadata,
    step_index: usize,
    /// The parameters with values in place of references.
    resolved_params: Option<Json<Value>>,
}

#[derive(SimpleObject)]
struct ErrorDetails {
    code: String,
    message: String,
}

#[derive(SimpleObject)]
struct ToolResultMetadata {
    /// Milliseconds.
    execution_time: u64,
    timestamp: String,
}

/// What is wrong with a plan, or odd.
#[derive(SimpleObject)]
struct PlanFinding {
    /// `error` or `warning`.
    severity: &'static str,
    code: &'static str,
    message: String,
    help: Option<String>,
    /// The place of the step, counted from 0.
    step_index: Option<usize>,
}

pub(crate) struct Query;
pub(crate) struct Mutation;

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let (code, help) = (problem.code(), problem.help().to_owned());
        Error::new(problem.message()).extend_with(|_, more| {
            more.set("code", code);
            more.set("help", help);
        })
    }
}

fn state<'c>(context: &Context<'c>) -> &'c Arc<State> {
    context.data_unchecked::<Arc<State>>()
}

fn budget<'c>(context: &Context<'c>) -> &'c Arc<Budget> {
    context.data_unchecked::<Arc<Budget>>()
}

fn profile(strict: bool) -> Profile {
    if strict {
        Profile::Strict
    } else {
        Profile::Compat
    }
}

/// How a plan of a client is started.
fn start(strict: bool) -> Start {
    Start {
        asks: false,
        profile: profile(strict),
    }
}

impl PlanInput {
    /// The plan as a document in its dialect.
    fn document(&self, request: &str) -> Value {
        let step = |step: &PlanStepInput| {
            let mut members = Map::new();
            members.insert("tool".into(), step.tool.clone().into());
            members.insert("params".into(), step.params.0.clone());
            let mut add = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    members.insert(name.into(), value);
                }
            };
            add("dependsOn", step.depends_on.as_ref().map(|it| json!(it)));
            add("parallel", step.parallel.map(Value::from));
            add("optional", step.optional.map(Value::from));
            add("retryCount", step.retry_count.map(Value::from));
            add("timeout", step.timeout.map(Value::from));
            Value::Object(members)
        };
        json!({"requestId": request, "steps": self.steps.iter().map(step).collect::<Vec<_>>()})
    }

    fn request(&self) -> Result<String, Problem> {
        let Some(request) = &self.request_id else {
            return Ok(format!("{:016x}", fastrand::u64(..)));
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        if (1..=100).contains(&request.len()) && request.chars().all(is_plain) {
            return Ok(request.clone());
        }
        Err(Problem::bad(
            format!("`{}` is not a request id", short(request)),
            "Use up to 100 ASCII letters, digits, and `.`, `_`, `-`, `:`.",
        ))
    }
}

fn found(finding: &Finding) -> PlanFinding {
    let step = finding.step.as_deref();
    PlanFinding {
        severity: crate::state::severity(finding.severity),
        code: finding.code.as_str(),
        message: Line(&finding.message).to_string(),
        help: finding.help.as_ref().map(|help| Lines(help).to_string()),
        step_index: step.and_then(|step| step.strip_prefix("step")?.parse().ok()),
    }
}

/// The id of the run of a request, however it was read.
fn run_of(state: &State, request: &str) -> Result<String, Problem> {
    for strict in [true, false] {
        let id = start(strict).named(request);
        if state
            .db
            .run(&id)
            .map_err(|error| Problem::storage(&error))?
            .is_some()
        {
            return Ok(id);
        }
    }
    Err(Problem::no_run(request))
}

fn results(state: &State, budget: &Budget, id: &str) -> Result<ExecutionResults, Problem> {
    let run = state.summary(id)?;
    let Results {
        results, metadata, ..
    } = report(state, id, true)?.to_execution_results();
    for result in &results {
        budget.answer(result.data.iter().chain(&result.resolved_params))?;
    }
    let results = results.into_iter().map(|result| ToolResult {
        success: result.success,
        tool: result.tool,
        data: result.data.map(Json),
        error: result.error.map(|error| ErrorDetails {
            code: error.code,
            message: error.message,
        }),
        metadata: ToolResultMetadata {
            execution_time: result.metadata.execution_time,
            timestamp: result.metadata.timestamp,
        },
        step_index: result.step_index,
        resolved_params: result.resolved_params.map(Json),
    });
    Ok(ExecutionResults {
        request_id: request_of(id).unwrap_or(id).to_owned(),
        state: state_name(run.state),
        results: results.collect(),
        metadata: ExecutionMetadata {
            total_duration_ms: metadata.total_duration_ms,
            successful_steps: metadata.successful_steps,
            failed_steps: metadata.failed_steps,
            timestamp: metadata.timestamp,
        },
    })
}

#[Object]
impl Query {
    /// The plan of a request.
    async fn plan(&self, context: &Context<'_>, request_id: String) -> Result<Plan> {
        let read = budget(context).work(state(context), move |state, budget| {
            let id = run_of(state, &request_id)?;
            let run = state.summary(&id)?;
            let (plan, _) = state.plan(&id)?;
            let text = Dialect::Blueprint
                .write(&plan)
                .map_err(|error| Problem::storage(&error))?;
            let written: Value =
                serde_json::from_str(&text).map_err(|error| Problem::storage(&error))?;
            budget.answer([&written])?;
            let number = |value: &Value| value.as_u64().and_then(|it| u32::try_from(it).ok());
            let step = |step: &Value| PlanStep {
                tool: step["tool"].as_str().unwrap_or_default().to_owned(),
                params: Json(step["params"].clone()),
                depends_on: step["dependsOn"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(number)
                    .collect(),
                parallel: step["parallel"].as_bool().unwrap_or(false),
                optional: step["optional"].as_bool().unwrap_or(false),
                retry_count: number(&step["retryCount"]),
                timeout: number(&step["timeout"]),
            };
            Ok(Plan {
                strict: id.starts_with("gs"),
                state: state_name(run.state),
                steps: written["steps"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(step)
                    .collect(),
                request_id,
            })
        });
        Ok(read.await?)
    }

    /// What has become of a request so far.
    async fn results(&self, context: &Context<'_>, request_id: String) -> Result<ExecutionResults> {
        let read = budget(context).work(state(context), move |state, budget| {
            results(state, budget, &run_of(state, &request_id)?)
        });
        Ok(read.await?)
    }

    /// What is wrong with a plan, without executing it.
    async fn check(
        &self,
        context: &Context<'_>,
        plan: PlanInput,
        #[graphql(default = true)] strict: bool,
    ) -> Result<Vec<PlanFinding>> {
        let read = budget(context).work(state(context), move |state, budget| {
            let text = plan.document(&plan.request()?).to_string();
            budget.plan(text.len())?;
            Ok(match state.read(&text, profile(strict)) {
                Ok(document) => document.warnings().iter().map(found).collect(),
                Err(findings) => findings.iter().map(found).collect(),
            })
        });
        Ok(read.await?)
    }
}

#[Object]
impl Mutation {
    /// Executes a plan, and waits for its results for a while. `strict` refuses references that lead to nothing before anything runs; otherwise the plan is read as the original executors do, as far
    /// as that does no harm.
    async fn execute_plan(
        &self,
        context: &Context<'_>,
        plan: PlanInput,
        #[graphql(default = true)] strict: bool,
    ) -> Result<ExecutionResults> {
        let state = state(context);
        let request = plan.request()?;
        let id = start(strict).named(&request);
        let (started, other) = (id.clone(), start(!strict).named(&request));
        let budget = budget(context);
        let submitted: Result<Vec<PlanFinding>, Problem> = budget
            .work(state, move |state, budget| {
                if state
                    .db
                    .run(&other)
                    .map_err(|error| Problem::storage(&error))?
                    .is_some()
                {
                    return Err(Problem::bad(
                        format!("request `{request}` was executed with the other reading"),
                        "Use another `requestId`.",
                    ));
                }
                let text = plan.document(&request).to_string();
                budget.plan(text.len())?;
                match state.read(&text, profile(strict)) {
                    Ok(document) => {
                        state.submit(&document, json!({}), &started)?;
                        Ok(Vec::new())
                    }
                    Err(findings) => Ok(findings.iter().map(found).collect()),
                }
            })
            .await;
        let findings = submitted?;
        if let Some(first) = findings.first() {
            let message = match findings.len() {
                1 => first.message.clone(),
                more => format!("{} (and {} more; see `findings`)", first.message, more - 1),
            };
            return Err(Error::new(message).extend_with(|_, more| {
                more.set("code", "FAULTY_PLAN");
                let list = findings.iter().map(|it| json!({
                    "severity": it.severity, "code": it.code, "message": it.message, "help": it.help, "stepIndex": it.step_index,
                }));
                let list = Value::Array(list.collect());
                more.set("findings", Const::from_json(list).unwrap_or_default());
            }));
        }
        ends(state, &id).await;
        let read = budget.work(state, move |state, budget| results(state, budget, &id));
        Ok(read.await?)
    }

    /// Ends a request: what runs is dropped. Whether it had not ended.
    async fn cancel_plan(&self, context: &Context<'_>, request_id: String) -> Result<bool> {
        let cancelled = budget(context).work(state(context), move |state, _| {
            let id = run_of(state, &request_id)?;
            if state.summary(&id)?.ended.is_some() {
                return Ok(false);
            }
            state
                .db
                .cancel(&id)
                .map_err(|error| Problem::storage(&error))?;
            Ok(true)
        });
        Ok(cancelled.await?)
    }
}

/// Waits until a run has ended, for a while.
async fn ends(state: &Arc<State>, id: &str) {
    let until = Instant::now() + limits::MUTATION_TIME;
    let mut subscriber = state.live.subscribe(&state.metrics, id);
    while Instant::now() < until && state.summary(id).is_ok_and(|run| run.ended.is_none()) {
        let look = Duration::from_millis(100);
        match &mut subscriber {
            // It tells of the end a little before the journal knows.
            Some(subscriber) => {
                let _ = tokio::time::timeout(look, subscriber.next()).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            None => tokio::time::sleep(look).await,
        }
    }
}
