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

#[cfg(feature = "macros")]
pub use plan_macros::{Shape, Tool, plan, tool};

#[cfg(all(doctest, feature = "macros"))]
#[doc = include_str!("../README.md")]
struct Readme;
