//! Steps and inputs a second time, as documented fields: a local has no doc comment, and an input is a field of the plan's struct
//! wherever the plan is used.

use super::scan::{Part, Scanned, Step, take_until};
use super::{Mirror, attribute, unplaced};
use crate::parse::tokens::Tokens;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::ext::IdentExt;

impl Mirror {
    /// Each use of a step or an input as that of a field.
    pub(super) fn echo(&self, plan: &Scanned) -> TokenStream {
        let editor = &self.editor;
        let steps: Vec<(TokenStream, &Step)> = steps(&plan.parts)
            .into_iter()
            .map(|(attributes, step)| {
                let docs = attributes.iter().filter(|attribute| {
                    let first = attribute.to_token_stream().into_iter().next();
                    matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
                });
                let docs = unplaced(quote!(#(#[#docs])*));
                let (name, ty) = (&step.name, unplaced(self.type_of_step(step, &attributes)));
                (quote!(#docs #name: #ty,), step)
            })
            .collect();
        let names: BTreeSet<String> = steps.iter().map(|(_, step)| text(&step.name)).collect();
        let mut uses = Uses {
            mirror: self,
            found: Vec::new(),
        };
        for part in &plan.parts {
            match part {
                Part::Attribute(tokens) | Part::Other(tokens) => uses.look_in(tokens),
                Part::Step(step) => uses.look_in(&step.value),
            }
        }
        let uses = uses.found.into_iter().map(|name| {
            if names.contains(&text(&name)) {
                quote!(steps.#name;)
            } else {
                quote!(inputs.#name;)
            }
        });
        let inputs = plan.head.as_ref().and_then(|head| head.name.as_ref());
        let inputs = inputs.map(|name| {
            // Only a name: this is no other place in which the author wrote it.
            let name = Ident::new(
                &name.to_string(),
                proc_macro2::Span::mixed_site().resolved_at(name.span()),
            );
            quote!(let inputs: #name = #editor::any();)
        });
        let fields = steps.iter().map(|(field, _)| field);
        quote! {
            #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                struct Steps { #(#fields)* }
                let steps: Steps = #editor::any();
                #inputs
                #(#uses)*
            };
        }
    }

    /// What is referred to before it is declared, as items, which are in scope wherever they stand.
    pub(super) fn ahead(&self, plan: &Scanned) -> TokenStream {
        let editor = &self.editor;
        let mut seen = BTreeSet::new();
        let mut ahead = BTreeSet::new();
        for part in &plan.parts {
            let mut uses = Uses {
                mirror: self,
                found: Vec::new(),
            };
            match part {
                Part::Attribute(tokens) | Part::Other(tokens) => uses.look_in(tokens),
                Part::Step(step) => uses.look_in(&step.value),
            }
            let names = uses.found.iter().map(text);
            ahead.extend(names.filter(|name| !seen.contains(name)));
            if let Part::Step(step) = part {
                seen.insert(text(&step.name));
            }
        }
        let steps = steps(&plan.parts).into_iter();
        let statics = steps.filter(|(_, step)| ahead.contains(&text(&step.name)));
        let statics = statics.map(|(attributes, step)| {
            let (name, ty) = (&step.name, unplaced(self.type_of_step(step, &attributes)));
            quote!(static #name: #ty = #editor::any();)
        });
        statics.collect()
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

fn text(name: &Ident) -> String {
    name.unraw().to_string()
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
