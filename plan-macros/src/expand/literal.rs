//! Struct and enum literals.

use super::builder::{ALLOWS, Builder, Lowered, TemplateData};
use super::table::CheckKey;
use super::tokens::{TokenList, located};
use super::way::{ends, path};
use crate::ast::{Field, Fields, Literal, Rest};
use crate::docs::{last_name, text_of};
use plan_graph::notation::Constant;
use proc_macro2::{Delimiter, Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;
use syn::token::Brace;

/// The type or the variant of a literal.
pub(super) struct Owner<'o> {
    pub(super) path: &'o TokenStream,
    /// The variable that has the JSON names of the fields when the crate is compiled.
    pub(super) names: &'o Ident,
    /// The constant that has the JSON names when the plan is decoded.
    pub(super) shape: Constant,
    /// `true` for a call. The names are checked once for all calls of a tool.
    pub(super) is_call: bool,
}

/// The fields of a literal.
pub(super) struct Fielded {
    pub(super) data: TemplateData,
    /// The literal, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// Statements that look the fields' names up at compile time.
    pub(super) names: TokenStream,
    /// Statements that check the fields at compile time.
    pub(super) checks: TokenStream,
}

/// Binds a nested literal.
pub(super) fn nested(literal: &Literal, builder: &mut Builder<'_>) -> (Ident, TemplateData) {
    let (start, end) = ends(&literal.path);
    let name = builder.fresh_at("l", start);
    let names = builder.fresh_at("n", start);
    let variant = last_name(&literal.path);
    let shape = located(names.clone(), end);
    let number = builder.constant(quote_spanned!(end=> #shape.shape()));
    let owner = Owner {
        path: &literal.path.to_token_stream(),
        names: &names,
        shape: number,
        is_call: false,
    };
    let lowered = builder.arriving(ALLOWS, |builder| fields(literal, &owner, builder));
    let value = Ident::new("__v", start);
    let make = match &builder.is_json {
        Some(is_json) => {
            path(&["declared"], start, end).and(quote_spanned!(end=> ::<{ #is_json }, _, _>).into())
        }
        None => path(&["HasShape", "literal"], start, end),
    };
    let check = lowered.check;
    builder.bind(quote_spanned! {end=>
        let #name = __plan::literal(&|| { let #value = #check; #make(#value) });
    });
    // The call for the names shares the span of the call for the literal, so that rustc reports one error for both.
    builder.bind(quote_spanned!(start=> let #names = #name.names();));
    builder.bind(lowered.checks);
    builder.evaluate(quote_spanned!(end=> #shape.tag(#variant);));
    builder.evaluate(lowered.names);
    let content = Box::new(lowered.data);
    (name, TemplateData::Literal(number, variant, content))
}

/// Lowers the fields of a literal.
pub(super) fn fields(literal: &Literal, owner: &Owner<'_>, builder: &mut Builder<'_>) -> Fielded {
    let path = owner.path;
    match &literal.fields {
        Fields::Unit => Fielded {
            data: TemplateData::NULL,
            check: quote!(#path {}),
            names: TokenStream::new(),
            checks: TokenStream::new(),
        },
        Fields::Named(brace, fields, rest) => {
            let names = builder.cx.names;
            let (fields, unknown): (Vec<_>, Vec<_>) =
                fields.iter().partition(|field| !names.is_unknown(field));
            let rest = if unknown.is_empty() {
                rest
            } else {
                &Rest::Broken
            };
            let (mut inits, names, data) = named(literal, &fields, owner, builder);
            let (base, checks) = base(rest, *brace, &fields, owner);
            inits = inits.and(base);
            let check = match (rest, enum_of(&literal.path)) {
                // A variant cannot have `..`.
                (Rest::Broken, Some(of)) => quote!(__plan::any::<#of>()),
                _ => {
                    let inits =
                        TokenList::default().group(Delimiter::Brace, inits, brace.span.join());
                    quote!(#path #inits)
                }
            };
            Fielded {
                data,
                check,
                names,
                checks,
            }
        }
        Fields::Unnamed(paren, values) => {
            let at = paren.span.join();
            let names = located(owner.names.clone(), at);
            let variant = last_name(&literal.path);
            let elements = (0..values.len()).map(|index| {
                let ident = index.to_string();
                quote_spanned!(at=> #names.element(#variant, #ident);)
            });
            let checks = quote!(#(#elements)*);
            let (inits, data) = builder.elements(values, Builder::value);
            let data = match data {
                TemplateData::List(mut data) if data.len() == 1 => data.remove(0),
                data => data,
            };
            let inits = TokenList::default().parens(quote!(#(#inits),*).into(), at);
            Fielded {
                data,
                check: quote!(#path #inits),
                names: TokenStream::new(),
                checks,
            }
        }
    }
}

/// Lowers named fields: to the fields of an expression, the statements that look their names up, and data.
fn named(
    literal: &Literal,
    fields: &[&Field],
    owner: &Owner<'_>,
    builder: &mut Builder<'_>,
) -> (TokenList, TokenStream, TemplateData) {
    let variant = last_name(&literal.path);
    let (mut inits, mut lookups) = (TokenList::default(), TokenStream::new());
    let mut given = Vec::with_capacity(fields.len());
    for field in fields {
        let at = field.name.span();
        let text = text_of(&field.name);
        let Lowered { check, data } = builder.value(&field.value);
        inits = inits
            .with(field.name.clone())
            .operator(":", at)
            .and(check)
            .operator(",", at);
        let check = || CheckKey::Argument(owner.shape, text.clone());
        if !owner.is_call || builder.table.is_new_check(check()) {
            // A message about a name points at the field.
            let names = located(owner.names.clone(), at);
            lookups.extend(quote_spanned!(at=> #names.key(#variant, #text);));
        }
        given.push((text, data));
    }
    let data = TemplateData::Fields(owner.shape, variant, given);
    (inits, lookups, data)
}

/// Returns the end of an expression with named fields, and the statements that check the omitted fields.
fn base(
    rest: &Rest,
    brace: Brace,
    fields: &[&Field],
    owner: &Owner<'_>,
) -> (TokenList, TokenStream) {
    match rest {
        Rest::Nothing => Default::default(),
        Rest::Defaults(rest) => {
            let [start, end] = rest.spans;
            let names = located(owner.names.clone(), start);
            let given = fields.iter().map(|field| text_of(&field.name));
            (
                quote_spanned!(start=> #rest __plan::any()).into(),
                quote_spanned!(end=> #names.rest(&[#(#given),*]);),
            )
        }
        Rest::Broken => {
            let any: TokenStream = quote_spanned!(brace.span.close()=> ..__plan::any());
            (any.into(), TokenStream::new())
        }
    }
}

/// Returns the enum of a path that leads to a variant.
fn enum_of(path: &Path) -> Option<Path> {
    let mut path = path.clone();
    path.segments.pop();
    path.segments.pop_punct();
    let last = path.segments.last()?.ident.unraw().to_string();
    last.starts_with(char::is_uppercase).then_some(path)
}
