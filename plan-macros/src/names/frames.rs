//! The names that the enclosing `for`s and `if let`s of a value bind.

use super::Local;
use crate::docs::text_of;
use std::collections::HashSet;
use syn::Ident;

/// The scope of a value: the names bound by `for` and `if let`, outermost first, and the block.
#[derive(Default)]
pub(crate) struct Frames {
    bound: Vec<Frame>,
    /// The innermost block; 0 is the plan itself.
    pub(super) scope: usize,
}

pub(super) struct Frame {
    pub(super) names: Vec<(String, Option<usize>)>,
    /// `true` if the value behind the names was unreadable, so that their types are unknown. Such a frame is not
    /// expanded.
    pub(super) broken: bool,
    /// The names that something mentions.
    pub(super) used: HashSet<String>,
}

impl Frame {
    /// Creates a frame with unused names.
    pub(super) fn new(names: Vec<(String, Option<usize>)>, broken: bool) -> Self {
        Self {
            names,
            broken,
            used: HashSet::new(),
        }
    }
}

impl Frames {
    pub(super) fn enter(&mut self, frame: Frame) {
        self.bound.push(frame);
    }

    /// Returns the number of expanded frames.
    pub(super) fn count(&self) -> usize {
        self.bound.iter().filter(|frame| !frame.broken).count()
    }

    /// Leaves the innermost frame, and returns its unused names among `bound`.
    pub(super) fn leave(&mut self, bound: Vec<Ident>) -> impl Iterator<Item = Ident> {
        let mut frame = self.bound.pop();
        let is_unused = move |name: &Ident| {
            let text = text_of(name);
            let is_named = !text.starts_with('_');
            // A name may be in each of the patterns that `|` separates.
            let is_new = |frame: &mut Frame| !frame.broken && frame.used.insert(text);
            is_named && frame.as_mut().is_some_and(is_new)
        };
        bound.into_iter().filter(is_unused)
    }

    /// Marks a name as used.
    pub(super) fn mention(&mut self, name: &Ident) {
        if let Some((index, _)) = self.find(name) {
            self.bound[index].used.insert(text_of(name));
        }
    }

    /// Returns the binding of a name.
    pub(crate) fn get(&self, name: &Ident) -> Option<Local> {
        let (index, part) = self.find(name)?;
        let outer = self.bound[..index].iter().filter(|frame| !frame.broken);
        (!self.bound[index].broken).then(|| Local {
            frame: outer.count(),
            part,
        })
    }

    /// Returns `true` if the name is bound to an unreadable value.
    pub(crate) fn is_broken(&self, name: &Ident) -> bool {
        self.find(name)
            .is_some_and(|(index, _)| self.bound[index].broken)
    }

    fn find(&self, name: &Ident) -> Option<(usize, Option<usize>)> {
        let name = text_of(name);
        self.bound
            .iter()
            .enumerate()
            .rev()
            .find_map(|(index, frame)| {
                let mut names = frame.names.iter().rev();
                let (_, part) = names.find(|(known, _)| *known == name)?;
                Some((index, *part))
            })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.bound.iter().flat_map(|frame| &frame.names);
        names.map(|(name, _)| name.as_str())
    }
}
