//! From a checked plan to Rust: the plan as a `static`, the checks that only rustc can make, and what runs it.

mod binding;
mod computed;
mod cycle;
mod data;
mod documented;
mod flow;
mod format;
mod item;
mod literal;
mod policy;
#[cfg(test)]
mod recovery;
mod reference;
#[cfg(test)]
mod snapshots;
mod start;
mod step;
mod tokens;
mod types;
mod value;
#[cfg(test)]
mod written;

use crate::ast::{Body, Catch, Optional, Plan, Step};
use crate::graph::StepGraph;
use crate::ide;
use crate::names::{self, Names, Source};
use crate::options;
use crate::parse;
use crate::report::Report;
use crate::scan;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;

/// `plan!`, from the first stage to the last.
pub(crate) fn plan(input: TokenStream) -> TokenStream {
    let source = scan::scan(input.clone());
    let ide = ide::is_wanted().then(|| ide::expand(&source));
    let begun = ide.as_ref().and_then(|_| ide::begun(&source));
    let mut report = Report::default();
    let Some(mut plan) = parse::parse(source, &mut report) else {
        let errors = report.into_compile_errors();
        return begun.map_or_else(|| quote!(#ide #errors), |begun| begun(&errors));
    };
    if plan.declared().any(|name| name == "gen") {
        return self::plan(with_raw_gen(input));
    }
    plan.krate = options::path(plan.krate, "#![plan(crate = …)]", &mut report);
    if plan.krate.is_none() {
        let errors = report.into_compile_errors();
        return quote!(#ide #errors);
    }
    let names = Names::new(&mut plan, &mut report);
    names::resolve(&mut plan, &names, &mut report);
    let graph = StepGraph::new(&plan, &names);
    match (begun, ide) {
        (Some(begun), _) => begun(&report.into_compile_errors()),
        (None, Some(ide)) => item::outside(&plan, &names, &graph, report, &ide),
        (None, None) => item::expand(&plan, &names, &graph, report),
    }
}

/// Writes `gen` so that it is a name in each edition of Rust.
fn with_raw_gen(tokens: TokenStream) -> TokenStream {
    let trees = tokens.into_iter().map(|tree| match tree {
        TokenTree::Ident(name) if name == "gen" => Ident::new_raw("gen", name.span()).into(),
        TokenTree::Group(group) => {
            let mut raw = Group::new(group.delimiter(), with_raw_gen(group.stream()));
            raw.set_span(group.span());
            raw.into()
        }
        other => other,
    });
    trees.collect()
}

/// What every part of the expansion needs to know.
struct Context<'a> {
    plan: &'a Plan,
    names: &'a Names,
    graph: &'a StepGraph,
    /// The first mistake found so far.
    error: Option<TokenStream>,
    /// The paths of each step's tools as text, in the order of its actions.
    tools: Vec<Vec<String>>,
}

impl<'a> Context<'a> {
    fn new(
        plan: &'a Plan,
        names: &'a Names,
        graph: &'a StepGraph,
        error: Option<TokenStream>,
    ) -> Self {
        let tools = plan.steps.iter().map(|step| {
            let paths = flow::actions(&step.body).into_iter().flatten();
            paths.map(parse::path_text).collect()
        });
        Self {
            plan,
            names,
            graph,
            error,
            tools: tools.collect(),
        }
    }
}

impl Context<'_> {
    /// The path of the runtime crate.
    fn krate(&self) -> TokenStream {
        self.plan.krate.to_token_stream()
    }

    /// The name of the type of a step or an input. Its span is where the type is written, so that what is wrong with
    /// the type is reported there, once.
    fn type_of(&self, source: Source) -> Ident {
        match source {
            Source::Step(index) => format_ident!(
                "__PlanStep{index}",
                span = step::place(&self.plan.steps[index])
            ),
            Source::Input(index) => {
                let input = self
                    .plan
                    .head
                    .as_ref()
                    .and_then(|head| head.inputs.get(index));
                let span = input.map_or_else(Span::call_site, |input| input.ty.span());
                format_ident!("__PlanInput{index}", span = span)
            }
        }
    }

    /// What says that two steps or inputs have the same type.
    fn same_type(&self, source: Source) -> String {
        match source {
            Source::Step(index) => match &self.plan.steps[index] {
                Step {
                    body: Body::Call(_),
                    ty: None,
                    policy,
                    ..
                } if matches!((&policy.optional, &policy.catch), (Optional::No, Catch::No)) => {
                    format!("output {}", self.tools[index][0])
                }
                _ => format!("step {index}"),
            },
            Source::Input(index) => format!("input {index}"),
        }
    }

    fn source(source: Source) -> TokenStream {
        match source {
            Source::Step(index) => quote!(__plan::Source::Step(#index)),
            Source::Input(index) => quote!(__plan::Source::Input(#index)),
        }
    }
}

/// A name of the macro's own, which no name of the author's can meet.
fn local(prefix: &str, index: usize) -> Ident {
    Ident::new(&format!("__{prefix}{index}"), Span::mixed_site())
}
