//! Blocks, and plans that steps call: the schedule around them polls them.
//!
//! A block that succeeds is kept if steps in it may have to be undone, until the scope around it has succeeded, too.

use super::super::StepError;
use super::super::catch::catch;
use super::super::context::CallContext;
use super::super::deciding::AS_IT_IS;
use super::super::limits::Limits;
use super::super::making::inputs_of;
use super::super::options::Options;
use super::super::start::{CalledPlan, StepResult};
use super::super::timer::Sleep;
use super::super::trace::Span;
use super::super::weights::of_scope;
use super::block_run::{BlockRun, Starts};
use super::body_state::{BodyState, Failed, Work};
use super::ending::Ending;
use super::interrupts::Interrupts;
use super::task::{CallState, Task};
use super::{Around, Schedule, StepState};
use crate::error::{BlockPlace, Interrupt, Left};
use crate::plan::{self, Block, Body, Role, Template};
use crate::resolve::{Meter, StoredValue, bytes_of, resolve};
use crate::{Error, RunError};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The number of a task that undoes a block, in the place of a job's.
const UNDO: usize = usize::MAX;

impl<'x> Schedule<'x> {
    /// Starts an attempt of a job that is a block.
    pub(super) fn start_block(
        &mut self,
        step: usize,
        job: usize,
        block: &'x Block,
        span: Span,
        limit: Option<(Sleep, StepError)>,
        until: Option<Duration>,
    ) {
        let at = &self.flow(step).jobs[job];
        let (place, frame, number, attempt) = (at.place, at.frame, at.number, at.attempts);
        let log = at.log;
        let late = Cell::new(false);
        let (made, bytes) = {
            let stop = || {
                let is_late = |until| until <= self.clock.now();
                late.set(!self.clock.is_durable && until.is_some_and(is_late));
                self.interrupts.look(&self.clock) || late.get()
            };
            let meter = Meter::new(self.room(), Some(&stop));
            let flow = self.steps.flow(step);
            let locals = flow.map_or_else(Vec::new, |flow| flow.locals(frame));
            let scope = self.scope().with_locals(&locals).metered(&meter);
            let make = || {
                let inputs = inputs_of(block, &scope)?;
                scope.check_arguments()?;
                Ok(inputs)
            };
            (catch(|| span.in_scope(make)), meter.spent())
        };
        let made = made.and_then(|made| made.map_err(StepError::arguments));
        let mut inputs: Vec<StoredValue> = match made {
            Ok(inputs) => inputs,
            Err(_) if self.interrupts.happened().is_some() => return,
            Err(error) => {
                let late = limit.filter(|_| late.get()).map(|(_, late)| late);
                return self.tried(step, job, Err(late.unwrap_or(error)), Some(&span));
            }
        };
        if !self.has_room(bytes.saturating_add(of_scope(&block.plan))) {
            let error = StepError::arguments(self.full());
            return self.tried(step, job, Err(error), Some(&span));
        }
        if self.options.capture
            && let Some(log) = log
        {
            let meter = Meter::new(self.room(), None);
            let names = block.plan.inputs.iter().map(|input| input.name.clone());
            let values = inputs.iter().map(|input| input.json_within(Some(&meter)));
            let values: Result<Vec<Value>, _> = values.map(|json| json.cloned()).collect();
            let values = match values {
                Ok(values) => values,
                Err(error) => {
                    return self.tried(step, job, Err(StepError::arguments(error)), Some(&span));
                }
            };
            let mut captured = Value::Object(names.zip(values).collect());
            let bytes = bytes_of(&captured);
            if let Some(secrecy) = &self.secrecy {
                secrecy.arguments(number).mask_in(&mut captured);
            }
            self.held.add(bytes);
            if let Some(attempt) = self.logged(step, Some(log)) {
                attempt.arguments = Some(captured);
            }
        }
        let flow = self.flow(step);
        let mut again = None;
        if let Work::Round(repeat) = flow.jobs[job].work {
            again = Some(&repeat.again);
            if let (true, Some(input), Some(rounds)) =
                (repeat.last, inputs.first_mut(), &flow.rounds)
            {
                *input = StoredValue::json(rounds.last.clone());
            }
        }
        let element = self.flow(step).elements(place);
        let context = self.context((step, job), element.clone(), attempt, until, Some(number));
        let graph = self.graph.blocks.as_ref();
        let Some(graph) = graph.and_then(|blocks| blocks.get(&plan::number(number))) else {
            return self.tried(step, job, Err(StepError::Unknown), Some(&span));
        };
        let around = Around {
            run: Arc::clone(&self.run),
            allowance: Arc::clone(&self.allowance),
            secrecy: self
                .secrecy
                .as_ref()
                .and_then(|secrecy| secrecy.block(number).cloned()),
            depth: self.depth,
            block_of: Some(self.name),
            is_inner: true,
            hands_over: self.hands_over,
            block: Some(again),
        };
        let options = Options {
            outer: Some(context),
            ..Options::default()
        };
        let begin = || {
            let graph = Arc::clone(graph);
            let mut schedule = Schedule::begin(&block.plan, graph, inputs, around, options);
            schedule.look_who_watches();
            schedule.watch_plan_start();
            schedule
        };
        let schedule = match catch(|| span.in_scope(begin)) {
            Ok(schedule) => Box::new(schedule),
            Err(panic) => return self.tried(step, job, Err(panic), Some(&span)),
        };
        self.note_branch((step, job), attempt, block);
        let bytes = bytes + of_scope(&block.plan);
        let run = BlockRun {
            schedule,
            by: Starts::Around(number + 1),
            place: self.block_place(step, element, attempt),
            limit: None,
            again,
            has_succeeded: false,
            is_cut: false,
            left: None,
            bytes,
        };
        self.push_inner((step, job), run, span, limit);
    }

    /// Starts an attempt of a job that is a plan.
    pub(super) fn start_plan(
        &mut self,
        (step, job): (usize, usize),
        plan: CalledPlan<'x>,
        context: CallContext,
        span: Span,
        limit: Option<(Sleep, StepError)>,
        bytes: usize,
    ) {
        let at = &mut self.flow(step).jobs[job];
        let (place, attempt) = (at.place, at.attempts);
        context.keep(at.turn.take());
        let element = self.flow(step).elements(place);
        let place = self.block_place(step, element, attempt);
        let called = plan.executable.plan;
        let bytes = bytes + of_scope(called);
        if !self.has_room(bytes) {
            let error = StepError::arguments(self.full());
            return self.tried(step, job, Err(error), Some(&span));
        }
        let CalledPlan {
            executable,
            inputs,
            hands_over,
            own,
        } = plan;
        let options = Options {
            outer: Some(context),
            hands_over,
            ..Options::default()
        };
        let begin = || Self::of(executable, inputs, Limits::DEFAULT, options, true);
        let schedule = match catch(|| span.in_scope(begin)) {
            Ok(Ok(schedule)) => Box::new(schedule),
            Ok(Err(cause)) => {
                let error = Error::new(RunError::new(called, cause, Vec::new()).before_the_start());
                return self.tried(step, job, Err(StepError::tool(error)), Some(&span));
            }
            Err(panic) => return self.tried(step, job, Err(panic), Some(&span)),
        };
        self.has_called = true;
        let run = BlockRun {
            schedule,
            by: Starts::Own(own),
            place,
            limit: None,
            again: None,
            has_succeeded: false,
            is_cut: false,
            left: None,
            bytes,
        };
        self.push_inner((step, job), run, span, limit);
    }

    fn push_inner(
        &mut self,
        (step, job): (usize, usize),
        mut run: BlockRun<'x>,
        span: Span,
        limit: Option<(Sleep, StepError)>,
    ) {
        self.held.add(run.bytes);
        run.limit = limit.as_ref().map(|(_, error)| error.clone());
        self.share_permits();
        if let Some(context) = run.schedule.outer.clone() {
            self.keep_inside((step, job), &context);
        }
        self.flow(step).active += 1;
        self.has_opened = true;
        let state = CallState::block(Box::new(run), span, limit);
        self.running.push_block((step, job), state);
    }

    /// Whether something may have to run once it is over before its time: undo steps or always steps, also in blocks and plans inside it.
    pub(super) fn has_ending(&self) -> bool {
        self.graph.has_last()
            || self.kept > 0
            || self.running.running_blocks().any(BlockRun::has_ending)
    }

    /// Whether blocks may run in it, or plans that steps call.
    pub(super) fn has_inner(&self) -> bool {
        self.has_called || self.graph.blocks.is_some()
    }

    /// Where a block is, or a plan that is called.
    pub(super) fn block_place(&self, step: usize, element: Vec<usize>, attempt: u32) -> BlockPlace {
        BlockPlace {
            step: self.plan.steps[step].id.clone(),
            element,
            attempt,
        }
    }

    /// A block has ended, or was undone.
    #[cold]
    pub(super) fn block_ended(
        &mut self,
        step: usize,
        job: usize,
        mut block: BlockRun<'x>,
        result: StepResult,
        span: &Span,
    ) {
        if job == UNDO {
            return self.block_undone(step, block);
        }
        let bytes = block.bytes;
        let Some(flow) = self.steps.flow_mut(step) else {
            return self.held.remove(bytes);
        };
        flow.active -= 1;
        if let Err(error) = &result
            && block.is_cut
        {
            if error.leaves_work() {
                let at = &flow.jobs[job];
                let failed = Failed {
                    element: flow.elements(at.place),
                    error: error.clone(),
                    attempts: at.attempts,
                };
                flow.note_failed(failed);
            } else {
                flow.left.undoing.add(block.left().undoing);
            }
            self.held.remove(bytes);
            return self.settle(step);
        }
        if block.has_succeeded && block.schedule.has_to_undo() {
            // It may be the last that holds what was handed over to it.
            let shared = block.schedule.whole_inputs();
            block.bytes += shared;
            self.held.add(shared);
            self.kept += 1;
            self.steps.more(step).kept.push(block);
        } else {
            // An always step in it may have failed, or a failure was caught, and left something.
            let schedule = &block.schedule;
            if block.has_succeeded && !(schedule.failed.is_empty() && schedule.left.is_empty()) {
                self.left.add(block.left());
            }
            self.held.remove(bytes);
        }
        self.tried(step, job, result, Some(span));
        self.settle(step);
    }

    /// Whether something of a plan that has succeeded has to be undone if what is around it fails.
    fn has_to_undo(&self) -> bool {
        let mut steps = 0..self.plan.steps.len();
        self.kept > 0
            || steps.any(|step| self.undone_by(step).is_some() && self.has_completed(step))
    }

    /// Whether there is another round of a loop after this one.
    pub(super) fn goes_on(&mut self, again: &Template) -> Result<Value, StepError> {
        if let Some(outputs) = self.given.take() {
            self.outputs = outputs;
        }
        let has_code = self.run.is_kept() && again.has_code();
        let decided = self.decided(
            has_code,
            || self.key_of_end("while"),
            || match self.metered(|scope| resolve::<bool>(again, scope)) {
                Ok((Ok(again), _)) => Ok(again),
                Ok((Err(error), _)) => {
                    let error = StepError::arguments(error.of_part("its condition (`while`)"));
                    Err(self.hushed_output(error))
                }
                Err(panic) => Err(panic),
            },
            AS_IT_IS,
        );
        match decided {
            None => Err(self.stopped()),
            Some(again) => again.map(Value::Bool),
        }
    }

    /// Undoes what a plan did that has succeeded.
    fn begin_undo(&mut self) {
        if let Some(outputs) = self.given.take() {
            self.outputs = outputs;
        }
        std::mem::replace(&mut self.interrupts, Interrupts::new(None, None, None)).close();
        self.ended = None;
        self.ending = Some(Box::new(Ending::of_undo()));
        self.begin_unwind();
    }

    /// Starts to undo blocks of a step that have succeeded, as many as the step may do at one time. `false` if none is left.
    pub(super) fn undo_blocks(&mut self, step: usize) -> bool {
        // Rounds are undone from the last to the first.
        let limit = match self.plan.steps[step].body {
            Body::Loop(_) => 1,
            _ => self.policy(step).concurrency.unwrap_or(usize::MAX).max(1),
        };
        let (mut kept, mut active) = match self.steps.more_mut(step) {
            Some(more) => (std::mem::take(&mut more.kept), more.undoing),
            None => return false,
        };
        while active < limit
            && let Some(mut block) = kept.pop()
        {
            active += 1;
            self.kept -= 1;
            block.left = Some(Left::default());
            block.schedule.begin_undo();
            let state = CallState::block(Box::new(block), Span::none(), None);
            self.running.push_block((step, UNDO), state);
        }
        let more = self.steps.more(step);
        more.kept = kept;
        more.undoing = active;
        active > 0
    }

    /// Returns the work that a caught failure leaves.
    pub(super) fn left_by(&self, step: usize, failed: &Failed) -> Left {
        if !failed.error.leaves_work() {
            return Left::default();
        }
        let place = self.block_place(step, failed.element.clone(), failed.attempts);
        failed.error.left(&place)
    }

    /// Returns the work that caught failures leave, also in blocks that have succeeded.
    pub(super) fn absorbed(&self) -> Left {
        let mut absorbed = self.left.clone();
        // Only always steps fail in a block that succeeds.
        for (_, failed) in &self.failed {
            absorbed.undoing.add(failed.left().undoing);
        }
        for more in (0..self.plan.steps.len()).filter_map(|step| self.steps.more_of(step)) {
            let kept = more.kept.iter();
            kept.for_each(|block| absorbed.add(block.absorbed()));
        }
        absorbed
    }

    /// What an undo step or an always step did is not undone once it has succeeded.
    pub(super) fn keep_for_good(&mut self, step: usize) {
        if self.kept == 0 || self.plan.steps[step].role == Role::Work {
            return;
        }
        let kept = self
            .steps
            .more_mut(step)
            .map(|more| std::mem::take(&mut more.kept));
        for block in kept.unwrap_or_default() {
            self.left.add(block.absorbed());
            self.kept -= 1;
            self.held.remove(block.bytes);
        }
    }

    /// A block of a step was undone, as far as that was possible.
    fn block_undone(&mut self, step: usize, block: BlockRun<'x>) {
        self.held.remove(block.bytes);
        let left = block.left.unwrap_or_default();
        self.steps.more(step).undoing -= 1;
        if let Some(flow) = self.steps.flow_mut(step) {
            flow.left.add(left);
            return self.settle(step);
        }
        self.left.add(left);
        if !self.undo_blocks(step) {
            self.open -= 1;
            self.blocks_undone(step);
        }
    }

    /// Whether a step that has failed, or does not go on, first has to undo its elements that are blocks.
    #[inline]
    pub(super) fn undoes_elements(&mut self, step: usize) -> bool {
        // A tool that runs a plan inside its call may leave something as well.
        let may_have_left = |flow: &BodyState<'_>| !flow.left.is_empty();
        let may_undo = self.has_inner() || self.steps.flow(step).is_some_and(may_have_left);
        may_undo && self.has_to_undo_elements(step)
    }

    fn has_to_undo_elements(&mut self, step: usize) -> bool {
        let Some(flow) = self.steps.flow(step) else {
            return false;
        };
        if matches!(
            self.interrupts.happened(),
            Some(
                Interrupt::Limit(_)
                    | Interrupt::Nested { .. }
                    | Interrupt::Outer
                    | Interrupt::Outside(_)
                    | Interrupt::Journal(_)
            )
        ) {
            return false;
        }
        let is_over =
            (flow.failed.is_some() || flow.cut && flow.output.is_none()) && flow.active == 0;
        if !is_over {
            return false;
        }
        if self.undo_blocks(step) {
            return true;
        }
        let name = self.name;
        let failed = self.steps.flow(step).and_then(|flow| flow.failed.as_ref());
        let is_absorbed = failed.is_some_and(|it| self.absorbs(step, &it.error));
        let flow = self.flow(step);
        let left = std::mem::take(&mut flow.left);
        match flow.failed.take() {
            Some(failed) if left.leaves_work() => {
                let place = self.block_place(step, failed.element.clone(), failed.attempts);
                let error = failed.error.leaving(left, name, &place);
                self.flow(step).failed = Some(Failed { error, ..failed });
            }
            // Of a failure that is absorbed, nothing is left to tell.
            Some(failed) if is_absorbed => flow.failed = Some(failed),
            failed => {
                flow.failed = failed;
                self.left.add(left);
            }
        }
        false
    }

    /// Drops the calls that run, and has the blocks among them end. A call that has ended is done, and may have to be undone: it stays until its record has its turn.
    pub(super) fn cancel_calls(&mut self) {
        if !self.has_inner() && self.in_writing.is_empty() {
            return self.cancel();
        }
        for step in 0..self.plan.steps.len() {
            if self.steps.states[step] != StepState::Running {
                continue;
            }
            if self.steps.flow(step).is_some() {
                self.drop_questions(step, None);
            }
            let active = self.end_blocks(step, true);
            let more = self.steps.more_of(step);
            let has_kept = more.is_some_and(|more| !more.kept.is_empty() || more.undoing > 0);
            let flow = self.steps.flow(step);
            let has_left = flow.is_some_and(|it| it.failed.is_some() || !it.left.is_empty());
            if active == 0 && !has_kept && !has_left {
                self.drop_flow(step);
                self.drop_step(step);
                continue;
            }
            let flow = self.flow(step);
            flow.active = active;
            if let Some(failed) = flow.failed.take_if(|it| !it.error.leaves_work()) {
                flow.left.add(failed.left());
            }
            flow.stop();
            self.settle(step);
        }
    }

    /// Drops the calls of a step. Its blocks with undo steps or always steps are to end, unless all is over. Returns how many of them still run, with the ended calls
    /// that wait for the turns of their records.
    pub(super) fn end_blocks(&mut self, step: usize, may_end: bool) -> usize {
        let has_blocks = may_end && self.has_inner();
        let flow = self.steps.flow(step);
        let has_failed = flow.is_none_or(|flow| flow.failed.is_some());
        let ended = self.in_writing.range((step, 0)..=(step, usize::MAX));
        let ended = ended.filter(|_| may_end && !has_failed);
        let ended: BTreeSet<usize> = ended.map(|(_, job)| *job).collect();
        let has_ended = |task: &Task<'x>| task.is_call() && ended.contains(&task.job);
        if has_blocks {
            self.abandon(|task| {
                let stays = has_ended(task) || task.block().is_some_and(BlockRun::has_ending);
                task.step == step && !stays
            });
        } else {
            self.leave_blocks(Some(step));
            self.abandon(|task| task.step == step && !has_ended(task));
            self.steps.more(step).undoing = 0;
        }
        let mut blocks = ended.len();
        if has_blocks {
            self.running.blocks(|of, job, block| {
                if of == step && job != UNDO {
                    block.cut();
                    blocks += 1;
                }
            });
        }
        blocks
    }

    /// Notes what blocks have not undone that are about to be dropped, and what became of those beside them that were undone before.
    pub(super) fn leave_blocks(&mut self, step: Option<usize>) {
        if !self.has_inner() {
            return;
        }
        let left = &mut self.left;
        let steps = step.map_or(0..self.plan.steps.len(), |step| step..step + 1);
        for undone in steps.filter_map(|step| self.steps.take_left(step)) {
            left.add(undone);
        }
        self.running.blocks(|of, _, block| {
            if step.is_none_or(|step| of == step) {
                left.add(block.left());
            }
        });
    }

    /// Waits for the blocks to end, since the run was cancelled or passed its deadline. `false` if none runs, or that was so already.
    #[cold]
    pub(super) fn wind_down(&mut self) -> bool {
        let may_wait = self.has_inner() && self.ending.is_none() && self.winding.is_none();
        let Some(interrupt) = self.interrupts.happened_early().filter(|_| may_wait) else {
            return false;
        };
        let interrupt = Some(interrupt.clone());
        self.cancel_calls();
        if self.open == 0 {
            return false;
        }
        self.limit_grace();
        self.winding = interrupt;
        true
    }

    /// From now on, calls need permits: those of blocks run beside the others.
    pub(super) fn share_permits(&mut self) {
        if !self.is_shared {
            // None of them has a context.
            self.run.permits.count(self.calls);
            self.is_shared = true;
            self.has_permit = self.run.permits.try_take();
        }
    }
}

impl BodyState<'_> {
    /// Nothing more of it is to start, and its output is of no interest.
    fn stop(&mut self) {
        for job in self.cut() {
            self.jobs[job].waits = None;
        }
        self.cut = true;
    }
}
