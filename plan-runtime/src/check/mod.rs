//! What generated code uses. Nothing here is for users, and any of it may change at any time.

mod argument;
mod called;
mod cursor;
mod decode;
pub mod editor;
mod flow;
mod json;
mod literal;
mod run;
mod segment;

pub use argument::{
    Arrives, Fits, Formatted, FromLiteral, FromNegative, FromNone, FromSome, FromText, List,
    NotAbsent, Shown, any, show, shown, untyped,
};
pub use called::{Called, StaticTool};
pub use cursor::{
    AtJson, AtOption, AtValue, Elements, IsTool, OrAbsent, PathCursor, Present, Shaped, Unknown,
    here, root, whole,
};
pub use decode::{Constant, decode};
pub use flow::{
    Items, Joins, Listed, Locals, OwnItself, OwnUnsized, at, at_place, binding, bound, element,
    own, part,
};
pub use json::{Checked, Json, Outcome, json, outcome};
pub use literal::{Literal, Slot, arguments, literal, slot, witness};
pub use run::{
    Calls, Inline, Request, Runs, StartFn, Started, StepFuture, StepResult, Steps, called, input,
    kept_input,
};
pub use segment::Flattened;

pub use crate::plan::{LazyPlan, Source};
pub use crate::resolve::{ResolveError, Scope, StoredValue, encode};
pub use crate::shape::probe::{NotProbed, Probe};
pub use crate::shape::{Field, FieldPlace, Omitted, Tagging, TypeShape, Variant};
pub use crate::{Call, Error, Result, Run, Shape, Tool};
pub use serde;
pub use serde_json;
pub use std::format;
pub use std::string::String;
pub use std::vec;
pub use std::vec::Vec;
