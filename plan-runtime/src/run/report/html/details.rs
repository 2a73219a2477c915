//! The details of each step, in a section that appears when the reader selects the step.

use super::escape::HtmlJson;
use super::{Page, sign, write_sign};
use crate::error::Elements;
use crate::print::MessageName;
use crate::run::report::wait::LEAST;
use crate::run::report::{Attempt, Status, StepReport};
use plan_graph::{Html, Time, TimeUnit};
use serde_json::Value;
use std::fmt::Display;
use std::time::Duration;

/// The largest number of listed attempts of a step.
const ATTEMPTS: usize = 200;
/// The largest number of attempts that a printed page has in full. The print of a longer list has only the failures.
const PRINTED: usize = 20;
/// The largest number of printed lines of a value, as in the style sheet.
const LINES: usize = 60;

pub(super) fn write(html: &mut Html, page: &Page<'_>) {
    let dependents = page.plan.needs().reversed();
    // A reader without scripts sees all sections, and looks for the failures.
    let mut order: Vec<usize> = (0..dependents.len()).collect();
    order.sort_by_key(|&step| !matches!(page.report.steps[step].status, Status::Failed(_)));
    for step in order {
        let dependents = dependents.of(step).iter().map(|&it| it as usize);
        let dependents: Vec<usize> = dependents.collect();
        html.tag("section")
            .attr("class", format_args!("step {}", page.class(step)))
            .attr("id", format_args!("step-{step}"))
            .attr("tabindex", -1)
            .attr("aria-label", page.spoken(step))
            .inside(|section| write_step(section, page, step, &dependents));
    }
}

fn write_step(html: &mut Html, page: &Page<'_>, step: usize, dependents: &[usize]) {
    let (report, planned) = (&page.report.steps[step], &page.plan.steps[step]);
    html.tag("h2").text(MessageName(&report.id));
    html.tag("p").attr("class", "status").inside(|p| {
        write_sign(p, page.sign(step));
        p.text(report.status.name());
        if let Some(undo) = page.undone.get(&step) {
            p.text(", undone by ");
            write_links(p, page, &[*undo]);
        }
    });
    let intent = planned.intent.trim();
    if !intent.is_empty() {
        html.tag("p").attr("class", "intent").text(intent);
    }
    write_error(html, page, report);
    html.tag("dl").inside(|list| {
        if let Some(tool) = report.tool() {
            list.tag("dt").text("Tool");
            list.tag("dd")
                .inside(|dd| dd.tag("code").text(MessageName(tool)));
        }
        let mut row = |name: &str, value: &dyn Display| {
            list.tag("dt").text(name);
            list.tag("dd").text(value);
        };
        if let (Some(started), Some(took)) = (report.started, report.duration()) {
            row("Started", &after(started));
            row("Took", &Time(took));
            if let Some(waits) = report.waits_in_words(TimeUnit::of([took])) {
                row("Of that", &waits);
            }
        }
        let mut links = page.report.critical.iter();
        if let Some(link) = links.position(|link| link.step == step) {
            write_critical(list, page, link);
        }
        let mut row = |name: &str, value: &dyn Display| {
            list.tag("dt").text(name);
            list.tag("dd").text(value);
        };
        for (name, value) in report.amounts() {
            row(&format!("Setting `{name}`"), &value);
        }
        for (name, steps) in [("Needs", &*planned.needs()), ("Needed by", dependents)] {
            if !steps.is_empty() {
                list.tag("dt").text(name);
                list.tag("dd").inside(|dd| write_links(dd, page, steps));
            }
        }
    });
    write_given(html, page, report);
    write_gave(html, page, report);
}

/// Writes the reason for the start of a step on the critical path.
fn write_critical(list: &mut Html, page: &Page<'_>, link: usize) {
    let links = &page.report.critical;
    let (link, before) = (links[link], link.checked_sub(1));
    list.tag("dt").text("Critical path");
    list.tag("dd").inside(|dd| {
        dd.text("the run had to wait for this step");
        let mut words = ", which started after ";
        if let Some(before) = before {
            dd.text(words);
            write_links(dd, page, &[links[before].step]);
            dd.text(if link.is_slot {
                " freed a slot"
            } else {
                " ended"
            });
            words = " and ";
        }
        if link.waited >= LEAST {
            dd.text(format_args!("{words}a wait of {}", Time(link.waited)));
        }
    });
}

fn write_error(html: &mut Html, page: &Page<'_>, report: &StepReport) {
    let why = match &report.status {
        Status::Failed(error) | Status::Recovered(error) => {
            html.tag("p").attr("class", "error").inside(|p| {
                if !report.element.is_empty() {
                    p.text(format_args!("{}: ", Elements(&report.element)));
                }
                p.prose(error);
            });
            return;
        }
        Status::Blocked { by } => {
            html.tag("p").inside(|p| {
                p.text("The step could not start, because ");
                match page.report.steps.iter().position(|step| step.id == *by) {
                    Some(place) => write_links(p, page, &[place]),
                    None => p.text(MessageName(by)),
                }
                p.text(" failed.");
            });
            return;
        }
        Status::Skipped => {
            "The step was not needed: no condition was true, or there was nothing to undo."
        }
        Status::Cancelled => {
            if report.attempts.iter().any(|it| it.tool().is_some()) {
                "The run was stopped while a call of this step was running. Check whether the call took effect."
            } else {
                "The run was stopped while the step was waiting."
            }
        }
        Status::Running => "The step has not ended.",
        Status::Waiting => {
            let awaited = report.awaited();
            return html
                .tag("p")
                .text(format_args!("The step waits {awaited}."));
        }
        Status::NotStarted => "The step has not started.",
        Status::Completed => return,
    };
    html.tag("p").text(why);
}

/// Writes the arguments of the step's calls.
fn write_given(html: &mut Html, page: &Page<'_>, report: &StepReport) {
    let attempts = report.attempts();
    if attempts.is_empty() {
        return;
    }
    if attempts.iter().all(|it| report.is_wait(it)) {
        return write_hint(html, "The step waits for a value, and calls no tool.");
    }
    let in_list = attempts.iter().any(|attempt| !attempt.element.is_empty());
    html.tag("h3").text(match (in_list, attempts.len()) {
        (true, _) => "Calls",
        (false, 1) => "Arguments",
        (false, _) => "Attempts",
    });
    if !page.report.recorded.arguments {
        html.markup(
            "<p class=\"hint\">The run did not record arguments. A programmer can record the arguments of later runs with \
             <code>Run::capture_arguments(true)</code>.</p>",
        );
    }
    if let ([attempt], false) = (attempts, in_list) {
        write_arguments(html, page, attempt);
        return write_inside(html, page, attempt);
    }
    write_attempts(html, page, report);
}

fn write_attempts(html: &mut Html, page: &Page<'_>, step: &StepReport) {
    let attempts = step.attempts();
    if attempts.is_empty() {
        return;
    }
    let open = step.is_open().then(|| step.status.name());
    let (bad, good): (Vec<_>, Vec<_>) = attempts.iter().partition(|it| it.error.is_some());
    let (all, printed) = (attempts.len(), bad.len().min(ATTEMPTS));
    html.tag("ol").attr("class", "attempts").inside(|list| {
        for attempt in bad.into_iter().chain(good).take(ATTEMPTS) {
            write_attempt(list, page, attempt, open);
        }
    });
    let mut hint = |class, hint| html.tag("p").attr("class", class).text(hint);
    if all > PRINTED {
        hint(
            "hint rest",
            format!(
                "The print has only failed calls, and leaves out {} of {all} calls.",
                all - printed
            ),
        );
    }
    if all > ATTEMPTS {
        hint("hint screen", format!("… and {} more", all - ATTEMPTS));
    }
}

/// Writes an attempt. `open` is the status of an attempt that has not ended, if it can still end.
fn write_attempt(list: &mut Html, page: &Page<'_>, attempt: &Attempt, open: Option<&'static str>) {
    let (class, outcome) = match (&attempt.error, attempt.ended, open) {
        (Some(_), _, _) => ("bad", '✗'),
        (None, Some(_), _) => ("good", '✓'),
        (None, None, Some(open)) => (open, sign(open)),
        (None, None, None) => ("dropped", '◌'),
    };
    list.tag("li").attr("class", class).inside(|item| {
        item.tag("p").inside(|p| {
            write_sign(p, outcome);
            if !attempt.element.is_empty() {
                p.text(format_args!("{} ", Elements(&attempt.element)));
            }
            p.text(format_args!("attempt {}", attempt.number));
            if let Some(tool) = attempt.tool() {
                p.text(" of ");
                p.tag("code").text(MessageName(tool));
            }
            p.text(format_args!(", {}", after(attempt.started)));
            match (attempt.ended, open) {
                _ if attempt.is_without_call() => p.text(", no call"),
                (Some(ended), _) => {
                    let took = Time(ended.saturating_sub(attempt.started));
                    p.text(format_args!(", took {took}"));
                }
                (None, Some(open)) => p.text(format_args!(", {open}")),
                (None, None) => p.text(", cancelled"),
            }
        });
        if let Some(error) = &attempt.error {
            item.tag("p")
                .attr("class", "error")
                .inside(|p| p.prose(error));
        }
        write_arguments(item, page, attempt);
        write_inside(item, page, attempt);
    });
}

/// Writes the reports inside an attempt, in elements that the reader can open.
fn write_inside(html: &mut Html, page: &Page<'_>, attempt: &Attempt) {
    for report in &attempt.inside {
        let Some(left) = page.inside.get().checked_sub(report.steps.len()) else {
            return write_hint(
                html,
                "The page has no room for the steps inside. The report as JSON contains them.",
            );
        };
        page.inside.set(left);
        html.tag("details")
            .attr("class", "inside")
            .inside(|details| {
                let count = report.steps.len();
                let plural = if count == 1 { "" } else { "s" };
                let summary = format!("{count} step{plural} inside: {}", report.totals);
                details.tag("summary").text(summary);
                details.tag("ol").inside(|list| {
                    for step in &report.steps {
                        list.tag("li")
                            .attr("class", step.status.name().replace(' ', "-"))
                            .inside(|item| write_inner_step(item, page, step));
                    }
                });
            });
    }
}

fn write_inner_step(html: &mut Html, page: &Page<'_>, step: &StepReport) {
    html.tag("p").inside(|p| {
        write_sign(p, sign(step.status.name()));
        p.text(format_args!("{} ", MessageName(&step.id)));
        if let Some(tool) = step.tool() {
            p.tag("code").text(MessageName(tool));
            p.text(" ");
        }
        p.text(step.status.name());
        if let (Some(started), Some(took)) = (step.started, step.duration()) {
            p.text(format_args!(", {}, took {}", after(started), Time(took)));
            if let Some(waits) = step.waits_in_words(TimeUnit::of([took])) {
                p.text(format_args!(", {waits}"));
            }
        }
    });
    if let Some(error) = step.error() {
        html.tag("p").attr("class", "error").inside(|p| {
            if !step.element.is_empty() {
                p.text(format_args!("{}: ", Elements(&step.element)));
            }
            p.prose(error);
        });
    }
    match &step.attempts[..] {
        [attempt] if attempt.element.is_empty() => {
            if let Some(arguments) = &attempt.arguments {
                write_value(html, arguments);
            }
            write_change(html, attempt);
            write_inside(html, page, attempt);
        }
        _ => write_attempts(html, page, step),
    }
    if let Some(output) = &step.output {
        html.tag("p").attr("class", "hint").text("Output");
        write_value(html, output);
    }
}

/// Writes that a gate has changed the arguments.
fn write_change(html: &mut Html, attempt: &Attempt) {
    if attempt.is_changed {
        write_hint(
            html,
            "The arguments were changed before the call, so they differ from the plan.",
        );
    }
}

fn write_arguments(html: &mut Html, page: &Page<'_>, attempt: &Attempt) {
    write_change(html, attempt);
    match (&attempt.arguments, page.report.recorded.arguments) {
        (Some(arguments), _) => write_value(html, arguments),
        (None, true) if attempt.tool().is_some() => {
            write_hint(
                html,
                "The run could not compute the arguments, so it made no call.",
            );
        }
        (None, true) => write_hint(
            html,
            "The step computes its output in the plan, and calls no tool.",
        ),
        (None, false) => {}
    }
}

/// Writes a value. Paper has the first lines of a long value.
fn write_value(html: &mut Html, value: &Value) {
    let text = HtmlJson(value).to_string();
    let lines = text.lines().count();
    if lines <= LINES {
        return html.tag("pre").attr("tabindex", 0).text(text);
    }
    let pre = html.tag("pre").attr("class", "long").attr("tabindex", 0);
    pre.text(text);
    let hint = format!(
        "The print has only the first {LINES} of {lines} lines. The report as JSON contains the value."
    );
    html.tag("p").attr("class", "hint rest").text(hint);
}

/// Writes the output of the step.
fn write_gave(html: &mut Html, page: &Page<'_>, report: &StepReport) {
    if report.started.is_none() {
        return;
    }
    html.tag("h3").text("Output");
    match (&report.output, page.report.recorded.outputs) {
        (Some(output), _) => write_value(html, output),
        (None, true) => write_hint(html, "The step has no output."),
        (None, false) => html.markup(
            "<p class=\"hint\">The run did not record outputs. A programmer can record the outputs of later runs with <code>Run::capture_outputs(true)</code>.</p>",
        ),
    }
}

/// Returns a start, as the time after the start of the run.
fn after(started: Duration) -> String {
    if started.is_zero() {
        "at the start of the run".to_owned()
    } else {
        format!("after {}", Time(started))
    }
}

fn write_hint(html: &mut Html, hint: impl Display) {
    html.tag("p").attr("class", "hint").text(hint);
}

/// Writes the names of steps, each with a link to its section.
pub(super) fn write_links(html: &mut Html, page: &Page<'_>, steps: &[usize]) {
    let known = steps
        .iter()
        .filter_map(|step| Some((step, page.report.steps.get(*step)?)));
    for (number, (step, report)) in known.enumerate() {
        if number > 0 {
            html.text(", ");
        }
        html.tag("a")
            .attr("href", format_args!("#step-{step}"))
            .attr("data-step", step)
            .text(MessageName(&report.id));
    }
}
