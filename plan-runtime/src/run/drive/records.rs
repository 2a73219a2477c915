//! The state of a run with a journal.

use super::super::StepError;
use super::super::answered::RecordedAnswer;
use super::super::context::CallContext;
use super::super::durable::{Durable, Stop};
use super::super::messages::Messages;
use super::super::timer::Sleep;
use crate::error::Interrupt;
use crate::machine::{CallId, Part, ScopeId};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The state of a run with a journal.
pub(super) struct Records {
    pub(super) durable: Arc<Durable>,
    /// `true` if the run is a step of another run: only the other run is interrupted.
    pub(super) is_inner: bool,
    /// The calls that are to be recorded.
    pub(super) due: HashMap<CallId, Due>,
    /// The calls of the plan itself that have ended, and whose records have not had their turns.
    pub(super) ending: HashSet<CallId>,
    /// The errors that attempts with a time limit wait after, by slots and elements.
    pub(super) failed: HashMap<(usize, u32), StepError>,
    /// The timers of attempts that are scopes, by slots and elements.
    pub(super) timeouts: HashMap<(usize, u32), CallId>,
    /// Time limits that are not over, with the keys of the records of their ends.
    pub(super) limits: HashMap<CallId, String>,
    /// The timers of rounds, by slots, each with the start of its round.
    pub(super) rounds: HashMap<usize, (CallId, Duration)>,
    /// Attempts that have opened scopes, and whose time limits have not started.
    pub(super) opened: Vec<(ScopeId, Part)>,
    pub(super) interrupts: Interrupts,
    pub(super) messages: Option<Messages>,
    /// `true` after the last record of a run that had ended.
    pub(super) is_exhausted: bool,
    /// The output of the run.
    pub(super) output: Value,
}

/// The things that a run with a journal knows of a call before the call starts.
pub(super) enum Known {
    /// The run is over.
    Over,
    /// The call has begun before a crash, so the call waits for nothing.
    Begun,
    /// The gates have answered before a crash.
    Answered(RecordedAnswer),
    Nothing,
}

/// A call that is to be recorded.
pub(super) struct Due {
    pub(super) key: String,
    pub(super) started: Duration,
    /// `true` if Rust code makes a part of the call, so that a failure without a call is recorded as well.
    pub(super) is_computed: bool,
    /// The time that the call has left, and the error after that time.
    pub(super) limit: Option<(Duration, StepError)>,
    pub(super) context: Option<CallContext>,
}

/// The ends of a run before its time. Each has a record, and ends the run when the record has its turn.
#[derive(Default)]
pub(super) struct Interrupts {
    /// The interrupt that has come.
    pub(super) coming: Option<Interrupt>,
    /// The interrupt whose record waits for its turn.
    pub(super) recorded: Option<(Sleep, Interrupt)>,
    /// `true` after the record of an interrupt has had its turn, until the time for undo and always steps begins.
    pub(super) is_pausing: bool,
    /// Holds back calls from then on.
    pub(super) stop: Option<Stop>,
}

impl Interrupts {
    /// Ends the run, unless something else does.
    pub(super) fn come(&mut self, interrupt: Interrupt) {
        self.coming.get_or_insert(interrupt);
    }
}

impl Records {
    pub(super) fn new(durable: Arc<Durable>, is_inner: bool) -> Self {
        Self {
            durable,
            is_inner,
            due: HashMap::new(),
            ending: HashSet::new(),
            failed: HashMap::new(),
            timeouts: HashMap::new(),
            limits: HashMap::new(),
            rounds: HashMap::new(),
            opened: Vec::new(),
            interrupts: Interrupts::default(),
            messages: None,
            is_exhausted: false,
            output: Value::Null,
        }
    }
}
