//! Conditions, types and waits in the printed plan, and the type of a value with two reasons for absence.

use crate::support::{Same, done};
use plan_runtime::plan;
use std::collections::BTreeMap;
use std::time::Duration;

plan! {
    Printed(maybe: Option<String>, counts: BTreeMap<String, Vec<u32>>) -> (Option<String>, Vec<Option<String>>) {
        step matched = if let Some(text) = &maybe { Same::<String> { value: text } };
        step chained = if !counts.is_empty() && let Some(text) = &maybe { Same::<String> { value: text } };
        #[optional]
        step twice = if maybe.is_some() { Same::<String> { value: "there" } };
        #[optional(each)]
        step each = for (key, numbers) in counts {
            if numbers.len() > 1 { Same::<String> { value: key } }
        };
        #[retry(2, backoff = "1h")]
        step patient = Same::<Option<String>> { value: twice };
        #[after(matched, chained)]
        step last = Same::<Option<String>> { value: patient? };
        (last, each)
    }
}

plan! {
    Code(pages: Vec<Option<u32>>, most: u32) -> (Vec<usize>, bool) {
        step missing: Vec<usize> = pages
            .iter()
            .zip(1..=most)
            .filter(|(page, _)| page.is_none())
            .map(|(_, number)| number as usize)
            .collect::<Vec<_>>();
        step first: u32 = Same::<u32> { value: 5 }.value;
        step text: String = String::from(
            "one \
             text",
        );
        (missing, !text.is_empty() && first < most || std::cmp::Ordering::Less == first.cmp(&most))
    }
}

/// A long expression is on one line, with spaces where its author would write them.
#[test]
fn computed_values_are_as_their_author_writes_them() {
    let printed = Code::PLAN.to_string();
    for line in [
        "  step missing = pages.iter().zip(1..=most).filter(|(page, _)| page.is_none())\
            .map(|(_, number)| number as usize).collect::<Vec<_>>()",
        "  step first = Same::<u32> { value: 5 }.value",
        "  step text = String::from(\"one text\",)",
        "  output [missing, !text.is_empty() && first < most || std::cmp::Ordering::Less == first.cmp(&most)]",
    ] {
        assert!(
            printed.lines().any(|it| it == line),
            "{line}\nin\n{printed}"
        );
    }
    let pages = vec![Some(1), None];
    let (missing, is_less) = done(Code { pages, most: 2 }.run(&()));
    assert_eq!((missing, is_less), (vec![2], false));
}

fn counts() -> BTreeMap<String, Vec<u32>> {
    [("one".into(), vec![1]), ("two".into(), vec![1, 2])].into()
}

#[test]
fn one_option_for_two_reasons() {
    for maybe in [None, Some("x".to_owned())] {
        let there = maybe.as_ref().map(|_| "there".to_owned());
        let counts = counts();
        let output = done(Printed { maybe, counts }.run(&()));
        assert_eq!(output, (there, vec![None, Some("two".to_owned())]));
    }
}

#[test]
fn conditions_and_types() {
    let printed = Printed::PLAN.to_string();
    for line in [
        "plan printed -> (Option<String>, Vec<Option<String>>)",
        "  input counts: BTreeMap<String, Vec<u32>>",
        "  step matched = if let Some(text) = maybe {",
        "  step chained = if !counts.is_empty() && let Some(text) = maybe {",
        "  step each = for (key, numbers) in counts {",
    ] {
        assert!(
            printed.lines().any(|it| it == line),
            "{line}\nin\n{printed}"
        );
    }
    assert!(printed.contains("Vec<Option<String>>"), "{printed}");
    assert_eq!(printed.matches("let ").count(), 2, "{printed}");
}

#[test]
fn the_first_wait_is_as_long_as_it_says() {
    let patient = Printed::PLAN.steps.iter().find(|step| step.id == "patient");
    let policy = &patient.expect("it is there").policy;
    assert_eq!(policy.backoff.min(policy.max), Duration::from_hours(1));
}
