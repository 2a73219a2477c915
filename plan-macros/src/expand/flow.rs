//! What a step does, as data: the call of a tool, and `if` and `for` around it.

use super::binding::{Binds, LocalFrame};
use super::literal::Fielded;
use super::reference::path;
use super::value::{Builder, ends, it};
use super::{Context, step, types};
use crate::ast::{Body, Branch, Condition, Fields, For, List, Literal, Scalar, Step, Value};
use crate::parse::{self, binds_one, pattern_text, tidy};
use crate::shape::secret;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Lit;

impl Builder<'_> {
    /// Writes what a step does as data, and checks it.
    pub(super) fn body(&mut self, body: &Body, step: &Step, tools: &mut Tools) {
        match body {
            Body::Call(literal) => self.call(literal, step, tools),
            Body::Compute(value) => {
                let ty = step::declared(step, self.cx);
                let at = step::place(step);
                self.data.tag('V');
                self.value_of(value, &ty.to_token_stream(), at);
            }
            Body::If(branches) => {
                self.data.tag('I').number(branches.len());
                let ty = types::of_branches(step, tools.count, branches);
                for branch in branches {
                    self.branch(branch, ty.as_ref(), step, tools);
                }
            }
            Body::For(repeat) => self.repeat(repeat, step, tools),
            Body::Block(block) => self.block(block, None),
            Body::Await(at) => self.wait(step, *at),
            Body::Loop(repeat) => self.looped(repeat),
            Body::Broken(_) => {
                self.data.tag('V').tag('n');
            }
        }
    }

    /// A value whose type is declared at this place.
    pub(super) fn value_of(&mut self, value: &Value, ty: &TokenStream, at: Span) {
        let check = self.value(value);
        self.bindings
            .extend(quote_spanned!(at=> let _ = || -> #ty { #check };));
    }

    /// A value from outside, which has to be of the step's type.
    fn wait(&mut self, step: &Step, at: Span) {
        let Some(written) = &step.ty else {
            self.data.tag('V').tag('n');
            return;
        };
        self.data.tag('W').text(&tidy(&written.to_token_stream()));
        let ty = step::declared(step, self.cx);
        let receive = quote_spanned!(at=> __plan::received::<#ty>);
        let constant = self.constant(quote!(__plan::Constant::Receive(#receive)));
        self.data.number(constant);
    }

    fn call(&mut self, literal: &Literal, step: &Step, tools: &mut Tools) {
        let (tool, arguments, same) = tools.next(&literal.path, self.cx);
        let at = tool.span();
        let tool = match &step.body {
            Body::Call(_) => quote_spanned!(at=> <#arguments as __plan::IsTool>::Itself),
            _ => tool.into_token_stream(),
        };
        let number = self.shared_constant(&same, || {
            let inside = secret::of_tool(&tool.to_token_stream(), at, &quote!(__plan));
            quote_spanned!(at=> <#tool as __plan::Called>::TOOL.seen(#inside))
        });
        self.data.tag('T').number(number);
        let names = self.fresh_at("n", at);
        let Fielded {
            check,
            names: checked,
            checks,
        } = self.fields(literal, &quote!(#arguments), &names, number, Some(&same));
        let bind = quote_spanned!(at=> let #names = __plan::arguments::<#tool>(););
        self.bindings.check(check);
        if !checked.is_empty() {
            self.constants.check(quote!(#bind #checked));
        }
        if let Some((at, message)) = wrong_time(&literal.fields) {
            self.apart.extend(quote_spanned! {at=>
                const _: () = {
                    #[diagnostic::on_unimplemented(message = #message, label = "expected a duration")]
                    trait Time {
                        const CHECKED: () = ();
                    }
                    #[diagnostic::do_not_recommend]
                    impl Time for __plan::Waits<false> {}
                    <__plan::Waits<{ <#tool as __plan::Tool>::WAITS }> as Time>::CHECKED
                };
            });
        }
        if !checks.is_empty() {
            self.apart.extend(quote!(const _: () = { #bind #checks };));
        }
    }

    fn branch(
        &mut self,
        branch: &Branch,
        ty: Option<&(TokenStream, Span)>,
        step: &Step,
        tools: &mut Tools,
    ) {
        self.data.number(branch.conditions.len());
        let around = self.frames.len();
        // Between others, a pattern that always matches names a value, which rustc has no objections to.
        let allow =
            (branch.conditions.len() > 1).then(|| quote!(#[allow(irrefutable_let_patterns)]));
        for condition in &branch.conditions {
            match condition {
                Condition::Holds(value) => {
                    self.data.tag('h');
                    let check = self.arriving("Holds", |builder| builder.value(value));
                    self.bindings
                        .extend(quote!(let _ = || -> ::core::primitive::bool { #check };));
                }
                Condition::Let(pattern, computed, names) => {
                    self.data.tag('b').text(&pattern_text(pattern));
                    let header = |expr: &TokenStream| quote!(#allow if #expr);
                    let kind = if binds_one(pattern) {
                        Binds::One
                    } else {
                        Binds::Together
                    };
                    self.bind(computed, header, names, kind);
                }
                // Nothing refers to what it would bind.
                Condition::Broken(_) => {
                    self.data.tag('h').tag('n');
                }
            }
        }
        match (&branch.body, ty) {
            (Body::Compute(value), Some((ty, at))) => {
                self.data.tag('V');
                self.value_of(value, ty, *at);
            }
            (Body::Block(block), ty) => self.block(block, ty),
            (body, _) => self.body(body, step, tools),
        }
        while self.frames.len() > around {
            self.leave();
        }
    }

    fn repeat(&mut self, repeat: &For, step: &Step, tools: &mut Tools) {
        self.data.tag('F').text(&pattern_text(&repeat.pat));
        match &repeat.list {
            List::Reference(reference, name) => {
                let way = self.reference(reference);
                let (start, end) = (reference.root.span(), reference.end);
                let items = path(&["HasItems", "items"], start, end);
                let listed = path(&["Iterated", "listed"], start, end);
                let it = it(way, end);
                let place = self.fresh_at("f", name.span());
                self.bindings.extend(quote_spanned! {end=>
                    let #place = __plan::element(&|| #items(#listed(#it)));
                });
                self.bindings
                    .extend(quote!(#[allow(unused_variables)] let #name = #place;));
                self.frames.push(LocalFrame {
                    place,
                    names: vec![name.clone()],
                    together: false,
                });
            }
            List::Computed(computed, bound) => {
                let pat = &repeat.pat;
                let header = |expr: &TokenStream| quote!(for #pat in #expr);
                self.bind(computed, header, bound, Binds::Each);
            }
            // Nothing in the braces refers to what it binds.
            List::Broken => {
                self.data.tag('n');
            }
        }
        self.body(&repeat.body, step, tools);
        if !matches!(repeat.list, List::Broken) {
            self.leave();
        }
    }
}

/// Finds a literal `time` that is no duration, for the tool `Sleep`.
fn wrong_time(fields: &Fields) -> Option<(Span, String)> {
    let Fields::Named(_, fields, _) = fields else {
        return None;
    };
    let time = fields.iter().find(|field| field.name == "time")?;
    let Value::Scalar(Scalar {
        lit: Lit::Str(text),
        ..
    }) = &time.value
    else {
        return None;
    };
    let error = parse::duration_in(text).err()?;
    // A text with a name in braces has its own warning.
    (!text.value().contains(['{', '}'])).then(|| (text.span(), error.to_string()))
}

/// The tools of a step, numbered as they are met.
pub(super) struct Tools {
    step: usize,
    count: usize,
}

impl Tools {
    pub(super) fn of(step: usize) -> Self {
        Self { step, count: 0 }
    }

    /// The names of the next tool, as [`tool`] and [`arguments`] make them, and what says that another step has the same.
    fn next(&mut self, path: &syn::Path, cx: &Context<'_>) -> (Ident, Ident, String) {
        let index = self.count;
        self.count += 1;
        (
            tool(self.step, index, path),
            arguments(self.step, index, path),
            format!("tool {}", cx.tools[self.step][index]),
        )
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

/// The actions of a step, without those of the steps in its blocks: the tool's path, `None` if it computes a value, or could not be read.
pub(super) fn actions(body: &Body) -> Vec<Option<&syn::Path>> {
    match body {
        Body::Call(literal) => vec![Some(&literal.path)],
        Body::Compute(_) | Body::Broken(_) => vec![None],
        Body::Await(_) => Vec::new(),
        Body::If(branches) => branches
            .iter()
            .flat_map(|branch| actions(&branch.body))
            .collect(),
        Body::For(repeat) => actions(&repeat.body),
        Body::Block(_) | Body::Loop(_) => Vec::new(),
    }
}
