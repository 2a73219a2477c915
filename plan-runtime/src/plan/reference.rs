//! References: whose value is read, and the way to it.

use crate::print::{Quoted, is_whole};
use jsonptr::{PointerBuf, Token, index::Index};
use serde_json::Value;
use std::borrow::Cow;

/// A value out of a step's output or out of an input.
///
/// In JSON its way is a [JSON Pointer](https://datatracker.ietf.org/doc/html/rfc6901), or, where it leads into every
/// element of a list, one pointer to the list and one more from each element on.
///
/// ```
/// use plan_runtime::plan::{Absent, Reference, Segment, Source};
///
/// static SUBJECTS: Reference = Reference {
///     source: Source::Step(0),
///     path: std::borrow::Cow::Borrowed(&[
///         Segment::Key(std::borrow::Cow::Borrowed("data"), Absent::Error),
///         Segment::Each,
///         Segment::Key(std::borrow::Cow::Borrowed("a/b"), Absent::Error),
///     ]),
///     written: std::borrow::Cow::Borrowed("inbox.data[..].a_b"),
/// };
/// assert_eq!(SUBJECTS.pointer().as_str(), "/data");
/// let pointers = SUBJECTS.pointers();
/// assert_eq!(pointers.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["/data", "/a~1b"]);
/// ```
#[derive(Clone, Debug)]
pub struct Reference {
    /// Whose value.
    pub source: Source,
    /// The way to the value.
    pub path: Cow<'static, [Segment]>,
    /// The reference as its author wrote it (`inbox.data[0].thread_id`), for people. In a plan that was read from plan JSON it is
    /// derived from the source and the path.
    pub written: Cow<'static, str>,
}

/// What a reference reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The output of the step at this place in [`Plan::steps`](super::Plan::steps).
    Step(usize),
    /// The input at this place in [`Plan::inputs`](super::Plan::inputs).
    Input(usize),
    /// The value that an enclosing `for` or `if let` of the same step binds; the outermost is 0.
    Local(usize),
}

/// One part of the way from an output to a value in it.
#[derive(Clone, Debug)]
pub enum Segment {
    /// A reference token of RFC 6901, unescaped: a member of an object, or, where it is a number, an element of an array.
    Key(Cow<'static, str>, Absent),
    /// An element of an array. On an object it is the member under that number.
    Index(usize, Absent),
    /// Every element of an array: what follows is read from each, and the result is a list.
    Each,
    /// `?`: where there is nothing (or null) so far, the reference, or the element under [`Segment::Each`], is absent.
    /// With `true`, the segment before it may also lead to nothing (values of type [`Value`]).
    Optional(bool),
    /// A field in Rust that JSON does not have: that of a newtype struct, or a flattened one.
    Same,
    /// The value where the segment before leads to nothing: [`Absent::Default`] in a plan that was read from JSON.
    Or(Box<Value>),
    /// At the end of a path: the value where the reference is absent.
    Else(Box<Value>),
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
    /// The value is this default, which serialization left out.
    Default(fn() -> Value),
}

impl Reference {
    /// The way as one JSON Pointer; of a projection (`inbox.data[..].id`), the way to the list.
    pub fn pointer(&self) -> PointerBuf {
        let end = self.path.iter().position(|s| matches!(s, Segment::Each));
        PointerBuf::from_tokens(
            self.path[..end.unwrap_or(self.path.len())]
                .iter()
                .filter_map(Segment::token),
        )
    }

    /// The way as JSON Pointers: one, and for each `[..]` one more, from the elements on.
    pub fn pointers(&self) -> Vec<PointerBuf> {
        self.path
            .split(|segment| matches!(segment, Segment::Each))
            .map(|part| PointerBuf::from_tokens(part.iter().filter_map(Segment::token)))
            .collect()
    }

    /// Whether the reference reads from every element of a list (`[..]`).
    pub fn is_projection(&self) -> bool {
        self.path.iter().any(|s| matches!(s, Segment::Each))
    }

    /// Whether there may be nothing at the end of the way (`?`).
    pub fn is_optional(&self) -> bool {
        let ends = matches!(self.path.last(), Some(Segment::Else(_)));
        !ends
            && self.path.iter().any(|segment| {
                matches!(
                    segment,
                    Segment::Optional(_)
                        | Segment::Key(_, Absent::Stop)
                        | Segment::Index(_, Absent::Stop)
                )
            })
    }
}

impl Segment {
    /// The reference token of the segment, unescaped; `None` where the segment is not part of a pointer.
    pub fn token(&self) -> Option<Token<'_>> {
        match self {
            Self::Key(key, _) => Some(Token::new(key.as_ref())),
            Self::Index(index, _) => Some(Token::from(*index)),
            Self::Each | Self::Optional(_) | Self::Same | Self::Or(_) | Self::Else(_) => None,
        }
    }

    /// The segment of a reference token: an index where it is one by the rules of RFC 6901, else a key.
    pub(crate) fn of_token(token: String, absent: Absent) -> Self {
        match index(&token) {
            Some(index) => Self::Index(index, absent),
            None => Self::Key(token.into(), absent),
        }
    }
}

/// The array index that a reference token is: decimal digits without leading zeros.
pub(crate) fn index(token: &str) -> Option<usize> {
    // `Index::from_str` builds an error for every key that is not an index, so the common case is sorted out first.
    if !token.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    match token.parse() {
        Ok(Index::Num(index)) => Some(index),
        _ => None,
    }
}

/// As it is [written](Reference::written), in quotes where that could be taken for more than a reference.
impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.written.as_ref() {
            written if is_whole(written) => f.write_str(written),
            written => write!(f, "reference({})", Quoted(written)),
        }
    }
}

/// What a local value is called where nobody named it.
pub(crate) fn local(depth: usize) -> String {
    format!("local{depth}")
}
