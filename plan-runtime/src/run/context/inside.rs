//! The reports of the plans and blocks that ran inside a call.

use super::super::report::{Keeps, Report};
use super::super::watch::ReportsInside;
use super::allowance::{Allowance, Held};
use super::locked;
use std::sync::{Arc, Mutex};

/// The reports of the plans and blocks inside a call.
pub(in crate::run) struct Inside {
    /// The content of these reports.
    pub(in crate::run) keeps: Keeps,
    kept: Mutex<Kept>,
}

struct Kept {
    reports: Vec<Report>,
    held: Held,
}

impl Inside {
    pub(in crate::run) fn new(allowance: &Arc<Allowance>, keeps: Keeps) -> Self {
        Self {
            keeps,
            kept: Mutex::new(Kept {
                reports: Vec::new(),
                held: Held::new(Arc::clone(allowance), true),
            }),
        }
    }
}

impl ReportsInside for Inside {
    fn keep(&self, report: Report) {
        let mut kept = locked(&self.kept);
        kept.held.add(report.bytes());
        kept.reports.push(report);
    }

    fn take(&self) -> Vec<Report> {
        std::mem::take(&mut locked(&self.kept).reports)
    }
}
