//! The facts at the top of a report: its state, its error, its waits, its values and its times.

use crate::decisions::Retried;
use crate::error::Problem;
use crate::run_json::{cause, output, progress, time, waiting};
use crate::state::State;
use crate::undoing::{NotUndone, Undone, not_undone, undone};
use crate::view;
use plan_graph::Time;
use plan_runtime::journal::{RunState, RunSummary};
use plan_runtime::{Plan, Report};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The facts at the top of a report.
pub(crate) struct Facts {
    pub(crate) run: RunSummary,
    pub(crate) state: &'static str,
    pub(crate) took: Duration,
    pub(crate) name: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) inputs: Value,
    /// The output of a run that is done.
    pub(crate) output: Option<Value>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) undone: Vec<Undone>,
    /// The calls whose effects remain.
    pub(crate) remains: Vec<NotUndone>,
    pub(crate) earlier: Vec<Retried>,
    /// The times of the starts of the server during the run.
    pub(crate) restarts: Vec<String>,
}

impl Facts {
    pub(crate) fn of(state: &State, run: RunSummary, report: &Report) -> Result<Self, Problem> {
        let (plan, inputs) = state.plan(&run.id)?;
        let undone = undone(&plan, report);
        let earlier = state.decisions.earlier(&run.id);
        let remains = match run.state {
            RunState::Running | RunState::Done => Vec::new(),
            _ => {
                let mut events = Vec::new();
                progress(report, "", Duration::ZERO, &mut events);
                let steps = view::steps(&plan, state.server.toolbox().contracts());
                not_undone(&steps, &undone, &events)
            }
        };
        Ok(Self {
            state: state.state_of(&run),
            took: state.took(&run, report),
            name: state.decisions.name(&run.id),
            earlier,
            restarts: state.decisions.restarts(&run),
            error: cause(state, &run, report)?,
            output: output(state, &run.id)?,
            waits: waits(state, &run, &plan, report),
            run,
            inputs,
            undone,
            remains,
        })
    }
}

impl Facts {
    /// Returns the inputs and the output, with labels in which a function writes the names of the inputs.
    pub(crate) fn values(&self, name: fn(&str) -> String) -> Vec<(String, &Value)> {
        let inputs = self.inputs.as_object().into_iter().flatten();
        let inputs = inputs.map(|(input, value)| (format!("Input {}", name(input)), value));
        let output = self.output.iter().map(|it| ("Output".to_owned(), it));
        inputs.chain(output).collect()
    }

    /// Returns the time between an end of the run and its retry, for all retries.
    pub(crate) fn idle(&self) -> Option<Time> {
        idle(&self.earlier).map(spent)
    }
}

/// Returns the milliseconds between an end of a run and its retry, for all retries.
pub(crate) fn idle(earlier: &[Retried]) -> Option<f64> {
    let idle: Option<f64> = earlier.iter().map(|it| it.idle_ms).sum();
    idle.filter(|idle| *idle > 0.0)
}

/// The maximum number of listed waits of a run.
const WAITS: usize = 20;

/// A question, a value or a time that an open run waits for.
pub(crate) struct Wait {
    pub(crate) of: &'static str,
    /// The step and its tool or type, or empty strings.
    pub(crate) path: String,
    pub(crate) detail: String,
    pub(crate) since: Option<SystemTime>,
}

impl Wait {
    fn new(of: &'static str, path: &str, detail: &str, since: &str) -> Self {
        let [path, detail] = [path, detail].map(str::to_owned);
        let since = humantime::parse_rfc3339(since).ok();
        Self {
            of,
            path,
            detail,
            since,
        }
    }

    /// Returns the start of the wait, and the time since this start.
    pub(crate) fn time(&self) -> Option<(String, Time)> {
        let since = self.since?;
        Some((time(since), Time(since.elapsed().unwrap_or_default())))
    }
}

fn waits(state: &State, run: &RunSummary, plan: &Plan, report: &Report) -> Vec<Wait> {
    let of = match state.waits_for(run) {
        None => return Vec::new(),
        Some("time") => Some(("the time of its next attempt", "")),
        Some("server") => {
            let refusal = run.refusal.as_deref().unwrap_or_default();
            Some(("a server that can continue the run", refusal))
        }
        Some(_) => None,
    };
    let questions = state.desk.questions(&run.id);
    let questions = questions.iter();
    let questions = questions.map(|it| Wait::new("an answer to", &it.path, &it.tool, &it.asked));
    let mut values = Vec::new();
    waiting(plan, report, ("", ""), &mut values);
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let values = values.iter().map(|it| {
        let [path, detail, since] = ["step", "type", "since"].map(|name| text(&it[name]));
        Wait::new("a value for", &path, &detail, &since)
    });
    let mut waits: Vec<_> = questions.chain(values).collect();
    let more = waits.len().saturating_sub(WAITS);
    waits.truncate(WAITS);
    if more > 0 {
        waits.push(Wait::new(
            "further answers and values",
            "",
            &more.to_string(),
            "",
        ));
    }
    waits.extend(of.map(|(of, detail)| Wait::new(of, "", detail, "")));
    waits
}

/// The least milliseconds of waits that a report mentions.
pub(crate) const SHOWN: f64 = 200.0;

pub(crate) fn spent(millis: f64) -> Time {
    Time(Duration::try_from_secs_f64(millis / 1e3).unwrap_or_default())
}
