use serde_json::Value;
use std::borrow::Cow;

/// A value out of a step's output or out of an input.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Whose value.
    pub source: Source,
    /// The way to the value.
    pub path: Cow<'static, [Segment]>,
    /// The reference as its author wrote it (`inbox.data[0].thread_id`).
    pub written: Cow<'static, str>,
}

/// What a reference reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The output of the step at this place in [`Plan::steps`](super::Plan::steps).
    Step(usize),
    /// The input at this place in [`Plan::inputs`](super::Plan::inputs).
    Input(usize),
}

/// One part of the way from an output to a value in it.
#[derive(Clone, Debug)]
pub enum Segment {
    /// A reference token of RFC 6901, unescaped: a member of an object, or, where it is a number, an element of an array.
    Key(Cow<'static, str>, Absent),
    /// An element of an array.
    Index(usize, Absent),
    /// Every element of an array: what follows is read from each, and the result is a list.
    Each,
    /// `?`: where there is nothing (or null) so far, the reference, or the element under [`Segment::Each`], is absent.
    /// With `true`, the segment before it may also lead to nothing (values of type [`Value`]).
    Optional(bool),
    /// A step in Rust that is none in JSON: the field of a newtype struct, a flattened field.
    Same,
}

/// What a segment means when there is nothing at it.
#[derive(Clone, Copy, Debug)]
pub enum Absent {
    /// The reference cannot be resolved.
    Error,
    /// The value is null.
    Null,
    /// The whole reference, or the element under [`Segment::Each`], is absent.
    Stop,
    /// Serialising left a default out, which is this.
    Default(fn() -> Value),
}
