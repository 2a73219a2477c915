//! The questions before calls, which people answer over the API.

use crate::decisions::{Change, Decisions};
use crate::error::Problem;
use crate::limits;
use crate::live::Live;
use crate::metrics::Metrics;
use crate::plans::Plans;
use crate::run_id::Start;
use crate::view;
use plan_graph::Lines;
use plan_runtime::run::{Decision, Gate, PendingCall};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, oneshot};

/// A call that waits for an approval.
#[derive(Clone, Serialize)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) path: String,
    pub(crate) tool: String,
    pub(crate) description: String,
    /// The intent of the step, or of the nearest enclosing step with an intent.
    pub(crate) intent: String,
    pub(crate) arguments: Value,
    /// The steps and inputs that supply each argument, by the name of the argument.
    pub(crate) sources: BTreeMap<String, BTreeSet<String>>,
    /// The change of the arguments of this call before a retry.
    pub(crate) changed_before: Option<Change>,
    /// The tools that undo the call without another question.
    pub(crate) undone_by: Vec<String>,
    /// The arguments for people, with all digits of each number.
    pub(crate) text: String,
    /// `true` if `text` contains all arguments.
    #[serde(skip)]
    pub(crate) is_whole: bool,
    /// The time of the question, as in RFC 3339. A restart of the server does not change the time.
    pub(crate) asked: String,
}

/// The most characters of the arguments that people read.
const READ: usize = 8_000;

/// Returns arguments as JSON over several lines, with escapes for invisible characters.
pub(crate) fn whole_text(arguments: &Value) -> String {
    Lines(format_args!("{arguments:#}")).to_string()
}

/// Returns the arguments as a string for people, with the number of characters after the limit, and `true` without such characters.
fn text_of(arguments: &Value) -> (String, bool) {
    let text = whole_text(arguments);
    match text.char_indices().nth(READ) {
        None => (text, true),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            let text = format!(
                "{}\n… and {more} more characters, which are not shown",
                &text[..end]
            );
            (text, false)
        }
    }
}

struct Open {
    run: String,
    question: Question,
    answer: oneshot::Sender<Decision>,
}

/// The open questions of all runs. After a restart, the server asks unanswered questions again, with new ids.
pub(crate) struct Desk {
    next: AtomicU64,
    /// Permits for further open questions. A question without a permit waits.
    places: Semaphore,
    open: Mutex<BTreeMap<u64, Open>>,
    live: Arc<Live>,
    metrics: Arc<Metrics>,
    decisions: Arc<Decisions>,
    plans: Arc<Plans>,
}

/// Returns the number of the first question of this process. The number is random, so that an answer to a question of
/// an earlier process matches no question.
fn first() -> u64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => (u64::from(u32::from_le_bytes(bytes)) << 20) | 1,
        Err(_) => 1,
    }
}

/// Sorts questions by their time, and then by their run. The numbers of questions have another order after a restart.
fn oldest_first<'o>(all: impl Iterator<Item = &'o Open>) -> impl Iterator<Item = &'o Open> {
    let mut all: Vec<&Open> = all.collect();
    all.sort_by_key(|open| (&open.question.asked, &open.run));
    all.into_iter()
}

impl Desk {
    pub(crate) fn new(
        live: &Arc<Live>,
        metrics: &Arc<Metrics>,
        decisions: &Arc<Decisions>,
        plans: &Arc<Plans>,
    ) -> Self {
        Self {
            next: AtomicU64::new(first()),
            places: Semaphore::new(limits::QUESTIONS),
            open: Mutex::default(),
            live: Arc::clone(live),
            metrics: Arc::clone(metrics),
            decisions: Arc::clone(decisions),
            plans: Arc::clone(plans),
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open questions about a run, the oldest first.
    pub(crate) fn questions(&self, run: &str) -> Vec<Question> {
        let open = self.open();
        let of_run = oldest_first(open.values().filter(|open| open.run == run));
        of_run.map(|open| open.question.clone()).collect()
    }

    /// Returns the number of all open questions, and the oldest of these questions with their runs.
    pub(crate) fn first(&self, most: usize) -> (usize, Vec<(String, Question)>) {
        let open = self.open();
        let first = oldest_first(open.values()).take(most);
        let first = first.map(|open| (open.run.clone(), open.question.clone()));
        (open.len(), first.collect())
    }

    /// Returns an open question.
    pub(crate) fn question(&self, run: &str, question: &str) -> Option<Question> {
        let number = question.parse().ok()?;
        let all = self.open();
        let open = all.get(&number).filter(|open| open.run == run)?;
        Some(open.question.clone())
    }

    /// Returns `true` if a question about the run is open.
    pub(crate) fn asks(&self, run: &str) -> bool {
        self.open().values().any(|open| open.run == run)
    }

    /// Answers a question after `record` has recorded the answer. Returns `false` without an open question.
    pub(crate) fn answer(
        &self,
        run: &str,
        question: &str,
        decision: Decision,
        record: impl FnOnce(&Question) -> Result<(), Problem>,
    ) -> Result<bool, Problem> {
        let Ok(number) = question.parse() else {
            return Ok(false);
        };
        let mut all = self.open();
        let open = all.get(&number).filter(|open| open.run == run);
        let Some(open) = open.filter(|open| !open.answer.is_closed()) else {
            return Ok(false);
        };
        record(&open.question)?;
        // An open question has a receiver until its removal, so the recorded answer arrives.
        let open = all.remove(&number);
        Ok(open.is_some_and(|open| open.answer.send(decision).is_ok()))
    }

    /// Answers several questions after `record` has recorded all answers. The first refusal may end the run, and the other answers are recorded all the same.
    /// Returns the number of answered questions.
    pub(crate) fn answer_all(
        &self,
        run: &str,
        questions: &[String],
        decision: &Decision,
        mut record: impl FnMut(&Question) -> Result<(), Problem>,
    ) -> Result<usize, Problem> {
        let mut all = self.open();
        let numbers = questions.iter().filter_map(|it| it.parse::<u64>().ok());
        let is_open = |number: &u64| {
            let open = all.get(number).filter(|open| open.run == run);
            open.is_some_and(|open| !open.answer.is_closed())
        };
        let mut numbers: Vec<u64> = numbers.filter(is_open).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            record(&all[number].question)?;
        }
        for number in &numbers {
            if let Some(open) = all.remove(number) {
                let _ = open.answer.send(decision.clone());
            }
        }
        Ok(numbers.len())
    }

    /// Opens a question about a run. The question is open until the drop of the return value.
    fn open_question(&self, run: String, number: u64, question: Question) -> Asked<'_> {
        let (answer, decided) = oneshot::channel();
        let open = Open {
            run: run.clone(),
            question: question.clone(),
            answer,
        };
        self.open().insert(number, open);
        self.metrics.questions.inc();
        self.live.asked(&run, question);
        Asked {
            desk: self,
            run,
            number,
            decided,
        }
    }
}

/// A question whose answer is awaited.
struct Asked<'d> {
    desk: &'d Desk,
    run: String,
    number: u64,
    decided: oneshot::Receiver<Decision>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        // The receiver is dropped after this removal, which waits for an answer that is being recorded.
        self.desk.open().remove(&self.number);
        self.desk.metrics.questions.dec();
        self.desk.live.changed(&self.run);
    }
}

impl Gate for Desk {
    async fn ask(&self, call: PendingCall) -> Decision {
        let run = call.context().run_id().to_owned();
        // A person has seen the tools of the undo step in the question about the undone call.
        let changes = !call.is_read_only() || !call.undone_by().is_empty();
        if !changes || call.undoes().is_some() || !Start::of(&run).asks {
            return Decision::Allow;
        }
        // The semaphore is never closed, so `acquire` cannot fail.
        let _place = self.places.acquire().await;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = call.context().to_string();
        let key = call.context().idempotency_key();
        let (text, is_whole) = text_of(call.arguments());
        let plan = self.plans.of_run(&run).await;
        let plan = plan.as_deref();
        let question = Question {
            id: number.to_string(),
            asked: self.decisions.asked(&run, &path, &key),
            intent: plan.map_or_else(String::new, |plan| view::intent(plan, &path)),
            sources: plan.map_or_else(BTreeMap::new, |plan| view::sources(plan, &path)),
            changed_before: self.decisions.change(&run, &path),
            path,
            tool: call.tool().to_owned(),
            description: call.description().to_owned(),
            arguments: call.arguments().clone(),
            undone_by: call.undone_by().to_vec(),
            text,
            is_whole,
        };
        let mut asked = self.open_question(run, number, question);
        match (&mut asked.decided).await {
            Ok(decision) => decision,
            // The server stops, and asks again after its restart.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Question;
    use crate::state::tests::Fixture;
    use plan_runtime::run::Decision;
    use std::collections::BTreeMap;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    fn question(id: u64, asked: &str) -> Question {
        Question {
            id: id.to_string(),
            path: "sent".into(),
            tool: "email_send".into(),
            description: String::new(),
            intent: String::new(),
            arguments: serde_json::Value::Null,
            sources: BTreeMap::new(),
            changed_before: None,
            undone_by: Vec::new(),
            text: String::new(),
            is_whole: true,
            asked: asked.into(),
        }
    }

    /// After a restart, the server may repeat a younger question before an older question.
    #[tokio::test]
    async fn the_oldest_question_comes_first() {
        let fixture = Fixture::new("oldest").await;
        let desk = &fixture.state.desk;
        let open = |(run, id, asked): (&str, u64, &str)| {
            desk.open_question(run.into(), id, question(id, asked))
        };
        let all = [("as-1", 1, "12"), ("as-2", 2, "11"), ("as-1", 3, "11")];
        let _asked = all.map(open);
        let ids = |all: Vec<Question>| all.into_iter().map(|it| it.id).collect::<String>();
        let (count, first) = desk.first(2);
        assert_eq!(count, 3);
        assert_eq!(ids(first.into_iter().map(|(_, it)| it).collect()), "32");
        assert_eq!(ids(desk.questions("as-1")), "31");
    }

    /// A run that ends while an answer is recorded takes the answer first, because a recorded answer is not rejected.
    #[tokio::test]
    async fn a_recorded_answer_arrives() {
        let fixture = Fixture::new("desk").await;
        let desk = &fixture.state.desk;
        let question = question(7, "");
        let asked = desk.open_question("as-1".into(), 7, question);
        let (ends, ended) = mpsc::channel();
        let is_answered = thread::scope(|scope| {
            scope.spawn(move || {
                ended.recv().unwrap();
                drop(asked);
            });
            desk.answer("as-1", "7", Decision::Allow, |_| {
                ends.send(()).unwrap();
                thread::sleep(Duration::from_millis(200));
                Ok(())
            })
        });
        assert!(is_answered.unwrap());
        assert!(desk.questions("as-1").is_empty());
    }
}
