//! Blueprints as GraphQL, with their own names.

mod objects;
mod request;
mod results;

pub(crate) use request::{execute, sdl};

use crate::budget::Budget;
use crate::decisions::Named;
use crate::error::Problem;
use crate::limits;
use crate::run_id::{Start, request_of};
use crate::run_json::report;
use crate::state::{State, state_name};
use async_graphql::{
    Context, EmptySubscription, Error, ErrorExtensions, Json, Object, Result, Schema,
    Value as Const,
};
use objects::{ExecutionResults, Plan, PlanFinding, PlanInput, PlanStep, found};
use plan_runtime::dynamic::Profile;
use serde_json::{Value, json};
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

pub(crate) struct Query;
pub(crate) struct Mutation;

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

/// Returns the start of a run of GraphQL.
fn start(strict: bool) -> Start {
    Start {
        asks: false,
        profile: profile(strict),
    }
}

/// Returns the id of the run of a request. Both readings of a plan are possible.
fn run_of(state: &State, request: &str) -> Result<String, Problem> {
    for strict in [true, false] {
        let id = start(strict).named(request);
        if state.find(&id)?.is_some() {
            return Ok(id);
        }
    }
    Err(Problem::no_run(request))
}

fn results(state: &State, budget: &Budget, id: &str) -> Result<ExecutionResults, Problem> {
    let run = state.summary(id)?;
    let report = report(state, id, true)?;
    let request = request_of(id).unwrap_or(id);
    let results = results::results(&report, request, state_name(run.state));
    for result in &results.results {
        let values = result.data.iter().chain(&result.resolved_params);
        budget.answer(values.map(|Json(value)| value))?;
    }
    Ok(results)
}

#[Object]
impl Query {
    /// The plan of a request.
    async fn plan(&self, context: &Context<'_>, request_id: String) -> Result<Plan> {
        let read = budget(context).work(state(context), move |state, budget| {
            let id = run_of(state, &request_id)?;
            let run = state.summary(&id)?;
            let (plan, _) = state.plan(&id)?;
            let text = plan
                .to_blueprint()
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

    /// The results of a request so far.
    async fn results(&self, context: &Context<'_>, request_id: String) -> Result<ExecutionResults> {
        let read = budget(context).work(state(context), move |state, budget| {
            results(state, budget, &run_of(state, &request_id)?)
        });
        Ok(read.await?)
    }

    /// Checks a plan without executing the plan.
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
    /// Executes a plan, and waits up to 30 seconds for the results. With `strict`, a reference without a target is an error before the first call. Otherwise, the server reads the plan like the original
    /// executors, except for harmful readings.
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
                if state.find(&other)?.is_some() {
                    return Err(Problem::bad(
                        format!(
                            "request `{request}` was executed with `strict: {}`",
                            !strict
                        ),
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

    /// Cancels a request, and drops running calls. Returns `false` if the request had already ended.
    async fn cancel_plan(&self, context: &Context<'_>, request_id: String) -> Result<bool> {
        let cancelled = budget(context).work(state(context), move |state, _| {
            let id = run_of(state, &request_id)?;
            if state.summary(&id)?.ended.is_some() {
                return Ok(false);
            }
            state.cancel(&id, &Named::default())?;
            Ok(true)
        });
        Ok(cancelled.await?)
    }
}

/// Waits for the end of a run, up to [`limits::MUTATION_TIME`].
async fn ends(state: &Arc<State>, id: &str) {
    let until = Instant::now() + limits::MUTATION_TIME;
    let mut subscriber = state.live.subscribe(&state.metrics, id);
    while Instant::now() < until {
        let run = id.to_owned();
        let has_ended = state.blocking(move |state| Ok(state.summary(&run)?.ended.is_some()));
        // A busy server has no turn for this look, and the next look may get a turn.
        if has_ended.await.unwrap_or(false) {
            return;
        }
        let look = Duration::from_millis(100);
        match &mut subscriber {
            // The subscriber gets the end a little before the journal.
            Some(subscriber) => {
                let _ = tokio::time::timeout(look, subscriber.next()).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            None => tokio::time::sleep(look).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ends;
    use crate::state::tests::Fixture;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn a_wait_for_an_end_takes_a_turn() {
        let fixture = Fixture::new("ends").await;
        fixture.end("gs-1").await;
        let turns = fixture.all_turns().await;
        assert!(ends(&fixture.state, "gs-1").now_or_never().is_none());
        drop(turns);
        ends(&fixture.state, "gs-1").await;
    }
}
