//! The notation of references: their sources, and the paths into them.

use super::{NameSyntax, Piece, Target, quote};
use crate::dynamic::dialects::Rules;
use crate::plan::{Path, Reference, Segment, Selector, written};

/// The source of a reference, by its names in dialects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReferenceTarget<'n> {
    /// A step by its index and its ID.
    Step(usize, &'n str),
    Input(&'n str),
    /// A local value, or an input of a block.
    Value(&'n str),
    /// A local value by its number, and the name of the variable.
    Local(usize, &'n str),
}

/// The marks at the beginning and the end of a reference in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
}

impl Mark {
    pub(crate) const fn new(open: &'static str, close: &'static str) -> Self {
        Self { open, close }
    }

    /// Writes a string that is not a reference.
    pub(crate) fn literal(self, text: &str) -> String {
        format!("{}{}{}", self.open, quote(text), self.close)
    }
}

/// The possible positions of references in a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// Never: references are objects.
    Nowhere,
    /// A reference is the whole string.
    Whole,
    /// A string may have several references, and other characters around them.
    Anywhere,
}

/// The notation of references to one source.
pub(crate) struct Style {
    /// The characters before the path.
    pub(crate) head: String,
    pub(crate) names: NameSyntax,
    pub(crate) notation: Notation,
    /// The number of a path's parts that the name contains.
    pub(crate) skipped: usize,
    /// The characters after the path.
    pub(crate) close: &'static str,
}

/// Returns the name in a reference that is a whole string, and the number of its path's parts that the name contains.
pub(crate) fn name_in(rules: &Rules, reference: &Reference) -> Option<(String, usize)> {
    let text = reference.as_written()?;
    let scan = (rules.scan)(text, &|_| true);
    let [Piece::Reference(written)] = &scan.pieces[..] else {
        return None;
    };
    let Target::Id(name) = &written.target else {
        return None;
    };
    let skipped = reference.path.len().checked_sub(written.path.len())?;
    Some((name.clone(), skipped))
}

/// The notation of a path's parts other than names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// `[0]`, `[*]`
    Brackets,
    /// `.0`, `[*]`
    Dots,
    /// The notation of `plan!`: `[0]`, `[..]`, `?`
    Rust,
}

impl Style {
    /// References to a name as `plan!` has them, for people.
    pub(crate) fn rust(name: &str) -> Self {
        Self {
            head: name.to_owned(),
            names: NameSyntax::Wide,
            notation: Notation::Rust,
            skipped: 0,
            close: "",
        }
    }

    /// Returns `true` for a reference in a string.
    pub(crate) fn is_string(&self) -> bool {
        self.notation != Notation::Rust
    }

    pub(crate) fn write(&self, path: &[Segment]) -> String {
        let path = path.get(self.skipped..).unwrap_or_default();
        if self.notation == Notation::Rust {
            let path = Path {
                optional: false,
                segments: path,
                otherwise: None,
            };
            return written(&self.head, path);
        }
        let path: String = path.iter().map(|segment| self.segment(segment)).collect();
        format!("{}{path}{}", self.head, self.close)
    }

    fn segment(&self, segment: &Segment) -> String {
        match (&segment.selector, self.notation) {
            (Selector::Key(key), _) if is_bare(self.names, key) => format!(".{key}"),
            (Selector::Key(key), _) => format!("[{}]", quote(key)),
            (Selector::Index(index), Notation::Dots) => format!(".{index}"),
            (Selector::Index(index), _) => format!("[{index}]"),
            (Selector::Each, _) => "[*]".to_owned(),
        }
    }
}

/// Returns `true` if a key needs no quotes in a path: a name that is not an index.
fn is_bare(names: NameSyntax, key: &str) -> bool {
    names.is_name(key) && crate::plan::index(key).is_none()
}

/// Returns an ID or the name of an input, in quotes if necessary.
pub(crate) fn named(names: NameSyntax, name: &str) -> String {
    if names.is_name(name) {
        name.to_owned()
    } else {
        format!("[{}]", quote(name))
    }
}
