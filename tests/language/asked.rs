//! `?` in computed values, and panics in them.

use crate::support::done;
use plan_runtime::run::{OnFailure, Run, StepError};
use plan_runtime::{Error, Failure, Plan, Result, RunError, plan, tool};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::num::ParseIntError;
use std::sync::atomic::{AtomicU32, Ordering};

/// Says a text.
#[tool]
pub async fn say(text: String, times: u64) -> Result<String> {
    Ok(text.repeat(usize::try_from(times)?))
}

/// Fails with this code, unless the code is empty.
#[tool]
pub async fn look(code: String) -> Result<u64> {
    if code.is_empty() {
        return Ok(1);
    }
    Err(Error::permanent("nothing there").with_code(code))
}

fn half(number: u64) -> Result<u64> {
    if number.is_multiple_of(2) {
        Ok(number / 2)
    } else {
        Err(Error::msg(format!("{number} is odd")))
    }
}

fn failed<O: Debug + DeserializeOwned>(run: Run<'_, (), O>) -> RunError {
    smol::block_on(run).unwrap_err()
}

plan! {
    pub Parsed(text: String, more: Vec<String>) -> (String, u64) {
        step number: u64 = text.parse()?;
        step said = Say { text: format!("{}", half(number)?), times: half(number)? };
        step each = for count in more.iter().map(|text| text.parse::<u64>()).collect::<Result<Vec<_>, _>>()? {
            Say { text: "x", times: half(count)? }
        };
        step chosen = if half(number)? > 1 { Say { text: "big", times: 1 } } else { Say { text: "small", times: 1 } };
        step matched = if let Some(first) = Some(half(number)?) { Say { text: "let", times: first } };
        step all: String = format!("{said} {each:?} {chosen} {matched:?}");
        (all, half(number / 2)?)
    }
}

fn parsed(text: &str, more: &[&str]) -> Parsed {
    Parsed {
        text: text.into(),
        more: more.iter().map(|&text| text.into()).collect(),
    }
}

#[test]
fn a_question_mark_takes_the_value_out() {
    assert_eq!(
        done(parsed("4", &["2", "4"]).run(&())),
        (r#"22 ["x", "xx"] big Some("letlet")"#.to_owned(), 1)
    );
}

#[test]
fn a_question_mark_fails_the_step() {
    let error = failed(parsed("four", &[]).run(&()));
    let failure = &error.failures()[0];
    assert_eq!((failure.step(), failure.attempts()), ("number", 1));
    assert_eq!(failure.error().code(), "VALUE");
    assert!(!failure.error().is_transient());
    let mut cause = std::error::Error::source(failure.error());
    while let Some(inner) = cause.and_then(std::error::Error::source) {
        cause = Some(inner);
    }
    assert!(cause.unwrap().is::<ParseIntError>());
    assert_eq!(
        failure.error().to_string(),
        "invalid digit found in string (in the computed `text.parse()?`)"
    );
}

#[test]
fn every_place_of_a_rust_value_fails() {
    let steps = |plan: Parsed| {
        let error = failed(plan.run(&()));
        let failures = error.failures().iter();
        failures
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(
        steps(parsed("3", &[])),
        "step `said` (say): argument `text`: 3 is odd (in the computed `half(number)?`) (this blocked `all`)"
    );
    assert_eq!(
        steps(parsed("4", &["2", "3"])),
        "step `each[1]` (say): argument `times`: 3 is odd (in the computed `half(count)?`) (this blocked `all`)"
    );
    assert_eq!(
        steps(parsed("4", &["2", "x"])),
        "step `each` (say): invalid digit found in string (in the computed `more.iter().map(|text| text.parse::<u64>()).collect::<Result…`) (this blocked `all`)"
    );
}

plan! {
    pub Decided(number: u64) -> Option<String> {
        step said = if half(number)? == 1 { Say { text: "a", times: 1 } };
        said
    }
}

plan! {
    pub Bound(number: u64) -> Option<String> {
        step said = if let 1.. = half(number)? { Say { text: "a", times: 1 } };
        said
    }
}

plan! {
    pub Tail(number: u64) -> u64 { half(number)? }
}

#[test]
fn conditions_and_the_last_value_fail() {
    let message = "3 is odd (in the computed `half(number)?`)";
    let compared = "3 is odd (in the computed `half(number)? == 1`)";
    assert_eq!(
        failed(Decided { number: 3 }.run(&())).failures()[0]
            .error()
            .to_string(),
        compared
    );
    assert_eq!(
        failed(Bound { number: 3 }.run(&())).failures()[0]
            .error()
            .to_string(),
        message
    );
    let error = failed(Tail { number: 3 }.run(&()));
    assert!(error.failures().is_empty());
    assert!(error.to_string().ends_with(message), "{error}");
    assert!(error.is_permanent());
    assert_eq!(done(Tail { number: 4 }.run(&())), 2);
}

static TRIES: AtomicU32 = AtomicU32::new(0);

fn counted(text: &str) -> Result<u64> {
    TRIES.fetch_add(1, Ordering::Relaxed);
    Ok(text.parse()?)
}

plan! {
    pub Caught(text: String) -> (Result<String, Failure>, Option<String>, u64) {
        #[catch] #[retry(5, backoff = "1ms")]
        step said = Say { text, times: counted(&text)? };
        #[optional]
        step maybe = Say { text, times: text.parse()? };
        #[fallback(7)]
        step number: u64 = text.parse()?;
        (said, maybe, number)
    }
}

#[test]
fn a_failed_value_is_caught_and_not_retried() {
    let (said, maybe, number) = done(Caught { text: "x".into() }.run(&()));
    let failure = said.unwrap_err();
    assert_eq!((&*failure.step, &*failure.code), ("said", "VALUE"));
    assert_eq!(failure.message, "invalid digit found in string");
    assert_eq!(failure.expression.as_deref(), Some("counted(&text)?"));
    assert!(!failure.transient);
    assert_eq!((maybe, number), (None, 7));
    assert_eq!(TRIES.load(Ordering::Relaxed), 1);
}

fn covered() -> Result<u64> {
    Err(Error::permanent("the policy\nhas lapsed"))
}

plan! {
    Inside() -> u64 {
        step number: u64 = covered()? + 6;
        number
    }
}

plan! {
    Places() -> Vec<Option<Failure>> {
        #[catch] step computed: u64 = covered()?;
        #[catch] step argument = Say { text: "a", times: covered()? };
        #[catch] step text = Say { text: format!("{}", covered()?), times: 1 };
        #[catch] step condition = if covered()? == 1 { Say { text: "a", times: 1 } };
        #[catch] step pattern = if let 1 = covered()? + 1 { Say { text: "a", times: 1 } };
        #[catch] step list = for times in [covered()?] { Say { text: "a", times } };
        #[catch(each)] step element = for times in [1_u64] { Say { text: "a", times: times + covered()? } };
        #[catch] step block = { step number: u64 = covered()? + 2; number };
        #[catch] step plan = Inside {};
        #[catch] #[at_most(2)] step round = loop { step number: u64 = covered()? + 4; number } while false;
        [
            computed.err(), argument.err(), text.err(), condition.err(), pattern.err(), list.err(),
            element[0].err(), block.err(), plan.err(), round.err(),
        ]
    }
}

#[test]
fn the_message_of_a_failure_is_that_of_the_error_wherever_it_is() {
    let failures = done(Places {}.run(&()));
    let expressions = [
        "covered()?",
        "covered()?",
        "covered()?",
        "covered()? == 1",
        "covered()? + 1",
        "[covered()?]",
        "times + covered()?",
        "covered()? + 2",
        "covered()? + 6",
        "covered()? + 4",
    ];
    assert_eq!(failures.len(), expressions.len());
    for (failure, expression) in failures.into_iter().zip(expressions) {
        let failure = failure.unwrap();
        assert_eq!(
            (&*failure.code, &*failure.message),
            ("VALUE", "the policy\\nhas lapsed")
        );
        assert_eq!(failure.expression.as_deref(), Some(expression));
    }
}

plan! {
    pub Kept(code: String) -> Result<u64, Failure> {
        #[catch]
        step looked = Look { code };
        #[catch]
        step next: u64 = looked? + 1;
        next
    }
}

#[test]
fn a_failure_keeps_its_code() {
    let failure = done(
        Kept {
            code: "GONE".into(),
        }
        .run(&()),
    )
    .unwrap_err();
    assert_eq!((&*failure.step, &*failure.code), ("looked", "GONE"));
    assert_eq!(
        done(
            Kept {
                code: String::new()
            }
            .run(&())
        ),
        Ok(2)
    );
}

plan! {
    pub Inner(texts: Vec<String>) -> (Vec<u64>, u64) {
        step numbers: Vec<u64> = texts.iter().filter_map(|text| Some(text.strip_prefix('n')?.parse().ok()?)).collect();
        step sum: u64 = {
            fn first(texts: &[String]) -> Option<u64> { texts.first()?.parse().ok() }
            first(&texts).ok_or("no number first")?
        };
        (numbers, sum)
    }
}

#[test]
fn closures_and_functions_keep_their_own() {
    let texts = vec!["5".into(), "n6".into(), "nx".into()];
    assert_eq!(done(Inner { texts }.run(&())), (vec![6], 5));
    let error = failed(Inner { texts: Vec::new() }.run(&()));
    assert!(error.to_string().contains("no number first"), "{error}");
}

#[test]
fn a_plan_with_question_marks_is_data() {
    let plan: &Plan = Kept::PLAN;
    assert!(plan.to_string().contains("looked? + 1"), "{plan}");
    let json = serde_json::to_string(plan).unwrap();
    let read: Plan = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, plan);
    let source = plan_rust::to_rust(Chained::PLAN).unwrap();
    for text in [
        "half(bound)? > n && (n == \"1\".parse::<u64>()?) {",
        "half(n * 2)?",
        "times: (n + half(bound)?) / 3",
    ] {
        assert!(source.contains(text), "{source}");
    }
}

plan! {
    pub Replaced(code: String, other: String) -> u64 {
        #[fallback(other.parse::<u64>()? + 1)]
        step looked = Look { code };
        looked
    }
}

#[test]
fn a_fallback_may_fail() {
    let replaced = |other: &str| Replaced {
        code: "GONE".into(),
        other: other.into(),
    };
    assert_eq!(done(replaced("4").run(&())), 5);
    let error = failed(replaced("x").run(&()));
    let error = error.failures()[0].error();
    assert_eq!(error.code(), "VALUE");
    assert!(
        error.to_string().starts_with("its fallback: invalid digit"),
        "{error}"
    );
}

plan! {
    pub Chained(text: String, list: Vec<u64>) -> Vec<String> {
        step each = for n in list {
            if let Ok(bound) = text.parse::<u64>() && half(bound)? > n && n == "1".parse::<u64>()? {
                Say { text: format!("{:>3}", half(n * 2)?), times: (n + half(bound)?) / 3 }
            } else {
                Say { text: "no", times: 1 }
            }
        };
        each
    }
}

#[test]
fn a_question_mark_sees_bound_names() {
    let list = vec![1, 2];
    let text = "4".to_owned();
    assert_eq!(done(Chained { text, list }.run(&())), ["  1", "no"]);
    let error = failed(
        Chained {
            text: "5".into(),
            list: vec![1],
        }
        .run(&()),
    );
    let failure = &error.failures()[0];
    assert_eq!((failure.step(), failure.element()), ("each", &[0][..]));
    assert!(
        failure.error().to_string().starts_with("5 is odd"),
        "{failure}"
    );
}

plan! {
    pub Panics(list: Vec<u64>) -> u64 {
        step third: u64 =
            list[2] + 1;
        third
    }
}

plan! {
    pub PanicsLast(list: Vec<u64>) -> u64 { list[2] + 1 }
}

plan! {
    pub PanicsElsewhere(list: Vec<u64>) -> Vec<String> {
        step said = for n in &list {
            Say { text: "x", times: list[n as usize + 3] }
        };
        step again = for _n in list[5..].iter() { Say { text: "x", times: 1 } };
        step maybe = if let Some(_n) = list[5..].first() { Say { text: "x", times: "1".parse()? } };
        step _most: u64 = "1".parse::<u64>()? + list[9];
        said
    }
}

/// Returns the content of this file at the position in a panic's message.
fn at(error: &str) -> &'static str {
    let file = "asked.rs:";
    let (_, place) = error.split_once(file).unwrap_or_else(|| panic!("{error}"));
    let (line, rest) = place.split_once(':').unwrap();
    let column = rest.split_once(')').unwrap().0;
    let line = include_str!("asked.rs")
        .lines()
        .nth(line.parse::<usize>().unwrap() - 1)
        .unwrap();
    &line[column.parse::<usize>().unwrap() - 1..]
}

#[test]
fn a_panic_says_where_its_value_is() {
    let list = || vec![1];
    let error = failed(Panics { list: list() }.run(&()));
    let failure = &error.failures()[0];
    assert!(matches!(failure.error(), StepError::Panic(_)));
    let text = failure.to_string();
    let expected = "step `third`: panicked: index out of bounds: the len is 1 but the index is 2 (in the value at tests/language/asked.rs:";
    assert!(text.starts_with(expected), "{text}");
    assert!(at(&text).starts_with("list[2] + 1;"), "{text}");
    let error = failed(PanicsLast { list: list() }.run(&())).to_string();
    assert!(at(&error).starts_with("list[2] + 1 }"), "{error}");
    let run = PanicsElsewhere { list: list() };
    let error = failed(run.run(&()).on_failure(OnFailure::Continue));
    let failures = error.failures().iter();
    let places: Vec<_> = failures
        .map(|failure| (failure.step(), at(&failure.error().to_string())))
        .collect();
    let starts = [
        ("said", "list[n as usize + 3]"),
        ("again", "list[5..].iter()"),
        ("maybe", "list[5..].first()"),
        ("_most", "\"1\".parse::<u64>()? + list[9]"),
    ];
    assert_eq!(places.len(), starts.len());
    for ((step, place), (name, start)) in places.into_iter().zip(starts) {
        assert_eq!(step, name);
        assert!(place.starts_with(start), "{place}");
    }
}
