//! The contexts of calls: what a call may know of the run around it.

use super::super::context::{CallContext, CallPlace, CallState, Inside, PlanCall};
use super::scene::Scene;
use super::starting::Starting;
use crate::machine::{CallId, Part, ScopeId};
use crate::plan::{Action, Role, Step};
use std::sync::Arc;
use std::time::Duration;

/// The place of a call in a run.
pub(super) struct At {
    pub(super) scope: ScopeId,
    /// The place of the step in its plan.
    pub(super) step: usize,
    /// The number of the action among the actions of the step.
    pub(super) action: usize,
    pub(super) element: Vec<usize>,
    /// The number of the call among those of the step.
    pub(super) job: u32,
    pub(super) attempt: u32,
    pub(super) is_plan: bool,
    pub(super) until: Option<Duration>,
}

impl Scene<'_> {
    /// The context of the attempt that has opened a scope.
    pub(super) fn outer(&self, scope: ScopeId) -> Option<&CallContext> {
        let Some(owner) = &self.values.scope(scope).owner else {
            return self.around.as_ref();
        };
        let context = owner.context.get_or_init(|| {
            let at = At {
                scope: owner.scope,
                step: owner.step,
                action: owner.action,
                element: owner.element.clone(),
                job: owner.part.job,
                attempt: owner.part.attempt,
                is_plan: true,
                until: owner.until,
            };
            self.context_of(at, owner.times)
        });
        Some(context)
    }

    /// The context of a call.
    #[cold]
    pub(super) fn context(&self, at: At) -> CallContext {
        let times = self.times(at.scope, at.step);
        self.context_of(at, times)
    }

    fn context_of(&self, at: At, times: u32) -> CallContext {
        self.values.held.share();
        let it = self.values.scope(at.scope);
        let step = &it.plan.steps[at.step];
        let outer = self.outer(at.scope).cloned();
        // Until the deadline has come, steps after the work may run on for the time after that.
        let is_last = step.role != Role::Work || outer.as_ref().is_some_and(CallContext::is_last);
        let spare = is_last && self.stops.stopped.is_none();
        let spare = if spare {
            self.stops.grace
        } else {
            Duration::ZERO
        };
        let until = self.stops.until.map(|until| until.saturating_add(spare));
        let own = [at.until, until].into_iter().flatten().min();
        let own = own.and_then(|elapsed| self.clock.at(elapsed));
        let beside = self.beside.as_ref().filter(|_| it.owner.is_none());
        // Undo steps and always steps of a block do not count in the time limits of its step.
        let is_limited = step.role == Role::Work || beside.is_some();
        let around = outer.as_ref().filter(|_| is_limited);
        let around = around.and_then(CallContext::deadline);
        let number = it.actions + it.graph.actions[at.step] as usize + at.action;
        let called = at.is_plan.then(|| PlanCall {
            computes: self.computes_inputs(step),
            secrets: it.secrets(number).cloned(),
        });
        CallContext::new(CallPlace {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            depth: it.plans,
            at: [
                outer.as_ref().map_or(&[][..], CallContext::at),
                &[at.step, at.job as usize],
            ]
            .concat(),
            beside: beside.cloned(),
            plan: self
                .values
                .plan_of(at.scope)
                .unwrap_or(self.errors.plan())
                .name
                .clone(),
            step: step.id.clone(),
            element: at.element,
            action: at.action,
            began: self.run.durable.as_ref().map(|durable| durable.now()),
            attempt: at.attempt,
            times,
            is_always: step.role == Role::Always,
            deadline: [own, around].into_iter().flatten().min(),
            called,
            is_last,
            outer,
            inside: self.inside_call(),
            state: CallState::default(),
            elsewhere: None,
        })
    }

    /// Returns `true` if the report shows the outputs of steps. Steps hand over JSON then.
    pub(super) fn captures_outputs(&self) -> bool {
        let watch = self.watch.as_ref();
        watch.is_some_and(|watch| watch.keeps().outputs)
    }

    /// Returns the list of the reports of plans that a tool runs inside its call, if the run has a report.
    fn inside_call(&self) -> Option<Arc<Inside>> {
        let keeps = self.watch.as_ref()?.keeps();
        let inside = || Inside::new(&self.allowance, keeps);
        keeps.report.then(|| Arc::new(inside()))
    }

    /// The number of times that a step was undone, or the step that it undoes. For an always step, the number of retries of the run.
    pub(super) fn times(&self, scope: ScopeId, step: usize) -> u32 {
        let plan = self.values.scope(scope).plan;
        let undone = match plan.steps[step].role {
            Role::Work => step,
            Role::Undo(undone) => undone,
            Role::Always => return self.run.times_retried(),
        };
        let prefix = || self.lasting_prefix(scope);
        self.run.times_undone(prefix, &plan.steps[undone].id)
    }

    /// The beginning of the lasting paths of a scope's steps.
    pub(super) fn lasting_prefix(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| {
            outer.lasting_inside(self.beside_of(scope))
        })
    }

    /// Returns the name of the plan that a scope is, if a tool runs the plan inside its call.
    pub(super) fn beside_of(&self, scope: ScopeId) -> Option<&str> {
        let is_root = self.values.scope(scope).owner.is_none();
        self.beside.as_deref().filter(|_| is_root)
    }

    /// Returns `true` if code makes an argument of a step's calls in a run with a journal.
    fn computes_inputs(&self, step: &Step) -> bool {
        let has_code = |action: &&Action| action.args.has_code();
        self.run.durable.is_some() && step.actions().iter().any(has_code)
    }

    #[cold]
    pub(super) fn at_plain(
        &self,
        (call, scope): (CallId, ScopeId),
        step: usize,
        number: usize,
        is_plan: bool,
    ) -> At {
        let it = self.values.scope(scope);
        debug_assert_eq!(step, call.index() - it.first);
        At {
            scope,
            step,
            action: number - it.actions - it.graph.actions[step] as usize,
            element: Vec::new(),
            job: 0,
            attempt: 1,
            is_plan,
            until: None,
        }
    }

    /// The place of a call in the run.
    #[cold]
    pub(super) fn at(&self, it: &Starting<'_>, is_plan: bool) -> At {
        let scope = self.values.scope(it.of.scope);
        let first = scope.actions + scope.graph.actions[it.step] as usize;
        let policy = self.values.policy(it.of.scope, it.of.slot());
        let element = it.of.part.map_or(Part::WHOLE, |part| part.element);
        let inside = self.values.step(it.of.slot());
        let deadline = inside.and_then(|inside| inside.deadlines.get(&element));
        let deadline = match (deadline, policy.deadline) {
            (Some((_, until)), _) => Some(*until),
            (None, deadline) => deadline.map(|limit| self.clock.now().saturating_add(limit)),
        };
        let timeout = policy.timeout;
        let timeout = timeout.map(|limit| self.clock.now().saturating_add(limit));
        At {
            scope: it.of.scope,
            step: it.step,
            action: it.number - first,
            element: it.of.part.map_or_else(Vec::new, |part| self.element(&part)),
            job: it.of.part.map_or(0, |part| part.job),
            attempt: it.attempt,
            is_plan,
            until: timeout.into_iter().chain(deadline).min(),
        }
    }
}
