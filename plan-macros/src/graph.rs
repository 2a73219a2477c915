//! Which steps wait for which.

use crate::ast::{
    Body, Branch, Computed, Condition, Fields, Json, List, Plan, Reference, Step, Value,
};
use crate::names::{Names, Source};
use std::collections::BTreeSet;
use syn::Ident;

/// The dependencies of a plan's steps.
pub(crate) struct StepGraph {
    /// For each step, those that must end first, each with the name where the plan says so: its references, then `#[after]`.
    edges: Vec<Vec<(usize, Ident)>>,
    /// For each step, how many of them are references.
    references: Vec<usize>,
    /// The dependencies without names.
    plain: plan_graph::Graph,
}

/// Steps that wait for each other: each step's place, and the name by which it waits for the next. It begins with an
/// `#[after]` if it has one, since its author can remove that most easily.
pub(crate) type Cycle = Vec<(usize, Ident)>;

impl StepGraph {
    pub(crate) fn new(plan: &Plan, names: &Names) -> Self {
        let edges_of = |mentioned: Vec<Ident>| -> Vec<(usize, Ident)> {
            let edges = mentioned
                .into_iter()
                .filter_map(|name| match names.get(&name) {
                    Some(Source::Step(index)) => Some((index, name)),
                    _ => None,
                });
            edges.collect()
        };
        let (mut edges, mut references) = (Vec::new(), Vec::new());
        for step in &plan.steps {
            let mut waits = edges_of(mentions(step));
            references.push(waits.len());
            waits.extend(edges_of(step.after.clone()));
            edges.push(waits);
        }
        let needs = |edges: &Vec<(usize, Ident)>| edges.iter().map(|(index, _)| *index).collect();
        let needs: Vec<BTreeSet<usize>> = edges.iter().map(needs).collect();
        Self {
            edges,
            references,
            plain: plan_graph::Graph::new(&needs),
        }
    }

    /// The steps that must end before this one, in ascending order.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn needs(&self, step: usize) -> Vec<usize> {
        let needs = self.plain.of(step).iter();
        needs.map(|&index| index as usize).collect()
    }

    /// Whether a value goes from one step to another: the dependency is not only an order.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn reads(&self, step: usize, from: usize) -> bool {
        let mut references = self.edges[step].iter().take(self.references[step]);
        references.any(|(index, _)| *index == from)
    }

    /// The length of the longest path to each step; 0 for a step that waits for itself, whatever the path.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn levels(&self) -> Vec<usize> {
        let levels = self.plain.levels().into_iter();
        levels.map(Option::unwrap_or_default).collect()
    }

    /// A shortest cycle for each set of steps that wait for each other.
    pub(crate) fn cycles(&self) -> Vec<Cycle> {
        let cycles = self.plain.cycles();
        cycles.iter().map(|steps| self.cycle(steps)).collect()
    }

    /// A cycle with the names by which its steps wait.
    fn cycle(&self, steps: &[usize]) -> Cycle {
        let mut cycle = Cycle::new();
        let mut first = None;
        for (&from, &to) in steps.iter().zip(steps.iter().cycle().skip(1)) {
            let mut edges = self.edges[from].iter().enumerate();
            if let Some((place, (_, name))) = edges.find(|(_, (index, _))| *index == to) {
                if place >= self.references[from] {
                    first.get_or_insert(cycle.len());
                }
                cycle.push((from, name.clone()));
            }
        }
        cycle.rotate_left(first.unwrap_or(0));
        cycle
    }
}

/// The names that the arguments of a step mention.
pub(crate) fn mentions(step: &Step) -> Vec<Ident> {
    let mut names = Vec::new();
    of_step(step, &mut |part| mention(part, &mut names));
    names
}

/// A part of a plan that mentions names.
pub(crate) enum StepPart<'a> {
    Reference(&'a Reference),
    Computed(&'a Computed),
}

fn mention(part: StepPart<'_>, names: &mut Vec<Ident>) {
    match part {
        StepPart::Reference(reference) => of_reference(reference, names),
        StepPart::Computed(computed) => names.extend(computed.names.iter().cloned()),
    }
}

fn of_step(step: &Step, visit: &mut dyn FnMut(StepPart<'_>)) {
    of_body(&step.body, visit);
    if let Some((_, fallback)) = &step.policy.fallback {
        of_value(fallback, visit);
    }
}

fn of_reference(reference: &Reference, names: &mut Vec<Ident>) {
    if reference.local.is_none() {
        names.push(reference.root.clone());
    }
}

fn of_body(body: &Body, visit: &mut dyn FnMut(StepPart<'_>)) {
    match body {
        Body::If(branches) => {
            for Branch { conditions, body } in branches {
                for condition in conditions {
                    match condition {
                        Condition::Holds(value) => of_value(value, visit),
                        Condition::Let(_, computed, _) => visit(StepPart::Computed(computed)),
                        Condition::Broken(_) => {}
                    }
                }
                of_body(body, visit);
            }
        }
        Body::For(repeat) => {
            match &repeat.list {
                List::Reference(reference, _) => visit(StepPart::Reference(reference)),
                List::Computed(computed, _) => visit(StepPart::Computed(computed)),
                List::Broken => {}
            }
            of_body(&repeat.body, visit);
        }
        Body::Call(literal) => of_fields(&literal.fields, visit),
        Body::Compute(value) => of_value(value, visit),
        Body::Broken(_) => {}
    }
}

fn of_fields(fields: &Fields, visit: &mut dyn FnMut(StepPart<'_>)) {
    match fields {
        Fields::Named(_, fields, ..) => fields
            .iter()
            .for_each(|field| of_value(&field.value, visit)),
        Fields::Unnamed(_, values) => values.iter().for_each(|value| of_value(value, visit)),
        Fields::Unit => {}
    }
}

fn of_value(value: &Value, visit: &mut dyn FnMut(StepPart<'_>)) {
    match value {
        Value::Scalar(_) | Value::None(_) | Value::Broken => {}
        Value::Reference(reference) => visit(StepPart::Reference(reference)),
        Value::Computed(computed) => visit(StepPart::Computed(computed)),
        Value::Some(_, _, value) => of_value(value, visit),
        Value::List(_, values) | Value::Tuple(_, values) => {
            values.iter().for_each(|value| of_value(value, visit));
        }
        Value::Literal(literal) => of_fields(&literal.fields, visit),
        Value::Json(_, json) => of_json(json, visit),
        Value::Format(format) => format.args.iter().for_each(|value| of_value(value, visit)),
    }
}

fn of_json(json: &Json, visit: &mut dyn FnMut(StepPart<'_>)) {
    match json {
        Json::Null => {}
        Json::Value(value) => of_value(value, visit),
        Json::List(elements) => elements.iter().for_each(|element| of_json(element, visit)),
        Json::Object(members) => members
            .iter()
            .for_each(|(_, member)| of_json(member, visit)),
    }
}

impl Plan {
    /// Visits every reference and computed value of the plan.
    pub(crate) fn visit_parts(&self, visit: &mut dyn FnMut(StepPart<'_>)) {
        self.steps.iter().for_each(|step| of_step(step, visit));
        if let Some(tail) = &self.tail {
            of_value(&tail.value, visit);
        }
    }

    /// All names that the plan mentions.
    pub(crate) fn mentions(&self) -> Vec<Ident> {
        let mut names: Vec<Ident> = self
            .steps
            .iter()
            .flat_map(|step| step.after.iter().cloned())
            .collect();
        self.visit_parts(&mut |part| mention(part, &mut names));
        names
    }
}
