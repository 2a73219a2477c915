//! Wrong forms of the call of a tool.

use super::table::{WordKind, about};
use super::{Position, words};
use crate::docs::{last_name, text_of};
use crate::report::{Mistake, mistake};
use crate::syntax::text::{tidy, value_text};
use crate::syntax::tokens::{braces, first, last, parse_start};
use crate::syntax::value::is_type_name;
use heck::ToUpperCamelCase;
use plan_graph::StepAttribute;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::{Block, Expr, Ident, Lit, Path, Stmt};

/// Returns the error of named or unnamed arguments in parentheses: `Tool(…)`, `Tool::new(…)`.
pub(crate) fn unnamed(at: &Path, tool: &Path, position: Position, step: &Ident) -> Mistake {
    let value = match position {
        Position::Braces => "write `step value: Type = …;` in the braces, then `value`".to_owned(),
        Position::Statement => format!("give the step a type: `step {step}: Type = …;`"),
    };
    let tool = tidy(tool);
    mistake!(
        at,
        "a tool is called with named arguments: `{tool} {{ … }}`\n\
             help: if this is a value, not a tool, {value}"
    )
}

/// Returns the error of `Enum::Variant { … }` instead of a call.
pub(crate) fn variant(path: &Path, position: Position, step: &Ident) -> Mistake {
    let written = tidy(path);
    let ty = written.rsplit_once("::").map_or(&*written, |(ty, _)| ty);
    let help = match position {
        Position::Braces => format!(
            "write a step with a type in the braces: `{{ step value: {ty} = {written} {{ … }}; value }}`"
        ),
        Position::Statement => {
            format!("give the step a type: `step {step}: {ty} = {written} {{ … }};`")
        }
    };
    mistake!(
        path,
        "`{written}` is a variant, but a step without a type calls a tool\nhelp: {help}"
    )
}

/// Returns the error about a value instead of a call.
pub(crate) fn not_a_call(tokens: &TokenStream, position: Position, step: &Ident) -> Mistake {
    if let Some((path, tool)) = constructed(tokens) {
        return unnamed(&path, &tool, position, step);
    }
    if let Some((name, path)) = called(tokens) {
        if name.starts_with(char::is_uppercase) {
            return unnamed(&path, &path, position, step);
        }
        return as_tool(path, "function", &name, step);
    }
    list_of_calls(tokens)
        .or_else(|| words::control_flow(tokens, step))
        .or_else(|| call_for_each(tokens, step))
        .or_else(|| {
            let method = awaited_method(tokens)?;
            Some(as_tool(&method, "method", &text_of(&method), step))
        })
        .unwrap_or_else(|| match position {
            Position::Braces => {
                let (ty, value) = (type_of(tokens), value_text(tokens));
                mistake!(tokens, "expected a call to a tool: `{{ Tool {{ … }} }}`\nhelp: for a value, write a step with a type in the braces: `{{ step value: {ty} = {value}; value }}`")
            }
            Position::Statement => mistake!(step, "a computed step needs a type: `step {step}: Type = …;`\nhelp: a step without a type calls a tool: `step {step} = Tool {{ … }};`"),
        })
}

fn as_tool(at: impl ToTokens, kind: &str, name: &str, step: &Ident) -> Mistake {
    let tool = name.to_upper_camel_case();
    mistake!(
        at,
        "`{name}` is a {kind}, but a step calls a tool through the struct of its arguments\n\
             help: `#[tool]` generates `{tool}` from `async fn {name}`: `step {step} = {tool} {{ … }};`\n\
             help: to compute a value with an expression, give the step a type: `step {step}: Type = …;`"
    )
}

/// Returns the type of a string literal or a `bool`, or a placeholder.
fn type_of(value: &TokenStream) -> &'static str {
    match syn::parse2(value.clone()) {
        Ok(Expr::Lit(literal)) => match literal.lit {
            Lit::Str(_) => "String",
            Lit::Bool(_) => "bool",
            _ => "Type",
        },
        Ok(Expr::Macro(call)) if call.mac.path.is_ident("format") => "String",
        _ => "Type",
    }
}

/// `[Tool { … }, Other { … }]`
fn list_of_calls(tokens: &TokenStream) -> Option<Mistake> {
    let TokenTree::Group(list) = first(tokens)? else {
        return None;
    };
    let is_list = list.delimiter() == Delimiter::Bracket && tool_path(list.stream()).is_some();
    is_list.then(|| {
        Mistake::at(
            list.span(),
            "a step makes one call: give each of these calls a step of its own, or make one for each element of a list: `for x in list { Tool { … } }`",
        )
    })
}

/// Returns the call in `Tool { … }.await?` and in `function(…).await?`, and the error about the tokens after the call.
/// An attribute among these tokens may change the type of the step, so the error is then `Err`.
pub(crate) fn without_waiting(
    tokens: TokenStream,
    step: &Ident,
) -> Result<(TokenStream, Option<Mistake>), Mistake> {
    let (tokens, after) = split_waiting(tokens);
    if after.is_empty() || function(&tokens).is_some() {
        return Ok((tokens, None));
    }
    let attributes = attributes_in(&after);
    if attributes.is_empty() {
        let written = tidy(&after);
        let message = format!(
            "a step calls its tool without `{written}`: the run awaits the tool, and fails if the tool fails"
        );
        return Ok((tokens, Some(Mistake::new(after, message).certain())));
    }
    let message = format!(
        "a step has its policy in attributes before `step`\nhelp: write `{attributes}` before `step {step}`"
    );
    Err(Mistake::new(after, message).certain())
}

fn split_waiting(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let waits = match last(&tokens) {
        Some(TokenTree::Punct(last)) => last.as_char() == '?',
        Some(TokenTree::Ident(last)) => last == "await",
        Some(TokenTree::Group(last)) => last.delimiter() == Delimiter::Parenthesis,
        _ => false,
    };
    let call = waits.then(|| syn::parse2::<Expr>(tokens.clone()).ok());
    let Some(mut call) = call.flatten() else {
        return (tokens, TokenStream::new());
    };
    let mut after = TokenStream::new();
    loop {
        let (inner, postfix) = match call {
            Expr::Await(waits) => {
                let (dot, keyword) = (waits.dot_token, waits.await_token);
                (waits.base, quote!(#dot #keyword))
            }
            Expr::Try(asks) => (asks.expr, asks.question_token.to_token_stream()),
            Expr::MethodCall(of)
                if ["run", "call", "unwrap", "expect"].contains(&&*text_of(&of.method))
                    || is_attribute(&of.method) =>
            {
                let (dot, method, args) = (of.dot_token, of.method, of.args);
                let mut postfix = quote!(#dot #method);
                of.paren_token
                    .surround(&mut postfix, |inside| args.to_tokens(inside));
                (of.receiver, postfix)
            }
            Expr::Struct(_) => return (call.into_token_stream(), after),
            Expr::Call(_) if function(&call.to_token_stream()).is_some() => {
                return (call.into_token_stream(), after);
            }
            _ => return (tokens, TokenStream::new()),
        };
        after = quote!(#postfix #after);
        call = *inner;
    }
}

/// Returns the attributes that replace the methods after a call: `#[retry(3)]` for `.retry(3)`.
fn attributes_in(after: &TokenStream) -> String {
    let trees: Vec<TokenTree> = after.clone().into_iter().collect();
    let attributes = trees.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Group(arguments)] if is_attribute(name) => {
            Some(match tidy(arguments.stream()) {
                arguments if arguments.is_empty() => format!("#[{name}]"),
                arguments => format!("#[{name}({arguments})]"),
            })
        }
        _ => None,
    });
    attributes.collect::<Vec<_>>().join(" ")
}

fn is_attribute(name: &Ident) -> bool {
    StepAttribute::named(&text_of(name)).is_some()
}

/// `list.iter().map(|x| Tool { … })`, which is a `for`.
fn call_for_each(tokens: &TokenStream, step: &Ident) -> Option<Mistake> {
    let mut expr = syn::parse2(tokens.clone()).ok()?;
    loop {
        let Expr::MethodCall(method) = expr else {
            return None;
        };
        if let Some(Expr::Closure(closure)) = method.args.first()
            && let Some(pattern) = closure.inputs.first()
            && let Some(call) = only_call(&closure.body)
        {
            let mut list = &*method.receiver;
            while let Expr::MethodCall(through) = list
                && ["iter", "into_iter", "iter_mut"].contains(&&*text_of(&through.method))
            {
                list = &*through.receiver;
            }
            let [pattern, list, call] =
                [pattern.to_token_stream(), list.to_token_stream(), call].map(value_text);
            return Some(Mistake::at(
                method.method.span(),
                format!(
                    "a step calls a tool for each element of a list with `for`\nhelp: `step {step} = for {pattern} in {list} {{ {call} }};`"
                ),
            ));
        }
        expr = *method.receiver;
    }
}

/// Returns the literal that is all of a closure's body.
fn only_call(body: &Expr) -> Option<TokenStream> {
    match body {
        Expr::Struct(call) => Some(call.to_token_stream()),
        Expr::Block(block) => only_call_in(&block.block),
        Expr::Async(block) => only_call_in(&block.block),
        Expr::Await(waits) => only_call(&waits.base),
        Expr::Try(asks) => only_call(&asks.expr),
        _ => None,
    }
}

fn only_call_in(block: &Block) -> Option<TokenStream> {
    match &*block.stmts {
        [Stmt::Expr(inner, _)] => only_call(inner),
        _ => None,
    }
}

/// Returns the help for tokens that resemble a step.
pub(crate) fn as_step(tokens: &TokenStream) -> String {
    let (call, waits) = split_waiting(tokens.clone());
    if !waits.is_empty()
        && let Some((name, _)) = function(&call)
    {
        let tool = name.to_upper_camel_case();
        return format!(
            "help: `#[tool]` generates `{tool}` from `async fn {name}`: `step name = {tool} {{ … }};`"
        );
    }
    let written = value_text(&call);
    match syn::parse2(call) {
        Ok(Expr::Struct(_)) => format!("help: a step is `step name = {written};`"),
        Ok(_) => format!("help: a computed step is `step name: Type = {written};`"),
        Err(_) => "help: a step is `step name = Tool { … };`".to_owned(),
    }
}

/// Returns the path at the start of a call that cannot be read.
pub(crate) fn tool_path(tokens: TokenStream) -> Option<Path> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        Ok(input.peek(syn::token::Brace).then_some(path))
    };
    parse_start(tokens, parser).ok().flatten()
}

/// Returns the path `Tool::new`, as in other languages, and the `Tool` in the path.
fn constructed(tokens: &TokenStream) -> Option<(Path, Path)> {
    let (name, path) = called(tokens)?;
    let mut tool = path.clone();
    tool.segments.pop();
    tool.segments.pop_punct();
    let is_type = is_type_name(&tool.segments.last()?.ident);
    (is_type && about(WordKind::Constructor, &name).is_some()).then_some((path, tool))
}

/// Returns the function that is called by `name(…)`, or as if the function were a tool by `name { … }`.
fn function(tokens: &TokenStream) -> Option<(String, Path)> {
    called(tokens).filter(|(name, _)| !name.starts_with(char::is_uppercase))
}

/// Returns the error of `name { … }`.
pub(crate) fn lowercase(tokens: &TokenStream) -> Option<Mistake> {
    let (name, path) = function(tokens)?;
    let tool = name.to_upper_camel_case();
    let message = format!(
        "`{name}` is a function, but a call is the struct of its arguments\n\
         help: `#[tool]` generates `{tool}` from `async fn {name}`: write `{tool} {{ … }}`"
    );
    let is_struct = last(tokens).as_ref().and_then(braces).is_some();
    is_struct.then(|| Mistake::new(path, message))
}

/// Returns `true` for `Tool { … }`, perhaps with `.await` or `?` after it.
pub(crate) fn is_call(tokens: &TokenStream) -> bool {
    let (call, _) = split_waiting(tokens.clone());
    matches!(syn::parse2(call), Ok(Expr::Struct(_)))
}

/// Returns the path in `name(…)` or `name { … }`, and its last name.
fn called(tokens: &TokenStream) -> Option<(String, Path)> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        let group = input.parse::<Group>()?;
        let is_called = input.is_empty() && group.delimiter() != Delimiter::Bracket;
        Ok(is_called.then(|| (last_name(&path), path)))
    };
    parse_start(tokens.clone(), parser).ok().flatten()
}

/// Returns the method in `application.tool(…).await`.
fn awaited_method(tokens: &TokenStream) -> Option<Ident> {
    let mut expr: Expr = syn::parse2(tokens.clone()).ok()?;
    let mut is_awaited = false;
    loop {
        expr = match expr {
            Expr::Try(asks) => *asks.expr,
            Expr::Await(waits) => {
                is_awaited = true;
                *waits.base
            }
            Expr::MethodCall(call) if is_awaited => return Some(call.method),
            _ => return None,
        };
    }
}
