//! `if … { … } else { … }` and `for … in … { … }` around the call of a tool.

use super::call;
use super::print::tidy;
use super::value;
use crate::ast::{Body, Branch, Computed, Condition, For, List, Value};
use crate::report::Report;
use crate::scan::tokens::Tokens;
use crate::scan::value::end_of;
use crate::scan::{BranchTokens, FlowTokens, ForTokens};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprIf, ExprLet, Pat, PatIdent};

/// Reads what a step without a type does. `until` is what ends it.
pub(super) fn body(
    tokens: TokenStream,
    end: Span,
    until: &str,
    name: &Ident,
    report: &mut Report,
) -> Body {
    let body = match FlowTokens::new(tokens) {
        FlowTokens::If(branches, after) => conditional(branches, after, name, report),
        FlowTokens::For(repeat) => repeated(repeat, name, report),
        FlowTokens::Call(call) => Some(call::call(call, end, until, name, report)),
    };
    body.unwrap_or(Body::Broken(None))
}

/// Reads the content of the braces after a header; the report had `before` errors when the header began. If the header has an
/// error, it may have taken a part of that content or added to it, so errors in the content are not reported.
fn inner_after(before: usize, group: &Group, name: &Ident, report: &mut Report) -> Body {
    if report.len() == before {
        inner(group, name, report)
    } else {
        inner(group, name, &mut Report::default())
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
    body(taken, group.span_close(), "`}`", name, report)
}

/// `None` if it was reported as a whole.
fn conditional(
    source: Vec<BranchTokens>,
    after: TokenStream,
    name: &Ident,
    report: &mut Report,
) -> Option<Body> {
    let mut branches = Vec::new();
    for branch in source {
        let (before, keyword) = (report.len(), branch.keywords.last()?);
        let Some(condition) = branch.condition else {
            let Some(block) = branch.block else {
                report.error(keyword, "expected `if` or `{` after `else`");
                return None;
            };
            branches.push(Branch {
                conditions: Vec::new(),
                body: inner(&block, name, report),
            });
            continue;
        };
        if let Some(word) = misspelled_else(&condition) {
            report.error(&word, format!("`{word}` is written `else if`"));
            return None;
        }
        let keyword = keyword.span();
        let Some(block) = branch.block else {
            report.error_at(
                end_of(&condition).unwrap_or(keyword),
                "expected `{` and a call to a tool after the condition: `if ready { Tool { … } }`",
            );
            return None;
        };
        branches.push(Branch {
            conditions: conditions(condition, keyword, report),
            body: inner_after(before, &block, name, report),
        });
    }
    if !after.is_empty() {
        report.error(after, "expected `;` before this");
    }
    Some(Body::If(branches))
}

/// `elif` after braces.
fn misspelled_else(condition: &TokenStream) -> Option<Ident> {
    let trees: Vec<TokenTree> = condition.clone().into_iter().collect();
    trees.windows(2).find_map(|pair| match pair {
        [TokenTree::Group(group), TokenTree::Ident(word)]
            if group.delimiter() == Delimiter::Brace
                && ["elif", "elsif", "elseif"].contains(&&*word.to_string()) =>
        {
            Some(word.clone())
        }
        _ => None,
    })
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

fn repeated(source: ForTokens, name: &Ident, report: &mut Report) -> Option<Body> {
    const USAGE: &str = "a loop is written `for x in list { Tool { … } }`";
    let ForTokens {
        keyword,
        pattern,
        within,
        list,
        block,
    } = source;
    let Some(within) = within.map(|within| within.span()) else {
        report.error(keyword, USAGE);
        return None;
    };
    let Some(block) = block else {
        report.error_at(end_of(&list).unwrap_or(within), USAGE);
        return None;
    };
    if pattern.is_empty() {
        report.error_at(within, format!("expected a name before `in`: {USAGE}"));
        return None;
    }
    let parser = |input: ParseStream<'_>| {
        let pat = Pat::parse_single(input)?;
        let more = (!input.is_empty()).then(|| input.span());
        value::drain(input);
        Ok((pat, more))
    };
    let pat = match parser.parse2(pattern) {
        Ok((pat, None)) => pat,
        Ok((_, Some(more))) => {
            report.error_at(more, format!("expected `in` before this: {USAGE}"));
            return None;
        }
        Err(error) => {
            report.push(error);
            return None;
        }
    };
    let before = report.len();
    let list = self::list(list, &pat, within, report);
    Some(Body::For(Box::new(For {
        pat,
        list,
        body: inner_after(before, &block, name, report),
    })))
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
