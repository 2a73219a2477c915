//! Struct and enum literals.

use super::reference::path;
use super::tokens::{Tokens, located};
use super::value::{ALLOWS, Builder, ends};
use crate::ast::{Fields, Literal, Rest};
use crate::docs::{last_name, text_of};
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;

/// The fields of a literal, expanded.
pub(super) struct Fielded {
    /// The literal, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// Statements that look the fields' names up at compile time.
    pub(super) names: TokenStream,
    /// Statements that check the fields at compile time.
    pub(super) checks: TokenStream,
}

impl Builder<'_> {
    /// Binds a nested literal.
    pub(super) fn literal(&mut self, literal: &Literal) -> Ident {
        let (start, end) = ends(&literal.path);
        let name = self.fresh_at("l", start);
        let names = self.fresh_at("n", start);
        let variant = last_name(&literal.path);
        let shape = located(names.clone(), end);
        let number = self.constant(quote_spanned!(end=> #shape.shape()));
        self.data.tag('v').number(number).text(&variant);
        let ty = literal.path.to_token_stream();
        let Fielded {
            check,
            names: checked,
            checks,
        } = self.arriving(ALLOWS, |builder| {
            builder.fields(literal, &ty, &names, number, None)
        });
        let value = Ident::new("__v", start);
        let make = match &self.is_json {
            Some(is_json) => path(&["declared"], start, end)
                .and(quote_spanned!(end=> ::<{ #is_json }, _, _>).into()),
            None => path(&["HasShape", "literal"], start, end),
        };
        self.bindings.extend(quote_spanned! {end=>
            let #name = __plan::literal(&|| { let #value = #check; #make(#value) });
        });
        // The call for the names has the same span as the call for the literal: one message for both.
        self.bindings
            .extend(quote_spanned!(start=> let #names = #name.names();));
        self.bindings.extend(checks);
        self.constants
            .check(quote_spanned!(end=> #shape.tag(#variant);));
        self.constants.check(checked);
        name
    }

    /// Expands the fields of a literal of the type or variant `path`. Their JSON names are asked of `names` at compile time, and of
    /// the constant `number` at run time; they are asked once for all literals of the `same` type.
    pub(super) fn fields(
        &mut self,
        literal: &Literal,
        path: &TokenStream,
        names: &Ident,
        number: usize,
        same: Option<&str>,
    ) -> Fielded {
        let variant = last_name(&literal.path);
        // A message about a name points at the field.
        let names_at = |at: Span| located(names.clone(), at);
        let (mut checked, mut checks) = (TokenStream::new(), TokenStream::new());
        let check = match &literal.fields {
            Fields::Unit => {
                self.data.tag('n');
                quote!(#path {})
            }
            Fields::Named(brace, fields, rest) => {
                self.data.tag('a').number(number).text(&variant);
                self.data.number(fields.len());
                let mut given = Vec::new();
                let mut inits = Tokens::default();
                for field in fields {
                    let ident = &field.name;
                    let at = ident.span();
                    let text = text_of(ident);
                    self.data.text(&text);
                    let check = self.value(&field.value);
                    inits = inits
                        .with(ident.clone())
                        .operator(":", at)
                        .and(check)
                        .operator(",", at);
                    let known =
                        same.is_some_and(|same| !self.data.is_new_check(format!("{same}.{text}")));
                    if !known {
                        let names = names_at(at);
                        checked.extend(quote_spanned!(at=> #names.key(#variant, #text);));
                    }
                    given.push(text);
                }
                match rest {
                    Rest::Nothing => {}
                    Rest::Defaults(rest) => {
                        let [start, end] = rest.spans;
                        inits = inits.and(quote_spanned!(start=> #rest __plan::any()).into());
                        let names = names_at(start);
                        checks = quote_spanned!(end=> #names.rest(&[#(#given),*]););
                    }
                    Rest::Broken => {
                        let any = quote_spanned!(brace.span.close()=> ..__plan::any());
                        inits = inits.and(any.into());
                    }
                }
                let mut group =
                    Group::new(proc_macro2::Delimiter::Brace, inits.into_token_stream());
                group.set_span(brace.span.join());
                match (rest, enum_of(&literal.path)) {
                    // A variant cannot have `..`.
                    (Rest::Broken, Some(of)) => quote!(__plan::any::<#of>()),
                    _ => quote!(#path #group),
                }
            }
            Fields::Unnamed(paren, values) => {
                let at = paren.span.join();
                let names = names_at(at);
                let elements = (0..values.len()).map(|index| {
                    let ident = index.to_string();
                    quote_spanned!(at=> #names.element(#variant, #ident);)
                });
                checks = quote!(#(#elements)*);
                if values.len() != 1 {
                    self.data.tag('l').number(values.len());
                }
                let check: Vec<Tokens> = values.iter().map(|value| self.value(value)).collect();
                let mut group =
                    Group::new(proc_macro2::Delimiter::Parenthesis, quote!(#(#check),*));
                group.set_span(at);
                quote!(#path #group)
            }
        };
        Fielded {
            check,
            names: checked,
            checks,
        }
    }
}

/// The enum of a path that leads to a variant.
fn enum_of(path: &Path) -> Option<Path> {
    let mut path = path.clone();
    path.segments.pop();
    path.segments.pop_punct();
    let last = path.segments.last()?.ident.unraw().to_string();
    last.starts_with(char::is_uppercase).then_some(path)
}
