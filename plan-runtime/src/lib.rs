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
//! | [`plan!`](crate::plan!) | writes a plan: steps, references, values, what is checked |
//! | [`Tool`], [`Call`], [`#[tool]`](macro@tool) | what steps call |
//! | [`Shape`] | how a type looks in JSON, so that references can lead into it |
//! | [`plan`](mod@plan) | a plan as data: its graph, its references, its JSON |
//! | [`run`] | runs, reports, and why a run failed |
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
//! `macros`, on by default: `plan!`, `#[tool]`, `#[derive(Shape)]` and `#[derive(Tool)]`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// Generated code names `::plan_runtime`, in this crate's own tests and docs too.
extern crate self as plan_runtime;

mod error;
pub mod plan;
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
/// | `#[after(one, other)]` before it | starts after these steps, though it refers to none of them |
/// | a doc comment before it | the step's intent, which the printed plan shows |
///
/// The order in which steps are written does not matter: each starts when all that it refers to is there.
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
/// | any other expression | a computed value: it sees the Rust values behind the names it mentions, by reference |
/// | `..` at the end of a tool's arguments | leaves out the others, which serde then fills |
///
/// A reference may stand where its type, or an `Option` of its type, is needed; an optional one only where an `Option` is.
///
/// # What is refused
///
/// Unknown and repeated names, cycles, paths and values of the wrong type, missing and repeated arguments, an optional value
/// where one is required, a tool that is none, an application that lacks a tool. All mistakes of a plan are reported at once,
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
