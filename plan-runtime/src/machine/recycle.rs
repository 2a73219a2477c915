//! The rows of ended scopes and calls, which later scopes and calls use again.

use super::engine::Machine;
use super::state::{Doing, Fate};

impl Machine {
    /// Frees the rows of ended scopes and calls, if the driver has taken all commands: after that, no event names these rows.
    pub(super) fn recycle(&mut self) {
        if !self.core.desk.out.is_empty() || !self.core.freed.is_empty() {
            return;
        }
        self.core.desk.calls.recycle();
        while let Some(scope) = self.core.released.pop() {
            let it = &mut self.core.scopes[scope];
            let (row, runs) = (it.row, std::mem::take(&mut it.runs));
            for run in runs.iter().flatten() {
                let it = &mut self.core.desk.runs.rows[*run];
                for tried in it.tries.drain(..) {
                    if let (Doing::Scope(inner), Fate::Kept) = (tried.doing, tried.fate) {
                        self.core.released.push(inner);
                    }
                }
                self.core.desk.runs.free.push(*run);
            }
            let it = &mut self.core.scopes[scope];
            it.runs = runs;
            // The last of the list leads to itself.
            it.open = self.core.free[row].map_or(scope.0, |next| next.0);
            self.core.free[row] = Some(scope);
        }
    }
}
