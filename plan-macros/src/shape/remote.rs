//! `#[shape(remote = "…")]`: the shape of a type that cannot derive it, since it is of another crate.

use crate::docs::text_of;
use crate::parse::functions::each_of_serde;
use crate::report::Report;
use crate::syntax::tokens::{enclosed, placed};
use proc_macro2::{Delimiter, Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Expr, ExprLit, Fields, Lit, LitStr, Member, Path, Type};

/// Parses the path of the type: a string, as for serde's `remote`, or tokens without quotes, as in rustc's suggestion
/// of a better name.
pub(super) fn ty(input: ParseStream) -> syn::Result<Type> {
    let (at, ty) = if input.peek(LitStr) {
        let text: LitStr = input.parse()?;
        (text.span(), text.parse())
    } else {
        (input.span(), input.parse())
    };
    match ty {
        Ok(ty @ Type::Path(_)) => Ok(ty),
        _ => Err(syn::Error::new(
            at,
            "expected the path of a struct: `remote = \"some_crate::Issue\"`",
        )),
    }
}

/// Writes the implementation for the type. `None` means a type with an invalid name.
pub(super) fn derive(
    input: &DeriveInput,
    krate: &Path,
    remote: Option<Type>,
    mut report: Report,
) -> TokenStream {
    let shape = match &input.data {
        Data::Struct(data) => {
            let containers = super::containers(input);
            let shape = super::shape(input, containers, krate, true, &mut report);
            Some((&data.fields, shape))
        }
        Data::Enum(data) => {
            refuse(&data.enum_token, &mut report);
            None
        }
        Data::Union(data) => {
            refuse(&data.union_token, &mut report);
            None
        }
    };
    if let Some((_, None)) = shape {
        report.error(
            &input.ident,
            "with `#[serde(into)]`, `from` or `try_from`, a type has the JSON of another type, which is unknown here\nhelp: write computed values, or declare the fields that its JSON has",
        );
    }
    let has_parameters = !input.generics.params.is_empty();
    if has_parameters {
        report.error(
            &input.generics,
            "a struct with `remote` cannot have parameters, because their secrets would be unknown\nhelp: declare one struct for each type that a plan uses: `remote = \"some_crate::Page<Issue>\"`",
        );
    }
    let is_itself = remote
        .as_ref()
        .is_some_and(|remote| is_itself(remote, input));
    if is_itself {
        report.error(
            &remote,
            "`remote` names the struct itself, which can derive `Shape`\nhelp: remove `remote = …`; it is for a type of another crate",
        );
    }
    let errors = report.into_item();
    let remote = remote.filter(|_| !is_itself);
    let (Some(remote), Some((fields, shape)), false) = (remote, shape, has_parameters) else {
        return errors;
    };
    let check = quote!(#krate::check);
    let shape = shape.map_or_else(|| quote!(#check::TypeShape::Opaque), |it| it.shape);
    let used = used(input, fields);
    let confusions = confusions(input, &remote, &check);
    let implementation = implementation(&remote, &checks(fields, &remote, &check), &shape, check);
    // If the struct is private to its module, rustc infers the struct for no other code. The parameter is therefore a
    // public type.
    quote! {
        #errors

        const _: () = {
            #[allow(missing_debug_implementations, missing_docs, unnameable_types, unreachable_pub)]
            pub struct OfThisCrate;

            #used
            #confusions

            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            #[allow(deprecated)]
            #implementation
        };
    }
}

fn implementation(
    remote: &Type,
    checks: &TokenStream,
    shape: &TokenStream,
    check: TokenStream,
) -> TokenStream {
    let body = quote! {
        type Itself = Self;
        const SHAPE: #check::TypeShape = {
            #[allow(unused_imports)]
            use #check::NotProbed as _;
            #checks
            #shape
        };
    };
    // For a type with two shapes, rustc points at both.
    let at = remote.span();
    let body = enclosed(Delimiter::Brace, body, at);
    let has_shape = placed(check, at);
    quote_spanned!(at=> impl #has_shape::HasShape<OfThisCrate> for #remote #body)
}

/// Reports the errors of serde's derives, which do not run on this type, and a `remote` of serde.
pub(super) fn report_serde(
    input: &DeriveInput,
    wrong: Vec<syn::Error>,
    also_wrong: Vec<syn::Error>,
    report: &mut Report,
) {
    let said: Vec<_> = wrong.iter().map(ToString::to_string).collect();
    let others = also_wrong
        .into_iter()
        .filter(|error| !said.contains(&error.to_string()));
    wrong
        .into_iter()
        .chain(others)
        .for_each(|error| report.push(error));
    each_of_serde(&input.attrs, |path, _| {
        if path.is_ident("remote") {
            report.error(
                path,
                "serde's `remote` is for types without `Serialize` and `Deserialize`, and a plan cannot contain their values\nhelp: remove it: `#[shape(remote = …)]` is enough for a type that implements them",
            );
        }
    });
}

/// Reports serde's own `remote` if the author means `#[shape(remote = …)]`. A type that is its own remote has values.
pub(super) fn report_serde_alone(input: &DeriveInput, report: &mut Report) {
    each_of_serde(&input.attrs, |path, value| {
        let Some(Expr::Lit(ExprLit {
            lit: Lit::Str(remote),
            ..
        })) = value
        else {
            return;
        };
        let remote = remote.value();
        if !path.is_ident("remote") || remote == "Self" || input.ident == remote {
            return;
        }
        report.error(
            path,
            format_args!(
                "`remote` of serde does not let references lead into `{remote}`\nhelp: if `{remote}` implements `Serialize` and `Deserialize`, write `#[shape(remote = \"{remote}\")]` instead, without serde's derives\nhelp: otherwise, remove `Shape`: a plan cannot contain a `{remote}`"
            ),
        );
    });
}

/// Returns `true` if a path names the struct itself.
fn is_itself(remote: &Type, input: &DeriveInput) -> bool {
    matches!(remote, Type::Path(path) if path.path.is_ident("Self") || path.path.is_ident(&input.ident))
}

/// Writes checks by which rustc rejects a struct that is the type itself under another path, or a separate type because
/// of serde's derives.
fn confusions(input: &DeriveInput, remote: &Type, check: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let name = text_of(ident);
    // If the evaluation of the constant fails, rustc points at these spans.
    let (at, at_name) = (
        placed(check.clone(), remote.span()),
        placed(check.clone(), ident.span()),
    );
    let itself =
        quote_spanned!(remote.span()=> #at::not_itself(#at::Pair::<#remote, #ident>::IS_ONE););
    let probe = quote_spanned!(ident.span()=> #at_name::Probe::<#ident>);
    let serde = quote_spanned! {ident.span()=>
        #at_name::without_serde(#name, #probe::IS_SERIALIZE || #probe::IS_DESERIALIZE);
    };
    quote! {
        const _: () = {
            #[allow(unused_imports)]
            use #check::{NotOne as _, NotProbed as _};
            #itself
            #serde
        };
    }
}

fn refuse(token: &impl ToTokens, report: &mut Report) {
    report.error(
        token,
        "`remote` works only on a struct, because references lead only into structs\nhelp: for a value of an enum of another crate, write a computed value",
    );
}

/// Writes checks by which rustc looks up each field in the type, with the declared type of the field. A tuple must list
/// all fields, because they decide the indices of the others.
fn checks(fields: &Fields, remote: &Type, check: &TokenStream) -> TokenStream {
    let members = fields.iter().zip(fields.members()).enumerate();
    let bound = |index: usize| format_ident!("__field{index}", span = Span::mixed_site());
    let patterns = members.clone().map(|(index, (field, member))| {
        let bound = bound(index);
        match member {
            Member::Named(name) => quote_spanned!(name.span()=> #name: #bound),
            Member::Unnamed(mut number) => {
                number.span = field.ty.span();
                quote_spanned!(number.span=> #number: #bound)
            }
        }
    });
    let types = members.map(|(index, (field, _))| {
        let (bound, ty, at) = (bound(index), &field.ty, field.ty.span());
        // rustc reports another type at this span.
        let variable = Ident::new("__field", at);
        let check = placed(check.clone(), at);
        quote_spanned! {at=>
            let #variable = #bound;
            #check::IsOfType::<#ty>::declared(#variable);
        }
    });
    let at = remote.span();
    let pattern = match fields {
        Fields::Unnamed(_) => quote_spanned!(at=> Self { #(#patterns,)* }),
        _ => quote_spanned!(at=> Self { #(#patterns,)* .. }),
    };
    quote! {
        let _ = |__remote: &Self| {
            let #pattern = __remote;
            #(#types)*
        };
    }
}

/// Uses the struct and its fields, because rustc would otherwise report unused code.
fn used(input: &DeriveInput, fields: &Fields) -> TokenStream {
    let ident = &input.ident;
    let members: Vec<Member> = fields.members().collect();
    let variables: Vec<_> = (0..members.len())
        .map(|index| format_ident!("__field{index}", span = Span::mixed_site()))
        .collect();
    quote! {
        let _ = |__local: #ident| {
            let #ident { #(#members: #variables),* } = __local;
            #ident { #(#members: #variables),* }
        };
    }
}
