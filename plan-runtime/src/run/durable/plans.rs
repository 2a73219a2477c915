//! The plans that the calls of a run run: each is recorded, so that it is known if one was changed.

use super::Durable;
use super::begin::had_secrets;
use super::changes::{self, Shown};
use crate::journal::JournalError;
use crate::plan::Plan;
use serde_json::Value;
use std::sync::{MutexGuard, PoisonError};

/// What the key of the document of a plan begins with.
pub(crate) const PLANS: &str = "!plans.";

/// What the key of a record that says which plan a call runs has after the prefix of that plan.
pub(crate) const ENTERED: &str = "!plan.";

/// The documents of plans that were called, each once: `!plans.0`, `!plans.1` and so on.
#[derive(Default)]
pub(super) struct Plans {
    /// Those that are known, in this order.
    documents: Vec<String>,
    /// Whether these are all.
    is_read: bool,
}

/// The key of the plan that a call with this prefix runs. Its record is the number of a document. Where the plan was changed before a crash, there is one for each version.
fn key(prefix: &str, version: usize) -> String {
    format!("{prefix}{ENTERED}{version}")
}

impl Durable {
    /// A call runs a plan. If it has run another one before a crash, what has run of that must not have changed.
    pub(in crate::run) fn enter(&self, prefix: &str, plan: &Plan, has_secrets: bool) {
        // `Err` has ended the run already.
        let _ = self.compare(prefix, plan, has_secrets);
    }

    fn compare(&self, prefix: &str, plan: &Plan, has_secrets: bool) -> Result<(), ()> {
        let document = serde_json::to_string(plan).map_err(|error| self.unreadable(error))?;
        let mut plans = self.read_plans()?;
        let (mut version, mut before) = (0, None);
        while let Some(found) = self.find(&key(prefix, version))? {
            before = Some(found.body);
            version += 1;
        }
        if let Some(before) = before {
            let before = before.parse().ok();
            let before: Option<&String> = before.and_then(|it: usize| plans.documents.get(it));
            let Some(before) = before else {
                self.unreadable(format!(
                    "the record `{}` names no plan",
                    key(prefix, version - 1)
                ));
                return Err(());
            };
            if *before == document {
                return Ok(());
            }
            let read = |text: &str| -> Result<Value, ()> {
                serde_json::from_str(text).map_err(|error| self.unreadable(error))
            };
            let next_key = |from: &str| {
                let next = self.journal.next_key(&self.claim, from);
                next.map_err(|error| self.fail(error))
            };
            let shown = if has_secrets || had_secrets(before) {
                Shown::Names
            } else {
                Shown::Values
            };
            let (old, new) = (read(before)?, read(&document)?);
            let refusals = changes::of_plans(&old, &new, (prefix, shown), &next_key)?;
            if !refusals.is_empty() {
                self.fail(JournalError::Changed {
                    plan: plan.name.clone(),
                    change: refusals.join("; "),
                });
                return Err(());
            }
        }
        if self.is_viewed {
            return Ok(());
        }
        let known = plans.documents.iter().position(|it| *it == document);
        let number = known.unwrap_or(plans.documents.len());
        if known.is_none() {
            self.note(format!("{PLANS}{number}"), document.clone());
            plans.documents.push(document);
        }
        self.note(key(prefix, version), number.to_string());
        Ok(())
    }

    /// The documents that are recorded.
    fn read_plans(&self) -> Result<MutexGuard<'_, Plans>, ()> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        while !plans.is_read {
            match self.find(&format!("{PLANS}{}", plans.documents.len()))? {
                Some(found) => plans.documents.push(found.body),
                None => plans.is_read = true,
            }
        }
        Ok(plans)
    }

    fn unreadable(&self, error: impl std::fmt::Display) {
        self.fail(JournalError::storage(error.to_string()));
    }
}
