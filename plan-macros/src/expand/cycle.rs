//! Steps that wait for one another.

use crate::ast::Plan;
use crate::docs::text_of;
use crate::graph::Cycle;
use proc_macro2::TokenStream;

/// The error, at the name by which the first of the steps waits.
pub(super) fn error(plan: &Plan, cycle: &Cycle) -> TokenStream {
    let names: Vec<String> = cycle
        .iter()
        .map(|(step, _)| text_of(&plan.steps[*step].name))
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
