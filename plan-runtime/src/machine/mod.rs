//! The core of a run: which step is next. Events go in, and commands come out.
//!
//! A [`Machine`] knows no values, no futures and no time. A driver tells the machine what has happened, and does what the machine wants. The machine tells the driver
//! when a scope is over for good, and the driver counts the readers of each output. The machine does the same whenever the same things happen in the same order, so a list of events is a run, and a beginning of the list is a crash.
//!
//! | file | contents |
//! |---|---|
//! | `event.rs`, `failures.rs`, `ids.rs` | events and commands, failures, ids |
//! | `nodes.rs`, `tables.rs` | the description of a plan, and the plan as flat tables |
//! | `state.rs`, `parts.rs`, `ready.rs`, `rows.rs` | the state of a run and its parts: each step in eight bytes, scopes, steps that are not plain, attempts, calls, questions |
//! | `arena.rs` | the scopes of a run, and the order in which steps, attempts and elements start |
//! | `calls.rs` | calls, waits, timers and questions that a driver has |
//! | `engine.rs` | the machine: the short way of plain steps, and the next command |
//! | `events.rs` | events and their consequences |
//! | `scope.rs` | transitions of scopes: work, undo steps, always steps |
//! | `runs.rs` | transitions of steps that are not plain: branches, lists, rounds |
//! | `attempts.rs` | transitions of attempts: time limits, failures |
//! | `exceed.rs` | the end of a run that needs more than it may have, or whose time is over |
//! | `view.rs` | a look at a run: trails and results |
//!
//! A step is plain if it is a call or a value with one attempt and without any attribute. In the loop of a driver, a plain step costs one event and one command.
//!
//! # Phases
//!
//! A scope makes its inputs, does its work, makes its output, undoes its work if that has failed, and runs its always steps. Then the scope is over. A scope that has succeeded and has something to undo is kept: the scope returns to its undo phase if a scope around it fails.
//!
//! # Ends before the time
//!
//! There are three ways to end a scope before its time. Each does more than the one before:
//!
//! - To *stop* a scope: nothing more of its work starts, waits end, and no attempt follows another. Calls that run keep running.
//! - To *cut* a scope: the scope stops, and its calls are dropped, except those whose ends are certain. Undo steps and always steps run.
//! - To *drop* a scope: everything inside ends at once. No undo step and no always step runs.
//!
//! A failure stops its scope, or cuts it, as the [`Reaction`] of the run has it. A cancellation or a time limit cuts. A run that exceeds its [`Capacity`] or its time for undo steps is dropped.
//!
//! # Calls
//!
//! A driver starts calls of tools, values of steps, waits and timers. Each of them has a [`CallId`], and ends with an event. A bound on calls counts calls and values. [`Capacity::calls`] counts calls, waits and timers of steps that are not plain. [`Capacity::total_calls`] counts calls of tools and plans.
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
