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

use crate::ast::{Body, Extent, Plan, Role, Step};
use crate::graph::Graphs;
use crate::json;
use crate::names::{self, Names, Reader, Source};
pub(crate) use item::{expand, outside};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
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
    /// `true` if no step undoes another or always runs.
    is_only_work: bool,
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
            is_only_work: steps.iter().all(|step| matches!(step.role, Role::Work)),
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

    /// Returns the name of the type of a step or an input, as a step sees it.
    fn type_seen(&self, source: Source, reader: Reader) -> Ident {
        let name = self.type_of(source);
        match (self.view(source, reader), source) {
            (View::Call, Source::Step(index)) => {
                format_ident!("__PlanCall{index}", span = name.span())
            }
            (View::Result, Source::Step(index)) => {
                format_ident!("__PlanResult{index}", span = name.span())
            }
            _ => name,
        }
    }

    /// Returns the other forms in which readers of a step see its output.
    fn other_views(&self, index: usize) -> Vec<(View, Reader)> {
        let mut views: Vec<(View, Reader)> = Vec::new();
        if self.is_only_work {
            return views;
        }
        let scope = self.names.scope_of(Source::Step(index));
        for step in self.steps {
            let reader = names::reader(step, self.names);
            if reader == Reader::Work || self.names.scope_of(self.names.source(step)) != scope {
                continue;
            }
            let mut mentions = self.names.mentions(step).iter();
            if mentions.any(|mention| mention.source == Source::Step(index)) {
                let view = self.view(Source::Step(index), reader);
                if view != View::Output && !views.iter().any(|(other, _)| *other == view) {
                    views.push((view, reader));
                }
            }
        }
        views
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
