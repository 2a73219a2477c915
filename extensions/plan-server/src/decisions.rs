//! The decisions of people: who allowed or refused a call, sent a value, or cancelled or retried a run, when and why. Other files contain the names of runs, the times of questions and retries, and the attempts before each retry of a run.

use crate::desk::Question;
use crate::error::Problem;
use crate::limits;
use crate::live::{StepEvent, millis};
use crate::run_json::time;
use crate::tools::{Effect, Effects};
use plan_graph::Line;
use plan_runtime::journal::RunSummary;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// An answer to a question, a value for a waiting step, or a decision about the whole run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answered {
    /// The id of the question. A value has no question.
    pub(crate) question: Option<String>,
    /// The path of the call or of the waiting step, and empty for a decision about the whole run.
    pub(crate) path: String,
    pub(crate) tool: Option<String>,
    /// `allow`, `allow_step`, `refuse`, `send`, `cancel`, `resume` or `retry`.
    pub(crate) decision: String,
    /// `true` if the person has changed the arguments of the call.
    pub(crate) changed: bool,
    /// The name that the person claims to have, with escapes for invisible characters.
    pub(crate) by: Option<String>,
    /// The reason, with escapes for invisible characters.
    pub(crate) reason: Option<String>,
    pub(crate) at: String,
    /// The arguments of a changed call before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<Value>,
    /// The arguments of a changed call after the change, or of a refused call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<Value>,
    /// The value for a waiting step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<Value>,
}

/// The name and the reason with a request that decides something.
#[derive(Default, Deserialize)]
pub(crate) struct Named {
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
}

impl Answered {
    pub(crate) fn new(decision: &str, named: &Named) -> Self {
        Self {
            decision: decision.to_owned(),
            by: line(named.by.as_deref(), limits::NAME),
            reason: line(named.reason.as_deref(), limits::REASON),
            at: time(SystemTime::now()),
            ..Self::default()
        }
    }

    /// Describes the decision in a word or two, such as `allowed`.
    pub(crate) fn done(&self) -> &'static str {
        match &*self.decision {
            "refuse" => "refused",
            "send" => "a value was sent",
            "allow_step" => "allowed for all elements",
            "cancel" => "cancelled",
            "resume" => "resumed",
            "retry" => "retried",
            _ if self.changed => "allowed with changed arguments",
            _ => "allowed",
        }
    }

    pub(crate) fn by(&self) -> &str {
        self.by.as_deref().unwrap_or("a person without a name")
    }

    /// Describes the answer, such as `allowed by Ada at 2026-01-31T09:00:00.000Z, because “…”`.
    pub(crate) fn sentence(&self) -> String {
        let because = self.reason.as_ref();
        let because = because.map(|reason| format!(", because “{reason}”"));
        format!(
            "{} by {} at {}{}",
            self.done(),
            self.by(),
            self.at,
            because.unwrap_or_default()
        )
    }

    /// Returns the answer as the answer to a question.
    pub(crate) fn about(self, question: &Question) -> Self {
        Self {
            question: Some(question.id.clone()),
            path: question.path.clone(),
            tool: Some(question.tool.clone()),
            // A refused call has no attempt, so its record alone has the arguments.
            arguments: (self.decision == "refuse").then(|| question.arguments.clone()),
            ..self
        }
    }

    /// Returns the name of each changed argument, with its value before and after the change.
    pub(crate) fn changes(&self) -> Vec<(&str, [Option<&Value>; 2])> {
        let values = [&self.original, &self.arguments].map(|of| of.as_ref()?.as_object());
        let [Some(before), Some(after)] = values else {
            return Vec::new();
        };
        let mut all: Vec<&String> = before.keys().chain(after.keys()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter()
            .map(|name| (name.as_str(), [before.get(name), after.get(name)]))
            .filter(|(_, [before, after])| before != after)
            .collect()
    }

    /// Returns the answer without the values in it.
    pub(crate) fn without_values(self) -> Self {
        Self {
            original: None,
            arguments: None,
            value: None,
            ..self
        }
    }
}

/// A retry of a run, with the attempts that the journal no longer contains.
#[derive(Serialize, Deserialize)]
pub(crate) struct Retried {
    pub(crate) at: String,
    pub(crate) attempts: Vec<Earlier>,
    /// The milliseconds from the start of the run, or from the retry before this one, to the end before this retry.
    pub(crate) took_ms: Option<f64>,
    /// The time that the attempts waited for people, in milliseconds.
    pub(crate) waited_ms: Option<f64>,
    /// The time from the end of the run to its retry, in milliseconds.
    #[serde(default)]
    pub(crate) idle_ms: Option<f64>,
}

/// A change of the arguments of an earlier call, which a question about the repeated call repeats.
#[derive(Clone, Serialize)]
pub(crate) struct Change {
    by: Option<String>,
    at: String,
    /// The changed arguments with their values after the change, or null for a removed argument.
    arguments: Map<String, Value>,
}

impl Change {
    /// Returns `true` if the list of all questions has no room for the change.
    pub(crate) fn is_long(&self) -> bool {
        serde_json::to_string(&self.arguments).map_or(0, |it| it.len()) > limits::CHANGE
    }

    fn of(answered: Answered) -> Option<Self> {
        let names = |of: Option<Value>| match of {
            Some(Value::Object(names)) => Some(names),
            _ => None,
        };
        let (original, changed) = (names(answered.original)?, names(answered.arguments)?);
        let all = original.keys().chain(changed.keys());
        let arguments = all
            .filter(|name| original.get(*name) != changed.get(*name))
            .map(|name| (name.clone(), changed.get(name).cloned().unwrap_or_default()));
        Some(Self {
            arguments: arguments.collect(),
            by: answered.by,
            at: answered.at,
        })
    }
}

/// An attempt before a retry, or a step that failed without an attempt.
#[derive(Serialize, Deserialize)]
pub(crate) struct Earlier {
    pub(crate) path: String,
    pub(crate) attempt: Option<u32>,
    /// Milliseconds since the run began.
    pub(crate) started_ms: Option<f64>,
    pub(crate) ended_ms: Option<f64>,
    pub(crate) error: Option<String>,
    /// `true` if the arguments of the attempt were wrong, so that the run made no call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_call: bool,
}

impl Earlier {
    pub(crate) fn took_ms(&self) -> Option<f64> {
        Some((self.ended_ms? - self.started_ms?).max(0.0))
    }

    /// Returns `true` if both are one attempt.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.attempt, it.ended_ms);
        self.path == other.path && of(self) == of(other) && self.ended_ms.is_some()
    }

    /// Returns the status of the attempt, as a CSS class and as a word.
    pub(crate) fn status(&self) -> &'static str {
        match (&self.error, self.ended_ms) {
            (Some(_), _) => "failed",
            (None, Some(_)) => "completed",
            (None, None) => "cancelled",
        }
    }
}

impl From<StepEvent> for Earlier {
    fn from(event: StepEvent) -> Self {
        Self {
            no_call: event.attempt.is_some() && event.called_ms.is_none(),
            path: event.path,
            attempt: event.attempt,
            started_ms: event.called_ms.or(event.started_ms),
            ended_ms: event.ended_ms,
            error: event.error,
        }
    }
}

fn locked(of: &Mutex<Effects>) -> MutexGuard<'_, Effects> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a line to a file, unless the file has a line with this key.
fn store(
    of: &Mutex<Effects>,
    key: String,
    run: &str,
    kind: &str,
    value: impl Serialize,
) -> io::Result<()> {
    let make = |_| serde_json::to_value(value);
    locked(of).have(key, run.to_owned(), kind, make).map(drop)
}

/// Returns the first characters of a string on one line, or `None` for an empty string.
fn line(text: Option<&str>, most: usize) -> Option<String> {
    let text: String = text?.trim().chars().take(most).collect();
    (!text.is_empty()).then(|| Line(text).to_string())
}

/// The answers to the questions of all runs, the times of the questions and retries, the attempts before retries, and the names of runs. A further file has the starts of the server. All are stored like effects: a full file replaces the old file.
pub(crate) struct Decisions {
    answers: Mutex<Effects>,
    asked: Mutex<Effects>,
    retries: Mutex<Effects>,
    retried: Mutex<Effects>,
    names: Mutex<Effects>,
    starts: Mutex<Effects>,
}

impl Decisions {
    /// Reads the files in a folder.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let open = |name, most| Effects::open(&folder.join(name), most).map(Mutex::new);
        Ok(Self {
            answers: open("decisions.jsonl", limits::DECISIONS)?,
            asked: open("asked.jsonl", limits::ASKED)?,
            retries: open("retries.jsonl", limits::ASKED)?,
            retried: open("retried.jsonl", limits::RETRIED)?,
            names: open("names.jsonl", limits::ASKED)?,
            starts: open("starts.jsonl", limits::ASKED)?,
        })
    }

    /// Records an answer about a run.
    pub(crate) fn record(&self, run: &str, answered: &Answered) -> Result<(), Problem> {
        let key = match &answered.question {
            Some(question) => format!("{run} {question}"),
            None => format!("{run} {} {}", answered.path, answered.at),
        };
        store(&self.answers, key, run, &answered.decision, answered)
            .map_err(|error| Problem::storage(&error))
    }

    /// Returns the time of the first question about this call of a run since the last answer about the call. The time outlives the server.
    pub(crate) fn asked(&self, run: &str, path: &str, key: &str) -> String {
        let key = {
            let answers = locked(&self.answers);
            let is_about = |line: &&Effect| line.call == run && line.output["path"] == *path;
            let last = answers.made().rev().find(is_about);
            format!("{key} {}", last.map_or("", |line| &line.key))
        };
        let mut all = locked(&self.asked);
        if let Some(asked) = all.find(&key).and_then(Value::as_str) {
            return asked.to_owned();
        }
        let now = time(SystemTime::now());
        let make = |_| serde_json::to_value(&now);
        // The run asks, even if the file cannot be written.
        if let Err(error) = all.have(key, run.to_owned(), "asked", make) {
            tracing::warn!(%error, run, "the time of a question was not stored");
        }
        now
    }

    /// Records the name that a person gives to a run.
    pub(crate) fn names(&self, run: &str, name: &str) -> Result<(), Problem> {
        let Some(name) = line(Some(name), limits::RUN_NAME) else {
            return Ok(());
        };
        store(&self.names, run.to_owned(), run, "name", name)
            .map_err(|error| Problem::storage(&error))
    }

    /// Returns the name of a run. A run without a name has the name of its plan alone.
    pub(crate) fn name(&self, run: &str) -> Option<String> {
        let all = locked(&self.names);
        all.find(run)?.as_str().map(str::to_owned)
    }

    /// Records the time of a retry, before the retry itself: the run may continue at once, and its time begins again.
    pub(crate) fn retries(&self, run: &str) -> Result<(), Problem> {
        let now = time(SystemTime::now());
        store(&self.retries, format!("{run} {now}"), run, "retry", &now)
            .map_err(|error| Problem::storage(&error))
    }

    /// Returns the time of the latest retry of a run.
    pub(crate) fn retried_at(&self, run: &str) -> Option<SystemTime> {
        let all = locked(&self.retries);
        let at = all.made().rev().find(|line| line.call == run)?;
        let at = at.output.as_str()?;
        humantime::parse_rfc3339(at).ok()
    }

    /// Records the attempts of a run that a retry has removed from the journal. Failed attempts come first, because the number of attempts is limited.
    pub(crate) fn retried(
        &self,
        run: &str,
        mut attempts: Vec<Earlier>,
        waited: Duration,
        of: &RunSummary,
    ) {
        let earlier = self.earlier(run);
        let earlier = earlier.iter().flat_map(|it| [it.took_ms, it.idle_ms]);
        let earlier: f64 = earlier.flatten().sum();
        let took = of
            .ended
            .and_then(|ended| ended.duration_since(of.began).ok());
        let took = took.map(|took| (millis(took) - earlier).max(0.0));
        attempts.sort_by_key(|attempt| attempt.error.is_none());
        attempts.truncate(limits::ATTEMPTS_BEFORE);
        let now = SystemTime::now();
        let idle = of.ended.and_then(|ended| now.duration_since(ended).ok());
        let at = time(now);
        let key = format!("{run} {at}");
        let retried = Retried {
            at,
            attempts,
            took_ms: took,
            waited_ms: Some(millis(waited)),
            idle_ms: idle.map(millis),
        };
        // The run continues, even if the file cannot be written.
        if let Err(error) = store(&self.retried, key, run, "retry", retried) {
            tracing::warn!(%error, run, "the attempts before a retry were not stored");
        }
    }

    /// Records a start of the server. After `kill -9`, only this record shows the interruption of the runs.
    pub(crate) fn starts(&self) {
        let now = time(SystemTime::now());
        if let Err(error) = store(&self.starts, now.clone(), "", "start", &now) {
            tracing::warn!(%error, "the start of the server was not stored");
        }
    }

    /// Returns the times of the latest starts of the server while a run was open, the oldest first.
    pub(crate) fn restarts(&self, run: &RunSummary) -> Vec<String> {
        let earlier = self.earlier(&run.id);
        let was_open = |at: SystemTime| {
            let is_between = |it: &Retried| {
                let retried = humantime::parse_rfc3339(&it.at).ok();
                let idle = Duration::try_from_secs_f64(it.idle_ms.unwrap_or_default() / 1e3).ok();
                let ended = retried
                    .zip(idle)
                    .and_then(|(at, idle)| at.checked_sub(idle));
                retried
                    .zip(ended)
                    .is_some_and(|(retried, ended)| (ended..retried).contains(&at))
            };
            run.began < at
                && run.ended.is_none_or(|ended| at < ended)
                && !earlier.iter().any(is_between)
        };
        let all = locked(&self.starts);
        let times = all.made().rev().map(|it| it.key.clone());
        let of_run = times.filter(|at| humantime::parse_rfc3339(at).is_ok_and(was_open));
        let mut latest: Vec<String> = of_run.take(limits::RESTARTS_OF_RUN).collect();
        latest.reverse();
        latest
    }

    /// Returns the latest retries of a run with the earlier attempts, the oldest first.
    pub(crate) fn earlier(&self, run: &str) -> Vec<Retried> {
        let all = locked(&self.retried);
        let of_run = all.made().rev().filter(|line| line.call == run);
        let read = of_run.filter_map(|line| Retried::deserialize(&line.output).ok());
        let mut latest: Vec<Retried> = read.take(limits::RETRIES_OF_RUN).collect();
        latest.reverse();
        latest
    }

    /// Returns the change of the arguments in the latest answer about the call at this path.
    pub(crate) fn change(&self, run: &str, path: &str) -> Option<Change> {
        let answers = locked(&self.answers);
        let is_about = |line: &&Effect| line.call == run && line.output["path"] == *path;
        let latest = answers.made().rev().find(is_about)?;
        let latest = Answered::deserialize(&latest.output).ok()?;
        latest.changed.then(|| Change::of(latest)).flatten()
    }

    /// Returns the latest answers about a run, the oldest first.
    pub(crate) fn of_run(&self, run: &str) -> Vec<Answered> {
        let answers = locked(&self.answers);
        let of_run = answers.made().rev().filter(|line| line.call == run);
        let read = of_run.filter_map(|line| Answered::deserialize(&line.output).ok());
        let mut latest: Vec<Answered> = read.take(limits::DECISIONS_OF_RUN).collect();
        latest.reverse();
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::{Answered, Change, Decisions, Earlier, Named, RunSummary};
    use crate::limits;
    use serde_json::json;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    fn folder(name: &str) -> PathBuf {
        let name = format!("plan-server-decisions-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Each answer about a call ends the time of the question, and a known time is written once.
    #[test]
    fn a_question_after_many_answers_has_its_own_time() {
        let folder = folder("many");
        let all = Decisions::open(&folder).unwrap();
        let answer = |number: usize| Answered {
            question: Some(number.to_string()),
            path: "sent".to_owned(),
            ..Answered::new("allow", &Named::default())
        };
        for number in 0..=limits::DECISIONS_OF_RUN {
            all.record("as-1", &answer(number)).unwrap();
        }
        let asked = || {
            std::thread::sleep(std::time::Duration::from_millis(3));
            all.asked("as-1", "sent", "as-1/sent")
        };
        let first = asked();
        assert_eq!([asked(), asked()], [first.clone(), first.clone()]);
        all.record("as-1", &answer(1_000)).unwrap();
        assert_ne!(asked(), first);
        let lines = |name| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(lines("asked.jsonl").lines().count(), 2);
        assert!(!lines("decisions.jsonl").contains("as-1/sent"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn answers_outlive_the_process() {
        let folder = folder("outlive");
        let long = "x".repeat(5_000);
        let answer = |question: &str, by: &str| Answered {
            question: Some(question.to_owned()),
            path: "sent".to_owned(),
            ..Answered::new(
                "allow",
                &Named {
                    by: Some(by.to_owned()),
                    reason: Some(long.clone()),
                },
            )
        };
        let all = Decisions::open(&folder).unwrap();
        all.record("as-1", &answer("1", "Ada\u{202e}\n")).unwrap();
        all.record("as-2", &answer("2", "Bob")).unwrap();
        all.record("as-1", &answer("3", "")).unwrap();
        let asked = |all: &Decisions| all.asked("as-2", "sent", "as-2/sent");
        let first = asked(&all);
        all.names("as-1", " Monday\u{202e} ").unwrap();
        all.names("as-2", "").unwrap();
        drop(all);
        std::thread::sleep(std::time::Duration::from_millis(5));
        // The time of a question outlives the process as well, and ends with the answer.
        let all = Decisions::open(&folder).unwrap();
        assert_eq!(asked(&all), first);
        let names = ["as-1", "as-2"].map(|run| all.name(run));
        assert_eq!(names, [Some(r"Monday\u{202e}".to_owned()), None]);
        all.record("as-2", &answer("4", "Bob")).unwrap();
        assert_ne!(asked(&all), first);
        let read = all.of_run("as-1");
        let names: Vec<Option<&str>> = read.iter().map(|it| it.by.as_deref()).collect();
        assert_eq!(names, [Some(r"Ada\u{202e}"), None]);
        let length = read[0].reason.as_ref().map(String::len);
        assert_eq!(length, Some(limits::REASON));
        let sentence = read[1].sentence();
        assert!(sentence.starts_with("allowed by a person without a name at 2"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// The time of a retry has its own file, so that many questions do not delete it.
    #[test]
    fn a_retry_outlives_many_questions() {
        let folder = folder("retries");
        let all = Decisions::open(&folder).unwrap();
        all.retries("as-1").unwrap();
        let long = "x".repeat(1 << 20);
        for number in 0..(2 * limits::ASKED) >> 20 {
            all.asked("as-2", "sent", &format!("{number} {long}"));
        }
        let all = Decisions::open(&folder).unwrap();
        assert!(all.retried_at("as-1").is_some());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// The limit on the stored attempts shortens no time.
    #[test]
    fn many_attempts_took_at_least_their_waits() {
        let folder = folder("attempts");
        let all = Decisions::open(&folder).unwrap();
        let attempt = |at: u64| Earlier {
            path: format!("all[{at}]"),
            attempt: Some(1),
            started_ms: Some(at as f64 * 10.0),
            ended_ms: Some(at as f64 * 10.0 + 10.0),
            error: None,
            no_call: false,
        };
        let attempts = (0..500).map(attempt).collect();
        let now = SystemTime::now();
        let mut run = RunSummary::new(1, "as-1", "plan", now - Duration::from_secs(15));
        run.ended = Some(run.began + Duration::from_secs(5));
        all.retried("as-1", attempts, Duration::from_secs(4), &run);
        let retried = all.earlier("as-1").remove(0);
        assert_eq!(retried.attempts.len(), limits::ATTEMPTS_BEFORE);
        assert_eq!(
            (retried.took_ms, retried.waited_ms),
            (Some(5_000.0), Some(4_000.0))
        );
        // The run was idle for ten seconds before its first retry, and failed once more two seconds later, before a call.
        run.ended = Some(now + Duration::from_secs(2));
        all.retried("as-1", Vec::new(), Duration::ZERO, &run);
        let took = all.earlier("as-1").remove(1).took_ms.unwrap();
        assert!((1_900.0..=2_000.0).contains(&took), "{took}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_latest_answer_has_the_change() {
        let folder = folder("changes");
        let all = Decisions::open(&folder).unwrap();
        let answer = |question: &str, changed: bool| Answered {
            question: Some(question.to_owned()),
            path: "sent".to_owned(),
            changed,
            original: changed.then(|| json!({"to": "a"})),
            arguments: changed.then(|| json!({"to": "b"})),
            ..Answered::new("allow", &Named::default())
        };
        all.record("as-1", &answer("1", true)).unwrap();
        assert!(all.change("as-1", "sent").is_some());
        all.record("as-1", &answer("2", false)).unwrap();
        assert!(all.change("as-1", "sent").is_none());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_long_change_has_no_room() {
        let of = |length| {
            let answered = Answered {
                original: Some(json!({})),
                arguments: Some(json!({"a": "x".repeat(length)})),
                ..Answered::new("allow", &Named::default())
            };
            Change::of(answered).unwrap().is_long()
        };
        let frame = json!({"a": ""}).to_string().len();
        assert_eq!(
            [of(limits::CHANGE - frame), of(limits::CHANGE - frame + 1)],
            [false, true]
        );
    }
}
