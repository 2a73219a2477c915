//! Steps that many failed steps block.

use super::driver::{NEVER, call, tables};
use plan_runtime::machine::{Command, Event, Machine, Node, Reaction, ScopeId};
use std::time::{Duration, Instant};

/// Many steps fail in the reverse order of the plan, before a chain that needs all of them. The chain is followed a few times, and not once for each failure.
#[test]
fn many_steps_fail_before_a_chain() {
    const MANY: usize = 6_000;
    let mut steps: Vec<Node> = (0..MANY).map(|label| call(label as u32)).collect();
    steps.push(Node::call(0, (0..MANY).collect()));
    steps.extend((MANY..2 * MANY).map(|before| Node::call(0, vec![before])));
    let tables = tables(steps);
    let mut machine = Machine::new(&tables, Reaction::Continue, u32::MAX);
    let mut calls = Vec::new();
    while let Some(command) = machine.next(true) {
        if let Command::Start(call, _) = command {
            calls.push(call);
        }
    }
    let start = Instant::now();
    while let Some(call) = calls.pop() {
        machine.handle(Event::Ended(call, NEVER));
    }
    let took = start.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    let failures = machine.view().result().unwrap_err();
    let blocked: Vec<usize> = failures.steps.iter().map(|it| it.blocked.len()).collect();
    assert_eq!((blocked[0], blocked.iter().sum()), (MANY + 1, MANY + 1));
    assert_eq!(machine.view().blocker(ScopeId::ROOT, 2 * MANY), Some(0));
}
