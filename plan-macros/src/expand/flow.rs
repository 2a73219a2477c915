//! What a step does, as data: the call of a tool, and `if` and `for` around it.

use super::binding::Frame;
use super::literal::Fielded;
use super::reference::path;
use super::value::{Builder, Expanded, ends, it};
use super::{slice, step, text};
use crate::ast::{Body, Bound, Branch, Computed, Condition, For, List, Literal, Step};
use crate::parse::pattern_text;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

impl Builder<'_> {
    /// Expands what a step does, as data.
    pub(super) fn body(&mut self, body: &Body, step: &Step, leaves: &mut Leaves) -> TokenStream {
        match body {
            Body::Call(literal) => self.call(literal, leaves),
            Body::Compute(value) => {
                let Expanded { check, data } = self.value(value);
                let ty = &step.ty;
                let at = step::place(step);
                self.bindings
                    .extend(quote_spanned!(at=> let _ = || -> #ty { #check };));
                leaves.action(&quote!(::core::option::Option::None), &data)
            }
            Body::If(branches) => {
                let branches: Vec<TokenStream> = branches
                    .iter()
                    .map(|branch| self.branch(branch, step, leaves))
                    .collect();
                let branches = slice(&branches);
                quote!(__plan::Body::If(#branches))
            }
            Body::For(repeat) => self.repeat(repeat, step, leaves),
            Body::Broken(_) => leaves.action(
                &quote!(::core::option::Option::None),
                &quote!(__plan::Template::Null),
            ),
        }
    }

    fn call(&mut self, literal: &Literal, leaves: &mut Leaves) -> TokenStream {
        let (tool, arguments) = leaves.tool(&literal.path);
        let at = tool.span();
        let names = self.fresh_at("n", at);
        // The names of the arguments are bound first: what is behind them asks for them.
        let bind = quote_spanned!(at=> let #names = __plan::arguments::<#tool>(););
        self.bindings.extend(bind.clone());
        let Fielded {
            check,
            data,
            checks,
        } = self.fields(literal, &quote!(#arguments), &names);
        self.bindings.extend(quote!(let _ = || #check;));
        if !checks.is_empty() {
            self.apart.extend(quote!(const _: () = { #bind #checks };));
        }
        let info = quote_spanned!(at=> <#tool as __plan::Called>::TOOL);
        leaves.action(&info, &data)
    }

    fn branch(&mut self, branch: &Branch, step: &Step, leaves: &mut Leaves) -> TokenStream {
        let (condition, framed) = match &branch.condition {
            Condition::Always => (quote!(__plan::Condition::Always), false),
            Condition::Holds(value) => {
                let Expanded { check, data } = self.value(value);
                self.bindings
                    .extend(quote!(let _ = || -> ::core::primitive::bool { #check };));
                (quote!(__plan::Condition::Holds(#data)), false)
            }
            Condition::Binds(computed, Bound { names, parts }) => {
                let expr = &computed.expr;
                let header = quote!(if #expr);
                let data = match parts {
                    Some((pattern, value)) => {
                        let written = Computed {
                            written: value.clone(),
                            ..computed.clone()
                        };
                        let data = self.bind(&written, &header, names, false);
                        let pattern = text(&pattern_text(pattern));
                        quote!(__plan::Condition::Binds { pattern: #pattern, value: #data })
                    }
                    None => {
                        let data = self.bind(computed, &header, names, false);
                        quote!(__plan::Condition::Chain(#data))
                    }
                };
                (data, true)
            }
        };
        let body = self.body(&branch.body, step, leaves);
        if framed {
            self.leave();
        }
        quote!(__plan::Branch { condition: #condition, body: #body })
    }

    fn repeat(&mut self, repeat: &For, step: &Step, leaves: &mut Leaves) -> TokenStream {
        let list = match &repeat.list {
            List::Reference(reference, name) => {
                let (way, data) = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let items = path(&["Items", "items"], start, end);
                let listed = path(&["Listed", "listed"], start, end);
                let it = it(&way, end);
                let place = self.fresh_at("f", name.span());
                self.bindings.extend(quote_spanned! {end=>
                    let #place = __plan::element(&|| #items(#listed(#it)));
                });
                self.bindings
                    .extend(quote!(#[allow(unused_variables)] let #name = #place;));
                self.frames.push(Frame {
                    place,
                    names: vec![name.clone()],
                    together: false,
                });
                data
            }
            List::Computed(computed, bound) => {
                let (pat, expr) = (&repeat.pat, &computed.expr);
                self.bind(computed, &quote!(for #pat in #expr), bound, true)
            }
            // Nothing in the braces refers to what it binds.
            List::Broken => quote!(__plan::Template::Null),
        };
        let body = self.body(&repeat.body, step, leaves);
        if !matches!(repeat.list, List::Broken) {
            self.leave();
        }
        let pattern = text(&pattern_text(&repeat.pat));
        quote! {
            __plan::Body::For(__plan::Cow::Borrowed(&[__plan::For { pattern: #pattern, list: #list, body: #body }]))
        }
    }
}

/// The actions of a plan, numbered as they are met.
pub(super) struct Leaves {
    step: usize,
    tools: usize,
    site: usize,
}

impl Leaves {
    /// Those of a step, of which the first has this number.
    pub(super) fn new(step: usize, site: usize) -> Self {
        Self {
            step,
            tools: 0,
            site,
        }
    }

    /// The names of the next tool, as [`tool`] and [`arguments`] make them.
    fn tool(&mut self, path: &syn::Path) -> (Ident, Ident) {
        self.tools += 1;
        let index = self.tools - 1;
        (
            tool(self.step, index, path),
            arguments(self.step, index, path),
        )
    }

    fn action(&mut self, tool: &TokenStream, args: &TokenStream) -> TokenStream {
        let site = self.site;
        self.site += 1;
        quote!(__plan::Body::Action(__plan::Action { site: #site, tool: #tool, args: #args }))
    }
}

/// The name of the type of a step's tool.
pub(super) fn tool(step: usize, index: usize, path: &syn::Path) -> Ident {
    Ident::new(&format!("__PlanTool{step}_{index}"), ends(path).0)
}

/// The name of the type of a tool's arguments as a literal, which the author's path is written for once: rustc has other words
/// for a path that leads nowhere in a literal than in a type.
pub(super) fn arguments(step: usize, index: usize, path: &syn::Path) -> Ident {
    Ident::new(&format!("__PlanArguments{step}_{index}"), ends(path).0)
}

/// An action of a step: the tool's path, `None` if it computes a value, or could not be read.
pub(super) fn actions(body: &Body) -> Vec<Option<&syn::Path>> {
    match body {
        Body::Call(literal) => vec![Some(&literal.path)],
        Body::Compute(_) | Body::Broken(_) => vec![None],
        Body::If(branches) => branches
            .iter()
            .flat_map(|branch| actions(&branch.body))
            .collect(),
        Body::For(repeat) => actions(&repeat.body),
    }
}
