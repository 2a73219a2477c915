//! The core of a run: which step is next. Events go in, and commands come out.
//!
//! A [`Machine`] decides the order of a run. The machine has no values, no futures and no clock: a driver has these. The driver hands over events with [`Machine::handle`] and takes
//! commands with [`Machine::next`]. Another machine reaches an equal state if its driver passes equal events, and takes an equal number of commands after each event. The number
//! of commands matters, because the machine reuses the rows of ended scopes and calls only after the driver has taken all commands. So a driver resumes a run by repeating
//! recorded events.
//!
//! | file | contents |
//! |---|---|
//! | `event.rs`, `failures.rs`, `ids.rs` | events and commands, failures, ids |
//! | `nodes.rs`, `tables.rs` | the description of a plan, and the plan as flat tables |
//! | `state.rs`, `parts.rs`, `ready.rs`, `rows.rs` | the state of a run and its parts: each step in eight bytes, scopes, steps that are not plain, attempts, calls, questions |
//! | `arena.rs` | the scopes of a run, and the order in which steps, attempts and elements start |
//! | `calls.rs` | calls, waits, timers and questions that a driver has |
//! | `engine.rs` | the machine: the fast path for plain steps, and the next command |
//! | `events.rs` | events and their consequences |
//! | `scope.rs` | transitions of scopes: work, undo steps, always steps |
//! | `runs.rs` | transitions of steps that are not plain: branches, lists, rounds |
//! | `attempts.rs` | transitions of attempts: time limits, failures |
//! | `blocking.rs` | the failed steps that other steps need |
//! | `exceed.rs` | the end of a run that exceeds its capacity, or whose time has passed |
//! | `view.rs` | a view of a run: trails and results |
//!
//! A step of the work is plain if it is a call or a value with one attempt, without a [`Recovery`], and with the default [`Timing`]. Dependencies and undo steps
//! do not matter. In the loop of a driver, a plain step costs one event and one command.
//!
//! # Steps
//!
//! A step is ready when the last step that it needs has ended. A plain step of the plan itself enters a bit set, and any other step enters the line of its scope. The first ready step in the order of the plan starts if fewer calls run than the bound allows. If a step completes, is skipped or recovers, the steps that need it may become ready. If a step fails, the
//! steps that need it are blocked.
//!
//! A step that is not plain may ask for its amounts, such as the number of its attempts. Then the machine enters the body of the step, up to a call, a wait, a scope or a question. A `for` asks for the length of its list and queues one element for each item. A `loop` opens one scope for each round, and asks for its condition after the round.
//!
//! An attempt may have a time limit (*timeout*), and all attempts of an element together may have another (*deadline*). An attempt follows a transient failure, perhaps after a backoff, unless the deadline has passed. The driver may have to admit a call before the call starts.
//!
//! # Scopes
//!
//! The run, a block, a round and a called plan are scopes. A scope makes its inputs, does its work, makes its output, undoes its work if the work has failed, and runs its always steps. Then the scope has ended. A scope that has succeeded and may have to be undone is kept. A kept scope returns to its undo phase if an enclosing scope
//! fails.
//!
//! The undo phase visits each step of the work after all steps that need it. If the step has completed, its undo step runs first. Then the kept scopes inside the step return to their undo phases: elements together, rounds from the last to the first. Undo steps that do not need each other run together.
//!
//! # Failures
//!
//! If several elements of a list fail, the failure of the first failed element in the list counts. [`Recovery::Replace`] and [`Recovery::Catch`] absorb the failure of a step or an element, and the driver may make a value instead. `Replace` does not absorb a lasting failure, such as an undo step that has failed. In a scope with a [`Cutoff`], nothing absorbs a failure of the work.
//!
//! # Ends before the time
//!
//! There are three ways to end a scope before its time. Each does more than the one before:
//!
//! - To *stop* a scope: nothing more of its work starts, waits end, and no attempt follows another. Running calls continue, and a running inner scope does all of its work.
//! - To *cut* a scope: the scope stops, and the scopes inside are cut. Its calls are dropped, except calls with certain ends ([`Event::Certain`]) in steps that have not failed. Undo steps and always steps run.
//! - To *drop* a scope: everything inside ends at once. No undo step and no always step runs.
//!
//! A failure stops its scope, cuts its scope, or lets independent steps continue. The [`Reaction`] of the run decides. A cancellation or a time limit cuts. A run that exceeds its [`Capacity`] or its time for undo steps is dropped.
//!
//! # Calls
//!
//! A driver starts calls of tools, values of steps, waits and timers. Each of them has a [`CallId`], and ends with an event. A bound on calls counts calls and values. [`Capacity::calls`] counts calls, waits and timers of steps that are not plain.
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
mod nodes;
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
pub use state::{Capacity, Reaction};
pub use tables::Tables;
pub use view::{MachineView, Part};
