//! Names in the tokens of macros inside an expression: `format!("{name}")`, `vec![name]`, and macros that are not known.

use super::Finder;
use super::visit::Access;
use crate::docs::last_name;
use crate::syntax::argument_name;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, LitStr, Macro, Pat, Token};

impl Finder<'_> {
    /// Visits names in a macro's tokens: as expressions in the known macros.
    pub(super) fn visit_tokens(&mut self, call: &mut Macro) {
        match &*last_name(&call.path) {
            "vec" | "dbg" => self.visit_arguments(call, Access::Move),
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq"
            | "debug_assert_ne" => self.visit_arguments(call, Access::Borrow),
            "format" | "print" | "println" | "eprint" | "eprintln" | "write" | "writeln"
            | "panic" | "unreachable" | "todo" | "unimplemented" | "format_args" => {
                self.visit_captures(call.tokens.clone());
                self.visit_arguments(call, Access::Borrow);
            }
            "matches" => self.visit_matches(call),
            "stringify" | "concat" => self.visit_foreign(call.tokens.clone()),
            _ => {
                self.foreign += 1;
                self.nested(|finder| finder.visit_arguments(call, Access::UNKNOWN));
                self.foreign -= 1;
            }
        }
    }

    /// Expressions with something between them: `vec![a, b]`, `vec![a; n]`, `format!("…", name = a)`, `map! { "a" => b }`.
    fn visit_arguments(&mut self, call: &mut Macro, access: Access) {
        let parser = |input: ParseStream<'_>| {
            let mut parts = Vec::new();
            while !input.is_empty() {
                let name = argument_name(input)?;
                let name = name.map(|(name, equals)| quote::quote!(#name #equals));
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
        call.tokens = TokenStream::new();
        for (name, mut expr, separator) in parts {
            self.visit(&mut expr, access);
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

    /// Visits the names in the format string of `format!("{name}")`.
    fn visit_captures(&mut self, tokens: TokenStream) {
        let named = named_arguments(tokens.clone());
        let text = tokens.into_iter().find_map(|tree| match tree {
            TokenTree::Literal(literal) => {
                syn::parse2::<LitStr>(TokenTree::Literal(literal).into()).ok()
            }
            _ => None,
        });
        let Some(text) = text else { return };
        for name in captured(&text.value()) {
            let Ok(mut ident) = syn::parse_str::<Ident>(name) else {
                continue;
            };
            ident.set_span(text.span());
            if !named.contains(&ident) {
                self.mention(&ident);
            }
        }
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
                _ => {}
            }
            after_dot = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

/// Returns the names before a `=`: arguments of `format!` that its format string names.
fn named_arguments(tokens: TokenStream) -> Vec<Ident> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let names = trees.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Punct(equals)] if equals.as_char() == '=' => {
            Some(name.clone())
        }
        _ => None,
    });
    names.collect()
}

/// Returns the names in the placeholders of a format string: values, widths and precisions, which end with `$`.
fn captured(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            rest = after;
            continue;
        }
        let Some((inside, after)) = rest.split_once('}') else {
            break;
        };
        rest = after;
        let (name, spec) = inside.split_once(':').unwrap_or((inside, ""));
        names.push(name.trim());
        let mut counts: Vec<&str> = spec.split('$').collect();
        counts.pop();
        for count in counts {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let start = count.trim_end_matches(is_part).len();
            // A `0` before a width asks for zeros.
            let name = count[start..].trim_start_matches('0');
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::captured;

    #[test]
    fn what_a_format_string_names() {
        for (text, names) in [
            ("", &[][..]),
            ("{a} and {b:?}", &["a", "b"]),
            ("{{a}} {{{b}}} {c}}}", &["b", "c"]),
            ("{} {0} {a:>5}", &["", "0", "a"]),
            (
                "{a:width$} {b:>08.digits$} {c:#0w$.p$x}",
                &["a", "width", "b", "digits", "c", "w", "p"],
            ),
            ("{a", &[]),
        ] {
            assert_eq!(captured(text), names, "{text}");
        }
    }
}
