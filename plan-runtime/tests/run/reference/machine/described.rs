//! The plans of the model in the form that the machine has.

use super::super::tree::{self, Recovers, Unfit};
use plan_runtime::machine::{Duty, Node, NodeBlock, NodeBody, Question, Recovery, StepId, Tables};
use plan_runtime::plan::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A plan of the model as the machine represents it. The labels of steps are indices in `ids` and `answers`.
pub(super) struct Described {
    pub(super) tables: Arc<Tables>,
    pub(super) ids: Vec<String>,
    /// The answers about the bodies of a step, in the order of the plan.
    answers: Vec<Vec<u32>>,
    /// The labels of the steps inside a step, and of the steps of the plan.
    pub(super) inside: BTreeMap<Option<u32>, Vec<u32>>,
    /// The labels of steps with scopes that fail before their work.
    unfit: BTreeSet<u32>,
}

#[derive(Default)]
struct Describing {
    inside: BTreeMap<Option<u32>, Vec<u32>>,
    plans: Vec<NodeBlock>,
    ids: Vec<String>,
    answers: Vec<Vec<u32>>,
    unfit: BTreeSet<u32>,
}

impl Described {
    pub(super) fn new(steps: &[tree::Node]) -> Self {
        let mut describing = Describing::default();
        describing.plans.push(NodeBlock::default());
        describing.plans[0] = describing.block(steps, None, 1);
        let Describing {
            inside,
            plans,
            ids,
            answers,
            unfit,
        } = describing;
        let tables = Tables::new(&plans).unwrap();
        Self {
            tables,
            ids,
            answers,
            inside,
            unfit,
        }
    }

    /// Returns `true` if the inputs of a scope in a step cannot be made.
    pub(super) fn is_unfit(&self, step: StepId) -> bool {
        self.unfit.contains(&self.tables.label(step))
    }

    pub(super) fn answer(&self, question: Question) -> u32 {
        let answers = |step: StepId| &self.answers[self.tables.label(step) as usize];
        match question {
            Question::Branch(place, body) | Question::List(place, body) => {
                answers(place.step)[body as usize]
            }
            // There are two rounds, or the loop is endless.
            Question::Again(_, 0) => 1,
            Question::Again(place, _) => answers(place.step).last().copied().unwrap_or(0),
            Question::Amounts(_)
            | Question::Inputs(_)
            | Question::Output(_)
            | Question::Fallback(_) => 0,
        }
    }

    pub(super) fn path<'p>(&self, parts: impl IntoIterator<Item = (StepId, &'p [u32])>) -> String {
        let parts = parts
            .into_iter()
            .map(|(step, element)| format!("{}{}", self.id(step), places(element)));
        parts.collect::<Vec<_>>().join(".")
    }

    fn id(&self, step: StepId) -> &str {
        &self.ids[self.tables.label(step) as usize]
    }
}

impl Describing {
    fn block(&mut self, steps: &[tree::Node], around: Option<u32>, depth: usize) -> NodeBlock {
        let mut nodes = Vec::new();
        // Half of the scopes ask for their inputs.
        let has_inputs = self.ids.len().is_multiple_of(2);
        for (place, step) in steps.iter().enumerate() {
            let label = self.ids.len();
            self.ids.push(step.id(depth, place));
            self.answers.push(Vec::new());
            self.inside.entry(around).or_default().push(label as u32);
            let body = self.body(&step.work, label, depth);
            let mut node = Node::new(label as u32, body, step.after.clone());
            node.duty = match step.role {
                Role::Undo(place) => Duty::Undo(place),
                Role::Always => Duty::Always,
                _ => Duty::Work,
            };
            (node.recovery, node.each) = match step.recovers {
                Recovers::No => (Recovery::No, Recovery::No),
                Recovers::Optional | Recovers::Fallback => (Recovery::Replace, Recovery::No),
                Recovers::Catch => (Recovery::Catch, Recovery::No),
                Recovers::OptionalEach => (Recovery::No, Recovery::Replace),
                Recovers::CatchEach => (Recovery::No, Recovery::Catch),
            };
            node.timing.fallback = label.is_multiple_of(2);
            node.amounts.attempts = step.attempts;
            if let tree::Work::Loop(..) = step.work {
                node.amounts.at_most = 2;
            }
            nodes.push(node);
        }
        NodeBlock {
            has_inputs,
            ..NodeBlock::new(nodes)
        }
    }

    fn body(&mut self, work: &tree::Work, label: usize, depth: usize) -> NodeBody {
        use tree::Work;
        let around = Some(label as u32);
        self.answers[label].push(match work {
            Work::If(holds, _) | Work::Loop(holds, _) => u32::from(*holds),
            Work::For(_) => 2,
            _ => 0,
        });
        match work {
            Work::Call => NodeBody::Call,
            Work::Await => NodeBody::Await,
            Work::If(_, work) => NodeBody::If(vec![self.body(work, label, depth)]),
            Work::For(work) => NodeBody::For(Box::new(self.body(work, label, depth))),
            Work::Loop(_, steps) => NodeBody::Loop(self.block(steps, around, depth + 1)),
            Work::Block(steps) => NodeBody::Block(self.block(steps, around, depth + 1)),
            Work::Unfit(unfit) => {
                let steps = [tree::Node::new(Work::Call)];
                let mut block = self.block(&steps, around, depth + 1);
                block.has_inputs = true;
                self.unfit.insert(label as u32);
                match unfit {
                    Unfit::Block => NodeBody::Block(block),
                    Unfit::Round => NodeBody::Loop(block),
                    Unfit::Inputs | Unfit::Refused => {
                        self.plans.push(block);
                        NodeBody::Open(self.plans.len() - 1)
                    }
                }
            }
            Work::Plan(steps) => {
                let plan = self.block(steps, around, depth + 1);
                self.plans.push(plan);
                let place = self.plans.len() - 1;
                // Half of the plans are calls that turn out to be plans.
                if label.is_multiple_of(2) {
                    NodeBody::Open(place)
                } else {
                    NodeBody::Plan(place)
                }
            }
        }
    }
}

pub(super) fn places(element: &[u32]) -> String {
    element.iter().map(|it| format!("[{it}]")).collect()
}
