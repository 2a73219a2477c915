//! The API of generated code. It is not for users, and may change at any time.
//!
//! | rustc checks | by |
//! |---|---|
//! | the path of a reference | the author's own expression, with methods between its parts (`cursor.rs`) |
//! | fields that serde skips, indices | a `const` that panics (`segment.rs`, `cursor.rs`) |
//! | arguments | a struct literal, whose values pass `Takes`, `Allows` and `CanBe` (`argument.rs`); literals pass `TakesText` and the like (`accepts.rs`) |
//! | types with JSON | a `const` in a bound (`json.rs`) |
//! | `?` in Rust expressions | a `match` that calls `Asked` and `FailsStep` (`asked.rs`) |
//! | effects without an order | a path that leads to a deprecated constant if the tools are an effect and a check (`order.rs`) |
//! | the application | the bounds of `run`, with the first tool before the others (`application.rs`) |
//!
//! The pattern of a `for` is in the code twice, for types and for values. If the first use has an error, `known` gives the list of the second use the
//! type `Unclear`, so rustc reports one error (`flow.rs`).

mod accepts;
mod application;
mod argument;
mod asked;
mod called;
mod closed;
mod cursor;
mod decode;
pub mod editor;
mod elsewhere;
mod flow;
mod json;
mod literal;
mod lossless;
mod order;
mod run;
mod segment;

pub use accepts::{
    TakesFloat, TakesInteger, TakesList, TakesLiteral, TakesNegative, TakesNone, TakesSome,
    TakesText, VariantOf,
};
pub use application::{CalledDirectlyOn, CalledOn, Calls, First, HasTool, Kind, KnownOn, NoKind};
pub use argument::{
    Allows, AlwaysPresent, CanBe, FitsInto, FitsIntoSome, Holds, IsUntyped, MaybeAbsent,
    ShownInText, Takes, TakesOutcome, TakesOutcomes, TakesStruct, UntypedJson, any, inner, show,
    shown, untyped,
};
pub use asked::{Asked, FailsStep, caught_value, checked};
pub use called::Called;
pub use closed::{
    Answer, Answers, Closed, ClosedEnum, NeverNull, NotClosed, OpenEnum, ToldByShape, WithoutJson,
    asked, constant, of_both, of_equal, of_fields, of_items, of_keys, of_length, of_order,
    of_outcome, of_presence, of_truth,
};
pub use cursor::{
    AList, AtArray, AtKind, AtPassed, AtValue, CanBeAbsent, Caught, HasElements, HasFields,
    HasOutcomes, HasShape, IsTool, PathCursor, Reachable, declared, here, root, whole,
};
pub use decode::{Constant, StaticTool, decode, with_secrets};
pub use elsewhere::{
    FieldsElsewhere, IsOfType, NotOne, Pair, StepDeclared, not_itself, without_serde,
};
pub use flow::{
    HasItems, Iterated, Locals, OwnItself, OwnUnsized, SameTypeAs, at, at_place, binding, bound,
    bound_or_failed, element, encode, known, own, part,
};
pub use json::{
    BoundValue, Checked, Json, JsonOrApplication, Outcome, ToolStruct, bound_value, json,
    json_or_application, outcome, tool_struct,
};
pub use literal::{
    ComputedValue, IsValue, Literal, MayDereference, MayTake, Slot, ValueOf, Waits, arguments,
    literal, slot, takable, takable_result, value_of, witness,
};
pub use lossless::{Hand, Known, Lossless, NotHandedOver, Seen};
pub use order::{Select, Selected, may_change};
pub use run::{
    CanRun, Inline, IsContext, Mocked, NotMocked, Request, RunsOn, StartFn, Started, StepFuture,
    StepResult, begun, called, called_in, input, once, plan_of, received, run_on,
};
pub use segment::{Flattened, written};

pub use crate::plan::{LazyPlan, Source};
pub use crate::resolve::{Arguments, HandOver, ResolveError, Scope, StoredValue};
pub use crate::run::Run;
pub use crate::run::{CallContext, CalledPlan, Mock, OnMock, Submit, submit};
pub use crate::shape::inside::{
    Cons, HasParts, Inside, Known as KnownType, Nil, Of, Searchable, TypeTree, Types,
};
pub use crate::shape::probe::{EverSome, NotProbed, Probe};
pub use crate::shape::{Field, FieldPlace, Omitted, Tagging, TypeShape, Variant};
pub use crate::{Call, Error, Plan, Result, Shape, Tool};
pub use serde;
pub use serde_json;
pub use std::format;
pub use std::string::String;
pub use std::vec;
pub use std::vec::Vec;
