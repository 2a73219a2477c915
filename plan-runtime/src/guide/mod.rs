//! A guide, from a first plan to everything that a plan can do.
//!
//! | page | contents |
//! |---|---|
//! | [First plan](first_plan) | a whole program, its printed plan, three mistakes |
//! | [Tools](tools) | what steps call: `#[tool]`, `#[derive(Tool)]`, the application, errors, what JSON cannot carry |
//! | [References and values](references) | fields, lists, maps, projections, `format!`, computed values |
//! | [Absence](absence) | values that may be absent, and what to do about them |
//! | [Flow](flow) | order, conditions, loops, plans in plans, retries, time limits, fallbacks |
//! | [Running](running) | options, failures, reports, limits, panics, cancelling, observers, time |
//! | [Testing](testing) | mocks, time that does not pass, jitter that repeats |
//! | [Recipe: testing](recipes::testing) | retries, time limits, polling and values from outside, in tests that take no time |
//! | [Dynamic plans](dynamic_plans) | plans that arrive as JSON: reading, checking, running, writing, Rust source |
//! | [Untrusted plans](untrusted) | what is guaranteed about a stranger's plan, and what is not |
//! | [Pictures](pictures) | a plan as text, Mermaid, DOT and documentation; a run as an HTML page |
//! | [Editor](editor) | what rust-analyzer does inside `plan!` |
//! | [Checks](checks) | every check: what is wrong, what the compiler says, what to write |
//! | [Compared](compared) | plain Rust, string templates and workflow engines; when not to use `plan!` |
//!
//! All code of the guide is compiled, and nearly all of it runs, as tests of this crate. The compiler messages are those of
//! rustc 1.95, word for word; only the file name in them is replaced by `src/main.rs`.
//!
//! # Examples
//!
//! The repository has larger programs. `cargo run --example quickstart` runs the first one.
//!
//! | example | shows |
//! |---|---|
//! | `quickstart` | a plan on a mailbox, from tools to receipt |
//! | `diamond` | independent steps that run concurrently |
//! | `nested_plan` | a plan as a step of another plan |
//! | `mocking` | one plan on a real application, on a mock with closures, and on an application for tests |
//! | `graph` | a plan as data: levels, dependencies, pointers, JSON |
//! | `pictures` | a plan in Mermaid and DOT, and an HTML page about a run |
//! | `conditions` | `if`, `else if`, `if let`, `for`, optional steps and fallbacks in one plan |
//! | `retries` | an unreliable service: attempts, waits, time limits, and a report of each attempt |
//! | `fan_out` | 200 calls, 16 at a time; `--features progress` draws progress bars |
//! | `approval` | a plan that is shown to a person and runs only after a yes |
//! | `llm_plan` | a plan that a language model wrote: checked, printed, run; add `-- examples/plans/faulty.json` for one with mistakes |
//! | `promote` | a plan in JSON, written as the source of a `plan!` |
//! | `failures` | everything that can go wrong in a run, and the messages |
//!
//! The [workflows](compared#workflows-written-twice) are written twice, as a plan and in plain async Rust, with tests that both do the same:
//!
//! | example | shows |
//! |---|---|
//! | `place_order` | `#[undo]` and `#[always]`: items are held, paid and shipped, or nothing is |
//! | `ingest` | a block for each element, `#[concurrency]` and `#[catch(each)]` |
//! | `transcode` | a `loop` that asks for a result until it is there, and a time limit |
//! | `all_issues` | a `loop` that follows pages, and `#[collect]` |
//! | `answer` | an agent: a model and its tools, for a limited number of rounds |
//! | `spend` | `await`: a manager answers, or does not |
//! | `book_trip` | independent bookings, all or nothing |
//! | `load_rows` | rows that cannot be converted go aside, with the reason |
//! | `release` | builds and tests of all systems, an approval, a release |
//! | `web_service` | a plan for each request, with a time limit, until the client hangs up |
//! | `generic_application` | a plan on any application with a capability, and a double of it |

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
/// The other pages use these tools and types, as `mod mail`:
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

/// Whole programs for one purpose each.
pub mod recipes {
    #[doc = include_str!("recipes/testing.md")]
    pub mod testing {}
}

#[doc = include_str!("dynamic_plans.md")]
///
/// Next: [Untrusted plans](untrusted).
pub mod dynamic_plans {}

#[doc = include_str!("untrusted.md")]
///
/// Next: [Pictures](pictures).
pub mod untrusted {}

#[doc = include_str!("pictures.md")]
///
/// Next: [Editor](editor).
pub mod pictures {}

#[doc = include_str!("editor.md")]
///
/// Next: [Checks](checks).
pub mod editor {}

#[doc = include_str!("checks.md")]
///
/// Next: [Compared](compared).
pub mod checks {}

#[doc = include_str!("compared.md")]
pub mod compared {}
