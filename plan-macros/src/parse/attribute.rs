//! Attributes that are not written as Rust wants them: `[optional]`, `#optional`, `#(optional)`.

use super::tidy;
use crate::report::Report;
use crate::syntax::tokens::Tokens;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser;
use syn::{Attribute, Meta};

/// Reads attributes. A misspelled attribute is reported and read. Returns `None` for unreadable attributes.
pub(super) fn attributes(stream: TokenStream, report: &mut Report) -> Option<Vec<Attribute>> {
    let before = report.len();
    let mut tokens = Tokens::new(stream);
    let mut written = TokenStream::new();
    let mut is_clear = true;
    // The second `#` of a `##`.
    let mut spare = None;
    while let Some(first) = tokens.next() {
        let (hash, mut tree) = match first {
            TokenTree::Punct(hash) => (Some(hash), tokens.next()),
            // `##`, which the compiler has reported.
            TokenTree::Literal(_) => {
                spare = Some(Punct::new('#', Spacing::Alone));
                (spare.clone(), tokens.next())
            }
            other => (spare.take(), Some(other)),
        };
        if let (Some(hash), Some(TokenTree::Punct(second))) = (&hash, &tree) {
            if second.as_char() == '!' {
                report.error(second, "expected an attribute without `!`: `#[…]`");
                tree = tokens.next();
            } else {
                // The compiler itself reports `##`.
                if hash.spacing() == Spacing::Alone {
                    report.error(hash, "an attribute has one `#`: `#[…]`");
                    // Its brackets may be missing.
                    is_clear = false;
                }
                tokens.put_back(tree.take()?);
                continue;
            }
        }
        let (content, in_brackets) = match &tree {
            None => {
                report.error(hash, "expected an attribute after the `#`: `#[…]`");
                is_clear = false;
                break;
            }
            Some(TokenTree::Group(group)) => {
                (group.stream(), group.delimiter() == Delimiter::Bracket)
            }
            Some(name) => {
                let given = tokens.peek_group(0, Delimiter::Parenthesis).is_some();
                let given = given.then(|| tokens.next()).flatten();
                (quote!(#name #given), false)
            }
        };
        written.extend(if in_brackets && let Some(hash) = hash {
            corrected(&hash, tree, &content, report)
        } else {
            let shown = tidy(&content);
            report.error(tree, format!("an attribute is written `#[{shown}]`"));
            quote!(#[#content])
        });
    }
    // One error is enough, because the first attribute may be a part of the next.
    report.drop_cascade(before);
    match Attribute::parse_outer.parse2(written) {
        Ok(attrs) => Some(attrs).filter(|_| is_clear),
        Err(error) => {
            report.push(error);
            None
        }
    }
}

/// Returns the attribute with this content as Rust expects it.
fn corrected(
    hash: &Punct,
    tree: Option<TokenTree>,
    content: &TokenStream,
    report: &mut Report,
) -> TokenStream {
    if let Some((first, others)) = several(content) {
        let each: Vec<String> = others
            .iter()
            .map(|other| format!("#[{}]", tidy(other)))
            .collect();
        let (first_shown, each) = (tidy(&first), each.join(" "));
        report.error(
            quote!(#(#others),*),
            format!(
                "each attribute has brackets of its own\nhelp: write `#[{first_shown}] {each}`"
            ),
        );
        return quote!(#hash [#first] #(#[#others])*);
    }
    let Some((name, arguments)) = without_parentheses(content) else {
        return quote!(#hash #tree);
    };
    let shown = tidy(&arguments);
    let second = arguments.clone().into_iter().next();
    let is_twice = second.is_some_and(|second| name == second.to_string());
    let (message, right) = if is_twice {
        let message = format!("`{name}` is here twice\nhelp: write `#[{shown}]`");
        (message, arguments.clone())
    } else {
        let message = format!(
            "the arguments of an attribute are in parentheses\nhelp: write `#[{name}({shown})]`"
        );
        (message, quote!(#name(#arguments)))
    };
    report.error(&arguments, message);
    quote!(#hash [#right])
}

/// Splits brackets with several attributes into the first attribute and the rest: `#[optional, retry(3)]`.
fn several(content: &TokenStream) -> Option<(TokenStream, Vec<TokenStream>)> {
    let is_comma = |tree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == ',');
    if !content.clone().into_iter().any(is_comma) {
        return None;
    }
    let mut tokens = Tokens::new(content.clone());
    let mut next = || {
        let part = tokens.take_until(|tokens| tokens.is_punct(0, ','));
        tokens.next();
        syn::parse2::<Meta>(part.clone()).ok().map(|_| part)
    };
    let first = next()?;
    let others: Vec<TokenStream> = std::iter::from_fn(next).collect();
    (!others.is_empty() && tokens.is_empty()).then_some((first, others))
}

/// Returns the name and the arguments of an attribute without parentheses: `#[undo paid]`.
fn without_parentheses(content: &TokenStream) -> Option<(Ident, TokenStream)> {
    let mut tokens = Tokens::new(content.clone());
    let name = tokens.next_ident()?;
    if tokens.is_colon(0) {
        tokens.next();
    }
    let is_argument = match tokens.peek(0)? {
        TokenTree::Ident(_) | TokenTree::Literal(_) => true,
        TokenTree::Punct(sign) => sign.as_char() == '-',
        TokenTree::Group(_) => false,
    };
    is_argument.then(|| (name, tokens.rest()))
}
