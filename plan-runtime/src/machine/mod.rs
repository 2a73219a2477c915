//! The core of a run, which decides the next step. Events go in, and commands come out.
//!
//! A [`Machine`] has no values, no futures and no clock. A *driver* has all three. The driver passes events to [`Machine::handle`], and executes the
//! commands of [`Machine::next`].
//!
//! ```
//! # use plan_runtime::machine::{NodeBlock, Command, CallEnd, Event, Machine, Node, Reaction, Tables};
//! let steps = vec![Node::call(0, vec![]), Node::call(1, vec![0])];
//! let tables = Tables::new(&[NodeBlock::new(steps)])?;
//! let mut machine = Machine::new(&tables, Reaction::Stop, 64);
//! let mut calls = Vec::new();
//! while let Some(command) = machine.next(true) {
//!     if let Command::Start(call, place) = command {
//!         calls.push(tables.label(place.step));
//!         machine.handle(Event::Ended(call, CallEnd::Done));
//!     }
//! }
//! assert_eq!(calls, [0, 1]);
//! assert!(machine.view().result().is_ok());
//! # Ok::<(), plan_runtime::machine::BadNodes>(())
//! ```
//!
//! Two machines reach equal states if their drivers pass equal events, and call [`Machine::next`] equally often after each event. A resumed run has
//! two more events, [`Machine::follow`] and [`Machine::loosen`]. The number of calls matters, because the machine reuses the rows of ended scopes and
//! calls only after the driver has taken all commands. A call without a command counts as well, because the call removes outdated entries from lines.
//! A driver can therefore resume a run: the driver repeats the recorded events.
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | run | one execution of a plan, a [`Machine`]. In the names `StepRun` and `RunId`: one execution of a step that is not plain |
//! | scope | the plan itself, a block, a round of a `loop`, or a called plan. `ScopeRow` is its description in the [`Tables`], and `ScopeRun` is one execution of the scope |
//! | duty | the phase of a step in its scope. The steps of the *work* come first. An *undo step* undoes a step of the work. An *always step* runs at the end of the scope |
//! | plain | a step of the work that is a call or a value, with one attempt, without a [`Recovery`], and with the default [`Timing`]. A plain step can have dependencies, and an undo step can undo it. A plain step costs one event and one command |
//! | hot, cold | the eight bytes that each step has; the state and the description of a step that is not plain |
//! | arena, slot | the list of all `Hot` states; the index of one step of one scope in this list |
//! | row | an entry of a table. `RowId` is the row of a scope in the tables |
//! | element | an item of a `for`, or a round of a `loop`. `WHOLE` is the step itself |
//! | body | a call, a value, a wait, a branch, a list or a scope in a step. A `for` around an `if` has two bodies and the bodies of its branches |
//! | call | in `CallId` and `CallTable`: a call of a tool, a value, a wait or a timer |
//! | job | a call, a value, a wait or a scope of a step, with all its attempts. All rounds of a loop are one job |
//! | permit | the right to start one of the calls that the `bound` of [`Machine::new`] allows |
//! | line | the queue of a scope: the steps and jobs that wait for a permit, in the order of the plan. An inner scope has an entry in the line if its own line has one |
//! | transient, lasting | a failure after which another attempt may help; a failure that leaves effects, such as a failed undo step |
//! | absorbed | a failure that does not fail the scope, because of a [`Recovery`] |
//! | left | lasting failures and results of undo steps that belong to no failure of a step |
//! | kept | an attempt or a scope that has succeeded, and may have to be undone |
//! | over | ended. A kept scope can still return to its undo phase |
//! | doomed | a step of the work in a scope that was cut (see below), or a step that had failed before its calls were dropped. No recovery absorbs the failure |
//!
//! # Steps
//!
//! A step of the work is ready when all steps that it needs have completed, were skipped or have recovered. If a step fails, the steps that need it
//! are blocked.
//!
//! Ready plain steps of the plan itself enter a bit set. A ready `await` starts at once. All other ready steps enter the line of their scope. If
//! fewer calls run than the bound allows, the first ready step in the order of the plan starts. Only calls and values hold a permit. Questions and
//! scopes need a free permit when they begin.
//!
//! With [`Timing::amounts`], the machine first asks the driver for the amounts of the step, such as the number of its attempts. Then the machine
//! enters the body of the step, up to a call, a wait, a scope or a question. A `for` asks for the length of its list, and queues one element for each
//! item. At most [`Amounts::at_once`] elements run at one time. A `loop` opens one scope for each round, and asks for its condition after the round. The
//! step fails if the condition still holds after [`Amounts::at_most`] rounds.
//!
//! An attempt may have a time limit (*timeout*), and all attempts of an element together may have another time limit (*deadline*). After a transient
//! failure, another attempt starts, perhaps after a backoff. No attempt starts after the deadline, or after the last of [`Amounts::attempts`]. An attempt
//! that waits in line at the deadline fails at once.
//!
//! With [`Timing::admits`], the driver decides when an attempt of a call starts. The driver admits the call, fails the call, or lets the call
//! wait and ask again ([`Event::Allowed`]). The driver can also defer the step until a decision about another call ([`Event::Deferred`]). A call of a [`NodeBody::Open`]
//! can turn out to be a plan ([`Event::Opened`]), which runs as a scope.
//!
//! # Scopes
//!
//! A scope makes its inputs, does its work, makes its output, undoes its work if the work or the output has failed, and runs its always steps. Then the
//! scope has ended. Without its inputs, the scope fails and does nothing else. If an enclosing scope fails later, a kept scope returns to its undo
//! phase, and its always steps do not run again.
//!
//! The undo phase visits each step of the work after all steps that need it. If the step has completed, its undo step runs first. Then the kept
//! scopes inside the step return to their undo phases: elements concurrently, rounds from the last to the first. Steps that do not need each other are
//! undone concurrently.
//!
//! # Failures
//!
//! A failed list does not start further elements, and its waits end. If several elements fail, the step gets the failure of the first failed element in
//! the list. [`Recovery::Replace`] and
//! [`Recovery::Catch`] absorb the failure of a step or an element, and the driver may make a value instead. `Replace` does not absorb a lasting
//! failure. In a scope with a [`Cutoff`], no recovery absorbs a failure of the work.
//!
//! # Ends before the time
//!
//! There are three ways to end a scope before its time. Each does more than the one before:
//!
//! - To *stop* a scope: nothing more of its work starts, waits end, and no attempt follows another. Running calls continue, and a running inner scope
//!   does all of its work.
//! - To *cut* a scope: the scope stops, and the scopes inside are cut. Its calls are dropped, except calls with certain ends ([`Event::Certain`]) in
//!   steps that have not failed. Undo steps and always steps run. If the scope has no inputs yet, no always step runs. A cut has no effect on a scope
//!   that already undoes its work or runs its always steps.
//! - To *drop* a scope: everything inside ends at once. No undo step and no always step runs.
//!
//! The [`Reaction`] of the run decides about a failure. `Stop` stops the scope of the failed step. `Cancel` also drops the calls of this scope and cuts
//! the scopes inside, but does not cut the scope, so recoveries apply. `Continue` lets independent steps continue. A cancellation or the deadline of
//! the run cuts the run, and [`Event::Exhausted`] cuts a run that has failed. The time limit of a step drops the call of the attempt, or cuts its scope.
//! A call with a certain end continues, and no attempt follows a deadline. A run that exceeds its [`Capacity`] or its time for undo steps is dropped.
//!
//! # Calls
//!
//! A driver starts calls of tools, values of steps, waits and timers. Each of them has a [`CallId`], and ends with an event. A driver that did not make a
//! call takes the call back ([`Event::Withdrawn`]). The argument `bound` of
//! [`Machine::new`] limits concurrent calls and values. [`Capacity::calls`] limits the calls, waits and timers of steps that are not plain, at one time.
//!
//! # Files
//!
//! | file | contents |
//! |---|---|
//! | `event.rs`, `failures.rs`, `ids.rs` | events and commands, failures, ids |
//! | `nodes.rs`, `tables.rs` | the description of a plan, and the plan as flat tables |
//! | `state.rs`, `parts.rs`, `ready.rs`, `rows.rs` | the tables of a run, and their rows: steps, scopes and attempts in `parts.rs`, calls and questions in `rows.rs` |
//! | `arena.rs` | the arena, the rows of scopes, and the lines |
//! | `calls.rs` | the start and the end of calls, waits, timers and questions |
//! | `engine.rs` | the machine: the fast path for plain steps, and the next command |
//! | `events.rs` | events and their consequences |
//! | `scope.rs` | transitions of scopes: work, undo steps, always steps |
//! | `runs.rs` | transitions of steps that are not plain: branches, lists, rounds |
//! | `attempts.rs` | transitions of attempts: time limits, failures |
//! | `blocking.rs` | the failed steps that other steps need |
//! | `invariants.rs` | checks of the state in debug builds |
//! | `exceed.rs` | the end of a run that exceeds its capacity, or whose time has passed |
//! | `view.rs` | a view of a run: trails and results |
//! | `outlook.rs` | the calls that a step may still start |

mod arena;
mod attempts;
mod blocking;
mod calls;
mod engine;
mod event;
mod events;
mod exceed;
mod failures;
mod ids;
#[cfg(debug_assertions)]
mod invariants;
mod nodes;
mod outlook;
mod parts;
mod ready;
mod rows;
mod runs;
mod scope;
mod state;
mod tables;
mod view;

pub use engine::Machine;
pub use event::{
    Answer, CallEnd, CallError, Command, Event, Pause, Question, QuestionId, StepPlace, StepStatus,
};
pub use failures::{Cutoff, FailureRole, Failures, Full, Reason, StepFailure, Trail, TrailPart};
pub use ids::{CallId, ErrorId, ScopeId, StepId, StepSlot};
pub use nodes::{Amounts, BadNodes, Duty, Node, NodeBlock, NodeBody, Nodes, Recovery, Timing};
pub use outlook::{Outlook, opened};
pub use state::{Capacity, Reaction};
pub use tables::Tables;
pub use view::{MachineView, Part};
