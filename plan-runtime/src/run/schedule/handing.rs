//! Values that are handed over in Rust, from the call that gives them to those that read them.

use super::Schedule;
use crate::plan::{Keep, Source};
use crate::resolve::{Handed, StoredValue};
use serde_json::Value;
use std::sync::Arc;

impl Schedule<'_> {
    /// What is kept of the output of a step.
    #[inline]
    pub(super) fn keep(&self, step: usize) -> Keep {
        let handing = self.handing.as_ref();
        handing.map_or(Keep::Json, |handing| handing.keep(step))
    }

    /// What is handed over to a step, if it takes all of a value. If this `is_last` attempt, the values that nobody else is still to read are taken from
    /// where they are.
    #[inline(always)]
    pub(super) fn give(&mut self, step: usize, is_last: bool) -> Option<Handed> {
        self.handing.as_ref()?;
        self.give_to(step, is_last)
    }

    #[inline(never)]
    fn give_to(&mut self, step: usize, is_last: bool) -> Option<Handed> {
        let handing = self.handing.as_ref().filter(|it| it.takes(step))?;
        match handing.alone(step) {
            _ if !is_last => Some(Handed::default()),
            [] => Some(Handed::default()),
            [source] => {
                let source = *source;
                Some(Handed::one(self.give_one(source)))
            }
            _ => {
                let handing = Arc::clone(handing);
                let alone = handing.alone(step).iter();
                let given = alone.filter_map(|source| self.give_one(*source));
                Some(Handed::more(given.collect()))
            }
        }
    }

    /// Takes a value from where it is, if it is a Rust value that nobody else is still to read.
    pub(super) fn give_one(&mut self, source: Source) -> Option<(Source, StoredValue)> {
        let given = match source {
            Source::Step(step) if self.readers.get(step) == Some(&1) => {
                self.outputs.get_mut(step)?.take_if(|it| it.is_whole())?
            }
            Source::Input(input) => {
                let input = self.inputs.get_mut(input).filter(|it| it.is_whole())?;
                return Some((
                    source,
                    std::mem::replace(input, StoredValue::json(Value::Null)),
                ));
            }
            Source::Step(_) | Source::Local(_) => return None,
        };
        self.held.remove(given.bytes());
        Some((source, given))
    }

    /// Counts the JSON that was made of the outputs that a step reads. It is kept as long as they are.
    #[inline(always)]
    pub(super) fn count_json(&mut self, step: usize) {
        if self.handing.is_none() {
            return;
        }
        match self.graph.reads().of(step) {
            // It was taken.
            [read] if self.outputs[*read as usize].is_none() => {}
            _ => self.count_json_read_by(step),
        }
    }

    #[inline(never)]
    fn count_json_read_by(&mut self, step: usize) {
        let mut bytes = 0;
        for &read in self.graph.reads().of(step) {
            let output = self.outputs[read as usize].as_ref();
            bytes += output.map_or(0, StoredValue::count_json);
        }
        self.held.add(bytes);
    }

    /// What the inputs that are Rust values count.
    pub(super) fn whole_inputs(&self) -> usize {
        let whole = self.inputs.iter().filter(|input| input.is_whole());
        whole.map(StoredValue::bytes).sum()
    }

    /// Puts back what was not taken.
    #[inline(always)]
    pub(super) fn take_back(&mut self, given: Option<Handed>) {
        if let Some(given) = given {
            self.take_all_back(given);
        }
    }

    #[inline(never)]
    fn take_all_back(&mut self, given: Handed) {
        given.each(|source, value| match source {
            Source::Step(step) => {
                self.held.add(value.bytes());
                self.outputs[step] = Some(value);
            }
            Source::Input(input) => self.inputs[input] = value,
            Source::Local(_) => {}
        });
    }
}
