//! The list of runs, with a search.

use crate::error::{Problem, Query, short, shortened};
use crate::limits;
use crate::runs::{Answer, Shared};
use crate::state::{State, now};
use axum::extract::State as From;
use plan_graph::{Line, MessageName};
use plan_runtime::journal::{Journal, RunFilter, RunState, RunSummary};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Instant, SystemTime};

/// The most characters of an error, and of the inputs, in the list.
const LINE: usize = 200;

/// The things that waiting runs wait for.
const WAITS: [&str; 4] = ["answer", "value", "time", "server"];

/// `GET /api/runs`.
#[derive(Deserialize)]
pub(crate) struct List {
    state: Option<String>,
    waits_for: Option<String>,
    plan: Option<String>,
    text: Option<String>,
    /// The age of the oldest run.
    since: Option<String>,
    from: Option<String>,
    to: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    count: bool,
}

/// The period for the starts of runs.
#[derive(Clone, Copy, Default)]
struct Period {
    from: Option<SystemTime>,
    to: Option<SystemTime>,
}

impl Period {
    fn contains(self, began: SystemTime) -> bool {
        self.from.is_none_or(|from| began >= from) && self.to.is_none_or(|to| began < to)
    }

    /// Returns `true` if all these runs began before the period. Later pages list older runs.
    fn is_after(self, page: &[RunSummary]) -> bool {
        let is_before = |from| page.iter().all(|run| run.began < from);
        self.from.is_some_and(is_before)
    }
}

fn given(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

fn time(name: &str, text: Option<&String>) -> Result<Option<SystemTime>, Problem> {
    let Some(text) = given(text) else {
        return Ok(None);
    };
    humantime::parse_rfc3339(text).map(Some).map_err(|_| {
        let message = format!("`{}` is not a time (parameter `{name}`)", short(text));
        Problem::bad(message, "Write a time such as `2026-01-31T09:00:00Z`.")
    })
}

impl List {
    fn period(&self, now: SystemTime) -> Result<Period, Problem> {
        let from = time("from", self.from.as_ref())?;
        let since = match given(self.since.as_ref()) {
            None => None,
            Some(text) => {
                let age = humantime::parse_duration(text).map_err(|_| {
                    let message =
                        format!("`{}` is not a duration (parameter `since`)", short(text));
                    Problem::bad(message, "Write a duration such as `1h` or `7days`.")
                })?;
                Some(now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH))
            }
        };
        Ok(Period {
            from: from.max(since),
            to: time("to", self.to.as_ref())?,
        })
    }

    /// Returns the filter of the journal, which supports no waiting runs and no search words.
    fn filter(&self, period: Period, now: SystemTime) -> Result<RunFilter, Problem> {
        let mut filter = RunFilter::new().newest_first();
        if let Some(other) = given(self.waits_for.as_ref()).filter(|it| !WAITS.contains(it)) {
            let message = format!("`{}` is not a value of `waits_for`", short(other));
            return Err(Problem::bad(
                message,
                "Write `answer`, `value`, `time` or `server`.",
            ));
        }
        let waiting = given(self.waits_for.as_ref()).map(|_| "waiting");
        filter = match given(self.state.as_ref()).or(waiting) {
            None => filter,
            Some("running" | "waiting") => filter.state(RunState::Running),
            Some("done") => filter.state(RunState::Done),
            Some("failed") => filter.state(RunState::Failed),
            Some("cancelled") => filter.state(RunState::Cancelled),
            Some(other) => {
                let message = format!("there is no state `{}`", short(other));
                return Err(Problem::bad(
                    message,
                    "Write `running`, `waiting`, `done`, `failed` or `cancelled`.",
                ));
            }
        };
        if let Some(plan) = self.plan.as_ref().filter(|plan| !plan.is_empty()) {
            filter = filter.plan(plan);
        }
        if let Some(age) = period.to.and_then(|to| now.duration_since(to).ok()) {
            filter = filter.older_than(age);
        }
        Ok(filter)
    }

    /// Returns `true` if a run has the state, and its id, the name of its plan or its inputs contain the search words.
    fn matches(&self, state: &State, run: &RunSummary) -> Result<bool, Problem> {
        let wanted = self.state.as_deref().unwrap_or_default();
        if !wanted.is_empty() && wanted != state.state_of(run) {
            return Ok(false);
        }
        let wanted = given(self.waits_for.as_ref());
        if wanted.is_some() && wanted != state.waits_for(run) {
            return Ok(false);
        }
        let text = self.text.as_deref().unwrap_or_default().to_lowercase();
        let has = |within: &str| within.to_lowercase().contains(&text);
        if text.is_empty() || has(&run.id) || has(&run.plan) {
            return Ok(true);
        }
        let stored = now(state.server.journal().look(&run.id));
        let stored = stored.map_err(|error| Problem::storage(&error))?;
        let Some(info) = stored.and_then(|run| run.info) else {
            return Ok(false);
        };
        // JSON escapes quotes and line feeds, and people do not.
        let inputs = serde_json::from_str(&info.inputs).unwrap_or_default();
        Ok(contains(&inputs, &has))
    }
}

/// Returns `true` if a value, or a value or a name inside, contains the search words.
fn contains(value: &Value, has: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => has(text),
        Value::Array(list) => list.iter().any(|value| contains(value, has)),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| has(name) || contains(value, has)),
        value => has(&value.to_string()),
    }
}

/// Returns the first line of a failed run's error without the name of the plan, or null. The line contains at most 200 characters.
fn error(state: &State, run: &RunSummary) -> Result<Value, Problem> {
    if run.state != RunState::Failed {
        return Ok(Value::Null);
    }
    let error = now(state.server.error(&run.id)).map_err(|error| Problem::storage(&error))?;
    let named = format!("plan `{}` ", MessageName(&run.plan));
    let line = |error: String| {
        let line = error.lines().next().unwrap_or_default();
        let line = line.strip_prefix(&named).unwrap_or(line);
        let line = line.strip_prefix("failed: ").unwrap_or(line);
        shortened(line, LINE).into_owned()
    };
    Ok(json!(error.map(line)))
}

/// Returns the names and values of a run's inputs on one line of at most 200 characters.
fn inputs(state: &State, run: &RunSummary) -> Result<String, Problem> {
    let (_, inputs) = state.document(&run.id)?;
    let inputs = inputs.as_object().into_iter().flatten();
    let inputs: Vec<String> = inputs
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {text}"),
            value => format!("{name}: {value}"),
        })
        .collect();
    let inputs = inputs.join(", ");
    Ok(Line(shortened(&inputs, LINE)).to_string())
}

pub(crate) async fn list(From(state): Shared, Query(asked): Query<List>) -> Answer {
    state
        .blocking(move |state| {
            let began = Instant::now();
            let time = SystemTime::now();
            let period = asked.period(time)?;
            let mut filter = asked.filter(period, time)?;
            if let Some(before) = &asked.before {
                match state.find(before)? {
                    Some(run) => filter = filter.after(run.number),
                    None => return Ok(axum::Json(json!({"runs": [], "next": null}))),
                }
            }
            let limit = asked.limit.unwrap_or(25).clamp(1, limits::RUNS_ON_PAGE);
            let (mut runs, mut next, mut count) = (Vec::new(), None, 0_usize);
            let mut is_whole = true;
            'pages: loop {
                let page = now(state.server.runs(&filter));
                let page = page.map_err(|error| Problem::storage(&error))?;
                let Some(last) = page.last() else { break };
                filter = filter.after(last.number);
                if period.is_after(&page) {
                    break;
                }
                for run in page {
                    if period.contains(run.began) && asked.matches(state, &run)? {
                        count += 1;
                        if count <= limit {
                            let mut json = state.run_json(&run);
                            json["error"] = error(state, &run)?;
                            json["inputs_text"] = inputs(state, &run)?.into();
                            runs.push(json);
                        } else if !asked.count {
                            is_whole = false;
                            break 'pages;
                        }
                    }
                    if count <= limit {
                        next = Some(run.id);
                    }
                    if began.elapsed() > limits::LIST_TIME {
                        is_whole = false;
                        break 'pages;
                    }
                }
            }
            // The next page begins after the last run that was compared.
            let next = next.filter(|_| !is_whole || count > limit);
            let mut answer = json!({"runs": runs, "next": next});
            if asked.count {
                answer["count"] = json!({"least": count, "is_exact": is_whole});
            }
            Ok(axum::Json(answer))
        })
        .await
}

/// `GET /api/plans`: the names of the plans of the latest runs.
pub(crate) async fn plans(From(state): Shared) -> Answer {
    state
        .blocking(move |state| {
            let began = Instant::now();
            let mut filter = RunFilter::new().newest_first();
            let mut names = BTreeSet::new();
            while names.len() < limits::PLAN_NAMES && began.elapsed() < limits::LIST_TIME {
                let page = now(state.server.runs(&filter));
                let page = page.map_err(|error| Problem::storage(&error))?;
                let Some(last) = page.last() else { break };
                filter = filter.after(last.number);
                names.extend(page.into_iter().map(|run| run.plan));
            }
            let names: Vec<String> = names.into_iter().take(limits::PLAN_NAMES).collect();
            Ok(axum::Json(json!({"plans": names})))
        })
        .await
}
