//! Steps and inputs a second time: with their doc comments, which a local cannot have; inputs as the fields of the plan's struct that
//! they are from outside; and as items where a step is referred to before it is declared.

use super::{IdeExpansion, attribute, unplaced};
use crate::docs::text_of;
use crate::scan::tokens::Tokens;
use crate::scan::{HeadTokens, PlanTokens, Statement, StatementKind, StepTokens};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;

impl IdeExpansion {
    /// Each use of a step or an input as that of a field.
    pub(super) fn echo(&self, plan: &PlanTokens) -> TokenStream {
        let editor = &self.editor;
        let mut fields = TokenStream::new();
        let mut names = BTreeSet::new();
        for (statement, step, name) in steps(plan) {
            let docs = docs(statement);
            let ty = unplaced(self.type_of_step(step, statement));
            if docs.is_empty() || self.ahead.contains(&text_of(name)) {
                let name = unplaced(name.to_token_stream());
                fields.extend(quote!(#name: #ty,));
            } else {
                names.insert(text_of(name));
                fields.extend(quote!(#docs #name: #ty,));
            }
        }
        let inputs: BTreeSet<String> = plan
            .head
            .iter()
            .flat_map(HeadTokens::names)
            .map(text_of)
            .collect();
        let uses = plan.statements.iter().flat_map(|part| self.uses(part));
        let uses: TokenStream = uses
            .map(|name| match text_of(&name) {
                text if names.contains(&text) => quote!(steps.#name;),
                text if inputs.contains(&text) => quote!(inputs.#name;),
                _ => TokenStream::new(),
            })
            .collect();
        let checks = self.checks.take();
        let inputs = plan.head.as_ref().and_then(|head| head.name.as_ref().ok());
        let inputs = inputs.map(|name| {
            let name = unplaced(name.to_token_stream());
            quote!(let inputs: #name = #editor::any();)
        });
        quote! {
            #[allow(warnings, non_upper_case_globals, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                struct Steps { #fields }
                let steps: Steps = #editor::any();
                #inputs
                #uses
                use #editor::{FitJson as _, Misfit as _};
                #checks
            };
        }
    }

    /// The names of steps that are referred to before they are declared.
    pub(super) fn names_ahead(&self, plan: &PlanTokens) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut ahead = BTreeSet::new();
        for statement in &plan.statements {
            let names = self.uses(statement).into_iter().map(|name| text_of(&name));
            ahead.extend(names.filter(|name| !seen.contains(name)));
            let name = statement.step().and_then(|step| step.name.as_ref());
            seen.extend(name.map(text_of));
        }
        ahead
    }

    /// The steps that are referred to before they are declared, as items, which are in scope before their declaration, too.
    pub(super) fn items_ahead(&self, plan: &PlanTokens) -> TokenStream {
        let editor = &self.editor;
        let ahead = steps(plan).filter(|(_, _, name)| self.ahead.contains(&text_of(name)));
        let items = ahead.map(|(statement, step, name)| {
            let docs = docs(statement);
            let ty = unplaced(self.type_of_step(step, statement));
            quote!(#docs #[allow(non_upper_case_globals)] static #name: #ty = #editor::any();)
        });
        items.collect()
    }

    /// Where a statement mentions steps and inputs.
    fn uses(&self, statement: &Statement) -> Vec<Ident> {
        let mut uses = Uses {
            expansion: self,
            found: Vec::new(),
        };
        for attribute in statement.attributes() {
            uses.look_in(&attribute);
        }
        match &statement.kind {
            StatementKind::Other(tokens) => uses.look_in(tokens),
            StatementKind::Step(step) => uses.look_in(&step.value),
        }
        uses.found
    }

    fn type_of_step(&self, step: &StepTokens, statement: &Statement) -> TokenStream {
        let policy = attribute::policy(statement);
        match &step.ty {
            Some((_, ty)) if policy.optional => quote!(::core::option::Option<#ty>),
            Some((_, ty)) => ty.clone(),
            None => self.output(step.value.clone(), policy),
        }
    }
}

/// The doc comments among the attributes.
fn docs(statement: &Statement) -> TokenStream {
    let is_doc = |attribute: &TokenStream| {
        let first = attribute.clone().into_iter().next();
        matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
    };
    let docs = statement.attributes().filter(is_doc);
    unplaced(quote!(#(#[#docs])*))
}

/// The steps that have a name.
fn steps(plan: &PlanTokens) -> impl Iterator<Item = (&Statement, &StepTokens, &Ident)> {
    let statements = plan.statements.iter();
    statements.filter_map(|statement| {
        let step = statement.step()?;
        Some((statement, step, step.name.as_ref()?))
    })
}

/// Where steps and inputs are mentioned.
struct Uses<'a> {
    expansion: &'a IdeExpansion,
    found: Vec<Ident>,
}

impl Uses<'_> {
    fn look_in(&mut self, tokens: &TokenStream) {
        let mut bound = BTreeSet::new();
        bind(tokens, &mut bound);
        self.walk(tokens, &bound);
    }

    fn walk(&mut self, tokens: &TokenStream, bound: &BTreeSet<String>) {
        let mut tokens = Tokens::new(tokens.clone());
        let mut dots = 0;
        while let Some(tree) = tokens.next() {
            match &tree {
                TokenTree::Group(group) => self.walk(&group.stream(), bound),
                TokenTree::Ident(name) => {
                    let is_field = tokens.is_punct(0, ':') && !tokens.is_punct(1, ':');
                    let is_path = tokens.is_punct(0, ':') || tokens.is_punct(0, '!');
                    let is_use = dots != 1 && !is_field && !is_path;
                    if is_use && self.expansion.knows(name) && !bound.contains(&text_of(name)) {
                        self.found.push(name.clone());
                    }
                }
                _ => {}
            }
            let is_dot = matches!(&tree, TokenTree::Punct(dot) if dot.as_char() == '.');
            dots = if is_dot { dots + 1 } else { 0 };
        }
    }
}

/// Adds the names that patterns bind in a statement.
pub(super) fn bound_in(mut bound: BTreeSet<String>, statement: &Statement) -> BTreeSet<String> {
    if let Some(step) = statement.step() {
        bind(&step.value, &mut bound);
    }
    bound
}

/// The names that closures, `let`, `for` and the arms of a `match` bind somewhere in the tokens.
fn bind(tokens: &TokenStream, bound: &mut BTreeSet<String>) {
    let mut tokens = Tokens::new(tokens.clone());
    while let Some(tree) = tokens.next() {
        let ends: fn(&Tokens) -> bool = match &tree {
            TokenTree::Group(group) => {
                bind(&group.stream(), bound);
                continue;
            }
            TokenTree::Punct(punct) if punct.as_char() == '|' => |tokens| tokens.is_punct(0, '|'),
            TokenTree::Ident(ident) if ident == "let" => |tokens| tokens.is_punct(0, '='),
            TokenTree::Ident(ident) if ident == "for" => |tokens| tokens.is_ident(0, "in"),
            _ => continue,
        };
        for tree in tokens.take_until(ends) {
            names(tree, bound);
        }
        tokens.next();
    }
}

fn names(tree: TokenTree, found: &mut BTreeSet<String>) {
    match tree {
        TokenTree::Ident(name) => {
            found.insert(text_of(&name));
        }
        TokenTree::Group(group) => group
            .stream()
            .into_iter()
            .for_each(|tree| names(tree, found)),
        _ => {}
    }
}
