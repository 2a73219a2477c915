//! `match place { Enum::Variant => …, _ => … }`, which is read as the `if` that it stands for.

use super::WorkReader;
use super::branch::Ends;
use crate::ast::{Body, Branch, Computed, Condition, Test, Value};
use crate::syntax::condition::operand;
use crate::syntax::tokens::{Tokens, enclosed, end_of, first_word};
use crate::syntax::value::scalar;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Pat, Token};

/// An arm: the pattern, and the braces around the work.
struct Arm {
    pattern: Pat,
    body: Group,
    /// The last token.
    end: Span,
}

impl WorkReader<'_> {
    /// Reads a `match` whose patterns are values, or returns `None`.
    pub(super) fn choice(&mut self, tokens: &TokenStream) -> Option<Body> {
        let keyword = first_word(tokens).filter(|word| word == "match")?.span();
        let mut queue = Tokens::new(tokens.clone());
        queue.next();
        let place = queue.take_until(|tokens| tokens.is_braces(0));
        let arms = queue.next_braces().filter(|_| queue.is_empty())?;
        let place: Expr = syn::parse2(place).ok()?;
        let arms = arms_of.parse2(arms.stream()).ok()?;
        let patterns: Vec<&Pat> = arms.iter().map(|arm| &arm.pattern).collect();
        let (last, tested) = patterns.split_last()?;
        let is_last = is_value(last) || matches!(last, Pat::Wild(_));
        if tested.is_empty() || !is_last || !tested.iter().all(|pattern| is_value(pattern)) {
            return None;
        }
        let mut conditions = Vec::new();
        for (number, pattern) in tested.iter().enumerate() {
            // The first condition contains all arms, so rustc checks that each value has an arm.
            let others = if number == 0 { &arms[1..] } else { &[] };
            let others = others.iter().map(|other| other.test(false));
            let first = arms[number].test(true);
            let rest = (number > 0).then(|| quote!(_ => false));
            let expr = quote_spanned!(keyword=> match #place { #first #(#others)* #rest });
            conditions.push(condition(&place, pattern, syn::parse2(expr).ok()?));
        }
        let ends = Ends::of(arms.iter().map(|arm| &arm.body));
        let before = self.report.len();
        let conditions = conditions.into_iter().map(Some).chain([None]);
        let branches = arms.iter().zip(conditions).map(|(arm, condition)| Branch {
            conditions: condition.into_iter().collect(),
            body: self.after(before, |it| it.branch(&arm.body, ends)),
        });
        Some(Body::If(branches.collect()))
    }
}

/// Returns the condition of one arm. `expr` is the condition as a Rust expression.
fn condition(place: &Expr, pattern: &Pat, expr: Expr) -> Condition {
    let (test, written) = equals(place, pattern).map_or_else(
        || (None, quote!(matches!(#place, #pattern))),
        |(test, written)| (Some(Box::new(test)), written),
    );
    let computed = Computed::new(written, expr);
    Condition::Holds(Value::Computed(Computed { test, ..computed }))
}

impl Arm {
    /// Writes the arm with its spans, because rustc suggests a missing arm after the last arm.
    fn test(&self, gives: bool) -> TokenStream {
        let pattern = &self.pattern;
        let at = end_of(&pattern.to_token_stream()).unwrap_or_else(|| pattern.span());
        let gives = Ident::new(if gives { "true" } else { "false" }, self.end);
        quote_spanned!(at=> #pattern => #gives,)
    }
}

fn arms_of(input: ParseStream<'_>) -> syn::Result<Vec<Arm>> {
    let mut arms = Vec::new();
    while !input.is_empty() {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=>]>()?;
        let mut body = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            let tree: TokenTree = input.parse()?;
            let ends = body.is_empty()
                && matches!(&tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            body.extend([tree]);
            if ends {
                break;
            }
        }
        input.parse::<Option<Token![,]>>()?;
        let end = end_of(&body).unwrap_or_else(|| pattern.span());
        let body = match body.clone().into_iter().next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group,
            _ => {
                let at = body.span();
                enclosed(Delimiter::Brace, body, at)
            }
        };
        arms.push(Arm { pattern, body, end });
    }
    Ok(arms)
}

/// Returns `true` if a pattern names values, and binds nothing.
fn is_value(pattern: &Pat) -> bool {
    match pattern {
        Pat::Path(constant) => constant.path.segments.len() > 1,
        Pat::Lit(_) => true,
        Pat::Or(any) => any.cases.iter().all(is_value),
        _ => false,
    }
}

/// Returns the test whether an expression has the value that a pattern names, and the test as Rust.
fn equals(expr: &Expr, pattern: &Pat) -> Option<(Test, TokenStream)> {
    let value = match pattern {
        Pat::Path(constant) => Test::Constant(constant.path.clone()),
        Pat::Lit(literal) => Test::Scalar(scalar(&Expr::Lit(literal.clone()))?),
        Pat::Or(any) => {
            let tests: Option<Vec<_>> = any.cases.iter().map(|case| equals(expr, case)).collect();
            let (tests, written): (Vec<_>, Vec<_>) = tests?.into_iter().unzip();
            return Some((Test::Any(tests), quote!(#(#written)||*)));
        }
        _ => return None,
    };
    let both = [operand(expr, 0)?, value];
    let written = match expr {
        Expr::Binary(_) => quote!((#expr) == #pattern),
        _ => quote!(#expr == #pattern),
    };
    Some((Test::Compare("==", Box::new(both)), written))
}
