//! The expansion of a plan for editors: the author's tokens as plain Rust, in source order, over locals with the types
//! of the plan. rustc compiles another expansion.
//!
//! rust-analyzer computes completions by two expansions, with and without a marker at the cursor, and compares them at
//! the offset of the marker. The output before a token must therefore not depend on that token: no decision depends
//! on tokens after the one that is written.
//!
//! `syntax/` splits a plan for this expansion and for the compiler's. Each part keeps its extra tokens, and the
//! expansion emits all tokens in source order. `fit.rs` checks types apart from the expansion, in which `__plan_arg`
//! converts any type to any other. `hover.rs` writes each use a second time, as a documented field, because a local has
//! no documentation.

mod attribute;
mod fit;
mod flow;
mod hover;
#[cfg(test)]
mod tests;
mod uses;
mod value;

pub(crate) use hover::arguments;

use crate::docs::text_of;
use crate::report::Report;
use crate::syntax::tokens::{is_word, only, placed};
use crate::syntax::{FlowTokens, HeadTokens, PlanTokens, Statement, StatementKind, StepTokens};
use crate::{host, parse};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::mem::take;
use uses::NameUses;

/// The documentation of the IDE expansion, which an editor shows.
const NOTE: &str = "An editor sees this of the plan. rustc compiles another expansion.";

/// The builder of the IDE expansion of a plan.
struct IdeExpansion {
    /// The runtime crate.
    krate: TokenStream,
    /// The path of the runtime's items that only the expansion names.
    editor: TokenStream,
    /// The names of steps.
    steps: BTreeSet<String>,
    /// The names of steps and inputs.
    known: BTreeSet<String>,
    /// The names bound by patterns in the plan, and the names of steps in blocks.
    bound: BTreeSet<String>,
    /// The names of steps that are referred to before they are declared.
    ahead: BTreeSet<String>,
    /// Checks that references fit their arguments, each as a separate body: an editor's time grows with the square of a
    /// body's length.
    checks: RefCell<Vec<TokenStream>>,
}

/// Returns the expansion of an empty plan or of a single partial word, which may become items or an expression. In a
/// list of items, a block is an error and editors expand no macro inside it, so the editor uses the items. Elsewhere
/// the editor uses the block.
pub(crate) fn begun(plan: &PlanTokens) -> Option<impl Fn(&TokenStream) -> TokenStream + use<>> {
    let word = match (&plan.head, plan.statements.as_slice()) {
        (None, []) => None,
        (None, [only]) if only.attrs.is_empty() => match &only.kind {
            StatementKind::Other(tokens) => Some(syn::parse2::<Ident>(tokens.clone()).ok()?),
            StatementKind::Step(_) => return None,
        },
        _ => return None,
    };
    let editor = editor(plan);
    let step = quote!(use #editor::keyword::step;);
    let block = quote!({ #step #editor::format!("", #word) });
    let items = quote!(#editor::items! { mod begun { #step #word } });
    Some(move |errors: &TokenStream| quote!(#block & #items & #editor::items! { #errors }))
}

/// Returns the path of the runtime's items that the expansion names.
fn editor(plan: &PlanTokens) -> TokenStream {
    let krate = krate(plan);
    quote!(#krate::check::editor)
}

/// Returns the path of the runtime crate.
fn krate(plan: &PlanTokens) -> TokenStream {
    let named = parse::krate(&plan.inner, &mut Report::default());
    named.unwrap_or_else(host::runtime).into_token_stream()
}

/// Expands a plan for an editor: to items in the item form, and to a value in the expression form.
pub(crate) fn expand(plan: &PlanTokens) -> TokenStream {
    let inputs = plan.head.iter().flat_map(HeadTokens::names);
    let steps = plan.statements.iter().filter_map(Statement::name);
    let mut expansion = IdeExpansion {
        steps: steps.clone().map(text_of).collect(),
        known: inputs.chain(steps).map(text_of).collect(),
        bound: bound_in(plan),
        ahead: BTreeSet::new(),
        checks: RefCell::default(),
        editor: editor(plan),
        krate: krate(plan),
    };
    expansion.ahead = expansion.names_ahead(plan);
    expansion.plan(plan)
}

impl IdeExpansion {
    fn plan(&self, plan: &PlanTokens) -> TokenStream {
        let editor = &self.editor;
        let (body, tail) = self.statements(&plan.statements);
        let tail = match &plan.head {
            Some(_) => self.typed(tail),
            None => self.value(tail),
        };
        let tail = self.gap(&tail);
        let (ahead, echo) = (self.items_ahead(plan), self.echo(plan));
        let Some(head) = &plan.head else {
            let inline = inline(plan, editor, &self.krate);
            return quote!({ #[doc = #NOTE] let __plan = InlinePlan::of(|| { use #editor::{Argument as _, Owned as _}; #body #ahead #tail }); #echo #inline __plan });
        };
        let inputs = head.inputs.iter().flatten().map(|input| {
            let (name, ty, extra) = (&input.name, &input.ty, &input.extra);
            quote!(let #name #ty; let (#extra);)
        });
        let extra = &head.extra;
        let tail = match &head.output {
            // Not `let _: #ty =`: half a type and `=` would be one operator.
            Some((_, ty)) => quote!(let _ = || -> #ty #tail;),
            None => quote!(let _ = #tail;),
        };
        quote! {
            #[doc = #NOTE]
            #[allow(warnings, non_upper_case_globals, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                use #editor::{Argument as _, Owned as _};
                #(#inputs)*
                let _: (#extra);
                #body
                #tail
                #ahead
            };
            #echo
        }
    }

    /// Returns the statements before the last expression, and the tokens of that expression. The tokens between two
    /// statements may be half typed.
    fn statements(&self, source: &[Statement]) -> (TokenStream, TokenStream) {
        let mut statements = TokenStream::new();
        // The tokens at the start of a statement, and the tokens that may be the last expression.
        let (mut begun, mut last) = (TokenStream::new(), TokenStream::new());
        for statement in source {
            if !last.is_empty() {
                let last = self.value(take(&mut last));
                begun.extend(quote!(#last;));
            }
            let attributes = statement.attributes();
            for attribute in attributes.filter(|attribute| !attribute::is_doc(attribute)) {
                let gap = self.gap(&take(&mut begun));
                let attribute = self.attribute(attribute);
                statements.extend(quote!(#gap; #attribute));
            }
            last = match &statement.kind {
                StatementKind::Other(tokens) => tokens.clone(),
                // A keyword alone may become anything.
                StatementKind::Step(step) if step.is_keyword() => {
                    let (keyword, extra) = (&step.keyword, &step.extra);
                    quote!(#keyword #extra)
                }
                StatementKind::Step(step) => {
                    let is_name = |word: &&Ident| *word == "let" || self.known.contains("step");
                    let keyword = step.keyword.as_ref().filter(|word| !is_name(word));
                    begun.extend(keyword.map(ToTokens::to_token_stream));
                    let gap = self.gap(&take(&mut begun));
                    let value = &self.seen(step, &attribute::step(statement).role, source);
                    let step_itself = self.step(step, value, attribute::policy(statement));
                    statements.extend(quote!(#gap; #step_itself));
                    step.extra.clone()
                }
            };
        }
        if !begun.is_empty() {
            let gap = self.gap(&begun);
            statements.extend(quote!(#gap;));
        }
        (statements, last)
    }

    /// Returns a block in which a statement may begin, with the tokens there.
    fn gap(&self, tokens: &TokenStream) -> TokenStream {
        let editor = &self.editor;
        if self.known.contains("step") {
            quote!({ #tokens })
        } else {
            quote!({ use #editor::keyword::step; #tokens })
        }
    }

    fn step(
        &self,
        step: &StepTokens,
        value: &TokenStream,
        policy: attribute::IdePolicy,
    ) -> TokenStream {
        let editor = &self.editor;
        // A name that is used before its declaration is an item.
        let name = match &step.name {
            Some(name) if !self.ahead.contains(&text_of(name)) => quote!(#name),
            _ => quote!(_),
        };
        match &step.ty {
            Some((_, ty)) => {
                let is_await = only(value).is_some_and(|word| is_word(&word, "await"));
                let value = match policy.whole {
                    _ if is_await => quote!(#editor::any()),
                    attribute::Wrap::Nothing => self.typed(value.clone()),
                    _ => self.argument(value.clone()),
                };
                let ty = policy.whole.ty(editor, ty.clone());
                quote!(let #name: #ty = #value;)
            }
            None => {
                let body = match FlowTokens::new(value.clone()) {
                    FlowTokens::Loop(repeat) => {
                        let rounds = self.rounds(&repeat, step.name.as_ref(), policy);
                        policy.whole.value(&self.editor, rounds)
                    }
                    _ => self.body(value.clone(), policy),
                };
                quote!(let #name = #body;)
            }
        }
    }
}

/// Returns the type of an inline plan, with its methods. The type is an enum, because completion would offer the field
/// of a struct.
fn inline(plan: &PlanTokens, editor: &TokenStream, krate: &TokenStream) -> TokenStream {
    let steps = plan.statements.iter().filter_map(Statement::step);
    let first = steps.filter_map(|step| step.keyword.as_ref()).next();
    // An editor leads from them to the plan, but not back, and refuses to rename them.
    let at = first.map_or_else(Span::call_site, |first| before(first.span()));
    let at = Span::call_site().located_at(at);
    let (as_data, run) = (Ident::new("plan", at), Ident::new("run", at));
    quote! {
        /// A plan that is an expression.
        enum InlinePlan<Output> { Plan(fn() -> Output) }
        impl<Output> InlinePlan<Output> {
            fn of(_: impl ::core::ops::FnOnce() -> Output) -> Self { #editor::any() }
            /// Returns the plan as data.
            pub fn #as_data(&self) -> &'static #krate::Plan { #editor::any() }
            /// Runs the plan on an application that has its tools.
            pub fn #run<'a, A: ?Sized>(&self, app: &'a A) -> #krate::Run<'a, A, Output> { #editor::any() }
        }
        impl<Output> ::core::clone::Clone for InlinePlan<Output> { fn clone(&self) -> Self { #editor::any() } }
        impl<Output> ::core::marker::Copy for InlinePlan<Output> {}
        impl<Output> ::core::fmt::Debug for InlinePlan<Output> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #editor::any() }
        }
        impl<Output> ::core::fmt::Display for InlinePlan<Output> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { #editor::any() }
        }
    }
}

/// Returns the names bound by patterns in the steps, and the names of steps in blocks.
fn bound_in(plan: &PlanTokens) -> BTreeSet<String> {
    let none = BTreeSet::new();
    let mut uses = NameUses::of(&none);
    let mut bound = BTreeSet::new();
    for step in plan.statements.iter().filter_map(Statement::step) {
        uses.look_in(step.value.clone());
        flow::names_in_blocks(&step.value, &mut bound);
    }
    bound.append(&mut uses.bound);
    bound
}

/// Moves tokens to the span of the macro, so that an editor finds no second occurrence in the author's source.
pub(crate) fn unplaced(tokens: TokenStream) -> TokenStream {
    placed(tokens, Span::mixed_site())
}

/// Returns the position before a token. An editor shows nothing for a position without a token.
pub(crate) fn before(token: Span) -> Span {
    if proc_macro::is_available() {
        token.unwrap().start().into()
    } else {
        token
    }
}
