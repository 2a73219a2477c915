//! Values as plain Rust: the author's tokens, with what may be of another type than its place wrapped.

use super::scan::{self, separated, take_until};
use super::{Mirror, text};
use crate::parse::tokens::Tokens;
use proc_macro2::{Delimiter, Group, Punct, TokenStream, TokenTree};
use quote::{ToTokens, quote};

impl Mirror {
    /// A value where one of a type is wanted; it may have another type.
    pub(super) fn argument(&self, value: TokenStream) -> TokenStream {
        let editor = &self.editor;
        let value = self.value(value);
        quote!(#editor::arg(&(#value)))
    }

    /// A value with a given type. A plain expression has exactly that type.
    pub(super) fn typed(&self, value: TokenStream) -> TokenStream {
        if is_expression(&value) {
            value
        } else {
            self.argument(value)
        }
    }

    /// The author's tokens. What has values inside it is gone into, so that each is wrapped for itself.
    pub(super) fn value(&self, tokens: TokenStream) -> TokenStream {
        let editor = &self.editor;
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        match &trees[..] {
            // What another macro captured.
            [TokenTree::Group(group)] if is(group, Delimiter::None) => self.value(group.stream()),
            [TokenTree::Group(group)] if is(group, Delimiter::Bracket) && !holds(group, ';') => {
                self.within(group, |tokens| self.argument(tokens))
            }
            [TokenTree::Group(group)] if is(group, Delimiter::Parenthesis) && holds(group, ',') => {
                self.within(group, |tokens| self.argument(tokens))
            }
            [TokenTree::Group(group)] if is(group, Delimiter::Parenthesis) => {
                regroup(group, self.value(group.stream()))
            }
            [path @ .., TokenTree::Punct(bang), TokenTree::Group(group)]
                if bang.as_char() == '!' && ends_in(path, |name| name == "json") =>
            {
                let json = self.json(group.stream());
                quote!(#editor::json(#json))
            }
            [path @ .., TokenTree::Punct(bang), TokenTree::Group(group)]
                if bang.as_char() == '!' && ends_in(path, |name| name == "format") =>
            {
                quote!(#editor::format! #group)
            }
            [path @ .., TokenTree::Group(group)]
                if is(group, Delimiter::Brace) && is_path(path) =>
            {
                let fields = self.within(group, |field| self.field(field));
                let path: TokenStream = path.iter().cloned().collect();
                quote!(#path #fields)
            }
            [path @ .., TokenTree::Group(group)]
                if is(group, Delimiter::Parenthesis) && is_path(path) =>
            {
                // Of the values, some may be missing.
                let path: TokenStream = path.iter().cloned().collect();
                let values = self.within(group, |tokens| self.argument(tokens));
                quote!(#editor::variant(#path, #values))
            }
            _ => elements(tokens),
        }
    }

    /// The group, with each of the values in it as `each` makes it.
    fn within(
        &self,
        group: &Group,
        mut each: impl FnMut(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let values = values(group.stream()).into_iter().map(|(value, comma)| {
            let value = each(value);
            quote!(#value #comma)
        });
        regroup(group, values.collect())
    }

    /// A field of a literal.
    fn field(&self, field: TokenStream) -> TokenStream {
        let editor = &self.editor;
        let mut tokens = Tokens::new(field.clone());
        let is = |tokens: &Tokens, ahead: usize, char: char| {
            let punct = tokens.peek_punct(ahead);
            punct.is_some_and(|punct| punct.as_char() == char)
        };
        match (tokens.peek_ident(0), tokens.peek(1)) {
            (Some(name), None) if self.knows(name) || self.bound.contains(&text(name)) => {
                let value = self.argument(name.to_token_stream());
                quote!(#name: #value)
            }
            (Some(_), Some(_)) if is(&tokens, 1, ':') && !is(&tokens, 2, ':') => {
                let (name, colon) = (tokens.next(), tokens.next());
                let value = self.argument(scan::expression(&mut tokens));
                let next = self.field(tokens.rest());
                quote!(#name #colon #value #next)
            }
            _ if is(&tokens, 0, '.') && is(&tokens, 1, '.') && tokens.peek(2).is_none() => {
                quote!(#field #editor::any())
            }
            // The name of a half-typed field is written once, as it is.
            _ => field,
        }
    }

    /// The content of `json!(…)`, with tuples for objects and lists, whose elements need not be of one type.
    fn json(&self, tokens: TokenStream) -> TokenStream {
        let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
        match &trees[..] {
            [TokenTree::Group(group)] if is(group, Delimiter::Brace) => {
                let entries = values(group.stream()).into_iter().map(|(entry, comma)| {
                    let mut entry = Tokens::new(entry);
                    let key = take_until(&mut entry, |tokens| {
                        tokens
                            .peek_punct(0)
                            .is_some_and(|punct| punct.as_char() == ':')
                    });
                    entry.next();
                    let value = self.json(entry.rest());
                    quote!((#key, #value) #comma)
                });
                quote!((#(#entries)*))
            }
            [TokenTree::Group(group)] if is(group, Delimiter::Bracket) => {
                let values = values(group.stream()).into_iter().map(|(value, comma)| {
                    let value = self.json(value);
                    quote!(#value #comma)
                });
                quote!((#(#values)*))
            }
            [TokenTree::Ident(null)] if null == "null" => quote!(()),
            _ => self.argument(tokens),
        }
    }
}

/// The tokens between commas, up to where another value can begin.
pub(super) fn values(stream: TokenStream) -> Vec<(TokenStream, Option<Punct>)> {
    let mut values = separated(stream);
    if values.last().is_none_or(|(_, comma)| comma.is_some()) {
        values.push((TokenStream::new(), None));
    }
    values
}

/// `inbox.data[..].subject` leads on into the elements, as a field of a slice would not.
fn elements(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_reference = trees.iter().all(|tree| match tree {
        TokenTree::Punct(punct) => matches!(punct.as_char(), '.' | '?'),
        _ => true,
    });
    let is_dot = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(dot)) if dot.as_char() == '.');
    let is_call = |at: usize| matches!(trees.get(at), Some(TokenTree::Group(group)) if is(group, Delimiter::Parenthesis));
    let trees = trees.iter().enumerate().map(|(at, tree)| match tree {
        TokenTree::Group(group) if is(group, Delimiter::Bracket) && at > 0 && is_every(group) => {
            let leads_on =
                is_dot(trees.get(at + 1)) && !is_dot(trees.get(at + 2)) && !is_call(at + 3);
            let leads_on = leads_on || is_reference && at + 1 == trees.len();
            if leads_on {
                TokenTree::Group(Group::new(Delimiter::Bracket, quote!(0)))
            } else {
                tree.clone()
            }
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), elements(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        _ => tree.clone(),
    });
    trees.collect()
}

fn regroup(group: &Group, stream: TokenStream) -> TokenStream {
    let mut new = Group::new(group.delimiter(), stream);
    new.set_span(group.span());
    TokenStream::from(TokenTree::Group(new))
}

fn is(group: &Group, delimiter: Delimiter) -> bool {
    group.delimiter() == delimiter
}

fn holds(group: &Group, char: char) -> bool {
    let mut trees = group.stream().into_iter();
    trees.any(|tree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char))
}

/// Whether the brackets are those of `[..]`.
fn is_every(group: &Group) -> bool {
    let trees: Vec<TokenTree> = group.stream().into_iter().collect();
    let is_dot = |tree: &TokenTree| matches!(tree, TokenTree::Punct(dot) if dot.as_char() == '.');
    trees.len() == 2 && trees.iter().all(is_dot)
}

/// Whether the last token is a name for which the condition holds.
fn ends_in(trees: &[TokenTree], is: impl Fn(&str) -> bool) -> bool {
    matches!(trees.last(), Some(TokenTree::Ident(ident)) if is(&ident.to_string()))
}

pub(super) fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Whether there is an operator, or a call.
fn is_expression(value: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = value.clone().into_iter().collect();
    let is_call = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(name), TokenTree::Group(group)] => {
            let name = name.to_string();
            let leads = name == "get" || name == "pointer";
            is(group, Delimiter::Parenthesis) && !leads && !is_type(&name)
        }
        _ => false,
    };
    let is_operator = |tree: &TokenTree| match tree {
        TokenTree::Punct(punct) => !matches!(punct.as_char(), '.' | ':' | '?' | '!'),
        _ => false,
    };
    trees.windows(2).any(is_call) || trees.iter().skip(1).any(is_operator)
}

/// Whether the tokens are the path of a type, perhaps with `::<…>` in it.
pub(super) fn is_path(trees: &[TokenTree]) -> bool {
    let mut angles = 0_usize;
    let mut last_name = None;
    for tree in trees {
        match tree {
            TokenTree::Punct(punct) => match punct.as_char() {
                '<' => angles += 1,
                '>' => angles = angles.saturating_sub(1),
                ':' => {}
                _ if angles > 0 => {}
                _ => return false,
            },
            _ if angles > 0 => {}
            TokenTree::Ident(name) => last_name = Some(name.to_string()),
            _ => return false,
        }
    }
    angles == 0 && last_name.is_some_and(|name| is_type(&name))
}
