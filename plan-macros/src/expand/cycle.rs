//! Steps that wait for one another, as a compile-time evaluation that rustc shows the whole way of.

use crate::ast::Plan;
use crate::docs::text_of;
use crate::graph::Cycle;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// A compile-time evaluation that follows the cycle and then fails. rustc shows the place of each of its calls, which is
/// where the plan says that one step waits for the next.
pub(super) fn error(plan: &Plan, cycle: &Cycle, index: usize) -> TokenStream {
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
    // What the step at this place of the cycle does: it goes on to the next, at the name by which it waits for it.
    let goes_on = |index: usize| {
        let at = cycle[index].1.span();
        match cycle.get(index + 1) {
            Some((next, _)) => {
                let mut next = function(&plan.steps[*next].name);
                next.set_span(at);
                quote_spanned!(at=> #next())
            }
            None => quote_spanned!(at=> __plan::cycle(#message)),
        }
    };
    let functions = (1..cycle.len()).map(|index| {
        let name = function(&plan.steps[cycle[index].0].name);
        let body = goes_on(index);
        quote!(const fn #name() { #body })
    });
    let start = goes_on(0);
    // The messages mention the name.
    let name = match index {
        0 => format_ident!("__cycle"),
        _ => format_ident!("__cycle_{}", index + 1),
    };
    quote! {
        #[allow(dead_code, non_upper_case_globals)]
        const #name: () = {
            #(#functions)*
            #start
        };
    }
}

fn function(step: &Ident) -> Ident {
    step.clone()
}
