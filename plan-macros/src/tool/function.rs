//! `#[tool]` on a function: the struct of its arguments, and the call of the function.

use super::options::{ToolOptions, with_repeated};
use super::parameters::Parameters;
use super::signature::{self, Application, Argument, ContextParameter, Signature};
use super::types;
use crate::docs::text_of;
use crate::mistakes::head::repeated_derives;
use crate::parse::tidy;
use crate::repeated::is_repeated;
use crate::report::Report;
use crate::shape::secret;
use crate::syntax::tokens::{no_parameters, placed};
use crate::{docs, host, ide, json, lossless, options};
use heck::ToUpperCamelCase;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Generics, Ident, ItemFn, Path, Type, parse_quote};

/// Expands `#[tool] async fn` to the unchanged function, the struct of its arguments, the contract and the
/// implementation. If the parameters are unparsable, rustc has reported an error.
pub(super) fn expand(
    options: TokenStream,
    mut item: ItemFn,
    unparsed: Option<&Parameters>,
) -> TokenStream {
    let mut report = Report::default();
    let known = ["name", "struct", "read_only", "crate"];
    let options = with_repeated(options, &mut item, &mut report);
    let options = ToolOptions::read(options, &known, &mut report);
    let name = options.name.unwrap_or_else(|| text_of(&item.sig.ident));
    let ident = options
        .ident
        .unwrap_or_else(|| struct_name(&item.sig, &mut report));
    let mut signature = signature::read(&mut item, &mut report);
    let for_struct = for_struct(&mut item, &mut report);

    let Some(krate) = &options::path(options.krate, "#[tool(crate = …)]", &mut report) else {
        let errors = report.into_item();
        return quote!(#errors #[allow(dead_code)] #item);
    };
    let check = quote!(#krate::check);
    let silent = unparsed.map(|parameters| parameters.silent(&check));
    let is_silent = silent.is_some();
    let error = silent.or_else(|| report.first());
    let unknown = error.map(|error| json::unknown(&error, &check));
    if let Some(unknown) = &unknown {
        signature.fill(&mut item, unknown);
    }
    if is_silent {
        // Some parameters are missing, so the author's body would not compile.
        item.block = parse_quote!({ ::core::unimplemented!() });
        item.attrs.push(parse_quote!(#[allow(unused_variables)]));
    }
    let tool = Expansion {
        unknown,
        krate,
        check: &check,
        name: &name,
        read_only: options.read_only,
        ident: &ident,
        for_struct,
        function: &item,
        signature: &signature,
    };
    // An `impl` cannot contain other items.
    let is_method = item.sig.receiver().is_some();
    let tool = if is_method {
        TokenStream::new()
    } else if !item.attrs.iter().any(signature::is_cfg) && is_repeated(&ident) {
        let vis = &item.vis;
        quote!(#[allow(dead_code, missing_docs)] #vis struct #ident {})
    } else if unparsed.is_some_and(|parameters| parameters.is_nameless) {
        // Code that uses a tool with unknown arguments is not wrong.
        let (vis, unknown) = (&item.vis, &tool.unknown);
        quote!(#[allow(missing_docs)] #vis type #ident = #unknown;)
    } else {
        tool.items()
    };
    let errors = if is_method {
        report.into_compile_errors()
    } else {
        report.into_item()
    };
    let errors = (!is_silent).then_some(errors);
    let function = without_parameters(&item);
    quote! {
        #errors

        // A tool is async and owns its arguments, whether or not it needs to.
        #[allow(clippy::unused_async, clippy::needless_pass_by_value, clippy::too_many_arguments)]
        #function
        #tool
    }
}

/// Takes the attributes of the struct off the function.
fn for_struct(item: &mut ItemFn, report: &mut Report) -> Vec<Attribute> {
    let (mut for_struct, rest): (Vec<Attribute>, Vec<Attribute>) = item
        .attrs
        .drain(..)
        .partition(|attr| docs::is_named(attr, "derive serde"));
    item.attrs = rest;
    for attr in &mut for_struct {
        report.extend(repeated_derives(attr, "a tool"));
    }
    for_struct
}

/// Returns the function with an empty list of parameters.
fn without_parameters(item: &ItemFn) -> TokenStream {
    let tokens = item.to_token_stream();
    if !item.sig.generics.params.is_empty() {
        return tokens;
    }
    let name = &item.sig.ident;
    let mut is_keyword = false;
    let trees = tokens.into_iter().flat_map(|tree| {
        let is_name = is_keyword && matches!(&tree, TokenTree::Ident(ident) if ident == name);
        is_keyword = matches!(&tree, TokenTree::Ident(word) if word == "fn");
        let parameters = is_name.then(|| no_parameters(name.span()));
        quote!(#tree #parameters)
    });
    trees.collect()
}

struct Expansion<'a> {
    /// A placeholder type without further errors, if an error was reported.
    unknown: Option<TokenStream>,
    krate: &'a Path,
    check: &'a TokenStream,
    name: &'a str,
    read_only: bool,
    ident: &'a Ident,
    /// The attributes on the function that belong to the struct.
    for_struct: Vec<Attribute>,
    function: &'a ItemFn,
    signature: &'a Signature,
}

impl Expansion<'_> {
    /// Returns the struct of the arguments, the contract and the implementation.
    fn items(&self) -> TokenStream {
        let (items, structure) = self.structure();
        let (contract, implementation) = (self.contract(), self.implementation());
        let called = quote!(#contract #implementation);
        if host::is_editor() {
            let (called, arguments) = (ide::unplaced(called), self.arguments());
            let items = ide::unplaced(items);
            quote!(#items #structure #called #arguments)
        } else {
            quote!(#items #structure #called)
        }
    }

    /// Returns the struct of the arguments, and the items before the struct.
    fn structure(&self) -> (TokenStream, TokenStream) {
        let Self {
            krate,
            check,
            ident,
            for_struct,
            function,
            ..
        } = self;
        let vis = &function.vis;
        let no_parameters = no_parameters(ident.span());
        let serde = quote!(#check::serde);
        let serde_path = tidy(&serde);
        let copied = function.attrs.iter();
        let copied = copied.filter(|attr| docs::is_named(attr, "doc deprecated cfg"));
        let doc = docs::text(&function.attrs)
            .is_empty()
            .then(|| format!("The arguments of [`{}`].", function.sig.ident.unraw()))
            .map(|doc| quote!(#[doc = #doc]));
        let arguments = self.signature.arguments.iter();
        let owner = json::Holder {
            ident,
            attrs: for_struct,
            check,
        };
        let has_application = self.signature.application.is_some();
        let fields = arguments.enumerate().map(|(index, argument)| {
            let Argument {
                attrs,
                ident: name,
                ty,
            } = argument;
            let granted = ty.as_ref().map(|ty| {
                let json = match index {
                    0 if !has_application => "json_or_application",
                    _ => "json",
                };
                owner.granted(name, ty, attrs, json)
            });
            let (items, granted) = granted.unwrap_or_default();
            let ty = match ty {
                Some(ty) => ty.to_token_stream(),
                None => self.unknown.to_token_stream(),
            };
            // An empty doc comment would end up in the argument's JSON Schema.
            let undocumented = docs::text(attrs)
                .is_empty()
                .then(|| quote!(#[allow(missing_docs)]));
            let field = quote! {
                #undocumented
                #(#attrs)*
                #granted
                #vis #name: #ty
            };
            (items, field)
        });
        let (items, fields): (TokenStream, Vec<TokenStream>) = fields.unzip();
        let structure = quote! {
            #doc
            #(#copied)*
            #[derive(#serde::Serialize, #serde::Deserialize, #krate::Shape)]
            #(#for_struct)*
            #[serde(crate = #serde_path)]
            #[shape(crate = #krate)]
            #[allow(clippy::struct_excessive_bools, clippy::struct_field_names, clippy::module_name_repetitions)]
            #vis struct #ident #no_parameters {
                #(#fields,)*
            }
        };
        (items, structure)
    }

    fn contract(&self) -> TokenStream {
        let Self {
            krate,
            check,
            name,
            ident,
            ..
        } = self;
        let cfgs = self.cfgs();
        let output = match (self.outcome(), &self.unknown) {
            // All tokens have the span of the type, at which rustc reports a private type.
            (Some(outcome), _) => {
                quote_spanned!(outcome.span()=> type Output = <#outcome>::Output;)
            }
            (None, unknown) => quote!(type Output = #unknown;),
        };
        let output_type = self.signature.output.as_ref();
        let inside = output_type
            .map(json::output_of)
            .and_then(|ty| secret::of_output(ty, &Generics::default(), check));
        let hand_over = self
            .unknown
            .is_none()
            .then(|| lossless::of_output(&quote!(Self::Output), check));
        let take = self.unknown.is_none().then(|| self.take());
        let description = docs::text(&self.function.attrs);
        let constants = super::constants(name, &description, self.read_only);
        let one_application = self.signature.application.is_some();
        let one_application =
            one_application.then(|| quote! { const ONE_APPLICATION: bool = true; });
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            impl #krate::Tool for #ident {
                #output
                #inside
                #constants
                #one_application
                #take
                #hand_over
            }
        }
    }

    /// Writes the method that takes the arguments from values in Rust.
    fn take(&self) -> Option<TokenStream> {
        let arguments = &self.signature.arguments;
        let attrs = arguments.iter().flat_map(|argument| &argument.attrs);
        if lossless::are_renamed(attrs.chain(&self.for_struct)) {
            let structure = syn::parse2(self.structure().1).ok()?;
            return lossless::take_as_read(&structure, self.check);
        }
        let fields = arguments.iter().filter_map(|argument| {
            let ident = &argument.ident;
            Some((ident, text_of(ident), argument.ty.as_ref()?))
        });
        Some(lossless::take(fields, self.check))
    }

    fn implementation(&self) -> TokenStream {
        let Self { krate, ident, .. } = self;
        let cfgs = self.cfgs();
        let (generics, application) = match &self.signature.application {
            Some(Application { ty, lifetimes }) => {
                (quote!(<#(#lifetimes),*>), ty.to_token_stream())
            }
            None => (quote!(<__App: ?::core::marker::Sized>), quote!(__App)),
        };
        let lent = match &self.signature.application {
            Some(Application {
                ty: ty @ Type::TraitObject(_),
                ..
            }) => quote!(&(#ty)),
            _ => quote!(&#application),
        };
        let result = quote!(#krate::Result<<Self as #krate::Tool>::Output>);
        let call = self.call(&result);
        let context = quote!(#krate::run::CallContext);
        // rustc reports a future that is not `Send` at this span.
        let future = quote_spanned! {self.function.sig.ident.span()=>
            impl ::core::future::Future<Output = #result> + ::core::marker::Send
        };
        let call = if self.signature.context.is_some() {
            quote! {
                fn call(self, __app: #lent) -> #future {
                    #krate::Call::call_in(self, __app, #context::default())
                }

                fn call_in(self, __app: #lent, __context: #context) -> #future {
                    #call
                }
            }
        } else {
            quote! {
                fn call(self, __app: #lent) -> #future {
                    #call
                }

                const USES_CONTEXT: ::core::primitive::bool = false;
            }
        };
        // For an application without the tool, rustc shows this header.
        let implementation = quote_spanned! {ident.span()=>
            impl #generics #krate::Call<#application> for #ident { #call }
        };
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            #implementation
        }
    }

    fn call(&self, result: &TokenStream) -> TokenStream {
        if self.unknown.is_some() {
            return quote! {
                let _ = __app;
                ::core::future::pending::<#result>()
            };
        }
        let function = &self.function.sig.ident;
        let (application, unused) = match &self.signature.application {
            Some(application) => (quote_spanned!(application.ty.span()=> __app,), quote!()),
            None => (quote!(), quote!(let _ = __app;)),
        };
        let arguments = self.signature.arguments.iter().map(|argument| {
            let ident = &argument.ident;
            let cfgs = argument.attrs.iter().filter(|attr| signature::is_cfg(attr));
            quote!(#(#cfgs)* self.#ident,)
        });
        let mut arguments: Vec<TokenStream> = arguments.collect();
        if let Some(ContextParameter { place, ty }) = &self.signature.context {
            // rustc reports another type of the context at this span.
            let at = ty.span();
            let check = placed(self.check.clone(), at);
            let context = quote_spanned!(at=> <_ as #check::IsContext>::of(__context),);
            arguments.insert(*place, context);
        }
        // rustc reports an error type without a conversion at the return type.
        let outcome = self.outcome();
        let span = outcome.as_ref().map_or_else(Span::call_site, Spanned::span);
        let mut called = function.clone();
        called.set_span(span);
        let finished = quote_spanned! {span=>
            <#outcome>::finish(#called(#application #(#arguments)*).await)
        };
        let future = quote_spanned!(function.span()=> async move { #finished });
        quote!(#unused #future)
    }

    /// Returns the return type wrapped for a check that a tool can have it.
    fn outcome(&self) -> Option<TokenStream> {
        let output = self.signature.output.as_ref()?;
        let span = output.span();
        let check = placed(self.check.clone(), span);
        Some(if json::is_known_result(output) {
            quote_spanned!(span=> #output as #check::Outcome<true>)
        } else {
            quote_spanned!(span=> #output as #check::Outcome<{ #check::outcome::<#output>() }>)
        })
    }

    /// Writes the uses of the arguments in the body, for editors.
    fn arguments(&self) -> TokenStream {
        let body = self.function.block.to_token_stream();
        let arguments = self.signature.arguments.iter();
        let names = arguments.map(|argument| &argument.ident);
        ide::arguments(self.krate, self.ident, names, body)
    }

    fn cfgs(&self) -> Vec<&Attribute> {
        let attrs = self.function.attrs.iter();
        attrs.filter(|attr| signature::is_cfg(attr)).collect()
    }
}

fn struct_name(sig: &syn::Signature, report: &mut Report) -> Ident {
    let (function, span) = (text_of(&sig.ident), sig.ident.span());
    let name = function.to_upper_camel_case();
    let Ok(mut ident) = syn::parse_str::<Ident>(&name) else {
        report.error_at(
            span,
            format_args!(
                "no struct can be named after `{function}`\nhelp: name it yourself: `#[tool(struct = …)]`"
            ),
        );
        return format_ident!("{}Tool", name, span = span);
    };
    ident.set_span(span);
    let is_generic = !sig.generics.params.is_empty();
    if types::mentions(sig, &ident) && !is_generic {
        report.error_at(
            span,
            format_args!(
                "the struct of this tool's arguments would be called `{name}`, as a type in its signature is\nhelp: give the struct another name: `#[tool(struct = {name}Tool)]`; if the type is the struct itself, say so: `#[tool(struct = {name})]`"
            ),
        );
        return format_ident!("{}Tool", name, span = span);
    }
    ident
}
