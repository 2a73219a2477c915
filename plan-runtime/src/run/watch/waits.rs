//! The waits of calls and of `await` steps.

use super::super::report::WaitReport;
use std::collections::BTreeMap;
use std::time::Duration;

/// The waits of a step. Times count from the start of the scope.
#[derive(Default)]
pub(super) struct Waits {
    ended: Vec<WaitReport>,
    /// The waits that have not ended, by elements.
    open: BTreeMap<u32, WaitReport>,
}

impl Waits {
    /// Begins a wait. A wait for the reason of the open wait continues that wait. Returns `true` for a new wait.
    pub(super) fn begin(&mut self, element: u32, wait: WaitReport) -> bool {
        let open = self.open.get(&element);
        if open.is_some_and(|open| open.reason == wait.reason) {
            return false;
        }
        self.end(element, wait.started);
        let continues = |last: &mut WaitReport| {
            last.reason == wait.reason
                && last.element == wait.element
                && last.ended == Some(wait.started)
        };
        let continued = self.ended.pop_if(continues);
        let is_new = continued.is_none();
        self.open.insert(element, continued.unwrap_or(wait));
        is_new
    }

    /// Lets an open wait begin at this time or later.
    pub(super) fn shorten(&mut self, element: u32, since: Duration) {
        if let Some(wait) = self.open.get_mut(&element) {
            wait.started = wait.started.max(since);
        }
    }

    pub(super) fn end(&mut self, element: u32, now: Duration) {
        if let Some(wait) = self.open.remove(&element)
            && wait.started < now
        {
            self.ended.push(WaitReport {
                ended: Some(now),
                ..wait
            });
        }
    }

    pub(super) fn end_all(&mut self, now: Duration) {
        while let Some((&element, _)) = self.open.first_key_value() {
            self.end(element, now);
        }
    }

    /// Returns all waits. The waits that have not ended come last.
    pub(super) fn take(self) -> Vec<WaitReport> {
        let mut all = self.ended;
        all.extend(self.open.into_values());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Waits;
    use crate::run::report::{WaitReason, WaitReport};
    use std::time::Duration;

    fn at(millis: u64, reason: WaitReason) -> WaitReport {
        WaitReport {
            element: Vec::new(),
            reason,
            started: Duration::from_millis(millis),
            ended: None,
        }
    }

    /// A run counts only new waits in its memory.
    #[test]
    fn a_wait_that_continues_is_not_new() {
        let mut waits = Waits::default();
        assert!(waits.begin(0, at(0, WaitReason::Turn)));
        assert!(!waits.begin(0, at(1, WaitReason::Turn)));
        waits.end(0, Duration::from_millis(2));
        assert!(!waits.begin(0, at(2, WaitReason::Turn)));
        assert!(waits.begin(0, at(3, WaitReason::Answer)));
        assert!(waits.begin(1, at(3, WaitReason::Answer)));
    }
}
