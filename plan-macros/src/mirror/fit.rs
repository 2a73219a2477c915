//! Whether references fit the arguments that they are given to, where rust-analyzer looks for it. The mirror itself cannot say: in
//! it, a value may be of another type than its place.

use super::value::{is_path, is_type, separated};
use super::{Mirror, placed, unplaced};
use crate::scan::tokens::Tokens;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

impl Mirror {
    /// A check of each reference that is an argument in a literal, at any depth. `root` says where the value of a name is.
    pub(super) fn fits(
        &self,
        tokens: &TokenStream,
        root: &dyn Fn(&Ident) -> Option<TokenStream>,
    ) -> TokenStream {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut checks = TokenStream::new();
        for (at, tree) in trees.iter().enumerate() {
            let TokenTree::Group(group) = tree else {
                continue;
            };
            checks.extend(self.fits(&group.stream(), root));
            let path = path_before(&trees[..at]);
            let is_literal =
                group.delimiter() == Delimiter::Brace && is_path(path) && !is_variant(path);
            if !is_literal {
                continue;
            }
            for (field, _) in separated(group.stream()) {
                let mut field = Tokens::new(field);
                if let (Some(TokenTree::Ident(name)), true) = (field.next(), field.eat_punct(':')) {
                    let colon = field.last();
                    checks.extend(self.fit(path, &name, colon, field.rest(), root));
                }
            }
        }
        checks
    }

    fn fit(
        &self,
        literal: &[TokenTree],
        name: &Ident,
        colon: Span,
        value: TokenStream,
        root: &dyn Fn(&Ident) -> Option<TokenStream>,
    ) -> Option<TokenStream> {
        let editor = &self.editor;
        let (first, rest) = reference(value)?;
        let root = root(&first)?;
        let literal = unplaced(literal.iter().cloned().collect());
        let name = unplaced(name.to_token_stream());
        let field = quote!(|it: &#literal| &it.#name);
        // The expected value has the span of the whole reference, so that all of it is underlined. But no generated name has the span
        // of a name that the author wrote, where an editor would find it, too.
        let end = rest.last().map_or(first.span(), end_of);
        let inner = rest.first().map_or(colon, TokenTree::span);
        let rest: TokenStream = rest.into_iter().collect();
        let fit = placed(quote!(#editor::place(#field, &#root #rest).fit()), inner);
        let given: TokenStream = [
            parenthesized(fit, first.span()),
            parenthesized(TokenStream::new(), end),
        ]
        .into_iter()
        .collect();
        Some(quote!(#editor::field(#field).takes(#given);))
    }
}

/// The path that ends here.
fn path_before(trees: &[TokenTree]) -> &[TokenTree] {
    let mut start = trees.len();
    while let Some(TokenTree::Ident(_)) = start.checked_sub(1).and_then(|last| trees.get(last)) {
        start -= 1;
        match &trees[..start] {
            [.., TokenTree::Punct(first), TokenTree::Punct(second)]
                if first.as_char() == ':' && second.as_char() == ':' =>
            {
                start -= 2;
            }
            _ => break,
        }
    }
    &trees[start..]
}

/// The tokens of a reference: names, fields and indices.
fn reference(value: TokenStream) -> Option<(Ident, Vec<TokenTree>)> {
    let mut trees = value.into_iter();
    let Some(TokenTree::Ident(root)) = trees.next() else {
        return None;
    };
    let rest: Vec<TokenTree> = trees.collect();
    let mut dotted = false;
    let leads_on = rest.iter().all(|tree| {
        let was_dotted = std::mem::take(&mut dotted);
        match tree {
            TokenTree::Ident(_) => was_dotted,
            TokenTree::Literal(literal) => was_dotted && literal.to_string().parse::<u32>().is_ok(),
            TokenTree::Punct(punct) => {
                dotted = punct.as_char() == '.';
                dotted && !was_dotted
            }
            TokenTree::Group(group) => {
                let mut index = group.stream().into_iter();
                let is_index = matches!(
                    (index.next(), index.next()),
                    (Some(TokenTree::Literal(_)), None)
                );
                !was_dotted && group.delimiter() == Delimiter::Bracket && is_index
            }
        }
    });
    (leads_on && !dotted).then_some((root, rest))
}

/// Whether the path is that of an enum's variant, which is not a type.
fn is_variant(path: &[TokenTree]) -> bool {
    let mut names = path.iter().rev().filter_map(|tree| match tree {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    });
    names.nth(1).is_some_and(|name| is_type(&name))
}

fn end_of(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}

fn parenthesized(stream: TokenStream, at: Span) -> TokenTree {
    let mut group = Group::new(Delimiter::Parenthesis, stream);
    group.set_span(at);
    TokenTree::Group(group)
}
