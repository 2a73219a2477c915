//! The contexts of calls: the view of a call on its run.

use super::super::context::{CallContext, CallPlace, CallState, Inside, PlanCall};
use super::scene::Scene;
use super::scope_values::At;
use super::starting::Starting;
use super::task::Site;
use crate::machine::ScopeId;
use crate::plan::{Action, Role, Step};
use std::sync::Arc;
use std::time::Duration;

impl Scene<'_> {
    /// Returns the context of the attempt that has opened a scope.
    pub(super) fn outer(&self, scope: ScopeId) -> Option<&CallContext> {
        let Some(owner) = &self.values.scope(scope).owner else {
            return self.around.as_ref();
        };
        let make = || self.context_of(&owner.at, owner.times);
        Some(owner.context.get_or_init(make))
    }

    /// Returns the context of a call.
    #[cold]
    pub(super) fn context(&self, at: &At) -> CallContext {
        let times = self.times(at.of.scope, at.of.step);
        self.context_of(at, times)
    }

    fn context_of(&self, at: &At, times: u32) -> CallContext {
        self.values.held.share();
        let of = &at.of;
        let it = self.values.scope(of.scope);
        let step = &it.plan.steps[of.step];
        let outer = self.outer(of.scope).cloned();
        // If the run has not been stopped, an undo step or an always step may also use the grace period.
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
        let number = it.first_action(of.step) + at.action;
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
                &[of.step, of.part.map_or(0, |part| part.job as usize)],
            ]
            .concat(),
            beside: beside.cloned(),
            plan: self
                .values
                .plan_of(of.scope)
                .unwrap_or(self.errors.plan())
                .name
                .clone(),
            step: step.id.clone(),
            element: at.element.clone(),
            action: at.action,
            began: self.run.durable.as_ref().map(|durable| durable.now()),
            attempt: of.attempt(),
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

    /// Returns `true` if the report shows the outputs of steps, in which case steps pass JSON on.
    pub(super) fn captures_outputs(&self) -> bool {
        let watch = self.watch.as_ref();
        watch.is_some_and(|watch| watch.keeps.outputs)
    }

    /// Returns the list of the reports of plans that a tool runs inside its call, if the run has a report.
    fn inside_call(&self) -> Option<Arc<Inside>> {
        let keeps = self.watch.as_ref()?.keeps;
        let inside = || Inside::new(&self.allowance, keeps);
        keeps.report.then(|| Arc::new(inside()))
    }

    /// Returns how often a step, or the step that it undoes, was undone. For an always step, returns the number of
    /// retries of the run.
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

    /// Returns the prefix of the lasting paths of a scope's steps.
    pub(super) fn lasting_prefix(&self, scope: ScopeId) -> String {
        let outer = self.outer(scope);
        outer.map_or_else(String::new, |outer| {
            outer.lasting_inside(self.beside_of(scope))
        })
    }

    /// Returns the name of the plan whose run this is, if a tool runs the plan inside its call and the scope is the whole plan.
    pub(super) fn beside_of(&self, scope: ScopeId) -> Option<&str> {
        let is_root = self.values.scope(scope).owner.is_none();
        self.beside.as_deref().filter(|_| is_root)
    }

    /// Returns `true` if the run has a journal, and Rust code computes an argument of a call of the step.
    fn computes_inputs(&self, step: &Step) -> bool {
        let has_code = |action: &&Action| action.args.has_code();
        self.run.durable.is_some() && step.actions().iter().any(has_code)
    }

    /// Returns the location of a plain call in the run.
    #[cold]
    pub(super) fn at_plain(&self, of: Site, number: usize, is_plan: bool) -> At {
        At {
            of,
            action: number - self.values.scope(of.scope).first_action(of.step),
            element: Vec::new(),
            is_plan,
            until: None,
        }
    }

    /// Returns the location of a call in the run.
    #[cold]
    pub(super) fn at(&self, it: &Starting<'_>, is_plan: bool) -> At {
        let of = &it.of;
        let limit = self.values.limit_here(&self.clock, of);
        At {
            element: of.places(self.machine.view()),
            until: limit.map(|(until, _)| until),
            ..self.at_plain(*of, it.number, is_plan)
        }
    }
}
