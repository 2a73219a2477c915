//! The references in a plan, their positions, and the depth of templates.

use super::depth::{DEEPEST_VALUE, is_deep};
use super::{Body, Entry, Key, Part, Reference, Role, Source, Step, Template};
use crate::print::{Quoted, is_word};
use std::fmt::Write;

/// A reference, and its position in the arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Use<'a> {
    /// The position in the author's notation: `filters.sender`, `tags[2]`; empty for the arguments as a whole. A position outside of the arguments
    /// begins with a word:
    ///
    /// | word | the reference is in |
    /// |---|---|
    /// | `if` | a condition |
    /// | `in` | the list of a `for` |
    /// | `fallback` | a fallback |
    /// | the name in plan JSON | another part of the policy |
    pub place: String,
    /// The reference.
    pub reference: &'a Reference,
}

impl Step {
    /// Returns all references in the body and in the policy, in the order of their notation.
    ///
    /// A computed value has no references: see [`Step::reads`].
    pub fn references(&self) -> Vec<Use<'_>> {
        let mut uses = Vec::new();
        self.templates(&mut |place, template| template.find_references(place, &mut uses));
        uses
    }

    /// Returns all sources that the body and the policy read, including those of computed values and excluding local values, in
    /// ascending order.
    pub fn reads(&self) -> Vec<Source> {
        let mut reads = Vec::new();
        self.templates(&mut |_, template| template.find_reads(&mut reads));
        reads.retain(|source| !matches!(source, Source::Local(_)));
        in_order(reads)
    }

    /// Returns all steps that must end first, by their indices in [`Plan::steps`](super::Plan::steps): the steps that this step reads,
    /// the step that it [undoes](super::Role::Undo), and [`Step::after`], in ascending order.
    pub fn needs(&self) -> Vec<usize> {
        let reads = self.reads().into_iter().filter_map(|source| match source {
            Source::Step(place) => Some(place),
            Source::Input(_) | Source::Local(_) => None,
        });
        let undone = match self.role {
            Role::Undo(undone) => Some(undone),
            Role::Work | Role::Always => None,
        };
        in_order(
            reads
                .chain(undone)
                .chain(self.after.iter().copied())
                .collect(),
        )
    }

    /// Returns `true` if the step does more than compute a value, and waits for no step of its plan.
    pub(crate) fn starts_at_once(&self) -> bool {
        let works = match &self.body {
            Body::Action(action) => action.tool.is_some(),
            Body::If(branches) => !branches.is_empty(),
            Body::For(_) | Body::Block(_) | Body::Loop(_) | Body::Await(_) => true,
        };
        works && self.role == Role::Work && self.needs().is_empty()
    }

    /// Returns the steps of [`Step::after`] that the step does not read.
    pub(crate) fn only_after(&self) -> Vec<usize> {
        let mut after = self.after.clone();
        if !after.is_empty() {
            let reads = self.reads();
            after.retain(|&step| !reads.contains(&Source::Step(step)));
        }
        in_order(after)
    }

    /// Calls `f` with each template and the name of its position.
    pub(crate) fn templates<'a>(&'a self, f: &mut impl FnMut(&'static str, &'a Template)) {
        self.body
            .visit(&mut |part| f(part.place(), part.template()));
        for (amount, template) in &self.policy.given {
            f(amount.name(), template);
        }
        if let Some(fallback) = &self.policy.fallback {
            f("fallback", fallback);
        }
    }
}

impl Template {
    /// Returns all references in the template, in the order of their notation.
    pub fn references(&self) -> Vec<Use<'_>> {
        let mut uses = Vec::new();
        self.find_references("", &mut uses);
        uses
    }

    fn find_references<'a>(&'a self, place: &str, uses: &mut Vec<Use<'a>>) {
        self.visit(&mut place.to_owned(), &mut |place, template| {
            if let Self::Reference(reference) = template {
                let place = place.to_owned();
                uses.push(Use { place, reference });
            }
        });
    }

    /// Returns all sources that the template reads, including those of computed values, in ascending order.
    pub fn reads(&self) -> Vec<Source> {
        let mut reads = Vec::new();
        self.find_reads(&mut reads);
        in_order(reads)
    }

    fn find_reads(&self, reads: &mut Vec<Source>) {
        self.each(&mut |template| match template {
            Self::Reference(reference) => reads.push(reference.source),
            Self::Computed(computed) => reads.extend_from_slice(computed.reads()),
            _ => {}
        });
    }

    /// Calls `f` with the template and all templates in it, in the order of [`visit`](Self::visit).
    pub(crate) fn each<'a>(&'a self, f: &mut impl FnMut(&'a Self)) {
        f(self);
        // A fast path: nearly all templates have no parts, and each run of a document visits all templates.
        if let Self::List(_) | Self::Object(_) | Self::Tagged(..) | Self::Text(_) | Self::Test(_) =
            self
        {
            self.parts().for_each(|part| part.each(f));
        }
    }

    /// Returns `true` if plan JSON contains the value unchanged at any depth.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_)
        )
    }

    /// Returns `true` if values in the template are nested deeper than in plan JSON. Code that visits such a template recursively can exceed its
    /// stack.
    pub(crate) fn is_deep(&self) -> bool {
        self.is_deep_at(0)
    }

    fn is_deep_at(&self, depth: usize) -> bool {
        if self.is_scalar() {
            return false;
        }
        let has_deep_default = match self {
            Self::Reference(reference) => reference.defaults().any(|it| is_deep(it, 0)),
            _ => false,
        };
        let mut parts = self.parts();
        depth >= DEEPEST_VALUE || has_deep_default || parts.any(|part| part.is_deep_at(depth + 1))
    }

    /// Returns `true` if the template contains Rust code.
    pub(crate) fn has_code(&self) -> bool {
        let mut found = false;
        self.each(&mut |part| found |= matches!(part, Self::Computed(_)));
        found
    }

    /// Returns `true` if the template itself, without its parts, lacks code that only `plan!` generates.
    pub(crate) fn lacks_code(&self) -> bool {
        match self {
            Self::Computed(computed) => computed.code().is_none(),
            Self::Text(parts) => parts.iter().any(|part| part.lacks_code().is_some()),
            _ => false,
        }
    }

    /// Returns the templates directly inside of this one, in the order of their notation.
    #[inline]
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        let (items, entries, content, parts): (&[Self], &[Entry], _, &[Part]) = match self {
            Self::List(items) => (items, &[], None, &[]),
            Self::Object(entries) => (&[], entries, None, &[]),
            Self::Tagged(_, content) => (&[], &[], content.as_deref(), &[]),
            Self::Text(parts) => (&[], &[], None, parts),
            Self::Test(test) => (test.operands(), &[], None, &[]),
            Self::Null
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::Reference(_)
            | Self::Computed(_) => (&[], &[], None, &[]),
        };
        let values = parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Value { value, .. } => Some(value),
        });
        let members = entries.iter().map(|entry| &entry.value);
        items.iter().chain(members).chain(content).chain(values)
    }

    /// Calls `f` with the template and all templates in it, each with its position.
    pub(crate) fn visit<'a>(&'a self, place: &mut String, f: &mut impl FnMut(&str, &'a Self)) {
        f(place, self);
        let length = place.len();
        for (index, part) in self.parts().enumerate() {
            match self {
                Self::List(_) => {
                    let _ = write!(place, "[{index}]");
                }
                Self::Object(entries) => {
                    if let Key::Name(name) = &entries[index].key {
                        push_key(place, name);
                    }
                }
                _ => {}
            }
            part.visit(place, f);
            place.truncate(length);
        }
    }
}

impl Part {
    /// Returns the format, if it lacks code that only `plan!` generates.
    pub(crate) fn lacks_code(&self) -> Option<&str> {
        match self {
            Self::Value { value, spec } => (!spec.is_empty()
                && spec.code().is_none()
                && !matches!(value, Template::Computed(computed) if computed.is_formatted()))
            .then_some(spec),
            Self::Literal(_) => None,
        }
    }
}

fn in_order<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

/// Adds a member's name to a position: `.sender`, or `["odd key"]`.
pub(crate) fn push_key(place: &mut String, key: &str) {
    if is_word(key) {
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(key);
    } else {
        let _ = write!(place, "[{}]", Quoted(key));
    }
}
