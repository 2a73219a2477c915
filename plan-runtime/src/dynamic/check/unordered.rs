//! Effects that do not wait for a check. A *check* is a step whose output nothing uses, and whose failure fails the plan.

use super::Checker;
use crate::dynamic::contract::Contract;
use crate::dynamic::finding::{Code, Note};
use crate::plan::{Action, Body, Catch, Optional, Role, Step};
use plan_graph::{Exhausted, Graph, Paths};
use std::collections::HashSet;

/// The number of checks that one finding names.
const MOST_NAMED: usize = 3;

/// The order of a plan's steps.
struct Order<'g> {
    needs: &'g Graph,
    paths: Paths<'g>,
}

impl Order<'_> {
    /// Returns `true` if a step waits for another, directly or through others.
    fn waits(&mut self, step: usize, other: usize) -> Result<bool, Exhausted> {
        let direct = self.needs.of(step).iter().any(|&to| to as usize == other);
        Ok(direct || self.paths.through(step, other)?.is_some())
    }
}

impl Checker<'_, '_> {
    /// Reports effects that do not wait for a check, and returns these checks. `used` contains the steps whose outputs are used.
    pub(super) fn unordered(&mut self, used: &HashSet<usize>) -> HashSet<usize> {
        let plan = self.known.plan;
        let mut found = HashSet::new();
        let checks = plan.steps.iter().enumerate();
        let checks: Vec<usize> = checks
            .filter(|(index, step)| !used.contains(index) && may_fail(step) && self.checks(step))
            .map(|(index, _)| index)
            .collect();
        if checks.is_empty() || !plan.cycles().is_empty() {
            return found;
        }
        let needs = plan.needs();
        let mut order = Order {
            needs: &needs,
            paths: needs.paths(),
        };
        // For each check, the effects that were reported.
        let mut reported: Vec<(usize, usize)> = Vec::new();
        for (effect, step) in plan.steps.iter().enumerate() {
            if step.role != Role::Work || !self.changes(step) {
                continue;
            }
            let mut named = Vec::new();
            let before = checks.iter().take_while(|check| **check < effect);
            for &check in before {
                if named.len() == MOST_NAMED {
                    break;
                }
                match is_open(&mut order, effect, check, &reported) {
                    Ok(true) => named.push(check),
                    Ok(false) => {}
                    // A document with so many paths gets no more advice.
                    Err(Exhausted) => return found,
                }
            }
            if !named.is_empty() {
                self.report_effect(effect, &named);
                reported.extend(named.iter().map(|&check| (check, effect)));
                found.extend(named);
            }
        }
        found
    }

    fn report_effect(&mut self, effect: usize, checks: &[usize]) {
        let (plan, rules) = (self.known.plan, self.known.rules);
        let named = |&index: &usize| (rules.step)(index, &plan.steps[index].id);
        let names: Vec<String> = checks.iter().map(named).collect();
        let all = checks
            .iter()
            .map(|&index| (index, plan.steps[index].id.as_str()));
        let after = rules.after(&all.collect::<Vec<_>>());
        let (name, names) = (named(&effect), names.join(" or "));
        let message = format!("{name} may run even if {names} fails");
        let note = Note::warning(Code::UnorderedEffect, self.place(effect), message);
        let help =
            format!("write `{after}` in {name}, or remove {names}, whose output nothing uses");
        let path = self.path(&plan.steps[effect]);
        self.notes.push(note.step(&path).help(help));
    }

    /// Returns `true` if a tool of a step may change something.
    fn changes(&self, step: &Step) -> bool {
        let actions = step.actions();
        let mut contracts = actions.iter().filter_map(|action| self.contract(action));
        contracts.any(|contract| !contract.read_only)
    }

    /// Returns `true` if a step only checks. A tool that reads information is no check: its unused output is another finding.
    fn checks(&self, step: &Step) -> bool {
        let Body::Action(action) = &step.body else {
            return matches!(step.body, Body::Await(_));
        };
        let is_check = |contract: &Contract| contract.read_only && !has_information(contract);
        self.contract(action).is_some_and(is_check)
    }

    fn contract(&self, action: &Action) -> Option<&Contract> {
        self.known.contracts.get(&action.tool.as_ref()?.name)
    }
}

/// Returns `true` if nothing orders an effect and a check, and no step before the effect was reported for the check.
fn is_open(
    order: &mut Order<'_>,
    effect: usize,
    check: usize,
    reported: &[(usize, usize)],
) -> Result<bool, Exhausted> {
    // No step waits for the check, because nothing uses the check.
    if order.waits(check, effect)? {
        return Ok(false);
    }
    for &(_, before) in reported.iter().filter(|(other, _)| *other == check) {
        if order.waits(effect, before)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` if a schema allows information in the output.
fn has_information(contract: &Contract) -> bool {
    let schema = contract.output.as_ref();
    schema.is_some_and(|schema| schema.get("type").is_none_or(|it| it != "null"))
}

/// Returns `true` if a failure of a call or a wait fails the plan.
fn may_fail(step: &Step) -> bool {
    let policy = &step.policy;
    let is_kept = policy.optional == Optional::No && policy.catch == Catch::No;
    let is_work = step.role == Role::Work && policy.fallback.is_none();
    is_kept && is_work && matches!(step.body, Body::Action(_) | Body::Await(_))
}
