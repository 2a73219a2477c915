//! Equality of plans: equal plans have equal JSON, apart from the notation of their references.

use super::view::{ObjectMember, TextPart, View};
use crate::plan::{
    Absent, Amount, Body, Branch, Computed, Condition, Number, Plan, Policy, Reference, Role,
    Segment, Source, Step, Template,
};
use serde_json::Value;

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let pair = Pair(Some((self, other)));
        self.name == other.name
            && self.description == other.description
            && self.inputs == other.inputs
            && self.output.type_name == other.output.type_name
            && pair.work(self, other)
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        Pair(None).templates(self, other)
    }
}

impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        Pair(None).references(self, other)
    }
}

/// The plans that contain the parts, if there are such plans. A plan without JSON equals no plan.
#[derive(Clone, Copy)]
struct Pair<'p>(Option<(&'p Plan, &'p Plan)>);

impl Pair<'_> {
    /// Compares the steps and the outputs of both plans.
    fn work(self, a: &Plan, b: &Plan) -> bool {
        all(&a.steps, &b.steps, |a, b| self.steps(a, b))
            && self.templates(&a.output.value, &b.output.value)
    }

    fn steps(self, a: &Step, b: &Step) -> bool {
        let step = |a: &usize, b: &usize| self.sources(Source::Step(*a), Source::Step(*b));
        a.id == b.id
            && a.intent == b.intent
            && self.roles(a.role, b.role)
            && self.bodies(&a.body, &b.body)
            && all(&a.only_after(), &b.only_after(), step)
            && self.policies(&a.policy, &b.policy)
    }

    fn roles(self, a: Role, b: Role) -> bool {
        match (a, b) {
            (Role::Undo(a), Role::Undo(b)) => self.sources(Source::Step(a), Source::Step(b)),
            (a, b) => a == b,
        }
    }

    fn bodies(self, a: &Body, b: &Body) -> bool {
        match (a, b) {
            (Body::Action(a), Body::Action(b)) => {
                a.tool == b.tool && self.templates(&a.args, &b.args)
            }
            (Body::If(a), Body::If(b)) => all(a, b, |a, b| self.branches(a, b)),
            (Body::For(a), Body::For(b)) => {
                a.pattern == b.pattern
                    && self.templates(&a.list, &b.list)
                    && self.bodies(&a.body, &b.body)
            }
            (Body::Block(a), Body::Block(b)) => {
                // A block with other inputs than those of its plan has no JSON.
                a.reads().is_some()
                    && b.reads().is_some()
                    && self.templates(&a.inputs, &b.inputs)
                    && Pair(Some((&a.plan, &b.plan))).work(&a.plan, &b.plan)
            }
            (Body::Loop(a), Body::Loop(b)) => {
                let inside = Pair(Some((&a.round.plan, &b.round.plan)));
                a.last == b.last
                    && self.templates(&a.round.inputs, &b.round.inputs)
                    && inside.work(&a.round.plan, &b.round.plan)
                    && inside.templates(&a.again, &b.again)
            }
            (Body::Await(a), Body::Await(b)) => a == b,
            _ => false,
        }
    }

    fn branches(self, a: &Branch, b: &Branch) -> bool {
        all(&a.conditions, &b.conditions, |a, b| self.conditions(a, b))
            && self.bodies(&a.body, &b.body)
    }

    fn conditions(self, a: &Condition, b: &Condition) -> bool {
        pattern(a) == pattern(b) && self.templates(a.template(), b.template())
    }

    fn policies(self, a: &Policy, b: &Policy) -> bool {
        let Policy {
            attempts,
            backoff,
            max,
            jitter,
            timeout,
            deadline,
            optional,
            catch,
            fallback,
            concurrency,
            at_most,
            every,
            collect,
            given,
            named: _,
        } = a;
        let amounts = |(a, template): &(Amount, Template), (b, other): &(Amount, Template)| {
            a == b && self.templates(template, other)
        };
        // A computed amount replaces the amount here, so that amount is not compared.
        let same = |amount, is_same: bool| is_same || a.gives(amount).is_some();
        let other = b.fallback.as_slice();
        all(fallback.as_slice(), other, |a, b| self.templates(a, b))
            && all(given, &b.given, amounts)
            && same(Amount::Attempts, *attempts == b.attempts)
            && same(Amount::Backoff, *backoff == b.backoff)
            && same(Amount::Max, *max == b.max)
            && same(Amount::Timeout, *timeout == b.timeout)
            && same(Amount::Deadline, *deadline == b.deadline)
            && same(Amount::Concurrency, *concurrency == b.concurrency)
            && same(Amount::AtMost, *at_most == b.at_most)
            && same(Amount::Every, *every == b.every)
            && (jitter, optional, catch) == (&b.jitter, &b.optional, &b.catch)
            && *collect == b.collect
    }

    fn templates(self, a: &Template, b: &Template) -> bool {
        match (a.view(), b.view()) {
            (View::Null, View::Null) => true,
            (View::Bool(a), View::Bool(b)) => a == b,
            (View::Number(a), View::Number(b)) => numbers(a, b),
            (View::String(a), View::String(b)) => a == b,
            (View::List(a), View::List(b)) => all(a, b, |a, b| self.templates(a, b)),
            (View::Object(a), View::Object(b)) => all(&a, &b, |a, b| self.members(a, b)),
            (View::Reference(a), View::Reference(b)) => self.references(a, b),
            (View::Text(a), View::Text(b)) => all(&a, &b, |a, b| self.parts(a, b)),
            (View::Test(a), View::Test(b)) => {
                a.is_like(b) && all(a.operands(), b.operands(), |a, b| self.templates(a, b))
            }
            (View::Computed(a), View::Computed(b)) => self.computed(a, b),
            _ => false,
        }
    }

    fn members(self, a: &ObjectMember<'_>, b: &ObjectMember<'_>) -> bool {
        match (a, b) {
            (ObjectMember::Template(name, a), ObjectMember::Template(other, b)) => {
                name == other && self.templates(a, b)
            }
            (ObjectMember::Text(name, a), ObjectMember::Text(other, b)) => name == other && a == b,
            (ObjectMember::Template(name, template), ObjectMember::Text(other, text))
            | (ObjectMember::Text(name, text), ObjectMember::Template(other, template)) => {
                name == other && matches!(template.view(), View::String(it) if it == *text)
            }
            (ObjectMember::Flattened(a), ObjectMember::Flattened(b)) => self.templates(a, b),
            _ => false,
        }
    }

    fn parts(self, a: &TextPart<'_>, b: &TextPart<'_>) -> bool {
        match (a, b) {
            (TextPart::Literal(a), TextPart::Literal(b)) => a == b,
            (TextPart::Value(a, spec), TextPart::Value(b, other)) => {
                spec == other && self.templates(a, b)
            }
            _ => false,
        }
    }

    fn computed(self, a: &Computed, b: &Computed) -> bool {
        let source = |a: &Source, b: &Source| self.sources(*a, *b);
        a.written() == b.written() && all(a.reads(), b.reads(), source)
    }

    fn references(self, a: &Reference, b: &Reference) -> bool {
        let (otherwise, other) = (a.otherwise.as_slice(), b.otherwise.as_slice());
        self.sources(a.source, b.source)
            && a.optional == b.optional
            && all(&a.path, &b.path, segments)
            && all(otherwise, other, |a, b| values(a, b))
    }

    /// Compares sources, by names if both parts have plans.
    fn sources(self, a: Source, b: Source) -> bool {
        match (a, b, self.0) {
            (Source::Step(_), Source::Step(_), Some((one, other)))
            | (Source::Input(_), Source::Input(_), Some((one, other))) => one
                .name_of(a)
                .is_some_and(|name| other.name_of(b) == Some(name)),
            _ => a == b,
        }
    }
}

fn all<T>(a: &[T], b: &[T], mut same: impl FnMut(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn pattern(condition: &Condition) -> Option<&str> {
    match condition {
        Condition::Holds(_) => None,
        Condition::Let { pattern, .. } => Some(pattern),
    }
}

fn numbers(a: Number, b: Number) -> bool {
    match (a, b) {
        // Zeros of both signs are two numbers in JSON.
        (Number::Float(a), Number::Float(b)) => a.is_finite() && a.to_bits() == b.to_bits(),
        (a, b) => a == b,
    }
}

fn segments(a: &Segment, b: &Segment) -> bool {
    // An element of `[..]` is never missing.
    let absent = a.is_each()
        || match (&a.absent, &b.absent) {
            (Absent::Error, Absent::Error)
            | (Absent::End, Absent::End)
            | (Absent::Failure, Absent::Failure) => true,
            (Absent::Default(a), Absent::Default(b)) => values(a, b),
            _ => false,
        };
    a.token() == b.token() && a.optional == b.optional && absent
}

/// Compares values like JSON text: zeros by sign, and members by order.
fn values(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.to_string() == b.to_string(),
        (Value::Array(a), Value::Array(b)) => all(a, b, values),
        (Value::Object(a), Value::Object(b)) => {
            let same =
                |(a, b): ((&String, &Value), (&String, &Value))| a.0 == b.0 && values(a.1, b.1);
            a.len() == b.len() && a.iter().zip(b).all(same)
        }
        (a, b) => a == b,
    }
}
