//! Graphs of steps: levels, cycles, reachability, and suggestions for misspelled names. With the feature `text`,
//! escapes for untrusted strings. With the feature `layout`, positions of the boxes and arrows of a graph. The
//! [`notation`] is the format of the plans that `plan!` passes to the runtime. [`StepAttribute`] is the table of the
//! attributes of steps.
//!
//! An implementation detail of `plan-runtime` and `plan-macros`, which share it as a crate of its own since a crate of macros
//! exports nothing but macros. Depend on `plan-runtime`; anything here may change in any version.
//!
//! ```
//! use plan_graph::Graph;
//!
//! // Step 1 needs step 0, and steps 2 and 3 need each other.
//! let needs = Graph::new([vec![], vec![0], vec![3], vec![1, 2]]);
//! assert_eq!(needs.levels(), [Some(0), Some(1), None, None]);
//! assert_eq!(needs.cycles(), [[2, 3]]);
//! ```
#![cfg_attr(
    feature = "layout",
    doc = r#"
```
use plan_graph::{Boxes, HEIGHT, layout, width};

let sizes = [(width("inbox", "fetch_emails"), HEIGHT), (width("sent", "reply_email"), HEIGHT)];
let layout = layout(&Boxes { sizes: &sizes, arrows: &[(0, 1)], levels: &[0, 1] });
assert_eq!(layout.boxes.len(), 2);
assert!(layout.curves(&sizes).next().unwrap().to_string().starts_with('M'));
```
"#
)]

mod attributes;
#[cfg(feature = "layout")]
mod curve;
mod cycle;
mod graph;
#[cfg(feature = "layout")]
mod html;
#[cfg(feature = "layout")]
mod label;
#[cfg(feature = "layout")]
mod layout;
pub mod notation;
mod reach;
mod seen;
mod similar;
#[cfg(test)]
mod tests;
#[cfg(feature = "text")]
mod text;
#[cfg(feature = "text")]
mod time;

pub use attributes::{
    Argument, BACKOFF, Concern, LONGEST_WAIT, StepAttribute, Takes, policy_attributes,
};
#[cfg(feature = "layout")]
pub use curve::Curve;
pub use graph::Graph;
#[cfg(feature = "layout")]
pub use html::{Html, Tag, entity};
#[cfg(feature = "layout")]
pub use label::{HEIGHT, cut, cut_small, width};
#[cfg(feature = "layout")]
pub use layout::{Boxes, Layout, Point, layout};
pub use notation::Amount;
pub use reach::{Exhausted, Paths};
pub use seen::is_unseen;
pub use similar::{nearest, similar};
#[cfg(feature = "text")]
pub use text::{Line, Lines, MessageName, Quoted, Safe, cut_middle, is_seen, visible};
#[cfg(feature = "text")]
pub use time::{Time, TimeUnit};
