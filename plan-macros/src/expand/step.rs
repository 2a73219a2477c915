use super::value::{Builder, Fielded, ends};
use super::{Context, slice, text};
use crate::ast::{Body, Literal, Step};
use crate::names::Source;
use crate::parse::path_text;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The name of the `const` that holds a step. Messages of rustc mention it.
pub(super) fn name(index: usize, cx: &Context<'_>) -> Ident {
    let step = &cx.plan.steps[index].name;
    let span = step.span();
    if cx.names.get(step) == Some(Source::Step(index)) {
        format_ident!("__step_{}", step.unraw(), span = span)
    } else {
        format_ident!("__step_{index}", span = span)
    }
}

/// Where a step says its type.
pub(super) fn place(step: &Step) -> Span {
    match (&step.body, &step.ty) {
        (_, Some(ty)) => ty.span(),
        (Body::Call(Literal { path, .. }) | Body::Broken(Some(path)), None) => ends(path).0,
        _ => step.name.span(),
    }
}

/// The type aliases of a step: what it gives, and its tool.
pub(super) fn types(index: usize, step: &Step, cx: &Context<'_>) -> TokenStream {
    let output = cx.type_of(Source::Step(index));
    match (&step.body, &step.ty) {
        (_, Some(ty)) => quote!(type #output = #ty;),
        (Body::Call(Literal { path, .. }) | Body::Broken(Some(path)), None) => {
            let at = place(step);
            let tool = tool(index, step);
            let literal = self::literal(index, step);
            quote_spanned! {at=>
                type #output = <#path as __plan::IsTool>::Output;
                #[allow(dead_code)]
                type #tool = <#path as __plan::IsTool>::Itself;
                #[allow(dead_code)]
                type #literal = #path;
            }
        }
        _ => quote!(type #output = __plan::Unknown;),
    }
}

/// The name of a step's tool.
fn tool(index: usize, step: &Step) -> Ident {
    format_ident!("__PlanTool{index}", span = place(step))
}

/// The name of the type of a step's arguments as a literal, which the author's path is written for once: rustc has other words for
/// a path that leads nowhere in a literal than in a type.
fn literal(index: usize, step: &Step) -> Ident {
    format_ident!("__PlanArguments{index}", span = place(step))
}

/// The step as data, with the checks of its arguments.
pub(super) fn constant(index: usize, step: &Step, cx: &Context<'_>) -> TokenStream {
    let mut builder = Builder::new(cx);
    let mut apart = TokenStream::new();
    let (check, tool, args) = match &step.body {
        Body::Call(literal) => {
            let path = self::literal(index, step).to_token_stream();
            let (called, info, data) = call(literal, &path, &tool(index, step), &mut builder);
            apart = called.apart;
            (called.check, info, data)
        }
        Body::Compute(value) => {
            let ty = &step.ty;
            let expanded = builder.value(value);
            let check = expanded.check;
            let at = ty.span();
            let check = quote_spanned!(at=> let _ = || -> #ty { #check };);
            (check, quote!(::core::option::Option::None), expanded.data)
        }
        Body::Broken(_) => (
            quote!(),
            quote!(::core::option::Option::None),
            quote!(__plan::Template::Null),
        ),
    };
    let bindings = builder.bindings();
    let id = text(&step.name.unraw().to_string());
    let intent = text(&step.intent);
    let after: Vec<TokenStream> = {
        let mut after: Vec<usize> = step
            .after
            .iter()
            .filter_map(|name| match cx.names.get(name) {
                Some(Source::Step(index)) => Some(index),
                _ => None,
            })
            .collect();
        after.sort_unstable();
        after.dedup();
        after.into_iter().map(|index| quote!(#index)).collect()
    };
    let after = slice(&after);
    let needs: Vec<TokenStream> = cx
        .graph
        .needs(index)
        .into_iter()
        .map(|index| quote!(#index))
        .collect();
    let needs = slice(&needs);
    let name = name(index, cx);
    quote! {
        #apart
        #[allow(non_upper_case_globals)]
        const #name: __plan::Step = {
            #bindings
            #check
            __plan::Step {
                id: #id,
                intent: #intent,
                body: __plan::Body::Action(__plan::Action { site: #index, tool: #tool, args: #args }),
                after: #after,
                needs: #needs,
                policy: __plan::Policy::DEFAULT,
            }
        };
    }
}

/// The checks of a call.
struct Called {
    /// In the constant of the step.
    check: TokenStream,
    /// In a constant of its own: where this fails, nothing that uses the step fails after it.
    apart: TokenStream,
}

fn call(
    literal: &Literal,
    path: &TokenStream,
    tool: &Ident,
    builder: &mut Builder<'_>,
) -> (Called, TokenStream, TokenStream) {
    let name = builder.fresh_at("n", tool.span());
    let Fielded {
        check,
        data,
        checks,
    } = builder.fields(literal, path, &name);
    let check = quote!(let _ = || #check;);
    let apart = if checks.is_empty() {
        TokenStream::new()
    } else {
        let at = tool.span();
        let arguments = quote_spanned!(at=> let #name = __plan::arguments::<#tool>(););
        quote!(const _: () = { #arguments #checks };)
    };
    let at = tool.span();
    // The arguments are bound first of all: what is behind them asks them for names.
    builder.bindings = {
        let bindings = &builder.bindings;
        let arguments = quote_spanned!(at=> let #name = __plan::arguments::<#tool>(););
        quote!(#arguments #bindings)
    };
    let info = quote_spanned! {at=>
        ::core::option::Option::Some(__plan::ToolInfo {
            name: __plan::Cow::Borrowed(<#tool as __plan::Tool>::NAME),
            description: __plan::Cow::Borrowed(<#tool as __plan::Tool>::DESCRIPTION),
        })
    };
    (Called { check, apart }, info, data)
}

/// What starts the step.
pub(super) fn start(index: usize, step: &Step, keep: bool) -> TokenStream {
    match (&step.body, &step.ty) {
        (Body::Call(Literal { path, .. }), None) => {
            quote!(#index => <__App as __plan::Calls<#path>>::start(__app, __request, #keep),)
        }
        (Body::Compute(_), Some(ty)) => quote!(#index => __request.compute::<#ty>(#keep),),
        _ => quote!(),
    }
}

/// The bound that the step asks of an application.
pub(super) fn bound(step: &Step) -> Option<(String, TokenStream)> {
    match (&step.body, &step.ty) {
        (Body::Call(Literal { path, .. }), None) => {
            let (start, end) = ends(path);
            let calls = super::reference::path(&["Calls"], start, end);
            Some((path_text(path), quote_spanned!(end=> __App: #calls<#path>)))
        }
        _ => None,
    }
}
