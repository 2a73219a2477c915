//! `pub Name(input: Type) -> Output { … }`.

use super::tokens::Tokens;
use super::value::split;
use crate::docs::is_among;
use proc_macro2::{Delimiter, Group, Ident, Punct, Span, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Token, Type};

/// The part before the braces in the item form.
pub(crate) struct HeadTokens {
    /// The items before the plan, where there should be none: `use tools::Say;`.
    pub(crate) items: TokenStream,
    pub(crate) attrs: TokenStream,
    pub(crate) vis: TokenStream,
    /// Keywords before the name, where none belongs: `async fn`.
    pub(crate) keywords: Vec<Ident>,
    /// The name, or where it should be.
    pub(crate) name: Result<Ident, Span>,
    /// The tokens between the name and the inputs: `<T>`, which no plan has.
    pub(crate) generics: TokenStream,
    /// `None` without parentheses.
    pub(crate) inputs: Option<Vec<InputTokens>>,
    /// The braces around the inputs, where parentheses should be.
    pub(crate) braced_inputs: Option<Span>,
    /// The tokens between the inputs and the arrow or the braces, where there should be none.
    pub(crate) extra: TokenStream,
    /// The end of the arrow, and the type after it.
    pub(crate) output: Option<(Span, TokenStream)>,
    /// `true` for a head with braces after it.
    pub(crate) braces: bool,
    /// The end of the last token before the braces, or of all without braces.
    pub(crate) end: Span,
    /// The tokens after the braces.
    pub(crate) after: TokenStream,
}

impl HeadTokens {
    /// Returns `true` if the plan is an item, and not an expression.
    pub(crate) fn is_item(&self) -> bool {
        self.name.is_ok() || !self.vis.is_empty()
    }

    /// Returns the names of the inputs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        let inputs = self.inputs.iter().flatten();
        inputs.filter_map(|input| input.name.as_ref())
    }
}

/// The tokens up to a comma, or up to the next `name:` if the comma is missing.
pub(crate) struct InputTokens {
    /// The attributes, and `mut` or `pub`, which do not belong there.
    pub(crate) before: TokenStream,
    pub(crate) name: Option<Ident>,
    /// The colon and the type.
    pub(crate) ty: TokenStream,
    /// The tokens after the type, where there should be none.
    pub(crate) extra: TokenStream,
    pub(crate) comma: Option<Punct>,
}

/// Returns the head, and the content of its braces, or `None` in the expression form.
pub(super) fn head(tokens: &mut Tokens) -> Option<(HeadTokens, Tokens)> {
    let items = items(tokens);
    let attrs = tokens.attributes();
    tokens.ungroup();
    let mut vis = TokenStream::new();
    if tokens.is_ident(0, "pub") {
        vis.extend(tokens.next());
        if is_scope(tokens, 0) && tokens.peek(1).is_some() {
            vis.extend(tokens.next());
        }
    } else if !starts_head(tokens) && !is_nameless(tokens) {
        return None;
    }
    let is_later = |tokens: &Tokens| is_word_before_name(tokens) && tokens.is_ident(1, "pub");
    let is_keyword = tokens.peek_ident(0).is_some_and(is_item_keyword)
        || tokens.is_ident(0, "pub")
        || is_word_before_name(tokens) && !is_later(tokens);
    let mut keywords = Vec::from_iter(is_keyword.then(|| tokens.next_ident()).flatten());
    while !keywords.is_empty() && tokens.peek_ident(0).is_some_and(is_item_keyword) {
        keywords.extend(tokens.next_ident());
    }
    if is_scope(tokens, 0) && tokens.peek_ident(1).is_some() {
        tokens.next();
    }
    let is_later = is_later(tokens);
    let name = tokens.next_ident().ok_or_else(|| {
        let next = tokens.peek(0);
        next.map_or(tokens.last(), proc_macro2::TokenTree::span)
    });
    if is_later {
        keywords.extend(tokens.next_ident());
    }
    let generics = if tokens.is_punct(0, '<') {
        tokens.take_until(|tokens| is_inputs(tokens) || ends(tokens))
    } else {
        TokenStream::new()
    };
    // No arrow or other braces follow the braces of the steps.
    let braced = tokens.peek_group(0, Delimiter::Brace);
    let braced = braced.filter(|_| tokens.is_arrow(1) || tokens.is_braces(1));
    let group = tokens.peek_group(0, Delimiter::Parenthesis).or(braced);
    let inputs = group.map(|group| inputs(group.stream()));
    let braced_inputs = braced.map(Group::span);
    if inputs.is_some() {
        tokens.next();
    }
    let extra = tokens.take_until(ends);
    let output = tokens.is_arrow(0).then(|| {
        tokens.next();
        tokens.next();
        let arrow = tokens.last();
        (arrow, tokens.take_until(|tokens| tokens.is_braces(0)))
    });
    let end = tokens.last();
    let body = tokens.peek_group(0, Delimiter::Brace).map(Group::stream);
    tokens.next();
    let head = HeadTokens {
        items,
        attrs,
        vis,
        keywords,
        name,
        generics,
        inputs,
        braced_inputs,
        extra,
        output,
        braces: body.is_some(),
        end,
        after: tokens.rest(),
    };
    Some((head, Tokens::new(body.unwrap_or_default())))
}

/// Takes the items that end with a semicolon.
fn items(tokens: &mut Tokens) -> TokenStream {
    const WORDS: [&str; 4] = ["use", "const", "static", "type"];
    let is_item = |tokens: &Tokens| {
        let at = usize::from(tokens.is_ident(0, "pub"));
        WORDS.iter().any(|word| tokens.is_ident(at, word))
    };
    let mut items = TokenStream::new();
    while is_item(tokens) {
        items.extend(tokens.take_until(|tokens| tokens.is_punct(0, ';')));
        items.extend(tokens.next());
    }
    items
}

/// Returns `true` before `(crate)`, as after a `pub`.
fn is_scope(tokens: &Tokens, ahead: usize) -> bool {
    let group = tokens.peek_group(ahead, Delimiter::Parenthesis);
    let first = group.and_then(|group| group.stream().into_iter().next());
    matches!(first, Some(TokenTree::Ident(word)) if is_among(&word, "crate self super in"))
}

fn is_inputs(tokens: &Tokens) -> bool {
    tokens.peek_group(0, Delimiter::Parenthesis).is_some()
}

fn ends(tokens: &Tokens) -> bool {
    tokens.is_arrow(0) || tokens.is_braces(0)
}

/// Returns `true` before `Name(…)`, `Name ->`, `Name<`, `Name {` with steps in it, or `Name` and inputs in other brackets.
fn starts_head(tokens: &Tokens) -> bool {
    let Some(name) = tokens.peek_ident(0).filter(|name| *name != "step") else {
        return false;
    };
    if is_item_keyword(name) && tokens.peek_ident(1).is_some() || is_word_before_name(tokens) {
        return true;
    }
    if let Some(inputs) = tokens.peek_group(1, Delimiter::Parenthesis) {
        let mut inputs = Tokens::new(inputs.stream());
        inputs.attributes();
        let has_type = inputs.is_key();
        // `Some(value)?` is an expression.
        let has_body = tokens.is_braces(2);
        return has_type || has_body || tokens.is_arrow(2) || tokens.peek(2).is_none();
    }
    let holds_steps = tokens.peek_group(1, Delimiter::Brace).is_some_and(|group| {
        let mut body = Tokens::new(group.stream());
        body.attributes();
        body.is_ident(0, "step") && body.peek_ident(1).is_some()
    });
    let is_generic = tokens.is_punct(1, '<') && name.to_string().starts_with(char::is_uppercase);
    let is_group = matches!(tokens.peek(1), Some(TokenTree::Group(_)));
    let has_output = is_group && (tokens.is_arrow(2) || tokens.is_braces(2));
    tokens.is_arrow(1) || holds_steps || has_output || is_generic
}

/// Returns `true` before inputs without a name: `(input: Type) -> …`.
fn is_nameless(tokens: &Tokens) -> bool {
    is_inputs(tokens) && (tokens.is_arrow(1) || tokens.is_braces(1) && tokens.peek(2).is_none())
}

/// Returns `true` for the first word of an item of Rust that looks like a plan.
fn is_item_keyword(ident: &Ident) -> bool {
    is_among(ident, "fn async struct enum impl trait mod plan")
}

/// Returns `true` if a plan starts after a word: `pbu Name(input: Type) -> …`.
fn is_word_before_name(tokens: &Tokens) -> bool {
    tokens.peek_ident(0).is_some_and(|word| word != "step")
        && tokens.peek_ident(1).is_some()
        && tokens.peek_group(2, Delimiter::Parenthesis).is_some()
        && (tokens.is_arrow(3) || tokens.is_braces(3))
}

fn inputs(stream: TokenStream) -> Vec<InputTokens> {
    let mut tokens = Tokens::new(stream);
    let mut inputs = Vec::new();
    while !tokens.is_empty() {
        let mut before = tokens.attributes();
        while tokens.peek_ident(1).is_some()
            && (tokens.is_ident(0, "mut") || tokens.is_ident(0, "pub"))
        {
            before.extend(tokens.next());
        }
        let name = tokens.next_ident();
        let mut typed = false;
        let ty = tokens.take_type(|tokens| {
            let is_next = typed && tokens.is_key();
            typed |= tokens.is_punct(0, ':');
            is_next || tokens.is_punct(0, ',')
        });
        let parse = |input: ParseStream<'_>| {
            input.parse::<Token![:]>()?;
            input.parse::<Type>()
        };
        let (ty, extra) = split(&ty, parse).unwrap_or((ty, TokenStream::new()));
        let comma = tokens.peek_punct(0).cloned();
        if comma.is_some() {
            tokens.next();
        }
        inputs.push(InputTokens {
            before,
            name,
            ty,
            extra,
            comma,
        });
    }
    inputs
}
