//! The report of a run as Markdown, for a ticket or a message.

use crate::answer::Text;
use crate::decisions::{Answered, Earlier, Retried};
use crate::error::{Path, shortened};
use crate::facts::{Facts, SHOWN, spent};
use crate::live::millis;
use crate::report::sign;
use crate::run_json::{has_failed, made_call, report, time};
use crate::runs::{Answer, Shared};
use crate::undoing::{grouped, is_inside};
use axum::extract::State as From;
use axum::response::Response;
use plan_graph::{Line, MessageName, Time, TimeUnit};
use plan_runtime::Report;
use plan_runtime::run::{Status, StepReport};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// The maximum number of characters of a value.
const VALUE: usize = 500;

/// The maximum number of characters of the value of a changed argument.
const CHANGED: usize = 100;

/// `GET /api/runs/{id}/report.md`.
pub(crate) async fn page(From(state): Shared, Path(id): Path<String>) -> Answer<Response> {
    let run = id.clone();
    state
        .look(&run, move |state| {
            let report = report(state, &id, false)?;
            let facts = Facts::of(state, state.summary(&id)?, &report)?;
            let mut text = head(&facts);
            text += &steps(&report, &facts.earlier);
            text += &critical(&report);
            for (nth, retried) in facts.earlier.iter().enumerate() {
                let attempts = retried.attempts.iter().map(before);
                let took = retried
                    .took_ms
                    .map(|took| format!(", took {}", spent(took)));
                let title = format!("Before retry {}{}", nth + 1, took.unwrap_or_default());
                text += &list(&title, attempts);
            }
            let answers = state.decisions.of_run(&id);
            let answers = answers.iter().map(|it| {
                let because = it.reason.as_ref();
                let because = because.map(|it| format!(", because {}", code(it)));
                let because = because.unwrap_or_default();
                let of = match &*it.path {
                    "" => "The run".to_owned(),
                    path => code(path),
                };
                let (done, by) = (it.done(), code(it.by()));
                format!("{of}: {done} by {by} at {}{because}{}", it.at, changes(it))
            });
            text += &list("Answers of people", answers);
            let text = Text::of(&state.answers, text.into_bytes())?;
            Ok(text.response("text/markdown; charset=utf-8"))
        })
        .await
}

/// Returns a text as code on one line, so that no character in the text has a meaning in Markdown.
fn code(text: &str) -> String {
    let text = Line(shortened(text, VALUE)).to_string();
    let longest = text.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default() + 1);
    let space = if text.is_empty() || text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns a row of a table.
fn row<const N: usize>(cells: [String; N]) -> String {
    let cells = cells.map(|cell| cell.replace('|', r"\|"));
    format!("| {} |\n", cells.join(" | "))
}

fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let items: String = items.map(|item| format!("- {item}\n")).collect();
    match &*items {
        "" => String::new(),
        items => format!("\n### {title}\n\n{items}"),
    }
}

/// Returns the state, the error, the waits, the names, the times, the inputs and the output of a run, and the effects that remain.
fn head(facts: &Facts) -> String {
    let (run, (_, sign)) = (&facts.run, sign(facts.state));
    let mut text = format!("## {sign} Run {}\n\n", facts.state);
    if let Some(error) = &facts.error {
        let _ = writeln!(text, "**Error:** {}\n", code(error));
    }
    for wait in &facts.waits {
        let _ = write!(text, "**Waits for** {}", wait.of);
        for (sign, of) in [(" ", &wait.path), (": ", &wait.detail)] {
            if !of.is_empty() {
                text += sign;
                text += &code(of);
            }
        }
        let time = wait.time();
        let time = time.map(|(start, spent)| format!(", since {start}, for {spent}"));
        text += &time.unwrap_or_default();
        text += "\n\n";
    }
    text += "| | |\n|---|---|\n";
    let name = facts
        .name
        .iter()
        .map(|name| ("Name".to_owned(), code(name)));
    let ended = run.ended.into_iter().flat_map(|ended| {
        let idle = facts.idle();
        let idle = idle.map_or_else(String::new, |idle| {
            format!(", {idle} of that time between an end and a retry")
        });
        [
            ("Ended", time(ended)),
            ("Took", format!("{}{idle}", Time(facts.took))),
        ]
    });
    let ended = ended.map(|(name, value)| (name.to_owned(), value));
    let values = facts.values(code).into_iter();
    let values = values.map(|(label, value)| (label, code(&value.to_string())));
    let began = [
        ("Run", code(&run.id)),
        ("Plan", code(&run.plan)),
        ("Began", time(run.began)),
    ];
    let began = began.map(|(name, value)| (name.to_owned(), value));
    let restarts = (!facts.restarts.is_empty())
        .then(|| ("Server restarted".to_owned(), facts.restarts.join(", ")));
    let rows = name.chain(began).chain(ended).chain(restarts);
    for (name, value) in rows.chain(values) {
        text += &row([name, value]);
    }
    let undone = facts.undone.iter();
    let undone = undone.map(|it| {
        format!(
            "{} undoes {}: {}",
            code(&it.path),
            code(&it.undoes),
            it.status
        )
    });
    text += &list("Undone", undone);
    text += &list(
        "Not undone",
        grouped(&facts.remains).into_iter().map(|it| code(&it)),
    );
    text
}

/// Returns an attempt before a retry: `sent`, attempt 1: failed, took 8.0 ms: `the mailbox is full`.
fn before(it: &Earlier) -> String {
    let nth = it.attempt.map(|nth| format!(", attempt {nth}"));
    let took = match it.took_ms() {
        Some(took) if !it.no_call => Some(format!(", took {}", spent(took))),
        _ => it.no_call.then(|| ", no call".to_owned()),
    };
    let error = it.error.as_ref().map(|error| format!(": {}", code(error)));
    let [nth, took, error] = [nth, took, error].map(Option::unwrap_or_default);
    format!("{}{nth}: {}{took}{error}", code(&it.path), it.status())
}

/// Returns the changed arguments of an answer: `; day: "2027-03-12" → "2027-03-15"`.
fn changes(answered: &Answered) -> String {
    let value = |of: Option<&Value>| match of {
        Some(value) => code(&shortened(&value.to_string(), CHANGED)),
        None => "no value".to_owned(),
    };
    let changes = answered.changes().into_iter();
    changes
        .map(|(name, values)| format!("; {}: {}", code(name), values.map(value).join(" → ")))
        .collect()
}

fn steps(report: &Report, earlier: &[Retried]) -> String {
    let mut text = "\n### Steps\n\n| step | tool | status | calls | took | waited | error |\n|---|---|---|---|---|---|---|\n".to_owned();
    let unit = TimeUnit::of(report.steps().iter().filter_map(StepReport::duration));
    for step in report.steps() {
        let name = MessageName(step.id()).to_string();
        let before = earlier.iter().flat_map(|it| &it.attempts);
        let before =
            before.filter(|it| it.attempt.is_some() && !it.no_call && is_inside(&it.path, &name));
        let made = before
            .filter(|it| !it.path[name.len()..].contains('.'))
            .count();
        // The times of attempts before a retry are without their waits as well.
        let waited = step.waited();
        let took = step.duration().map(|it| it.saturating_sub(waited));
        let calls = step.attempts().iter().filter(|it| made_call(it)).count();
        let error = match step.status() {
            Status::Blocked { by, .. } => Some(has_failed(by)),
            _ => step.error().map(ToString::to_string),
        };
        let code_or_empty = |text: Option<&str>| text.map(code).unwrap_or_default();
        text += &row([
            code(step.id()),
            code_or_empty(step.tool()),
            step.state().to_owned(),
            (calls + made).to_string(),
            took.map(|it| unit.time(it)).unwrap_or_default(),
            if millis(waited) >= SHOWN {
                unit.time(waited)
            } else {
                String::new()
            },
            code_or_empty(error.as_deref()),
        ]);
    }
    text
}

/// Returns the critical path: `first` → `second` (waited for a slot), 3.00 s.
fn critical(report: &Report) -> String {
    let links = report.critical_links();
    if links.len() < 2 {
        return String::new();
    }
    let (mut took, mut waited) = (Duration::ZERO, Duration::ZERO);
    let names = links.map(|link| {
        took += link.ended - link.started;
        waited += link.waited;
        let slot = if link.is_slot {
            " (waited for a slot)"
        } else {
            ""
        };
        format!("{}{slot}", code(link.step.id()))
    });
    let names: Vec<String> = names.collect();
    let unit = TimeUnit::of([took, waited]);
    let waits =
        (millis(waited) >= SHOWN).then(|| format!(" + {} between the steps", unit.time(waited)));
    format!(
        "\n**Critical path:** {}, {}{}\n",
        names.join(" → "),
        unit.time(took),
        waits.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::{code, row};

    #[test]
    fn no_text_has_a_meaning_in_markdown() {
        assert_eq!(code("a\n# b\u{202e}"), r"`a\n# b\u{202e}`");
        assert_eq!(code("x ``` <b>"), "````x ``` <b>````");
        assert_eq!(code("`a`"), "`` `a` ``");
        assert_eq!(row([code("a|b"), String::new()]), "| `a\\|b` |  |\n");
    }
}
