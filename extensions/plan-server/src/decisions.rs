//! The answers of people: who allowed or refused a call, or sent a value, when and why. The file also contains the times of questions.

use crate::error::Problem;
use crate::limits;
use crate::run_json::time;
use crate::tools::Effects;
use plan_graph::Line;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// An answer to a question, or a value for a waiting step.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// The id of the question. A value has no question.
    pub(crate) question: Option<String>,
    pub(crate) path: String,
    pub(crate) tool: Option<String>,
    /// `allow`, `allow_step`, `refuse` or `send`.
    pub(crate) decision: String,
    /// `true` if the person has changed the arguments of the call.
    pub(crate) changed: bool,
    /// The name that the person claims to have, with escapes for invisible characters.
    pub(crate) by: Option<String>,
    /// The reason, with escapes for invisible characters.
    pub(crate) reason: Option<String>,
    pub(crate) at: String,
}

impl Answered {
    pub(crate) fn new(decision: &str, by: Option<&str>, reason: Option<&str>) -> Self {
        Self {
            decision: decision.to_owned(),
            by: line(by, limits::NAME),
            reason: line(reason, limits::REASON),
            at: time(SystemTime::now()),
            ..Self::default()
        }
    }

    /// Describes the answer, such as `allowed by Ada at 2026-01-31T09:00:00.000Z, because …`.
    pub(crate) fn sentence(&self) -> String {
        let done = match &*self.decision {
            "refuse" => "refused",
            "send" => "a value was sent",
            "allow_step" => "allowed for all elements",
            _ if self.changed => "allowed with changed arguments",
            _ => "allowed",
        };
        let by = self.by.as_deref().unwrap_or("a person without a name");
        let because = self.reason.as_ref();
        let because = because.map(|reason| format!(", because {reason}"));
        format!(
            "{done} by {by} at {}{}",
            self.at,
            because.unwrap_or_default()
        )
    }
}

/// Returns the first characters of a string on one line, or `None` for an empty string.
fn line(text: Option<&str>, most: usize) -> Option<String> {
    let text: String = text?.trim().chars().take(most).collect();
    (!text.is_empty()).then(|| Line(text).to_string())
}

/// The answers to the questions of all runs, in the same two files as effects: a full file replaces the old file.
pub(crate) struct Decisions(Mutex<Effects>);

impl Decisions {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Effects::open(path, limits::DECISIONS).map(|it| Self(Mutex::new(it)))
    }

    fn lines(&self) -> MutexGuard<'_, Effects> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an answer about a run.
    pub(crate) fn record(&self, run: &str, answered: &Answered) -> Result<(), Problem> {
        let key = match &answered.question {
            Some(question) => format!("{run} {question}"),
            None => format!("{run} {} {}", answered.path, answered.at),
        };
        let make = |_| serde_json::to_value(answered);
        let made = self
            .lines()
            .have(key, run.to_owned(), &answered.decision, make);
        made.map(drop).map_err(|error| Problem::storage(&error))
    }

    /// Returns the time of the first question about this call of a run since the last answer about the call. The time outlives the server.
    pub(crate) fn asked(&self, run: &str, path: &str, key: &str) -> String {
        let answers = self.of_run(run);
        let count = answers.iter().filter(|it| it.path == path).count();
        let now = time(SystemTime::now());
        let make = |_| serde_json::to_value(&now);
        let key = format!("{key} {count}");
        match self.lines().have(key, String::new(), "asked", make) {
            Ok(Value::String(asked)) => asked,
            // The run asks, even if the file cannot be written.
            _ => now,
        }
    }

    /// Returns the latest answers about a run, the oldest first.
    pub(crate) fn of_run(&self, run: &str) -> Vec<Answered> {
        let lines = self.lines();
        let of_run = lines.made().rev().filter(|line| line.call == run);
        let read = of_run.filter_map(|line| Answered::deserialize(&line.output).ok());
        let mut latest: Vec<Answered> = read.take(limits::DECISIONS_OF_RUN).collect();
        latest.reverse();
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::{Answered, Decisions};

    #[test]
    fn answers_outlive_the_process() {
        let name = format!("plan-server-decisions-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("decisions.jsonl");
        let long = "x".repeat(5_000);
        let answer = |question: &str, by| Answered {
            question: Some(question.to_owned()),
            path: "sent".to_owned(),
            ..Answered::new("allow", Some(by), Some(&long))
        };
        let all = Decisions::open(&path).unwrap();
        all.record("as-1", &answer("1", "Ada\u{202e}\n")).unwrap();
        all.record("as-2", &answer("2", "Bob")).unwrap();
        all.record("as-1", &answer("3", "")).unwrap();
        let asked = |all: &Decisions| all.asked("as-2", "sent", "as-2/sent");
        let first = asked(&all);
        drop(all);
        std::thread::sleep(std::time::Duration::from_millis(5));
        // The time of a question outlives the process as well, and ends with the answer.
        let all = Decisions::open(&path).unwrap();
        assert_eq!(asked(&all), first);
        all.record("as-2", &answer("4", "Bob")).unwrap();
        assert_ne!(asked(&all), first);
        let read = all.of_run("as-1");
        let names: Vec<Option<&str>> = read.iter().map(|it| it.by.as_deref()).collect();
        assert_eq!(names, [Some(r"Ada\u{202e}"), None]);
        let length = read[0].reason.as_ref().map(String::len);
        assert_eq!(length, Some(crate::limits::REASON));
        let sentence = read[1].sentence();
        assert!(sentence.starts_with("allowed by a person without a name at 2"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
