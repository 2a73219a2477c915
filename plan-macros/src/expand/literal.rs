//! Struct and enum literals.

use super::reference::path;
use super::value::{Builder, Expanded, ends, unzip};
use super::{last_name, slice};
use crate::ast::{Fields, Literal, Rest};
use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::ext::IdentExt;

/// The fields of a literal, expanded.
pub(super) struct Fielded {
    /// The literal, in code that is only type-checked.
    pub(super) check: TokenStream,
    /// The fields as data.
    pub(super) data: TokenStream,
    /// Statements that check the fields at compile time.
    pub(super) checks: TokenStream,
}

impl Builder<'_> {
    /// Binds a nested literal.
    pub(super) fn literal(&mut self, literal: &Literal) -> (Ident, TokenStream) {
        let (start, end) = ends(&literal.path);
        let name = self.fresh_at("l", start);
        let names = self.fresh_at("n", start);
        let Fielded {
            check,
            data,
            checks,
        } = self.fields(literal, &literal.path.to_token_stream(), &names);
        let value = Ident::new("__v", start);
        let make = path(&["Shaped", "literal"], start, end);
        self.bindings.extend(quote_spanned! {end=>
            let #name = __plan::literal(&|| { let #value = #check; #make(#value) });
        });
        // What asks for the names stands at the same place as what asks for the literal: one message for both.
        self.bindings
            .extend(quote_spanned!(start=> let #names = #name.names();));
        self.bindings.extend(checks);
        let variant = last_name(&literal.path);
        let at = |span: Span| {
            let mut names = names.clone();
            names.set_span(span.resolved_at(names.span()));
            names
        };
        let names = at(end);
        let data = quote_spanned! {end=>
            __plan::Template::Tagged(#names.tag(#variant), __plan::Cow::Borrowed(&[#data]))
        };
        (name, data)
    }

    /// Expands the fields of a literal of the type or variant `path`, whose JSON names are asked of `names`.
    pub(super) fn fields(
        &mut self,
        literal: &Literal,
        path: &TokenStream,
        names: &Ident,
    ) -> Fielded {
        let variant = last_name(&literal.path);
        // A message about a name points at the field.
        let names_at = |span: Span| {
            let mut names = names.clone();
            names.set_span(span.resolved_at(names.span()));
            names
        };
        match &literal.fields {
            Fields::Unit => Fielded {
                check: quote!(#path {}),
                data: quote!(__plan::Template::Null),
                checks: TokenStream::new(),
            },
            Fields::Named(brace, fields, rest) => {
                let mut given = Vec::new();
                let mut members = Vec::new();
                let mut checks = TokenStream::new();
                let mut inits = TokenStream::new();
                for field in fields {
                    let ident = &field.name;
                    let at = ident.span();
                    let text = ident.unraw().to_string();
                    let Expanded { check, data } = self.value(&field.value);
                    inits.extend(quote_spanned!(at=> #ident: #check,));
                    let names = names_at(at);
                    members.push(quote_spanned! {at=>
                        __plan::Entry { key: #names.key(#variant, #text), value: #data }
                    });
                    given.push(text);
                }
                match rest {
                    Rest::Nothing => {}
                    Rest::Defaults(rest) => {
                        let [start, end] = rest.spans;
                        inits.extend(quote_spanned!(start=> #rest __plan::any()));
                        let names = names_at(start);
                        checks = quote_spanned!(end=> #names.rest(&[#(#given),*]););
                    }
                    Rest::Broken => {
                        inits.extend(quote_spanned!(brace.span.close()=> ..__plan::any()));
                    }
                }
                let mut group = Group::new(proc_macro2::Delimiter::Brace, inits);
                group.set_span(brace.span.join());
                let members = slice(&members);
                let check = match (rest, enum_of(&literal.path)) {
                    // `..` cannot stand in a variant.
                    (Rest::Broken, Some(of)) => quote!(__plan::any::<#of>()),
                    _ => quote!(#path #group),
                };
                Fielded {
                    check,
                    data: quote!(__plan::Template::Object(#members)),
                    checks,
                }
            }
            Fields::Unnamed(paren, values) => {
                let at = paren.span.join();
                let names = names_at(at);
                let checks = (0..values.len()).map(|index| {
                    let ident = index.to_string();
                    quote_spanned!(at=> #names.element(#variant, #ident);)
                });
                let checks = quote!(#(#checks)*);
                let (check, data) = unzip(values.iter().map(|value| self.value(value)).collect());
                let mut group =
                    Group::new(proc_macro2::Delimiter::Parenthesis, quote!(#(#check),*));
                group.set_span(at);
                let elements = slice(&data);
                let data = match &data[..] {
                    [only] => only.clone(),
                    _ => quote!(__plan::Template::List(#elements)),
                };
                Fielded {
                    check: quote!(#path #group),
                    data,
                    checks,
                }
            }
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
