//! Values that are present because a condition or a pattern has asked for them.

use crate::plan::{Absent, Question, Reference, Segment, Template, Test};
use serde_json::Value;

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
            let is_start = otherwise(guard).is_none() && is_on_way(&value.path, &guard.path);
            is_start.then(|| &guard.path[value.path.len()..])
        });
        inside.collect()
    }

    /// Returns `true` if the reference, or a part of its value, is among these references.
    pub(super) fn cover(&self, reference: &Reference) -> bool {
        self.0.iter().any(|guard| {
            // With a replacement, the guard is always present.
            let is_like = otherwise(guard).is_none()
                || otherwise(guard) == otherwise(reference)
                    && guard.path.len() == reference.path.len();
            is_like && guard.source == reference.source && is_on_way(&reference.path, &guard.path)
        })
    }
}

/// Returns the value of the plan for a reference that has ended.
fn otherwise(reference: &Reference) -> Option<&Value> {
    reference.otherwise.as_deref().filter(|it| !it.is_null())
}

/// Returns `true` if a path is the start of the path to a present value.
pub(super) fn is_on_way(path: &[Segment], present: &[Segment]) -> bool {
    let mut pairs = path.iter().zip(present);
    path.len() <= present.len()
        && pairs.all(|(one, other)| {
            // The value may be a default, although the part is absent.
            let is_part = match (&one.absent, &other.absent) {
                (_, Absent::Default(default)) if default.is_null() => true,
                (Absent::Default(one), Absent::Default(other)) => one == other,
                (_, Absent::Default(_)) => false,
                _ => true,
            };
            is_part && one.selector == other.selector && !one.is_each()
        })
}
