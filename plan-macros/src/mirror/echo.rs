//! Steps and inputs a second time: with their doc comments, which a local cannot have; inputs as the fields of the plan's struct that
//! they are from outside; and as items where a step is referred to before it is declared.

use super::scan::{Part, Scanned, Step, take_until};
use super::{Mirror, attribute, text, unplaced};
use crate::parse::tokens::Tokens;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;

impl Mirror {
    /// Each use of a step or an input as that of a field.
    pub(super) fn echo(&self, plan: &Scanned) -> TokenStream {
        let editor = &self.editor;
        let mut fields = TokenStream::new();
        let mut names = BTreeSet::new();
        let mut declared = BTreeSet::new();
        for (attributes, step) in steps(&plan.parts) {
            let (name, docs) = (&step.name, docs(&attributes));
            let ty = unplaced(self.type_of_step(step, &attributes));
            if docs.is_empty() || self.ahead.contains(&text(name)) {
                let name = unplaced(name.to_token_stream());
                fields.extend(quote!(#name: #ty,));
            } else {
                names.insert(text(name));
                fields.extend(quote!(#docs #name: #ty,));
            }
            declared.insert(text(name));
        }
        let inputs: BTreeSet<String> = {
            let inputs = plan.head.iter().flat_map(|head| &head.inputs);
            inputs
                .filter_map(|input| input.name.as_ref().map(text))
                .collect()
        };
        let uses = plan.parts.iter().flat_map(|part| self.uses(part));
        let uses: TokenStream = uses
            .map(|name| match text(&name) {
                text if names.contains(&text) => quote!(steps.#name;),
                text if inputs.contains(&text) => quote!(inputs.#name;),
                _ => TokenStream::new(),
            })
            .collect();
        let fits = steps(&plan.parts).into_iter().map(|(_, step)| {
            let mut bound = BTreeSet::new();
            bind(&step.value, &mut bound);
            self.fits(&step.value, &|name| match text(name) {
                text if bound.contains(&text) => None,
                text if declared.contains(&text) => Some(quote!(steps.#name)),
                text if inputs.contains(&text) => Some(quote!(inputs.#name)),
                _ => None,
            })
        });
        let fits: TokenStream = fits.collect();
        let inputs = plan.head.as_ref().and_then(|head| head.name.as_ref());
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
                #fits
            };
        }
    }

    /// The names of steps that are referred to before they are declared.
    pub(super) fn names_ahead(&self, plan: &Scanned) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut ahead = BTreeSet::new();
        for part in &plan.parts {
            let names = self.uses(part).into_iter().map(|name| text(&name));
            ahead.extend(names.filter(|name| !seen.contains(name)));
            if let Part::Step(step) = part {
                seen.insert(text(&step.name));
            }
        }
        ahead
    }

    /// The steps that are referred to before they are declared, as items, which are in scope before their declaration, too.
    pub(super) fn items_ahead(&self, plan: &Scanned) -> TokenStream {
        let editor = &self.editor;
        let steps = steps(&plan.parts).into_iter();
        let ahead = steps.filter(|(_, step)| self.ahead.contains(&text(&step.name)));
        let items = ahead.map(|(attributes, step)| {
            let (name, docs) = (&step.name, docs(&attributes));
            let ty = unplaced(self.type_of_step(step, &attributes));
            quote!(#docs #[allow(non_upper_case_globals)] static #name: #ty = #editor::any();)
        });
        items.collect()
    }

    /// Where a part mentions steps and inputs.
    fn uses(&self, part: &Part) -> Vec<Ident> {
        let mut uses = Uses {
            mirror: self,
            found: Vec::new(),
        };
        match part {
            Part::Attribute(tokens) | Part::Other(tokens) => uses.look_in(tokens),
            Part::Step(step) => uses.look_in(&step.value),
        }
        uses.found
    }

    fn type_of_step(&self, step: &Step, attributes: &[&TokenStream]) -> TokenStream {
        let policy = attribute::policy(attributes.iter().copied());
        match &step.ty {
            Some(ty) if policy.optional => quote!(::core::option::Option<#ty>),
            Some(ty) => ty.clone(),
            None => self.output(step.value.clone(), policy),
        }
    }
}

/// The doc comments among attributes.
fn docs(attributes: &[&TokenStream]) -> TokenStream {
    let docs = attributes.iter().filter(|attribute| {
        let first = attribute.to_token_stream().into_iter().next();
        matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
    });
    unplaced(quote!(#(#[#docs])*))
}

/// The steps, each with the attributes before it.
fn steps(parts: &[Part]) -> Vec<(Vec<&TokenStream>, &Step)> {
    let mut steps = Vec::new();
    let mut attributes = Vec::new();
    for part in parts {
        match part {
            Part::Attribute(attribute) => attributes.push(attribute),
            Part::Step(step) => steps.push((std::mem::take(&mut attributes), step)),
            Part::Other(_) => {}
        }
    }
    steps
}

/// Where steps and inputs are mentioned.
struct Uses<'a> {
    mirror: &'a Mirror,
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
            let next = |ahead, char| {
                let punct = tokens.peek_punct(ahead);
                punct.is_some_and(|punct| punct.as_char() == char)
            };
            match &tree {
                TokenTree::Group(group) => self.walk(&group.stream(), bound),
                TokenTree::Ident(name) => {
                    let is_field = next(0, ':') && !next(1, ':');
                    let is_path = next(0, ':') && next(1, ':') || next(0, '!');
                    let is_use = dots != 1 && !is_field && !is_path;
                    if is_use && self.mirror.knows(name) && !bound.contains(&text(name)) {
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

/// Adds the names that patterns bind in a part.
pub(super) fn bound_in(mut bound: BTreeSet<String>, part: &Part) -> BTreeSet<String> {
    if let Part::Step(step) = part {
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
            TokenTree::Punct(punct) if punct.as_char() == '|' => |tokens| is(tokens, '|'),
            TokenTree::Ident(ident) if ident == "let" => |tokens| is(tokens, '='),
            TokenTree::Ident(ident) if ident == "for" => {
                |tokens| tokens.peek_ident(0).is_some_and(|ident| ident == "in")
            }
            _ => continue,
        };
        for tree in take_until(&mut tokens, ends) {
            names(tree, bound);
        }
        tokens.next();
    }
}

fn is(tokens: &Tokens, char: char) -> bool {
    let punct = tokens.peek_punct(0);
    punct.is_some_and(|punct| punct.as_char() == char)
}

fn names(tree: TokenTree, found: &mut BTreeSet<String>) {
    match tree {
        TokenTree::Ident(name) => {
            found.insert(text(&name));
        }
        TokenTree::Group(group) => group
            .stream()
            .into_iter()
            .for_each(|tree| names(tree, found)),
        _ => {}
    }
}
