//! The undo steps that ran, and the calls whose effects remain.

use crate::live::StepEvent;
use crate::view::StepView;
use plan_graph::MessageName;
use plan_runtime::plan::Role;
use plan_runtime::run::Status;
use plan_runtime::{Plan, Report};
use serde::Serialize;
use std::collections::HashMap;

/// An undo step that ran.
#[derive(Serialize)]
pub(crate) struct Undone {
    pub(crate) path: String,
    pub(crate) undoes: String,
    pub(crate) status: &'static str,
}

/// A call that may have changed something, and that no undo step has undone.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct NotUndone {
    pub(crate) path: String,
    pub(crate) tool: String,
    pub(crate) why: String,
}

/// Returns the undo steps that ran, with their statuses.
pub(crate) fn undone(plan: &Plan, report: &Report) -> Vec<Undone> {
    let steps = plan.steps.iter().zip(report.steps());
    steps
        .filter_map(|(step, report)| {
            let Role::Undo(of) = step.role else {
                return None;
            };
            let has_run = !matches!(report.status(), Status::NotStarted | Status::Skipped);
            let undoes = &plan.steps.get(of).filter(|_| has_run)?.id;
            Some(Undone {
                path: MessageName(report.id()).to_string(),
                undoes: MessageName(undoes).to_string(),
                status: report.status().name(),
            })
        })
        .collect()
}

/// Returns the calls with effects that no undo step has undone, by their steps or their elements. Undo steps and always steps are not meant to be undone.
pub(crate) fn not_undone(
    steps: &[StepView],
    undone: &[Undone],
    events: &[StepEvent],
) -> Vec<NotUndone> {
    let mut last: HashMap<&str, &str> = HashMap::new();
    let mut order = Vec::new();
    for event in events {
        if last.insert(&event.path, event.status).is_none() {
            order.push(&*event.path);
        }
    }
    let is_done = |path: &str| matches!(last.get(path), Some(&("completed" | "recovered")));
    let undo: HashMap<&str, &Undone> = undone.iter().map(|it| (&*it.undoes, it)).collect();
    let remains = |path: &str| {
        let step = steps.iter().find(|step| is_inside(path, &step.path))?;
        let tool = step.tool.as_ref()?;
        let plain = without_indices(path);
        let is_cleanup = step.cleanup.iter().any(|it| is_inside(&plain, it));
        let is_meant = !step.read_only && step.undoes.is_none() && !step.always && !is_cleanup;
        // The step stands for all its elements and inner steps once it is done.
        let is_counted = path == step.path || !is_done(&step.path);
        let why = match (undo.get(&*step.path), &step.undone_by) {
            (Some(undo), _) if undo.status == "completed" => return None,
            (Some(undo), _) => format!(
                "the undo step `{}` has the status {}",
                undo.path, undo.status
            ),
            (None, Some(undo)) => format!("the undo step `{undo}` has not run"),
            (None, None) => "the step has no undo step".to_owned(),
        };
        (is_meant && is_counted && is_done(path)).then(|| NotUndone {
            path: path.to_owned(),
            tool: tool.clone(),
            why,
        })
    };
    order.into_iter().filter_map(remains).collect()
}

/// Returns a line for each step whose calls remain. A line counts the elements of a list.
pub(crate) fn grouped(remains: &[NotUndone]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&NotUndone>)> = Vec::new();
    for one in remains {
        let plain = without_indices(&one.path);
        match groups.last_mut() {
            Some((path, group)) if *path == plain && group[0].why == one.why => group.push(one),
            _ => groups.push((plain, vec![one])),
        }
    }
    let line = |(plain, group): (String, Vec<&NotUndone>)| match &group[..] {
        [NotUndone { path, tool, why }] => format!("`{path}` with `{tool}`: {why}"),
        group => {
            let (NotUndone { tool, why, .. }, count) = (group[0], group.len());
            format!("{count} calls of `{plain}` with `{tool}`: {why}")
        }
    };
    groups.into_iter().map(line).collect()
}

/// Returns `true` for the path of a step, of its elements and of the steps inside it.
pub(crate) fn is_inside(path: &str, step: &str) -> bool {
    let rest = path.strip_prefix(step);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Returns a path without the indices of elements: `trip.booked` for `trip[0].booked`.
pub(crate) fn without_indices(path: &str) -> String {
    let mut plain = String::new();
    let mut parts = path.split('[');
    plain.extend(parts.next());
    for part in parts {
        match part.split_once(']') {
            Some((index, rest)) if index.bytes().all(|it| it.is_ascii_digit()) => plain += rest,
            _ => {
                plain.push('[');
                plain += part;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{NotUndone, Undone, grouped, not_undone};
    use crate::live::StepEvent;
    use crate::view::StepView;

    #[test]
    fn calls_without_an_undone_effect_remain() {
        let step = |path: &str| StepView {
            path: path.into(),
            tool: Some(format!("{path}_tool")),
            ..StepView::default()
        };
        let mut steps = ["booked", "told", "trip", "read"].map(step);
        steps[0].undone_by = Some("back".into());
        steps[2].cleanup = vec!["trip.back".into()];
        steps[3].read_only = true;
        let event = |(path, status): (&str, &'static str)| StepEvent {
            path: path.into(),
            status,
            ..StepEvent::default()
        };
        let events = [
            ("booked", "completed"),
            ("told", "completed"),
            ("trip[0].booked", "completed"),
            ("trip[0].back", "completed"),
            ("trip[1].booked", "failed"),
            ("trip", "failed"),
            ("read", "completed"),
        ]
        .map(event);
        let undone = |status| Undone {
            path: "back".into(),
            undoes: "booked".into(),
            status,
        };
        let found = |undone: &[Undone]| -> Vec<String> {
            let found = not_undone(&steps, undone, &events).into_iter();
            let shown = |NotUndone { path, tool, why }| format!("{path} with {tool}: {why}");
            found.map(shown).collect()
        };
        let others = [
            "told with told_tool: the step has no undo step",
            "trip[0].booked with trip_tool: the step has no undo step",
        ];
        assert_eq!(found(&[undone("completed")]), others);
        let first = "booked with booked_tool: the undo step `back` has the status failed";
        assert_eq!(found(&[undone("failed")])[0], first);
        let one = |path: &str| NotUndone {
            path: path.into(),
            tool: "t".into(),
            why: "w".into(),
        };
        let lines = grouped(&[one("a[0]"), one("a[1]"), one("b")]);
        assert_eq!(lines, ["2 calls of `a` with `t`: w", "`b` with `t`: w"]);
        assert_eq!(
            found(&[])[0],
            "booked with booked_tool: the undo step `back` has not run"
        );
    }
}
