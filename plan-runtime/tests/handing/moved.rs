//! The route of values: moves, shares, clones, and JSON only when a reader needs it.

use super::types::Unique;
use bytes::Bytes;
use plan_runtime::run::Run;
use plan_runtime::{Error, Result, Shape, plan, tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The operations on values, in order.
#[derive(Default)]
struct Seen {
    lines: Mutex<Vec<String>>,
    calls: AtomicUsize,
}

impl Seen {
    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }
}

thread_local! {
    static ACTS: std::cell::RefCell<Vec<&'static str>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn act(what: &'static str) {
    ACTS.with_borrow_mut(|acts| acts.push(what));
}

/// A value that records the operations on it.
#[derive(Debug, PartialEq, Shape)]
struct Watched {
    text: String,
}

impl Clone for Watched {
    fn clone(&self) -> Self {
        act("clone");
        Self {
            text: self.text.clone(),
        }
    }
}

impl Serialize for Watched {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut watched = serializer.serialize_struct("Watched", 1)?;
        act("write");
        watched.serialize_field("text", &self.text)?;
        watched.end()
    }
}

impl<'de> Deserialize<'de> for Watched {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Plain {
            text: String,
        }
        act("read");
        let Plain { text } = Plain::deserialize(deserializer)?;
        Ok(Self { text })
    }
}

#[tool]
async fn make(text: String) -> Result<Watched> {
    Ok(Watched { text })
}

#[tool]
async fn pass(value: Watched) -> Result<Watched> {
    Ok(value)
}

#[tool]
async fn pass_option(value: Option<Watched>) -> Result<Option<Watched>> {
    Ok(value)
}

#[tool]
async fn join(a: Watched, b: Watched) -> Result<String> {
    Ok(a.text + &b.text)
}

/// Fails every second time.
#[tool]
async fn fail_once(seen: &Seen, value: Watched) -> Result<Watched> {
    match seen.calls.fetch_add(1, Ordering::SeqCst) % 2 {
        0 => Err(Error::msg("again")),
        _ => Ok(value),
    }
}

/// Runs a plan, and returns what was done with its values. The first `write` of each value is the check whether JSON can hold it.
#[track_caller]
fn acts<A, O>(run: Run<'_, A, O>) -> (O, String)
where
    A: Sync,
    O: DeserializeOwned + Send + 'static,
{
    // Inputs are written as a run is made.
    ACTS.take();
    let output = smol::block_on(run).unwrap();
    (output, ACTS.take().join(" "))
}

#[test]
fn a_value_with_one_reader_is_moved() {
    plan! {
        Chain(text: String) -> Watched {
            step a = Make { text };
            step b = Pass { value: a };
            step c = Pass { value: b };
            c
        }
    }
    let (output, acts) = acts(Chain { text: "x".into() }.run(&()));
    assert_eq!(output.text, "x");
    assert_eq!(acts, "write write write");
}

#[test]
fn a_value_with_more_readers_is_cloned_for_all_but_the_last() {
    plan! {
        Fan() -> Watched {
            step a = Make { text: "x" };
            step b = Pass { value: a };
            step c = Pass { value: a };
            step both = Join { a: b, b: c };
            step d = Make { text: both };
            d
        }
    }
    let (output, acts) = acts(Fan {}.run(&()).concurrency(1));
    assert_eq!(output.text, "xx");
    assert_eq!(acts, "write clone write write write");
}

#[test]
fn an_argument_that_is_there_twice_is_cloned() {
    plan! {
        Twice() -> String {
            step a = Make { text: "x" };
            step both = Join { a, b: a };
            both
        }
    }
    let (output, acts) = acts(Twice {}.run(&()));
    assert_eq!(output, "xx");
    assert_eq!(acts, "write clone clone");
}

#[test]
fn rust_code_borrows_it() {
    plan! {
        Length() -> usize {
            step a = Make { text: "four" };
            step longer: bool = a.text.len() > 3 && !a.text.trim().is_empty();
            step b = if longer { Pass { value: a } };
            b.as_ref().map_or(0, |b| b.text.len())
        }
    }
    let (output, acts) = acts(Length {}.run(&()));
    assert_eq!(output, 4);
    // The output of an `if` may be null, and so it is JSON.
    assert_eq!(acts, "write clone write read");
}

#[test]
fn a_path_into_it_needs_its_json_once() {
    plan! {
        Path() -> String {
            step a = Make { text: "x" };
            step b = Make { text: a.text };
            step c = Pass { value: a };
            step d: String = format!("{}{}", b.text, c.text);
            d
        }
    }
    let (output, acts) = acts(Path {}.run(&()).concurrency(1));
    assert_eq!(output, "xx");
    assert_eq!(acts, "write write write");
}

#[test]
fn options_take_it() {
    plan! {
        Maybe() -> Option<Watched> {
            step a = Make { text: "x" };
            step b = PassOption { value: a };
            step c = PassOption { value: b };
            c
        }
    }
    let (output, acts) = acts(Maybe {}.run(&()));
    assert_eq!(output.unwrap().text, "x");
    assert_eq!(acts, "write write write");
}

#[test]
fn an_attempt_that_may_be_repeated_gets_a_clone() {
    plan! {
        Again() -> Watched {
            step a = Make { text: "x" };
            #[retry(2, backoff = "0s")]
            step b = FailOnce { value: a };
            b
        }
    }
    let seen = Seen::default();
    let (output, acts) = acts(Again {}.run(&seen));
    assert_eq!(output.text, "x");
    // The last attempt gets the value.
    assert_eq!(acts, "write clone write");
}

#[test]
fn inputs_are_handed_over_too() {
    plan! {
        Outer(value: Watched) -> Watched {
            step a = Inner { value };
            a
        }
    }
    plan! {
        Inner(value: Watched) -> Watched {
            step a = Pass { value };
            a
        }
    }
    let value = || Watched { text: "x".into() };
    let (output, acts) = acts(Outer { value: value() }.run(&()));
    assert_eq!(output.text, "x");
    // The input of the inner plan, and the outputs of the tool and that plan.
    assert_eq!(acts, "write write write");
}

#[test]
fn blocks_share_it() {
    plan! {
        Blocks() -> Vec<usize> {
            step a = Make { text: "four" };
            step lengths = for n in [1, 2] {
                step b = Pass { value: a };
                step length: usize = b.text.len() + n;
                length
            };
            lengths
        }
    }
    let (output, acts) = acts(Blocks {}.run(&()).concurrency(1));
    assert_eq!(output, [5, 6]);
    assert_eq!(acts, "write clone write clone write");
}

#[test]
fn undo_steps_read_what_others_have_taken() {
    plan! {
        Undone() -> Watched {
            step a = Make { text: "x" };
            #[undo(a)]
            step undone = Note { value: a };
            step b = Pass { value: a };
            step c = Refuse { value: b };
            c
        }
    }
    let seen = Seen::default();
    let error = smol::block_on(Undone {}.run(&seen)).unwrap_err();
    assert_eq!(error.failures().len(), 1);
    assert_eq!(*seen.lines.lock().unwrap(), ["x"]);
}

/// Notes a text.
#[tool]
async fn note(seen: &Seen, value: Watched) -> Result<()> {
    seen.note(value.text);
    Ok(())
}

/// Fails.
#[tool]
async fn refuse(value: Watched) -> Result<Watched> {
    Err(Error::permanent(value.text))
}

#[test]
fn what_cannot_be_cloned_is_read_from_json_for_all_but_the_last() {
    plan! {
        Uniques() -> String {
            step a = MakeUnique {};
            step b = Text { value: a };
            step c = Text { value: a };
            format!("{b}{c}")
        }
    }
    assert_eq!(smol::block_on(Uniques {}.run(&())).unwrap(), "uu");
}

/// Returns what cannot be cloned.
#[tool]
async fn make_unique() -> Result<Unique> {
    Ok(Unique { text: "u".into() })
}

/// Returns its text.
#[tool]
async fn text(value: Unique) -> Result<String> {
    Ok(value.text)
}

/// The addresses of a value's bytes.
#[tool]
async fn allocate(seen: &Seen, size: usize) -> Result<Vec<u8>> {
    let bytes = vec![7; size];
    seen.note(format!("{:p}", bytes.as_ptr()));
    Ok(bytes)
}

/// Returns its argument.
#[tool]
async fn look(seen: &Seen, bytes: Vec<u8>) -> Result<Vec<u8>> {
    seen.note(format!("{:p}", bytes.as_ptr()));
    Ok(bytes)
}

/// Returns its argument.
#[tool]
async fn look_at(seen: &Seen, bytes: Bytes) -> Result<Bytes> {
    seen.note(format!("{:p}", bytes.as_ptr()));
    Ok(bytes)
}

#[test]
fn fifty_megabytes_stay_where_they_are() {
    const SIZE: usize = 50_000_000;
    plan! {
        Large() -> Vec<u8> {
            step a = Allocate { size: SIZE };
            step b = Look { bytes: a };
            #[timeout("1h")]
            step c = Look { bytes: b };
            c
        }
    }
    plan! {
        Shared(bytes: Bytes) -> usize {
            step a = LookAt { bytes };
            step b = LookAt { bytes: a };
            step c = LookAt { bytes: a };
            a.len() + b.len() + c.len()
        }
    }
    let seen = Seen::default();
    let mut output = Vec::new();
    let taken = allocation_counter::measure(|| {
        output = smol::block_on(Large {}.run(&seen)).unwrap();
    });
    assert_eq!(output.len(), SIZE);
    assert!(taken.bytes_total < 51_000_000, "{taken:?}");
    seen.note(format!("{:p}", output.as_ptr()));
    let bytes = Bytes::from(output);
    let taken = allocation_counter::measure(|| {
        let total = smol::block_on(Shared { bytes }.run(&seen)).unwrap();
        assert_eq!(total, 3 * SIZE);
    });
    assert!(taken.bytes_total < 1_000_000, "{taken:?}");
    let lines = seen.lines.lock().unwrap();
    assert_eq!(lines.len(), 7);
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
}
