//! A guide, from a first plan to everything that a plan can do.
//!
//! | page | contents |
//! |---|---|
//! | [First plan](first_plan) | a whole program, its printed plan, three mistakes |
//! | [Syntax reference](syntax) | every form of `#[tool]` and `plan!`, in tables |
//! | [Tools](tools) | what steps call: `#[tool]`, `#[derive(Tool)]`, the application, errors, what JSON cannot carry |
//! | [References and values](references) | fields, lists, maps, projections, `format!`, computed values |
//! | [Absence](absence) | values that may be absent, and what to do about them |
//! | [Flow](flow) | order, conditions, loops, plans in plans, retries, time limits, fallbacks |
//! | [Running](running) | options, failures, reports, limits, panics, cancelling, observers, time |
//! | [Durable runs](durable) | runs that survive their process: what is recorded, what happens again, waiting, serving, changed plans |
//! | [When one machine is not enough](engines) | memory, SQLite, Postgres and Restate: the promises, the cost and the needs of each |
//! | [Testing](testing) | mocks, time that does not pass, jitter that repeats |
//! | [Dynamic plans](dynamic_plans) | plans that arrive as JSON: reading, checking, running, writing, Rust source |
//! | [Untrusted plans](untrusted) | what is guaranteed about a stranger's plan, and what is not |
//! | [In a service](in_a_service) | people check, approve, watch and stop plans over HTTP: the pieces, and what to take care of |
//! | [Pictures](pictures) | a plan as text, Mermaid, DOT and documentation; a run as an HTML page |
//! | [Editor](editor) | what rust-analyzer does inside `plan!` |
//! | [Checks](checks) | every check: what is wrong, what the compiler says, what to write |
//! | [Compared](compared) | plain Rust, string templates and workflow engines; when not to use `plan!` |
//! | [Limits](limits) | each limit of the language, of values, of runs and of documents, and what to do about it |
//!
//! The [recipes] are whole programs, one for each page:
//!
//! | recipe | when |
//! |---|---|
//! | [Saga](recipes::saga) | several systems are changed, all or none: `#[undo]`, `#[always]` |
//! | [Pagination](recipes::pagination) | a list comes in pages: `loop \|last\|`, `#[collect]` |
//! | [Polling](recipes::polling) | a result is asked for until it is there: `loop … while`, `every`, a deadline |
//! | [Pipeline](recipes::pipeline) | each element goes through several steps: `for` with a block, `#[catch(each)]`, `#[concurrency]` |
//! | [Providers](recipes::providers) | a second service is asked if the first fails: `#[catch]`, `if let Err`, `#[optional]` |
//! | [Agent](recipes::agent) | a model writes a plan as JSON, and corrects it until it is right |
//! | [Service](recipes::service) | each request of a web service is a run: axum, status codes, server-sent events, clients that disconnect |
//! | [CPU work](recipes::cpu) | tools that block or compute: threads, and the end of a call that nobody waits for |
//! | [Library](recipes::library) | plans and tools for applications that the crate does not know |
//! | [Testing](recipes::testing) | retries, time limits, polling and values from outside, in tests that take no time: `Mock`, `ManualTimer` |
//! | [Types of other crates](recipes::foreign_types) | a tool gives a type that has no `Shape`: computed values, `#[shape(remote = "…")]` |
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
//! | `durable` | a run that goes on after its process was killed; `--features sqlite` |
//! | `approve_later` | a run that waits for a yes, and for which no process has to live |
//! | `runs` | a command-line tool for the runs of a database, beside the process that runs them |
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
/// Next: [Syntax reference](syntax).
pub mod first_plan {}

#[doc = include_str!("syntax.md")]
///
/// Next: [Tools](tools).
pub mod syntax {}

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
/// Next: [Durable runs](durable).
pub mod running {}

#[doc = include_str!("durable.md")]
///
/// Next: [When one machine is not enough](engines).
pub mod durable {}

#[doc = include_str!("engines.md")]
///
/// Next: [Testing](testing).
pub mod engines {}

#[doc = include_str!("testing.md")]
///
/// Next: [Dynamic plans](dynamic_plans).
pub mod testing {}

#[doc = include_str!("dynamic_plans.md")]
///
/// Next: [Untrusted plans](untrusted).
pub mod dynamic_plans {}

#[doc = include_str!("untrusted.md")]
///
/// Next: [In a service](in_a_service).
pub mod untrusted {}

#[doc = include_str!("in_a_service.md")]
///
/// Next: [Pictures](pictures).
pub mod in_a_service {}

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
///
/// Next: [Limits](limits).
pub mod compared {}

#[doc = include_str!("limits.md")]
///
/// Next: [Recipes](recipes).
pub mod limits {}

#[doc = include_str!("recipes/mod.md")]
///
/// Next: [Saga](recipes::saga).
pub mod recipes {
    #[doc = include_str!("recipes/saga.md")]
    ///
    /// Next: [Pagination](pagination).
    pub mod saga {}

    #[doc = include_str!("recipes/pagination.md")]
    ///
    /// Next: [Polling](polling).
    pub mod pagination {}

    #[doc = include_str!("recipes/polling.md")]
    ///
    /// Next: [Pipeline](pipeline).
    pub mod polling {}

    #[doc = include_str!("recipes/pipeline.md")]
    ///
    /// Next: [Providers](providers).
    pub mod pipeline {}

    #[doc = include_str!("recipes/providers.md")]
    ///
    /// Next: [Agent](agent).
    pub mod providers {}

    #[doc = include_str!("recipes/agent.md")]
    ///
    /// Next: [Service](service).
    pub mod agent {}

    #[doc = include_str!("recipes/service.md")]
    ///
    /// Next: [CPU work](cpu).
    pub mod service {}

    #[doc = include_str!("recipes/cpu.md")]
    ///
    /// Next: [Library](library).
    pub mod cpu {}

    #[doc = include_str!("recipes/library.md")]
    ///
    /// Next: [Testing](testing).
    pub mod library {}

    #[doc = include_str!("recipes/testing.md")]
    ///
    /// Next: [Types of other crates](foreign_types).
    pub mod testing {}

    #[doc = include_str!("recipes/foreign_types.md")]
    pub mod foreign_types {}
}
