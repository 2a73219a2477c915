//! What a step does: the call of a tool, `if` and `for` around it, and what happens when it fails.

use super::literal::Fielded;
use super::reference::path;
use super::value::{Builder, Expanded, ends, it};
use super::{local, slice, step, text};
use crate::ast::{Body, Branch, Computed, Condition, For, List, Literal, Step};
use crate::parse::{pattern_text, tidy};
use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

/// What `for` or `if let` binds while what is inside it is expanded.
pub(super) struct Frame {
    /// The binding of its place.
    pub(super) place: Ident,
    /// The names that are bound.
    pub(super) names: Vec<Ident>,
    /// Whether they are bound together, each to a part; if not, the one name is bound to the whole.
    pub(super) together: bool,
}

impl Frame {
    /// An expression for the place of a name, if it is bound here.
    fn place_of(&self, name: &Ident) -> Option<TokenStream> {
        let part = self.names.iter().rposition(|bound| bound == name)?;
        let place = &self.place;
        Some(if self.together {
            part_of(place, part, self.names.len())
        } else {
            quote!(#place)
        })
    }
}

/// One of `count` names that are bound together.
fn part_of(place: &Ident, part: usize, count: usize) -> TokenStream {
    let holes = (0..count).map(|other| {
        if other == part {
            quote!(__x)
        } else {
            quote!(_)
        }
    });
    quote!(__plan::part(#place, |(#(#holes,)*)| __x))
}

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
            Condition::Binds(computed, bound) => {
                let expr = &computed.expr;
                let (pattern, value) = pattern_and_value(&computed.written);
                let written = Computed {
                    written: value,
                    ..computed.clone()
                };
                let data = self.bind(&written, &quote!(if #expr), bound, false);
                let pattern = text(&pattern);
                (
                    quote!(__plan::Condition::Binds { pattern: #pattern, value: #data }),
                    true,
                )
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

    /// Leaves the innermost frame: a name that it bound has the meaning again that it had before.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for name in frame.names {
            let outer = self
                .frames
                .iter()
                .rev()
                .find_map(|outer| outer.place_of(&name));
            let place = match (outer, self.cx.names.get(&name)) {
                (Some(place), _) => place,
                (None, Some(source)) => {
                    self.rebound.insert(source);
                    let ty = self.cx.type_of(source);
                    quote!(__plan::root::<#ty>())
                }
                (None, None) => continue,
            };
            self.bindings
                .extend(quote!(#[allow(unused_variables)] let #name = #place;));
        }
    }

    /// Expands `for … in …` or `if let …`, of which only the header is Rust's, into a value that holds what is bound, and binds
    /// the names. The header stands twice: where the types of the names are taken from, and where it is evaluated.
    fn bind(
        &mut self,
        computed: &Computed,
        header: &TokenStream,
        bound: &[Ident],
        many: bool,
    ) -> TokenStream {
        let place = self.fresh("f");
        let sources = self.sources(computed);
        let values = sources.iter().map(|(source, name)| {
            let ty = self.cx.type_of(*source);
            quote!(let #name: &#ty = __plan::any();)
        });
        let outer = computed
            .locals
            .iter()
            .map(|(name, _)| quote!(let #name = __plan::at_place(#name);));
        self.bindings.extend(quote! {
            #[allow(clippy::never_loop, unused_variables)]
            let #place = __plan::bound(&|| {
                #(#values)*
                #(#outer)*
                #header {
                    return ::core::option::Option::Some((#(__plan::own(&#bound).owned(),)*));
                }
                ::core::option::Option::None
            });
        });
        let binding = {
            let collect = quote!(__plan::encode(&(#(&#bound,)*)));
            let (scope, all) = (local("scope", 0), local("all", 0));
            let (look, locals, refs, values) = self.reads(computed, &sources, &scope);
            let evaluate = if many {
                quote! {
                    let mut #all = __plan::Vec::new();
                    #header { #all.push(#collect?); }
                    ::core::result::Result::Ok(__plan::serde_json::Value::Array(#all))
                }
            } else {
                quote! {
                    #header { return #collect; }
                    ::core::result::Result::Ok(__plan::serde_json::Value::Null)
                }
            };
            quote!(__plan::binding(#locals, #look, |#scope, #refs| { let _ = #scope; #values #evaluate }))
        };
        let parts = bound.iter().enumerate().map(|(part, name)| {
            let place = part_of(&place, part, bound.len());
            quote!(#[allow(unused_variables)] let #name = #place;)
        });
        self.bindings.extend(quote!(#(#parts)*));
        let data = self.computed_data(computed, &sources, &binding);
        self.frames.push(Frame {
            place,
            names: bound.to_vec(),
            together: true,
        });
        data
    }
}

/// What stands between `let` and `=` in a condition, and what stands behind. Of a chain that does not begin with `let`, what
/// stands before the first `=` is the pattern.
fn pattern_and_value(condition: &TokenStream) -> (String, TokenStream) {
    let is_let = |tree: &TokenTree| matches!(tree, TokenTree::Ident(ident) if ident == "let");
    let mut rest = condition.clone().into_iter().peekable();
    let mut pattern = TokenStream::new();
    let starts = rest.next_if(is_let).is_some();
    let mut bound = starts;
    let mut joint = false;
    while let Some(tree) = rest.next() {
        bound |= is_let(&tree);
        if let TokenTree::Punct(punct) = &tree {
            let follows = matches!(rest.peek(), Some(TokenTree::Punct(next)) if punct.spacing() == Spacing::Joint && matches!(next.as_char(), '=' | '>'));
            if bound && punct.as_char() == '=' && !joint && !follows {
                break;
            }
            joint = punct.spacing() == Spacing::Joint;
        } else {
            joint = false;
        }
        pattern.extend([tree]);
    }
    let pattern = if starts {
        tidy(&pattern)
    } else {
        pattern.to_string()
    };
    (pattern, rest.collect())
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

/// The types of what a step's bodies give. They are said by the aliases of the step's tools: an author's path stands for them once,
/// so that rustc has one thing to say of it.
pub(super) struct Types {
    step: usize,
    tools: usize,
    each: bool,
    /// Checks that all branches give the same.
    pub(super) checks: TokenStream,
}

impl Types {
    /// Those of a step, of which each element may be optional.
    pub(super) fn new(step: usize, each: bool) -> Self {
        Self {
            step,
            tools: 0,
            each,
            checks: TokenStream::new(),
        }
    }

    /// The type of what a body gives.
    pub(super) fn of(&mut self, body: &Body) -> Option<TokenStream> {
        match body {
            Body::Call(Literal { path, .. }) => {
                let tool = tool(self.step, self.tools, path);
                self.tools += 1;
                let at = tool.span();
                Some(quote_spanned!(at=> <#tool as __plan::IsTool>::Output))
            }
            Body::Broken(Some(path)) => {
                let at = ends(path).0;
                Some(quote_spanned!(at=> <#path as __plan::IsTool>::Output))
            }
            Body::Compute(_) | Body::Broken(None) => None,
            Body::If(branches) => {
                let types: Vec<_> = branches
                    .iter()
                    .map(|branch| (self.of(&branch.body), place(&branch.body)))
                    .collect();
                let mut types = types.into_iter();
                let first = types.next()?.0?;
                for (ty, at) in types {
                    let Some(ty) = ty else { continue };
                    let (first, ty) = (at_one_place(first.clone(), at), at_one_place(ty, at));
                    self.checks.extend(
                        quote_spanned!(at=> let _ = <#ty as __plan::Joins<#first>>::joins;),
                    );
                }
                let exhaustive = branches
                    .iter()
                    .any(|branch| matches!(branch.condition, Condition::Always));
                // An `Option` already: null stands for either reason.
                let nested = branches
                    .first()
                    .is_some_and(|branch| may_be_absent(&branch.body));
                Some(if exhaustive || nested {
                    first
                } else {
                    quote!(::core::option::Option<#first>)
                })
            }
            Body::For(repeat) => {
                let innermost = !matches!(repeat.body, Body::For(_));
                let element = self.of(&repeat.body)?;
                let element = if self.each && innermost && !may_be_absent(&repeat.body) {
                    quote!(::core::option::Option<#element>)
                } else {
                    element
                };
                Some(quote!(__plan::Vec<#element>))
            }
        }
    }
}

/// The tokens, all at one place.
fn at_one_place(tokens: TokenStream, at: Span) -> TokenStream {
    let trees = tokens.into_iter().map(|mut tree| {
        tree.set_span(at);
        tree
    });
    trees.collect()
}

/// Whether the type of what a body gives is an `Option` because no branch may be taken. What else would make it one leaves it as
/// it is: null stands for either.
pub(super) fn may_be_absent(body: &Body) -> bool {
    let Body::If(branches) = body else {
        return false;
    };
    !matches!(branches.last(), Some(last) if matches!(last.condition, Condition::Always))
        || branches.first().is_some_and(|it| may_be_absent(&it.body))
}

/// Where a body says what it gives.
pub(super) fn place(body: &Body) -> Span {
    match body {
        Body::Call(Literal { path, .. }) | Body::Broken(Some(path)) => ends(path).0,
        Body::If(branches) => branches
            .first()
            .map_or_else(Span::call_site, |branch| place(&branch.body)),
        Body::For(repeat) => place(&repeat.body),
        Body::Compute(_) | Body::Broken(None) => Span::call_site(),
    }
}
