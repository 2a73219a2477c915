//! `plan!`, from the first stage to the last.

use crate::ast::Header;
use crate::graph::Graphs;
use crate::names::{self, Names};
use crate::repeated::is_repeated;
use crate::report::Report;
use crate::syntax::tokens::enclosed;
use crate::{expand, host, ide, options, parse, syntax};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::quote;

/// Expands `plan!`.
pub(crate) fn plan(input: TokenStream) -> TokenStream {
    let source = syntax::scan(input.clone());
    let ide = host::is_editor().then(|| ide::expand(&source));
    let begun = ide.as_ref().and_then(|_| ide::begun(&source));
    let is_item = source
        .head
        .as_ref()
        .is_some_and(syntax::HeadTokens::is_item);
    let errors = |report: Report| {
        if is_item {
            report.into_item()
        } else {
            report.into_compile_errors()
        }
    };
    let mut report = Report::default();
    let Some(mut plan) = parse::parse(source, &mut report) else {
        let errors = errors(report);
        return begun.map_or_else(|| quote!(#ide #errors), |begun| begun(&errors));
    };
    plan.krate = options::path(plan.krate, "#![plan(crate = …)]", &mut report);
    if plan.krate.is_none() {
        let errors = errors(report);
        return quote!(#ide #errors);
    }
    let mut names = Names::new(&plan, &mut report);
    if names.is_taken("gen") && syntax::is_mentioned(&input, &["gen".to_owned()]) {
        return self::plan(with_raw_gen(input));
    }
    names::resolve(&plan, &mut names, &mut report);
    let mut cycles = Report::default();
    let graphs = Graphs::new(&names, &mut cycles);
    let reached = |scope, step| graphs.of(scope).reached(step);
    names::check_roles(&names, &reached, &mut report);
    report.extend(cycles);
    if let Some(Header { name, vis, .. }) = &plan.head
        && is_repeated(name)
    {
        let errors = report.into_item();
        return quote!(#errors #[allow(dead_code, missing_docs)] #vis struct #name {});
    }
    match (begun, ide) {
        (Some(begun), _) => begun(&report.into_compile_errors()),
        (None, Some(ide)) => expand::outside(&plan, &names, &graphs, report, &ide),
        (None, None) => expand::expand(&plan, &names, &graphs, report),
    }
}

/// Writes `gen` so that it is a name in each edition of Rust.
fn with_raw_gen(tokens: TokenStream) -> TokenStream {
    let trees = tokens.into_iter().map(|tree| match tree {
        TokenTree::Ident(name) if name == "gen" => Ident::new_raw("gen", name.span()).into(),
        TokenTree::Group(group) => {
            let raw = with_raw_gen(group.stream());
            enclosed(group.delimiter(), raw, group.span()).into()
        }
        other => other,
    });
    trees.collect()
}
