//! Steps that wait for one another.

use super::Context;
use crate::ast::Step;
use crate::docs::text_of;
use crate::graph::{Cycle, StepGraph};
use proc_macro2::TokenStream;

/// Adds an error for each cycle of these steps and of the steps in their blocks.
pub(super) fn errors(
    graph: &StepGraph,
    steps: &[Step],
    cx: &Context<'_>,
    errors: &mut TokenStream,
) {
    for cycle in graph.cycles() {
        errors.extend(error(steps, &cycle));
    }
    for step in steps {
        step.body.blocks(&mut |block| {
            let graph = StepGraph::new(&block.steps, cx.names.scope(block), cx.names);
            self::errors(&graph, &block.steps, cx, errors);
        });
    }
}

/// Returns the error about a cycle, with the span of the name in its first step.
fn error(steps: &[Step], cycle: &Cycle) -> TokenStream {
    let names: Vec<String> = cycle
        .iter()
        .map(|(step, _)| text_of(&steps[*step].name))
        .collect();
    let first = &names[0];
    let message = match &names[..] {
        [only] => format!("the step `{only}` waits for itself: {only} → {only}"),
        _ => format!(
            "these steps wait for each other: {} → {first}",
            names.join(" → ")
        ),
    };
    syn::Error::new(cycle[0].1.span(), message).to_compile_error()
}
