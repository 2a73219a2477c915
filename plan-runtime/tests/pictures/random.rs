//! Random plans: a diagram has a node for each part, and an edge for each pair of a part and its source.

use super::{Statement, count, drawn, plans, statements};
use plan_runtime::Plan;
use plan_runtime::plan::{Body, Condition, Role, Source, Template};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The edges of a plan, counted independently: each part has a number, and each pair of a source and a part that reads it is one edge.
#[derive(Default)]
struct Edges {
    parts: usize,
    data: BTreeSet<(Read, usize)>,
    flow: BTreeSet<(usize, usize)>,
    /// The edges in blocks.
    inside: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Read {
    Step(usize),
    Input(usize),
    Part(usize),
}

impl Edges {
    fn read(&mut self, template: &Template, locals: &[usize], part: usize) {
        for source in template.reads() {
            let read = match source {
                Source::Step(step) => Read::Step(step),
                Source::Input(input) => Read::Input(input),
                Source::Local(local) => match locals.get(local) {
                    Some(&binder) => Read::Part(binder),
                    None => continue,
                },
                other => panic!("{other:?}"),
            };
            // A condition that reads what one before it binds is in the same node.
            if read != Read::Part(part) {
                self.data.insert((read, part));
            }
        }
    }

    fn part(&mut self, body: &Body, locals: &mut Vec<usize>) -> usize {
        let part = self.parts;
        self.parts += 1;
        match body {
            Body::Action(action) => self.read(&action.args, locals, part),
            Body::For(each) => {
                self.read(&each.list, locals, part);
                locals.push(part);
                let round = self.part(&each.body, locals);
                locals.pop();
                self.flow.insert((part, round));
            }
            Body::If(branches) => {
                // The first condition has the number that was taken above.
                let mut at = part;
                for (number, branch) in branches.iter().enumerate() {
                    if branch.conditions.is_empty() && number > 0 {
                        let branch = self.part(&branch.body, locals);
                        self.flow.insert((at, branch));
                        continue;
                    }
                    if number > 0 {
                        let next = self.parts;
                        self.parts += 1;
                        self.flow.insert((at, next));
                        at = next;
                    }
                    let around = locals.len();
                    for condition in &branch.conditions {
                        self.read(condition.template(), locals, at);
                        if matches!(condition, Condition::Let { .. }) {
                            locals.push(at);
                        }
                    }
                    let then = self.part(&branch.body, locals);
                    locals.truncate(around);
                    self.flow.insert((at, then));
                }
            }
            // Each input of a block is a part, which reads what is outside.
            Body::Block(block) => {
                let Template::Object(entries) = &block.inputs else {
                    panic!("{block:?}");
                };
                for entry in entries {
                    let input = self.parts;
                    self.parts += 1;
                    self.read(&entry.value, locals, input);
                }
                self.inside += edges(&block.plan);
            }
            other => panic!("{other:?}"),
        }
        part
    }
}

fn edges(plan: &Plan) -> usize {
    let mut all = Edges::default();
    let mut after = 0;
    for (number, step) in plan.steps.iter().enumerate() {
        let part = all.part(&step.body, &mut Vec::new());
        if let Some(fallback) = &step.policy.fallback {
            // It belongs to the step as a whole, which is a frame unless the step is a single call.
            let whole = match step.action() {
                Some(_) => part,
                None => usize::MAX - 1 - number,
            };
            all.read(fallback, &[], whole);
        }
        let reads = step.reads();
        let only = |after: &&usize| !reads.contains(&Source::Step(**after));
        after += step.after.iter().filter(only).count();
        after += usize::from(matches!(step.role, Role::Undo(_)));
    }
    if !matches!(plan.output.value, Template::Null) {
        all.read(&plan.output.value, &[], usize::MAX);
    }
    // A reference on the route of a condition or a loop shares its edge.
    let shared = |(read, part): &&(Read, usize)| match read {
        Read::Part(binder) => all.flow.contains(&(*binder, *part)),
        _ => false,
    };
    let shared = all.data.iter().filter(shared).count();
    all.data.len() - shared + all.flow.len() + after + all.inside
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn edges_are_pairs(plan in plans::plan()) {
        let (mermaid, _) = drawn(&plan);
        let found = statements(&mermaid);
        prop_assert_eq!(count(&found, Statement::Edge), edges(&plan), "{}\n{}", plan, mermaid);
    }
}
