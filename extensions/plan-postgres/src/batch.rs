//! Batches of writes, which are committed together.

use super::failure::Failure;
use super::line::{Line, Parameter, Session};
use super::numbers::{millis, signed};
use super::owned::{Held, Owned};
use plan_runtime::journal::JournalError;
use plan_runtime::journal::spi::{Rest, RunInfo};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use tokio::sync::oneshot;
use tokio_postgres::{Error, Row};

/// The most bytes of a record, of a description and of an end. The limit of a `bytea` is 1 GiB.
const MOST_BYTES: usize = 512 << 20;

/// The channel for the result of a write.
pub(crate) type Reply = oneshot::Sender<Result<(), JournalError>>;

pub(crate) enum What {
    Record(String, String),
    Describe(RunInfo),
    /// The number of the kind of end, and the output or the error.
    End(i16, String),
}

impl What {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Record(key, body) => key.len() + body.len(),
            Self::Describe(run) => run.plan.len() + run.document.len() + run.inputs.len(),
            Self::End(_, body) => body.len(),
        }
    }

    /// Returns the key and the body of a record.
    pub(crate) fn record(&self) -> Option<(&str, &str)> {
        match self {
            Self::Record(key, body) => Some((key, body)),
            Self::Describe(_) | Self::End(..) => None,
        }
    }
}

/// A write to a run by its owner.
pub(crate) struct Write {
    pub(crate) held: Held,
    pub(crate) what: What,
    pub(crate) reply: Reply,
}

impl Write {
    pub(crate) fn answer(self, outcome: Result<(), JournalError>) {
        // The caller may have dropped its future.
        let _ = self.reply.send(outcome);
    }
}

pub(crate) struct Numbered {
    pub(crate) write: Write,
    /// The number of the record, or 0 for a write without a record.
    pub(crate) number: i64,
}

/// The writes and releases of a transaction.
#[derive(Default)]
pub(crate) struct Batch {
    writes: Vec<Numbered>,
    releases: Vec<(Held, Option<Rest>)>,
    /// The keys of the batch's records, each with the number of its run.
    keys: HashSet<(i64, String)>,
}

/// The effects of a transaction.
#[derive(Default)]
struct Committed {
    /// The numbers of the runs that this owner still has.
    valid: HashSet<i64>,
    /// The new records: the number of the run and the number of the record.
    written: HashSet<(i64, i64)>,
}

impl Committed {
    /// Adds rows of two columns: the number of a run, and either the number of a new record or 0 for a run that this
    /// owner has.
    fn add(&mut self, rows: &[Row]) -> Result<(), Error> {
        for row in rows {
            let (run, number) = (row.try_get(0)?, row.try_get(1)?);
            if number == 0 {
                self.valid.insert(run);
            } else {
                self.written.insert((run, number));
            }
        }
        Ok(())
    }
}

impl Batch {
    /// Adds a write, or answers with an error if the write is not allowed.
    pub(crate) fn push(&mut self, write: Write, owned: &mut Owned, line: &Line) {
        let numbered = self.number(write, owned, line);
        self.writes.extend(numbered);
    }

    /// Assigns the next record number to a write. Answers with an error and returns `None` if the write is not allowed.
    pub(crate) fn number(
        &mut self,
        write: Write,
        owned: &mut Owned,
        line: &Line,
    ) -> Option<Numbered> {
        let place = &line.settings.place;
        let Some(own) = owned.get(&write.held) else {
            let id = write.held.id.to_string();
            write.answer(Err(JournalError::Lost { id }));
            return None;
        };
        if let Some(why) = &own.broken {
            let failure = Failure::new(place, "cannot write", why.as_str());
            write.answer(Err(failure.into()));
            return None;
        }
        if write.what.bytes() > MOST_BYTES {
            let why = format!("more than {MOST_BYTES} bytes");
            let failure = Failure::new(place, "cannot write", why);
            owned.fail(&write.held, &failure);
            write.answer(Err(failure.into()));
            return None;
        }
        let mut number = 0;
        if let What::Record(key, _) = &write.what {
            if !self.keys.insert((write.held.run, key.clone())) {
                let error = second(line, key);
                write.answer(Err(error));
                return None;
            }
            own.last += 1;
            number = own.last;
        }
        Some(Numbered { write, number })
    }

    pub(crate) fn release(&mut self, held: Held, rest: Option<Rest>) {
        self.releases.push((held, rest));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.releases.is_empty()
    }

    /// Returns the number of writes.
    pub(crate) fn len(&self) -> usize {
        self.writes.len()
    }

    /// Commits the batch, and answers each write. If the transaction fails, commits the writes of each run separately,
    /// so that a failure of one run does not affect the other runs.
    pub(crate) async fn commit(self, line: &Line, owner: &str, owned: &std::cell::RefCell<Owned>) {
        let failure = match self.attempt(line, owner).await {
            Ok(committed) => return self.answer(&committed, line, &mut owned.borrow_mut()),
            Err(failure) => failure,
        };
        let parts = self.split();
        if parts.len() == 1 || failure.is_lost {
            let mut owned = owned.borrow_mut();
            parts
                .into_iter()
                .for_each(|it| it.fail(&failure, &mut owned));
            return;
        }
        for part in parts {
            match part.attempt(line, owner).await {
                Ok(committed) => part.answer(&committed, line, &mut owned.borrow_mut()),
                Err(failure) => part.fail(&failure, &mut owned.borrow_mut()),
            }
        }
    }

    /// Splits the batch into a batch for each run, in the order of the runs' first writes.
    fn split(self) -> Vec<Self> {
        let mut places: HashMap<i64, usize> = HashMap::new();
        let mut parts: Vec<Self> = Vec::new();
        let mut place = |parts: &mut Vec<Self>, run| {
            *places.entry(run).or_insert_with(|| {
                parts.push(Self::default());
                parts.len() - 1
            })
        };
        for numbered in self.writes {
            let at = place(&mut parts, numbered.write.held.run);
            parts[at].writes.push(numbered);
        }
        for (held, rest) in self.releases {
            let at = place(&mut parts, held.run);
            parts[at].releases.push((held, rest));
        }
        parts
    }

    async fn attempt(&self, line: &Line, owner: &str) -> Result<Committed, Failure> {
        let columns = Columns::new(self);
        // The connection may be lost between a commit and its answer, so a second attempt writes the records with equal numbers, and reads the stored
        // numbers. If a run has no owner, and its epoch is still the epoch of this claim, the first attempt released the run.
        let is_again = Cell::new(false);
        let write = async |session: &Session| {
            let is_again = is_again.replace(true);
            let rows = columns.write(session, line, owner).await?;
            let mut committed = Committed::default();
            committed.add(&rows)?;
            if is_again {
                let (runs, numbers) = (&columns.record_runs, &columns.numbers);
                let released = &columns.released;
                let parameters: [Parameter<'_>; 4] =
                    [runs, numbers, &released.runs, &released.epochs];
                let present = session.query(&line.sql.present, &parameters).await?;
                committed.add(&present)?;
            }
            Ok::<_, Error>(committed)
        };
        line.run("cannot write", write).await
    }

    fn answer(self, committed: &Committed, line: &Line, owned: &mut Owned) {
        for Numbered { write, number } in self.writes {
            let run = write.held.run;
            let outcome = if !committed.valid.contains(&run) {
                let id = write.held.id.to_string();
                Err(JournalError::Lost { id })
            } else if number > 0 && !committed.written.contains(&(run, number)) {
                match &write.what {
                    What::Record(key, _) => Err(second(line, key)),
                    What::Describe(_) | What::End(..) => Ok(()),
                }
            } else {
                Ok(())
            };
            write.answer(outcome);
        }
        for (held, _) in &self.releases {
            owned.forget(held, true);
        }
    }

    fn fail(self, failure: &Failure, owned: &mut Owned) {
        for Numbered { write, .. } in self.writes {
            owned.fail(&write.held, failure);
            write.answer(Err(failure.clone().into()));
        }
        for (held, _) in &self.releases {
            owned.forget(held, false);
        }
    }
}

fn second(line: &Line, key: &str) -> JournalError {
    let why = format!("`{key}` is recorded already");
    Failure::new(&line.settings.place, "cannot write a record", why).into()
}

/// Returns the milliseconds of a rest. Only a message ends an infinite rest.
fn of_rest(rest: Rest) -> f64 {
    rest.time.map_or(f64::INFINITY, millis)
}

/// Numbers and epochs of runs.
#[derive(Default)]
struct Runs {
    runs: Vec<i64>,
    epochs: Vec<i64>,
}

impl Runs {
    fn of<'a>(held: impl Iterator<Item = &'a Held>) -> Self {
        let (runs, epochs) = held.map(|held| (held.run, held.epoch)).unzip();
        Self { runs, epochs }
    }
}

/// The parameters of the statements of a batch.
struct Columns<'a> {
    all: Runs,
    record_runs: Vec<i64>,
    numbers: Vec<i64>,
    keys: Vec<&'a [u8]>,
    bodies: Vec<&'a [u8]>,
    described: Runs,
    plans: Vec<&'a [u8]>,
    documents: Vec<&'a [u8]>,
    inputs: Vec<&'a [u8]>,
    ended: Runs,
    kinds: Vec<i16>,
    outputs: Vec<&'a [u8]>,
    released: Runs,
    /// The milliseconds of the rests.
    rests: Vec<Option<f64>>,
    waits: Vec<bool>,
    /// The number of the last message that each resting run has taken.
    seen: Vec<i64>,
}

impl<'a> Columns<'a> {
    fn new(batch: &'a Batch) -> Self {
        let mut all: HashMap<i64, &Held> = HashMap::new();
        // A later description or end of a run replaces an earlier one.
        let mut described: HashMap<i64, (&Held, &RunInfo)> = HashMap::new();
        let mut ended: HashMap<i64, (&Held, i16, &str)> = HashMap::new();
        let (mut record_runs, mut numbers) = (Vec::new(), Vec::new());
        let (mut keys, mut bodies) = (Vec::new(), Vec::new());
        for Numbered { write, number } in &batch.writes {
            let held = &write.held;
            all.insert(held.run, held);
            match &write.what {
                What::Record(key, body) => {
                    record_runs.push(held.run);
                    numbers.push(*number);
                    keys.push(key.as_bytes());
                    bodies.push(body.as_bytes());
                }
                What::Describe(run) => {
                    described.insert(held.run, (held, run));
                }
                What::End(kind, body) => {
                    ended.insert(held.run, (held, *kind, body));
                }
            }
        }
        let text = |of: fn(&RunInfo) -> &String| {
            let texts = described.values().map(|(_, run)| of(run).as_bytes());
            texts.collect()
        };
        let rests: Vec<Option<Rest>> = batch.releases.iter().map(|(_, rest)| *rest).collect();
        Self {
            all: Runs::of(all.into_values()),
            record_runs,
            numbers,
            keys,
            bodies,
            plans: text(|run| &run.plan),
            documents: text(|run| &run.document),
            inputs: text(|run| &run.inputs),
            described: Runs::of(described.values().map(|(held, _)| *held)),
            kinds: ended.values().map(|(_, kind, _)| *kind).collect(),
            outputs: ended.values().map(|(_, _, body)| body.as_bytes()).collect(),
            ended: Runs::of(ended.values().map(|(held, _, _)| *held)),
            released: Runs::of(batch.releases.iter().map(|(held, _)| held)),
            rests: rests.iter().map(|rest| rest.map(of_rest)).collect(),
            waits: rests
                .iter()
                .map(|rest| rest.is_some_and(|rest| rest.waits))
                .collect(),
            seen: rests
                .iter()
                .map(|rest| rest.map_or(0, |rest| signed(rest.seen)))
                .collect(),
        }
    }

    /// Writes the batch. Returns the runs of this owner, and the new records.
    async fn write(&self, session: &Session, line: &Line, owner: &str) -> Result<Vec<Row>, Error> {
        let sql = &*line.sql;
        let records = async {
            let (runs, epochs) = (&self.all.runs, &self.all.epochs);
            let (record_runs, numbers) = (&self.record_runs, &self.numbers);
            let (keys, bodies) = (&self.keys, &self.bodies);
            let parameters: [Parameter<'_>; 7] =
                [runs, epochs, &owner, record_runs, numbers, keys, bodies];
            session.query(&sql.write, &parameters).await
        };
        let others = [&self.described, &self.ended, &self.released];
        if others.iter().all(|it| it.runs.is_empty()) {
            return records.await;
        }
        let needed = [
            &*sql.write,
            &sql.describe,
            &sql.end,
            &sql.remove,
            &sql.release,
        ];
        session.prepare(&needed).await?;
        let change = async |on: &Runs, sql: &str, values: &[Parameter<'_>]| {
            if on.runs.is_empty() {
                return Ok(());
            }
            let mut parameters: Vec<Parameter<'_>> = vec![&on.runs, &on.epochs, &owner];
            parameters.extend(values);
            session.query(sql, &parameters).await.map(drop)
        };
        // The client sends all statements before it reads the first answer. After a failed statement, the server refuses the later
        // statements, and rolls back.
        let description: [Parameter<'_>; 3] = [&self.plans, &self.documents, &self.inputs];
        let channel = &*sql.channel;
        let rest: [Parameter<'_>; 4] = [&self.rests, &self.seen, &self.waits, &channel];
        let end: [Parameter<'_>; 2] = [&self.kinds, &self.outputs];
        let (begun, rows, described, ended, removed, released, committed) = tokio::join!(
            biased;
            session.client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
            records,
            change(&self.described, &sql.describe, &description),
            change(&self.ended, &sql.end, &end),
            change(&self.released, &sql.remove, &[]),
            change(&self.released, &sql.release, &rest),
            session.client.batch_execute("COMMIT"),
        );
        begun?;
        let rows = rows?;
        described?;
        ended?;
        removed?;
        released?;
        committed?;
        Ok(rows)
    }
}
