//! The expansion of a checked plan to Rust: the plan as a `static`, the checks that only rustc can make, and the code
//! that runs the plan.

mod binding;
mod builder;
mod computed;
mod documented;
mod flow;
mod frame;
mod item;
mod lints;
mod literal;
mod policy;
mod reference;
mod scope;
mod shared;
#[cfg(test)]
mod snapshots;
mod start;
mod step;
mod table;
mod test;
#[cfg(test)]
mod tests;
mod tokens;
mod types;
mod unordered;
mod value;
mod way;

use crate::ast::{Body, Extent, Plan, Step};
use crate::graph::Graphs;
use crate::json;
use crate::names::{Names, Reader, Source};
pub(crate) use item::{expand, outside};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use table::TypeKey;
use types::Tool;

/// The facts that every part of the expansion needs.
struct Context<'a> {
    plan: &'a Plan,
    names: &'a Names<'a>,
    graphs: &'a Graphs,
    /// The steps of the plan and of its blocks, by their numbers.
    steps: &'a [&'a Step],
    /// The first error found so far.
    error: Option<TokenStream>,
    /// The tools of each step.
    tools: Vec<Vec<Tool<'a>>>,
}

impl<'a> Context<'a> {
    fn new(
        plan: &'a Plan,
        names: &'a Names<'a>,
        graphs: &'a Graphs,
        error: Option<TokenStream>,
    ) -> Self {
        let steps = &names.steps;
        Self {
            plan,
            names,
            graphs,
            error,
            tools: steps.iter().map(|step| Tool::all_of(step, names)).collect(),
            steps,
        }
    }
}

/// A step's view of the output of another step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum View {
    /// As the plan's work does.
    Output,
    /// As its call gave it.
    Call,
    /// As a `Result`.
    Result,
}

impl Context<'_> {
    /// Returns the path of the runtime crate.
    fn krate(&self) -> TokenStream {
        self.plan.krate.to_token_stream()
    }

    /// Returns a type that contains the first error. rustc silently accepts each use of the type.
    fn unknown_type(&self) -> TokenStream {
        let error = self.error.clone().unwrap_or_default();
        json::unknown(&error, &quote!(__plan))
    }

    /// Returns the name of the type of a step or an input, with the span of the written type, so that rustc reports
    /// errors of the type there, once.
    fn type_of(&self, source: Source) -> Ident {
        match source {
            Source::Step(index) => types::type_of_step(self.steps[index], self.names),
            Source::Input(index) => {
                let input = self.names.inputs.get(index);
                let span = input.map_or_else(Span::call_site, |input| input.ty.span());
                format_ident!("__PlanInput{index}", span = span)
            }
        }
    }

    /// Returns the view of a step on the output of another step.
    fn view(&self, source: Source, reader: Reader) -> View {
        let Source::Step(index) = source else {
            return View::Output;
        };
        let step = self.steps[index];
        match reader {
            Reader::Undo(undone) if undone == index => {
                if policy::wraps(step) || step.body.may_be_absent() {
                    View::Call
                } else {
                    View::Output
                }
            }
            Reader::Always if step.policy.catch != Extent::Whole => View::Result,
            _ => View::Output,
        }
    }

    /// Returns the type of a step or an input, as a step sees it.
    fn type_seen(&self, source: Source, reader: Reader) -> TokenStream {
        let output = self.type_of(source);
        let at = output.span();
        match (self.view(source, reader), source) {
            (View::Result, _) => quote_spanned!(at=> __plan::Caught<#output>),
            (View::Call, Source::Step(index)) => match self.tools[index].first() {
                Some(Tool { arguments, .. }) => {
                    quote_spanned!(at=> <#arguments as __plan::IsTool>::Output)
                }
                None => types::of_block_in(&self.steps[index].body, self.names)
                    .unwrap_or_else(|| self.unknown_type()),
            },
            _ => output.into_token_stream(),
        }
    }

    /// Returns the origin of the type of a step or an input.
    fn type_key(&self, source: Source) -> TypeKey {
        match source {
            Source::Step(index) => match self.steps[index] {
                Step {
                    body,
                    ty: None,
                    policy,
                    ..
                } if matches!(self.names.body(body), Body::Call(_))
                    && [policy.optional, policy.catch] == [Extent::Nothing; 2] =>
                {
                    TypeKey::Output(self.tools[index][0].text.clone())
                }
                _ => TypeKey::Step(index),
            },
            Source::Input(index) => TypeKey::Input(index),
        }
    }
}

/// Returns a name of the macro's own, which differs from all names in the author's code.
fn local(prefix: &str, index: usize) -> Ident {
    Ident::new(&format!("__{prefix}{index}"), Span::mixed_site())
}
