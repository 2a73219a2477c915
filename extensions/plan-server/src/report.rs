//! The report of a run as a page of HTML.

use crate::answer::Text;
use crate::error::{Path, Query, shortened};
use crate::picture::escape;
use crate::run_json::{cause, report, time};
use crate::runs::{Answer, Shared};
use crate::state::State;
use axum::extract::State as From;
use axum::response::Response;
use plan_graph::{Html, MessageName};
use plan_runtime::journal::RunSummary;
use serde::Deserialize;
use serde_json::Value;

/// The maximum number of characters of an input in a report.
const INPUT: usize = 2_000;

/// `GET /api/runs/{id}/report.html`.
#[derive(Deserialize)]
pub(crate) struct Asked {
    /// `true` for a page that is one file.
    #[serde(default)]
    alone: bool,
}

pub(crate) async fn page(
    From(state): Shared,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Answer<Response> {
    let run = id.clone();
    state
        .look(&run, move |state| {
            let report = report(state, &id, true)?;
            let html = if asked.alone {
                report.to_html()
            } else {
                report.to_html_linked("/report.css", "/report.js")
            };
            let run = state.summary(&id)?;
            let error = cause(state, &run, &report)?;
            let (_, inputs) = state.document(&id)?;
            let head = head(state, &run, error.as_deref(), &inputs);
            // The name of the plan has no markup, so the first heading is the title.
            let html = match html.split_once("</h1>") {
                Some((title, rest)) => format!("{title}</h1>{head}{rest}"),
                None => html,
            };
            let text = Text::of(&state.answers, html.into_bytes())?;
            Ok(text.response("text/html; charset=utf-8"))
        })
        .await
}

/// Returns the state of the run, its error, its id, its times, the answers of people and its inputs.
fn head(state: &State, run: &RunSummary, error: Option<&str>, inputs: &Value) -> String {
    let name = state.state_of(run);
    let (class, sign) = match name {
        "done" => ("completed", '✓'),
        "failed" => ("failed", '✗'),
        "cancelled" => ("cancelled", '◌'),
        _ => ("running", '▸'),
    };
    let mut html = Html::new(escape);
    html.tag("ul").attr("class", "totals").inside(|list| {
        let item = list.tag("li").attr("class", class);
        item.text(format_args!("{sign} {name}"));
    });
    if let Some(error) = error {
        html.tag("p").attr("class", "error").text(error);
    }
    html.tag("dl").inside(|list| {
        list.tag("dt").text("Run");
        list.tag("dd").inside(|dd| dd.tag("code").text(&run.id));
        if let Some(ended) = run.ended {
            list.tag("dt").text("Ended");
            list.tag("dd").text(time(ended));
        }
        for answered in state.decisions.of_run(&run.id) {
            list.tag("dt")
                .text(format_args!("Answer for {}", answered.path));
            list.tag("dd").text(answered.sentence());
        }
        for retried in state.decisions.earlier(&run.id) {
            list.tag("dt")
                .text(format_args!("Before the retry at {}", retried.at));
            let tries = retried.attempts.iter().map(|it| it.sentence());
            list.tag("dd").text(tries.collect::<Vec<_>>().join("; "));
        }
        for (input, value) in inputs.as_object().into_iter().flatten() {
            list.tag("dt")
                .text(format_args!("Input {}", MessageName(input)));
            list.tag("dd")
                .inside(|dd| dd.tag("code").text(shortened(&value.to_string(), INPUT)));
        }
    });
    html.finish()
}
