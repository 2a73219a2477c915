//! How conditions, types and waits read in the printed plan, and what two reasons for absence make of a type.

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
        "  step matched = if let Some(text) = & maybe {",
        "  step chained = if ! counts.is_empty() && let Some(text) = & maybe {",
        "  step each = for (key, numbers) in counts {",
    ] {
        let squeezed = |text: &str| text.replace(' ', "");
        assert!(
            printed.lines().any(|it| squeezed(it) == squeezed(line)),
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
    assert_eq!(policy.wait_after(1), Duration::from_hours(1));
}
