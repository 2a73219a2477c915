//! Workflows that rustc checks.
//!
//! A plan is a list of steps that call tools. You write it in Rust with [`plan!`](crate::plan!), rustc checks it, and it is data that you can
//! print, draw, store as JSON and run.
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
//! // The plan is data before anything runs. `goods` and `bag` need no other step, so they run concurrently.
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
//! | [`guide`] | a guide, from a first plan to everything that a plan can do; every check with its fix |
//! | [`plan!`](crate::plan!) | the macro: steps, references, values, checks |
//! | [`Tool`], [`Call`], [`#[tool]`](macro@tool) | the contract of a tool and its implementations |
//! | [`Shape`] | how serde writes a type as JSON, so that references can lead into it |
//! | [`plan`](mod@plan) | a plan as data: its graph, its references, its JSON, pictures of it |
//! | [`dynamic`] | plans that arrive as JSON: readers, checks, toolboxes, writers, Rust source |
//! | [`run`] | runs, their options, reports, observers, timers and errors |
//! | [`resolve`] | building arguments from outputs |
//! | [`Error`], [`Result`], [`ResultExt`] | the errors of tools |
//!
//! # Values between steps
//!
//! An output is serialized when its step ends. The arguments of a later step are deserialized from the outputs that it refers to. So the next
//! step gets what serde makes of a value. Text in an output is never interpreted as a reference. A computed value borrows the Rust value that the
//! tool returned, or a deserialized copy.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `macros` | on by default: `plan!`, `#[tool]`, `#[derive(Shape)]` and `#[derive(Tool)]` |
//! | `dynamic` | [`dynamic`], plans that arrive as JSON: readers that report every mistake with its place, checks, toolboxes, writers |
//! | `diagnostics` | [`Findings::render`](dynamic::Findings), which underlines the mistakes in a JSON plan as rustc does, with `annotate-snippets` |
//! | `rust` | `Plan::to_rust`, which writes a plan as the source of a `plan!`, with `prettyplease` |
//! | `schema` | `dynamic::Toolbox::with_schema`, which generates the [JSON Schemas](dynamic::Contract) of a tool, with `schemars` |
//! | `tracing` | spans of runs and attempts, and events, with `tracing` |
//! | `progress` | `run::Progress`, an [observer](run::Observer) that draws progress bars, with `indicatif` |
//! | `html` | `Report::to_html`, which writes a [report](Report) as an HTML page with the plan's graph and a timeline, with `dagre` |
//! | `docs-svg` | a picture of each plan's graph in its documentation, with `dagre`, while `cargo doc` runs |
// Documentation from a nightly toolchain shows which feature each item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Generated code refers to `::plan_runtime`, also in this crate's own tests and docs.
extern crate self as plan_runtime;

#[cfg(feature = "dynamic")]
pub mod dynamic;
// What deserializes a plan, and is all that remains of the module without its feature.
#[cfg(not(feature = "dynamic"))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the feature has more uses for it"
)]
mod dynamic;
mod error;
// Only documentation and its tests contain it.
#[cfg(all(any(doc, doctest), feature = "macros", feature = "dynamic"))]
pub mod guide;
pub mod plan;
#[cfg(test)]
#[path = "../tests/support/plans.rs"]
mod plans;
mod print;
#[doc(hidden)]
pub mod private;
pub mod resolve;
pub mod run;
pub mod shape;
mod tool;

pub use crate::error::{Error, Result, ResultExt};
pub use crate::plan::Plan;
#[doc(hidden)]
pub use crate::private as __private;
pub use crate::run::{Report, Run, RunError};
pub use crate::shape::Shape;
pub use crate::tool::{Call, Tool};

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
/// | `#[tool(crate = path)]` | the path of this crate, if it is renamed |
#[cfg(feature = "macros")]
pub use plan_macros::Tool;

/// Implements [`Shape`](trait@Shape), which describes how serde writes a type as JSON, so that references can lead into it. Reads the type's serde
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
/// | `#[tool(crate = path)]` | the path of this crate, if it is renamed |
///
/// `#[derive(…)]` and `#[serde(…)]` below `#[tool]` are moved to the struct, `#[serde(…)]` on a parameter to its field. Parameters
/// are owned values, and tools are not generic. The function returns a `Result` whose error converts into [`Error`].
#[cfg(feature = "macros")]
pub use plan_macros::tool;

/// Defines a plan: a static description of steps that call tools, checked by rustc.
///
/// ```
/// use plan_runtime::{Result, Shape, plan, tool};
/// use serde::{Deserialize, Serialize};
///
/// # #[derive(Serialize, Deserialize, Shape)]
/// # pub struct Person { name: String, email: Option<String> }
/// /// Finds the members of a team.
/// #[tool]
/// async fn find_team(name: String) -> Result<Vec<Person>> {
///     # Ok(vec![Person { name: format!("Ada of {name}"), email: Some("ada@example.org".into()) }])
///     // …
/// }
///
/// /// Books a room and returns its name.
/// #[tool]
/// async fn book_room(seats: usize, hour: u8) -> Result<String> {
///     # Ok(format!("room for {seats} at {hour}"))
///     // …
/// }
///
/// /// Sends a message and returns its length.
/// #[tool]
/// async fn send(to: Option<String>, names: Vec<String>, text: String) -> Result<usize> {
///     # Ok(text.len() + names.len() + to.map_or(0, |to| to.len()))
///     // …
/// }
///
/// plan! {
///     /// Invites a team.
///     #[derive(Clone, Debug)]
///     pub Invite(team: String, /** The hour of the day. */ hour: u8) -> usize {
///         /// Find the people.
///         step people = FindTeam { name: team };
///
///         // A computed value: any Rust over steps, inputs, constants and functions.
///         step room = BookRoom { seats: people.len() + 1, hour };
///
///         step sent = Send {
///             to: people.get(0)?.email?,
///             names: people[..].name,
///             text: format!("We meet in {room} at {hour:02}:00."),
///         };
///
///         // Starts after `sent`, whose output it does not use.
///         #[after(sent)]
///         step done = Send { to: None, names: [], text: "done" };
///
///         sent + done
///     }
/// }
///
/// let invite = Invite { team: "engines".into(), hour: 9 };
/// println!("{}", Invite::PLAN);
/// assert!(smol::block_on(invite.run(&()))? > 0);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// # The two forms
///
/// `plan! { attributes visibility Name(input: Type, …) -> Output { steps and an expression } }` is an item. It defines a struct `Name` with the
/// inputs as fields. The struct is a [`Tool`](trait@Tool) like any other, with a constant `PLAN`, the [plan as data](crate::Plan), and a
/// method `run(self, app: &App) -> `[`Run`] for all applications that have the tools of its steps. Without
/// `-> Output` and a last expression, the output is `()`.
///
/// `plan! { steps and an expression }` is an expression. Its value is a plan without inputs, with the methods `run(&app)` and `plan()`.
///
/// # Steps
///
/// | written | means |
/// |---|---|
/// | `step name = Tool { argument: value, … };` | calls a tool |
/// | `step name: Type = value;` | a computed step: a value, no call |
/// | `step name = if condition { call } else if … { call } else { call };` | calls the tool of the first branch whose condition is true |
/// | `step name = for pattern in list { call };` | calls the tool for each element |
/// | a doc comment before it | the step's intent, which the printed plan shows |
/// | `#[after(one, other)]` before it | starts after these steps, without using their outputs |
/// | other attributes before it | [policies](#policies) for failures and time |
///
/// The order of the steps in the text does not matter. A step starts as soon as everything that it refers to is available.
///
/// # Conditions and loops
///
/// The braces of an `if` or a `for` contain one call, or another `if` or `for`, without a `;`:
///
/// ```text
/// body      = call | if | for
/// call      = Tool { argument: value, … }
/// if        = "if" all "{" body "}" { "else if" all "{" body "}" } [ "else" "{" body "}" ]
/// all       = condition { "&&" condition }
/// condition = a Rust expression of type bool | "let" pattern "=" a Rust expression
/// for       = "for" pattern "in" list "{" body "}"
/// list      = a reference, or a Rust expression that iterates
/// ```
///
/// ```
/// use plan_runtime::{Result, Shape, plan, tool};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Shape)]
/// pub struct Guest { name: String, plus_one: Option<String>, dishes: Vec<String> }
///
/// /// Prints a card.
/// #[tool]
/// async fn print_card(text: String) -> Result<String> { Ok(text) }
///
/// /// Cooks a dish.
/// #[tool]
/// async fn cook(dish: String, who: String) -> Result<String> { Ok(format!("{dish} for {who}")) }
///
/// plan! {
///     Dinner(guests: Vec<Guest>, formal: bool) -> Vec<String> {
///         // Without an `else`, a step is an `Option` of its tool's output.
///         step menu = if formal && guests.len() > 1 { PrintCard { text: "Menu" } };
///
///         // A name that `if let` or `for` binds is used like a step.
///         step cards = for guest in guests {
///             if let Some(other) = &guest.plus_one {
///                 PrintCard { text: format!("{} and {other}", guest.name) }
///             } else {
///                 PrintCard { text: guest.name }
///             }
///         };
///
///         // Lists in lists: a `Vec<Vec<String>>`.
///         step dinner = for guest in guests.iter().rev() {
///             for dish in guest.dishes { Cook { dish, who: guest.name } }
///         };
///
///         [cards[0], dinner[1][0], menu.clone().unwrap_or_default()]
///     }
/// }
///
/// let guest = |name: &str, plus_one: Option<&str>| Guest {
///     name: name.into(),
///     plus_one: plus_one.map(Into::into),
///     dishes: vec!["soup".into(), "cake".into()],
/// };
/// let guests = vec![guest("Ada", Some("Charles")), guest("Grace", None)];
/// let output = smol::block_on(Dinner { guests, formal: true }.run(&()))?;
/// assert_eq!(output, ["Ada and Charles", "soup for Ada", "Menu"]);
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// - The branches of an `if` have the same type. A step with an `else` has that type. A step without it is an `Option` of that type. If it is
///   also `#[optional]`, that is one `Option`, not two.
/// - Conditions are evaluated in order, and only the arguments of the chosen branch are resolved. But a step that only another branch
///   needs still runs: steps start as soon as they can, which is before the condition is known.
/// - `&&` joins conditions. They are evaluated from left to right, up to the first that is false. A name that a `let` binds is used like a
///   step in the conditions after it and in the braces: it is a value, not a reference to one. This works in all editions of Rust:
///
///   ```edition2021
///   # use plan_runtime::{Result, plan, tool};
///   # /// Cooks for some guests.
///   # #[tool]
///   # async fn cook(guests: u32) -> Result<u32> { Ok(guests) }
///   plan! {
///       Feast(open: bool, guests: Option<u32>) -> Option<u32> {
///           step cooked = if open && let Some(guests) = guests && guests > 1 { Cook { guests } };
///           cooked
///       }
///   }
///   # let run = |open, guests| smol::block_on(Feast { open, guests }.run(&()));
///   # assert_eq!((run(true, Some(2))?, run(true, Some(1))?, run(true, None)?, run(false, Some(2))?), (Some(2), None, None, None));
///   # Ok::<(), plan_runtime::RunError>(())
///   ```
/// - A condition borrows the outputs that it mentions, like any computed value. `if let Some(x) = maybe` takes nothing out of `maybe`.
/// - A list is a `Vec`, an array, a set, a map (of pairs), an untyped array or object, or any expression that iterates. Its elements run
///   concurrently, within the [concurrency](#policies) of the run and the step. The output is a `Vec` in the order of the list. It is empty
///   for an empty list.
/// - An error names the element: `cards[1]`, `dinner[1][0]`.
///
/// # Policies
///
/// | written | means |
/// |---|---|
/// | `#[retry(3)]` | at most three attempts. The first wait is at most 100 ms. It doubles with each attempt, up to 30 s, or up to the first wait if that is longer |
/// | `#[retry(3, backoff = "200ms", max = "10s", jitter = false)]` | the first wait, the longest wait, and waits without a random part (*jitter*) |
/// | `#[timeout("10s")]` | a time limit for each attempt |
/// | `#[deadline("1m 30s")]` | a time limit for all attempts and waits together |
/// | `#[optional]` | a failure does not fail the plan; the step is an `Option`, which is `None` after a failure |
/// | `#[optional(each)]` | the same for each element of a `for` |
/// | `#[fallback(value)]` | the output if the step fails, of the same type; any value, with references to inputs and other steps |
/// | `#[concurrency(4)]` | the maximum number of elements of a `for` that run at the same time |
///
/// A step is tried again after transient errors, panics, and attempts that reached their time limit. It is not tried again after
/// [permanent](crate::Error::permanent) errors, or if an argument cannot be resolved. In a `for`, each element has its own attempts and
/// time limits.
///
/// ```
/// use plan_runtime::{Error, Result, plan, tool};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// struct Line { busy: AtomicU32 }
///
/// /// Calls a number.
/// #[tool]
/// async fn dial(line: &Line, number: u32) -> Result<String> {
///     if line.busy.fetch_sub(1, Ordering::Relaxed) > 1 {
///         return Err(Error::msg("busy"));
///     }
///     if number == 0 {
///         return Err(Error::permanent("no such number"));
///     }
///     Ok(format!("hello, {number}"))
/// }
///
/// plan! {
///     CallAround(numbers: Vec<u32>) -> (String, Vec<Option<String>>, String) {
///         #[retry(3, backoff = "1ms")]
///         #[timeout("10s")]
///         step first = Dial { number: numbers[0] };
///
///         #[after(first)]
///         #[concurrency(2)]
///         #[optional(each)]
///         step all = for number in numbers { Dial { number } };
///
///         #[after(first)]
///         #[fallback(format!("nobody answers, but {first}"))]
///         step nobody = Dial { number: 0 };
///
///         (first, all, nobody)
///     }
/// }
///
/// let line = Line { busy: AtomicU32::new(3) };
/// let run = CallAround { numbers: vec![7, 0] }.run(&line);
/// let (first, all, nobody) = smol::block_on(run)?;
/// assert_eq!(first, "hello, 7"); // at the third attempt
/// # let all: Vec<_> = all.iter().map(Option::as_deref).collect();
/// assert_eq!(all, [Some("hello, 7"), None]);
/// assert_eq!(nobody, "nobody answers, but hello, 7");
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
///
/// # Absence
///
/// A step that may be skipped or may fail is an `Option`. So is an `Option` field, and a reference with `?` is optional. None of them compiles in an
/// argument that is not an `Option`, in `format!`, as the list of a `for` or as the condition of an `if`. There are three ways to fix this: an argument that
/// is an `Option`; an `else` or a `#[fallback(…)]`; or a default in a computed value, such as `menu.clone().unwrap_or_default()`.
///
/// ```compile_fail
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn print_card(text: String) -> Result<String> { Ok(text) }
/// plan! {
///     Dinner(formal: bool) -> String {
///         step menu = if formal { PrintCard { text: "Menu" } };
///         step copy = PrintCard { text: menu }; // expected `String`, found `Option<String>`
///         copy
///     }
/// }
/// ```
///
/// # Values
///
/// A lower-case name is a step or an input. Functions that are called, paths with `::`, and names in upper case are Rust's own.
///
/// | written | means |
/// |---|---|
/// | `people[0].name`, `pair.0`, `map["key"]` | a reference, stored as a JSON Pointer |
/// | `people.get(0)?.email?` | an optional reference, through an `Option` or an element that may not exist |
/// | `people[..].name` | a reference into every element |
/// | `value["a"]`, `value.pointer("/a")` | a reference into a `serde_json::Value` |
/// | `"text"`, `5`, `None`, `Some(x)`, `[x, y]`, `(x, y)` | literals, with references in them |
/// | `Type { field: x }`, `Type::Variant(x)` | nested literals |
/// | `json!({"a": x})`, `format!("{x} {}", a.b)` | untyped values, texts |
/// | any other expression | a computed value, which borrows the Rust values of the names that it mentions |
/// | `..` at the end of a tool's arguments | leaves out the other arguments, which serde fills in |
///
/// A reference fits an argument of its type, or of an `Option` of its type. An optional reference fits only an `Option`.
///
/// # Checks
///
/// The compiler rejects unknown and repeated names, cycles, paths and values of the wrong type, missing and repeated arguments, an optional
/// value where one is required, branches of different types, a fallback of another type, attributes that do not apply to their step, a step that does not call
/// a tool, and an application that lacks a tool. It reports all mistakes of a plan together, each at its token:
///
/// ```compile_fail
/// # use plan_runtime::{Result, plan, tool};
/// # #[tool] async fn book_room(seats: usize) -> Result<String> { Ok(seats.to_string()) }
/// plan! {
///     Book(seats: usize) -> String {
///         step room = BookRoom { seats: seat }; // no step or input is named `seat`
///         room
///     }
/// }
/// ```
///
/// An application that lacks a tool is reported where the plan is run on it:
///
/// ```compile_fail
/// # use plan_runtime::{Call, Result, Shape, Tool, plan};
/// # #[derive(serde::Serialize, serde::Deserialize, Shape, Tool)]
/// # #[tool(output = String)]
/// # struct BookRoom { seats: usize }
/// # struct Hotel;
/// # impl Call<Hotel> for BookRoom {
/// #     async fn call(self, _: &Hotel) -> Result<String> { Ok(self.seats.to_string()) }
/// # }
/// struct Library;
///
/// let plan = plan! { step room = BookRoom { seats: 2 }; room };
/// plan.run(&Library); // the application `Library` cannot call the tool `BookRoom`
/// ```
///
/// If this crate is renamed, write `#![plan(crate = path)]` first in the macro.
#[cfg(feature = "macros")]
pub use plan_macros::plan;

#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
