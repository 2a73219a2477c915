use super::tokens::Tokens;
use super::{flow, policy, value};
use crate::ast::{Body, Fields, Literal, Step, Tail, Value};
use crate::report::Report;
use heck::ToUpperCamelCase;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Path, Type};

/// All up to a semicolon, or up to where the next step begins.
pub(super) struct Statement {
    attrs: TokenStream,
    pub(super) tokens: Tokens,
    pub(super) semicolon: bool,
    end: Span,
}

pub(super) fn statement(tokens: &mut Tokens) -> Statement {
    let attrs = tokens.attributes();
    let mut taken = TokenStream::new();
    let mut semicolon = false;
    while !tokens.is_empty() {
        if tokens
            .peek_punct(0)
            .is_some_and(|punct| punct.as_char() == ';')
        {
            semicolon = true;
            break;
        }
        if !taken.is_empty() && (starts_step(tokens) || tokens.attribute(0).is_some()) {
            break;
        }
        taken.extend(tokens.next());
    }
    let end = tokens.last();
    if semicolon {
        tokens.next();
    }
    Statement {
        attrs,
        tokens: Tokens::new(taken),
        semicolon,
        end,
    }
}

/// Whether `step name =` or `step name:` stands here, perhaps behind attributes.
fn starts_step(tokens: &Tokens) -> bool {
    let mut at = 0;
    while let Some(length) = tokens.attribute(at) {
        at += length;
    }
    tokens.peek_ident(at).is_some_and(|ident| ident == "step")
        && tokens.peek_ident(at + 1).is_some()
        && tokens
            .peek_punct(at + 2)
            .is_some_and(|punct| matches!(punct.as_char(), '=' | ':'))
}

/// Whether the statement is meant as a step: `step …`, and what is easily written instead of it.
pub(super) fn is_step(tokens: &Tokens, is_known: impl Fn(&str) -> bool) -> bool {
    let Some(first) = tokens.peek_ident(0) else {
        return false;
    };
    let assigns = |ahead: usize| {
        tokens
            .peek_punct(ahead)
            .is_some_and(|punct| is_single(tokens, ahead, punct.as_char(), "=:"))
    };
    let second = tokens.peek(1);
    let is_step = match second {
        None => !is_known("step"),
        // An input may be named `step`: `step as u64` is an expression.
        Some(TokenTree::Ident(second)) => second != "as",
        Some(second) => matches!(second, TokenTree::Literal(_)),
    };
    let is_misspelt = tokens.peek_ident(1).is_some() && assigns(2);
    first == "step" && is_step || first == "let" || assigns(1) || is_misspelt
}

/// Whether the punctuation is one of `chars` and no part of `==`, `=>` or `::`.
fn is_single(tokens: &Tokens, ahead: usize, char: char, chars: &str) -> bool {
    let joined = tokens
        .peek_punct(ahead + 1)
        .is_some_and(|next| matches!(next.as_char(), '=' | '>' | ':'))
        && tokens
            .peek_punct(ahead)
            .is_some_and(|punct| punct.spacing() == proc_macro2::Spacing::Joint);
    chars.contains(char) && !joined
}

/// Reads `step name = …`, `step name: Type = …`, and hands on what stands behind it where a semicolon is missing.
pub(super) fn parse(
    statement: Statement,
    report: &mut Report,
) -> (Option<Step>, Option<Statement>) {
    let mut behind = None;
    let step = step(statement, &mut behind, report);
    (step, behind)
}

fn step(statement: Statement, behind: &mut Option<Statement>, report: &mut Report) -> Option<Step> {
    let Statement {
        attrs,
        mut tokens,
        semicolon,
        end,
    } = statement;
    let policy::Attributes {
        intent,
        after,
        policy,
    } = policy::parse(attrs, report);
    let keyword = tokens.next()?;
    let name = if keyword.to_string() == "step" && tokens.peek_ident(0).is_some() {
        if tokens.peek_ident(0).is_some_and(|ident| ident == "mut")
            && tokens.peek_ident(1).is_some()
        {
            let mutable = tokens.next();
            report.error(
                mutable,
                "the value of a step never changes: leave the `mut` out",
            );
        }
        tokens.next()
    } else if keyword.to_string() == "let" {
        if tokens.peek_ident(0).is_some_and(|ident| ident == "mut") {
            tokens.next();
        }
        report.error(
            &keyword,
            "a plan consists of steps: write `step` instead of `let`",
        );
        tokens.next()
    } else if keyword.to_string() == "step" {
        let at = tokens
            .peek(0)
            .filter(|tree| matches!(tree, TokenTree::Literal(_)));
        report.error(
            at.unwrap_or(&keyword),
            "expected the name of the step: `step name = Tool { … };`",
        );
        return None;
    } else if tokens.peek_ident(0).is_some() {
        report.error(&keyword, format!("expected `step`, found `{keyword}`"));
        tokens.next()
    } else {
        report.error(
            &keyword,
            format!("a step starts with `step`: `step {keyword} = …;`"),
        );
        Some(keyword)
    };
    let Some(TokenTree::Ident(name)) = name else {
        report.error_at(
            end,
            "expected the name of the step: `step name = Tool { … };`",
        );
        return None;
    };
    let colon = tokens.eat_punct(':');
    let before = report.len();
    let ty = if colon {
        ty(&mut tokens, &name, report)
    } else {
        None
    };
    if !tokens.eat_punct('=') {
        // A type that could not be read may have taken the `=` with it.
        if report.len() == before && (!colon || ty.is_some()) {
            let at = tokens.peek(0).map_or(tokens.last(), TokenTree::span);
            report.error_at(
                at,
                format!("expected `=` and what the step does: `step {name} = Tool {{ … }};`"),
            );
        }
        return Some(Step {
            intent,
            after,
            policy,
            name,
            ty,
            body: Body::Broken(None),
        });
    }
    let equals = tokens.last();
    let mut rest = tokens.rest();
    let mut end = end;
    if !semicolon && !rest.is_empty() {
        let (value, comma, more) = value::first(rest);
        if let Some(comma) = &comma {
            report.error(comma, "a step ends with `;`, not with a comma");
        } else {
            end = last_of(&value).unwrap_or(end);
            report.error_at(
                end,
                "expected `;` behind this: a step ends with a semicolon",
            );
        }
        rest = value;
        if !more.is_empty() {
            let last = last_of(&more).unwrap_or(end);
            *behind = Some(Statement {
                attrs: TokenStream::new(),
                tokens: Tokens::new(more),
                semicolon,
                end: last,
            });
        }
    }
    let body = match (colon, rest.is_empty()) {
        (_, true) => {
            report.error_at(
                equals,
                format!("expected what the step does: `step {name} = Tool {{ … }};`"),
            );
            Body::Broken(None)
        }
        (true, false) => Body::Compute(value::all(rest, end, "`;`", report)),
        (false, false) => flow::body(rest, end, &name, report),
    };
    let body = if colon && ty.is_none() {
        Body::Broken(None)
    } else {
        body
    };
    policy::check_body(&policy, &body, report);
    Some(Step {
        intent,
        after,
        policy,
        name,
        ty,
        body,
    })
}

/// The type behind the colon: all up to `=`.
fn ty(tokens: &mut Tokens, name: &Ident, report: &mut Report) -> Option<Type> {
    let colon = tokens.last();
    let mut taken = TokenStream::new();
    let mut angles = 0_usize;
    while let Some(tree) = tokens.peek(0) {
        if let TokenTree::Punct(punct) = tree {
            match punct.as_char() {
                '<' => angles += 1,
                '>' => angles = angles.saturating_sub(1),
                '=' if angles == 0 => break,
                _ => {}
            }
        }
        taken.extend(tokens.next());
    }
    if tokens.is_empty() {
        let braces = taken.clone().into_iter().last();
        let is_call = braces.is_some_and(|tree| super::braced(&tree).is_some());
        let message = if is_call {
            format!("a tool is called with `=`: `step {name} = Tool {{ … }};`")
        } else {
            format!("expected `=` and the value behind the type: `step {name}: Type = …;`")
        };
        report.error_at(if is_call { colon } else { tokens.last() }, message);
        return None;
    }
    if taken.is_empty() {
        report.error_at(
            colon,
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
        return None;
    }
    let ty = syn::parse2(taken);
    if let Err(error) = &ty {
        report.error_at(
            error.span(),
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
    }
    ty.ok()
}

/// The end of the last token.
fn last_of(tokens: &TokenStream) -> Option<Span> {
    let last = tokens.clone().into_iter().last()?;
    Some(match last {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    })
}

/// What a step without a type does: it calls a tool. `until` is what ends the call.
pub(super) fn call(
    rest: TokenStream,
    end: Span,
    until: &str,
    name: &Ident,
    report: &mut Report,
) -> Body {
    let (rest, behind) = without_waiting(rest);
    let tokens = rest.clone();
    if !behind.is_empty() && function(tokens.clone()).is_none() {
        let written = behind.to_string().replace(' ', "");
        report.error(
            behind,
            format!("a step calls its tool without `{written}`: the run waits for the tool, and fails if the tool does"),
        );
    }
    match value::all(rest, end, until, report) {
        Value::Literal(literal) => match literal.fields {
            Fields::Named(..) | Fields::Unit => Body::Call(literal),
            Fields::Unnamed(..) => {
                report.error(
                    &literal.path,
                    format!(
                        "a tool is called with named arguments: `{} {{ … }}`\n\
                         help: if this is a value and no tool, say its type: `step {name}: Type = …;`",
                        path_text(&literal.path)
                    ),
                );
                Body::Broken(None)
            }
        },
        Value::Broken => Body::Broken(tool_path(tokens)),
        Value::Computed(computed) if is_unit(&computed.expr) => {
            let path = if let syn::Expr::Path(path) = computed.expr {
                path.path
            } else {
                return Body::Broken(None);
            };
            Body::Call(Literal {
                path,
                fields: Fields::Unit,
            })
        }
        _ if let Some((function, path)) = function(tokens.clone()) => {
            report.error(
                path,
                format!(
                    "`{function}` is a function, and a step calls a tool by the struct of its arguments\n\
                     help: `#[tool]` makes `{0}` of `async fn {function}`: `step {name} = {0} {{ … }};`\n\
                     help: for the value of an expression, say its type: `step {name}: Type = …;`",
                    function.to_upper_camel_case(),
                ),
            );
            Body::Broken(None)
        }
        _ if until == "`}`" => {
            report.error(
                tokens,
                format!("expected the call of a tool: `{{ Tool {{ … }} }}`\nhelp: what calls no tool is a computed step, which says its type: `step {name}: Type = …;`"),
            );
            Body::Broken(None)
        }
        _ => {
            report.error(
                name,
                format!("a computed step says its type: `step {name}: Type = …;`\nhelp: a step without a type calls a tool: `step {name} = Tool {{ … }};`"),
            );
            Body::Broken(None)
        }
    }
}

/// The call in `Tool { … }.await?` and in `function(…).await?`, and what is behind it.
fn without_waiting(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let waits = match tokens.clone().into_iter().last() {
        Some(TokenTree::Punct(last)) => last.as_char() == '?',
        Some(TokenTree::Ident(last)) => last == "await",
        _ => false,
    };
    let call = waits.then(|| syn::parse2::<syn::Expr>(tokens.clone()).ok());
    let Some(mut call) = call.flatten() else {
        return (tokens, TokenStream::new());
    };
    let mut behind = TokenStream::new();
    loop {
        let (inner, postfix) = match call {
            syn::Expr::Await(waits) => {
                let (dot, keyword) = (waits.dot_token, waits.await_token);
                (*waits.base, quote!(#dot #keyword))
            }
            syn::Expr::Try(asks) => (*asks.expr, asks.question_token.to_token_stream()),
            syn::Expr::Struct(_) => return (call.into_token_stream(), behind),
            syn::Expr::Call(_) if function(call.to_token_stream()).is_some() => {
                return (call.into_token_stream(), behind);
            }
            _ => return (tokens, TokenStream::new()),
        };
        behind = quote!(#postfix #behind);
        call = inner;
    }
}

/// Whether the expression is a path that names a type: `Refresh`, `tools::Refresh`.
fn is_unit(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Path(path) if path.qself.is_none() && path.path.segments.last().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
    }))
}

/// The path at the start of a tool call that could not be read.
fn tool_path(tokens: TokenStream) -> Option<Path> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        let braced = input.peek(syn::token::Brace);
        input.parse::<TokenStream>()?;
        Ok(braced.then_some(path))
    };
    parser.parse2(tokens).ok().flatten()
}

/// The function that is called by `name(…)`, or as if it were a tool by `name { … }`.
fn function(tokens: TokenStream) -> Option<(String, Path)> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        let group = input.parse::<proc_macro2::Group>()?;
        let called = input.is_empty() && group.delimiter() != Delimiter::Bracket;
        input.parse::<TokenStream>()?;
        let name = path
            .segments
            .last()
            .map(|last| last.ident.unraw().to_string());
        Ok(name.filter(|_| called).map(|name| (name, path)))
    };
    let (name, path) = parser.parse2(tokens).ok().flatten()?;
    name.starts_with(char::is_lowercase).then_some((name, path))
}

/// Reads the final expression.
pub(super) fn tail(statement: Statement, report: &mut Report) -> Option<Tail> {
    let Statement {
        attrs,
        mut tokens,
        semicolon,
        end,
    } = statement;
    let tokens = tokens.rest();
    if !attrs.is_empty() {
        report.error(
            attrs,
            "only steps have attributes and doc comments; expected `step name = …;` behind this",
        );
    }
    if tokens.is_empty() {
        return None;
    }
    if semicolon {
        let returns = matches!(tokens.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "return");
        let one = tokens.clone().into_iter().count() == 1;
        let help = if returns {
            "help: write it without the `return` and without the `;`".to_owned()
        } else if one {
            "help: remove the `;` to make this the plan's output".to_owned()
        } else {
            format!(
                "help: a step is `step name = {};`",
                tokens.to_token_stream()
            )
        };
        report.error(&tokens, format!("a plan consists of steps, and of a last expression without `;` that is its output\n{help}"));
        return None;
    }
    let value = value::all(tokens.clone(), end, "the end of the plan", report);
    Some(Tail {
        value,
        tokens: quote!(#tokens),
    })
}

/// A path without spaces.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}
