//! Plans whose elements have undo steps. Each call succeeds and fails in each combination, including each call of an undo step. The run reports the same undone steps and the same steps that were
//! not undone as the model.
//!
//! The elements are blocks, or calls of plans, of two or three steps. The calls end one after the other: the first of the running calls, or the last.
//! With `PLAN_TESTS=100`, each plan is tried under each policy and in both orders. Without the variable, some plans are tested in one of these combinations.

use super::exhaustive::all_of_three;
use super::play::{Tried, try_ends};
use super::shapes::undoing;
use super::tree::{Node, Recovers, Work};
use plan_runtime::plan::Role;

/// The attributes that replace the failure of an element, or of all elements.
pub(super) const RECOVERS: [Recovers; 6] = [
    Recovers::No,
    Recovers::Optional,
    Recovers::Fallback,
    Recovers::Catch,
    Recovers::OptionalEach,
    Recovers::CatchEach,
];

/// Returns the works of an element that has an undo step.
pub(super) fn elements(size: usize) -> Vec<Work> {
    let works = undoing(size).into_iter().flat_map(|steps| {
        let block = Work::Block(steps.clone());
        let branch = Work::If(true, Box::new(block.clone()));
        [block, Work::Plan(steps), branch]
    });
    works.collect()
}

/// Returns a step with two elements.
pub(super) fn each(work: Work, recovers: Recovers) -> Node {
    Node {
        recovers,
        ..Node::new(Work::For(Box::new(work)))
    }
}

/// Returns a step that has two attempts.
fn again(work: Work) -> Node {
    Node {
        attempts: 2,
        ..Node::new(work)
    }
}

/// Returns a call after the first step.
fn then() -> Node {
    Node {
        after: vec![0],
        ..Node::new(Work::Call)
    }
}

/// Returns a call that is an always step.
fn always() -> Node {
    Node {
        role: Role::Always,
        ..Node::new(Work::Call)
    }
}

fn try_some(plans: &[Vec<Node>], one_in: usize) -> Tried {
    let one_in = if all_of_three() { 1 } else { one_in };
    let mut tried = Tried::default();
    for (number, plan) in plans.iter().step_by(one_in).enumerate() {
        tried += try_ends(plan, (!all_of_three()).then_some(number));
    }
    println!("{tried:?} of {} plans", plans.len());
    tried
}

#[test]
fn elements_that_fail_together_lose_nothing() {
    let mut plans = Vec::new();
    for work in elements(2).into_iter().chain(elements(3)) {
        for recovers in RECOVERS {
            plans.push(vec![each(work.clone(), recovers)]);
        }
    }
    let tried = try_some(&plans, 1);
    assert!(tried.ended > 1000 && tried.crashed > 1000, "{tried:?}");
}

/// The elements are part of a block with two attempts, before a call that fails.
#[test]
fn a_scope_that_is_tried_again_loses_nothing() {
    let plans = |size: usize| {
        let mut plans = Vec::new();
        let recovers = [Recovers::No, Recovers::Optional, Recovers::CatchEach];
        for (work, recovers) in elements(size)
            .iter()
            .flat_map(|work| recovers.map(|it| (work, it)))
        {
            let steps = vec![each(work.clone(), recovers), then(), always()];
            for inner in [Work::Block(steps.clone()), Work::Plan(steps)] {
                plans.push(vec![Node {
                    recovers: Recovers::Fallback,
                    ..again(inner)
                }]);
            }
        }
        plans
    };
    let mut tried = try_some(&plans(2), 2);
    tried += try_some(&plans(3), 180);
    assert!(tried.ended > 1000 && tried.crashed > 1000, "{tried:?}");
}

/// A failure is caught although an undo step in it has failed. Then the scope around it fails, or succeeds inside a scope that fails.
#[test]
fn a_caught_failure_forgets_nothing_that_is_left() {
    let plans = |size: usize| {
        let mut plans = Vec::new();
        for work in elements(size) {
            let whole = Node {
                recovers: Recovers::Catch,
                ..Node::new(work.clone())
            };
            for caught in [whole, each(work, Recovers::CatchEach)] {
                let steps = vec![caught.clone(), then()];
                plans.push(steps.clone());
                for recovers in [Recovers::No, Recovers::Optional, Recovers::Fallback] {
                    for inner in [Work::Block(steps.clone()), Work::Plan(steps.clone())] {
                        plans.push(vec![Node {
                            recovers,
                            ..again(inner)
                        }]);
                    }
                }
                let inner = Work::Block(vec![caught.clone()]);
                let around = vec![Node::new(inner.clone()), then()];
                plans.push(vec![again(Work::Plan(around))]);
                for role in [Role::Undo(0), Role::Always] {
                    let last = Node {
                        role,
                        ..Node::new(inner.clone())
                    };
                    let around = vec![Node::new(Work::Call), then(), last];
                    plans.push(vec![again(Work::Block(around)), then()]);
                }
            }
        }
        plans
    };
    let mut tried = try_some(&plans(2), 1);
    tried += try_some(&plans(3), 100);
    assert!(tried.ended > 1000 && tried.crashed > 500, "{tried:?}");
}

/// Scopes with two attempts are inside each other. Each attempt of a scope has new keys, and all attempts of one call have the same key.
#[test]
fn scopes_that_are_tried_again_have_new_keys() {
    let plans = |size: usize| {
        let mut plans = Vec::new();
        let undo = Node {
            role: Role::Undo(0),
            ..again(Work::Block(vec![Node::new(Work::Call)]))
        };
        for steps in undoing(size) {
            for inner in [Work::Block(steps.clone()), Work::Plan(steps)] {
                let around = vec![
                    again(inner.clone()),
                    then(),
                    Node {
                        attempts: 2,
                        ..always()
                    },
                ];
                plans.push(vec![again(Work::Block(around))]);
                let around = vec![Node::new(inner), then(), undo.clone()];
                plans.push(vec![again(Work::Plan(around))]);
            }
        }
        plans
    };
    let mut tried = try_some(&plans(2), 1);
    tried += try_some(&plans(3), 40);
    assert!(tried.ended > 1000 && tried.crashed > 1000, "{tried:?}");
}
