//! The parts of a block: its steps, its value and its inputs.

use super::json::View;
use super::{Block, Body, Entry, Key, Role, Source, Step, Template};

impl Block {
    /// The id of the step that is the last expression of a block.
    pub(crate) const TAIL: &str = "_";

    /// Returns the call, the `if` or the `for` that is the block's last expression: the block's last step, if the step has
    /// no name or policy of its own and its whole output is the block's value.
    pub fn tail(&self) -> Option<&Body> {
        let last = self.plan.steps.len().checked_sub(1)?;
        let step = &self.plan.steps[last];
        let View::Reference(value) = self.plan.output.value.view() else {
            return None;
        };
        let is_tail = step.id == Self::TAIL
            && step.intent.is_empty()
            && step.role == Role::Work
            && step.after.is_empty()
            && step.policy.is_default()
            && value.source == Source::Step(last)
            && value.is_whole();
        let is_value = matches!(&step.body, Body::Action(action) if action.tool.is_none());
        (is_tail && !is_value).then_some(&step.body)
    }

    /// Returns the steps without the [tail](Self::tail).
    pub fn named_steps(&self) -> &[Step] {
        let steps = &self.plan.steps[..];
        let count = steps.len() - usize::from(self.tail().is_some());
        &steps[..count]
    }

    /// Returns `true` if the block contains only a value or a call, so that the block is equivalent to that value or
    /// call.
    pub(crate) fn is_bare(&self) -> bool {
        self.named_steps().is_empty() && self.value().is_some()
    }

    /// Returns the block's value, unless the value is always null.
    pub(crate) fn value(&self) -> Option<&Template> {
        let value = &self.plan.output.value;
        (!matches!(value.view(), View::Null)).then_some(value)
    }

    /// Returns the values from outside that the block reads, each with its name inside. Returns `None` if these are not
    /// the inputs of the block.
    pub(crate) fn reads(&self) -> Option<Vec<(&str, &Template)>> {
        let entries: &[Entry] = match &self.inputs {
            Template::Object(entries) => entries,
            _ => return None,
        };
        let named = entries.iter().map(|entry| match &entry.key {
            Key::Name(name) => Some((name.as_str(), &entry.value)),
            Key::Flattened | Key::Inner => None,
        });
        let named: Vec<_> = named.collect::<Option<_>>()?;
        let names = named.iter().map(|(name, _)| *name);
        let inputs = self.plan.inputs.iter().map(|input| &*input.name);
        names.eq(inputs).then_some(named)
    }
}
