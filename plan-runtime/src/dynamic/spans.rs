//! Where the parts of a plan stand in its document.

use std::ops::Range;

/// A range of bytes. A document is shorter than 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        let fits = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: fits(range.start),
            end: fits(range.end),
        }
    }
}

impl Span {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The places of a whole plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    pub(super) steps: Vec<StepSpans>,
    /// Those of all templates: a template before its parts, in the order in which
    /// [`Template::visit`](crate::plan::Template::visit) hands them over, step by step, and the plan's output last.
    pub(super) templates: Vec<TemplateSpan>,
    /// The first of the plan's output; there is none where the document says nothing of an output.
    pub(super) output: Option<usize>,
    /// The inputs of which nobody said what type they have.
    pub(super) untyped: Vec<usize>,
}

/// The places of a step. There is one for each step of a plan, so it is kept small.
#[derive(Clone, Debug, Default)]
pub(super) struct StepSpans {
    pub(super) whole: Span,
    pub(super) id: Span,
    pub(super) tool: Span,
    /// Those of the steps that it is to wait for, as they are written, with their indices.
    pub(super) after: Box<[(usize, Span)]>,
    /// The first of its templates in [`Spans::templates`].
    pub(super) templates: usize,
    /// Something of it could not be read, so that what is missing in it is no mistake of its own.
    pub(super) broken: bool,
}

/// The place of a template.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemplateSpan {
    pub(super) value: Span,
    /// Where its name as a member stands, if it is one.
    pub(super) key: Option<Span>,
    /// It could not be read, and null stands for it.
    pub(super) broken: bool,
}

#[cfg(test)]
mod tests;
