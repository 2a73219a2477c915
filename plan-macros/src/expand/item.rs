//! The struct of a plan, its impls, and the constant with its data.

use super::builder::{Lowered, TemplateData};
use super::documented::{self, Audience};
use super::shared::{inline, output_name, shared};
use super::unordered::Warnings;
use super::{Context, lints, start};
use crate::ast::{Header, Input, Plan};
use crate::docs::{self, text_of};
use crate::graph::Graphs;
use crate::ide::{before, unplaced};
use crate::names::{Names, Source};
use crate::parse::tidy;
use crate::report::Report;
use crate::shape::secret;
use crate::syntax::tokens::no_parameters;
use crate::{json, lossless};
use heck::ToSnakeCase;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Type};

/// Expands a plan with the errors found in it.
pub(crate) fn expand(
    plan: &Plan,
    names: &Names<'_>,
    graphs: &Graphs,
    report: Report,
) -> TokenStream {
    let cx = Context::new(plan, names, graphs, report.first());
    let case = lints::case(&cx);
    match &plan.head {
        Some(head) => {
            let errors = report.into_item();
            let definition = definition(head, &cx, Audience::Rustdoc, std::convert::identity);
            let unordered = Warnings::new(&cx, &head.name);
            let inside = item(head, &cx);
            let krate = cx.krate();
            let allowed = head.attrs.iter();
            let allowed = allowed.filter(|attr| attr.path().is_ident("allow"));
            let allowed: Vec<&Attribute> = allowed.collect();
            let case = case.map(|case| quote!(#(#allowed)* #case));
            // A deprecated plan is a warning at its uses, not at its definition.
            let is_deprecated = |attr: &Attribute| attr.path().is_ident("deprecated");
            let old = head
                .attrs
                .iter()
                .any(is_deprecated)
                .then(|| quote!(#[allow(deprecated)]));
            // The constants are in an `impl` of the struct, so that a warning contains the struct's name.
            let Warnings { constants, uses } = unordered;
            let texts = (!names.facts.braces.is_empty() || !constants.is_empty()).then(|| {
                let (name, texts) = (&head.name, lints::braces(names));
                quote!(#old impl #name { #texts #constants })
            });
            let items = &head.items;
            quote! {
                #errors
                #items
                #case
                #definition
                #texts
                #old
                #(#allowed)*
                #[allow(clippy::all, clippy::pedantic, clippy::nursery, dead_code, non_camel_case_types, non_snake_case, non_upper_case_globals, private_bounds, unreachable_code, unused_qualifications)]
                const _: () = {
                    #[allow(unused_imports)]
                    use #krate::check::{self as __plan, AtArray as _, AtKind as _, AtPassed as _, AtValue as _, NoKind as _, NotHandedOver as _, NotMocked as _, NotProbed as _, OwnItself as _, OwnUnsized as _};
                    #inside
                    #uses
                };
            }
        }
        None => {
            let errors = report.into_compile_errors();
            let inside = inline(&cx);
            let krate = cx.krate();
            quote!({
                #errors
                #case
                #[allow(clippy::all, clippy::pedantic, clippy::nursery, dead_code, non_snake_case, non_upper_case_globals, unreachable_code, unused_qualifications)]
                let __plan = {
                    #[allow(unused_imports)]
                    use #krate::check::{self as __plan, AtArray as _, AtKind as _, AtPassed as _, AtValue as _, NoKind as _, NotProbed as _, OwnItself as _, OwnUnsized as _};
                    #inside
                };
                __plan
            })
        }
    }
}

/// Returns the rest of a plan for an editor: the IDE expansion, the errors, and the items that other code can name.
pub(crate) fn outside(
    plan: &Plan,
    names: &Names<'_>,
    graphs: &Graphs,
    report: Report,
    ide: &TokenStream,
) -> TokenStream {
    let cx = Context::new(plan, names, graphs, report.first());
    let errors = report.into_compile_errors();
    let Some(head) = &plan.head else {
        return quote!({ let __plan = #ide; #errors __plan });
    };
    let (definition, krate) = (
        definition(head, &cx, Audience::Editor, unplaced),
        cx.krate(),
    );
    let check = quote!(#krate::check);
    let (name, vis) = (unplaced(head.name.to_token_stream()), &head.vis);
    let unit: Type = syn::parse_quote!(());
    let ty = unplaced(head.output.as_ref().unwrap_or(&unit).to_token_stream());
    let [plan_doc, run_doc, submit_doc] = docs_of(head);
    // An editor jumps from these names to the plan, but not from the plan to these names. An editor also refuses to rename them.
    let at = Span::call_site().located_at(before(head.name.span()));
    let [plan_name, run_name, submit_name] =
        ["PLAN", "run", "submit"].map(|name| Ident::new(name, at));
    quote! {
        #ide
        #errors
        #definition
        impl #name {
            #[doc = #plan_doc]
            #vis const #plan_name: &'static #krate::plan::LazyPlan;
            #[doc = #run_doc]
            #vis fn #run_name<A: ?Sized>(self, app: &A) -> #krate::Run<'_, A, #ty> {
                #check::editor::any()
            }
            #[doc = #submit_doc]
            #vis fn #submit_name<'s, S: #check::Submit>(self, to: &'s S, id: impl ::core::convert::Into<#check::String>) -> S::Submission<'s, #ty> {
                #check::editor::any()
            }
        }
        impl #check::Tool for #name {
            type Output = #ty;
            const NAME: &'static ::core::primitive::str = "";
        }
        impl<__App: ?::core::marker::Sized> #check::Call<__App> for #name {
            async fn call(self, __app: &__App) -> #check::Result<#ty> {
                #check::editor::any()
            }
        }
    }
}

fn docs_of(head: &Header) -> [String; 3] {
    let name = &head.name;
    [
        format!("The plan of [`{name}`] as data."),
        format!("Runs [`{name}`] on an application that has its tools."),
        format!(
            "Submits [`{name}`] under an id: to a journal, for a process that serves it, or to the client of an engine."
        ),
    ]
}

/// Writes the struct of the item form. `around` wraps the names of the inputs.
fn definition(
    head: &Header,
    cx: &Context<'_>,
    reader: Audience,
    around: fn(TokenStream) -> TokenStream,
) -> TokenStream {
    let Header {
        attrs, vis, name, ..
    } = head;
    let krate = cx.krate();
    let serde = format!("{}::check::serde", tidy(&krate));
    let check = quote!(#krate::check);
    let owner = json::Holder {
        ident: &head.name,
        attrs: &head.attrs,
        check: &check,
    };
    let fields = cx.names.inputs.iter().map(|input| {
        let Input { attrs, name, ty } = input;
        let documented = attrs.iter().any(|attr| attr.path().is_ident("doc"));
        let allow = (!documented).then(|| quote!(#[allow(missing_docs)]));
        let (items, granted) = owner.granted(name, ty, attrs, "json");
        let (attrs, ty) = (around(quote!(#(#attrs)*)), around(quote!(#ty)));
        (items, quote!(#attrs #allow #granted #vis #name: #ty))
    });
    let (items, fields): (TokenStream, Vec<TokenStream>) = fields.unzip();
    let items = around(items);
    // Code that runs the plan gives a value to each of them.
    let unknown = cx.error.as_ref();
    let unknown = unknown.map(|error| json::unknown(error, &quote!(#krate::check)));
    let broken = cx.names.unread_inputs.iter();
    let broken = broken.map(|name| quote!(#[allow(missing_docs)] #vis #name: #unknown));
    let no_parameters = no_parameters(name.span());
    // A derive precedes the attributes that belong to it, and follows the attributes that may change its input.
    let belongs =
        |attr: &&Attribute| attr.path().is_ident("serde") || attr.path().is_ident("shape");
    let first = attrs.iter().take_while(|attr| !belongs(attr)).count();
    let (before, after) = attrs.split_at(first);
    let documented = documented::attribute(head, cx, reader);
    quote! {
        #items
        #(#before)*
        #[derive(#krate::check::serde::Serialize, #krate::check::serde::Deserialize, #krate::Shape)]
        #[serde(crate = #serde)]
        #[shape(crate = #krate)]
        #(#after)*
        #documented
        #vis struct #name #no_parameters { #(#fields,)* #(#broken),* }
    }
}

/// Expands the item form, in which the plan is a tool.
fn item(head: &Header, cx: &Context<'_>) -> TokenStream {
    let Header { name, output, .. } = head;
    // Code that runs a plan whose output could not be read is not wrong.
    let is_unknown = output.is_none() && (head.may_have_output || cx.plan.tail.is_some());
    let unread = match &cx.error {
        Some(error) if is_unknown => Type::Verbatim(json::unknown(error, &quote!(__plan))),
        _ => syn::parse_quote!(()),
    };
    let ty = output.as_ref().unwrap_or(&unread);
    let (shared, actions) = shared(cx, tidy(ty), |mut builder| {
        let data = match &cx.plan.tail {
            // The missing type was reported; the output's value is still checked.
            Some(tail) if output.is_none() => {
                let Lowered { check, data } = builder.inferred(&tail.value);
                let check = quote!(let _ = || { let _ = #check; };);
                builder.bind(check);
                data
            }
            Some(tail) => {
                let Lowered { check, data } = builder.value(&tail.value);
                builder.check_type(ty.span(), ty, check);
                data
            }
            None => TemplateData::NULL,
        };
        (builder.into_item(output_name()), data)
    });
    let (output_check, output_type) = json::checked(ty, quote!(#ty), "__PlanOutput");
    let bounds = start::bounds(cx);
    let steps = start::steps(&quote!(#name), &begin(cx), &actions, cx);
    let call = call(head, &bounds);
    let methods = methods(head, &bounds);
    let tool = tool(head, ty, &output_type, cx);
    quote! {
        #shared
        #output_check
        #steps
        #call
        #methods
        #tool
    }
}

/// Returns the function that begins a run, with the inputs from the fields of the struct.
fn begin(cx: &Context<'_>) -> TokenStream {
    let handed = start::handed(cx);
    let inputs = cx.names.inputs.iter().enumerate().map(|(index, input)| {
        let name = &input.name;
        let text = text_of(name);
        let ty = cx.type_of(Source::Input(index));
        if handed.contains(&Source::Input(index)) {
            let hand = quote!(__plan::Hand::<#ty>);
            quote!(#hand::NEW.input(#text, self.#name, #hand::CLONE)?)
        } else {
            quote!(__plan::input::<#ty>(#text, &self.#name)?)
        }
    });
    let inputs = match cx.names.inputs.len() {
        0 => quote!(::core::result::Result::Ok(__plan::Vec::new())),
        _ => quote!((|| ::core::result::Result::Ok(__plan::vec![#(#inputs),*]))()),
    };
    // No other code calls `run`, because two plans with one name would cause an error for each call.
    quote! {
        fn begin<'__app>(self, __app: &'__app __App) -> ::core::option::Option<__plan::Run<'__app, __App, <Self as __plan::Tool>::Output>> {
            let __inputs = #inputs;
            ::core::option::Option::Some(__plan::run_on::<Self, __App, _>(&__PLAN, __inputs, __app))
        }
    }
}

/// Returns the implementation of `Call`. If an application lacks a tool of a plan inside another, rustc shows the header.
fn call(head: &Header, bounds: &[TokenStream]) -> TokenStream {
    let name = &head.name;
    let call = quote! {
        fn call(self, __app: &__App) -> impl ::core::future::Future<Output = __plan::Result<<Self as __plan::Tool>::Output>> + ::core::marker::Send {
            __plan::called::<Self, _>(__plan::begun(self, __app))
        }

        fn call_in(self, __app: &__App, __context: __plan::CallContext) -> impl ::core::future::Future<Output = __plan::Result<<Self as __plan::Tool>::Output>> + ::core::marker::Send {
            __plan::called_in::<Self, _>(__plan::begun(self, __app), __context)
        }

        fn plan_on<'__x>(self, __app: &'__x __App) -> ::core::result::Result<__plan::CalledPlan<'__x>, Self>
        where
            Self: '__x,
        {
            ::core::result::Result::Ok(__plan::plan_of::<Self, __App>(__plan::begun(self, __app)))
        }
    };
    quote_spanned! {name.span()=>
        impl<__App> __plan::Call<__App> for #name
        where
            __App: ?::core::marker::Sized + ::core::marker::Sync,
            #(#bounds,)*
        {
            #call
        }
    }
}

/// Returns `PLAN`, `run` and `submit`.
fn methods(head: &Header, bounds: &[TokenStream]) -> TokenStream {
    let Header { name, vis, .. } = head;
    let [plan_doc, run_doc, submit_doc] = docs_of(head);
    // rustc shows the names, and where `run` and `submit` are defined.
    let argument = |text| Ident::new(text, Span::mixed_site().located_at(name.span()));
    let (app, to, id) = (argument("app"), argument("to"), argument("id"));
    let method = |text| Ident::new(text, name.span());
    let (run, submit) = (method("run"), method("submit"));
    quote! {
        impl #name {
            #[doc = #plan_doc]
            #[allow(dead_code)]
            #vis const PLAN: &'static __plan::LazyPlan = &__PLAN;

            #[doc = #run_doc]
            #[allow(dead_code)]
            #vis fn #run<__App>(self, #app: &__App) -> __plan::Run<'_, __App, <Self as __plan::Tool>::Output>
            where
                __App: ?::core::marker::Sized,
                #(#bounds,)*
            {
                __plan::begun(self, #app)
            }

            #[doc = #submit_doc]
            #[allow(dead_code)]
            #vis fn #submit<'__s, __S: __plan::Submit>(self, #to: &'__s __S, #id: impl ::core::convert::Into<__plan::String>) -> __S::Submission<'__s, <Self as __plan::Tool>::Output> {
                __plan::submit(&__PLAN, &self, #to, #id.into())
            }
        }
    }
}

/// Returns the implementation of `Tool`.
fn tool(head: &Header, ty: &Type, output_type: &TokenStream, cx: &Context<'_>) -> TokenStream {
    let name = &head.name;
    let one_application = start::first(cx).map(|tool| {
        quote! {
            const ONE_APPLICATION: ::core::primitive::bool = __plan::Kind::<#tool>::ONE_APPLICATION;
        }
    });
    let tool_name = text_of(name).to_snake_case();
    let description = docs::text(&head.attrs);
    let inside = secret::of_output(ty, &Generics::default(), &quote!(__plan));
    let hand_over = lossless::of_output(&quote!(Self::Output), &quote!(__plan));
    let attrs = cx.names.inputs.iter().flat_map(|input| &input.attrs);
    let is_read =
        cx.names.unread_inputs.is_empty() && !lossless::are_renamed(attrs.chain(&head.attrs));
    let take = is_read.then(|| {
        let inputs = cx.names.inputs.iter();
        let fields = inputs.map(|input| (&input.name, text_of(&input.name), &input.ty));
        lossless::take(fields, &quote!(__plan))
    });
    quote! {
        impl __plan::Tool for #name {
            // The only use of the type outside of the checks, so that an unknown type is one error.
            type Output = #output_type;
            const NAME: &'static ::core::primitive::str = #tool_name;
            const DESCRIPTION: &'static ::core::primitive::str = #description;
            #inside
            #take
            #hand_over
            const PLAN: ::core::option::Option<&'static __plan::LazyPlan> = ::core::option::Option::Some(&__PLAN);
            const ON_MOCK: __plan::OnMock<Self> = __plan::Mocked::<Self>::RUN;
            #one_application
        }
    }
}
