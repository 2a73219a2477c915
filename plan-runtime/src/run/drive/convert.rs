//! The conversion of a plan to the tables of the machine.

use super::super::catch::catch;
use crate::machine::{
    Amounts, BadNodes, Duty, Node, NodeBlock, NodeBody, Recovery, Tables, Timing,
};
use crate::plan::{
    Action, Amount, Body, Catch, Converted, Executable, Graph, Optional, Plan, Policy, Role, Step,
    number,
};
use std::sync::Arc;

/// A function that returns the plan of an action, if the action may call a plan.
pub(in crate::run) type Find<'f, 'p> = &'f dyn Fn(&Action) -> Option<Executable<'p>>;

/// Returns the tables of a checked plan. With `admits`, the driver decides when each call may start. The graph of the plan keeps the tables for further runs, unless `find` may find plans.
pub(super) fn tables<'p>(
    plan: &'p Plan,
    graph: &Arc<Graph>,
    find: Option<Find<'_, 'p>>,
    admits: bool,
) -> Result<Arc<Converted>, BadNodes> {
    match find {
        Some(find) => convert(plan, graph, find, admits).map(Arc::new),
        None => graph.tables(admits, || convert(plan, graph, &|_| None, admits)),
    }
}

/// Returns the plan of a tool that is a plan.
fn known(action: &Action) -> Option<Executable<'static>> {
    let tool = action.tool.as_ref().filter(|tool| tool.plan.is_some())?;
    // Code of the program creates the plan, and may panic.
    catch(|| tool.plan.plan()).ok()?.map(Executable::new)
}

/// Converts a plan, with the plans that its calls may be. With `admits`, the driver decides when each call may start.
fn convert<'p>(
    plan: &'p Plan,
    graph: &Arc<Graph>,
    find: Find<'_, 'p>,
    admits: bool,
) -> Result<Converted, BadNodes> {
    let mut converting = Converting {
        labels: 0,
        plans: vec![(plan, Arc::clone(graph))],
        find,
        admits,
        is_called: false,
        is_recursive: false,
    };
    let (mut blocks, mut plans) = (Vec::new(), Vec::new());
    while let Some((plan, graph)) = converting.plans.get(blocks.len()).cloned() {
        plans.push((std::ptr::from_ref(plan).addr(), converting.labels));
        converting.is_called = !blocks.is_empty();
        blocks.push(converting.scope(plan, &graph, converting.is_called));
    }
    blocks[0].has_inputs = converting.is_recursive;
    let tables = Tables::new(&blocks)?;
    Ok(Converted { tables, plans })
}

/// Returns the steps of a plan and of the blocks in the plan, in the order of their labels.
pub(super) fn steps(plan: &Plan) -> Vec<&Step> {
    let mut steps = Vec::new();
    add_steps(plan, &mut steps);
    steps
}

fn add_steps<'p>(plan: &'p Plan, steps: &mut Vec<&'p Step>) {
    steps.extend(&plan.steps);
    for step in &plan.steps {
        for block in step.body.blocks() {
            add_steps(&block.plan, steps);
        }
    }
}

/// Returns the bodies of a step in the order of the source, each with the number of its first action.
pub(super) fn bodies(step: &Step, first: usize) -> Vec<(&Body, usize)> {
    let (mut bodies, mut open, mut action) = (Vec::new(), vec![&step.body], first);
    while let Some(body) = open.pop() {
        bodies.push((body, action));
        match body {
            Body::Action(_) | Body::Block(_) | Body::Loop(_) => action += body.count(),
            Body::If(branches) => open.extend(branches.iter().rev().map(|it| &it.body)),
            Body::For(each) => open.push(&each.body),
            Body::Await(_) => {}
        }
    }
    bodies
}

/// Returns the number of nested `if`s directly around a body: a `for` between them resets the count. `body` is the number of the body in the order of
/// the source.
pub(super) fn ifs_around(step: &Step, body: u32) -> usize {
    let (mut open, mut number) = (vec![(&step.body, 0)], 0);
    while let Some((next, depth)) = open.pop() {
        if number == body {
            return depth;
        }
        number += 1;
        match next {
            Body::If(branches) => {
                open.extend(branches.iter().rev().map(|it| (&it.body, depth + 1)));
            }
            Body::For(each) => open.push((&each.body, 0)),
            Body::Action(_) | Body::Block(_) | Body::Loop(_) | Body::Await(_) => {}
        }
    }
    0
}

struct Converting<'f, 'p> {
    /// The number of steps so far.
    labels: u32,
    plans: Vec<(&'p Plan, Arc<Graph>)>,
    find: Find<'f, 'p>,
    admits: bool,
    /// `true` during the conversion of a called plan.
    is_called: bool,
    /// `true` if a call may call the first plan.
    is_recursive: bool,
}

impl Converting<'_, '_> {
    fn scope(&mut self, plan: &Plan, graph: &Graph, is_inner: bool) -> NodeBlock {
        let first = self.labels;
        self.labels += number(plan.steps.len());
        let places = plan.steps.iter().enumerate();
        let nodes = places.map(|(place, step)| Node {
            label: first + number(place),
            ..self.node(step, place, graph)
        });
        NodeBlock {
            has_inputs: is_inner,
            has_output: true,
            ..NodeBlock::new(nodes)
        }
    }

    fn node(&mut self, step: &Step, place: usize, graph: &Graph) -> Node {
        let mut action = graph.actions[place] as usize;
        let policy = &step.policy;
        Node {
            label: 0,
            body: self.body(&step.body, graph, &mut action),
            duty: match step.role {
                Role::Work => Duty::Work,
                Role::Undo(undone) => Duty::Undo(undone),
                Role::Always => Duty::Always,
            },
            recovery: recovery(policy),
            each: each(policy),
            amounts: amounts(policy),
            timing: Timing {
                admits: self.admits && has_tools(step),
                ..timing(step)
            },
            after: match step.role {
                Role::Always => always(place, graph),
                Role::Work | Role::Undo(_) => {
                    let needs = graph.needs().of(place).iter();
                    needs.map(|need| *need as usize).collect()
                }
            },
        }
    }

    fn body(&mut self, body: &Body, graph: &Graph, number: &mut usize) -> NodeBody {
        match body {
            Body::Action(action) => {
                *number += 1;
                self.call(action)
            }
            Body::Await(_) => NodeBody::Await,
            Body::If(branches) => {
                let branches = branches.iter();
                let bodies = branches.map(|branch| self.body(&branch.body, graph, number));
                NodeBody::If(bodies.collect())
            }
            Body::For(each) => NodeBody::For(Box::new(self.body(&each.body, graph, number))),
            Body::Block(block) => NodeBody::Block(self.inner(&block.plan, graph, number)),
            Body::Loop(repeat) => NodeBody::Loop(self.inner(&repeat.round.plan, graph, number)),
        }
    }

    fn call(&mut self, action: &Action) -> NodeBody {
        if action.tool.is_none() {
            return NodeBody::Value;
        }
        // A called plan prefers the tools in its own code. The first plan prefers the tools that the caller passes
        // under these names.
        let found = if self.is_called {
            known(action).or_else(|| (self.find)(action))
        } else {
            (self.find)(action).or_else(|| known(action))
        };
        let Some(Executable {
            plan,
            graph: Ok(graph),
            ..
        }) = found
        else {
            return NodeBody::Call;
        };
        let mut plans = self.plans.iter();
        let place = plans.position(|known| std::ptr::eq(known.0, plan));
        self.is_recursive |= place == Some(0);
        NodeBody::Open(place.unwrap_or_else(|| {
            self.plans.push((plan, graph));
            self.plans.len() - 1
        }))
    }

    fn inner(&mut self, plan: &Plan, graph: &Graph, action: &mut usize) -> NodeBlock {
        let blocks = graph.blocks.as_ref();
        let block = blocks.and_then(|blocks| blocks.get(&number(*action)));
        let block = block.expect("a checked plan has a graph for each of its blocks");
        *action += 1 + block.count;
        self.scope(plan, block, true)
    }
}

/// Returns the always steps that an always step waits for.
fn always(place: usize, graph: &Graph) -> Vec<usize> {
    let always = graph.last.iter().flat_map(|last| &last.always);
    let waits = always.filter(|(step, _)| *step as usize == place);
    let waits = waits.flat_map(|(_, waits)| waits);
    waits.map(|step| *step as usize).collect()
}

/// Returns the reaction of the machine to the failure of a step.
fn recovery(policy: &Policy) -> Recovery {
    if policy.catch == Catch::Whole {
        Recovery::Catch
    } else if policy.optional == Optional::Whole || policy.fallback.is_some() {
        Recovery::Replace
    } else {
        Recovery::No
    }
}

/// Returns the reaction of the machine to the failure of an element.
fn each(policy: &Policy) -> Recovery {
    if policy.catch == Catch::Each {
        Recovery::Catch
    } else if policy.optional == Optional::Each {
        Recovery::Replace
    } else {
        Recovery::No
    }
}

/// Returns the amounts of a policy, as the machine counts them.
pub(super) fn amounts(policy: &Policy) -> Amounts {
    Amounts {
        attempts: policy.attempts,
        at_once: policy.concurrency.map_or(u32::MAX, number),
        at_most: policy.at_most.unwrap_or(u32::MAX),
    }
}

fn timing(step: &Step) -> Timing {
    let policy = &step.policy;
    let gives = |amount| policy.gives(amount).is_some();
    Timing {
        backoff: policy.attempts > 1 || gives(Amount::Attempts),
        timeout: policy.timeout.is_some() || gives(Amount::Timeout),
        deadline: policy.deadline.is_some() || gives(Amount::Deadline),
        every: policy.every.is_some() || gives(Amount::Every),
        amounts: !policy.given.is_empty(),
        fallback: [recovery(policy), each(policy)] != [Recovery::No; 2],
        admits: false,
    }
}

/// Returns `true` if a step calls tools itself, and not only in blocks.
fn has_tools(step: &Step) -> bool {
    let mut bodies = bodies(step, 0).into_iter();
    bodies.any(|(body, _)| matches!(body, Body::Action(action) if action.tool.is_some()))
}
