//! The list of runs, with a search.

use crate::error::{Problem, Query, short, shortened};
use crate::limits;
use crate::live::millis;
use crate::runs::{Answer, Shared};
use crate::state::{State, now};
use axum::extract::State as From;
use plan_graph::{Line, MessageName};
use plan_runtime::journal::{Journal, RunFilter, RunState, RunSummary};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime};

/// The most characters of an error, and of the inputs, in the list.
const LINE: usize = 200;

/// The things that waiting runs wait for.
const WAITS: [&str; 4] = ["answer", "value", "time", "server"];

/// The orders of the list. A minus reverses an order.
const ORDERS: [&str; 8] = [
    "began", "-began", "took", "-took", "state", "-state", "plan", "-plan",
];

/// `GET /api/runs`.
#[derive(Default, Deserialize)]
pub(crate) struct ListQuery {
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
    sort: Option<String>,
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

impl ListQuery {
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
        if let Some(other) = given(self.sort.as_ref()).filter(|it| !ORDERS.contains(it)) {
            let message = format!("`{}` is not an order (parameter `sort`)", short(other));
            return Err(Problem::bad(
                message,
                "Write `began`, `took`, `state` or `plan`, with `-` before the name for the reverse order.",
            ));
        }
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

    fn has_state(&self, of_run: &str) -> bool {
        given(self.state.as_ref()).is_none_or(|wanted| wanted == of_run)
    }

    /// Returns `true` if a run waits for the given thing, and the id, a name, the inputs or the error of the run contain the search words.
    fn matches(&self, state: &State, run: &RunSummary) -> Result<bool, Problem> {
        let wanted = given(self.waits_for.as_ref());
        if wanted.is_some() && wanted != state.waits_for(run) {
            return Ok(false);
        }
        let text = self.text.as_deref().unwrap_or_default().to_lowercase();
        let has = |within: &str| within.to_lowercase().contains(&text);
        let name = state.decisions.name(&run.id);
        if text.is_empty() || has(&run.id) || has(&run.plan) || name.is_some_and(|it| has(&it)) {
            return Ok(true);
        }
        let stored = now(state.server.journal().look(&run.id));
        let stored = stored.map_err(|error| Problem::storage(&error))?;
        let Some(info) = stored.and_then(|run| run.info) else {
            return Ok(false);
        };
        // JSON escapes quotes and line feeds, and people do not.
        let inputs = serde_json::from_str(&info.inputs).unwrap_or_default();
        if contains(&inputs, &has) {
            return Ok(true);
        }
        let error = match run.state {
            RunState::Failed => now(state.server.error(&run.id)),
            _ => return Ok(false),
        };
        let error = error.map_err(|error| Problem::storage(&error))?;
        Ok(error.is_some_and(|error| has(&error)))
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

/// A search in the runs, the newest first, that ends after [`limits::LIST_TIME`].
struct Search<'s> {
    state: &'s State,
    asked: &'s ListQuery,
    period: Period,
    began: Instant,
}

impl Search<'_> {
    /// Calls `each` with each matching run and its state, and with `None` for each other run, until `each` returns `false`. Returns `true` if
    /// the search has compared all runs.
    fn each(
        &self,
        mut filter: RunFilter,
        mut each: impl FnMut(&RunSummary, Option<&'static str>) -> bool,
    ) -> Result<bool, Problem> {
        loop {
            let page = now(self.state.server.runs(&filter));
            let page = page.map_err(|error| Problem::storage(&error))?;
            let Some(last) = page.last() else {
                return Ok(true);
            };
            filter = filter.after(last.number);
            if self.period.is_after(&page) {
                return Ok(true);
            }
            for run in &page {
                let is_found =
                    self.period.contains(run.began) && self.asked.matches(self.state, run)?;
                let found = is_found.then(|| self.state.state_of(run));
                if !each(run, found) || self.began.elapsed() > limits::LIST_TIME {
                    return Ok(false);
                }
            }
        }
    }

    /// Returns a page of runs and the start of the next page. The start contains the last compared run (`as-1`), with a number of sorted runs (`25:as-1`).
    /// A search for sorted runs can end early. The next page then sorts the older runs.
    fn page(
        &self,
        mut filter: RunFilter,
        limit: usize,
    ) -> Result<(Vec<RunSummary>, Option<String>), Problem> {
        let order = given(self.asked.sort.as_ref()).filter(|it| *it != "-began");
        let start = given(self.asked.before.as_ref()).unwrap_or_default();
        let (skipped, after) = start.split_once(':').unwrap_or(("0", start));
        let skipped: usize = skipped.parse().map_err(|_| {
            let message = format!("`{}` is not a page (parameter `before`)", short(start));
            Problem::bad(message, "Send `next` of the previous page.")
        })?;
        if !after.is_empty() {
            match self.state.find(after)? {
                Some(run) => filter = filter.after(run.number),
                None => return Ok((Vec::new(), None)),
            }
        }
        let (mut all, mut last) = (Vec::new(), String::new());
        let is_whole = self.each(filter, |run, found| {
            let found = found.filter(|found| self.asked.has_state(found));
            if found.is_some() && order.is_none() && all.len() == limit {
                return false;
            }
            all.extend(found.map(|found| (run.clone(), found)));
            last.clone_from(&run.id);
            true
        })?;
        if let Some(order) = order {
            sort(&mut all, order);
        }
        let next = skipped.saturating_add(limit);
        let next = if next < all.len() {
            Some(format!("{next}:{after}"))
        } else {
            (!is_whole).then_some(last)
        };
        let page = all.into_iter().skip(skipped).take(limit);
        Ok((page.map(|(run, _)| run).collect(), next))
    }
}

/// Sorts runs and their states. The first run is the newest run.
fn sort(all: &mut [(RunSummary, &'static str)], order: &str) {
    let ending = SystemTime::now();
    let took = |run: &RunSummary| {
        let ended = run.ended.unwrap_or(ending);
        ended.duration_since(run.began).unwrap_or(Duration::ZERO)
    };
    // Equal runs keep their order, so that the newest run comes first.
    let is_reversed = order.starts_with('-');
    if is_reversed {
        all.reverse();
    }
    match order.trim_start_matches('-') {
        "took" => all.sort_by_cached_key(|(run, _)| took(run)),
        "state" => all.sort_by_key(|(_, state)| *state),
        "plan" => all.sort_by_cached_key(|(run, _)| run.plan.to_lowercase()),
        _ => all.sort_by_key(|(run, _)| run.began),
    }
    if is_reversed {
        all.reverse();
    }
}

pub(crate) async fn list(From(state): Shared, Query(asked): Query<ListQuery>) -> Answer {
    state
        .blocking(move |state| {
            let time = SystemTime::now();
            let period = asked.period(time)?;
            let filter = asked.filter(period, time)?;
            let search = || Search {
                state,
                asked: &asked,
                period,
                began: Instant::now(),
            };
            let limit = asked.limit.unwrap_or(25).clamp(1, limits::RUNS_ON_PAGE);
            let (runs, next) = search().page(filter.clone(), limit)?;
            let json = |run: &RunSummary| {
                let mut json = state.run_json(run);
                let took = state.took_of(run, time.elapsed().unwrap_or_default());
                json["took_ms"] = took.map(millis).into();
                json["error"] = error(state, run)?;
                json["inputs_text"] = inputs(state, run)?.into();
                Ok(json)
            };
            let runs = runs.iter().map(json).collect::<Result<Vec<_>, Problem>>()?;
            let mut answer = json!({"runs": runs, "next": next});
            if asked.count {
                let mut states: BTreeMap<&str, usize> = BTreeMap::new();
                let mut all = filter;
                all.state = None;
                let is_exact = search().each(all, |_, found| {
                    found
                        .into_iter()
                        .for_each(|it| *states.entry(it).or_default() += 1);
                    true
                })?;
                let counted = states.iter().filter(|(state, _)| asked.has_state(state));
                let least: usize = counted.map(|(_, count)| count).sum();
                answer["count"] = json!({"least": least, "is_exact": is_exact, "states": states});
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

#[cfg(test)]
mod tests {
    use super::{ListQuery, Period, Search};
    use crate::limits;
    use crate::state::tests::Fixture;
    use plan_runtime::journal::RunFilter;
    use std::time::Instant;
    use tokio::runtime::Runtime;

    /// The next page continues a long search.
    #[test]
    fn a_sorted_list_continues_a_long_search() {
        let runtime = Runtime::new().unwrap();
        let fixture = runtime.block_on(Fixture::new("sorted"));
        for id in ["ns-a", "ns-b", "ns-c"] {
            runtime.block_on(fixture.begin(id));
        }
        let _runtime = runtime.enter();
        let page = |before: Option<String>, is_late: bool| {
            let asked = ListQuery {
                before,
                sort: Some("plan".to_owned()),
                ..ListQuery::default()
            };
            let search = Search {
                state: &fixture.state,
                asked: &asked,
                period: Period::default(),
                began: Instant::now()
                    - if is_late {
                        limits::LIST_TIME
                    } else {
                        std::time::Duration::ZERO
                    },
            };
            let filter = RunFilter::new().newest_first();
            let (runs, next) = search.page(filter, 2).unwrap_or_else(|_| panic!("no page"));
            let ids: Vec<String> = runs.into_iter().map(|run| run.id).collect();
            (ids.join(" "), next)
        };
        let (first, next) = page(None, true);
        assert_eq!((&*first, next.as_deref()), ("ns-c", Some("ns-c")));
        let (rest, next) = page(next, false);
        assert_eq!((&*rest, next), ("ns-b ns-a", None));
        let (first, next) = page(None, false);
        assert_eq!(first, "ns-c ns-b");
        assert_eq!(page(next, false), ("ns-a".to_owned(), None));
    }
}
