//! Values that are handed over in Rust, from the call that gives them to those that read them.

use super::Schedule;
use crate::plan::{Keep, Source};
use crate::resolve::{Given, StoredValue};
use serde_json::Value;

impl Schedule<'_> {
    /// Whether a step takes all of a value, and what is kept of its output.
    #[inline]
    pub(super) fn handing(&self, step: usize) -> (bool, Keep) {
        match &self.handing {
            Some(handing) => (handing.takes(step), handing.keep(step)),
            None => (false, Keep::Json),
        }
    }

    /// Takes the values that nobody but this step is still to read from where they are.
    #[inline]
    pub(super) fn give(&mut self, step: usize) -> Given {
        match &self.handing {
            Some(handing) if handing.takes(step) => self.give_alone(step),
            _ => Given::default(),
        }
    }

    fn give_alone(&mut self, step: usize) -> Given {
        let Some(handing) = self.handing.clone() else {
            return Given::default();
        };
        let alone = handing.alone(step).iter();
        let given = alone.filter_map(|source| self.give_one(*source));
        Given::new(given.collect())
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

    /// Puts back what was not taken.
    #[inline]
    pub(super) fn take_back(&mut self, given: Given) {
        for (source, value) in given.into_inner() {
            match source {
                Source::Step(step) => {
                    self.held.add(value.bytes());
                    self.outputs[step] = Some(value);
                }
                Source::Input(input) => self.inputs[input] = value,
                Source::Local(_) => {}
            }
        }
    }
}
