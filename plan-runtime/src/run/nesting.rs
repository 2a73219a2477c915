//! Limits of nested runs: their depth, because each run uses stack, and the number of commands before the
//! outermost run gets a turn to check its deadline.

use crate::error::Interrupt;
use std::cell::Cell;

/// The largest number of runs that are polled inside each other on a thread. Without optimization, a run takes 7 to 10 KiB of the stack, plus
/// the stack of tools, and threads have 2 MiB.
pub(super) const DEEPEST: usize = 64;

thread_local! {
    static POLLED: Cell<usize> = const { Cell::new(0) };
    static TURN: Cell<u64> = const { Cell::new(0) };
    static STARTED: Cell<usize> = const { Cell::new(0) };
}

/// The most commands that one turn of the outermost run executes, and calls that it polls again, so that no poll takes a millisecond. Other tasks of the thread have their
/// turns after that.
const STARTS: usize = 256;

/// If a run is polled more often than this in one turn of the outermost run, a tool blocks on the run, and the run would wait forever.
const POLLS: u32 = 16;

/// The turn of a run's last poll, and the number of polls in that turn.
#[derive(Default)]
pub(super) struct Turn {
    number: u64,
    polls: u32,
}

impl Turn {
    /// Notes that the run is polled.
    pub(super) fn polled(&mut self) {
        let number = TURN.get();
        self.polls = if self.number == number {
            self.polls + 1
        } else {
            0
        };
        self.number = number;
        if self.polls > POLLS {
            self.polls = 0;
            STARTED.set(0);
        }
    }
}

/// Counts one more command or call of this turn, and returns `true` if the turn has room for it.
#[inline]
pub(super) fn may_start() -> bool {
    let started = STARTED.get();
    let may = started < STARTS;
    STARTED.set(started + usize::from(may));
    may
}

/// A run that is being polled on this thread.
pub(super) struct Nested(());

impl Nested {
    /// Enters the run of a plan. Returns an interrupt if the run would be too deep inside other runs.
    pub(super) fn enter() -> Result<Self, Interrupt> {
        let around = POLLED.get();
        if around == 0 {
            TURN.set(TURN.get().wrapping_add(1));
            STARTED.set(0);
        }
        if around == DEEPEST {
            return Err(Interrupt::Nested(around));
        }
        POLLED.set(around + 1);
        Ok(Self(()))
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        POLLED.set(POLLED.get() - 1);
    }
}
