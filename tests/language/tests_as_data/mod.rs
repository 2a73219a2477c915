//! Conditions that are data.
#![allow(
    clippy::option_option,
    reason = "JSON cannot tell the two ways of having nothing apart, which is what a test is about"
)]

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for the signature"
)]
mod closed;
#[rustfmt::skip]
#[allow(
    clippy::all,
    clippy::pedantic,
    unused_parens,
    unused_comparisons,
    reason = "the expressions are random"
)]
mod expressions;
mod generate;
mod random;

use crate::support::{Add, Same, done, failed};
use plan_runtime::plan::{Body, Condition, Template};
use plan_runtime::{Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Shape)]
enum State {
    #[default]
    Running,
    #[serde(rename = "all-done")]
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Job {
    state: State,
    file_size: u64,
    ratio: f64,
    name: String,
    next: Option<String>,
    tags: Vec<String>,
    scores: HashMap<String, i64>,
    ready: bool,
}

const LIMIT: u64 = 10;

/// Gives a job.
#[tool]
async fn find_job(size: u64) -> Result<Job> {
    Ok(Job {
        state: State::Done,
        file_size: size,
        ratio: 0.5,
        name: "x".into(),
        next: None,
        tags: vec!["a".into()],
        scores: HashMap::from([("a".into(), 3)]),
        ready: true,
    })
}

/// The plan, which survives JSON.
#[track_caller]
fn stored(plan: &Plan) -> Plan {
    let json = serde_json::to_string(plan).unwrap();
    let read: Plan = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, plan);
    assert!(!json.contains("\"computed\""), "{json}");
    read
}

/// Returns the Rust source of the computed values in a plan.
fn computed(plan: &Plan) -> Vec<String> {
    fn find(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(members) => {
                if let Some(written) = members.get("computed") {
                    found.push(written["written"].as_str().unwrap().to_owned());
                }
                members.values().for_each(|value| find(value, found));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|value| find(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&serde_json::to_value(plan).unwrap(), &mut found);
    found.sort();
    found
}

#[test]
fn they_are_data() {
    let plan = plan! {
        step job = FindJob { size: 5 };
        step a: bool = job.file_size > 3 && job.state == State::Done || !job.ready;
        step b: bool = job.next.is_none() && job.tags.len() >= 1 && job.tags[0] == "a";
        step c: bool = job.file_size < LIMIT && job.scores["a"] == 3 && job.ratio <= 0.5;
        step d: usize = job.name.len();
        step e = if job.file_size != 5 { FindJob { size: 1 } } else if job.next.is_some() { FindJob { size: 2 } };
        [a, b, c, d == 1, e.is_none()]
    };
    for step in &plan.plan().steps[1..5] {
        let Body::Action(action) = &step.body else {
            panic!("{step:?}")
        };
        assert!(matches!(action.args, Template::Test(_)), "{step:?}");
    }
    stored(plan.plan());
    assert_eq!(done(plan.run(&())), [true; 5]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Flags {
    large: bool,
    both: (bool, Vec<bool>),
}

plan! {
    /// A test wherever a value is allowed.
    Places(n: u64, name: String, maybe: Option<u64>) -> (Flags, bool) {
        step argument = Same::<bool> { value: n > 3 };
        step list = Same::<Vec<bool>> { value: [n > 3, maybe.is_some(), argument && n < LIMIT] };
        step nested = Same::<Flags> { value: Flags { large: n >= LIMIT, both: (name == "x", [name.is_empty()]) } };
        step json = Same::<serde_json::Value> { value: json!({ "a": n != 5, "b": [maybe.is_none(), { "c": name.len() }] }) };
        #[fallback(n > 3)]
        step fallen: bool = list[0] && list[1];
        step block = { step inner: bool = fallen || n == 0; inner };
        step many = for (i, x) in list.iter().enumerate() { if i > 0 && x == true { Same::<usize> { value: i } } };
        (nested, block && many.len() == 3 && json["a"] == true)
    }
}

#[test]
fn they_are_data_in_every_place() {
    let output = done(
        Places {
            n: 5,
            name: "x".into(),
            maybe: Some(1),
        }
        .run(&()),
    );
    let flags = Flags {
        large: false,
        both: (true, vec![false]),
    };
    assert_eq!(output, (flags, false));
    // Untyped JSON compares itself in its own way, and adaptors give types of their own.
    assert_eq!(
        computed(Places::PLAN),
        [
            "block && many.len() == 3 && json[\"a\"] == true",
            "list.iter().enumerate()",
        ]
    );
    let printed = Places::PLAN.to_string();
    for written in [
        "value: n > 3",
        "value: [n > 3, maybe.is_some(), argument && n < 10]",
        "#[fallback(n > 3)]",
        "step fallen = list[0] && list[1]",
        "fallen || n == 0",
        "if i > 0 && x == true",
    ] {
        assert!(printed.contains(written), "{written}\n{printed}");
    }
}

plan! {
    /// Names that patterns bind, blocks capture, and rounds give.
    Bound(n: u64, jobs: Vec<Job>, maybe: Option<u64>) -> (Vec<Option<u64>>, Option<u64>, u64) {
        step each = for job in jobs {
            step size = Same::<u64> { value: job.file_size };
            if size > n && job.state != State::Running && let Some(next) = &job.next && next == "b" {
                Same::<u64> { value: size }
            }
        };
        step one = if let Some(x) = &maybe && x > 3 { Same::<u64> { value: x } } else if maybe.is_none() && n < 3 { Same::<u64> { value: 0 } };
        #[at_most(9)]
        step rounds = loop |last| {
            step before = if last.is_some() { Same::<u64> { value: 1 } } else { Same::<u64> { value: n } };
            step next = Same::<u64> { value: before };
            next
        } while last.is_none() || rounds > 5;
        (each, one, rounds)
    }
}

#[test]
fn they_are_about_local_values() {
    stored(Bound::PLAN);
    let job = |size, next: Option<&str>| Job {
        state: State::Done,
        file_size: size,
        ratio: 0.5,
        name: "x".into(),
        next: next.map(Into::into),
        tags: Vec::new(),
        scores: HashMap::new(),
        ready: true,
    };
    let jobs = vec![
        job(9, Some("b")),
        job(9, Some("a")),
        job(9, None),
        job(1, Some("b")),
    ];
    let bound = |n, maybe| {
        done(
            Bound {
                n,
                jobs: jobs.clone(),
                maybe,
            }
            .run(&()),
        )
    };
    assert_eq!(
        bound(5, Some(4)),
        (vec![Some(9), None, None, None], Some(4), 1)
    );
    assert_eq!(bound(5, Some(3)).1, None);
    assert_eq!(bound(2, None).1, Some(0));
    assert_eq!(bound(0, None).0, [Some(9), None, None, Some(1)]);
}

plan! {
    /// `Ok`, `Err`, and an always step.
    Outcomes(n: i64) -> String {
        #[catch]
        step sum = Add { left: n, right: i64::MAX };
        step said = if let Ok(sum) = &sum {
            Same::<String> { value: format!("sum {sum}") }
        } else if let Err(failure) = &sum && failure.code == "FAILED" && failure.attempts == 1 {
            Same::<String> { value: format!("{}: {}", failure.step, failure.message.to_uppercase()) }
        } else {
            Same::<String> { value: "never" }
        };
        #[always]
        step told = if said.is_err() || sum.is_ok() { Same::<bool> { value: sum.is_err() } };
        said
    }
}

#[test]
fn outcomes_are_data() {
    assert_eq!(
        done(Outcomes { n: 0 }.run(&())),
        format!("sum {}", i64::MAX)
    );
    assert_eq!(done(Outcomes { n: 1 }.run(&())), "sum: TOO LARGE");
    assert_eq!(
        computed(Outcomes::PLAN),
        ["failure.message.to_uppercase()", "i64::MAX"]
    );
}

plan! {
    /// `Some` of untyped null is absent, as it is in JSON, through which a type goes that does not come back from it. `Some(())` and `Some(None)` are refused where they would become JSON.
    Untyped(raw: Option<serde_json::Value>, unit: Option<()>, nested: Option<Option<u64>>) -> [u64; 6] {
        step a = if let Some(_) = &raw { Same::<u64> { value: 1 } } else { Same::<u64> { value: 2 } };
        step b = if let Some(x) = &raw { Same::<u64> { value: x.as_u64().unwrap_or(7) } } else { Same::<u64> { value: 2 } };
        step c = if raw.is_some() { Same::<u64> { value: 1 } } else { Same::<u64> { value: 2 } };
        step d = if unit.is_some() { Same::<u64> { value: 1 } } else { Same::<u64> { value: 2 } };
        step e = if let Some(x) = &nested { Same::<u64> { value: x.unwrap_or(8) } } else { Same::<u64> { value: 2 } };
        step f = if nested == None { Same::<u64> { value: 2 } } else { Same::<u64> { value: 1 } };
        [a, b, c, d, e, f]
    }
}

#[test]
fn types_that_json_cannot_tell_are_left_to_rust() {
    let untyped = |raw, unit, nested| done(Untyped { raw, unit, nested }.run(&()));
    let null = serde_json::Value::Null;
    assert_eq!(untyped(Some(null), None, Some(Some(8))), [2, 2, 2, 2, 8, 1]);
    for (unit, nested, place) in [(Some(()), None, "unit"), (None, Some(None), "nested")] {
        let plan = Untyped {
            raw: None,
            unit,
            nested,
        };
        let error = failed(plan.run(&()));
        assert!(
            error.contains(place) && error.contains("which JSON cannot tell from `None`"),
            "{error}"
        );
    }
    assert_eq!(
        untyped(Some(3.into()), None, Some(Some(4))),
        [1, 3, 1, 2, 4, 1]
    );
    assert_eq!(untyped(None, None, None), [2, 2, 2, 2, 2, 2]);
}

plan! {
    /// Computed values over what a condition took out.
    TakenOut(maybe: Option<Job>) -> usize {
        step a = if let Some(job) = &maybe && job.tags.len() == 1 && job.tags.first().is_some_and(|tag| tag.len() > 2) {
            Same::<usize> { value: job.name.chars().filter(|c| *c == 'x').count() + job.tags[0].len() }
        } else {
            Same::<usize> { value: 0 }
        };
        a
    }
}

#[test]
fn computed_values_read_what_a_condition_took_out() {
    let job = |tag: &str| {
        let found = done(FindJobs { size: 1 }.run(&()));
        Some(Job {
            tags: vec![tag.into()],
            ..found
        })
    };
    assert_eq!(done(TakenOut { maybe: job("abc") }.run(&())), 4);
    assert_eq!(done(TakenOut { maybe: job("ab") }.run(&())), 0);
    assert_eq!(done(TakenOut { maybe: None }.run(&())), 0);
    let Body::If(branches) = &TakenOut::PLAN.steps[0].body else {
        panic!()
    };
    let conditions = &branches[0].conditions;
    assert!(matches!(
        &conditions[0],
        Condition::Let {
            value: Template::Reference(_),
            ..
        }
    ));
}

plan! { FindJobs(size: u64) -> Job { step job = FindJob { size }; job } }

plan! {
    /// Operators that stop early do not evaluate a missing operand.
    Early(list: Vec<u64>) -> bool { list.len() > 1 && list[1] == 3 || list.is_empty() }
}

#[test]
fn operators_stop_early() {
    stored(Early::PLAN);
    let early = |list: &[u64]| {
        done(
            Early {
                list: list.to_vec(),
            }
            .run(&()),
        )
    };
    assert_eq!(
        [early(&[]), early(&[1]), early(&[1, 3]), early(&[1, 2])],
        [true, false, true, false]
    );
}

plan! { Missing(list: Vec<u64>) -> bool { list[1] == 3 } }

#[test]
fn an_element_that_is_missing_fails() {
    let error = failed(Missing { list: vec![1] }.run(&()));
    assert!(
        error.contains("`list` has 1 element, so the list has no element 1"),
        "{error}"
    );
}

plan! {
    /// A minus sign, and literals that JSON does not have.
    Minus(n: i64, big: u128, bytes: Vec<u8>) -> [bool; 4] {
        [-n < 3, n > -3 && n != -4, big == 340282366920938463463374607431768211455, bytes == b"a"]
    }
}

#[test]
fn what_is_no_literal_of_json_is_rust() {
    let bytes = b"a".to_vec();
    let output = done(
        Minus {
            n: 1,
            big: 5,
            bytes,
        }
        .run(&()),
    );
    assert_eq!(output, [true, true, false, true]);
    assert_eq!(computed(Minus::PLAN).len(), 3);
}

plan! {
    /// For numbers, `!` inverts the bits.
    Bits(n: u32, list: Vec<u64>) -> (u32, bool, bool, bool) {
        step mask: u32 = !0;
        step is_not_all: bool = n != !0;
        step is_length: bool = !list.len() == usize::MAX - 1;
        (mask, is_not_all, is_length, !n == 4_294_967_290)
    }
}

#[test]
fn bits_are_left_to_rust() {
    let bits = |n, list| done(Bits { n, list }.run(&()));
    assert_eq!(bits(5, vec![1]), (u32::MAX, true, true, true));
    assert_eq!(bits(u32::MAX, vec![]), (u32::MAX, false, false, false));
}

plan! {
    /// A comma after the name is not a part of it.
    Comma(maybe: Option<u64>) -> Option<u64> {
        step there = if let Some(x,) = &maybe { Same::<u64> { value: x } };
        there
    }
}

#[test]
fn a_pattern_may_end_with_a_comma() {
    assert_eq!(done(Comma { maybe: Some(3) }.run(&())), Some(3));
    assert_eq!(done(Comma { maybe: None }.run(&())), None);
}

plan! {
    /// Rust reads deeper than data is nested.
    Deep(flag: bool, n: u64) -> (bool, bool) {
        step nots: bool = !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! flag;
        step parentheses: bool = (!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!!(!! n > 3 ))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
        (nots, parentheses)
    }
}

#[test]
fn deep_conditions_are_left_to_rust() {
    assert_eq!(done(Deep { flag: true, n: 4 }.run(&())), (true, true));
    assert_eq!(done(Deep { flag: false, n: 3 }.run(&())), (false, false));
}
