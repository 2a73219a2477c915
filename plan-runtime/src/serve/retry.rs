//! New attempts of failed steps.
//!
//! A retry removes records, which it determines from the records alone, without the options of the run. For this purpose, a run records notes: each undone step with
//! its lasting path, each failure with a replacement, each failed block or called plan, and the branch of a step whose branches share names
//! (`run/drive/recording/mod.rs`). A retry records the number of times that each step was undone, because idempotency keys depend on these counts.

use super::Server;
use super::inspect::{self, journaled, unfit};
use crate::Plan;
use crate::RunError;
use crate::error::{Elements, elements};
use crate::journal::spi::{End, Retry};
use crate::journal::{JournalError, Store};
use crate::plan::{Block, Body, Role, Step};
use crate::print::MessageName;
use crate::run::durable::{
    ADMITTED, ARGUMENTS, BEGUN, BRANCH, ENTERED, FAILED, GRACE, INTERRUPT, LATE, MADE_UP, PLANS,
    Released, Segment, UNDONE, read_records,
};
use crate::run::durable::{RETRIED, RUN, Undone};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

impl<J: Store + Clone + 'static, App: ?Sized + Send + Sync> Server<J, App> {
    /// Retries a failed or cancelled run: repeats the failed calls. The run continues in the next process that [serves](Self::serve) the journal, or that begins the run.
    ///
    /// A completed step is not repeated, unless the step was undone or needs a repeated step. A repeated step that was undone has another
    /// [idempotency key](crate::run::CallContext::idempotency_key). In a loop, the rounds after a repeated round are repeated.
    /// A recovered failure, such as a failure with a fallback, does not change. A plan or a block with several attempts continues in its last attempt.
    ///
    /// Undo steps and always steps run again, except in a completed block or called plan without a repeated step. Each always step that runs again has another key.
    /// A retry removes a cancellation, but not a deadline of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not exist, has not failed, or runs in another process, and the errors of [`report`](Self::report). Returns an
    /// error if the records lack details about undone steps: older versions wrote such records, and a run may have ended during an undo step with
    /// several calls.
    pub async fn retry_failed(&self, id: &str) -> Result<(), RunError> {
        let known = self.known(id).await;
        let (known, run) = known.map_err(|error| journaled(id, error))?;
        let journaled = |error| journaled(&known.plan, error);
        let unfit = |why: &str| unfit(&known.plan, format!("run `{}` {why}", MessageName(id)));
        let failed_end = |end: Option<&End>| match end {
            None => Err(unfit("has not ended")),
            Some(end) if end.is_done() => {
                Err(unfit("has not failed, so there is nothing to retry"))
            }
            Some(_) => Ok(()),
        };
        // This check comes before the claim: a claim would start the run early.
        failed_end(run.end.as_ref())?;
        let claimed = self.journal.claim(id).await.map_err(journaled)?;
        let released = Released(&self.journal, claimed.claim);
        failed_end(claimed.run.end.as_ref())?;
        let Some(info) = &claimed.run.info else {
            return Err(unfit("has not ended"));
        };
        self.report(id).await?;
        let submitted = self.toolbox.submitted(info);
        let submitted = submitted.map_err(|why| inspect::unfit(&known.plan, why.to_string()))?;
        let mut records = RunRecords::default();
        let read = read_records(&self.journal, id, |record| {
            records.add(record.key, record.body);
        });
        read.await.map_err(journaled)?;
        records.read_plans().map_err(journaled)?;
        records.plan("", submitted.plan());
        if records.is_unknown {
            return Err(unfit(
                "was undone, at least in part, and its records lack details for a retry; start a new run",
            ));
        }
        let age = SystemTime::now().duration_since(claimed.run.began);
        let undone = records.undone(age.unwrap_or_default().as_millis());
        let undone = undone.map_err(journaled)?;
        let gone = records.gone.into_iter().collect();
        let retry = Retry::new(gone, Some((UNDONE.to_owned(), undone)));
        let retried = self.journal.retry(&released.1, retry);
        retried.await.map_err(journaled)
    }
}

/// The records of a run, and the records to remove.
#[derive(Default)]
struct RunRecords {
    /// The recorded documents of the plans that calls have run.
    documents: BTreeMap<String, String>,
    /// The last document of each plan, by the prefix of the plan's keys.
    entered: BTreeMap<String, String>,
    /// The plans in use.
    plans: BTreeMap<String, Arc<Plan>>,
    /// All other records, by their keys: `true` if the attempt has failed.
    all: BTreeMap<String, bool>,
    /// The blocks that have run in steps with several blocks, by the keys of the attempts.
    branches: BTreeMap<String, usize>,
    /// The lasting paths of the steps that were undone, by the keys of their records.
    undone: BTreeMap<String, String>,
    /// The counts of undone steps before the run was retried.
    before: Option<String>,
    gone: BTreeSet<String>,
    /// `true` if a step may be undone in part: an undo step of several calls was dropped or has failed, or an older version recorded no path.
    is_unknown: bool,
}

/// The records of the attempts of an element, by the number of the attempt. Each has the rest of its key, and `true` for a failure.
type Attempts = BTreeMap<u32, Vec<(String, String, bool)>>;

/// A record of a step: its key, the element, the rest of the key, and `true` for a failure.
type StepRecord = (String, Vec<usize>, String, bool);

/// Returns the number of the attempt in the rest of a key, and the characters after the number.
fn attempt_of(rest: &str) -> Option<(u32, &str)> {
    let rest = rest.strip_prefix('@')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    Some((number.parse().ok()?, rest))
}

impl RunRecords {
    fn add(&mut self, key: String, body: String) {
        // The records of an early end are dropped.
        let is_end = |end: &str| {
            key.strip_suffix(end)
                .is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        if [INTERRUPT, GRACE].into_iter().any(is_end) {
            self.gone.insert(key);
            return;
        }
        if key == UNDONE {
            self.before = Some(body);
            return;
        }
        if let Some(number) = key.strip_prefix(PLANS) {
            self.documents.insert(number.to_owned(), body);
            return;
        }
        // The versions of one plan come in the order of their writing, and the last one counts.
        if let Some((prefix, version)) = key.rsplit_once(ENTERED)
            && version.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.entered.insert(prefix.to_owned(), body);
            return;
        }
        let body = serde_json::from_str::<Value>(&body).unwrap_or_default();
        if let (true, Some(path)) = (key.ends_with(UNDONE), body.as_str()) {
            self.undone.insert(key.clone(), path.to_owned());
        }
        let has_failed = body.get("at").is_some() && body.get("error").is_some();
        if let (Some(attempt), Some(number)) = (key.strip_suffix(BRANCH), body.as_u64()) {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.branches.insert(attempt.to_owned(), number);
        }
        // The record of a time does not mean that the step has succeeded.
        let mut times = [ADMITTED, BEGUN, LATE].into_iter();
        let has_failed = has_failed || times.any(|time| key.ends_with(time));
        // The record of a refusal by a gate counts as a failure.
        let is_failure = has_failed || key.contains('?') && body.get("refuse").is_some();
        self.all.insert(key, is_failure);
    }

    /// Reads the plans that calls have run.
    fn read_plans(&mut self) -> Result<(), JournalError> {
        for (prefix, number) in &self.entered {
            let document = self.documents.get(number);
            let document = document
                .ok_or_else(|| JournalError::storage("the recorded plan of a call is missing"))?;
            let plan = serde_json::from_str(document).map_err(JournalError::storage)?;
            self.plans.insert(prefix.clone(), Arc::new(plan));
        }
        Ok(())
    }

    /// Returns the counts to record: for each undone step, the number of its undo steps whose records are removed, and the number of retries of the
    /// run.
    fn undone(&self, age: u128) -> Result<String, JournalError> {
        let mut undone = match &self.before {
            None => Undone::new(),
            Some(before) => serde_json::from_str(before).map_err(JournalError::storage)?,
        };
        let gone = self.gone.iter().filter_map(|key| self.undone.get(key));
        for path in gone.map(String::as_str).chain([RUN]) {
            *undone.entry(path.to_owned()).or_default() += 1;
        }
        // A run may be older than 49 days, whose milliseconds need more than 32 bits.
        undone.remove(RETRIED);
        let age = u32::try_from(age).ok();
        undone.extend(age.map(|age| (RETRIED.to_owned(), age)));
        serde_json::to_string(&undone).map_err(JournalError::storage)
    }

    /// Returns the plans that a tool has run inside this attempt of its call, with the prefixes of their keys. Excludes the
    /// plans inside these plans.
    fn beside(&self, attempt: &str) -> Vec<(String, Arc<Plan>)> {
        let start = format!("{attempt}#");
        let all = self.plans.range(start.clone()..);
        let mut found: Vec<(String, Arc<Plan>)> = Vec::new();
        for (prefix, plan) in all.take_while(|(prefix, _)| prefix.starts_with(&start)) {
            let is_inside = |(outer, _): &(String, _)| prefix.starts_with(outer.as_str());
            if !found.last().is_some_and(is_inside) {
                found.push((prefix.clone(), Arc::clone(plan)));
            }
        }
        found
    }

    /// Returns the records of a step of the plan with this prefix, each with the part of its key after the name of the
    /// step.
    fn of_step(&self, prefix: &str, step: &Step) -> Vec<(String, String, bool)> {
        let start = format!("{prefix}{}", Segment(&step.id));
        let all = self.all.range(start.clone()..);
        let all = all.take_while(|(key, _)| key.starts_with(&start));
        let of_step = all.filter_map(|(key, failed)| {
            let rest = &key[start.len()..];
            let is_its = rest.starts_with(['@', '[', '?', '!']);
            is_its.then(|| (key.clone(), rest.to_owned(), *failed))
        });
        of_step.collect()
    }

    /// Returns `true` if a call of a step has succeeded.
    fn has_succeeded(&self, prefix: &str, step: &Step) -> bool {
        let mut records = self.of_step(prefix, step).into_iter();
        let is_output = |rest: &str| {
            let number = rest.rsplit_once('@').map(|(_, number)| number);
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        records.any(|(_, rest, failed)| is_output(&rest) && !failed)
    }

    fn drop_step(&mut self, prefix: &str, step: &Step) {
        let gone = self.of_step(prefix, step);
        self.gone.extend(gone.into_iter().map(|(key, ..)| key));
    }

    /// Selects the records to remove of a plan or a block with this prefix. Returns `true` if a completed step is repeated.
    fn plan(&mut self, prefix: &str, plan: &Plan) -> bool {
        let mut redone = vec![false; plan.steps.len()];
        for step in &plan.steps {
            let Role::Undo(undone) = step.role else {
                continue;
            };
            let undo = format!("{prefix}{}{UNDONE}", Segment(&step.id));
            redone[undone] = self.all.contains_key(&undo);
            // If only a part of the effect was undone, a repeated call is wrong, and a kept call is wrong as well.
            self.is_unknown |= !redone[undone] && self.has_succeeded(prefix, step);
        }
        // The value of a block or a plan changes if a step in it is repeated.
        let mut changes = redone.clone();
        for (place, step) in plan.steps.iter().enumerate() {
            changes[place] |= step.role == Role::Work && self.step(prefix, step);
        }
        // A step that needs a repeated step is repeated.
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for (place, step) in plan.steps.iter().enumerate() {
                if !redone[place] && step.needs().iter().any(|need| changes[*need]) {
                    (redone[place], changes[place]) = (true, true);
                    goes_on = true;
                }
            }
        }
        let works = plan.steps.iter().zip(&changes);
        let mut works = works.filter(|(step, _)| step.role == Role::Work);
        let changes = works.any(|(_, changes)| *changes);
        let failed = format!("{prefix}{FAILED}");
        let mut undo = plan
            .steps
            .iter()
            .filter(|step| matches!(step.role, Role::Undo(_)));
        // A block or a plan has ended if it succeeded and no undo step in it started.
        let is_open = changes
            || prefix.is_empty()
            || self.all.contains_key(&failed)
            || undo.any(|step| !self.of_step(prefix, step).is_empty());
        for (step, redone) in plan.steps.iter().zip(redone) {
            if redone || is_open && step.role != Role::Work {
                self.drop_step(prefix, step);
            }
        }
        // Removes the decisions at the end of the plan.
        let end = format!("{prefix}?");
        let ends = self.all.range(end.clone()..);
        let ends = ends.take_while(|(key, _)| key.starts_with(&end));
        let ends = ends.filter(|(_, failed)| is_open || **failed);
        let ends: Vec<String> = ends.map(|(key, _)| key.clone()).collect();
        self.gone.extend(ends);
        if is_open {
            self.gone.insert(failed);
        }
        changes
    }

    /// Selects the records of a step of the work. Returns `true` if the step's value changes.
    fn step(&mut self, prefix: &str, step: &Step) -> bool {
        let records = self.of_step(prefix, step);
        let records = records.into_iter().filter_map(|(key, rest, failed)| {
            let (element, rest) = elements(&rest)?;
            Some((key, element, rest.to_owned(), failed))
        });
        let records: Vec<StepRecord> = records.collect();
        let made_up = records.iter().filter_map(|(_, place, rest, _)| {
            let (element, attempt) = elements(rest.strip_prefix(MADE_UP)?)?;
            let attempt: u32 = attempt.strip_prefix('@')?.parse().ok()?;
            // A later attempt cancels the replacement.
            let later = |(_, other, rest, _): &StepRecord| {
                *other == element && attempt_of(rest).is_some_and(|(other, _)| other > attempt)
            };
            (!records.iter().any(later)).then(|| place.clone())
        });
        let made_up: Vec<Vec<usize>> = made_up.collect();
        let mut all: BTreeMap<Vec<usize>, Attempts> = BTreeMap::new();
        for (key, element, rest, failed) in records {
            // If another value has replaced the failure, the failure is a result.
            if made_up.iter().any(|it| element.starts_with(it)) {
                continue;
            }
            match attempt_of(&rest) {
                Some((number, rest)) => {
                    let attempts = all.entry(element).or_default();
                    let attempt = attempts.entry(number).or_default();
                    attempt.push((key, rest.to_owned(), failed));
                }
                // The record belongs to a list, a condition or a gate.
                None if failed => {
                    self.gone.insert(key);
                }
                None => {}
            }
        }
        let (inner, is_loop) = (step.body.blocks(), is_loop(&step.body));
        let mut changes = false;
        for (element, attempts) in all {
            if is_loop && changes {
                // A round depends on the rounds before it.
                let gone = attempts.into_values().flatten();
                self.gone.extend(gone.map(|(key, ..)| key));
                continue;
            }
            let key = format!("{prefix}{}{}", Segment(&step.id), Elements(&element));
            changes |= self.element(&key, attempts, &inner);
        }
        changes
    }

    /// Returns `true` if a plan has the steps of all records with this prefix.
    fn fits(&self, prefix: &str, plan: &Plan) -> bool {
        let all = self.all.range(prefix.to_owned()..);
        let mut all = all.take_while(|(key, _)| key.starts_with(prefix));
        all.all(|(key, _)| {
            let rest = &key[prefix.len()..];
            let is_step = |step: &Step| {
                let name = Segment(&step.id).to_string();
                rest.strip_prefix(&*name)
                    .is_some_and(|rest| rest.starts_with(['@', '[', '?', '!']))
            };
            rest.starts_with(['?', '!']) || plan.steps.iter().any(is_step)
        })
    }

    /// Selects the records to remove of an element, whose failure was not recovered. Returns `true` as [`plan`](Self::plan) does.
    fn element(&mut self, key: &str, attempts: Attempts, inner: &[&Block]) -> bool {
        let is_inside = |rest: &str| rest.starts_with(['.', '#']);
        let mut all = attempts.values().flatten();
        if !all.any(|(_, rest, _)| is_inside(rest)) {
            let mut ends = attempts.values().flatten();
            // The arguments of a plan and the branch of a block are no end of the call.
            if ends.all(|(_, rest, failed)| *failed || rest == ARGUMENTS || rest == BRANCH) {
                let gone = attempts.into_values().flatten();
                self.gone.extend(gone.map(|(key, ..)| key));
            }
            return false;
        }
        // The element continues with its last attempt, unless that attempt has succeeded.
        let Some((number, last)) = attempts.into_iter().next_back() else {
            return false;
        };
        if last
            .iter()
            .any(|(_, rest, failed)| rest.is_empty() && !failed)
        {
            return false;
        }
        let gone = last.into_iter();
        let gone = gone.filter(|(_, rest, _)| rest.is_empty() || rest == LATE);
        self.gone.extend(gone.map(|(key, ..)| key));
        let attempt = format!("{key}@{number}");
        let called = format!("{attempt}.");
        let mut changes = false;
        // A plan that was read from a record does not contain the plans that it calls.
        match self.plans.get(&called).cloned() {
            Some(plan) => changes |= self.plan(&called, &plan),
            None => {
                let noted = self.branches.get(&attempt).copied();
                let ran = |(number, block): &(usize, &&Block)| match noted {
                    Some(noted) => *number == noted,
                    // The branches have other names, or an older version recorded no branch.
                    None => inner.len() == 1 || self.fits(&called, &block.plan),
                };
                let blocks = inner.iter().enumerate().filter(ran);
                let ran: Vec<&Block> = blocks.map(|(_, block)| *block).collect();
                for block in ran {
                    changes |= self.plan(&called, &block.plan);
                }
            }
        }
        for (prefix, plan) in self.beside(&attempt) {
            changes |= self.plan(&prefix, &plan);
        }
        changes
    }
}

/// Returns `true` if the blocks of a step are rounds of a loop.
fn is_loop(body: &Body) -> bool {
    let mut bodies = vec![body];
    let mut is_loop = false;
    while let Some(body) = bodies.pop() {
        match body {
            Body::If(branches) => bodies.extend(branches.iter().map(|branch| &branch.body)),
            body => is_loop |= matches!(body, Body::Loop(_)),
        }
    }
    is_loop
}
