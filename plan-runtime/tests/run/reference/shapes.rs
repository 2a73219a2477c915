//! The plans of a size: the number of their steps and calls, including nested ones.

use super::play::any;
use super::tree::{Node, Recovers, Unfit, Work};
use plan_runtime::plan::Role;

/// All plans with as many steps. A `for`, a `loop`, an `if` and a block are steps of their own, with at least one inside.
///
/// Returns the plans. The steps of a scope come in this order: the work, each after its dependencies, then undo steps, then always steps.
/// Their order in the plan has no meaning.
pub(crate) fn plans(size: usize) -> Vec<Vec<Node>> {
    let mut plans = scopes(size);
    // The order of polls determines which of two waits first notices that no sender remains.
    plans.retain(|steps| waits(steps) <= 1);
    plans
}

fn waits(steps: &[Node]) -> usize {
    steps.iter().map(|node| waits_in(&node.work)).sum()
}

fn waits_in(work: &Work) -> usize {
    match work {
        Work::Call | Work::Unfit(_) => 0,
        Work::Await => 1,
        Work::If(_, work) => waits_in(work),
        Work::For(work) => 2 * waits_in(work),
        Work::Loop(_, steps) | Work::Block(steps) | Work::Plan(steps) => waits(steps),
    }
}

/// The steps of a plan, a block or a round.
fn scopes(size: usize) -> Vec<Vec<Node>> {
    let mut scopes = Vec::new();
    extend(&mut Vec::new(), size, &mut scopes);
    scopes
}

fn extend(steps: &mut Vec<Node>, left: usize, scopes: &mut Vec<Vec<Node>>) {
    if left == 0 {
        return scopes.push(steps.clone());
    }
    for size in 1..=left {
        for node in nodes(size, steps) {
            steps.push(node);
            extend(steps, left - size, scopes);
            steps.pop();
        }
    }
}

/// The steps of a size that may come next.
fn nodes(size: usize, before: &[Node]) -> Vec<Node> {
    let mut nodes = Vec::new();
    let is_last = before.last().map(|node| node.role);
    for work in works(size) {
        let node = Node::new(work);
        if is_last.is_none_or(|role| role == Role::Work) {
            for &recovers in recovers(&node.work) {
                for after in subsets(before.len()) {
                    nodes.push(Node {
                        recovers,
                        after,
                        ..node.clone()
                    });
                }
            }
        }
        if before.is_empty()
            || any(std::slice::from_ref(&node), &|node| {
                node.work == Work::Await
            })
        {
            continue;
        }
        for (place, undone) in before.iter().enumerate() {
            let is_next = match is_last {
                Some(Role::Undo(last)) => last < place,
                Some(Role::Work) => true,
                _ => false,
            };
            if is_next && undone.role == Role::Work && can_be_undone(&undone.work) {
                nodes.push(Node {
                    role: Role::Undo(place),
                    ..node.clone()
                });
            }
        }
        let first = before
            .iter()
            .position(|node| node.role == Role::Always)
            .unwrap_or(before.len());
        for after in subsets(before.len() - first) {
            let after = after.iter().map(|it| it + first).collect();
            nodes.push(Node {
                role: Role::Always,
                after,
                ..node.clone()
            });
        }
    }
    nodes
}

/// The scopes of a size in which something is undone, where nothing recovers and nothing waits.
pub(crate) fn undoing(size: usize) -> Vec<Vec<Node>> {
    let mut scopes = scopes(size);
    scopes.retain(|steps| {
        any(steps, &|node| matches!(node.role, Role::Undo(_)))
            && !any(steps, &|node| {
                node.recovers != Recovers::No || node.work.waits()
            })
    });
    scopes
}

/// Returns a plan for each call of a plan. A scope that fails before its work replaces the call.
pub(crate) fn unfit(steps: &[Node]) -> Vec<Vec<Node>> {
    let mut plans = Vec::new();
    for (place, node) in steps.iter().enumerate() {
        let is_undone = steps.iter().any(|it| it.role == Role::Undo(place));
        for work in unfit_works(&node.work, !is_undone) {
            let mut steps = steps.to_vec();
            steps[place].work = work;
            plans.push(steps);
        }
    }
    plans
}

/// Returns the works with such a scope. A loop is a whole step, which no step undoes.
fn unfit_works(work: &Work, may_loop: bool) -> Vec<Work> {
    let inner = |work: &Work| unfit_works(work, false).into_iter().map(Box::new);
    let all = |steps| unfit(steps).into_iter();
    match work {
        Work::Call => {
            let unfits = Unfit::ALL.into_iter();
            let unfits = unfits.filter(|it| may_loop || *it != Unfit::Round);
            unfits.map(Work::Unfit).collect()
        }
        Work::Await | Work::Unfit(_) | Work::If(false, _) => Vec::new(),
        Work::If(true, work) => inner(work).map(|work| Work::If(true, work)).collect(),
        Work::For(work) => inner(work).map(Work::For).collect(),
        Work::Loop(more, steps) => all(steps).map(|it| Work::Loop(*more, it)).collect(),
        Work::Block(steps) => all(steps).map(Work::Block).collect(),
        Work::Plan(steps) => all(steps).map(Work::Plan).collect(),
    }
}

fn subsets(count: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << count).map(move |set| (0..count).filter(|it| set & (1 << it) != 0).collect())
}

/// Returns `true` for work that happens completely or not at all, with an effect.
pub(super) fn can_be_undone(work: &Work) -> bool {
    match work {
        Work::Call | Work::Plan(_) => true,
        Work::If(_, work) => can_be_undone(work),
        Work::Block(steps) => any(steps, &|node| {
            matches!(node.work, Work::Call | Work::Plan(_))
        }),
        Work::Await | Work::For(_) | Work::Loop(..) | Work::Unfit(_) => false,
    }
}

fn recovers(work: &Work) -> &'static [Recovers] {
    use Recovers::{Catch, CatchEach, Fallback, No, Optional, OptionalEach};
    match work {
        Work::For(_) => &[No, Optional, Fallback, Catch, OptionalEach, CatchEach],
        _ => &[No, Optional, Fallback, Catch],
    }
}

fn works(size: usize) -> Vec<Work> {
    let Some(inner) = size.checked_sub(1).filter(|inner| *inner > 0) else {
        return vec![Work::Call, Work::Await];
    };
    let mut works = Vec::new();
    for work in works_in(inner) {
        // The content of a branch that is not taken has no effect.
        if work == Work::Call {
            works.push(Work::If(false, Box::new(work.clone())));
        }
        works.push(Work::If(true, Box::new(work.clone())));
        works.push(Work::For(Box::new(work)));
    }
    for steps in scopes(inner) {
        works.push(Work::Loop(false, steps.clone()));
        works.push(Work::Loop(true, steps.clone()));
        if !any(&steps, &|node| node.work == Work::Await) {
            works.push(Work::Plan(steps.clone()));
        }
        works.push(Work::Block(steps));
    }
    works
}

/// Returns the work of an element or a branch.
fn works_in(size: usize) -> Vec<Work> {
    let mut works = works(size);
    works.retain(|work| !matches!(work, Work::Await | Work::Loop(..)));
    works
}
