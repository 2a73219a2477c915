//! Runs with a journal: their records.
//!
//! | file | contents |
//! |---|---|
//! | `calls.rs` | calls |
//! | `gates.rs` | answers of gates |
//! | `times.rs` | waits before attempts and rounds, time limits |
//! | `values.rs` | values from outside |
//! | `keys.rs` | the keys of records, notes for `retry_failed` |
//! | `stops.rs` | the journal, and early ends of a run |

mod calls;
mod gates;
mod keys;
mod stops;
mod times;
mod values;

use super::super::durable::{Durable, INTERRUPT};
use super::scene::Scene;
use super::task::Site;
use crate::machine::CallId;
pub(super) use calls::CallRecords;
pub(super) use gates::Known;
pub(super) use keys::{EndNotes, Keys};
use std::sync::Arc;
use std::task::Context;
use stops::Interrupts;
use times::TimeRecords;

/// The records of a run with a journal.
pub(super) struct Records {
    durable: Arc<Durable>,
    pub(super) calls: CallRecords,
    pub(super) times: TimeRecords,
    interrupts: Interrupts,
}

impl Records {
    pub(super) fn new(durable: &Arc<Durable>) -> Self {
        Self {
            durable: Arc::clone(durable),
            calls: CallRecords::new(Arc::clone(durable)),
            times: TimeRecords::new(Arc::clone(durable)),
            interrupts: Interrupts::new(Arc::clone(durable)),
        }
    }

    /// Takes the recorded end of the run.
    pub(super) fn begin(&mut self, scene: &Scene<'_>) {
        self.interrupts.replay(scene, INTERRUPT);
    }

    /// Polls the journal, and ends the run if the journal has failed or if a recorded end takes effect.
    #[cold]
    pub(super) fn look(&mut self, scene: &mut Scene<'_>, cx: &mut Context<'_>) {
        let is_ending = self.calls.is_ending();
        self.interrupts.look(scene, is_ending, cx);
    }

    /// Forgets that a call is to be recorded. Returns `false` if the call is still held back.
    pub(super) fn forget(&mut self, call: CallId) -> bool {
        self.times.forget(call);
        self.calls.forget(call)
    }

    /// Begins the time of a call that is a plan, which has no record itself.
    pub(super) fn begin_plan(&mut self, scene: &mut Scene<'_>, of: &Site) {
        self.forget(of.call);
        scene.values.begin_time(of, || scene.clock.now());
    }
}
