//! Workflows that rustc checks.
//!
//! A plan is a list of steps that call tools. You write a plan in Rust with [`plan!`](crate::plan!), and rustc checks it. A plan is data, so you can
//! print, draw, store and run it.
//!
//! The [guide] leads from a [first plan](guide::first_plan) to every feature. The [recipes](guide::recipes) are programs for common situations, and
//! the [checks](guide::checks) are the kinds of errors, each with a fix. The attributes of steps, such as `#[retry]` and `#[undo]`, are in
//! the [syntax](guide::syntax#attributes-of-steps).
//!
//! ```
//! use plan_runtime::{Error, Result, Shape, plan, tool};
//! use serde::{Deserialize, Serialize};
//! use std::collections::BTreeMap;
//!
//! /// The application, which the tools work on.
//! struct Shop {
//!     prices: BTreeMap<&'static str, u32>,
//! }
//!
//! #[derive(Serialize, Deserialize, Shape)]
//! #[serde(rename_all = "camelCase")]
//! struct Offer {
//!     unit_price: u32,
//!     item: String,
//! }
//!
//! /// Looks up the price of an item.
//! #[tool]
//! async fn find_offer(shop: &Shop, item: String) -> Result<Offer> {
//!     match shop.prices.get(item.as_str()) {
//!         Some(&unit_price) => Ok(Offer { unit_price, item }),
//!         None => Err(Error::permanent(format!("we have no {item}"))),
//!     }
//! }
//!
//! /// Writes a bill.
//! #[tool]
//! async fn write_bill(lines: Vec<String>, total: u32) -> Result<String> {
//!     Ok(format!("{}: {total}", lines.join(", ")))
//! }
//!
//! plan! {
//!     /// Sells a number of items, and a bag.
//!     Sell(item: String, count: u32) -> String {
//!         step goods = FindOffer { item };
//!         step bag = FindOffer { item: "bag" };
//!         step bill = WriteBill {
//!             lines: [format!("{count} {}", goods.item), bag.item],
//!             total: count * goods.unit_price + bag.unit_price,
//!         };
//!         bill
//!     }
//! }
//!
//! let shop = Shop { prices: BTreeMap::from([("lamp", 40), ("bag", 1)]) };
//! let run = Sell { item: "lamp".into(), count: 2 }.run(&shop);
//! assert_eq!(smol::block_on(run)?, "2 lamp, bag: 81");
//!
//! // The plan is data. `goods` and `bag` need no other step, so they run concurrently.
//! assert_eq!(Sell::PLAN.levels().len(), 2);
//! let json = serde_json::to_value(Sell::PLAN)?;
//! let bag = &json["steps"][2]["arguments"]["object"]["lines"][1]["reference"];
//! assert_eq!(bag["pointer"], "/item");
//!
//! let run = Sell { item: "tent".into(), count: 1 }.run(&shop);
//! assert_eq!(
//!     smol::block_on(run).unwrap_err().to_string(),
//!     "plan `sell` failed: step `goods` (find_offer): we have no tent (this blocked `bill`)",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Overview
//!
//! | item | contents |
//! |---|---|
//! | [`guide`] | a guide, from a first plan to every feature (feature `dynamic`) |
//! | [`plan!`](crate::plan!) | the macro: steps, references, values, checks |
//! | [`Tool`], [`Call`], [`#[tool]`](macro@tool) | the contract of a tool and its implementations |
//! | [`Shape`] | the JSON form of a type, so that references can read its fields |
//! | [`plan`](mod@plan) | a plan as data: its graph, its references, its JSON, its diagrams |
//! | [`dynamic`] | plans that arrive as JSON: readers, checks, toolboxes, writers (feature `dynamic`) |
//! | [`run`] | runs, their options, reports, observers, timers and errors |
//! | [`journal`] | storage for the history of durable runs |
//! | [`serve`] | servers that run, list and control the runs of a journal (feature `dynamic`) |
//! | [`resolve`] | errors about arguments |
//! | [`Error`], [`Result`], [`ResultExt`] | the errors of tools |
//!
//! # Values between steps
//!
//! serde deserializes the arguments of a step from the JSON of earlier outputs. If an argument is a whole output, the tool can receive the
//! [Rust value itself](guide::tools#values-that-are-handed-over). The output's type must then guarantee an equal value after a conversion to JSON and back.
//! A string such as `$ref:x` or `{{x}}` in an output stays a string, and never becomes a reference.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `macros` | on by default: `plan!`, `#[tool]`, `#[derive(Shape)]` and `#[derive(Tool)]` |
//! | `bytes` | on by default: `bytes::Bytes` and `BytesMut` as values that are handed over |
//! | `dynamic` | [`dynamic`], plans that arrive as JSON: readers that report every error with its position, checks, toolboxes, writers. [`serve`] needs this feature as well |
//! | `diagnostics` | [`Findings::render`](dynamic::Findings), which underlines the errors in a JSON plan as rustc does, with `annotate-snippets` |
//! | `schema` | `dynamic::Toolbox::with_schema`, which generates the [JSON Schemas](dynamic::Contract) of a tool, with `schemars` |
//! | `jsonschema` | `dynamic::Toolbox::with_validation`, which validates the arguments and the output of each call against their JSON Schemas, with `jsonschema` |
//! | `sqlite` | `journal::Sqlite`, a [journal] in a file, with `rusqlite` and the SQLite that it contains; this needs a C compiler. `chacha20poly1305` encrypts runs |
//! | `terminal` | `Terminal`, which writes plans, [reports](Report) and findings in the width and the colors of a terminal, with `anstream` and `terminal_size` |
//! | `tracing` | spans of runs and attempts, and events, with `tracing` |
//! | `progress` | `run::Progress`, an [observer](run::Observer) that draws progress bars, with `indicatif` |
//! | `html` | `Report::to_html`, which writes a [report](Report) as an HTML page with the plan's graph and a timeline, with `dagre` |
//! | `docs-svg` | a diagram of each plan's graph in its documentation, with `dagre`, while `cargo doc` runs |
// Documentation from a nightly toolchain shows which feature each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "dynamic"),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "only modules have features, and the missing modules use these functions"
    )
)]

// Generated code refers to `::plan_runtime`, even in this crate's own tests and docs.
extern crate self as plan_runtime;

#[macro_use]
mod setters;

// The API of generated code. rustc's notes print the path.
#[doc(hidden)]
pub mod check;

// Without the feature, the module contains only the code that deserializes a plan.
#[cfg_attr(not(feature = "dynamic"), doc(hidden))]
pub mod dynamic;
mod error;
mod failure;
// Only documentation and its tests contain it.
#[cfg(all(any(doc, doctest), feature = "macros", feature = "dynamic"))]
pub mod guide;
pub mod journal;
// Public because the tests compare the machine with a model.
#[doc(hidden)]
pub mod machine;
pub mod plan;
#[cfg(test)]
#[path = "../tests/support/plans.rs"]
mod plans;
mod print;
pub mod resolve;
pub mod run;
#[cfg(feature = "dynamic")]
pub mod serve;
// `#[derive(Shape)]` uses it.
#[doc(hidden)]
pub mod shape;
mod sleep;
#[cfg(feature = "terminal")]
mod terminal;

pub use crate::error::{Error, Result, ResultExt, RunError};
pub use crate::failure::Failure;
pub use crate::plan::root::Plan;
pub use crate::run::report::Report;
pub use crate::run::tool::{Call, Tool};
pub use crate::shape::Shape;
pub use crate::sleep::Sleep;
#[cfg(feature = "terminal")]
pub use crate::terminal::Terminal;

/// Implements [`Tool`](trait@Tool), the contract of a tool, for the struct of its arguments. Implement [`Call`](trait@Call) for each
/// application that has the tool.
///
/// ```
/// use plan_runtime::{Call, Result, Shape, Tool};
/// use serde::{Deserialize, Serialize};
///
/// /// Counts e-mails.
/// #[derive(Serialize, Deserialize, Shape, Tool)]
/// #[tool(output = u64)]
/// struct CountEmails {
///     sender: String,
/// }
///
/// struct Mail(Vec<String>);
///
/// impl Call<Mail> for CountEmails {
///     async fn call(self, mail: &Mail) -> Result<u64> {
///         Ok(mail.0.iter().filter(|from| **from == self.sender).count() as u64)
///     }
/// }
///
/// assert_eq!(CountEmails::NAME, "count_emails");
/// assert_eq!(CountEmails::DESCRIPTION, "Counts e-mails.");
/// ```
///
/// | option | means |
/// |---|---|
/// | `#[tool(output = Type)]` | the type of the tool's output; required |
/// | `#[tool(name = "mail.count")]` | the name in plans and reports; by default, the struct's name in snake case |
/// | `#[tool(read_only)]` | a declaration that a call of the tool changes nothing |
/// | `#[tool(crate = path)]` | the path of this crate, if it is renamed |
#[cfg(feature = "macros")]
pub use plan_macros::Tool;

/// Implements [`Shape`](trait@Shape), which describes the JSON form of a type, so that references can read its fields. The derive reads the type's serde
/// attributes.
///
/// ```
/// use plan_runtime::{Result, Shape, plan, tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape)]
/// #[serde(rename_all = "camelCase")]
/// struct Page {
///     page_number: u32,
///     #[serde(flatten)]
///     size: Size,
///     r#type: Kind,
/// }
///
/// #[derive(Serialize, Deserialize, Shape)]
/// struct Size {
///     width: u32,
/// }
///
/// #[derive(Serialize, Deserialize, Shape)]
/// enum Kind {
///     Cover,
///     Text,
/// }
///
/// #[tool]
/// async fn find_page() -> Result<Page> {
///     Ok(Page { page_number: 3, size: Size { width: 210 }, r#type: Kind::Text })
/// }
///
/// let plan = plan! {
///     step page = FindPage {};
///     (page.page_number, page.size.width)
/// };
/// let references = plan.plan().output.value.references();
/// let pointers: Vec<String> = references.iter().map(|r| r.reference.pointer().to_string()).collect();
/// assert_eq!(pointers, ["/pageNumber", "/width"]);
/// ```
///
/// To let references read the fields of a type of another crate, declare the fields in a struct with `#[shape(remote = "other_crate::Issue")]`. Copy the serde attributes of the other type.
/// The struct is only a declaration: you never create a value of it. The derive lets references read the fields of `other_crate::Issue`, and implements
/// no `Shape` for the struct:
///
/// ```
/// # mod other_crate {
/// #     #[derive(serde::Serialize, serde::Deserialize)]
/// #     #[serde(rename_all = "camelCase")]
/// #     pub struct Issue { pub issue_number: u64, pub title: String }
/// # }
/// use plan_runtime::{Result, Shape, plan, tool};
///
/// #[derive(Shape)]
/// #[shape(remote = "other_crate::Issue")]
/// #[serde(rename_all = "camelCase")]
/// struct IssueShape {
///     issue_number: u64,
/// }
///
/// #[tool]
/// async fn find_issue(title: String) -> Result<other_crate::Issue> {
///     Ok(other_crate::Issue { issue_number: 7, title })
/// }
///
/// let plan = plan! {
///     step issue = FindIssue { title: "Crash" };
///     issue.issue_number
/// };
/// assert_eq!(plan.plan().output.value.references()[0].reference.pointer().as_str(), "/issueNumber");
/// assert_eq!(smol::block_on(plan.run(&()))?, 7);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// A reference to a field that serde skips does not compile. References cannot lead into enums. The documentation of the trait
/// [`Shape`](trait@Shape) has the details.
#[cfg(feature = "macros")]
pub use plan_macros::Shape;

/// Generates a tool from an `async fn`: a struct of its parameters, named like the function in upper camel case, with
/// [`Tool`](trait@Tool) and [`Call`](trait@Call). The function itself is unchanged.
///
/// The first parameter is the application if it is a reference. A function without such a parameter is a tool of every application.
///
/// ```
/// use plan_runtime::{Result, ResultExt, plan, tool};
/// use std::collections::BTreeMap;
///
/// struct Config(BTreeMap<String, String>);
///
/// /// Reads a number from the configuration.
/// #[tool]
/// async fn read_number(
///     config: &Config,
///     /// The name of the setting.
///     key: String,
///     #[serde(default)] fallback: u32,
/// ) -> Result<u32> {
///     match config.0.get(&key) {
///         Some(text) => text.parse().permanent(),
///         None => Ok(fallback),
///     }
/// }
///
/// // Doc comments of parameters go to the fields.
/// let tool = ReadNumber { key: "width".into(), fallback: 80 };
///
/// let plan = plan! {
///     step width = ReadNumber { key: "width", .. };
///     step height = ReadNumber { key: "height", fallback: 25 };
///     step area: u32 = width * height;
///     area
/// };
/// let config = Config(BTreeMap::from([("width".to_owned(), "132".to_owned())]));
/// assert_eq!(smol::block_on(plan.run(&config))?, 132 * 25);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// | option | means |
/// |---|---|
/// | `#[tool(name = "config.number")]` | the name in plans and reports; by default, the function's name |
/// | `#[tool(struct = Number)]` | the name of the struct |
/// | `#[tool(read_only)]` | a declaration that a call of the tool changes nothing |
/// | `#[tool(crate = path)]` | the path of this crate, if it is renamed |
///
/// The macro moves `#[derive(…)]` and `#[serde(…)]` below `#[tool]` to the struct, and `#[serde(…)]` on a parameter to its field. Parameters
/// are owned values, and tools are not generic. The function returns a `Result` whose error converts into [`Error`].
#[cfg(feature = "macros")]
pub use plan_macros::tool;

#[doc = include_str!("plan.md")]
#[doc(alias(
    "after",
    "always",
    "at_most",
    "await",
    "catch",
    "collect",
    "concurrency",
    "deadline"
))]
#[doc(alias(
    "fallback", "for", "if", "loop", "optional", "retry", "step", "timeout", "undo"
))]
#[cfg(feature = "macros")]
pub use plan_macros::plan;

#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
