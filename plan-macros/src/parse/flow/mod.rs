//! The work of a step: `if … { … } else { … }`, `for … in … { … }`, `loop { … } while …`, a block, or the call of a tool.

mod block;
mod branch;
mod choice;
mod condition;
mod step;

pub(super) use step::StepReader;

use super::value;
use crate::ast::{Body, Branch, Computed, Fields, For, List, Literal, Loop, Value};
use crate::docs::text_of;
use crate::mistakes::flow as mistakes;
use crate::mistakes::{self as wrong, Position};
use crate::report::{Mistake, Report};
use crate::syntax::pattern::names_in;
use crate::syntax::reference::is_source_name;
use crate::syntax::tokens::{Tokens, drain, end_of, only};
use crate::syntax::value::is_type_name;
use crate::syntax::{
    BranchTokens, Evidence, FlowTokens, ForTokens, LoopTokens, has_steps, holds_steps, is_work,
};
use branch::{Ends, is_variant};
use condition::conditions;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Pat, PatIdent, Path};

/// Reads the work of one step.
struct WorkReader<'a> {
    /// The name of the step.
    step: &'a Ident,
    report: &'a mut Report,
}

impl WorkReader<'_> {
    /// Reads the work of a step without a type.
    fn work(&mut self, tokens: TokenStream, end: Span, position: Position) -> Body {
        if let Some(body) = self.choice(&tokens) {
            return body;
        }
        let body = match FlowTokens::new(tokens) {
            FlowTokens::If(branches, after) => self.conditional(branches, after),
            FlowTokens::For(repeat) => self.repeated(repeat),
            FlowTokens::Loop(repeat) if position == Position::Braces => {
                Err(mistakes::loop_in_braces(&repeat))
            }
            FlowTokens::Loop(repeat) => self.repeat(repeat),
            FlowTokens::Block(group, after) if holds_steps(&group, Evidence::Work) => {
                self.report.extend(unended(after));
                Ok(Body::Block(Box::new(self.block(&group, Ends::Typed))))
            }
            FlowTokens::Block(group, after) if after.is_empty() && is_work(&group.stream()) => {
                Ok(self.inner(&group))
            }
            FlowTokens::Block(group, after) if after.is_empty() && group.stream().is_empty() => {
                let message = "expected steps in the braces, or a call to a tool: `{ Tool { … } }`";
                Err(Mistake::at(group.span(), message))
            }
            FlowTokens::Block(group, after) => self.call(quote!(#group #after), end, position),
            FlowTokens::Call(call) => self.call(call, end, position),
        };
        self.report.ok(body).unwrap_or(Body::Broken(None))
    }

    /// Reads the call of a tool: `Tool { … }`, `Tool`.
    fn call(
        &mut self,
        tokens: TokenStream,
        end: Span,
        position: Position,
    ) -> Result<Body, Mistake> {
        refuse(wrong::in_place_of_call(&tokens, position, self.step))?;
        let (tokens, waits) = wrong::without_waiting(tokens, self.step)?;
        self.report.extend(waits);
        let (path, fields) = match value::all(tokens.clone(), end, position.end(), self.report) {
            Value::Literal(Literal {
                path,
                fields: Fields::Unnamed(..),
            }) => return Err(wrong::unnamed(&path, &path, position, self.step)),
            Value::Literal(literal) if is_of_type(&literal.path) => {
                return Err(wrong::variant(&literal.path, position, self.step));
            }
            Value::Literal(literal) => (literal.path, literal.fields),
            Value::Broken => return Ok(Body::Broken(wrong::tool_path(tokens))),
            Value::Computed(Computed {
                expr: Expr::Path(path),
                ..
            }) if path.qself.is_none() && is_unit(&path.path) && !is_variant(&path.path) => {
                (path.path, Fields::Unit)
            }
            _ => return Err(wrong::not_a_call(&tokens, position, self.step)),
        };
        Ok(Body::Call(Literal { path, fields }))
    }

    /// Reads the content of the braces after a header; the report had `before` errors when the header began. If the header has an
    /// error, it may have taken a part of that content or added to it, so errors in the content are not reported.
    fn after(&mut self, before: usize, read: impl FnOnce(&mut Self) -> Body) -> Body {
        let errors = self.report.len();
        let body = read(self);
        if errors > before {
            self.report.drop_since(errors);
        }
        body
    }

    /// Reads the content of the braces of an `if` or a `for`.
    fn inner(&mut self, group: &Group) -> Body {
        if has_steps(group) {
            return Body::Block(Box::new(self.block(group, Ends::Typed)));
        }
        if let Some(wrong) = mistakes::content(&group.stream()) {
            self.report.push(wrong);
            return Body::Broken(None);
        }
        let mut tokens = Tokens::new(group.stream());
        let mut call = TokenStream::new();
        while !tokens.is_empty() {
            call.extend(tokens.take_until(|tokens| tokens.is_punct(0, ';')));
            if let Some(semicolon) = tokens.next() {
                let message = "remove the `;`: the braces contain exactly one call, whose output is their value";
                self.report.error(semicolon, message);
            }
        }
        if call.is_empty() {
            let message = "expected a call to a tool in the braces: `{ Tool { … } }`";
            self.report.error_at(group.span(), message);
            return Body::Broken(None);
        }
        self.work(call, group.span_close(), Position::Braces)
    }

    fn conditional(
        &mut self,
        source: Vec<BranchTokens>,
        after: TokenStream,
    ) -> Result<Body, Mistake> {
        let mut branches = Vec::new();
        let ends = Ends::of(source.iter().filter_map(|branch| branch.block.as_ref()));
        for branch in source {
            let (before, keyword) = (self.report.len(), branch.keyword());
            let Some(condition) = branch.condition else {
                let message = "expected `if` or `{` after `else`\nhelp: write `else { … }`";
                let block = branch.block.ok_or_else(|| Mistake::at(keyword, message))?;
                branches.push(Branch {
                    conditions: Vec::new(),
                    body: self.branch(&block, ends),
                });
                continue;
            };
            refuse(mistakes::missing_else(&condition, branch.block.as_ref()))?;
            let message =
                "expected `{` and a call to a tool after the condition: `if ready { Tool { … } }`";
            let no_block = || Mistake::at(end_of(&condition).unwrap_or(keyword), message);
            let block = branch.block.ok_or_else(no_block)?;
            branches.push(Branch {
                conditions: conditions(condition, keyword, self.report),
                body: self.after(before, |it| it.branch(&block, ends)),
            });
        }
        self.report.extend(unended(after));
        Ok(Body::If(branches))
    }

    fn repeated(&mut self, source: ForTokens) -> Result<Body, Mistake> {
        let Some(within) = source.in_token.as_ref().map(TokenTree::span) else {
            return Err(mistakes::no_in(&source));
        };
        refuse(mistakes::for_else(&source.list))?;
        let no_block = || Mistake::at(end_of(&source.list).unwrap_or(within), mistakes::FOR);
        let block = source.block.ok_or_else(no_block)?;
        refuse(wrong::early_end(&block, wrong::in_for))?;
        if source.pattern.is_empty() {
            let message = format!("expected a name before `in`: {}", mistakes::FOR);
            return Err(Mistake::at(within, message));
        }
        let parser = |input: ParseStream<'_>| {
            let pat = Pat::parse_single(input)?;
            let more = (!input.is_empty()).then(|| input.span());
            drain(input);
            Ok((pat, more))
        };
        let pat = match parser.parse2(source.pattern.clone()) {
            Ok((pat, None)) => pat,
            Ok((_, Some(more))) => return Err(mistakes::before_in(more)),
            Err(error) => return Err(wrong::pattern_of_for(&source.pattern, error)),
        };
        refuse(mistakes::filter(&pat, &source.list))?;
        let before = self.report.len();
        let list = self.list(source.list, &pat, within);
        let body = self.after(before, |it| it.inner(&block));
        Ok(Body::For(Box::new(For { pat, list, body })))
    }

    fn repeat(&mut self, source: LoopTokens) -> Result<Body, Mistake> {
        let keyword = source.keyword.as_ref();
        let keyword = keyword.map_or_else(Span::call_site, TokenTree::span);
        let before_round = mistakes::before_round(&source);
        let last = source.last.map(|(bar, tokens)| last(bar, tokens));
        let last = last.transpose()?;
        let no_round = || Mistake::at(keyword, mistakes::LOOP);
        refuse(before_round)?;
        let group = source.block.ok_or_else(no_round)?;
        refuse(wrong::early_end(&group, wrong::in_loop))?;
        let before = self.report.len();
        let again = self.again(source.while_token, source.condition, &group)?;
        if self.report.drop_cascade(before) {
            return Ok(Body::Broken(None));
        }
        Ok(Body::Loop(Box::new(Loop {
            keyword,
            last,
            round: self.round(&group),
            again,
        })))
    }

    /// Reads the `while` and the condition after the braces.
    fn again(
        &mut self,
        keyword: Option<TokenTree>,
        condition: TokenStream,
        round: &Group,
    ) -> Result<Value, Mistake> {
        refuse(mistakes::no_while(keyword.as_ref(), round))?;
        let Some(end) = end_of(&condition) else {
            let at = keyword.map_or(round.span_close(), |keyword| keyword.span());
            return Err(Mistake::at(at, "expected a condition after `while`"));
        };
        refuse(mistakes::condition_of_loop(&condition))?;
        Ok(value::all(condition, end, "`;`", self.report))
    }

    /// Reads the tokens between `in` and the braces.
    fn list(&mut self, tokens: TokenStream, pat: &Pat, within: Span) -> List {
        if tokens.is_empty() {
            self.report.error_at(within, "expected a list after `in`");
            return List::Broken;
        }
        let written = tokens.clone();
        let value = match (value::all(tokens, within, "`{`", self.report), pat) {
            (Value::Broken, _) => return List::Broken,
            (
                Value::Reference(reference),
                Pat::Ident(PatIdent {
                    by_ref: None,
                    mutability: None,
                    subpat: None,
                    ident,
                    ..
                }),
            ) => return List::Reference(reference, ident.clone()),
            (value, _) => value,
        };
        // The list is borrowed if it is a place expression, because no element moves out of the list.
        let expr = match value {
            Value::Reference(reference) => {
                let at = reference.root.span();
                syn::parse2(quote_spanned!(at=> & #written))
            }
            Value::Computed(computed) => Ok(computed.expr),
            _ => syn::parse2(written.clone()),
        };
        match self.report.ok(expr) {
            Some(expr) => List::Computed(Box::new(Computed::new(written, expr)), names_in(pat)),
            None => List::Broken,
        }
    }
}

fn refuse(mistake: Option<Mistake>) -> Result<(), Mistake> {
    mistake.map_or(Ok(()), Err)
}

/// Reads the name of the previous round's value.
fn last(bar: Span, tokens: TokenStream) -> Result<Ident, Mistake> {
    match only(&tokens) {
        Some(TokenTree::Ident(name)) if is_source_name(&name) => {
            wrong::keyword(&name, "value").map_or(Ok(name), Err)
        }
        _ => Err(mistakes::between_bars(bar, tokens)),
    }
}

/// Returns the error of tokens after the braces of a step.
fn unended(after: TokenStream) -> Option<Mistake> {
    (!after.is_empty()).then(|| Mistake::new(after, "expected `;` before this"))
}

/// Returns `true` for a variant with its enum. A type contains no tool.
fn is_of_type(path: &Path) -> bool {
    let owner = path.segments.iter().rev().nth(1);
    is_variant(path) && owner.is_some_and(|owner| is_type_name(&owner.ident))
}

/// Returns `true` for a path that names a type: `Refresh`, `tools::Refresh`.
fn is_unit(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let name = text_of(&last.ident);
        name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
    })
}
