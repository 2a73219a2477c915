//! Workflows that rustc checks: plans are steps that call tools, written in Rust, checked by rustc, and data all the same.
//!
//! ```
//! use plan_runtime::{Error, Result, Shape, plan, tool};
//! use serde::{Deserialize, Serialize};
//! use std::collections::BTreeMap;
//!
//! /// The application: what the tools work on.
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
//! /// Looks up what an item costs.
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
//!     /// Sells so many of an item, and a bag.
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
//! // The plan is data, before anything runs. `goods` and `bag` need nothing, so they run at once.
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
//! # Where things are
//!
//! | | |
//! |---|---|
//! | [`guide`] | a guide, from a first plan to all that a plan can do; every check with its cure |
//! | [`plan!`](crate::plan!) | writes a plan: steps, references, values, what is checked |
//! | [`Tool`], [`Call`], [`#[tool]`](macro@tool) | what steps call |
//! | [`Shape`] | how a type looks in JSON, so that references can lead into it |
//! | [`plan`](mod@plan) | a plan as data: its graph, its references, its JSON, pictures of it |
//! | [`dynamic`] | plans that come as JSON: readers, checks, toolboxes, and back to text or Rust |
//! | [`run`] | runs and their options, reports, observers, timers, and why a run failed |
//! | [`resolve`] | from outputs to arguments |
//! | [`Error`], [`Result`], [`ResultExt`] | why a tool failed |
//!
//! # How values cross from step to step
//!
//! An output is serialised when its step ends, and the arguments of a later step are deserialised straight out of the
//! outputs it refers to. So a value is for the next step what serde makes of it, and a text is inert: nothing in it is ever
//! read as a reference. A computed value sees the Rust value that the tool gave.
//!
//! # Features
//!
//! | | |
//! |---|---|
//! | `macros` | on by default: `plan!`, `#[tool]`, `#[derive(Shape)]` and `#[derive(Tool)]` |
//! | `dynamic` | [`dynamic`]: plans that come as JSON, with every mistake and its place, checks, toolboxes, writers |
//! | `diagnostics` | [`Findings::render`](dynamic::Findings): mistakes in JSON plans underlined as rustc does it, with `annotate-snippets` |
//! | `rust` | `Plan::to_rust`: a plan as the source of a `plan!`, with `prettyplease` |
//! | `tracing` | spans of runs and attempts, and events, with `tracing` |
//! | `schema` | `dynamic::Toolbox::with_schema`: [JSON Schemas](dynamic::Contract) of tools, with `schemars` |
//! | `html` | `Report::to_html`: a [report](Report) as a page with the plan's graph and a timeline, laid out with `dagre` |
//! | `progress` | `run::Progress`, an [observer](run::Observer) that draws progress bars with `indicatif` |
// Says of each item which feature it needs, where the documentation is made with a nightly toolchain.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Generated code names `::plan_runtime`, in this crate's own tests and docs too.
extern crate self as plan_runtime;

#[cfg(feature = "dynamic")]
pub mod dynamic;
mod error;
// Only documentation and its tests have it.
#[cfg(all(any(doc, doctest), feature = "macros", feature = "dynamic"))]
pub mod guide;
pub mod plan;
#[cfg(all(test, feature = "dynamic"))]
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

/// Makes the contract of a tool from the struct of its arguments. The tool is carried out by an implementation of
/// [`Call`](trait@Call), one for each application that has it.
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
/// | `#[tool(output = Type)]` | what the tool gives back; always needed |
/// | `#[tool(name = "mail.count")]` | its name in plans and reports, in place of the struct's in snake case |
/// | `#[tool(crate = path)]` | the path of this crate, where it has another name |
#[cfg(feature = "macros")]
pub use plan_macros::Tool;

/// Says how a type looks in JSON, by reading its serde attributes, so that references can lead into it.
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
/// A reference to what serde leaves out does not compile. Enums are values that no reference leads into. The trait's
/// documentation says the rest: [`Shape`](trait@Shape).
#[cfg(feature = "macros")]
pub use plan_macros::Shape;

/// Makes a tool of an `async fn`: a struct of its parameters, named as the function is in camel case, its
/// [`Tool`](trait@Tool) and its [`Call`](trait@Call). The function stays as it is.
///
/// The first parameter is the application, if it is a reference. A tool without it is one of every application.
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
///     /// Where it stands.
///     key: String,
///     #[serde(default)] fallback: u32,
/// ) -> Result<u32> {
///     match config.0.get(&key) {
///         Some(text) => text.parse().permanent(),
///         None => Ok(fallback),
///     }
/// }
///
/// // The documentation of a parameter is that of the field.
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
/// | `#[tool(name = "config.number")]` | its name in plans and reports, in place of the function's |
/// | `#[tool(struct = Number)]` | the name of the struct |
/// | `#[tool(crate = path)]` | the path of this crate, where it has another name |
///
/// `#[derive(…)]` and `#[serde(…)]` below `#[tool]` go to the struct, `#[serde(…)]` on a parameter to its field. Parameters
/// are owned values, and tools are not generic. What is returned is a `Result` whose error converts into
/// [`Error`].
#[cfg(feature = "macros")]
pub use plan_macros::tool;

/// Makes a plan: a `static` description of steps that call tools, checked by rustc.
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
/// /// Books a room, and says which.
/// #[tool]
/// async fn book_room(seats: usize, hour: u8) -> Result<String> {
///     # Ok(format!("room for {seats} at {hour}"))
///     // …
/// }
///
/// /// Sends a message, and says how many letters it had.
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
///         /// Who is it?
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
///         // Nothing of `sent` is used, yet it comes first.
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
/// `plan! { attributes visibility Name(input: Type, …) -> Output { steps and an expression } }` makes a struct `Name` of the
/// inputs, which is a [`Tool`](trait@Tool) as any other, with a constant `PLAN`, the [plan as data](crate::Plan), and a
/// method `run(self, app: &App) -> `[`Run`] for all applications that have the tools of its steps. Without
/// `-> Output` and a last expression the output is `()`.
///
/// `plan! { steps and an expression }` is an expression: a plan without inputs, with the methods `run(&app)` and `plan()`.
///
/// # Steps
///
/// | written | means |
/// |---|---|
/// | `step name = Tool { argument: value, … };` | calls a tool |
/// | `step name: Type = value;` | a computed step: a value, no tool |
/// | `step name = if condition { call } else if … { call } else { call };` | the call of the first branch whose condition holds |
/// | `step name = for pattern in list { call };` | a call for each element |
/// | a doc comment before it | the step's intent, which the printed plan shows |
/// | `#[after(one, other)]` before it | starts after these steps, though it refers to none of them |
/// | other attributes before it | what it does about failures and time, see [below](#policies) |
///
/// The order in which steps are written does not matter: each starts when all that it refers to is there.
///
/// # Conditions and loops
///
/// The braces of an `if` or a `for` hold one call, or another `if` or `for`, without a `;`:
///
/// ```text
/// body      = call | if | for
/// call      = Tool { argument: value, … }
/// if        = "if" condition "{" body "}" { "else if" condition "{" body "}" } [ "else" "{" body "}" ]
/// condition = a Rust expression of type bool, in which `let pattern = value` may stand, too
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
///         // Without an `else`, a step is an `Option` of what its tool gives.
///         step menu = if formal && guests.len() > 1 { PrintCard { text: "Menu" } };
///
///         // What `if let` and `for` bind is referred to as a step is.
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
/// - The branches of an `if` give the same type. A step with an `else` has that type, one without it is an `Option` of it. If it is
///   `#[optional]`, too, that is one `Option`, not two.
/// - Conditions are asked in their order, and the arguments of the branch that is taken are resolved, no others. But a step that
///   only another branch needs runs all the same: steps start as soon as they can, which is before the condition is known.
/// - A computed value, and so a condition, borrows the outputs that it mentions: `if let Some(x) = &maybe`, not `= maybe`, where
///   `x` is no `Copy` type.
/// - A list is a `Vec`, an array, a set, a map (of pairs), an untyped array or object, or any expression that iterates. It is gone
///   through as fast as the run's and the step's [concurrency](#policies) allow, and the output is a `Vec` in the order of
///   the list; that of an empty list is empty.
/// - An error names the element: `cards[1]`, `dinner[1][0]`.
///
/// # Policies
///
/// | written | means |
/// |---|---|
/// | `#[retry(3)]` | is tried three times at most; the wait before the next attempt is 100 ms at first, and doubles, up to 30 s, or to a first wait that is longer |
/// | `#[retry(3, backoff = "200ms", max = "10s", jitter = false)]` | the first wait, the longest one, and the whole of it; with jitter, a random part |
/// | `#[retry(attempts = 3)]` | the same as `#[retry(3)]` |
/// | `#[timeout("10s")]` | an attempt may take so long |
/// | `#[deadline("1m 30s")]` | all attempts together may, and the waits between them |
/// | `#[optional]` | its failure is no failure of the plan; it is an `Option`, and `None` then |
/// | `#[optional(each)]` | the same for each element of a `for` |
/// | `#[fallback(value)]` | its output if it fails, of the same type: any value, with references to inputs and other steps |
/// | `#[concurrency(4)]` | so many elements of a `for` at once |
///
/// Only what may help is tried again: transient errors, panics, and attempts that took too long; neither
/// [permanent](crate::Error::permanent) errors nor arguments that cannot be resolved. In a `for`, each element has its own
/// attempts and time limits.
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
/// # What may be absent
///
/// A step that may be skipped or may fail is an `Option`, as are a field that is one and what stands behind `?`. Where something
/// has to be there, in an argument, in `format!`, as the list of a `for` or the condition of an `if`, it does not compile.
/// There are three ways out: an argument that is an `Option`; an `else` or a `#[fallback(…)]`; a computed value that says what
/// stands in for it, such as `menu.clone().unwrap_or_default()`.
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
/// A lower-case name is a step or an input. What is called, what has a `::` in it, and names in upper case are Rust's own.
///
/// | written | means |
/// |---|---|
/// | `people[0].name`, `pair.0`, `map["key"]` | a reference, stored as a JSON Pointer |
/// | `people.get(0)?.email?` | an optional one, through an `Option` or an element that may not be there |
/// | `people[..].name` | one into every element |
/// | `value["a"]`, `value.pointer("/a")` | one into a `serde_json::Value` |
/// | `"text"`, `5`, `None`, `Some(x)`, `[x, y]`, `(x, y)` | literals, with references in them |
/// | `Type { field: x }`, `Type::Variant(x)` | nested literals |
/// | `json!({"a": x})`, `format!("{x} {}", a.b)` | untyped values, texts |
/// | any other expression | a computed value: it sees the Rust values behind the names it mentions, and borrows them |
/// | `..` at the end of a tool's arguments | leaves out the others, which serde then fills |
///
/// A reference may stand where its type, or an `Option` of its type, is needed; an optional one only where an `Option` is.
///
/// # What is refused
///
/// Unknown and repeated names, cycles, paths and values of the wrong type, missing and repeated arguments, an optional value
/// where one is required, branches of different types, a fallback that does not fit, attributes that say nothing of their
/// step, a tool that is none, an application that lacks a tool. All mistakes of a plan are reported at once,
/// each where it is:
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
/// An application without a tool is found out where the plan is run on it:
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
/// Where this crate has another name, `#![plan(crate = path)]` stands first in the macro.
#[cfg(feature = "macros")]
pub use plan_macros::plan;

#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
