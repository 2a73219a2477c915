//! A value, cut into the values inside it, so that an error stays in its piece.

use super::reference;
use super::tokens::{at_end, enclosed, in_braces, in_brackets, in_parens, is_sign};
use crate::ast::{Reference, Scalar};
use crate::docs::{names_of, text_of};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, Macro, Path, Token, UnOp, token};

/// A value, and the tokens after it up to a comma, where there should be none.
pub(crate) struct ValueTokens {
    pub(crate) kind: ValueKind,
    pub(crate) extra: TokenStream,
}

pub(crate) enum ValueKind {
    /// `[a, b]`
    List(token::Bracket, Vec<Piece>),
    /// `(a, b)`
    Tuple(token::Paren, Vec<Piece>),
    /// `(a)`
    Paren(token::Paren, Box<ValueTokens>),
    /// `Type { a: b, c, .. }`
    Struct(Path, token::Brace, Vec<FieldTokens>),
    /// `path::Variant(a, b)`, and all of its tokens.
    Variant(Path, token::Paren, Vec<Piece>, TokenStream),
    /// `json!(…)`, `format!(…)`
    Macro(Macro),
    /// A reference to a field, and its tokens.
    Reference(Reference, TokenStream),
    /// Any other expression, and its tokens.
    Expr(Expr, TokenStream),
    /// Tokens that are not an expression, or only a part of an expression.
    Broken(TokenStream, syn::Error),
}

impl ValueTokens {
    /// Returns the tokens of a reference or of any other expression.
    pub(crate) fn written(&self) -> Option<&TokenStream> {
        match &self.kind {
            ValueKind::Reference(_, tokens) | ValueKind::Expr(_, tokens) => Some(tokens),
            _ => None,
        }
    }
}

/// A value, and the comma after it.
pub(crate) type Piece = (ValueTokens, Option<Token![,]>);

pub(crate) struct FieldTokens {
    pub(crate) kind: FieldKind,
    pub(crate) comma: Option<Token![,]>,
    /// The span of a semicolon instead of the comma.
    pub(crate) semicolon: Option<Span>,
}

pub(crate) enum FieldKind {
    /// `name: value`
    Value(Ident, Token![:], Box<ValueTokens>),
    /// `name`
    Name(Ident),
    /// `..`, and the tokens after it.
    Rest(Token![..], TokenStream),
    Broken(TokenStream),
}

/// Reads the value at the start of the tokens, and returns the value and the tokens from its comma.
pub(crate) fn value(tokens: TokenStream) -> (ValueTokens, TokenStream) {
    let parser = |input: ParseStream<'_>| Ok((item(input, false), input.parse()?));
    parser.parse2(tokens).unwrap_or_else(|error| {
        let kind = ValueKind::Broken(TokenStream::new(), error);
        let extra = TokenStream::new();
        (ValueTokens { kind, extra }, TokenStream::new())
    })
}

/// Reads a value, and all up to a comma. A `name:` among fields ends the value as well.
pub(crate) fn item(input: ParseStream<'_>, among_fields: bool) -> ValueTokens {
    let kind = reference(input)
        .or_else(|| structure(input))
        .unwrap_or_else(|| expression(input));
    let is_field = among_fields && is_field(input);
    let extra = if is_field {
        TokenStream::new()
    } else {
        skip(input, among_fields)
    };
    ValueTokens { kind, extra }
}

fn reference(input: ParseStream<'_>) -> Option<ValueKind> {
    let fork = input.fork();
    let reference = reference::reference(&fork)?;
    Some(ValueKind::Reference(reference, take_to(input, &fork)))
}

fn expression(input: ParseStream<'_>) -> ValueKind {
    let fork = input.fork();
    let read = fork.parse::<Expr>();
    let is_wrong = read.is_err() || fork.peek(Token![::]);
    if let Some(value) = is_wrong.then(|| of_captured_type(input)).flatten() {
        return value;
    }
    if let Err(error) = read {
        return ValueKind::Broken(skip(input, false), error);
    }
    // `syn` reports extra tokens in brackets only for a complete expression.
    let tokens = take_to(input, &fork);
    match syn::parse2(tokens.clone()) {
        Ok(expr) => ValueKind::Expr(expr, tokens),
        Err(error) => ValueKind::Broken(tokens, error),
    }
}

/// Reads an expression with `$ty::new()` of another macro, in which `syn` needs `<` and `>` around the type.
fn of_captured_type(input: ParseStream<'_>) -> Option<ValueKind> {
    let fork = input.fork();
    let (tokens, mut is_found) = (skip(&fork, false), false);
    let with_types = with_captured_types(tokens.clone(), &mut is_found);
    let expr = is_found.then(|| syn::parse2(with_types).ok()).flatten()?;
    input.advance_to(&fork);
    Some(ValueKind::Expr(expr, tokens))
}

fn with_captured_types(tokens: TokenStream, is_found: &mut bool) -> TokenStream {
    let mut trees = tokens.into_iter().peekable();
    let mut written = TokenStream::new();
    while let Some(tree) = trees.next() {
        let next = trees.peek();
        match tree {
            TokenTree::Group(ty)
                if ty.delimiter() == Delimiter::None && next.is_some_and(|it| is_sign(it, ':')) =>
            {
                *is_found = true;
                written.extend(quote!(<#ty>));
            }
            TokenTree::Group(group) => {
                let inside = with_captured_types(group.stream(), is_found);
                let copy = enclosed(group.delimiter(), inside, group.span());
                written.extend([TokenTree::from(copy)]);
            }
            other => written.extend([other]),
        }
    }
    written
}

/// Takes all up to where `end` is.
fn take_to(input: ParseStream<'_>, end: ParseStream<'_>) -> TokenStream {
    let mut taken = TokenStream::new();
    // If `end` is inside a group without delimiters, no token ends there.
    while input.cursor() != end.cursor()
        && let Ok(tree) = input.parse::<TokenTree>()
    {
        taken.extend([tree]);
    }
    taken
}

/// Takes all up to the next comma outside brackets and outside the `::<A, B>` of a path. A semicolon among fields ends the tokens as well.
fn skip(input: ParseStream<'_>, among_fields: bool) -> TokenStream {
    let mut skipped = TokenStream::new();
    let mut angles = 0_usize;
    let mut colon = false;
    while !input.is_empty() && (angles > 0 || !input.peek(Token![,])) {
        if among_fields && input.peek(Token![;]) {
            break;
        }
        if input.peek(Token![<]) && (colon || angles > 0) {
            angles += 1;
        } else if input.peek(Token![>]) {
            angles = angles.saturating_sub(1);
        }
        colon = input.peek(Token![:]);
        skipped.extend(input.parse::<TokenTree>());
    }
    skipped
}

/// Returns `true` at the end of a value, even if its comma is missing.
fn ends(input: ParseStream<'_>) -> bool {
    at_end(input) || input.peek(Ident::peek_any) && !input.peek(Token![as])
}

/// Reads a value with values inside it.
fn structure(input: ParseStream<'_>) -> Option<ValueKind> {
    let fork = input.fork();
    let value = if input.peek(token::Bracket) {
        list(&fork)?
    } else if input.peek(token::Paren) {
        parens(&fork)?
    } else if input.peek(Ident::peek_any) || input.peek(Token![::]) {
        after_path(&fork)?
    } else {
        return None;
    };
    let ends = ends(&fork);
    if ends {
        input.advance_to(&fork);
    }
    ends.then_some(value)
}

/// `[a, b]`; `[a; n]` is an expression.
fn list(input: ParseStream<'_>) -> Option<ValueKind> {
    let (bracket, content) = in_brackets(input).ok()?;
    (!holds(&content, ';')).then(|| ValueKind::List(bracket, pieces(&content)))
}

/// `(a, b)` is a tuple, `(a)` is `a`.
fn parens(input: ParseStream<'_>) -> Option<ValueKind> {
    let (paren, content) = in_parens(input).ok()?;
    if content.is_empty() || holds(&content, ',') {
        Some(ValueKind::Tuple(paren, pieces(&content)))
    } else {
        // An operation stays an expression with its parentheses: `(a + b)`.
        Some(ValueKind::Paren(paren, Box::new(item(&content, false))))
    }
}

fn holds(content: ParseStream<'_>, char: char) -> bool {
    let trees = content.fork().parse::<TokenStream>().unwrap_or_default();
    trees.into_iter().any(|tree| is_sign(&tree, char))
}

/// `json!(…)`, `format!(…)`, `Type { … }`, `path::Variant(…)`.
fn after_path(input: ParseStream<'_>) -> Option<ValueKind> {
    let start = input.fork();
    let path = match input.parse() {
        Ok(ExprPath {
            qself: None,
            path,
            attrs,
        }) if attrs.is_empty() => path,
        _ => return None,
    };
    if input.peek(Token![!]) && !input.peek(Token![!=]) {
        let call: Macro = start.parse().ok()?;
        input.advance_to(&start);
        return is_known(&call.path).then_some(ValueKind::Macro(call));
    }
    let last = &path.segments.last()?.ident;
    if !is_type_name(last) {
        return None;
    }
    if input.peek(token::Brace) {
        let (brace, content) = in_braces(input).ok()?;
        return Some(ValueKind::Struct(path, brace, fields(&content)));
    }
    if input.peek(token::Paren) && text_of(last).contains(char::is_lowercase) {
        let (paren, content) = in_parens(input).ok()?;
        let pieces = pieces(&content);
        return Some(ValueKind::Variant(
            path,
            paren,
            pieces,
            take_to(&start, input),
        ));
    }
    None
}

/// Returns `true` for `json!` and `format!`.
fn is_known(path: &Path) -> bool {
    matches!(
        &*names_of(path),
        "json" | "serde_json::json" | "format" | "std::format" | "alloc::format"
    )
}

/// Returns `true` for the name of a type or of a variant.
pub(crate) fn is_type_name(name: &Ident) -> bool {
    text_of(name).starts_with(char::is_uppercase)
}

fn pieces(content: ParseStream<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while !content.is_empty() {
        let item = item(content, false);
        pieces.push((item, content.parse().ok()));
    }
    pieces
}

fn fields(content: ParseStream<'_>) -> Vec<FieldTokens> {
    let mut fields = Vec::new();
    while !content.is_empty() {
        let kind = field(content).unwrap_or_else(|_| FieldKind::Broken(skip(content, true)));
        let semicolon = content.parse::<Option<Token![;]>>().ok().flatten();
        let semicolon = semicolon.map(|semicolon| semicolon.span);
        let comma = match semicolon {
            Some(at) => Some(Token![,](at)),
            None => content.parse().ok(),
        };
        fields.push(FieldTokens {
            kind,
            comma,
            semicolon,
        });
    }
    fields
}

fn field(content: ParseStream<'_>) -> syn::Result<FieldKind> {
    if content.peek(Token![..]) {
        return Ok(FieldKind::Rest(content.parse()?, content.parse()?));
    }
    if is_field(content) {
        let name = content.call(Ident::parse_any)?;
        let colon = content.parse()?;
        let value = Box::new(item(content, true));
        return Ok(FieldKind::Value(name, colon, value));
    }
    let fork = content.fork();
    let name = fork.call(Ident::parse_any)?;
    if !at_end(&fork) {
        return Err(fork.error("expected a comma"));
    }
    content.advance_to(&fork);
    Ok(FieldKind::Name(name))
}

/// Returns `true` before `name:`.
fn is_field(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::])
}

/// Returns a literal with known JSON, which becomes a part of the template. Byte strings and huge integers are computed.
pub(crate) fn scalar(expr: &Expr) -> Option<Scalar> {
    let (minus, literal) = match expr {
        Expr::Unary(unary) => match unary.op {
            UnOp::Neg(minus) if unary.attrs.is_empty() => (Some(minus), &*unary.expr),
            _ => return None,
        },
        expr => (None, expr),
    };
    let Expr::Lit(ExprLit { lit, attrs }) = literal else {
        return None;
    };
    if !attrs.is_empty() {
        return None;
    }
    let is_known = match lit {
        Lit::Str(_) | Lit::Char(_) | Lit::Bool(_) | Lit::Byte(_) => minus.is_none(),
        Lit::Int(int) => match minus {
            None => int.base10_parse::<u64>().is_ok(),
            Some(_) => int
                .base10_digits()
                .parse::<u64>()
                .is_ok_and(|n| n <= 1 << 63),
        },
        Lit::Float(float) => {
            float.base10_parse::<f64>().is_ok_and(f64::is_finite) && float.suffix() != "f32"
        }
        _ => false,
    };
    is_known.then(|| Scalar {
        minus,
        lit: lit.clone(),
    })
}

/// Returns the tokens that `parse` reads at the start, and the rest.
pub(crate) fn split<T>(
    tokens: &TokenStream,
    parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
) -> Option<(TokenStream, TokenStream)> {
    let parser = |input: ParseStream<'_>| {
        let parsed = parse(input).is_ok();
        let rest: TokenStream = input.parse()?;
        Ok(parsed.then(|| rest.into_iter().count()))
    };
    let rest = parser.parse2(tokens.clone()).ok().flatten()?;
    let length = tokens.clone().into_iter().count() - rest;
    let mut trees = tokens.clone().into_iter();
    Some((trees.by_ref().take(length).collect(), trees.collect()))
}
