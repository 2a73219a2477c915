//! The type of a plan in the expression form, for editors. The expansion declares the type itself, so that no path leads into the runtime crate.

use super::before;
use crate::syntax::{PlanTokens, Statement};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Returns the type of an inline plan, with its methods. The type is an enum, because completion would offer the field
/// of a struct.
pub(super) fn inline(plan: &PlanTokens, editor: &TokenStream, krate: &TokenStream) -> TokenStream {
    let steps = plan.statements.iter().filter_map(Statement::step);
    let first = steps.filter_map(|step| step.keyword.as_ref()).next();
    // An editor leads from them to the plan, but not back, and refuses to rename them.
    let at = first.map_or_else(Span::call_site, |first| before(first.span()));
    let at = Span::call_site().located_at(at);
    let (as_data, run) = (Ident::new("plan", at), Ident::new("run", at));
    quote! {
        /// A plan that is an expression.
        enum InlinePlan<Output> { Plan(fn() -> Output) }
        impl<Output> InlinePlan<Output> {
            fn of(_: impl ::core::ops::FnOnce() -> Output) -> Self { #editor::any() }
            /// Returns the plan as data.
            pub fn #as_data(&self) -> &'static #krate::Plan { #editor::any() }
            /// Runs the plan on an application that has its tools.
            pub fn #run<'a, A: ?Sized>(&self, app: &'a A) -> #krate::Run<'a, A, Output> { #editor::any() }
        }
        impl<Output> ::core::clone::Clone for InlinePlan<Output> { fn clone(&self) -> Self { #editor::any() } }
        impl<Output> ::core::marker::Copy for InlinePlan<Output> {}
        impl<Output> ::core::fmt::Debug for InlinePlan<Output> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #editor::any() }
        }
        impl<Output> ::core::fmt::Display for InlinePlan<Output> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #editor::any() }
        }
    }
}
