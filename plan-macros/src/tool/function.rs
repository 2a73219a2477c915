//! `#[tool]` on a function: the struct of its arguments, and what calls it.

use super::signature::{self, Application, Argument, Signature};
use crate::docs::text_of;
use crate::report::Report;
use crate::scan::tokens::placed;
use crate::{docs, ide, options};
use heck::ToUpperCamelCase;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, ItemFn, Path, Type, parse_quote};

/// `#[tool] async fn`: the function as it is, the struct of its arguments, the contract and the implementation.
pub(super) fn expand(options: TokenStream, mut item: ItemFn) -> TokenStream {
    let mut report = Report::default();
    let options = FunctionOptions::read(options, &item.sig.ident, &mut report);
    let signature = signature::read(&mut item, &mut report);
    let (for_struct, rest) = item
        .attrs
        .drain(..)
        .partition(|attr| attr.path().is_ident("derive") || attr.path().is_ident("serde"));
    item.attrs = rest;

    let tool = Expansion {
        good: report.is_empty(),
        krate: &options.krate,
        name: &options.name,
        read_only: options.read_only,
        ident: &options.ident,
        for_struct,
        function: &item,
        signature: &signature,
    };
    let tool = if item.sig.receiver().is_some() {
        // Among the items of an `impl` there is no place for them.
        TokenStream::new()
    } else {
        let structure = tool.structure();
        let contract = tool.contract();
        let implementation = tool.implementation();
        let called = quote!(#contract #implementation);
        if ide::is_wanted() {
            let (called, arguments) = (ide::unplaced(called), tool.arguments());
            quote!(#structure #called #arguments)
        } else {
            quote!(#structure #called)
        }
    };
    let errors = report.into_compile_errors();
    quote! {
        #errors

        // A tool is async and owns its arguments, whether or not it needs to.
        #[allow(
            clippy::unused_async,
            clippy::needless_pass_by_value,
            clippy::too_many_arguments,
        )]
        #item
        #tool
    }
}

struct Expansion<'a> {
    good: bool,
    krate: &'a Path,
    name: &'a str,
    read_only: bool,
    ident: &'a Ident,
    /// The attributes of the function that are meant for the struct.
    for_struct: Vec<Attribute>,
    function: &'a ItemFn,
    signature: &'a Signature,
}

impl Expansion<'_> {
    fn structure(&self) -> TokenStream {
        let Self {
            krate,
            ident,
            for_struct,
            function,
            ..
        } = self;
        let vis = &function.vis;
        let serde = quote!(#krate::check::serde);
        let serde_path = crate::parse::tidy(&serde);
        let copied = function.attrs.iter().filter(|attr| {
            attr.path().is_ident("doc")
                || attr.path().is_ident("deprecated")
                || signature::is_cfg(attr)
        });
        let doc = docs::text(&function.attrs)
            .is_empty()
            .then(|| format!("The arguments of [`{}`].", function.sig.ident.unraw()))
            .map(|doc| quote!(#[doc = #doc]));
        let arguments = self.signature.arguments.iter();
        let fields = arguments.filter(|_| self.can_name_types()).map(|argument| {
            let Argument { attrs, ident, ty } = argument;
            // A doc comment that says nothing would end up in the argument's JSON Schema.
            let undocumented = docs::text(attrs)
                .is_empty()
                .then(|| quote!(#[allow(missing_docs)]));
            quote! {
                #undocumented
                #(#attrs)*
                #vis #ident: #ty
            }
        });
        quote! {
            #doc
            #(#copied)*
            #[derive(#serde::Serialize, #serde::Deserialize, #krate::Shape)]
            #(#for_struct)*
            #[serde(crate = #serde_path)]
            #[shape(crate = #krate)]
            #[allow(
                clippy::struct_excessive_bools,
                clippy::struct_field_names,
                clippy::module_name_repetitions,
            )]
            #vis struct #ident {
                #(#fields,)*
            }
        }
    }

    fn contract(&self) -> TokenStream {
        let Self {
            krate, name, ident, ..
        } = self;
        let cfgs = self.cfgs();
        let output = match self.output() {
            Some(output) => {
                quote_spanned!(output.span()=> <#output as #krate::check::Outcome>::Output)
            }
            None => quote!(()),
        };
        let description = docs::text(&self.function.attrs);
        let read_only = self.read_only;
        let read_only = read_only.then(|| {
            quote!(
                const READ_ONLY: bool = true;
            )
        });
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            impl #krate::Tool for #ident {
                type Output = #output;
                const NAME: &'static str = #name;
                const DESCRIPTION: &'static str = #description;
                #read_only
            }
        }
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
        // Where rustc says why the future is not `Send`.
        let future = quote_spanned! {self.function.sig.ident.span()=>
            impl ::core::future::Future<Output = #result> + ::core::marker::Send
        };
        // If the function returns no `Result`, `Tool` says so; to take it for granted here keeps rustc from saying it again.
        // The `for<>` is what lets a bound without parameters be taken for granted.
        let granted = self
            .output()
            .map(|output| quote!(where for<'__any> #output: #krate::check::Outcome));
        let call = quote! {
            fn call(self, __app: #lent) -> #future {
                #call
            }
        };
        // Where an application lacks the tool, the header is shown.
        let implementation = quote_spanned! {ident.span()=>
            impl #generics #krate::Call<#application> for #ident #granted { #call }
        };
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            #implementation
        }
    }

    fn call(&self, result: &TokenStream) -> TokenStream {
        if !self.good {
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
        // At the return type, where rustc says that the error does not convert.
        let output = self.output();
        let span = output.map_or_else(Span::call_site, Spanned::span);
        let krate = placed(self.krate.to_token_stream(), span);
        let mut called = function.clone();
        called.set_span(span);
        let finished = quote_spanned! {span=>
            #krate::check::Finish::<#output>::finish(#called(#application #(#arguments)*).await)
        };
        let krate = self.krate;
        let future = quote_spanned! {function.span()=>
            async move {
                #[allow(unused_imports)]
                use #krate::check::NoFinish as _;
                #finished
            }
        };
        quote!(#unused #future)
    }

    /// What an editor sees of the arguments in the body.
    fn arguments(&self) -> TokenStream {
        let body = self.function.block.to_token_stream();
        let arguments = self.signature.arguments.iter();
        let names = arguments.map(|argument| &argument.ident);
        ide::arguments(self.krate, self.ident, names, body)
    }

    /// Whether the types of the signature mean something outside of the function.
    fn can_name_types(&self) -> bool {
        self.function.sig.generics.params.is_empty()
    }

    /// The return type, if it is one that a tool can have.
    fn output(&self) -> Option<&Type> {
        let output = self.signature.output.as_ref();
        output.filter(|_| self.can_name_types())
    }

    fn cfgs(&self) -> Vec<&Attribute> {
        let attrs = self.function.attrs.iter();
        attrs.filter(|attr| signature::is_cfg(attr)).collect()
    }
}

struct FunctionOptions {
    krate: Path,
    name: String,
    read_only: bool,
    ident: Ident,
}

impl FunctionOptions {
    fn read(tokens: TokenStream, function: &Ident, report: &mut Report) -> Self {
        let name = text_of(function);
        let mut read = Self {
            krate: parse_quote!(::plan_runtime),
            name: name.clone(),
            read_only: false,
            ident: format_ident!("Tool"),
        };
        let mut ident = None;
        options::read(
            tokens,
            &["name", "struct", "read_only", "crate"],
            report,
            |key, input| {
                match key {
                    "name" => read.name = options::string(key, input)?.value(),
                    "read_only" => read.read_only = true,
                    "struct" => ident = Some(options::ident(key, input)?),
                    _ => read.krate = options::krate(input)?,
                }
                Ok(())
            },
        );
        read.ident = ident.unwrap_or_else(|| struct_name(&name, function.span(), report));
        read
    }
}

fn struct_name(function: &str, span: Span, report: &mut Report) -> Ident {
    let name = function.to_upper_camel_case();
    match syn::parse_str::<Ident>(&name) {
        Ok(mut ident) => {
            ident.set_span(span);
            ident
        }
        Err(_) => {
            report.error_at(
                span,
                format_args!(
                    "no struct can be named after `{function}`\nhelp: name it yourself: `#[tool(struct = …)]`"
                ),
            );
            format_ident!("{}Tool", name, span = span)
        }
    }
}
