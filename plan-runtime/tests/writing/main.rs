//! Plans → text of a dialect → plans.

#[path = "../support/plans.rs"]
mod plans;

mod forms;
mod lacks;
mod random;

use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Reader};

const DIALECTS: [Dialect; 3] = [Dialect::ToolPlan, Dialect::Blueprint, Dialect::ActionPlan];

/// The plan, read as this dialect and as one that is recognised; both have to be the same.
fn read(text: &str, dialect: Dialect) -> Plan {
    let named = Reader::new().dialect(dialect).read(text);
    let named = named.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert!(
        named.warnings().is_empty(),
        "{:?}\n{text}",
        named.warnings()
    );
    let recognised = Reader::new().read(text);
    let recognised = recognised.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert_eq!(recognised.dialect(), dialect, "{text}");
    assert_eq!(recognised.plan(), named.plan(), "{text}");
    named.into_plan()
}
