//! The steps of a plan, and its last expression.

use super::flow::has_steps;
use super::reference::is_keyword;
use super::tokens::{self, Tokens, end_of, mentions};
use super::value::split;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::Expr;
use syn::parse::Parse;

/// The tokens up to a semicolon, or up to the start of the next step.
pub(crate) struct Statement {
    pub(crate) attrs: TokenStream,
    pub(crate) kind: StatementKind,
    pub(crate) semicolon: bool,
    /// The end of the last token before the semicolon.
    pub(crate) end: Span,
}

pub(crate) enum StatementKind {
    /// A statement that looks like a step.
    Step(StepTokens),
    /// The last expression, or the beginning of something.
    Other(TokenStream),
}

/// `step name = …`, `step name: Type = …`, or a part of that.
pub(crate) struct StepTokens {
    /// `step`, or another word.
    pub(crate) keyword: Option<Ident>,
    pub(crate) mutable: Option<Ident>,
    pub(crate) name: Option<Ident>,
    /// The colon, and the type after it.
    pub(crate) ty: Option<(Span, TokenStream)>,
    pub(crate) equals: Option<Span>,
    pub(crate) value: TokenStream,
    /// The tokens between the value and the semicolon, where there should be none. Without a value, all after the name.
    pub(crate) extra: TokenStream,
    /// A comma or a colon instead of the semicolon.
    pub(crate) instead: Option<Punct>,
}

impl Statement {
    /// Returns the contents of the brackets of each attribute.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = TokenStream> {
        let trees = self.attrs.clone().into_iter();
        trees.filter_map(|tree| match tree {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
    }

    /// Returns `true` if the statement contains a word of the list outside the name of its step.
    pub(crate) fn mentions(&self, words: &[String]) -> bool {
        let is_in = |tokens: &TokenStream| is_mentioned(tokens, words);
        !words.is_empty()
            && match &self.kind {
                StatementKind::Step(step) => is_in(&step.value) || is_in(&step.extra),
                StatementKind::Other(tokens) => is_in(tokens),
            }
    }

    /// Returns the name of a step.
    pub(crate) fn name(&self) -> Option<&Ident> {
        self.step()?.name.as_ref()
    }

    pub(crate) fn step(&self) -> Option<&StepTokens> {
        match &self.kind {
            StatementKind::Step(step) => Some(step),
            StatementKind::Other(_) => None,
        }
    }
}

impl StepTokens {
    /// Returns `true` for a keyword without a name, a type or a value.
    pub(crate) fn is_keyword(&self) -> bool {
        self.name.is_none() && self.ty.is_none() && self.equals.is_none()
    }

    /// Cuts the value of a step without a semicolon, and returns the tokens after the step.
    fn cut_after_value(&mut self) -> TokenStream {
        let (value, after) = split_loop(&self.value)
            .or_else(|| split(&self.value, Expr::parse))
            .unwrap_or_else(|| after_braces(std::mem::take(&mut self.value)));
        self.value = value;
        let mut rest = Tokens::new(after);
        let instead = rest.peek_punct(0).filter(|punct| {
            punct.as_char() == ',' || punct.as_char() == ':' && punct.spacing() == Spacing::Alone
        });
        self.instead = instead.cloned();
        if self.instead.is_some() {
            rest.next();
        }
        if rest.is_punct(0, ';') {
            self.extra = rest.rest();
        }
        rest.rest()
    }
}

/// Splits the tokens of a plan or a block into statements.
pub(super) fn statements(mut tokens: Tokens) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    while !tokens.is_empty() {
        if tokens.eat_punct(';') {
            continue;
        }
        let attrs = attributes(&mut tokens);
        let mut taken = take_statement(&mut tokens);
        let mut end = tokens.last();
        let mut semicolon = tokens.eat_punct(';');
        if semicolon && let Some(start) = start_of_next(&mut taken, &tokens) {
            tokens.put_back(start);
            semicolon = false;
            end = taken.peek_last().map_or(end, tokens::end);
        }
        let (mut after, mut end_of_step) = (TokenStream::new(), end);
        let is_last = !semicolon && tokens.is_empty();
        let kind = if is_step(&taken, is_last) {
            let mut step = step(&mut taken);
            if !semicolon {
                after = step.cut_after_value();
                end_of_step = end_of(&step.value).unwrap_or(end);
            } else if step.equals.is_some() {
                (step.value, step.extra) = after_braces(step.value);
            }
            StatementKind::Step(step)
        } else {
            StatementKind::Other(taken.rest())
        };
        // The semicolon after these attributes ends the step before them.
        let is_attributes = matches!(&kind, StatementKind::Other(tokens) if tokens.is_empty());
        if let Some(before) = statements.last_mut()
            && semicolon
            && is_attributes
            && before.step().is_some()
        {
            before.semicolon = true;
        }
        statements.push(Statement {
            attrs,
            kind,
            semicolon,
            end: end_of_step,
        });
        if !after.is_empty() {
            statements.push(Statement {
                attrs: TokenStream::new(),
                semicolon,
                end,
                kind: StatementKind::Other(after),
            });
        }
    }
    statements
}

/// Takes the attributes of a statement.
fn attributes(tokens: &mut Tokens) -> TokenStream {
    let attrs = tokens.attributes();
    let Some(later) = attribute_after_step(tokens) else {
        return attrs;
    };
    // A `#` before the keyword is its own.
    let mut before: Vec<TokenTree> = attrs.into_iter().collect();
    before.pop_if(|last| matches!(last, TokenTree::Punct(_)));
    before.push(later);
    before.into_iter().collect()
}

/// Takes all up to a semicolon, or up to the start of the next step.
fn take_statement(tokens: &mut Tokens) -> Tokens {
    let (mut begun, mut is_assigned) = (false, false);
    // `step name; Type = …`
    let declares = tokens.is_ident(0, "step") && tokens.peek_ident(1).is_some();
    let is_colon = declares && tokens.is_punct(2, ';') && assigns_later(tokens);
    let first: TokenStream = (0..if is_colon { 3 } else { 0 })
        .filter_map(|_| tokens.next())
        .collect();
    let taken = tokens.take_until(|tokens| {
        let is_attribute = !is_assigned && tokens.attribute(0).is_some();
        let is_next =
            ends(tokens, is_assigned) || begun && (starts_step(tokens, 0) || is_attribute);
        begun = true;
        // An attribute directly after the `=` does not belong to the next step.
        is_assigned = assigns(tokens, 0) && tokens.is_punct(0, '=')
            || is_assigned
                && (tokens.is_punct(0, '#') || tokens.peek_group(0, Delimiter::Bracket).is_some());
        is_next
    });
    Tokens::new(quote!(#first #taken))
}

/// Returns the keywords that name steps.
pub(crate) fn keywords(statements: &[Statement]) -> Vec<String> {
    let names = statements.iter().filter_map(Statement::name);
    let keywords = names.filter(|name| is_keyword(name));
    keywords.map(ToString::to_string).collect()
}

/// Returns `true` if one of the words is among the tokens.
pub(crate) fn is_mentioned(tokens: &TokenStream, words: &[String]) -> bool {
    mentions(
        tokens,
        &|it| matches!(it, TokenTree::Ident(it) if words.iter().any(|word| it == word)),
    )
}

/// Takes `[optional]` out of `step [optional] name =`.
fn attribute_after_step(tokens: &mut Tokens) -> Option<TokenTree> {
    tokens.peek_group(1, Delimiter::Bracket)?;
    tokens.peek_ident(2)?;
    if !tokens.is_ident(0, "step") || !assigns(tokens, 3) {
        return None;
    }
    let keyword = tokens.next()?;
    let attribute = tokens.next();
    tokens.put_back(keyword);
    attribute
}

/// Returns `true` before a semicolon, unless the brackets of a call follow, or the block of a step whose `=` precedes the semicolon.
fn ends(tokens: &Tokens, is_assigned: bool) -> bool {
    if !tokens.is_punct(0, ';') {
        return false;
    }
    let is_early = match tokens.peek(1) {
        Some(TokenTree::Group(group)) => match group.delimiter() {
            Delimiter::Brace => {
                (is_assigned || !has_steps(group))
                    && tokens.peek(2).is_some()
                    && !tokens.is_punct(2, '.')
                    && !tokens.is_punct(2, '?')
            }
            Delimiter::Parenthesis => starts_step(tokens, 2),
            _ => false,
        },
        _ => false,
    };
    !is_early
}

/// Returns `true` before `step name =` or `step name:`, perhaps with attributes.
fn starts_step(tokens: &Tokens, mut at: usize) -> bool {
    while let Some(length) = tokens.attribute(at) {
        at += length;
    }
    tokens.is_ident(at, "step") && tokens.peek_ident(at + 1).is_some() && assigns(tokens, at + 2)
}

/// Returns `true` for `; Type =` after `step name`.
fn assigns_later(tokens: &Tokens) -> bool {
    let is_type = match tokens.peek(3) {
        Some(TokenTree::Ident(word)) => word != "step",
        Some(TokenTree::Group(_)) => true,
        _ => false,
    };
    let mut at = 3;
    while tokens.peek(at).is_some() && !tokens.is_punct(at, ';') && !tokens.is_punct(at, '=') {
        at += 1;
    }
    is_type
        && tokens.is_punct(at, '=')
        && tokens.peek_ident(at - 2).is_none_or(|word| word != "step")
}

/// Takes the last token if it begins the next statement, because the author wrote the semicolon one token too late.
fn start_of_next(taken: &mut Tokens, next: &Tokens) -> Option<TokenTree> {
    let is_start = match taken.peek_last()? {
        TokenTree::Ident(word) => {
            word == "step" && next.peek_ident(0).is_some() && assigns(next, 1)
        }
        TokenTree::Punct(hash) => {
            hash.as_char() == '#' && next.peek_group(0, Delimiter::Bracket).is_some()
        }
        _ => false,
    };
    is_start.then(|| taken.take_last()).flatten()
}

/// Returns `true` for a statement that looks like a step: `step …`, and its usual misspellings.
fn is_step(tokens: &Tokens, is_last: bool) -> bool {
    let Some(first) = tokens.peek_ident(0) else {
        return false;
    };
    let second = tokens.peek(1);
    let is_step = match second {
        // An input may be named `step`: `step` may be the last expression, and `step as u64` is an expression.
        None => !is_last,
        Some(TokenTree::Ident(second)) => second != "as",
        Some(TokenTree::Literal(_)) => true,
        // `step (a, b) = …`
        Some(TokenTree::Group(_)) => assigns(tokens, 2),
        Some(TokenTree::Punct(_)) => false,
    };
    let is_misspelled = tokens.peek_ident(1).is_some() && assigns(tokens, 2);
    first == "step" && is_step || first == "let" || assigns(tokens, 1) || is_misspelled
}

/// Returns `true` before `=` or `:`, and `false` before `==`, `=>` or `::`.
fn assigns(tokens: &Tokens, ahead: usize) -> bool {
    let joined = tokens
        .peek_punct(ahead + 1)
        .is_some_and(|next| matches!(next.as_char(), '=' | '>' | ':'));
    tokens.peek_punct(ahead).is_some_and(|punct| {
        matches!(punct.as_char(), '=' | ':') && !(joined && punct.spacing() == Spacing::Joint)
    })
}

/// `step name: Type = value`, without the semicolon.
fn step(tokens: &mut Tokens) -> StepTokens {
    let has_keyword =
        tokens.peek_ident(1).is_some() || tokens.is_ident(0, "step") || tokens.is_ident(0, "let");
    let keyword = has_keyword.then(|| tokens.next_ident()).flatten();
    let is_mutable = tokens.is_ident(0, "mut") && tokens.peek_ident(1).is_some();
    let mutable = is_mutable.then(|| tokens.next_ident()).flatten();
    let name = tokens.next_ident();
    let ty = tokens.eat_punct(':').then(|| {
        let colon = tokens.last();
        (colon, tokens.take_type(|tokens| tokens.is_punct(0, '=')))
    });
    let equals = tokens.eat_punct('=').then(|| tokens.last());
    let rest = tokens.rest();
    let (value, extra) = match equals {
        Some(_) => (rest, TokenStream::new()),
        None => (TokenStream::new(), rest),
    };
    StepTokens {
        keyword,
        mutable,
        name,
        ty,
        equals,
        value,
        extra,
        instead: None,
    }
}

/// Returns the tokens of `loop { … } while condition`, and the rest.
fn split_loop(tokens: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let mut tokens = Tokens::new(tokens.clone());
    if !tokens.is_ident(0, "loop") {
        return None;
    }
    let head = tokens.take_until(|tokens| tokens.is_ident(0, "while"));
    let keyword = tokens.next()?;
    let (condition, rest) = split(&tokens.rest(), Expr::parse)?;
    Some((quote!(#head #keyword #condition), rest))
}

/// Returns the tokens up to braces, and the rest, if a name after the braces begins another expression.
fn after_braces(tokens: TokenStream) -> (TokenStream, TokenStream) {
    const GO_ON: &[&str] = &["else", "as", "in", "while", "catch", "finally"];
    let mut closed = false;
    let mut tokens = Tokens::new(tokens);
    let first = tokens.take_until(|tokens| {
        let next = tokens.peek_ident(0);
        let ends = closed && next.is_some_and(|name| !GO_ON.iter().any(|word| name == word));
        closed = tokens.is_braces(0);
        ends
    });
    (first, tokens.rest())
}
