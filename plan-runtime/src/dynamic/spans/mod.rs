//! The positions of a plan's parts in its document.

use crate::plan::{Block, BodyPart, Plan, Step};
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
        let (start, end) = (fits(range.start), fits(range.end));
        Self { start, end }
    }
}

impl Span {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The positions of a whole plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    pub(super) steps: Vec<StepSpans>,
    /// The positions of all templates, by step, with the plan's output last.
    pub(super) templates: Templates,
    /// The first template of the plan's output. `None` if the document does not state an output.
    pub(super) output: Option<usize>,
    /// The first template of the condition, if the plan is the round of a loop.
    pub(super) again: Option<usize>,
    /// The inputs without a declared type.
    pub(super) untyped: Vec<usize>,
    /// The positions in the blocks, each with the index of its inputs among the templates, in ascending order.
    pub(super) blocks: Vec<(usize, Self)>,
}

impl Spans {
    /// The positions of a plan without a document.
    pub(super) const NONE: &Self = &Self {
        steps: Vec::new(),
        templates: Templates(Vec::new()),
        output: None,
        again: None,
        untyped: Vec::new(),
        blocks: Vec::new(),
    };

    /// Starts the templates of a step. The next templates belong to this step.
    pub(super) fn begin_templates(&mut self, step: usize) {
        self.steps[step].templates = u32::try_from(self.templates.len()).unwrap_or(u32::MAX);
    }

    /// Marks a template as unreadable, and drops the positions of its parts.
    pub(super) fn break_template(&mut self, at: usize) {
        self.templates.truncate(at + 1);
        self.templates.set_size(at, 0);
    }

    /// Returns the positions in a block, by the index of its inputs.
    pub(super) fn block(&self, at: usize) -> Option<&Self> {
        let found = self.blocks.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.blocks[found].1)
    }

    /// Calls a function with each block of a plan, its positions and its enclosing steps. Blocks of unreadable steps are left out.
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

    /// Frees the unused capacity.
    pub(super) fn shrink_to_fit(&mut self) {
        self.steps.shrink_to_fit();
        self.templates.0.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// Returns `true` if a part of the plan, or of a block in it, is unreadable.
    pub(super) fn is_broken(&self) -> bool {
        self.steps.iter().any(|step| step.broken) || self.has_broken(0..usize::MAX)
    }

    /// Returns `true` if one of these templates, or a part of a block among them, is unreadable.
    pub(super) fn has_broken(&self, templates: Range<usize>) -> bool {
        let mut blocks = self.blocks.iter();
        let mut all = templates.start..templates.end.min(self.templates.len());
        blocks.any(|(at, spans)| templates.contains(at) && spans.is_broken())
            || all.any(|at| self.templates.is_broken(at))
    }
}

/// The positions of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct StepSpans {
    pub(super) whole: Span,
    pub(super) id: Span,
    pub(super) tool: Span,
    pub(super) role: Span,
    /// The listed dependencies, with their indices.
    pub(super) after: Vec<(usize, Span)>,
    /// The first of its templates in [`Spans::templates`], of which there are fewer than the document has bytes.
    pub(super) templates: u32,
    /// `true` if a part of the step is unreadable, so that a missing part is no separate error.
    pub(super) broken: bool,
}

impl StepSpans {
    /// Creates the positions of a step, with only its own.
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

/// The positions of all templates, as trees with the structure of the templates. One list contains them all, each template before its parts,
/// with the number of its parts. The index in that list identifies a template.
#[derive(Clone, Debug, Default)]
pub(super) struct Templates(Vec<TemplateSpan>);

impl Templates {
    /// Begins a template, whose parts come next until it is [closed](Self::close), and returns its index.
    pub(super) fn open(&mut self, value: Span, key: Option<Span>) -> usize {
        let size = 1;
        self.0.push(TemplateSpan { value, key, size });
        self.len() - 1
    }

    /// Ends a template, which contains all templates since its start. A template without parts needs no end.
    pub(super) fn close(&mut self, at: usize) {
        let size = u32::try_from(self.len() - at).unwrap_or(u32::MAX);
        if !self.is_broken(at) {
            self.set_size(at, size);
        }
    }

    fn set_size(&mut self, at: usize, size: u32) {
        if let Some(template) = self.0.get_mut(at) {
            template.size = size;
        }
    }

    /// Returns `true` for an unreadable template, which is null in the plan.
    pub(super) fn is_broken(&self, at: usize) -> bool {
        self.get(at).is_some_and(|template| template.size == 0)
    }

    /// Returns the index after a template and all templates in it.
    pub(super) fn after(&self, at: usize) -> usize {
        let size = self.get(at).map_or(1, |template| template.size.max(1));
        at + size as usize
    }

    /// Returns the parts of a template: elements, members and formatted values.
    pub(super) fn parts(&self, at: usize) -> impl Iterator<Item = usize> {
        let (mut next, end) = (at + 1, self.after(at));
        std::iter::from_fn(move || {
            let part = (next < end).then_some(next)?;
            next = self.after(part);
            Some(part)
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> Option<&TemplateSpan> {
        self.0.get(at)
    }

    /// Drops all but the first `templates` ones.
    pub(super) fn truncate(&mut self, templates: usize) {
        self.0.truncate(templates);
    }
}

/// The position of a template. A step has several.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TemplateSpan {
    pub(super) value: Span,
    /// The position of its name, if it is a member.
    pub(super) key: Option<Span>,
    /// The number of templates in it, including itself, or 0 if it is unreadable.
    size: u32,
}

#[cfg(test)]
mod tests;
