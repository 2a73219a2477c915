//! `if … { … } else { … }` and `for … in … { … }` around the call of a tool.

use super::call;
use super::print::tidy;
use super::tokens::Tokens;
use super::value;
use crate::ast::{Body, Branch, Computed, Condition, For, List, Value};
use crate::report::Report;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprIf, ExprLet, Pat, PatIdent};

/// Reads what a step without a type does.
pub(super) fn body(rest: TokenStream, end: Span, name: &Ident, report: &mut Report) -> Body {
    let mut tokens = Tokens::new(rest.clone());
    match tokens.peek_ident(0).map(ToString::to_string).as_deref() {
        Some("if") => conditional(&mut tokens, name, report),
        Some("for") => repeated(&mut tokens, name, report),
        _ => call::call(rest, end, "`;`", name, report),
    }
}

/// The same in braces.
fn body_within(rest: TokenStream, end: Span, name: &Ident, report: &mut Report) -> Body {
    match Tokens::new(rest.clone()).peek_ident(0) {
        Some(keyword) if keyword == "if" || keyword == "for" => body(rest, end, name, report),
        _ => call::call(rest, end, "`}`", name, report),
    }
}

/// Reads the content of the braces after a header; the report had `before` errors when the header began. If the header has an
/// error, it may have taken a part of that content or added to it, so errors in the content are not reported.
fn inner_behind(before: usize, group: &Group, name: &Ident, report: &mut Report) -> Body {
    if report.len() == before {
        inner(group, name, report)
    } else {
        inner(group, name, &mut Report::new())
    }
}

/// Reads the content of the braces of an `if` or a `for`.
fn inner(group: &Group, name: &Ident, report: &mut Report) -> Body {
    let mut tokens = Tokens::new(group.stream());
    if let (Some(keyword), Some(_)) = (tokens.peek_ident(0), tokens.peek_ident(1))
        && keyword == "step"
    {
        report.error(
            keyword,
            "the braces contain exactly one call, whose output is their value: `{ Tool { … } }`",
        );
        return Body::Broken(None);
    }
    let mut taken = TokenStream::new();
    while let Some(tree) = tokens.next() {
        if let TokenTree::Punct(punct) = &tree
            && punct.as_char() == ';'
        {
            report.error(
                &tree,
                "remove the `;`: the braces contain exactly one call, whose output is their value",
            );
            continue;
        }
        taken.extend([tree]);
    }
    if taken.is_empty() {
        report.error_at(
            group.span(),
            "expected a call to a tool in the braces: `{ Tool { … } }`",
        );
        return Body::Broken(None);
    }
    body_within(taken, group.span_close(), name, report)
}

fn conditional(tokens: &mut Tokens, name: &Ident, report: &mut Report) -> Body {
    let mut branches = Vec::new();
    loop {
        // `if`
        tokens.next();
        let keyword = tokens.last();
        let before = report.len();
        let mut condition = TokenStream::new();
        let block = loop {
            let ends = |tree: Option<&TokenTree>| {
                tree.is_none_or(|tree| matches!(tree, TokenTree::Ident(ident) if ident == "else"))
            };
            match tokens.next() {
                Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Brace && ends(tokens.peek(0)) =>
                {
                    break group;
                }
                Some(tree) => {
                    if let TokenTree::Ident(ident) = &tree
                        && ["elif", "elsif", "elseif"].contains(&&*ident.to_string())
                        && condition_ends_in_braces(&condition)
                    {
                        report.error(&tree, format!("`{ident}` is written `else if`"));
                        return Body::Broken(None);
                    }
                    condition.extend([tree]);
                }
                None => {
                    report.error_at(tokens.last(), "expected `{` and a call to a tool after the condition: `if ready { Tool { … } }`");
                    return Body::Broken(None);
                }
            }
        };
        let conditions = conditions(condition, keyword, report);
        branches.push(Branch {
            conditions,
            body: inner_behind(before, &block, name, report),
        });
        match tokens.next() {
            None => return Body::If(branches),
            // `else`
            Some(_) if tokens.peek_ident(0).is_some_and(|ident| ident == "if") => {}
            Some(otherwise) => {
                match tokens.next() {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                        branches.push(Branch {
                            conditions: Vec::new(),
                            body: inner(&group, name, report),
                        });
                    }
                    _ => {
                        report.error(otherwise, "expected `if` or `{` after `else`");
                        return Body::Broken(None);
                    }
                }
                let after = tokens.rest();
                if !after.is_empty() {
                    report.error(after, "expected `;` before this");
                }
                return Body::If(branches);
            }
        }
    }
}

fn condition_ends_in_braces(condition: &TokenStream) -> bool {
    let last = condition.clone().into_iter().last();
    matches!(last, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Reads what is between `if` and the braces: conditions that `&&` joins.
fn conditions(tokens: TokenStream, keyword: Span, report: &mut Report) -> Vec<Condition> {
    if tokens.is_empty() {
        report.error_at(keyword, "expected a condition after `if`");
        return vec![Condition::Broken(Vec::new())];
    }
    // A condition is what can follow `if`. The parser of an expression alone does not know that.
    let end = tokens.clone().into_iter().last();
    let end = end.map_or(keyword, |last| last.span());
    let parsed = syn::parse2::<ExprIf>(quote_spanned!(end=> if #tokens {}));
    match parsed {
        Ok(branch) => {
            let mut conditions = Vec::new();
            split(*branch.cond, keyword, report, &mut conditions);
            conditions
        }
        Err(error) if has_let(&tokens) => {
            report.push(error);
            vec![Condition::Broken(Vec::new())]
        }
        Err(_) => vec![Condition::Holds(value::all(tokens, keyword, "`{`", report))],
    }
}

fn has_let(tokens: &TokenStream) -> bool {
    let mut trees = tokens.clone().into_iter();
    trees.any(|tree| matches!(tree, TokenTree::Ident(ident) if ident == "let"))
}

/// Reads what `&&` joins, from left to right.
fn split(condition: Expr, keyword: Span, report: &mut Report, conditions: &mut Vec<Condition>) {
    match condition {
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) && both.attrs.is_empty() => {
            split(*both.left, keyword, report, conditions);
            split(*both.right, keyword, report, conditions);
        }
        Expr::Let(binding) => {
            let names = bound(&binding.pat);
            let pattern = binding.pat.clone();
            let written = binding.expr.to_token_stream();
            let computed = Computed::new(written, Expr::Let(borrowed(binding)));
            conditions.push(Condition::Let(pattern, computed, names));
        }
        test => {
            let mut lets = Vec::new();
            lets_in(&test, &mut lets);
            conditions.push(match lets.first() {
                Some(first) => {
                    report.error(
                        first.let_token,
                        "`let` is a condition of its own, which only `&&` joins with others",
                    );
                    let names = lets.iter().flat_map(|binding| bound(&binding.pat));
                    Condition::Broken(names.collect())
                }
                None => {
                    let test = test.to_token_stream();
                    Condition::Holds(value::all(test, keyword, "`{`", report))
                }
            });
        }
    }
}

/// Finds the `let`s among the operands of a test.
fn lets_in<'e>(test: &'e Expr, lets: &mut Vec<&'e ExprLet>) {
    match test {
        Expr::Let(binding) => lets.push(binding),
        Expr::Binary(both) => {
            lets_in(&both.left, lets);
            lets_in(&both.right, lets);
        }
        Expr::Paren(inner) => lets_in(&inner.expr, lets),
        Expr::Unary(inner) => lets_in(&inner.expr, lets),
        _ => {}
    }
}

/// `if let Some(x) = maybe` looks at a place, and takes nothing out of it.
fn borrowed(mut binding: ExprLet) -> ExprLet {
    if is_place(&binding.expr) {
        let expr = &binding.expr;
        let at = expr.span();
        if let Ok(reference) = syn::parse2(quote_spanned!(at=> & #expr)) {
            binding.expr = reference;
        }
    }
    binding
}

fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(super::is_source_name),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => is_place(&index.expr),
        Expr::Group(group) => is_place(&group.expr),
        _ => false,
    }
}

fn repeated(tokens: &mut Tokens, name: &Ident, report: &mut Report) -> Body {
    const USAGE: &str = "a loop is written `for x in list { Tool { … } }`";
    // `for`
    tokens.next();
    let keyword = tokens.last();
    let mut pat = TokenStream::new();
    while tokens.peek_ident(0).is_none_or(|ident| ident != "in") {
        match tokens.next() {
            Some(tree) => pat.extend([tree]),
            None => {
                report.error_at(keyword, USAGE);
                return Body::Broken(None);
            }
        }
    }
    tokens.next();
    let within = tokens.last();
    let mut list = TokenStream::new();
    let block = loop {
        match tokens.next() {
            Some(TokenTree::Group(group))
                if group.delimiter() == Delimiter::Brace && tokens.is_empty() =>
            {
                break group;
            }
            Some(tree) => list.extend([tree]),
            None => {
                report.error_at(tokens.last(), USAGE);
                return Body::Broken(None);
            }
        }
    };
    if pat.is_empty() {
        report.error_at(within, format!("expected a name before `in`: {USAGE}"));
        return Body::Broken(None);
    }
    let parser = |input: ParseStream<'_>| {
        let pat = Pat::parse_single(input)?;
        let more = (!input.is_empty()).then(|| input.span());
        value::drain(input);
        Ok((pat, more))
    };
    let pat = match parser.parse2(pat) {
        Ok((pat, None)) => pat,
        Ok((_, Some(more))) => {
            report.error_at(more, format!("expected `in` before this: {USAGE}"));
            return Body::Broken(None);
        }
        Err(error) => {
            report.push(error);
            return Body::Broken(None);
        }
    };
    let before = report.len();
    let list = self::list(list, &pat, within, report);
    Body::For(Box::new(For {
        pat,
        list,
        body: inner_behind(before, &block, name, report),
    }))
}

fn list(tokens: TokenStream, pat: &Pat, within: Span, report: &mut Report) -> List {
    if tokens.is_empty() {
        report.error_at(within, "expected a list after `in`");
        return List::Broken;
    }
    let written = tokens.clone();
    match (value::all(tokens, within, "`{`", report), pat) {
        (
            Value::Reference(reference),
            Pat::Ident(PatIdent {
                by_ref: None,
                mutability: None,
                subpat: None,
                ident,
                ..
            }),
        ) => List::Reference(reference, ident.clone()),
        (Value::Broken, _) => List::Broken,
        (value, _) => {
            // What is a place is borrowed: its elements are gone through, not taken out.
            let expr = match &value {
                Value::Reference(reference) => {
                    let at = reference.root.span();
                    syn::parse2(quote_spanned!(at=> & #written))
                }
                Value::Computed(computed) => Ok(computed.expr.clone()),
                _ => syn::parse2(written.clone()),
            };
            match expr {
                Ok(expr) => List::Computed(Computed::new(written, expr), bound(pat)),
                Err(error) => {
                    report.push(error);
                    List::Broken
                }
            }
        }
    }
}

/// The names that a pattern binds.
pub(crate) fn bound(pat: &Pat) -> Vec<Ident> {
    let mut names = BoundNames(Vec::new());
    names.visit_pat(pat);
    names.0
}

struct BoundNames(Vec<Ident>);

impl<'ast> Visit<'ast> for BoundNames {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        let name = pat.ident.to_string();
        // `None` in a pattern is a constant, not a name.
        if pat.subpat.is_some()
            || name.starts_with(|c: char| c.is_lowercase() || c == '_')
            || name.starts_with("r#")
        {
            self.0.push(pat.ident.clone());
        }
        if let Some((_, pat)) = &pat.subpat {
            self.visit_pat(pat);
        }
    }
}

/// A pattern as its author wrote it, but for spaces.
pub(crate) fn pattern_text(pat: &Pat) -> String {
    tidy(&pat.to_token_stream())
}
