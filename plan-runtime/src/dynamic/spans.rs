//! Where the parts of a plan stand in its document.

use std::num::NonZeroU32;
use std::ops::Range;

/// A range of bytes. A document is shorter than 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    /// How far the end is from 4 GiB, which is never 0: so an `Option` takes no more room.
    to_end: NonZeroU32,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        let fits = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: fits(range.start),
            to_end: NonZeroU32::new(u32::MAX - fits(range.end)).unwrap_or(NonZeroU32::MIN),
        }
    }
}

impl Span {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..(u32::MAX - self.to_end.get()) as usize
    }
}

impl Default for Span {
    fn default() -> Self {
        Self::from(0..0)
    }
}

/// The places of a whole plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    pub(super) steps: Vec<StepSpans>,
    /// Those of all templates: a template before its parts, in the order in which
    /// [`Template::visit`](crate::plan::Template::visit) hands them over, step by step, and the plan's output last.
    pub(super) templates: Templates,
    /// The templates that could not be read, and for which null stands, in ascending order.
    broken: Vec<usize>,
    /// The first of the plan's output; there is none where the document says nothing of an output.
    pub(super) output: Option<usize>,
    /// The inputs of which nobody said what type they have.
    pub(super) untyped: Vec<usize>,
}

impl Spans {
    /// Says that the templates that are recorded next are those of a step.
    pub(super) fn begin_templates(&mut self, step: usize) {
        self.steps[step].templates = u32::try_from(self.templates.len()).unwrap_or(u32::MAX);
    }

    /// Says that a template could not be read. What was recorded after it, its parts say, is forgotten.
    pub(super) fn break_template(&mut self, at: usize) {
        self.truncate(at + 1);
        if self.broken.last() != Some(&at) {
            self.broken.push(at);
        }
    }

    /// Forgets all templates but so many.
    pub(super) fn truncate(&mut self, templates: usize) {
        self.templates.truncate(templates);
        while self.broken.last().is_some_and(|last| *last >= templates) {
            self.broken.pop();
        }
    }

    /// Whether one of these templates could not be read.
    pub(super) fn has_broken(&self, templates: Range<usize>) -> bool {
        let first = self.broken.partition_point(|at| *at < templates.start);
        self.broken.get(first).is_some_and(|at| *at < templates.end)
    }
}

/// The places of a step. There is one for each step of a plan, so it is kept small.
#[derive(Clone, Debug, Default)]
pub(super) struct StepSpans {
    pub(super) whole: Span,
    pub(super) id: Span,
    pub(super) tool: Span,
    /// Those of the steps that it is to wait for, as they are written, with their indices.
    pub(super) after: Box<[(usize, Span)]>,
    /// The first of its templates in [`Spans::templates`], of which there are fewer than the document has bytes.
    pub(super) templates: u32,
    /// Something of it could not be read, so that what is missing in it is no mistake of its own.
    pub(super) broken: bool,
}

impl StepSpans {
    pub(super) fn templates(&self) -> usize {
        self.templates as usize
    }
}

/// The places of all templates, in pieces: a list that grows has room for three times as many for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates(Vec<Vec<TemplateSpan>>);

/// How many places a piece has.
const PIECE: usize = 1024;

impl Templates {
    pub(super) fn push(&mut self, span: TemplateSpan) {
        match self.0.last_mut() {
            Some(last) if last.len() < PIECE => last.push(span),
            Some(_) => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(span);
                self.0.push(piece);
            }
            // A plan may be small.
            None => self.0.push(vec![span]),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self.0.last() {
            Some(last) => (self.0.len() - 1) * PIECE + last.len(),
            None => 0,
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&TemplateSpan> {
        self.0.get(at / PIECE)?.get(at % PIECE)
    }

    fn truncate(&mut self, templates: usize) {
        self.0.truncate(templates.div_ceil(PIECE));
        if let Some(last) = self.0.get_mut(templates / PIECE) {
            last.truncate(templates % PIECE);
        }
    }

    /// Keeps no more room than there is need for.
    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(last) = self.0.last_mut() {
            last.shrink_to_fit();
        }
    }
}

/// The place of a template. There are several for each step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemplateSpan {
    pub(super) value: Span,
    /// Where its name as a member stands, if it is one.
    pub(super) key: Option<Span>,
}

#[cfg(test)]
mod tests;
