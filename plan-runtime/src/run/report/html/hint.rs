//! The meanings of the bars of a timeline.

use super::Page;
use super::timeline::waits;
use crate::run::report::StepReport;
use crate::run::report::waited::in_attempt;
use plan_graph::Html;

/// Writes the meanings of the bars that occur in the timeline.
pub(super) fn write(html: &mut Html, page: &Page<'_>) {
    let steps = &page.report.steps;
    let has_waits = |step: &StepReport| {
        let mut inside = step.attempts.iter().flat_map(in_attempt);
        waits(step).next().is_some() || inside.next().is_some()
    };
    let has_failures = |step: &StepReport| {
        let mut earlier = step.earlier.iter();
        step.attempts.iter().any(|it| it.error.is_some()) || earlier.any(|(_, failed)| *failed)
    };
    let parts = [
        (true, "Each bar is a step with its attempts."),
        (
            steps.iter().any(has_failures),
            "Green attempts succeeded, and red attempts failed.",
        ),
        (
            steps.iter().any(|step| !step.earlier.is_empty()),
            "Pale attempts came before a retry.",
        ),
        (
            steps.iter().any(has_waits),
            "The dashed parts are waits: for an answer, for a value or for a turn.",
        ),
        (
            !page.critical.is_empty(),
            "The framed steps are the critical path: each of them started when the step before it ended or freed a slot, so their times explain the time of the run.",
        ),
    ];
    let parts = parts.into_iter().filter(|(is_drawn, _)| *is_drawn);
    let parts: Vec<&str> = parts.map(|(_, words)| words).collect();
    html.tag("p").attr("class", "hint").text(parts.join(" "));
}
