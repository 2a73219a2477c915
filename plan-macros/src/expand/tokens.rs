//! Expressions as lists of tokens. Each addition to a `TokenStream` is a request to rustc, and these requests would take most of the time of an
//! expansion. A list needs only one request for each pair of brackets.

use crate::syntax::tokens::enclosed;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};

/// Moves a name to another span and keeps its hygiene.
pub(super) fn located(mut name: Ident, at: Span) -> Ident {
    name.set_span(at.resolved_at(name.span()));
    name
}

/// A list of tokens, each with its own span.
#[derive(Clone, Default)]
pub(super) struct TokenList(Vec<TokenTree>);

impl TokenList {
    /// Adds a token.
    pub(super) fn with(mut self, token: impl Into<TokenTree>) -> Self {
        self.0.push(token.into());
        self
    }

    /// Adds all of `tokens`.
    pub(super) fn and(mut self, tokens: Self) -> Self {
        self.0.extend(tokens.0);
        self
    }

    /// Adds a name.
    pub(super) fn name(self, name: &str, at: Span) -> Self {
        self.with(Ident::new(name, at))
    }

    /// Adds an operator of one or two characters.
    pub(super) fn operator(mut self, operator: &str, at: Span) -> Self {
        let mut chars = operator.chars().peekable();
        while let Some(char) = chars.next() {
            let spacing = match chars.peek() {
                Some(_) => Spacing::Joint,
                None => Spacing::Alone,
            };
            let mut punct = Punct::new(char, spacing);
            punct.set_span(at);
            self.0.push(punct.into());
        }
        self
    }

    /// Adds tokens in brackets.
    pub(super) fn group(self, delimiter: Delimiter, inside: Self, at: Span) -> Self {
        let inside: TokenStream = inside.0.into_iter().collect();
        self.with(enclosed(delimiter, inside, at))
    }

    /// Adds arguments, or anything else in parentheses.
    pub(super) fn parens(self, inside: Self, at: Span) -> Self {
        self.group(Delimiter::Parenthesis, inside, at)
    }
}

impl From<Ident> for TokenList {
    fn from(name: Ident) -> Self {
        Self::default().with(name)
    }
}

impl From<TokenStream> for TokenList {
    fn from(tokens: TokenStream) -> Self {
        Self(tokens.into_iter().collect())
    }
}

impl ToTokens for TokenList {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.0);
    }

    fn into_token_stream(self) -> TokenStream {
        self.0.into_iter().collect()
    }
}
