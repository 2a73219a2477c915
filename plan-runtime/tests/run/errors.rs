use super::support::{Driven, plan};
use plan_runtime::check::{Started, once};
use plan_runtime::run::{Run, StepError};
use plan_runtime::{Error, Report, Result, ResultExt, RunError};
use std::error::Error as StdError;
use std::io;

#[test]
fn any_error_converts_and_is_transient() {
    fn parse() -> Result<u8> {
        Ok("x".parse::<u8>()?)
    }
    let error = parse().unwrap_err();
    assert!(error.is_transient() && !error.is_permanent());
    assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
    assert!(error.downcast_ref::<io::Error>().is_none());
    assert_eq!(error.to_string(), "invalid digit found in string");

    let error = "x".parse::<u8>().permanent().unwrap_err();
    assert!(error.is_permanent());
    let again: Result<()> = Err(error);
    assert!(again.permanent().unwrap_err().is_permanent());
    assert!(Error::permanent(io::Error::other("full")).is_permanent());
    let boxed: Box<dyn StdError + Send + Sync> = "of no type".into();
    assert_eq!(Error::new(boxed).to_string(), "of no type");
}

#[test]
fn whatever_becomes_a_boxed_error_becomes_an_error() {
    fn text() -> Result<()> {
        Err("a text")?
    }
    fn string() -> Result<()> {
        Err(String::from("a string"))?
    }
    fn boxed() -> Result<()> {
        let boxed: Box<dyn StdError + Send + Sync> = Box::new(io::Error::other("a box"));
        Err(boxed)?
    }
    assert_eq!(text().unwrap_err().to_string(), "a text");
    assert_eq!(string().unwrap_err().to_string(), "a string");
    let error = boxed().unwrap_err();
    assert_eq!(error.to_string(), "a box");
    assert!(error.is_transient() && error.downcast_ref::<io::Error>().is_some());
    let permanent = Err::<(), _>("no such page").permanent().unwrap_err();
    assert!(permanent.is_permanent());
}

#[test]
fn causes_are_kept_and_written() {
    let error = Error::permanent(io::Error::other("disk is full"))
        .context("writing the page")
        .context("saving");
    assert!(error.is_permanent());
    assert_eq!(error.to_string(), "saving");
    assert_eq!(
        format!("{error:#}"),
        "saving: writing the page: disk is full"
    );
    assert_eq!(
        format!("{error:?}"),
        "saving; the error is permanent\n\nCaused by:\n    writing the page\n    disk is full"
    );
    assert!(error.downcast_ref::<io::Error>().is_some());
    assert_eq!(error.source().unwrap().to_string(), "writing the page");
    let boxed: Box<dyn StdError> = error.into();
    assert_eq!(boxed.to_string(), "saving");
    assert_eq!(format!("{:?}", Error::msg("no")), "no");
}

#[test]
fn errors_and_reports_go_anywhere() {
    fn anywhere<T: Send + Sync + Unpin + 'static>() {}
    fn copied<T: Clone + std::fmt::Debug>() {}
    anywhere::<Error>();
    anywhere::<RunError>();
    anywhere::<StepError>();
    anywhere::<Report>();
    copied::<StepError>();
    copied::<Report>();
}

type Fail = fn(usize) -> Error;

fn failing(text: &str, fail: Fail) -> RunError {
    let plan = plan(text);
    let run = Run::<Fail, u64>::new(&plan, Ok(vec![]), &fail, |step, _, fail| {
        let error = StepError::Tool(fail(step).into());
        Started::Running(once(async { Err(error) }))
    });
    Driven::new(run).ended().unwrap_err()
}

#[test]
fn the_error_of_a_plan_is_as_transient_as_all_that_failed() {
    let transient = failing("a, b", |_| Error::msg("busy"));
    assert_eq!(transient.failures().len(), 2);
    assert!(transient.is_transient());
    assert!(Error::from(transient).is_transient());

    let mixed = failing("a, b", |step| match step {
        0 => Error::msg("busy"),
        _ => Error::permanent("gone"),
    });
    assert!(mixed.is_permanent());
    fn nested(error: RunError) -> Result<()> {
        Err(error)?
    }
    assert!(nested(mixed).unwrap_err().is_permanent());
}

#[test]
fn the_source_of_a_runs_error_is_what_the_first_tool_returned() {
    let error = failing("a", |_| {
        Error::new(io::Error::other("disk is full")).context("saving")
    });
    assert_eq!(
        error.to_string(),
        "plan `test` failed: step `a` (work): saving: disk is full"
    );
    assert_eq!(error.source().unwrap().to_string(), "saving");
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(format!("{error:#?}").starts_with("Inner {"));
}

#[test]
fn panics_keep_their_message() {
    for (kind, message) in [
        "panicked: a str",
        "panicked: a String: 7",
        "panicked: (the panic's payload is not text)",
    ]
    .into_iter()
    .enumerate()
    {
        let plan = plan("a");
        let at_start = Run::<usize, u64>::new(&plan, Ok(vec![]), &kind, |_, _, kind| burst(*kind));
        let in_future = Run::<usize, u64>::new(&plan, Ok(vec![]), &kind, |_, _, kind| {
            Started::Running(once(async { burst(*kind) }))
        });
        let in_drop = Run::<usize, u64>::new(&plan, Ok(vec![]), &kind, |_, _, kind| {
            let bomb = Bomb;
            Started::Running(once(std::future::poll_fn(move |_| {
                let _ = &bomb;
                burst(*kind)
            })))
        });
        for run in [at_start, in_future, in_drop] {
            let error = Driven::new(run).ended().unwrap_err();
            assert_eq!(error.failures()[0].error().to_string(), message);
            assert!(error.is_transient());
            let source = error.source().unwrap();
            assert_eq!(source.to_string(), message);
        }
    }
}

fn burst(kind: usize) -> ! {
    match kind {
        0 => panic!("a str"),
        1 => panic!("a String: {}", 6 + 1),
        _ => std::panic::panic_any(7_u8),
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}
