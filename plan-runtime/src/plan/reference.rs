//! References: a source, and a path into its value.
//!
//! | | |
//! |---|---|
//! | [`Source`] | an output, an input, or a local value |
//! | [`Segment`] | one part of the path: a [`Selector`] (a member, an element, every element), and the effect of a missing value |
//! | [`Absent`] | the effect of a missing part: an error, a default, or the end of the reference |
//! | `optional` | `?`: `true` if null ends the reference. The source and each part have this flag |
//! | [`Reference::otherwise`] | the replacement for a reference that has ended |
//!
//! A run decides about each part of a path without looking ahead. Missing and null differ: in `rows[0]?` a list without
//! elements is an error, and an element that is null ends the reference.
//!
//! `plan!` takes the parts from its author's notation. `check/decode/mod.rs` adds the serde properties of a field: its JSON name, its default, and
//! its part in the path. A flattened field and the field of a newtype have no part. The default is computed once, when the plan is decoded.
//! Readers of JSON find all of these in the document.
//! `resolve/walk.rs` follows a [`Path`], which is a reference without its source. The part of a reference after `[..]` is a `Path` as well, and so is
//! the part after a variable of a pattern. `written.rs` prints paths, and compares them with an author's notation.

use jsonptr::{PointerBuf, Token, index::Index};
use serde_json::Value;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The member of each side of a `Result` in JSON.
pub(crate) const OK: &str = "Ok";
pub(crate) const ERR: &str = "Err";

/// Returns `true` for the JSON of an `Ok`, `false` for the JSON of an `Err`, and `None` for any other value. The JSON of a `Result`
/// is an object with exactly one member, `Ok` or `Err`.
pub(crate) fn is_ok(value: &Value) -> Option<bool> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    let is = |side| members.contains_key(side).then_some(side == OK);
    is(OK).or_else(|| is(ERR))
}

/// A value in the output of a step, in an input or in a local value.
///
/// In JSON, the path is a [JSON Pointer](https://datatracker.ietf.org/doc/html/rfc6901) (RFC 6901). A path into every
/// element of a list has one pointer to the list and another one from each element.
///
/// A reference *ends* if a value on its path is null or missing, and `?` or [`Absent::End`] marks this part of the path. The reader of the reference
/// then gets null, or the value of [`otherwise`](Self::otherwise).
///
/// ```
/// use plan_runtime::plan::{Reference, Source};
///
/// let subjects = Reference::new(Source::Step(0)).key("data").each().key("a/b");
/// assert_eq!(subjects.pointer().as_str(), "/data");
/// let pointers = subjects.pointers();
/// assert_eq!(pointers.iter().map(|p| p.as_str()).collect::<Vec<_>>(), ["/data", "/a~1b"]);
/// assert_eq!(subjects.to_string(), "step0.data[..][\"a/b\"]");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reference {
    /// The source at the start of the path.
    pub source: Source,
    /// `?` after the name of the source: if the whole value is null, the reference ends.
    pub optional: bool,
    /// The parts of the path to the value.
    pub path: Box<[Segment]>,
    /// The value for a reader if the reference has ended. Below [`Selector::Each`], the value replaces each element that has
    /// ended. Without this value, the reader gets null.
    pub otherwise: Option<Box<Value>>,
    pub(super) written: Option<Box<Written>>,
}

/// An author's notation, with the variable at its start, if there is one.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Plain(AuthorNotation),
    /// The notation, the name of the variable, which no other part of the plan contains, and the number of the path's parts that lead
    /// to the variable in the local value.
    OfVariable(Box<(AuthorNotation, Box<str>, usize)>),
}

/// An author's notation, and the reference that it was written for.
#[derive(Clone, Debug)]
pub(super) struct AuthorNotation {
    text: Box<str>,
    /// The fingerprint of the reference.
    reference: u32,
    /// The hash of the name of the source, or 0 without a name.
    name: u32,
}

/// The source of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Source {
    /// The output of the step with this index in [`Plan::steps`](super::Plan::steps).
    Step(usize),
    /// The input with this index in [`Plan::inputs`](super::Plan::inputs).
    Input(usize),
    /// The value that an enclosing `for` or `if let` of this step binds; the outermost is 0.
    Local(usize),
}

/// A part of the path from a value to a value inside it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Segment {
    /// The part that the segment reads.
    pub selector: Selector,
    /// The effect of a missing part. An element of [`Selector::Each`] is never missing.
    pub absent: Absent,
    /// `?`: if the part is null, the reference ends.
    pub optional: bool,
}

/// The part of a value that a [`Segment`] reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Selector {
    /// A reference token of RFC 6901, unescaped: a member of an object, or, for a number, an element of an array.
    Key(String),
    /// An element of an array. In an object, the member with this number as its name.
    Index(usize),
    /// Every element of an array. The rest of the path is read from each element, and the result is a list.
    Each,
}

/// The effect of a missing part.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Absent {
    /// The reference cannot be resolved.
    #[default]
    Error,
    /// The part is this value, which serialization left out: null for an `Option`.
    Default(Box<Value>),
    /// The reference ends: `.get(0)?`, `.pointer("/a")`. Below [`Selector::Each`], only the element ends. A null before
    /// this part has the same effect.
    End,
    /// The part is the `Ok` of a `Result`. If the `Result` is an `Err`, the reader fails with that
    /// [`Failure`](crate::Failure): `caught?`.
    Failure,
}

impl Reference {
    /// Creates a reference to the whole value.
    pub fn new(source: Source) -> Self {
        Self {
            source,
            optional: false,
            path: Box::default(),
            otherwise: None,
            written: None,
        }
    }

    /// Continues the path to a member of an object: `.key`.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        self.then(Segment::new(Selector::Key(key.into())))
    }

    /// Continues the path to an element of a list: `[index]`.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.then(Segment::new(Selector::Index(index)))
    }

    /// Continues the path to every element of a list: `[..]`.
    #[must_use]
    pub fn each(self) -> Self {
        self.then(Segment::new(Selector::Each))
    }

    fn then(mut self, segment: Segment) -> Self {
        let mut path = std::mem::take(&mut self.path).into_vec();
        path.push(segment);
        self.path = path.into();
        self
    }

    /// Sets the effect of a missing last part of the path. The source itself is never missing.
    ///
    /// ```
    /// use plan_runtime::plan::{Absent, Reference, Source};
    ///
    /// let first = Reference::new(Source::Input(0)).index(0).absent(Absent::End).optional();
    /// assert_eq!(first.to_string(), "input0.get(0)?");
    /// ```
    #[must_use]
    pub fn absent(mut self, absent: Absent) -> Self {
        if let Some(last) = self.path.last_mut() {
            last.absent = absent;
        }
        self
    }

    /// Ends the reference if the last part of the path is null, or the source if there is no part: `?`.
    #[must_use]
    pub fn optional(mut self) -> Self {
        match self.path.last_mut() {
            Some(last) => last.optional = true,
            None => self.optional = true,
        }
        self
    }

    /// Continues the path to the value of a `Result`, whose failure fails the step that reads it: `caught?`.
    ///
    /// ```
    /// use plan_runtime::plan::{Reference, Source};
    ///
    /// let id = Reference::new(Source::Step(0)).ok().key("id");
    /// assert_eq!((id.to_string(), id.pointer().as_str()), ("step0?.id".to_owned(), "/Ok/id"));
    /// ```
    #[must_use]
    pub fn ok(self) -> Self {
        self.key(OK).absent(Absent::Failure)
    }

    /// Sets the value that replaces the reference if it has ended: `.unwrap_or(value)`.
    #[must_use]
    pub fn unwrap_or(mut self, value: impl Into<Value>) -> Self {
        self.otherwise = Some(Box::new(value.into()));
        self
    }

    /// Stores an author's notation that is known to match the path, in any form: it may contain Rust names of fields, or belong to
    /// another language. `name` is the source's name in it.
    pub(crate) fn said(mut self, text: impl Into<String>, name: Option<&str>) -> Self {
        let text = text.into();
        let parts = name.map(|name| self.is_of_part(name, &text).into());
        let notation = AuthorNotation {
            text: text.into(),
            reference: self.fingerprint(),
            name: name.map_or(0, hash),
        };
        self.written = Some(Box::new(match (name, parts, self.source) {
            (Some(name), Some(parts), Source::Local(_)) => {
                Written::OfVariable(Box::new((notation, name.into(), parts)))
            }
            _ => Written::Plain(notation),
        }));
        self
    }

    fn notation(&self) -> Option<&AuthorNotation> {
        Some(match &**self.written.as_ref()? {
            Written::Plain(notation) => notation,
            Written::OfVariable(variable) => &variable.0,
        })
    }

    /// Returns the author's notation of the reference (`inbox.data[0].thread_id`), unless the reference was changed later.
    /// Without an author's notation, as in every plan from plan JSON, `Display` derives a notation.
    pub fn as_written(&self) -> Option<&str> {
        let notation = self.notation()?;
        (notation.reference == self.fingerprint()).then_some(&*notation.text)
    }

    /// Returns the author's notation if its source still has this name.
    pub(crate) fn as_written_for(&self, name: &str) -> Option<&str> {
        let about = self.notation()?.name;
        let is_about = about == 0 || about == hash(name);
        self.as_written().filter(|_| is_about)
    }

    /// Returns `true` if notation that begins with the name of a variable omits the first part of the path, so that the name belongs to that
    /// part.
    fn is_of_part(&self, name: &str, text: &str) -> bool {
        let text = text.trim_start_matches('&');
        let text = text.strip_prefix("r#").unwrap_or(text);
        let (Some(rest), Some(first)) = (text.strip_prefix(name), self.path.first()) else {
            return false;
        };
        let Selector::Index(index) = first.selector else {
            return false;
        };
        let written = [format!("[{index}]"), format!(".{index}")];
        first.is_plain() && !written.iter().any(|it| rest.starts_with(&**it))
    }

    /// Stores an author's notation like [`said`](Self::said), for a variable to which this number of the path's parts
    /// leads.
    pub(crate) fn said_of_part(self, text: &str, name: &str, parts: usize) -> Self {
        let mut said = self.said(text, Some(name));
        if let Some(Written::OfVariable(variable)) = said.written.as_deref_mut() {
            variable.2 = parts;
        }
        said
    }

    /// Returns the variable at the start of the reference, by its author's name, and the number of the path's parts that lead to
    /// it.
    pub(crate) fn variable(&self) -> Option<(&str, usize)> {
        match self.written.as_deref()? {
            Written::OfVariable(it) => self.as_written().map(|_| (&*it.1, it.2)),
            Written::Plain(_) => None,
        }
    }

    fn fingerprint(&self) -> u32 {
        let mut hasher = DefaultHasher::new();
        (self.source, self.optional, &self.otherwise).hash(&mut hasher);
        for segment in &self.path {
            let default = match &segment.absent {
                Absent::Default(value) => Some(value),
                Absent::Error | Absent::End | Absent::Failure => None,
            };
            let absent = std::mem::discriminant(&segment.absent);
            (&segment.selector, segment.optional, absent, default).hash(&mut hasher);
        }
        short(&hasher)
    }

    /// Returns the path as one JSON Pointer. For a projection (`inbox.data[..].id`), it is the path to the list.
    pub fn pointer(&self) -> PointerBuf {
        PointerBuf::from_tokens(self.path.iter().map_while(Segment::token))
    }

    /// Returns the path as JSON Pointers: one for the start, and one for the elements of each `[..]`.
    pub fn pointers(&self) -> Vec<PointerBuf> {
        self.path
            .split(Segment::is_each)
            .map(|part| PointerBuf::from_tokens(part.iter().filter_map(Segment::token)))
            .collect()
    }

    /// Returns `true` if the value at the end of the path may be absent (`?`).
    pub fn is_optional(&self) -> bool {
        self.otherwise.is_none() && self.can_end()
    }

    /// Returns `true` if null or a missing part can end the reference, so that `otherwise` replaces it.
    pub(crate) fn can_end(&self) -> bool {
        // An element of `[..]` is never missing.
        let ends = |segment: &Segment| {
            segment.optional || (!segment.is_each() && matches!(segment.absent, Absent::End))
        };
        self.optional || self.path.iter().any(ends)
    }

    /// Returns `true` if the reference means the whole value of its source, including null.
    pub(crate) fn is_whole(&self) -> bool {
        self.path.is_empty() && !self.optional && self.otherwise.is_none()
    }

    /// Returns the path after the name of the source.
    #[inline]
    pub(crate) fn path(&self) -> Path<'_> {
        Path {
            optional: self.optional,
            segments: &self.path,
            otherwise: self.otherwise.as_deref(),
        }
    }
}

/// Returns the hash of a name, which is not 0.
fn hash(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    short(&hasher).max(1)
}

/// Returns half of a hash, so that a notation takes few bytes.
fn short(hasher: &DefaultHasher) -> u32 {
    (hasher.finish() >> 32) as u32
}

impl Source {
    /// Returns a name of the source for readers without the plan's names: `step0`.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Step(place) => format!("step{place}"),
            Self::Input(place) => format!("input{place}"),
            Self::Local(depth) => format!("local{depth}"),
        }
    }
}

impl Segment {
    /// Creates a part that must be present.
    pub fn new(selector: Selector) -> Self {
        Self {
            selector,
            absent: Absent::Error,
            optional: false,
        }
    }

    /// Returns the unescaped reference token of the segment. Returns `None` for [`Selector::Each`], which is not part
    /// of a pointer.
    pub fn token(&self) -> Option<Token<'_>> {
        match &self.selector {
            Selector::Key(key) => Some(Token::new(key.as_str())),
            Selector::Index(index) => Some(Token::from(*index)),
            Selector::Each => None,
        }
    }

    /// Returns the segment of a reference token: an index if it is one by the rules of RFC 6901, else a key.
    pub(crate) fn of_token(token: String) -> Self {
        Self::new(match index(&token) {
            Some(index) => Selector::Index(index),
            None => Selector::Key(token),
        })
    }

    pub(crate) fn is_each(&self) -> bool {
        self.selector == Selector::Each
    }

    /// Returns `true` for a plain part of a JSON Pointer: a missing part is an error, and null is a value.
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_each() && matches!(self.absent, Absent::Error) && !self.optional
    }
}

/// A path into any value: a reference without its source, or its rest after some parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'a> {
    /// `true` if null ends the reference.
    pub(crate) optional: bool,
    pub(crate) segments: &'a [Segment],
    pub(crate) otherwise: Option<&'a Value>,
}

impl Path<'_> {
    /// Returns the path after the part with this index.
    pub(crate) fn after(self, place: usize) -> Self {
        Self {
            optional: self.segments[place].optional,
            segments: &self.segments[place + 1..],
            ..self
        }
    }
}

/// Returns the array index in a reference token, which consists of decimal digits without leading zeros.
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
