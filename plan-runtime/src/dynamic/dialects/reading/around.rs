//! Blocks: plans inside the plan that is being read.

use super::PlanBuilder;
use crate::dynamic::spans::Spans;
use std::collections::HashMap;
use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

/// A plan or a block, while a block in it is read.
pub(super) struct Around {
    spans: Spans,
    ids: HashMap<Box<str>, usize>,
    steps: usize,
    current: Option<(usize, Arc<str>)>,
}

impl PlanBuilder {
    /// Begins a block, with steps and positions of its own.
    pub(crate) fn enter(&mut self) {
        self.around.push(Around {
            spans: take(&mut self.spans),
            ids: take(&mut self.ids),
            steps: take(&mut self.steps),
            current: self.current.take(),
        });
    }

    /// Ends a block, and returns its positions.
    pub(crate) fn leave(&mut self) -> Spans {
        let Some(around) = self.around.pop() else {
            return Spans::default();
        };
        self.ids = around.ids;
        self.steps = around.steps;
        self.current = around.current;
        let mut spans = std::mem::replace(&mut self.spans, around.spans);
        spans.shrink_to_fit();
        spans
    }

    /// Returns the ID of the step that contains the block.
    #[cfg(feature = "dynamic")]
    pub(super) fn around_id(&self) -> Option<&Arc<str>> {
        let (_, id) = self.around.last()?.current.as_ref()?;
        Some(id)
    }

    /// Returns the number of steps before the step that contains the block.
    #[cfg(feature = "dynamic")]
    pub(super) fn before_block(&self) -> Option<usize> {
        let (before, _) = self.around.last()?.current.as_ref()?;
        Some(*before)
    }

    /// Returns the positions of the whole plan, even inside a block.
    #[cfg(feature = "dynamic")]
    pub(super) fn spans_of_plan(&mut self) -> &mut Spans {
        match self.around.first_mut() {
            Some(plan) => &mut plan.spans,
            None => &mut self.spans,
        }
    }

    /// Returns the current step: its ID, after the IDs of the enclosing steps.
    pub(super) fn path(&self) -> Option<Arc<str>> {
        let around = self.around.iter().map(|around| &around.current);
        let mut ids = around.chain([&self.current]).flatten().map(|(_, id)| id);
        let first = ids.next()?;
        let mut path = String::new();
        for id in ids {
            path.push('.');
            path.push_str(id);
        }
        Some(if path.is_empty() {
            Arc::clone(first)
        } else {
            format!("{first}{path}").into()
        })
    }

    /// Returns the step with this ID in the plan or block of this level.
    pub(crate) fn step_at(&self, level: usize, id: &str) -> Option<usize> {
        let ids = self.around.get(level).map_or(&self.ids, |it| &it.ids);
        ids.get(id).copied()
    }

    /// Returns the position of the ID of a step that a block can refer to.
    pub(crate) fn id_around(&self, id: &str) -> Option<Range<usize>> {
        let mut around = self.around.iter().rev();
        around.find_map(|around| {
            let step = *around.ids.get(id)?;
            Some(around.spans.steps.get(step)?.id.range())
        })
    }

    /// Returns the IDs of the steps around a block, each with its index.
    pub(super) fn steps_around(&self) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        for around in self.around.iter().rev() {
            let ids = around.ids.iter();
            let mut ids: Vec<(usize, String)> = ids
                .map(|(name, index)| (*index, name.to_string()))
                .collect();
            ids.sort_unstable();
            all.extend(ids);
        }
        all
    }
}
