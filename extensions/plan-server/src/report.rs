//! The report of a run as a page of HTML.

use crate::answer::Text;
use crate::decisions::{Answered, Earlier, Retried};
use crate::error::{Path, Query, shortened};
use crate::facts::{Facts, SHOWN, spent};
use crate::picture::escape;
use crate::run_json::{report, time};
use crate::runs::{Answer, Shared};
use crate::state::State;
use crate::undoing::{NotUndone, Undone, grouped, is_inside, without_indices};
use axum::extract::State as From;
use axum::response::Response;
use plan_graph::{Html, Line, MessageName, Time};
use plan_runtime::Report;
use plan_runtime::run::HtmlParts;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// The maximum number of characters of a value in a report.
const INPUT: usize = 2_000;

/// The maximum number of characters of a value that the reader has not opened.
const LINE: usize = 200;

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
            let run = state.summary(&id)?;
            let mut report = report(state, &id, true)?;
            add_earlier(&mut report, &state.decisions.earlier(&id));
            let facts = Facts::of(state, run, &report)?;
            let mut head = Html::new(escape);
            write_outcome(&mut head, &facts);
            write_undoing(&mut head, &facts.undone, &facts.remains);
            write_facts(&mut head, &facts);
            let mut tail = Html::new(escape);
            write_records(&mut tail, state, &id);
            let name = facts.name.as_ref();
            let title = name.map(|name| format!("{}: ", Line(name)));
            let (title, head, tail) = (title.unwrap_or_default(), head.finish(), tail.finish());
            let mut parts = HtmlParts::default();
            (parts.title, parts.head, parts.tail) = (&title, &head, &tail);
            if !asked.alone {
                parts.style = "/report.css";
                parts.scripts = &["/report.js", "/page/framed.js"];
            }
            let page = report.to_html_with(&parts);
            let text = Text::of(&state.answers, page.into_bytes())?;
            Ok(text.response("text/html; charset=utf-8"))
        })
        .await
}

/// Adds the attempts before the retries of a run to the steps of its report.
fn add_earlier(report: &mut Report, earlier: &[Retried]) {
    let steps = report.steps().iter().map(|step| step.id().to_owned());
    for step in steps.collect::<Vec<_>>() {
        let name = MessageName(&step).to_string();
        let of_step = earlier.iter().flat_map(|it| &it.attempts);
        for it in of_step.filter(|it| is_inside(&it.path, &name)) {
            if let (Some(started), Some(ended)) = (it.started_ms, it.ended_ms) {
                let [started, ended] = [started, ended].map(|it| spent(it).0);
                report.add_earlier(&step, started..ended, it.error.is_some());
            }
        }
    }
}

/// Returns the CSS class of a state, and its sign.
pub(crate) fn sign(state: &str) -> (&'static str, char) {
    match state {
        "done" => ("completed", '✓'),
        "failed" => ("failed", '✗'),
        "cancelled" => ("cancelled", '◌'),
        "waiting" => ("waiting", '…'),
        _ => ("running", '▸'),
    }
}

/// Writes the state of the run, its waits and its error.
fn write_outcome(html: &mut Html, facts: &Facts) {
    let (state, error) = (facts.state, facts.error.as_deref());
    let (class, sign) = sign(state);
    html.tag("ul").attr("class", "totals").inside(|list| {
        let item = list.tag("li").attr("class", class);
        item.text(format_args!("{sign} {state}"));
    });
    for wait in &facts.waits {
        html.tag("p").attr("class", "wait").inside(|p| {
            p.text(format_args!("Waits for {}", wait.of));
            for (sign, text) in [(" ", &wait.path), (": ", &wait.detail)] {
                if !text.is_empty() {
                    p.text(sign);
                    p.tag("code").text(shortened(text, LINE));
                }
            }
            if let Some((start, spent)) = wait.time() {
                p.text(", since ");
                write_time(p, &start);
                p.text(format_args!(", for {spent}"));
            }
        });
    }
    if let Some(error) = error {
        let p = html.tag("p").attr("class", "error");
        p.inside(|p| p.prose(error));
    }
}

/// Writes the undo steps that ran, and the calls whose effects remain.
fn write_undoing(html: &mut Html, undone: &[Undone], remains: &[NotUndone]) {
    if !undone.is_empty() {
        html.tag("h2").text("Undone");
        html.tag("ul").attr("class", "items").inside(|list| {
            for Undone {
                path,
                undoes,
                status,
            } in undone
            {
                let line = format!("`{path}` undoes `{undoes}`: {status}");
                list.tag("li").inside(|item| item.prose(line));
            }
        });
    }
    if !remains.is_empty() {
        html.tag("h2").text("Not undone");
        html.markup("<p class=\"hint\">These calls may have changed something, and no undo step has reversed them. Check their effects, and correct them yourself if necessary.</p>");
        html.tag("ul").attr("class", "items").inside(|list| {
            for line in grouped(remains) {
                list.tag("li").inside(|item| item.prose(line));
            }
        });
    }
}

/// Writes a time in UTC. The script of the page replaces it by the local time of the reader.
fn write_time(html: &mut Html, at: &str) {
    let short = at.split_once('.').map_or(at, |(short, _)| short);
    let shown = format!("{} UTC", short.trim_end_matches('Z').replace('T', " "));
    html.tag("time").attr("datetime", at).text(shown);
}

/// Writes the name and the id of the run, its times and its inputs.
fn write_facts(html: &mut Html, facts: &Facts) {
    let run = &facts.run;
    html.tag("dl").inside(|list| {
        list.tag("dt").text("Run");
        list.tag("dd").inside(|dd| dd.tag("code").text(&run.id));
        if let Some(ended) = run.ended {
            list.tag("dt").text("Ended");
            list.tag("dd").inside(|dd| write_time(dd, &time(ended)));
        }
        if !facts.restarts.is_empty() {
            list.tag("dt").text("Server restarted");
            list.tag("dd").inside(|dd| {
                for (nth, at) in facts.restarts.iter().enumerate() {
                    dd.text(if nth == 0 { "" } else { ", " });
                    write_time(dd, at);
                }
            });
        }
        if let count @ 1.. = facts.earlier.len() {
            let times = if count == 1 { "time" } else { "times" };
            list.tag("dt").text("Retried");
            list.tag("dd").inside(|dd| {
                dd.text(format_args!("{count} {times}"));
                if let Some(idle) = facts.idle() {
                    dd.text(format_args!(", with {idle} between an end and a retry"));
                }
            });
        }
        for (label, value) in facts.values(|name| MessageName(name).to_string()) {
            list.tag("dt").text(label);
            list.tag("dd").inside(|dd| write_value(dd, value));
        }
    });
}

/// Writes a section below the steps: the decisions of people, and the attempts before retries.
fn write_records(html: &mut Html, state: &State, id: &str) {
    let answers = state.decisions.of_run(id);
    let earlier = state.decisions.earlier(id);
    if answers.is_empty() && earlier.is_empty() {
        return;
    }
    let section = html
        .tag("section")
        .attr("aria-label", "Answers and retries");
    section.inside(|section| {
        section.tag("h2").text("Answers and retries");
        section.tag("dl").inside(|list| {
            for equal in answers.chunk_by(is_equal) {
                write_answers(list, equal);
            }
            for (nth, retried) in earlier.iter().enumerate() {
                list.tag("dt")
                    .text(format_args!("Before retry {}", nth + 1));
                list.tag("dd").inside(|dd| {
                    write_time(dd, &retried.at);
                    if let Some(took) = retried.took_ms {
                        dd.text(format_args!(", took {}", spent(took)));
                    }
                    if let Some(waited) = retried.waited_ms.filter(|it| *it >= SHOWN) {
                        dd.text(format_args!(" with {} of waits", spent(waited)));
                    }
                    dd.tag("ul").inside(|list| {
                        for it in &retried.attempts {
                            list.tag("li").inside(|item| write_earlier(item, it));
                        }
                    });
                });
            }
        });
    });
}

/// Returns `true` for equal answers about the elements of one step.
fn is_equal(a: &Answered, b: &Answered) -> bool {
    let key = |it: &Answered| {
        let values = [&it.original, &it.arguments, &it.value];
        let has_values = values.into_iter().any(Option::is_some);
        let of = (it.tool.clone(), it.done(), it.by.clone(), it.reason.clone());
        (!it.path.is_empty() && !has_values).then(|| (without_indices(&it.path), of))
    };
    key(a).is_some() && key(a) == key(b)
}

/// Writes equal answers in one row.
fn write_answers(list: &mut Html, equal: &[Answered]) {
    let Some(last) = equal.last() else { return };
    let dt = list.tag("dt");
    match (&*last.path, equal.len()) {
        ("", _) => dt.text("Decision about the run"),
        (path, 1) => dt.text(format_args!("Answer for {path}")),
        (path, count) => {
            dt.text(format_args!(
                "Answers for {count} calls of {}",
                without_indices(path)
            ));
        }
    }
    let since = equal.first().map(|it| &it.at).filter(|at| **at != last.at);
    list.tag("dd").inside(|dd| write_answer(dd, last, since));
}

/// Writes a value on one line. The reader opens a long value.
fn write_value(html: &mut Html, value: &Value) {
    let text = value.to_string();
    let code = |html: &mut Html, most| html.tag("code").text(shortened(&text, most));
    if text.chars().nth(LINE).is_none() {
        return code(html, LINE);
    }
    // The style sheet hides the first characters of an open or printed value, which contains them.
    html.tag("details").inside(|details| {
        details.tag("summary").inside(|it| code(it, LINE));
        code(details, INPUT);
    });
}

/// Writes an answer, or the last of equal answers since a time.
fn write_answer(dd: &mut Html, answered: &Answered, since: Option<&String>) {
    dd.text(format_args!("{} by ", answered.done()));
    dd.tag("strong").text(answered.by());
    dd.text(", ");
    if let Some(since) = since {
        dd.text("from ");
        write_time(dd, since);
        dd.text(" to ");
    }
    write_time(dd, &answered.at);
    if let Some(reason) = &answered.reason {
        dd.text(format_args!(", because “{reason}”"));
    }
    if let Some(value) = &answered.value {
        dd.text(": ");
        write_value(dd, value);
    }
    if let (None, Some(Value::Object(refused))) = (&answered.original, &answered.arguments) {
        dd.text("; the arguments were:");
        dd.tag("ul").inside(|list| {
            for (name, value) in refused {
                list.tag("li").inside(|item| {
                    item.tag("code").text(MessageName(name));
                    item.text(": ");
                    write_value(item, value);
                });
            }
        });
    }
    let changes = answered.changes();
    if changes.is_empty() {
        return;
    }
    dd.tag("ul").inside(|list| {
        for (name, [before, after]) in changes {
            list.tag("li").inside(|item| {
                item.tag("code").text(MessageName(name));
                item.text(": ");
                for (label, value) in [("originally ", before), (", changed to ", after)] {
                    item.text(label);
                    match value {
                        Some(value) => write_value(item, value),
                        None => item.text("no value"),
                    }
                }
            });
        }
    });
}

/// Writes an attempt before a retry, such as `sent, attempt 1: failed: the mailbox is full`.
fn write_earlier(item: &mut Html, it: &Earlier) {
    item.tag("code").text(&it.path);
    if let Some(nth) = it.attempt {
        item.text(format_args!(", attempt {nth}"));
    }
    item.text(": ");
    let status = it.status();
    let tag = item.tag("strong").attr("class", status);
    tag.text(status);
    if let (Some(started), Some(took)) = (it.started_ms, it.took_ms()) {
        match spent(started) {
            Time(Duration::ZERO) => item.text(", at the start of the run"),
            started => item.text(format_args!(", after {started}")),
        }
        if it.no_call {
            item.text(", no call");
        } else {
            item.text(format_args!(", took {}", spent(took)));
        }
    }
    if let Some(error) = &it.error {
        item.text(": ");
        item.prose(error);
    }
}
