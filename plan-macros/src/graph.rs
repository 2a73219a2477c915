//! The dependencies between steps.

use crate::ast::{Role, Step};
use crate::docs::text_of;
use crate::names::{Names, Source};
use crate::report::Report;
use std::collections::BTreeSet;
use syn::Ident;

/// The dependencies of the steps of a plan and of its blocks, by their scopes.
pub(crate) struct Graphs(Vec<StepGraph>);

impl Graphs {
    /// Creates the graphs, and reports steps that wait for each other.
    pub(crate) fn new(names: &Names<'_>, report: &mut Report) -> Self {
        let graphs = names.scopes().map(|(scope, steps, _)| {
            let graph = StepGraph::new(steps, scope, names);
            for cycle in graph.cycles() {
                report.error_at(cycle[0].1.span(), message(steps, &cycle));
            }
            graph
        });
        Self(graphs.collect())
    }

    /// Returns the graph of a scope, which is 0 for the plan itself.
    pub(crate) fn of(&self, scope: usize) -> &StepGraph {
        &self.0[scope]
    }
}

/// Returns the message about a cycle.
fn message(steps: &[Step], cycle: &Cycle) -> String {
    let names = cycle.iter().map(|(step, _)| text_of(&steps[*step].name));
    let names: Vec<String> = names.collect();
    let first = &names[0];
    match &names[..] {
        [only] => format!("the step `{only}` waits for itself: {only} → {only}"),
        _ => format!(
            "these steps wait for each other: {} → {first}",
            names.join(" → ")
        ),
    }
}

/// The dependencies of the steps of one scope.
pub(crate) struct StepGraph {
    /// The dependencies of each step, each with its name in the source: references first, then `#[after]`.
    edges: Vec<Vec<(usize, Ident)>>,
    /// For each step, the number of its dependencies that are references.
    references: Vec<usize>,
    /// The dependencies without names.
    plain: plan_graph::Graph,
}

/// Steps that wait for each other: the index of each step, and the name by which it waits for the next. An `#[after]`
/// comes first, because the author can remove an `#[after]` most easily.
type Cycle = Vec<(usize, Ident)>;

impl StepGraph {
    /// Creates the graph of the steps of this scope.
    fn new(steps: &[Step], scope: usize, names: &Names<'_>) -> Self {
        let edge = |(name, source): (&Ident, Option<Source>)| match source {
            Some(Source::Step(number)) if names.scope_of(Source::Step(number)) == scope => {
                Some((names.place_of(number), name.clone()))
            }
            _ => None,
        };
        let (mut edges, mut references) = (Vec::new(), Vec::new());
        for step in steps {
            // A reference to a step that runs later is reported as a separate error.
            let may_need = |(to, _): &(usize, Ident)| match (&step.role, &steps[*to].role) {
                (_, Role::Work) | (Role::Always, Role::Always) => true,
                (_, Role::Undo(_) | Role::Always) => false,
            };
            let mentioned = names.mentions(step).iter();
            let mentioned = mentioned.map(|mention| (&mention.name, Some(mention.source)));
            let mut waits: Vec<_> = mentioned.filter_map(edge).filter(may_need).collect();
            references.push(waits.len());
            let others = step.after.iter().chain(step.role.undone());
            let others = others.map(|name| (name, names.own(scope, name)));
            let others = others.filter_map(edge);
            waits.extend(others.filter(may_need));
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

    /// Returns a list that is `true` for each step that this step needs, directly or through other steps.
    pub(crate) fn reached(&self, step: usize) -> Vec<bool> {
        self.plain.reachable(step)
    }

    /// Returns the steps that must end before this one, in ascending order.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn needs(&self, step: usize) -> Vec<usize> {
        let needs = self.plain.of(step).iter();
        needs.map(|&index| index as usize).collect()
    }

    /// Returns `true` if one step reads the value of another, so that the dependency is more than an order.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn reads(&self, step: usize, from: usize) -> bool {
        let mut references = self.edges[step].iter().take(self.references[step]);
        references.any(|(index, _)| *index == from)
    }

    /// Returns the length of the longest path to each step; 0 for a step in or after a cycle.
    #[cfg(feature = "docs-svg")]
    pub(crate) fn levels(&self) -> Vec<usize> {
        let levels = self.plain.levels().into_iter();
        levels.map(Option::unwrap_or_default).collect()
    }

    /// Returns a shortest cycle for each set of steps that wait for each other.
    fn cycles(&self) -> Vec<Cycle> {
        let cycles = self.plain.cycles();
        cycles.iter().map(|steps| self.cycle(steps)).collect()
    }

    /// Returns a cycle with the names by which its steps wait.
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
