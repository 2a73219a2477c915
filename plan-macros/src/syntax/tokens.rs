//! Looking ahead in tokens that are not Rust.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use std::collections::VecDeque;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{Token, braced, bracketed, parenthesized, token};

/// A queue of token trees. Its methods look ahead as far as necessary to find the ends of statements.
#[derive(Clone)]
pub(crate) struct Tokens {
    queue: VecDeque<TokenTree>,
    last: Span,
}

impl Tokens {
    pub(crate) fn new(stream: TokenStream) -> Self {
        Self {
            queue: stream.into_iter().collect(),
            last: Span::call_site(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn peek(&self, ahead: usize) -> Option<&TokenTree> {
        self.queue.get(ahead)
    }

    pub(crate) fn next(&mut self) -> Option<TokenTree> {
        let next = self.queue.pop_front()?;
        self.last = end(&next);
        Some(next)
    }

    pub(crate) fn peek_last(&self) -> Option<&TokenTree> {
        self.queue.back()
    }

    pub(super) fn take_last(&mut self) -> Option<TokenTree> {
        self.queue.pop_back()
    }

    pub(crate) fn put_back(&mut self, tree: TokenTree) {
        self.queue.push_front(tree);
    }

    /// Returns the span of the token that was taken last.
    pub(crate) fn last(&self) -> Span {
        self.last
    }

    pub(crate) fn rest(&mut self) -> TokenStream {
        self.queue.drain(..).collect()
    }

    pub(crate) fn peek_ident(&self, ahead: usize) -> Option<&Ident> {
        match self.peek(ahead) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        }
    }

    pub(crate) fn peek_punct(&self, ahead: usize) -> Option<&Punct> {
        match self.peek(ahead) {
            Some(TokenTree::Punct(punct)) => Some(punct),
            _ => None,
        }
    }

    pub(crate) fn peek_group(&self, ahead: usize, delimiter: Delimiter) -> Option<&Group> {
        match self.peek(ahead) {
            Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
            _ => None,
        }
    }

    pub(crate) fn is_braces(&self, ahead: usize) -> bool {
        self.peek_group(ahead, Delimiter::Brace).is_some()
    }

    pub(crate) fn is_punct(&self, ahead: usize, char: char) -> bool {
        self.peek_punct(ahead)
            .is_some_and(|punct| punct.as_char() == char)
    }

    pub(crate) fn is_ident(&self, ahead: usize, name: &str) -> bool {
        self.peek_ident(ahead).is_some_and(|ident| ident == name)
    }

    /// Returns `true` before a colon that is no part of `::`.
    pub(crate) fn is_colon(&self, ahead: usize) -> bool {
        self.is_punct(ahead, ':') && !self.is_punct(ahead + 1, ':')
    }

    /// Returns `true` before `name:`.
    pub(crate) fn is_key(&self) -> bool {
        self.peek_ident(0).is_some() && self.is_colon(1)
    }

    pub(crate) fn next_ident(&mut self) -> Option<Ident> {
        let ident = self.peek_ident(0)?.clone();
        self.next();
        Some(ident)
    }

    pub(crate) fn next_braces(&mut self) -> Option<Group> {
        let group = self.peek_group(0, Delimiter::Brace)?.clone();
        self.next();
        Some(group)
    }

    pub(crate) fn eat_punct(&mut self, char: char) -> bool {
        let found = self.is_punct(0, char);
        if found {
            self.next();
        }
        found
    }

    /// Takes all tokens before the first match of the condition. The condition is evaluated once for each token.
    pub(crate) fn take_until(&mut self, mut ends: impl FnMut(&Self) -> bool) -> TokenStream {
        let mut taken = TokenStream::new();
        while !self.is_empty() && !ends(self) {
            taken.extend(self.next());
        }
        taken
    }

    /// Takes a type, up to where the condition holds outside of `<` and `>`.
    pub(crate) fn take_type(&mut self, mut ends: impl FnMut(&Self) -> bool) -> TokenStream {
        let mut angles = 0_usize;
        let mut arrow = false;
        self.take_until(|tokens| {
            if angles == 0 && ends(tokens) {
                return true;
            }
            match tokens.peek_punct(0).map(Punct::as_char) {
                Some('<') => angles += 1,
                Some('>') if !arrow => angles = angles.saturating_sub(1),
                _ => {}
            }
            arrow = tokens.is_arrow(0);
            false
        })
    }

    /// Returns `true` before `->`.
    pub(crate) fn is_arrow(&self, ahead: usize) -> bool {
        let joint = |punct: &Punct| punct.spacing() == Spacing::Joint;
        self.is_punct(ahead, '-')
            && self.peek_punct(ahead).is_some_and(joint)
            && self.is_punct(ahead + 1, '>')
    }

    /// Opens the next group if it has no delimiters. Such a group contains tokens that another macro captured, such as `$vis`.
    pub(crate) fn ungroup(&mut self) {
        if let Some(group) = self.peek_group(0, Delimiter::None) {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            self.queue.pop_front();
            for tree in inside.into_iter().rev() {
                self.put_back(tree);
            }
        }
    }

    /// Takes the next attributes and their usual misspellings: `[optional]`, `#optional`.
    pub(crate) fn attributes(&mut self) -> TokenStream {
        let mut attributes = TokenStream::new();
        while let Some(length) = self.attribute(0).or_else(|| self.bare_attribute()) {
            attributes.extend(self.queue.drain(..length - 1));
            attributes.extend(self.next());
        }
        attributes
    }

    /// Returns the number of tokens of the attribute here.
    pub(crate) fn attribute(&self, ahead: usize) -> Option<usize> {
        if !self.is_hash(ahead) {
            return None;
        }
        let is_next = |at| {
            let starts = |word| self.is_ident(ahead + at, word);
            self.is_hash(ahead + at) || starts("step") || starts("pub")
        };
        match self.peek(ahead + 1)? {
            _ if is_next(1) => Some(1),
            TokenTree::Group(_) => Some(2),
            TokenTree::Punct(sign) => {
                let group = self.peek_group(ahead + 2, Delimiter::Bracket);
                (sign.as_char() == '!' && group.is_some()).then_some(3)
            }
            TokenTree::Ident(_) if is_next(2) => Some(2),
            TokenTree::Ident(_) => {
                let given = self.peek_group(ahead + 2, Delimiter::Parenthesis);
                given.map(|_| 3)
            }
            TokenTree::Literal(_) => None,
        }
    }

    /// Returns 1, the number of tokens, for an attribute without `#`, such as `[optional]`.
    fn bare_attribute(&self) -> Option<usize> {
        self.peek_group(0, Delimiter::Bracket)?;
        let word = self.peek_ident(1).is_some_and(|word| word != "as");
        (word || self.is_hash(1)).then_some(1)
    }

    /// Returns `true` before `#`, or before `##`, which the compiler reports and passes on as one token.
    fn is_hash(&self, ahead: usize) -> bool {
        self.is_punct(ahead, '#')
            || matches!(self.peek(ahead), Some(TokenTree::Literal(hashes)) if hashes.to_string() == "##")
    }
}

/// Returns the first token.
pub(crate) fn first(tokens: &TokenStream) -> Option<TokenTree> {
    tokens.clone().into_iter().next()
}

/// Returns the last token.
pub(crate) fn last(tokens: &TokenStream) -> Option<TokenTree> {
    tokens.clone().into_iter().last()
}

/// Returns the token that is all of the tokens.
pub(crate) fn only(tokens: &TokenStream) -> Option<TokenTree> {
    let mut trees = tokens.clone().into_iter();
    let first = trees.next()?;
    trees.next().is_none().then_some(first)
}

/// Returns the word that the tokens begin with.
pub(crate) fn first_word(tokens: &TokenStream) -> Option<Ident> {
    match first(tokens)? {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    }
}

pub(crate) fn starts_with(tokens: &TokenStream, sign: char) -> bool {
    first(tokens).is_some_and(|first| is_sign(&first, sign))
}

pub(crate) fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

pub(crate) fn is_word(tree: &TokenTree, name: &str) -> bool {
    matches!(tree, TokenTree::Ident(word) if word == name)
}

/// Returns the braces that a token is.
pub(crate) fn braces(tree: &TokenTree) -> Option<&Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
        _ => None,
    }
}

/// Returns the start of a token.
pub(crate) fn start(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    }
}

/// Returns the end of a token.
pub(crate) fn end(tree: &TokenTree) -> Span {
    match tree {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    }
}

/// Returns the end of the last token.
pub(crate) fn end_of(tokens: &TokenStream) -> Option<Span> {
    last(tokens).as_ref().map(end)
}

/// Takes the rest of a group, so that `syn` does not report it as well.
pub(crate) fn drain(content: ParseStream<'_>) -> TokenStream {
    content.parse().unwrap_or_default()
}

/// Parses the start of the tokens, and ignores the rest.
pub(crate) fn parse_start<T>(
    tokens: TokenStream,
    parse: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let parser = |input: ParseStream<'_>| {
        let parsed = parse(input)?;
        drain(input);
        Ok(parsed)
    };
    parser.parse2(tokens)
}

/// Returns `<>` to write after the name of an item. Otherwise rustc would propose to make an unknown type in the item a parameter of the item.
pub(crate) fn no_parameters(name: Span) -> TokenStream {
    let at = Span::mixed_site().located_at(name);
    quote_spanned!(at=> <>)
}

/// Returns these tokens with one span for all.
pub(crate) fn placed(tokens: TokenStream, at: Span) -> TokenStream {
    let trees = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), placed(group.stream(), at)).into();
        }
        tree.set_span(at);
        tree
    });
    trees.collect()
}

/// Returns `true` if `is` holds for a token, or for a token in a group.
pub(crate) fn mentions(tokens: &TokenStream, is: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.clone().into_iter().any(|token| match &token {
        TokenTree::Group(group) => mentions(&group.stream(), is),
        token => is(token),
    })
}

/// Returns `true` before a comma or the end.
pub(super) fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![,])
}

pub(crate) fn in_brackets<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Bracket, ParseBuffer<'a>)> {
    let content;
    Ok((bracketed!(content in input), content))
}

pub(super) fn in_parens<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Paren, ParseBuffer<'a>)> {
    let content;
    Ok((parenthesized!(content in input), content))
}

pub(crate) fn in_braces<'a>(
    input: &ParseBuffer<'a>,
) -> syn::Result<(token::Brace, ParseBuffer<'a>)> {
    let content;
    Ok((braced!(content in input), content))
}

/// Returns the name and the `=` before an argument of a macro: `format!("{x}", x = 1)`.
pub(crate) fn argument_name(input: ParseStream<'_>) -> syn::Result<Option<(Ident, Token![=])>> {
    let is_named = input.peek(Ident::peek_any) && input.peek2(Token![=]);
    if !is_named || input.peek2(Token![==]) {
        return Ok(None);
    }
    Ok(Some((input.call(Ident::parse_any)?, input.parse()?)))
}

/// Returns tokens in brackets with this span.
pub(crate) fn enclosed(delimiter: Delimiter, inside: impl ToTokens, at: Span) -> Group {
    let mut group = Group::new(delimiter, inside.into_token_stream());
    group.set_span(at);
    group
}
