//! Attributes that contradict each other or have no effect.

use crate::ast::{Amount, Body, Extent, Given, Policy, Role, Step};
use crate::report::Report;
use plan_graph::{BACKOFF, Concern, LONGEST_WAIT, StepAttribute, Takes};
use std::time::Duration;

/// Reports attributes without an effect on the role of a step.
pub(super) fn role(step: &mut Step, report: &mut Report) {
    let Some(kind) = kind(&step.role) else {
        return;
    };
    let all = StepAttribute::ALL.iter();
    for known in all.filter(|known| known.concern() == Concern::Failure) {
        if let Some(at) = step.policy.place(*known) {
            let name = known.name();
            let message = format!("`#[{name}]` has no effect on {kind}\nhelp: remove it");
            report.error_at(at, message);
        }
    }
    let policy = &mut step.policy;
    (policy.optional, policy.catch, policy.fallback) = (Extent::Nothing, Extent::Nothing, None);
    if let (Role::Undo(_), Some(first)) = (&step.role, step.after.first()) {
        report.error(
            first,
            "undo steps run in the reverse order of the steps that they undo\nhelp: write `#[after(…)]` on those",
        );
        step.after.clear();
    }
}

/// Returns the words for a step that runs after the work.
fn kind(role: &Role) -> Option<&'static str> {
    match role {
        Role::Work => None,
        Role::Undo(_) => Some("an undo step"),
        Role::Always => Some("an always step"),
    }
}

/// Reports each `await` in a step of this kind, which runs after the work.
fn late_awaits(body: &Body, kind: &str, report: &mut Report) {
    if let Body::Await(at) = body {
        let message = format!("{kind} cannot wait for a value\nhelp: wait in a step before");
        report.error_at(*at, message);
    }
    body.blocks(&mut |block| {
        // Steps of other roles were checked already.
        let work = block
            .steps
            .iter()
            .filter(|step| matches!(step.role, Role::Work));
        work.for_each(|step| late_awaits(&step.body, kind, report));
    });
}

/// Reports attributes that contradict each other.
pub(super) fn conflicts(policy: &Policy, report: &mut Report) {
    if let (Some(Given::Time(at, timeout)), Some(deadline)) =
        (policy.given(Amount::Timeout), policy.time(Amount::Deadline))
        && *timeout > deadline
    {
        report.error_at(
            *at,
            "no call can take this long, since the `#[deadline]` of all attempts is shorter",
        );
    }
    let mut leaves_none = |attribute: StepAttribute, each: &str| {
        let name = attribute.name();
        let message = format!(
            "`#[catch{each}]` leaves no failure for `#[{name}{each}]`\nhelp: remove one of them"
        );
        let at = policy.place(attribute).into_iter();
        at.for_each(|at| report.error_at(at, &message));
    };
    match (policy.catch, policy.optional) {
        (Extent::Whole, Extent::Whole) => leaves_none(StepAttribute::Optional, ""),
        (Extent::Each, Extent::Each) => leaves_none(StepAttribute::Optional, "(each)"),
        _ => {}
    }
    if policy.fallback.is_none() {
        return;
    }
    if policy.catch == Extent::Whole {
        leaves_none(StepAttribute::Fallback, "");
    } else if policy.optional == Extent::Whole
        && let Some(at) = policy.place(StepAttribute::Fallback)
    {
        report.error_at(
            at,
            "with `#[fallback]`, a failed step has an output, so `#[optional]` has no effect\nhelp: remove one of them",
        );
    }
}

/// Reports literal waits that contradict each other or the deadline.
pub(super) fn waits(policy: &Policy, report: &mut Report) {
    for (amount, next) in [(Amount::Backoff, "attempt"), (Amount::Every, "round")] {
        if let (Some(Given::Time(at, wait)), Some(deadline)) =
            (policy.given(amount), policy.time(Amount::Deadline))
            && *wait > deadline
        {
            let message = format!(
                "the `#[deadline]` leaves no time for a second {next}: it is shorter than this wait"
            );
            report.error_at(*at, message);
            return;
        }
    }
    let wait = |amount, default| match policy.given(amount) {
        None => Some(default),
        Some(_) => policy.time(amount),
    };
    // The author's own values are unknown here.
    let (Some(mut wait), Some(max)) = (
        wait(Amount::Backoff, BACKOFF),
        wait(Amount::Max, LONGEST_WAIT),
    ) else {
        return;
    };
    if let Some(Given::Time(at, max)) = policy.given(Amount::Max)
        && *max < wait
    {
        let default = match policy.given(Amount::Backoff) {
            None => ", which is 100ms by default",
            Some(_) => "",
        };
        let message = format!(
            "the longest wait between attempts is shorter than `backoff`, the first one{default}"
        );
        report.error_at(*at, message);
        return;
    }
    if let (Some(Given::Count(at, attempts)), Some(deadline), Some(false)) = (
        policy.given(Amount::Attempts),
        policy.time(Amount::Deadline),
        policy.jitter,
    ) && *attempts <= 1000
    {
        let (mut waits, mut possible) = (Duration::ZERO, 1);
        while possible < *attempts && waits.saturating_add(wait.min(max)) < deadline {
            waits = waits.saturating_add(wait.min(max));
            wait = wait.saturating_mul(2);
            possible += 1;
        }
        if possible < *attempts {
            let plural = if possible == 1 { "attempt" } else { "attempts" };
            report.error_at(
                *at,
                format!("with these waits, the `#[deadline]` leaves time for at most {possible} {plural}"),
            );
        }
    }
}

/// Reports attributes without an effect on the body of a step.
pub(super) fn body(policy: &Policy, role: &Role, body: &Body, report: &mut Report) {
    if let (Body::Compute(_), Role::Undo(undone)) = (body, role) {
        report.error(
            undone,
            "a step with a type is a value, which undoes nothing\nhelp: call a tool: `step name = Tool { … };`",
        );
    }
    if let Some(kind) = kind(role) {
        late_awaits(body, kind, report);
    }
    if let (Body::Await(_), Some(at)) = (body, policy.place(StepAttribute::Retry)) {
        report.error_at(
            at,
            "a wait has no attempts\nhelp: limit it with `#[timeout]`",
        );
    }
    rounds(policy, body, report);
    elements(policy, body, report);
    let mut places = policy.places.iter().rev();
    let attempts = places.find(|(known, _)| known.concern() == Concern::Attempts);
    if let (Body::Compute(_), Some((_, at))) = (body, attempts) {
        report.error_at(
            *at,
            "a computed step calls no tool, so there is nothing to retry or to wait for",
        );
    }
}

/// Reports attributes for the elements of a `for` on a step without elements.
fn elements(policy: &Policy, body: &Body, report: &mut Report) {
    if matches!(body, Body::For(_) | Body::Broken(_)) {
        return;
    }
    let is_each = |known: &StepAttribute| match known {
        StepAttribute::Optional => policy.optional == Extent::Each,
        StepAttribute::Catch => policy.catch == Extent::Each,
        known => known.concern() == Concern::Elements,
    };
    for known in StepAttribute::ALL.iter().filter(|known| is_each(known)) {
        let Some(at) = policy.place(*known) else {
            continue;
        };
        let name = known.name();
        let (arguments, example, whole) = match known.takes() {
            Takes::Each => ("(each)", "(each)", format!("\nhelp: write `#[{name}]`")),
            _ => ("", "(…)", String::new()),
        };
        let block = format!(
            "\nhelp: put the `for` in a block, as a step with this attribute: `{{ #[{name}{example}] step each = for …; each }}`"
        );
        let is_around_for = body.any(|body| matches!(body, Body::For(_)));
        let help = if is_around_for { block } else { whole };
        report.error_at(at, format!("`#[{name}{arguments}]` needs a `for`{help}"));
    }
}

/// Reports a loop without a bound, and bounds of other steps.
fn rounds(policy: &Policy, body: &Body, report: &mut Report) {
    let bound = policy.place(StepAttribute::AtMost);
    let (instead, limit) = match body {
        Body::Broken(_) => return,
        Body::Loop(repeat) => {
            if bound.is_none() {
                report.error_at(
                    repeat.keyword,
                    "this loop has no bound\nhelp: add `#[at_most(100)]` to the step",
                );
            }
            return;
        }
        Body::For(_) => (
            "\nhelp: a `for` gives a `Vec` already",
            "for the first elements of a list, write `list.iter().take(5)`; for those that run at one time, `#[concurrency(5)]`",
        ),
        Body::Compute(_) | Body::Await(_) => ("", "remove it"),
        _ => ("", "for attempts, write `#[retry(3)]`"),
    };
    // Otherwise the attribute is reported already.
    let is_read = policy.given(Amount::AtMost).is_some();
    if let Some(at) = bound.filter(|_| is_read) {
        report.error_at(at, format!("`#[at_most]` needs a `loop`\nhelp: {limit}"));
    }
    if let Some(at) = policy.place(StepAttribute::Collect) {
        report.error_at(at, format!("`#[collect]` needs a `loop`{instead}"));
    }
}
