//! Values that are present because a condition or a pattern has asked for them.

use crate::plan::{Question, Reference, Segment, Template, Test};

/// The references to present values.
#[derive(Clone, Default)]
pub(super) struct Guards<'a>(Vec<&'a Reference>);

impl<'a> Guards<'a> {
    /// Adds the values that are present if a condition holds, or does not hold.
    pub(super) fn add(&mut self, condition: &'a Template, holds: bool) {
        let Template::Test(test) = condition else {
            return;
        };
        match &**test {
            Test::All(operands) if holds => operands.iter().for_each(|it| self.add(it, true)),
            Test::Any(operands) if !holds => operands.iter().for_each(|it| self.add(it, false)),
            Test::Not(operand) => self.add(operand, !holds),
            Test::Ask(Question::IsSome, asked) if holds => self.add_value(asked),
            Test::Ask(Question::IsNone, asked) if !holds => self.add_value(asked),
            _ => {}
        }
    }

    pub(super) fn add_value(&mut self, value: &'a Template) {
        if let Template::Reference(reference) = value {
            self.0.push(reference);
        }
    }

    /// Returns the paths inside the value of a reference that lead to a present value.
    pub(super) fn inside(&self, value: &Reference) -> Vec<&'a [Segment]> {
        let guards = self.0.iter().filter(|it| it.source == value.source);
        let inside = guards.filter_map(|guard| {
            let (start, rest) = guard.path.split_at_checked(value.path.len())?;
            let is_start = have_same_selectors(start, &value.path);
            is_start.then_some(rest)
        });
        inside.collect()
    }

    /// Returns `true` if the reference, or a part of its value, is among these references.
    pub(super) fn cover(&self, reference: &Reference) -> bool {
        self.0.iter().any(|guard| {
            guard.source == reference.source && is_on_way(&reference.path, &guard.path)
        })
    }
}

/// Returns `true` if a path is the start of the path to a present value.
pub(super) fn is_on_way(path: &[Segment], present: &[Segment]) -> bool {
    path.len() <= present.len()
        && have_same_selectors(path, present)
        && !path.iter().any(Segment::is_each)
}

fn have_same_selectors(one: &[Segment], other: &[Segment]) -> bool {
    let mut pairs = one.iter().zip(other);
    pairs.all(|(one, other)| one.selector == other.selector)
}
