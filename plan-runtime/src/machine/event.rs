//! Events and commands.

use super::ids::{CallId, ErrorId, ScopeId, StepId, StepSlot};
use super::nodes::Amounts;

/// An event in a run, which a driver passes to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A call or a wait has ended.
    Ended(CallId, CallEnd),
    /// A call will certainly end later, so a scope that is cut waits for the call. The machine ignores the event of a call that does not run.
    Certain(CallId),
    /// The attempt starts now, and the machine starts its call under a new id. This event answers [`Command::Admit`]. If no permit is left, the machine handles this
    /// event like [`Event::Allowed`].
    Admitted(CallId),
    /// A call no longer has to wait for the driver. The machine asks again when the attempt is first in line and has a permit.
    Allowed(CallId),
    /// The driver cannot decide about the call now, because too many calls of the run already wait for decisions. The machine asks again after the driver
    /// has decided about another call. If no call waits for a decision, the machine asks again at once.
    Deferred(CallId),
    /// The driver did not make a call that the machine has started, so the call waits for its admission again. Only a driver that views a recorded run
    /// withdraws calls, and this driver never admits the call again.
    Withdrawn(CallId),
    /// A call has turned out to be a plan, and no longer counts as a call. The machine ignores the event if the body of the step is not
    /// [`NodeBody::Open`](super::NodeBody::Open).
    Opened(CallId),
    /// A question has its answer. The machine ignores an answer that no longer matters.
    Answered(QuestionId, Answer),
    /// The timer of a wait has fired.
    Fired(CallId),
    /// The timer of a time limit has fired. The driver keeps the error.
    TimedOut(CallId, ErrorId),
    /// The running calls can no longer end, because the recorded run ends here. If a scope that has not ended has a failure, the machine
    /// cuts the run. Otherwise, the event has no effect.
    Exhausted,
    /// The run was cancelled.
    Cancelled,
    /// The run has passed its deadline.
    Late,
    /// The grace period, which is the time for undo steps and always steps after a cancellation or the deadline, has ended.
    GraceOver,
}

/// The end of a call or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    /// The call has its output, or the wait its value.
    Done,
    /// The call or the wait has failed.
    Failed(CallError),
    /// The run exceeds a limit that the driver counts, such as bytes. The run ends as if it had used up its [`Capacity`](super::Capacity).
    Exceeds(ErrorId),
}

/// An error of a call, a wait or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The error, which the driver keeps.
    pub error: ErrorId,
    /// `true` if another attempt may help.
    pub transient: bool,
    /// `true` if [`Recovery::Replace`](super::Recovery::Replace) must not absorb the failure. [`Recovery::Catch`](super::Recovery::Catch) may absorb
    /// it.
    pub lasting: bool,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The number that the question asks for.
    Number(u32),
    /// The amounts of a step.
    Amounts(Amounts),
    /// The value is made.
    Made,
    /// The value cannot be made.
    Failed(CallError),
    /// The run exceeds a limit that the driver counts, and ends.
    Exceeds(ErrorId),
}

/// The id of a question. A row in the table of questions serves many questions, which differ in their generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId {
    pub(super) row: u32,
    pub(super) generation: u32,
}

/// A task for the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Decide whether an attempt of a call starts now. The attempt has a permit. The answer is [`Event::Admitted`], [`Event::Deferred`] or a failure.
    /// A driver that lets the call wait sends [`Event::Allowed`] at the end of the wait, and the machine asks again. Until then, the attempt does not
    /// count as a running call.
    Admit(CallId, StepPlace),
    /// Start a call.
    Start(CallId, StepPlace),
    /// Wait for a value from outside.
    Await(CallId, StepPlace),
    /// Answer a question. Other events may come before the answer.
    Evaluate(QuestionId, Question),
    /// Start a timer. A time limit ends with [`Event::TimedOut`], and a wait with [`Event::Fired`].
    Sleep(CallId, Pause, StepPlace),
    /// Drop a call, a wait or a timer. The driver sends no event of the call after this command. The call may have
    /// ended in the meantime.
    Drop(CallId),
    /// Drop the values of a scope that has ended permanently. A scope has no values if its inputs were not made. At the end of a run, the driver drops
    /// all remaining values.
    Free(ScopeId),
    /// A step has ended. Only a machine with [`Machine::telling`](super::Machine::telling) returns this command, and not for plain steps that succeed
    /// or are dropped.
    Settled(ScopeId, StepSlot, StepStatus),
    /// The work of a scope has failed, and its undo steps are next. Only a machine with [`Machine::telling`](super::Machine::telling) has
    /// this command.
    Unwinding(ScopeId),
    /// An inner scope has ended. If a kept scope is undone later, the machine returns this command a second time. Only a
    /// machine with [`Machine::telling_scopes`](super::Machine::telling_scopes) has this command.
    Over(ScopeId),
    /// The run has ended.
    Done,
}

/// The status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StepStatus {
    /// The step has not started.
    Waiting = 0,
    /// The step has started.
    Running = 1,
    /// The step's own body has succeeded.
    Completed = 2,
    /// No branch of the step was taken.
    Skipped = 3,
    /// Another value replaces the step's value, or the value of an element.
    Recovered = 4,
    /// The step has failed.
    Failed = 5,
    /// A step that the step needs has failed.
    Blocked = 6,
    /// The step was dropped.
    Cancelled = 7,
}

/// The position of a call in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// The step.
    pub step: StepId,
    /// The slot in the arena, for the output.
    pub slot: StepSlot,
    /// The number of the attempt, from 1 on.
    pub attempt: u32,
}

/// A question about the plan's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The number of the branch to take, from 1 on, or 0 for none. The second field is the number of the `if` among the bodies of the step, in the order of the source.
    Branch(StepPlace, u32),
    /// The length of a list. The second field is the number of the `for` among the bodies of the step.
    List(StepPlace, u32),
    /// The existence of another round after the round in the second field: 1 for another round, or 0.
    Again(StepPlace, u32),
    /// The amounts of a step.
    Amounts(StepPlace),
    /// The inputs of a scope that is about to begin.
    Inputs(ScopeId),
    /// The value of a scope whose work has succeeded.
    Output(ScopeId),
    /// The value that replaces a failure of the step or of an element.
    Fallback(StepPlace),
}

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// The wait before an attempt.
    Backoff,
    /// The least time from the start of a round to the start of the next.
    Every,
    /// The time limit of an attempt.
    Timeout,
    /// The time limit of an element or a loop.
    Deadline,
}
