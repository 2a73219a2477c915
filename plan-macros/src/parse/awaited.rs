//! `step reply: Reply = await;` among the steps that run after the work.

use crate::ast::{Body, Role};
use crate::report::Report;

/// Reports each `await` in a step of this kind, which runs after the work.
pub(super) fn late(body: &Body, kind: &str, report: &mut Report) {
    if let Body::Await(at) = body {
        let message = format!("{kind} cannot wait for a value\nhelp: wait in a step before");
        report.error_at(*at, message);
    }
    body.blocks(&mut |block| {
        // Steps of other roles were checked already.
        let work = block
            .steps
            .iter()
            .filter(|step| matches!(step.role, Role::Work));
        work.for_each(|step| late(&step.body, kind, report));
    });
}
