//! Records of called plans.
//!
//! The description of a run contains the plan of the run itself. Its calls can run further plans. The run records each of these plans as plan JSON, once for equal
//! plans, and compares the plan of a repeated call with its record.

use super::begin::had_secrets;
use super::changes::{self, Shown};
use super::record::read_values;
use super::{Durable, ENTERED};
use crate::Plan;
use crate::journal::JournalError;
use crate::plan::Graph;
use crate::run::catch::locked;
use serde_json::Value;
use std::sync::Arc;

/// The start of the key of a plan's JSON.
pub(crate) const PLANS: &str = "!plans.";

/// The end of the key of the inputs of a called plan in runs of older versions, after the prefix of the plan.
const INPUTS: &str = "!inputs";

/// The JSON of called plans, once for equal plans: `!plans.0`, `!plans.1` and so on.
#[derive(Default)]
pub(super) struct Plans {
    /// The recorded JSON of each plan, in the order of the keys.
    documents: Vec<Arc<str>>,
    /// `true` after all documents were read.
    is_read: bool,
}

/// Returns the key of the plan of a call with this prefix. If the plan was changed before a crash,
/// each version has a record.
fn key(prefix: &str, version: usize) -> String {
    format!("{prefix}{ENTERED}{version}")
}

impl Plans {
    pub(super) fn enter(
        &mut self,
        durable: &Durable,
        prefix: &str,
        (plan, graph): (&Plan, &Graph),
        has_secrets: bool,
    ) -> Result<(), ()> {
        let unreadable = |error: String| durable.fail(JournalError::storage(error));
        let damaged = |error: serde_json::Error| unreadable(error.to_string());
        let document = graph.document(plan).map_err(damaged)?;
        self.read(durable)?;
        let (mut version, mut before) = (0, None);
        while let Some(found) = durable.find(&key(prefix, version))? {
            before = Some(found.body);
            version += 1;
        }
        if let Some(before) = before {
            let before = before.parse().ok();
            let before = before.and_then(|it: usize| self.documents.get(it));
            let Some(before) = before else {
                let key = key(prefix, version - 1);
                unreadable(format!("the record `{key}` names no plan"));
                return Err(());
            };
            if *before == document {
                return Ok(());
            }
            let read = |text: &str| serde_json::from_str::<Value>(text).map_err(damaged);
            let shown = if has_secrets || had_secrets(before) {
                Shown::Names
            } else {
                Shown::Values
            };
            let (old, new) = (read(before)?, read(&document)?);
            let next_key = |from: &str| durable.next_key(from);
            let refusals = changes::of_plans(&old, &new, (prefix, shown), &next_key);
            if !refusals.is_empty() {
                durable.fail(JournalError::Changed {
                    plan: plan.name.clone(),
                    change: refusals.join("; "),
                });
                return Err(());
            }
        }
        if durable.is_viewed() {
            return Ok(());
        }
        let known = self.documents.iter().position(|it| *it == document);
        let number = known.unwrap_or(self.documents.len());
        if known.is_none() {
            durable.note(format!("{PLANS}{number}"), document.to_string());
            self.documents.push(document);
        }
        durable.note(key(prefix, version), number.to_string());
        Ok(())
    }

    /// Returns the arguments that a call had in a run of an older version, which recorded the inputs of the called plan.
    fn inputs_before(&mut self, durable: &Durable, prefix: &str) -> Option<Value> {
        let inputs = durable.find(&format!("{prefix}{INPUTS}")).ok()??;
        let inputs = read_values(&inputs.body).ok()?;
        self.read(durable).ok()?;
        let number = durable.find(&key(prefix, 0)).ok()??.body;
        let document = self.documents.get(number.parse::<usize>().ok()?)?;
        let plan: Value = serde_json::from_str(document).ok()?;
        let names = plan.get("inputs")?.as_array()?.iter();
        let names = names.filter_map(|input| Some(input.get("name")?.as_str()?.to_owned()));
        Some(names.zip(inputs).collect())
    }

    /// Reads the recorded plans.
    fn read(&mut self, durable: &Durable) -> Result<(), ()> {
        while !self.is_read {
            match durable.find(&format!("{PLANS}{}", self.documents.len()))? {
                Some(found) => self.documents.push(found.body.into()),
                None => self.is_read = true,
            }
        }
        Ok(())
    }
}

/// Returns the arguments of the call with this key in a run of an older version.
pub(in crate::run) fn inputs_before(durable: &Durable, attempt: &str) -> Option<Value> {
    locked(&durable.plans).inputs_before(durable, &format!("{attempt}."))
}
