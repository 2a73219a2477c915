//! New attempts for what has failed.

use crate::Plan;
use crate::dynamic::Toolbox;
use crate::journal::{Claim, End, Journal, JournalError, Sqlite};
use crate::plan::{Body, BodyPart, Catch, Optional, Role, Step};
use crate::print::MessageName;
use crate::run::durable::{BEGUN, ENTERED, LATE, PLANS, Segment, UNDONE};
use crate::run::lasting::{RUN, Undone};
use crate::run::{Cause, RunError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;

impl Sqlite {
    /// Has a run that has failed go on: the calls that failed are made again. Whoever [serves](Self::serve) the database runs it, or the next one that begins it.
    ///
    /// What has succeeded is not done again, unless it was undone, or needs something that was: those calls are made again, and what was undone has
    /// another [idempotency key](crate::run::CallContext::idempotency_key). Undo steps and always steps have not run any more, and each always step has another key. Failures that something made up for, such as a fallback, do not
    /// change. A plan or a block that was tried several times goes on in its last attempt. A cancellation is forgotten; a deadline of the run is not.
    ///
    /// # Errors
    ///
    /// Where there is no such run, where it has not failed, where somebody has it, and where [`report`](Self::report) fails.
    pub fn retry_failed<App: ?Sized + Sync>(
        &self,
        toolbox: &Toolbox<App>,
        app: &App,
        id: &str,
    ) -> Result<(), RunError> {
        let viewer = self.viewer(id, HashSet::new());
        let viewer = viewer
            .and_then(|viewer| viewer.ok_or_else(|| JournalError::Unknown { id: id.to_owned() }));
        let unknown =
            |error| RunError::new(&Plan::new(id), Cause::Journal(Arc::new(error)), Vec::new());
        let viewer = viewer.map_err(unknown)?;
        let failed = |cause| RunError::new(&Plan::new(&viewer.info.plan), cause, Vec::new());
        let journaled = |error| failed(Cause::Journal(Arc::new(error)));
        let unfit = |why: &str| {
            failed(Cause::Unfit(vec![format!(
                "run `{}` {why}",
                MessageName(id)
            )]))
        };
        let failed_end = |end: Option<&End>| match end {
            None => Err(unfit("has not ended")),
            Some(end) if !end.failed => {
                Err(unfit("has not failed, so there is nothing to do again"))
            }
            Some(_) => Ok(()),
        };
        // A claim would have it begun before its time.
        failed_end(viewer.end.as_ref())?;
        let claimed = self.claim(id).map_err(journaled)?;
        let _released = Released(self, &claimed.claim);
        failed_end(claimed.end.as_ref())?;
        let Some(info) = &claimed.run else {
            return Err(unfit("has not ended"));
        };
        let before = self
            .view((toolbox, app), id, HashSet::new(), |run| run)?
            .undone;
        let submitted = toolbox
            .submitted(info)
            .map_err(|why| failed(Cause::Unfit(vec![why.to_string()])))?;
        let plan = submitted.plan();
        let mut records = Records::default();
        for record in self.records(id).map_err(journaled)? {
            let (key, found) = record.map_err(journaled)?;
            records.add(key, &found.body);
        }
        records.read_plans().map_err(journaled)?;
        records.plan("", plan);
        let gone = records.gone;
        let after = self.view((toolbox, app), id, gone.iter().cloned().collect(), |run| {
            run
        })?;
        let undone = self
            .undone(&claimed.claim, before, &after.undone)
            .map_err(journaled)?;
        let undone = Some((UNDONE.to_owned(), undone));
        self.retry(&claimed.claim, gone.into_iter().collect(), undone)
            .map_err(journaled)
    }

    /// Returns the counts to record. They contain the count of the run, and the counts of the undo steps whose records go.
    fn undone(
        &self,
        claim: &Claim,
        before: Undone,
        after: &Undone,
    ) -> Result<String, JournalError> {
        let mut undone = match self.find(claim, UNDONE)? {
            None => Undone::new(),
            Some(found) => serde_json::from_str(&found.body).map_err(JournalError::storage)?,
        };
        for (path, times) in before {
            let again = after.get(&path).copied().unwrap_or_default();
            if times > again {
                *undone.entry(path).or_default() += times - again;
            }
        }
        *undone.entry(RUN.to_owned()).or_default() += 1;
        serde_json::to_string(&undone).map_err(JournalError::storage)
    }
}

/// A claim that is given up, whatever happens.
struct Released<'a>(&'a Sqlite, &'a Claim);

impl Drop for Released<'_> {
    fn drop(&mut self) {
        self.0.release(self.1);
    }
}

/// The records of a run, and which of them go.
#[derive(Default)]
struct Records {
    /// The recorded documents of the plans that calls have run.
    documents: BTreeMap<String, String>,
    /// Which of them a plan was at last, by the prefix of its keys.
    entered: BTreeMap<String, String>,
    /// These plans.
    plans: BTreeMap<String, Arc<Plan>>,
    /// Whether the attempt has failed.
    all: BTreeMap<String, bool>,
    gone: BTreeSet<String>,
}

impl Records {
    fn add(&mut self, key: String, body: &str) {
        // What has ended the run before its time goes.
        let is_end = |end: &str| {
            key.strip_suffix(end)
                .is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        if is_end("!interrupt") || is_end("!grace") {
            self.gone.insert(key);
            return;
        }
        if let Some(number) = key.strip_prefix(PLANS) {
            self.documents.insert(number.to_owned(), body.to_owned());
            return;
        }
        // Those of one plan come in the order in which they were written: the last one counts.
        if let Some((prefix, version)) = key.rsplit_once(ENTERED)
            && version.bytes().all(|byte| byte.is_ascii_digit())
        {
            self.entered.insert(prefix.to_owned(), body.to_owned());
            return;
        }
        let body = serde_json::from_str::<Value>(body).unwrap_or_default();
        let has_failed = body.get("at").is_some() && body.get("error").is_some();
        // No step has succeeded because of a time.
        let has_failed = has_failed || key.ends_with(BEGUN) || key.ends_with(LATE);
        // A gate has refused it.
        let is_failure = has_failed || key.contains('?') && body.get("refuse").is_some();
        self.all.insert(key, is_failure);
    }

    /// Reads the plans that calls have run.
    fn read_plans(&mut self) -> Result<(), JournalError> {
        for (prefix, number) in &self.entered {
            let document = self.documents.get(number);
            let document = document.ok_or_else(|| JournalError::storage("a plan is missing"))?;
            let plan = serde_json::from_str(document).map_err(JournalError::storage)?;
            self.plans.insert(prefix.clone(), Arc::new(plan));
        }
        Ok(())
    }

    /// The plans that a tool has run inside this attempt of its call, and the prefixes of their keys, without those inside them.
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

    /// The records of a step of the plan with this prefix, each with what its key has after the name of the step.
    fn of_step(&self, prefix: &str, step: &Step) -> Vec<(String, String, bool)> {
        let start = format!("{prefix}{}", Segment(&step.id));
        let all = self.all.range(start.clone()..);
        let all = all.take_while(|(key, _)| key.starts_with(&start));
        let of_step = all.filter_map(|(key, failed)| {
            let rest = &key[start.len()..];
            let is_its = rest.starts_with(['@', '[', '?']);
            is_its.then(|| (key.clone(), rest.to_owned(), *failed))
        });
        of_step.collect()
    }

    fn drop_step(&mut self, prefix: &str, step: &Step) {
        let gone = self.of_step(prefix, step);
        self.gone.extend(gone.into_iter().map(|(key, ..)| key));
    }

    /// Decides about the records of a plan, or a block, with this prefix.
    fn plan(&mut self, prefix: &str, plan: &Plan) {
        let mut redone = vec![false; plan.steps.len()];
        for step in &plan.steps {
            let has_run = || {
                self.of_step(prefix, step)
                    .iter()
                    .any(|(.., failed)| !failed)
            };
            if let Role::Undo(undone) = step.role
                && has_run()
            {
                redone[undone] = true;
            }
        }
        // What a block or a plan gives is another one, if something in it was undone.
        let mut changes = redone.clone();
        for (place, step) in plan.steps.iter().enumerate() {
            changes[place] |= step.role == Role::Work && self.has_undone_inside(prefix, step);
        }
        // Whatever needs something that is done again is done again, too.
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
        for (place, step) in plan.steps.iter().enumerate() {
            if redone[place] || step.role != Role::Work {
                self.drop_step(prefix, step);
            } else {
                self.step(prefix, step);
            }
        }
        // What was decided at the end.
        let end = format!("{prefix}?");
        let ends = self.all.range(end.clone()..);
        let ends = ends.take_while(|(key, _)| key.starts_with(&end));
        let ends: Vec<String> = ends.map(|(key, _)| key.clone()).collect();
        self.gone.extend(ends);
    }

    /// The same of a step of the work.
    fn step(&mut self, prefix: &str, step: &Step) {
        let policy = &step.policy;
        let makes_up = policy.optional != Optional::No
            || policy.catch != Catch::No
            || policy.fallback.is_some()
            || policy.collect;
        if makes_up {
            return;
        }
        // The attempts of each element.
        let mut attempts: HashMap<String, Vec<(String, bool)>> = HashMap::new();
        for (key, rest, failed) in self.of_step(prefix, step) {
            let Some((element, rest)) = rest.split_once('@') else {
                // A list, a condition, or a gate.
                if failed {
                    self.gone.insert(key);
                }
                continue;
            };
            let number = rest.strip_suffix(BEGUN).unwrap_or(rest);
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                let attempts = attempts.entry(element.to_owned()).or_default();
                attempts.push((key, failed));
            }
        }
        for (_, attempts) in attempts {
            if attempts.iter().all(|(_, failed)| *failed) {
                self.gone.extend(attempts.into_iter().map(|(key, _)| key));
            }
        }
        for attempt in self.last_attempts(prefix, step) {
            let late = format!("{attempt}{LATE}");
            if self.all.contains_key(&late) {
                self.gone.insert(late);
            }
        }
        for (prefix, plan) in self.inside(prefix, step) {
            self.plan(&prefix, &plan);
        }
    }

    /// The key of the last attempt of each element of a step in which something has run.
    fn last_attempts(&self, prefix: &str, step: &Step) -> Vec<String> {
        let mut last: BTreeMap<String, u32> = BTreeMap::new();
        for (_, rest, _) in self.of_step(prefix, step) {
            let Some((element, rest)) = rest.split_once('@') else {
                continue;
            };
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = rest.split_at(digits);
            if let Ok(number) = number.parse::<u32>()
                && !rest.is_empty()
            {
                let last = last.entry(element.to_owned()).or_default();
                *last = number.max(*last);
            }
        }
        let key = |(element, number)| format!("{prefix}{}{element}@{number}", Segment(&step.id));
        last.into_iter().map(key).collect()
    }

    /// The plans that have run in the last attempts of a step, with the prefixes of their keys.
    fn inside<'p>(&self, prefix: &str, step: &'p Step) -> Vec<(String, InnerPlan<'p>)> {
        let inner = inner_plans(&step.body);
        let mut found = Vec::new();
        for attempt in self.last_attempts(prefix, step) {
            let called = format!("{attempt}.");
            for plan in &inner {
                found.push((called.clone(), InnerPlan::Known(plan)));
            }
            // What a plan calls that is read from a record has no plan in it.
            if let Some(plan) = self.plans.get(&called).filter(|_| inner.is_empty()) {
                found.push((called, InnerPlan::Recorded(Arc::clone(plan))));
            }
            let beside = self.beside(&attempt).into_iter();
            found.extend(beside.map(|(prefix, plan)| (prefix, InnerPlan::Recorded(plan))));
        }
        found
    }

    /// Whether something was undone in a block or a plan that has run in a step.
    fn has_undone_inside(&self, prefix: &str, step: &Step) -> bool {
        let mut inside = self.inside(prefix, step).into_iter();
        inside.any(|(prefix, plan)| {
            plan.steps.iter().any(|step| match step.role {
                Role::Undo(_) => self
                    .of_step(&prefix, step)
                    .iter()
                    .any(|(.., failed)| !failed),
                Role::Work => self.has_undone_inside(&prefix, step),
                Role::Always => false,
            })
        })
    }
}

/// A plan that has run inside a call or a block.
enum InnerPlan<'p> {
    Known(&'p Plan),
    Recorded(Arc<Plan>),
}

impl Deref for InnerPlan<'_> {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        match self {
            Self::Known(plan) => plan,
            Self::Recorded(plan) => plan,
        }
    }
}

/// The plans that run in a step.
fn inner_plans(body: &Body) -> Vec<&Plan> {
    let mut found = Vec::new();
    body.visit_all(&mut |part| match part {
        BodyPart::Block(block) => found.push(&block.plan),
        BodyPart::Action(action) => {
            found.extend(action.tool.as_ref().and_then(|tool| tool.plan.plan()));
        }
        BodyPart::Condition(_) | BodyPart::List(_) => {}
    });
    found
}
