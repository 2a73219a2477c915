//! The kinds of ends and their numbers in the database.

use plan_runtime::journal::RunState;
use plan_runtime::journal::spi::End;

/// The states of ended runs. The index of a state is its number.
const STATES: [RunState; 3] = [RunState::Done, RunState::Failed, RunState::Cancelled];

/// Returns the number of a state. Returns `None` if the run has not ended, and for the state of a later version.
pub(crate) fn number(state: RunState) -> Option<i16> {
    let place = STATES.iter().position(|it| *it == state)?;
    i16::try_from(place).ok()
}

/// Returns the state with a number.
pub(crate) fn state(number: i16) -> Option<RunState> {
    let place = usize::try_from(number).ok()?;
    STATES.get(place).copied()
}

/// Returns the number of a kind of end. Returns `None` for the kind of a later version.
pub(crate) fn number_of(end: &End) -> Option<i16> {
    number(end.state())
}

/// Returns the end with a number and an output or an error.
pub(crate) fn end(number: i16, body: String) -> Option<End> {
    match state(number)? {
        RunState::Done => Some(End::Done(body)),
        RunState::Failed => Some(End::Failed(body)),
        RunState::Cancelled => Some(End::Cancelled(body)),
        _ => None,
    }
}
