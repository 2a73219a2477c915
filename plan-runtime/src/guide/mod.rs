//! A guide: from a first plan to all that a plan can do.
//!
//! | chapter | says |
//! |---|---|
//! | [First plan](first_plan) | a program from nothing to a result, and what the compiler says of three mistakes |
//! | [Tools](tools) | what steps call: `#[tool]`, `#[derive(Tool)]`, the application, errors |
//! | [References and values](references) | fields, lists, maps, projections, computed values, `format!` |
//! | [Absence](absence) | what may be missing, and the ways out |
//! | [Flow](flow) | conditions, loops, order, retries, time limits, fallbacks, plans in plans |
//! | [Running](running) | options, failures, cancelling, reports, observers, time |
//! | [Testing](testing) | mocks, time that stands still, jitter that repeats |
//! | [Dynamic plans](dynamic_plans) | plans that come as JSON: reading, checking, running, writing |
//! | [Plans that you do not trust](untrusted) | what is promised of a stranger's plan, and what is not |
//! | [Pictures](pictures) | a plan and a run, shown to people |
//! | [Checks](checks) | every check: what is wrong, what the compiler says, what to write |
//! | [Compared](compared) | the same workflow in plain Rust, in string templates, in an engine; when not to use `plan!` |
//!
//! All code of the guide is compiled, and nearly all of it is run, by this crate's tests. The messages of the compiler are
//! those of rustc 1.95, word for word; only the file's name in them is made `src/main.rs`.

#[doc = include_str!("first_plan.md")]
///
/// Next: [Tools](tools).
pub mod first_plan {}

/// What steps call.
///
#[doc = include_str!("tools.md")]
///
/// # The mailbox
///
/// The other chapters use these tools and types, as `mod mail`:
///
/// ```no_run
#[doc = include_str!("mail.rs")]
/// ```
///
/// Next: [References and values](references).
pub mod tools {}

#[doc = include_str!("references.md")]
///
/// Next: [Absence](absence).
pub mod references {}

#[doc = include_str!("absence.md")]
///
/// Next: [Flow](flow).
pub mod absence {}

#[doc = include_str!("flow.md")]
///
/// Next: [Running](running).
pub mod flow {}

#[doc = include_str!("running.md")]
///
/// Next: [Testing](testing).
pub mod running {}

#[doc = include_str!("testing.md")]
///
/// Next: [Dynamic plans](dynamic_plans).
pub mod testing {}

#[doc = include_str!("dynamic_plans.md")]
///
/// Next: [Plans that you do not trust](untrusted).
pub mod dynamic_plans {}

#[doc = include_str!("untrusted.md")]
///
/// Next: [Pictures](pictures).
pub mod untrusted {}

#[doc = include_str!("pictures.md")]
///
/// Next: [Checks](checks).
pub mod pictures {}

#[doc = include_str!("checks.md")]
///
/// Next: [Compared](compared).
pub mod checks {}

#[doc = include_str!("compared.md")]
pub mod compared {}
