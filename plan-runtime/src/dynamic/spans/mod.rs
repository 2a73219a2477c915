//! Where the parts of a plan are in its document.

use crate::plan::{Block, BodyPart, Plan, Step};
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
    /// Those of all templates, step by step, and the plan's output last.
    pub(super) templates: Templates,
    /// The first of the plan's output; `None` if the document does not state an output.
    pub(super) output: Option<usize>,
    /// The first of the condition of a loop, whose round it is.
    pub(super) again: Option<usize>,
    /// The inputs of which nobody said what type they have.
    pub(super) untyped: Vec<usize>,
    /// Those in its blocks, each with the place of its inputs among the templates, in ascending order.
    pub(super) blocks: Vec<(usize, Self)>,
}

impl Spans {
    /// Those of a plan that is in no document.
    pub(super) const NONE: &Self = &Self {
        steps: Vec::new(),
        templates: Templates(Vec::new()),
        output: None,
        again: None,
        untyped: Vec::new(),
        blocks: Vec::new(),
    };

    /// Says that the templates that are recorded next are those of a step.
    pub(super) fn begin_templates(&mut self, step: usize) {
        self.steps[step].templates = u32::try_from(self.templates.len()).unwrap_or(u32::MAX);
    }

    /// Says that a template could not be read. What was recorded after it, its parts say, is forgotten.
    pub(super) fn break_template(&mut self, at: usize) {
        self.templates.truncate(at + 1);
        self.templates.set_size(at, 0);
    }

    /// The places in a block, by that of its inputs.
    pub(super) fn block(&self, at: usize) -> Option<&Self> {
        let found = self.blocks.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.blocks[found].1)
    }

    /// Hands over the blocks of a plan, each with its places and the steps around it. Those of steps that could not be read are left out.
    pub(super) fn each_block<'s, 'p>(
        &'s self,
        plan: &'p Plan,
        f: &mut dyn FnMut(&'p Step, &'p Block, &'s Self),
    ) {
        if self.blocks.is_empty() {
            return;
        }
        for (step, spans) in plan.steps.iter().zip(&self.steps) {
            if spans.broken {
                continue;
            }
            let mut at = spans.templates();
            step.body.visit(&mut |part| {
                if let BodyPart::Block(block) = part
                    && let Some(inside) = self.block(at)
                {
                    f(step, block, inside);
                }
                at = self.templates.after(at);
            });
        }
    }

    /// Keeps no more room than there is need for.
    pub(super) fn shrink_to_fit(&mut self) {
        self.steps.shrink_to_fit();
        self.templates.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// Whether something of the plan, or of a block in it, could not be read.
    pub(super) fn is_broken(&self) -> bool {
        self.steps.iter().any(|step| step.broken) || self.has_broken(0..usize::MAX)
    }

    /// Whether one of these templates could not be read, or something in a block among them.
    pub(super) fn has_broken(&self, templates: Range<usize>) -> bool {
        let mut blocks = self.blocks.iter();
        let mut all = templates.start..templates.end.min(self.templates.len());
        blocks.any(|(at, spans)| templates.contains(at) && spans.is_broken())
            || all.any(|at| self.templates.is_broken(at))
    }
}

/// The places of a step. There is one for each step of a plan, so it is kept small.
#[derive(Clone, Debug, Default)]
pub(super) struct StepSpans {
    pub(super) whole: Span,
    pub(super) id: Span,
    pub(super) tool: Span,
    /// What says which step it undoes.
    pub(super) role: Span,
    /// Those of the steps that it is to wait for, as they are written, with their indices.
    pub(super) after: Box<[(usize, Span)]>,
    /// The first of its templates in [`Spans::templates`], of which there are fewer than the document has bytes.
    pub(super) templates: u32,
    /// Something of it could not be read, so what is missing in it is not a separate mistake.
    pub(super) broken: bool,
}

impl StepSpans {
    /// Those of a step at a place, until there is more to say.
    pub(super) fn of(whole: Range<usize>) -> Self {
        let whole = Span::from(whole);
        Self {
            whole,
            id: whole,
            tool: whole,
            ..Self::default()
        }
    }

    pub(super) fn templates(&self) -> usize {
        self.templates as usize
    }
}

/// The places of all templates: trees, each of which is as the template is that was read. They are in one list, a template before its parts,
/// and each knows how many there are in it. A template is known by its place in that list.
///
/// The list is in pieces, since one that grows has room for three times as many for a while.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates(Vec<Vec<TemplateSpan>>);

/// How many places a piece has.
const PIECE: usize = 1024;

impl Templates {
    /// Begins a template, whose parts come next until it is [closed](Self::close), and says its place.
    pub(super) fn open(&mut self, value: Span, key: Option<Span>) -> usize {
        let size = 1;
        self.push(TemplateSpan { value, key, size });
        self.len() - 1
    }

    /// Says that all that came after a template is in it. One without parts need not be closed.
    pub(super) fn close(&mut self, at: usize) {
        let size = u32::try_from(self.len() - at).unwrap_or(u32::MAX);
        if !self.is_broken(at) {
            self.set_size(at, size);
        }
    }

    fn set_size(&mut self, at: usize, size: u32) {
        if let Some(template) = self
            .0
            .get_mut(at / PIECE)
            .and_then(|it| it.get_mut(at % PIECE))
        {
            template.size = size;
        }
    }

    /// Whether a template could not be read, so that it is null in the plan.
    pub(super) fn is_broken(&self, at: usize) -> bool {
        self.get(at).is_some_and(|template| template.size == 0)
    }

    /// The place after a template and all that is in it: that of its neighbor.
    pub(super) fn after(&self, at: usize) -> usize {
        let size = self.get(at).map_or(1, |template| template.size.max(1));
        at + size as usize
    }

    /// The parts of a template: elements, members and values in a text.
    pub(super) fn parts(&self, at: usize) -> impl Iterator<Item = usize> {
        let (mut next, end) = (at + 1, self.after(at));
        std::iter::from_fn(move || {
            let part = (next < end).then_some(next)?;
            next = self.after(part);
            Some(part)
        })
    }

    fn push(&mut self, span: TemplateSpan) {
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

    /// Keeps the first `templates`, and forgets the others.
    pub(super) fn truncate(&mut self, templates: usize) {
        self.0.truncate(templates.div_ceil(PIECE));
        if let Some(last) = self.0.get_mut(templates / PIECE) {
            last.truncate(templates % PIECE);
        }
    }

    fn shrink_to_fit(&mut self) {
        if let Some(last) = self.0.last_mut() {
            last.shrink_to_fit();
        }
    }
}

/// The place of a template. There are several for each step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemplateSpan {
    pub(super) value: Span,
    /// Where its name as a member is, if it is a member.
    pub(super) key: Option<Span>,
    /// How many templates there are in it, itself included; 0 if it could not be read.
    size: u32,
}

#[cfg(all(test, feature = "dynamic"))]
mod tests;
