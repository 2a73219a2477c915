//! Plans → document of a dialect → plans.

mod bodies;
mod forms;
mod random;
mod unsupported;

use crate::support::plans;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Dialect, DocumentLimits, Finding, Reader, Severity};
use std::time::Duration;

const DIALECTS: [Dialect; 3] = [Dialect::ToolPlan, Dialect::Blueprint, Dialect::ActionPlan];

/// Returns `true` for the warning about a time that another time of a random policy makes useless.
pub(crate) fn is_of_times(finding: &Finding) -> bool {
    let starts = [
        "`timeout` is longer",
        "the longest wait between attempts is shorter",
    ];
    finding.code == Code::NotAllowed
        && finding.severity == Severity::Warning
        && starts.iter().any(|it| finding.message.starts_with(it))
}

/// The plan, read as this dialect and as one that is recognized; both must be the same.
fn read(text: &str, dialect: Dialect) -> Plan {
    // Plans of random policies wait for years.
    let reader = || Reader::new().limits(DocumentLimits::DEFAULT.time(Duration::MAX));
    let named = reader().dialect(dialect).read(text);
    let named = named.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    let mut warnings = named.warnings().iter();
    assert!(warnings.all(is_of_times), "{:?}\n{text}", named.warnings());
    let recognized = reader().read(text);
    let recognized = recognized.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert_eq!(recognized.dialect(), dialect, "{text}");
    assert_eq!(recognized.plan(), named.plan(), "{text}");
    named.into_plan()
}
