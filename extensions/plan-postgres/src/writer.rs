//! The task that writes. The writer takes the jobs in their order, and commits the jobs of a round in one transaction.

use super::asks::{Ask, Asks};
use super::batch::{Batch, Reply, Write};
use super::commit::{Commit, Ready};
use super::line::{Line, Parameter, Session};
use super::owned::{Held, Own, Owned};
use plan_runtime::journal::JournalError;
use plan_runtime::journal::spi::{Claimed, Rest, Retry};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;
use tokio_postgres::Error;

/// The most jobs that are committed together.
const BATCH: usize = 1024;

/// The approximate bytes that are committed together.
const BATCH_BYTES: usize = 4 << 20;

/// The pause of a wait for callers. Most answered callers queue their next job in this time.
const GATHER: Duration = Duration::from_micros(50);

/// The number of pauses after which the wait ends if jobs are missing.
const GATHER_PAUSES: u32 = 2;

/// The wait for callers takes at most the time of a commit divided by this number.
const GATHER_PART: u32 = 4;

/// The time limit of the last statements when a journal is dropped.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// The channel for the result of a claim.
type Claiming = oneshot::Sender<Result<Granted, JournalError>>;

pub(crate) enum Job {
    Claim(Arc<str>, Claiming),
    Write(Write),
    /// Writes the record of a call in the transaction of the call.
    Commit(Write, Ready),
    /// Releases a run, with the run's rest if it has one.
    Release(Held, Option<Rest>),
    Retry(Held, Retry, Reply),
    /// Answers a question after the writes before it. With an ID, also after the transactions of the run's calls.
    Ask(Option<Arc<str>>, Ask),
    /// The transaction of a call of the run with this ID has ended.
    Committed(Arc<str>),
    /// Ends the task after the jobs before.
    Close,
}

impl Job {
    /// Returns the ID of the job's run.
    fn id(&self) -> Option<&Arc<str>> {
        match self {
            Self::Claim(id, _) => Some(id),
            Self::Write(write) | Self::Commit(write, _) => Some(&write.held.id),
            Self::Release(held, _) | Self::Retry(held, ..) => Some(&held.id),
            Self::Ask(id, _) => id.as_ref(),
            Self::Committed(_) | Self::Close => None,
        }
    }
}

/// A claim that the caller has not received yet. If the caller has dropped its future, the claim is released.
pub(crate) struct Granted {
    claimed: Option<(Claimed, Held)>,
    jobs: mpsc::UnboundedSender<Job>,
}

impl Granted {
    /// Takes the claim, which is then not released at the drop.
    pub(crate) fn take(mut self) -> Option<(Claimed, Held)> {
        self.claimed.take()
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        if let Some((_, held)) = self.claimed.take() {
            // If the task has ended, it has already released all runs.
            let _ = self.jobs.send(Job::Release(held, None));
        }
    }
}

pub(crate) struct Writer {
    pub(crate) line: Line,
    pub(crate) asks: Rc<Asks>,
    pub(crate) owned: Rc<RefCell<Owned>>,
    pub(crate) jobs: mpsc::UnboundedSender<Job>,
    /// The jobs that wait for the transaction of a call, by the ID of their run.
    pub(crate) parked: HashMap<Arc<str>, Vec<Job>>,
}

/// The last commit.
#[derive(Default)]
struct Last {
    count: usize,
    time: Duration,
}

impl Last {
    /// Waits a short time for the callers of the last commit. Each caller may soon queue its next job, which would otherwise wait for a whole commit.
    /// `queued` is the number of jobs that arrived during the commit. Without this wait, the queued jobs and the answered callers would alternate
    /// between commits.
    fn gather(&self, queued: usize, queue: &mut mpsc::UnboundedReceiver<Job>, new: &mut Vec<Job>) {
        let (begin, most) = (Instant::now(), self.time / GATHER_PART);
        let expected = (queued + self.count).min(BATCH);
        let mut pauses = 0;
        while new.len() < expected && begin.elapsed() < most && pauses < GATHER_PAUSES {
            // The timer of the runtime has a resolution of a millisecond.
            thread::sleep(GATHER);
            pauses += 1;
            while new.len() < BATCH
                && let Ok(job) = queue.try_recv()
            {
                new.push(job);
                pauses = 0;
            }
        }
    }
}

/// The jobs of a round: first the writes, then the jobs that follow the commit.
#[derive(Default)]
struct Round {
    batch: Batch,
    calls: Vec<Commit>,
    retry: Option<(Held, Retry, Reply)>,
    asks: Vec<Ask>,
    claims: Vec<(Arc<str>, Claiming)>,
}

impl Writer {
    pub(crate) async fn run(mut self, mut queue: mpsc::UnboundedReceiver<Job>) {
        let mut jobs = VecDeque::new();
        let mut is_closing = false;
        let mut last = Last::default();
        while !is_closing || !self.parked.is_empty() {
            if jobs.is_empty() {
                let mut new = Vec::new();
                let queued = queue.len();
                if queue.recv_many(&mut new, BATCH).await == 0 {
                    break;
                }
                last.gather(queued, &mut queue, &mut new);
                jobs.extend(new);
            }
            let round = self.take(&mut jobs, &mut is_closing);
            if !round.batch.is_empty() {
                let (begin, count) = (Instant::now(), round.batch.len());
                let owner = &self.asks.owner;
                round.batch.commit(&self.line, owner, &self.owned).await;
                last = Last {
                    count,
                    time: begin.elapsed(),
                };
            }
            for commit in round.calls {
                let (asks, owned) = (Rc::clone(&self.asks), Rc::clone(&self.owned));
                let (id, jobs) = (
                    Arc::clone(&commit.numbered.write.held.id),
                    self.jobs.clone(),
                );
                spawn_local(async move {
                    commit.run(asks, owned).await;
                    let _ = jobs.send(Job::Committed(id));
                });
            }
            if let Some((held, change, reply)) = round.retry {
                // The caller may have dropped its future.
                let _ = reply.send(self.retry(&held, &change).await);
            }
            for ask in round.asks {
                spawn_local(ask(Rc::clone(&self.asks)));
            }
            for (id, reply) in round.claims {
                let (asks, owned) = (Rc::clone(&self.asks), Rc::clone(&self.owned));
                spawn_local(claim(asks, owned, id, reply, self.jobs.clone()));
            }
        }
        // If this fails, the owner's lease ends after its time.
        let _ = tokio::time::timeout(LEAVES_WITHIN, self.leave()).await;
    }

    /// Takes the jobs of a round. After the transaction of a call, the later jobs of the run wait, so that the run's records become durable in their
    /// order.
    fn take(&mut self, jobs: &mut VecDeque<Job>, is_closing: &mut bool) -> Round {
        let (mut round, mut bytes) = (Round::default(), 0);
        while bytes < BATCH_BYTES
            && let Some(job) = jobs.pop_front()
        {
            if let Some(parked) = job.id().and_then(|id| self.parked.get_mut(id)) {
                parked.push(job);
                continue;
            }
            match job {
                Job::Claim(id, reply) => round.claims.push((id, reply)),
                Job::Write(write) => {
                    bytes += write.what.bytes();
                    let mut owned = self.owned.borrow_mut();
                    round.batch.push(write, &mut owned, &self.line);
                }
                Job::Commit(write, transaction) => {
                    let mut owned = self.owned.borrow_mut();
                    if let Some(numbered) = round.batch.number(write, &mut owned, &self.line) {
                        self.parked
                            .insert(Arc::clone(&numbered.write.held.id), Vec::new());
                        round.calls.push(Commit {
                            numbered,
                            transaction,
                        });
                    }
                }
                Job::Committed(id) => {
                    let parked = self.parked.remove(&id).unwrap_or_default();
                    parked
                        .into_iter()
                        .rev()
                        .for_each(|job| jobs.push_front(job));
                }
                Job::Release(held, rest) => round.batch.release(held, rest),
                Job::Ask(_, ask) => round.asks.push(ask),
                Job::Retry(held, change, reply) => {
                    round.retry = Some((held, change, reply));
                    break;
                }
                Job::Close => {
                    *is_closing = true;
                    break;
                }
            }
        }
        round
    }

    /// Releases all runs of this owner.
    async fn leave(&self) {
        let owner = &*self.asks.owner;
        let (runs, epochs): (Vec<i64>, Vec<i64>) = {
            let owned = self.owned.borrow();
            let held = owned.runs.values().map(|own| &own.held);
            held.map(|held| (held.run, held.epoch)).unzip()
        };
        let leave = async |session: &Session| {
            let sql = &*self.line.sql;
            if !runs.is_empty() {
                session
                    .query(&sql.remove, &[&runs, &epochs, &owner])
                    .await?;
                let (rests, seen) = (vec![None::<f64>; runs.len()], vec![0_i64; runs.len()]);
                let waits = vec![false; runs.len()];
                let channel = &*sql.channel;
                let parameters: [Parameter<'_>; 7] =
                    [&runs, &epochs, &owner, &rests, &seen, &waits, &channel];
                session.query(&sql.release, &parameters).await?;
            }
            session.query(&sql.leave, &[&owner]).await?;
            Ok::<_, Error>(())
        };
        let _ = self.line.run("cannot release the runs", leave).await;
    }
}

/// Claims a run in a separate transaction, so that a claim that waits for another owner does not delay any write.
async fn claim(
    asks: Rc<Asks>,
    owned: Rc<RefCell<Owned>>,
    id: Arc<str>,
    reply: Claiming,
    jobs: mpsc::UnboundedSender<Job>,
) {
    if owned.borrow().has(&id) {
        let _ = reply.send(Err(JournalError::Owned {
            id: id.to_string(),
            owner: "this process".to_owned(),
        }));
        return;
    }
    owned.borrow_mut().busy.insert(Arc::clone(&id));
    let outcome = asks.claim(&id).await;
    let mut owned = owned.borrow_mut();
    owned.busy.remove(&id);
    let granted = match outcome {
        Ok((claimed, held, last)) => {
            owned.doubtful.remove(&id);
            let own = Own {
                held: held.clone(),
                last,
                broken: None,
            };
            owned.runs.insert(id, own);
            Ok(Granted {
                claimed: Some((claimed, held)),
                jobs,
            })
        }
        Err(error) => {
            // The database may have granted the claim, and only its answer was lost.
            if matches!(error, JournalError::Storage(_)) {
                owned.doubtful.insert(id);
            }
            Err(error)
        }
    };
    drop(owned);
    // If the caller has dropped its future, the drop of the reply releases the run.
    let _ = reply.send(granted);
}
