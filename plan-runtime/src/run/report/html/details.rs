//! What there is to know about each step, in a section of its own, which is shown when the step is chosen.

use super::Page;
use super::escape::{Json, Text, Time};
use crate::error::write_elements;
use crate::print::Told;
use crate::run::report::{Attempt, Status, StepReport};
use std::fmt::{Display, Formatter, Result};

/// How many attempts of a step are listed.
const ATTEMPTS: usize = 200;

pub(super) struct Details<'p>(pub(super) &'p Page<'p>);

impl Display for Details<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let page = self.0;
        let dependents = page.plan.needs().reversed();
        for step in 0..dependents.len() {
            let dependents = dependents.of(step).iter().map(|&it| it as usize);
            write_step(f, page, step, &dependents.collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

fn write_step(f: &mut Formatter<'_>, page: &Page<'_>, step: usize, dependents: &[usize]) -> Result {
    let (report, planned) = (&page.report.steps[step], &page.plan.steps[step]);
    let status = report.status.name();
    write!(
        f,
        "<section class=\"step {}\" id=\"step-{step}\" tabindex=\"-1\" aria-label=\"{}\"><h2>{}</h2>\
         <p class=\"status\"><span class=\"sign\">{}</span>{status}</p>",
        page.class(step),
        Text(page.spoken(step)),
        Text(Told(&report.id)),
        page.sign(step),
    )?;
    let intent = planned.intent.trim();
    if !intent.is_empty() {
        write!(f, "<p class=\"intent\">{}</p>", Text(intent))?;
    }
    write_error(f, page, report)?;
    f.write_str("<dl>")?;
    let row = |f: &mut Formatter<'_>, name: &str, value: &dyn Display| {
        write!(f, "<dt>{name}</dt><dd>{value}</dd>")
    };
    if let Some(tool) = report.tool() {
        row(
            f,
            "Tool",
            &format_args!("<code>{}</code>", Text(Told(tool))),
        )?;
    }
    if let (Some(started), Some(took)) = (report.started, report.duration()) {
        row(f, "Started", &format_args!("after {}", Time(started)))?;
        row(f, "Took", &Time(took))?;
    }
    if page.critical.contains(&step) {
        row(f, "Critical path", &"the run had to wait for this step")?;
    }
    for (name, steps) in [("Needs", &*planned.needs), ("Needed by", dependents)] {
        if !steps.is_empty() {
            row(f, name, &Links(page, steps))?;
        }
    }
    f.write_str("</dl>")?;
    write_given(f, page, report)?;
    write_gave(f, page, report)?;
    f.write_str("</section>")
}

fn write_error(f: &mut Formatter<'_>, page: &Page<'_>, report: &StepReport) -> Result {
    match &report.status {
        Status::Failed(error) | Status::Recovered(error) => {
            f.write_str("<p class=\"error\">")?;
            if !report.element.is_empty() {
                write!(f, "{}: ", Elements(&report.element))?;
            }
            write!(f, "{}</p>", Text(error))
        }
        Status::Blocked { by } => {
            let place = page.report.steps.iter().position(|step| step.id == *by);
            f.write_str("<p>It could not start, because ")?;
            match place {
                Some(place) => write!(f, "{}", Links(page, &[place]))?,
                None => write!(f, "{}", Text(Told(by)))?,
            }
            f.write_str(" failed.</p>")
        }
        Status::Skipped => f.write_str("<p>None of its conditions held.</p>"),
        Status::Cancelled => f.write_str("<p>It was dropped while it ran.</p>"),
        Status::NotStarted => f.write_str("<p>The run had ended before it could start.</p>"),
        Status::Completed => Ok(()),
    }
}

/// What the step's calls were given.
fn write_given(f: &mut Formatter<'_>, page: &Page<'_>, report: &StepReport) -> Result {
    let attempts = report.attempts();
    if attempts.is_empty() {
        return Ok(());
    }
    let in_list = attempts.iter().any(|attempt| !attempt.element.is_empty());
    let title = match (in_list, attempts.len()) {
        (true, _) => "Calls",
        (false, 1) => "Given",
        (false, _) => "Attempts",
    };
    write!(f, "<h3>{title}</h3>")?;
    if !page.report.recorded.arguments {
        f.write_str(
            "<p class=\"hint\">Its arguments were not recorded: use \
             <code>Run::capture_arguments(true)</code>.</p>",
        )?;
    }
    if let ([attempt], false) = (attempts, in_list) {
        return write_arguments(f, page, attempt);
    }
    f.write_str("<ol class=\"attempts\">")?;
    for attempt in attempts.iter().take(ATTEMPTS) {
        write_attempt(f, page, attempt)?;
    }
    f.write_str("</ol>")?;
    match attempts.len().saturating_sub(ATTEMPTS) {
        0 => Ok(()),
        more => write!(f, "<p class=\"hint\">… and {more} more</p>"),
    }
}

fn write_attempt(f: &mut Formatter<'_>, page: &Page<'_>, attempt: &Attempt) -> Result {
    let (class, outcome) = match (&attempt.error, attempt.ended) {
        (Some(_), _) => ("bad", "✗"),
        (None, Some(_)) => ("good", "✓"),
        (None, None) => ("dropped", "◌"),
    };
    write!(
        f,
        "<li class=\"{class}\"><p><span class=\"sign\">{outcome}</span>"
    )?;
    if !attempt.element.is_empty() {
        write!(f, "{} ", Elements(&attempt.element))?;
    }
    write!(f, "attempt {}", attempt.number)?;
    if let Some(tool) = &attempt.tool {
        write!(f, " of <code>{}</code>", Text(Told(tool)))?;
    }
    write!(f, ", after {}", Time(attempt.started))?;
    match attempt.ended {
        Some(ended) => write!(f, ", took {}", Time(ended.saturating_sub(attempt.started)))?,
        None => f.write_str(", dropped")?,
    }
    f.write_str("</p>")?;
    if let Some(error) = &attempt.error {
        write!(f, "<p class=\"error\">{}</p>", Text(error))?;
    }
    write_arguments(f, page, attempt)?;
    f.write_str("</li>")
}

fn write_arguments(f: &mut Formatter<'_>, page: &Page<'_>, attempt: &Attempt) -> Result {
    match (&attempt.arguments, page.report.recorded.arguments) {
        (Some(arguments), _) => write!(f, "<pre tabindex=\"0\">{}</pre>", Json(arguments)),
        (None, true) if attempt.tool.is_some() => {
            f.write_str("<p class=\"hint\">Its arguments could not be resolved.</p>")
        }
        (None, true) => {
            f.write_str("<p class=\"hint\">It is computed, so it has no named arguments.</p>")
        }
        (None, false) => Ok(()),
    }
}

/// What the step gave.
fn write_gave(f: &mut Formatter<'_>, page: &Page<'_>, report: &StepReport) -> Result {
    if report.started.is_none() {
        return Ok(());
    }
    f.write_str("<h3>Gave</h3>")?;
    match (&report.output, page.report.recorded.outputs) {
        (Some(output), _) => write!(f, "<pre tabindex=\"0\">{}</pre>", Json(output)),
        (None, true) => f.write_str("<p class=\"hint\">It has no output.</p>"),
        (None, false) => f.write_str(
            "<p class=\"hint\">Its output was not recorded: use <code>Run::capture_outputs(true)</code>.</p>",
        ),
    }
}

/// The names of steps, each of which leads to its section.
pub(super) struct Links<'l>(pub(super) &'l Page<'l>, pub(super) &'l [usize]);

impl Display for Links<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let known = self
            .1
            .iter()
            .filter_map(|step| Some((step, self.0.report.steps.get(*step)?)));
        for (number, (step, report)) in known.enumerate() {
            let comma = if number > 0 { ", " } else { "" };
            let id = Text(Told(&report.id));
            write!(
                f,
                "{comma}<a href=\"#step-{step}\" data-step=\"{step}\">{id}</a>"
            )?;
        }
        Ok(())
    }
}

struct Elements<'e>(&'e [usize]);

impl Display for Elements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write_elements(f, self.0)
    }
}
