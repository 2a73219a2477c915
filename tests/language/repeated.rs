//! Loops: rounds that run while a condition holds.

use plan_runtime::run::{CallContext, ManualTimer};
use plan_runtime::{Error, Failure, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Counts calls.
#[derive(Default)]
pub struct Desk {
    calls: AtomicUsize,
    log: Mutex<Vec<String>>,
}

impl Desk {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub enum State {
    Running,
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Job {
    pub state: State,
    pub url: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Issues {
    pub items: Vec<String>,
    pub next: Option<usize>,
}

/// Looks at a job, which is done at the third look.
#[tool]
pub async fn poll_job(desk: &Desk, id: String) -> Result<Job> {
    let calls = desk.calls.fetch_add(1, Ordering::Relaxed) + 1;
    let url = (calls > 2).then(|| format!("video/{id}"));
    let state = if calls > 2 {
        State::Done
    } else {
        State::Running
    };
    Ok(Job { state, url })
}

/// Lists a page of issues.
#[tool]
pub async fn list_issues(
    desk: &Desk,
    #[context] context: CallContext,
    repo: String,
    cursor: Option<usize>,
) -> Result<Issues> {
    let page = cursor.unwrap_or_default();
    desk.log.lock().unwrap().push(format!("{context}: {page}"));
    Ok(Issues {
        items: vec![format!("{repo} {page}a"), format!("{repo} {page}b")],
        next: (page < 2).then_some(page + 1),
    })
}

/// Notes something.
#[tool]
pub async fn note(desk: &Desk, text: String) -> Result<usize> {
    desk.log.lock().unwrap().push(text.clone());
    Ok(text.len())
}

/// Fails the first time with each text.
#[tool]
pub async fn flaky(desk: &Desk, text: String) -> Result<String> {
    let mut log = desk.log.lock().unwrap();
    let is_first = !log.contains(&text);
    log.push(text.clone());
    if is_first {
        return Err(Error::msg("busy"));
    }
    Ok(text)
}

plan! {
    Transcode(video: String) -> String {
        #[at_most(200, every = "3s")] #[retry(3)] #[deadline("10m")]
        step job = loop { PollJob { id: video } } while job.state == State::Running;
        job.url.clone().ok_or("no result")?
    }
}

#[test]
fn a_job_is_looked_at_until_it_is_done() {
    let (desk, timer) = (Desk::default(), ManualTimer::new());
    let run = Transcode { video: "v".into() }
        .run(&desk)
        .timer(timer.clone());
    assert_eq!(smol::block_on(timer.skip_waits(run)).unwrap(), "video/v");
    assert_eq!(desk.calls.into_inner(), 3);
    assert_eq!(timer.elapsed(), Duration::from_secs(6));
}

plan! {
    Forever() -> (Option<usize>, usize) {
        #[at_most(1000, every = "5s")] #[deadline("1m")] #[optional]
        step first = loop { Note { text: "a" } } while first > 0;
        #[after(first)] #[at_most(1000, every = "5s")] #[deadline("2m")]
        step second = loop { Note { text: "b" } } while second > 0;
        (first, second)
    }
}

/// Even for a loop that starts with the run, and whose calls end without waiting.
#[test]
fn a_deadline_is_that_of_all_rounds() {
    let (desk, timer) = (Desk::default(), ManualTimer::new());
    let run = Forever {}.run(&desk).timer(timer.clone());
    let error = smol::block_on(timer.skip_waits(run)).unwrap_err();
    assert_eq!(error.failures()[0].error().code(), "DEADLINE");
    assert_eq!(timer.elapsed(), Duration::from_secs(60 + 120));
    let notes = desk.taken();
    let count = |text: &str| notes.iter().filter(|note| *note == text).count();
    // A last round may begin when the time is over.
    assert!(
        (12..=13).contains(&count("a")) && (24..=25).contains(&count("b")),
        "{notes:?}"
    );
}

plan! {
    AllIssues(repo: String) -> Vec<String> {
        #[at_most(100)] #[collect]
        step pages = loop |last| {
            step page = ListIssues { repo, cursor: last?.next };
            page
        } while page.next.is_some();
        pages.iter().flat_map(|page| page.items.clone()).collect()
    }
}

#[test]
fn pages_are_listed_to_the_last() {
    let desk = Desk::default();
    let all = smol::block_on(AllIssues { repo: "r".into() }.run(&desk)).unwrap();
    assert_eq!(all, ["r 0a", "r 0b", "r 1a", "r 1b", "r 2a", "r 2b"]);
    assert_eq!(
        desk.taken(),
        ["pages[0].page: 0", "pages[1].page: 1", "pages[2].page: 2"]
    );
}

plan! {
    Count(most: u32, limit: usize) -> (Result<usize, Failure>, Option<usize>, usize) {
        #[at_most(most)] #[catch]
        step caught = loop |last| {
            step number: usize = last.map_or(0, |last| last + 1);
            number
        } while caught < limit;
        #[at_most(most)] #[optional]
        step maybe = loop |last| {
            step number: usize = last.map_or(0, |last| last + 1);
            number
        } while number < limit;
        #[at_most(most)] #[fallback(99)]
        step replaced = loop |last| {
            step number: usize = last.map_or(0, |last| last + 1);
            number
        } while number < limit && last.is_none_or(|last| last < 100);
        (caught, maybe, replaced)
    }
}

#[test]
fn a_loop_has_no_more_rounds_than_its_bound() {
    let desk = Desk::default();
    let run = |most, limit| smol::block_on(Count { most, limit }.run(&desk)).unwrap();
    assert_eq!(run(4, 3), (Ok(3), Some(3), 3));
    let (caught, maybe, replaced) = run(3, 3);
    let failure = caught.unwrap_err();
    assert_eq!(failure.code, "TOO_MANY_ROUNDS");
    assert_eq!(
        failure.message,
        "its condition is still true after 3 rounds, the maximum (`at_most`)"
    );
    assert!(!failure.transient);
    assert_eq!((maybe, replaced), (None, 99));
    let error = smol::block_on(Count { most: 0, limit: 3 }.run(&desk)).unwrap();
    assert_eq!(error.0.unwrap_err().code, "ARGUMENTS");
}

plan! {
    Rounds(names: Vec<String>) -> Vec<Vec<String>> {
        step all = for name in names {
            #[at_most(5)] #[collect] #[retry(2, backoff = "1ms")]
            step tries = loop |last| {
                step text: String = format!("{name}{}", last.map_or(0, |last| last.len()));
                step tried = Flaky { text };
                #[always]
                step told = Note { text: format!("{name}: {}", tried.is_ok()) };
                step longer: String = format!("{tried}!");
                longer
            } while longer.len() < 4 && last.is_none();
            tries
        };
        all
    }
}

#[test]
fn a_round_is_repeated_alone() {
    let desk = Desk::default();
    let names = vec!["a".to_owned()];
    let all = smol::block_on(Rounds { names }.run(&desk)).unwrap();
    assert_eq!(all, [["a0!", "a3!"]]);
    assert_eq!(
        desk.taken(),
        [
            "a0", "a: false", "a0", "a: true", "a3", "a: false", "a3", "a: true"
        ]
    );
}

plan! {
    Asking(question: String, rounds: u32) -> usize {
        #[at_most(rounds, every = "1s")]
        step asked = loop |last| {
            step noted = Note { text: format!("{question} {last:?}") };
            noted
        } while asked > 3;
        #[at_most(2)]
        step done = loop |before| {
            step more: bool = before.is_none();
            step all: Vec<bool> = vec![more, asked > 1];
            all
        } while done[0];
        #[at_most(9)]
        step end = loop { Note { text: question } } while more_than(end, 100);
        end + asked + done.len()
    }
}

fn more_than(value: usize, than: usize) -> bool {
    value > than
}

/// A loop is data: what is printed, and read back.
#[test]
fn loops_are_data() {
    let plan = &**Asking::PLAN;
    assert_eq!(
        plan.to_string(),
        "\
plan asking -> usize
  input question: String
  input rounds:   u32

  #[at_most(rounds, every = \"1s\")]
  step asked = loop |last| {
    step noted = note
      text: format!(\"{} {:?}\", question, last)
    noted
  } while noted > 3
    // starts at once

  #[at_most(2)]
  step done = loop |before| {
    step more = before.is_none()
    step all = vec![more, asked > 1]
      // needs more
    all
  } while all[0]
    // needs asked

  #[at_most(9)]
  step end = loop {
    note
      text: question
  } while more_than(end, 100)
    // starts at once

  output end + asked + done.len()
"
    );
    let json = serde_json::to_string(plan).unwrap();
    let read: plan_runtime::Plan = serde_json::from_str(&json).unwrap();
    assert_eq!(&read, plan);
    let executable = plan_runtime::plan::Executable::new(&read);
    assert_eq!(executable.mistake(), None);
}
