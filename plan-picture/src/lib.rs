//! How the pictures of `plan-runtime` are laid out and drawn: boxes, and arrows between them, as SVG. Knows of no plans.
//!
//! An implementation detail of `plan-runtime` and `plan-macros`, which must have it in a crate of its own since a crate of macros can
//! share nothing with another. Depend on `plan-runtime`; anything here may change in any version.
//!
//! ```
//! use plan_picture::{Boxes, HEIGHT, layout, width};
//!
//! let sizes = [(width("inbox", "fetch_emails"), HEIGHT), (width("sent", "reply_email"), HEIGHT)];
//! let layout = layout(&Boxes { sizes: &sizes, arrows: &[(0, 1)], levels: &[0, 1] });
//! assert_eq!(layout.boxes.len(), 2);
//! assert!(layout.curves(&sizes).next().unwrap().to_string().starts_with('M'));
//! ```

mod curve;
mod label;
mod layout;

pub use curve::Curve;
pub use label::{HEIGHT, cut, width};
pub use layout::{Boxes, Layout, Point, layout};
