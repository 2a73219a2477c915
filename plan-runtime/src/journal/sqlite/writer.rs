//! The writer thread: it takes jobs in order, and commits the jobs that arrive together in one transaction.

use super::super::JournalError;
use super::super::arrivals::Arrivals;
use super::failure::{Cause, Failure};
use super::jobs::{Claims, Done, Held, Job, Jobs, Outcome, Queued, Refused};
use super::lock;
use super::owners::{Alive, Owners};
use super::reply::Answer;
use super::watching::MessageWaits;
use super::write::Write;
use crate::print::MessageName;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, mpsc};

pub(super) struct Writer {
    pub(super) path: Arc<Path>,
    pub(super) max_bytes: Option<u64>,
    pub(super) database: Connection,
    pub(super) alive: Alive,
    pub(super) owners: Owners,
    pub(super) watching: Arc<MessageWaits>,
    pub(super) arrivals: Arrivals,
    pub(super) claims: Claims,
    /// The runs that this owner has, and the epochs of its claims.
    pub(super) held: HashMap<i64, i64>,
    /// The runs with a failed write, and the error. Later writes of such a run fail as well, because they would leave a gap in its records.
    pub(super) broken: HashMap<i64, String>,
    /// The runs whose release has failed so far.
    pub(super) unreleased: Vec<Held>,
}

impl Writer {
    pub(super) fn run(mut self, queue: &mpsc::Receiver<Queued>) {
        let mut jobs = Jobs::new(queue);
        while let Some(first) = jobs.first(!self.unreleased.is_empty()) {
            let retried = self.unreleased.drain(..).map(|held| Queued {
                job: Job::Release(held),
                answer: None,
            });
            let mut batch: Vec<Queued> = retried.collect();
            batch.extend(first);
            let outcomes = self.commit(&mut batch, |batch| jobs.next(batch.len()));
            self.answer_all(batch, outcomes);
        }
        self.leave();
    }

    /// Answers the jobs of a failed transaction after a transaction for each of them, since one job may have caused the error. Answers
    /// the jobs of a successful transaction directly.
    fn answer_all(&mut self, batch: Vec<Queued>, outcomes: Result<Vec<Outcome>, (Cause, bool)>) {
        // A woken task may need the processor, so all answers are stored before any task is woken.
        let mut given = Vec::with_capacity(batch.len());
        match outcomes {
            Ok(outcomes) => {
                for (queued, outcome) in batch.into_iter().zip(outcomes) {
                    given.extend(self.answer(queued, outcome));
                }
            }
            Err((_, true)) if batch.len() > 1 => {
                for queued in batch {
                    let mut alone = vec![queued];
                    let outcomes = self.commit(&mut alone, |_| None);
                    self.answer_all(alone, outcomes);
                }
            }
            Err((cause, _)) => {
                for queued in batch {
                    let outcome = Err(self.fail(&queued.job, cause.clone()));
                    given.extend(self.answer(queued, outcome));
                }
            }
        }
    }

    /// Executes jobs in a transaction, including jobs that arrive during it. The error contains `true` if the transaction had begun; then no job has
    /// left a trace.
    fn commit(
        &mut self,
        batch: &mut Vec<Queued>,
        mut next: impl FnMut(&[Queued]) -> Option<Queued>,
    ) -> Result<Vec<Outcome>, (Cause, bool)> {
        let Self {
            path,
            database,
            alive,
            owners,
            held,
            broken,
            ..
        } = self;
        let change = database
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| (error.into(), false))?;
        let mut write = Write {
            path,
            change: &change,
            owner: &alive.name,
            owners,
            held,
            claimed: HashSet::new(),
            appended: HashMap::new(),
        };
        let mut outcomes = Vec::with_capacity(batch.len());
        loop {
            for Queued { job, .. } in &batch[outcomes.len()..] {
                let broken = job.held().and_then(|held| broken.get(&held.run));
                let outcome = match broken {
                    Some(why) => Err(JournalError::storage(why.as_str())),
                    None => match write.act(job) {
                        Ok(done) => Ok(done),
                        Err(Refused::Rule(error)) => Err(error),
                        Err(Refused::Storage(cause)) => return Err((cause, true)),
                    },
                };
                outcomes.push(outcome);
            }
            match next(batch) {
                Some(queued) => batch.push(queued),
                None => break,
            }
        }
        change.commit().map_err(|error| (error.into(), true))?;
        Ok(outcomes)
    }

    fn fail(&mut self, job: &Job, cause: Cause) -> JournalError {
        let failure = Failure::new(&self.path, cause.limited(self.max_bytes));
        if let Some(Held { id, run, epoch, .. }) = job.held()
            && self.held.get(run) == Some(epoch)
        {
            let id = MessageName(id);
            let why = format!("an earlier write of run `{id}` has failed: {failure}");
            self.broken.insert(*run, why);
        }
        failure.into()
    }

    /// Stores a committed or failed outcome, here and in the answer. The drop of the answer wakes the waiting task.
    fn answer(&mut self, queued: Queued, outcome: Outcome) -> Option<Answer<Outcome>> {
        match (&queued.job, &outcome) {
            (Job::Claim(..), Ok(Done::Claimed(_, held))) => {
                self.held.insert(held.run, held.epoch);
                self.broken.remove(&held.run);
            }
            // A claim that was not committed owns nothing, and another run may get its numbers.
            (Job::Claim(_, ticket), Err(_)) => *lock(ticket) = None,
            (Job::Rest(held, ..) | Job::Release(held), outcome) => {
                self.given_back(held, outcome.is_err());
                if let Ok(Done::GivenUp { is_due: true }) = outcome {
                    self.arrivals.come();
                }
            }
            (Job::Forsake(ticket), outcome) => {
                if let Some(held) = lock(ticket).take() {
                    self.given_back(&held, outcome.is_err());
                }
            }
            (_, Ok(Done::Sent(run))) => self.watching.wake([*run]),
            _ => {}
        }
        queued.answer.inspect(|answer| answer.give(outcome))
    }

    /// Records that a run was released, or must be released later.
    fn given_back(&mut self, held: &Held, has_failed: bool) {
        if has_failed {
            self.unreleased.push(held.clone());
        }
        if self.held.get(&held.run) == Some(&held.epoch) {
            self.held.remove(&held.run);
            self.broken.remove(&held.run);
        }
        let is_its = |it: &Held| (it.run, it.epoch) == (held.run, held.epoch);
        let mut claims = lock(&self.claims);
        if claims.get(&held.id).is_some_and(is_its) {
            claims.remove(&held.id);
        }
    }

    /// Releases all runs.
    fn leave(&mut self) {
        let owner = &self.alive.name;
        let leave = || -> rusqlite::Result<()> {
            let change = self
                .database
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let undescribed = "DELETE FROM runs WHERE owner = ?1 AND plan IS NULL
                AND NOT EXISTS(SELECT 1 FROM records WHERE run = number)";
            change.execute(undescribed, [owner])?;
            change.execute("UPDATE runs SET owner = NULL WHERE owner = ?1", [owner])?;
            change.commit()
        };
        // If this fails, other owners still find that this owner has ended.
        let _ = { leave }();
    }
}
