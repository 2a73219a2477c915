//! Names in the tokens of macros inside an expression: `format!("{name}")`, `vec![name]`, and macros that are not known.

use super::Finder;
use super::visit::Access;
use crate::docs::{last_name, text_of};
use crate::syntax::{argument_name, format_string};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Macro, Pat, Token};

impl Finder<'_> {
    /// Visits names in a macro's tokens: as expressions in the known macros.
    pub(super) fn visit_tokens(&mut self, call: &mut Macro) {
        let is_any = |_| true;
        match &*last_name(&call.path) {
            "vec" | "dbg" => self.visit_arguments(call, Access::Move, |_| false),
            "assert" | "debug_assert" | "write" | "writeln" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 1);
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 2);
            }
            "format" | "print" | "println" | "eprint" | "eprintln" | "panic" | "unreachable"
            | "todo" | "unimplemented" | "format_args" => {
                self.visit_arguments(call, Access::Borrow, |at| at == 0);
            }
            "matches" => self.visit_matches(call),
            "stringify" | "concat" => self.visit_foreign(call.tokens.clone()),
            _ => {
                self.foreign += 1;
                self.nested(|finder| finder.visit_arguments(call, Access::UNKNOWN, is_any));
                self.foreign -= 1;
            }
        }
    }

    /// Expressions with something between them: `vec![a, b]`, `vec![a; n]`, `format!("…", name = a)`, `map! { "a" => b }`. `is_format` returns
    /// `true` for the index of an argument that may be a format string.
    fn visit_arguments(
        &mut self,
        call: &mut Macro,
        access: Access,
        is_format: impl Fn(usize) -> bool,
    ) {
        let parser = |input: ParseStream<'_>| {
            let mut parts = Vec::new();
            while !input.is_empty() {
                let name = argument_name(input)?;
                let expr: Expr = input.parse()?;
                let separator = if input.is_empty() {
                    TokenStream::new()
                } else if let Some(arrow) = input.parse::<Option<Token![=>]>>()? {
                    arrow.to_token_stream()
                } else {
                    input.parse::<TokenTree>()?.into()
                };
                parts.push((name, expr, separator));
            }
            Ok(parts)
        };
        let Ok(parts) = parser.parse2(call.tokens.clone()) else {
            return self.visit_foreign(call.tokens.clone());
        };
        let names = parts.iter().filter_map(|(name, ..)| name.as_ref());
        let named: Vec<String> = names.map(|(name, _)| text_of(name)).collect();
        call.tokens = TokenStream::new();
        for (at, (name, mut expr, separator)) in parts.into_iter().enumerate() {
            match string_literal(&expr).filter(|_| is_format(at)) {
                Some(text) => {
                    for name in captured(text).filter(|name| !named.contains(&text_of(name))) {
                        self.mention(&name);
                    }
                }
                None => self.visit(&mut expr, access),
            }
            let name = name.map(|(name, equals)| quote::quote!(#name #equals));
            name.to_tokens(&mut call.tokens);
            expr.to_tokens(&mut call.tokens);
            call.tokens.extend(separator);
        }
    }

    /// `matches!(a, pattern if guard)`
    fn visit_matches(&mut self, call: &mut Macro) {
        let parser = |input: ParseStream<'_>| {
            let expr: Expr = input.parse()?;
            let comma: Token![,] = input.parse()?;
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            let guard = if input.peek(Token![if]) {
                let keyword: Token![if] = input.parse()?;
                Some((keyword, input.parse::<Expr>()?))
            } else {
                None
            };
            let trailing: Option<Token![,]> = input.parse()?;
            Ok((expr, comma, pat, guard, trailing))
        };
        let Ok((mut expr, comma, pat, guard, trailing)) = parser.parse2(call.tokens.clone()) else {
            return self.visit_foreign(call.tokens.clone());
        };
        self.visit_matched(&mut expr, [&pat]);
        self.scoped(|finder| {
            finder.bind(&pat);
            let guard = guard.map(|(keyword, mut guard)| {
                finder.visit_expr_mut(&mut guard);
                quote::quote!(#keyword #guard)
            });
            call.tokens = quote::quote!(#expr #comma #pat #guard #trailing);
        });
    }

    /// Visits a macro of unknown meaning: names of the plan are mentioned, and unknown names belong to the macro.
    fn visit_foreign(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for tree in tokens {
            match &tree {
                TokenTree::Ident(ident)
                    if !after_dot && !self.is_bound(ident) && self.is_known(ident) =>
                {
                    self.record(ident);
                }
                TokenTree::Group(group) => self.visit_foreign(group.stream()),
                TokenTree::Literal(text) if self.foreign > 0 => {
                    let text = syn::parse2::<LitStr>(TokenTree::from(text.clone()).into());
                    text.iter().flat_map(captured).for_each(|name| {
                        self.mention(&name);
                    });
                }
                _ => {}
            }
            after_dot = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

/// Returns the string literal that an expression is.
fn string_literal(expr: &Expr) -> Option<&LitStr> {
    match expr {
        Expr::Group(group) => string_literal(&group.expr),
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Returns the names in the placeholders of a format string.
fn captured(text: &LitStr) -> impl Iterator<Item = Ident> {
    let (at, value) = (text.span(), text.value());
    let names = format_string::captured(&value).into_iter();
    let names: Vec<Ident> = names
        .filter_map(|name| format_string::name(name, at))
        .collect();
    names.into_iter()
}
