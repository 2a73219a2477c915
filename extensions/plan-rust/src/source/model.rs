//! Properties of the parts of a plan.

use super::names::is_name;
use plan_graph::Quoted;
use plan_runtime::plan::{
    Absent, Part, Question, Reference, Segment, Selector, Source, Step, Template, Test,
};
use serde_json::Value;

/// Returns the templates directly inside of a plain template.
pub(super) fn parts(template: &Template) -> Vec<&Template> {
    match template {
        Template::List(items) => items.iter().collect(),
        Template::Object(entries) => entries.iter().map(|entry| &entry.value).collect(),
        Template::Test(test) => test.operands().iter().collect(),
        Template::Text(parts) => {
            let values = parts.iter().filter_map(|part| match part {
                Part::Literal(_) => None,
                Part::Value { value, .. } => Some(value),
            });
            values.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the steps of [`Step::after`] that the step does not read, in ascending order.
pub(super) fn only_after(step: &Step) -> Vec<usize> {
    let reads = step.reads();
    let mut after = step.after.clone();
    after.retain(|&step| !reads.contains(&Source::Step(step)));
    after.sort_unstable();
    after.dedup();
    after
}

/// Adds a member's name to a position: `.sender`, or `["odd key"]`.
pub(super) fn push_key(place: &mut String, key: &str) {
    if !is_name(key) {
        place.push_str(&format!("[{}]", Quoted(key)));
        return;
    }
    if !place.is_empty() {
        place.push('.');
    }
    place.push_str(key);
}

/// A path into any value: a reference without its source, or its rest after some parts.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    /// `true` if null ends the reference.
    pub(super) optional: bool,
    pub(super) segments: &'a [Segment],
    pub(super) otherwise: Option<&'a Value>,
}

impl<'a> Path<'a> {
    pub(super) fn of(reference: &'a Reference) -> Self {
        Self {
            optional: reference.optional,
            segments: &reference.path,
            otherwise: reference.otherwise.as_deref(),
        }
    }

    /// Writes the path after a name, for a message.
    pub(super) fn after(self, name: &str) -> String {
        let mut reference = Reference::new(Source::Input(0));
        reference.optional = self.optional;
        reference.path = self.segments.into();
        reference.otherwise = self.otherwise.cloned().map(Box::new);
        reference.to_string().replacen("input0", name, 1)
    }
}

/// Returns `true` if the reference means the whole value of its source, including null.
pub(super) fn is_whole(reference: &Reference) -> bool {
    reference.path.is_empty() && !reference.optional && reference.otherwise.is_none()
}

/// Returns `true` if null or a missing part can end the reference.
pub(super) fn can_end(reference: &Reference) -> bool {
    let ends = |segment: &Segment| segment.optional || matches!(segment.absent, Absent::End);
    reference.optional || reference.path.iter().any(ends)
}

/// Returns the notation of a side of a `Result`.
pub(super) fn outcome(segment: &Segment) -> Option<&'static str> {
    let Selector::Key(key) = &segment.selector else {
        return None;
    };
    match (&**key, &segment.absent) {
        ("Ok", Absent::Failure) => Some("?"),
        ("Ok", Absent::Default(value)) if value.is_null() => Some(".ok()"),
        ("Err", Absent::Default(value)) if value.is_null() => Some(".err()"),
        _ => None,
    }
}

/// The precedence of operators, the weakest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Binding {
    Or,
    And,
    Compare,
    Not,
    Method,
}

impl Binding {
    /// Returns the precedence of the test's operator in Rust.
    pub(super) fn of(test: &Test) -> Self {
        match test {
            Test::Any(operands) if operands.len() > 1 => Self::Or,
            Test::All(operands) if operands.len() > 1 => Self::And,
            Test::Compare(..) => Self::Compare,
            Test::Not(_) => Self::Not,
            _ => Self::Method,
        }
    }

    /// Returns `true` if the template needs parentheses as an operand of an operator with this precedence.
    pub(super) fn brackets(self, operand: &Template) -> bool {
        let Template::Test(test) = operand else {
            return false;
        };
        match (Self::of(test), self) {
            (Self::Method, _) => false,
            // `a == b == c` is not Rust, and `a && (b && c)` is another test than `a && b && c`.
            (inner, Self::Not) => inner < Self::Not,
            (inner, around) => inner <= around,
        }
    }
}

/// Returns `true` if the result of a test is `true` or `false`, and `false` if it is a number.
pub(super) fn is_bool(test: &Test) -> bool {
    !matches!(test, Test::Ask(Question::Len, _))
}
