//! The call of a tool, and what is easily written instead of one.

use super::token_text::{path_text, tidy, value_text};
use super::{other_words, policy, value};
use crate::ast::{Body, Fields, Literal, Value};
use crate::docs::{last_name, text_of};
use crate::report::Report;
use crate::scan;
use heck::ToUpperCamelCase;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Path};

/// What a step without a type does: it calls a tool. `until` is what ends the call.
pub(super) fn call(
    rest: TokenStream,
    end: Span,
    until: &str,
    name: &Ident,
    report: &mut Report,
) -> Body {
    let meant = block_of_others(&rest, name).or_else(|| other_words::concurrent(&rest));
    if let Some((at, message)) = meant {
        report.error_at(at, message);
        return Body::Broken(None);
    }
    let (rest, after) = without_waiting(rest);
    let tokens = rest.clone();
    if !after.is_empty() && function(tokens.clone()).is_none() {
        let attributes = attributes_in(&after);
        if !attributes.is_empty() {
            report.contained(
                after,
                format!("a step has its policy in attributes before `step`\nhelp: write `{attributes}` before `step {name}`"),
            );
            // An attribute may change the type of the step.
            return Body::Broken(None);
        }
        let written = tidy(&after);
        report.contained(
            after,
            format!("a step calls its tool without `{written}`: the run awaits the tool, and fails if the tool fails"),
        );
    }
    match value::all(rest, end, until, report) {
        Value::Literal(literal) => match literal.fields {
            Fields::Named(..) | Fields::Unit => Body::Call(literal),
            Fields::Unnamed(..) => {
                unnamed(&literal.path, &literal.path, name, until, report);
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
        _ => {
            not_a_call(name, tokens, until, report);
            Body::Broken(None)
        }
    }
}

/// Says of `Tool(…)` and `Tool::new(…)` that the arguments of a tool have names.
fn unnamed(at: &Path, tool: &Path, name: &Ident, until: &str, report: &mut Report) {
    let value = if until == "`}`" {
        "write `step value: Type = …;` in the braces, then `value`".to_owned()
    } else {
        format!("give the step a type: `step {name}: Type = …;`")
    };
    report.error(
        at,
        format!(
            "a tool is called with named arguments: `{} {{ … }}`\n\
             help: if this is a value, not a tool, {value}",
            path_text(tool)
        ),
    );
}

/// Says of a value why it is not the call of a tool.
fn not_a_call(name: &Ident, tokens: TokenStream, until: &str, report: &mut Report) {
    if let Some((at, tool)) = constructed(tokens.clone()) {
        unnamed(&at, &tool, name, until, report);
    } else if let Some((function, path)) = function(tokens.clone()) {
        report.error(
            path,
            format!(
                "`{function}` is a function, but a step calls a tool through the struct of its arguments\n\
                 help: `#[tool]` makes `{0}` of `async fn {function}`: `step {name} = {0} {{ … }};`\n\
                 help: to compute a value with an expression, give the step a type: `step {name}: Type = …;`",
                function.to_upper_camel_case(),
            ),
        );
    } else if let Some((_, path)) = called(tokens.clone()) {
        unnamed(&path, &path, name, until, report);
    } else if let Some((at, message)) =
        other_control_flow(&tokens, name).or_else(|| call_for_each(tokens.clone(), name))
    {
        report.error_at(at, message);
    } else if until == "`}`" {
        let (ty, value) = (type_of(&tokens), value_text(&tokens));
        report.error(
            tokens,
            format!("expected a call to a tool: `{{ Tool {{ … }} }}`\nhelp: for a value, write a step with a type in the braces: `{{ step value: {ty} = {value}; value }}`"),
        );
    } else {
        report.error(
            name,
            format!("a computed step needs a type: `step {name}: Type = …;`\nhelp: a step without a type calls a tool: `step {name} = Tool {{ … }};`"),
        );
    }
}

/// Returns the type of a text or a truth value, or a placeholder.
fn type_of(value: &TokenStream) -> &'static str {
    match syn::parse2(value.clone()) {
        Ok(syn::Expr::Lit(literal)) => match literal.lit {
            syn::Lit::Str(_) => "String",
            syn::Lit::Bool(_) => "bool",
            _ => "Type",
        },
        Ok(syn::Expr::Macro(call)) if call.mac.path.is_ident("format") => "String",
        _ => "Type",
    }
}

/// What other languages begin a block with, and what a plan has instead.
fn block_of_others(tokens: &TokenStream, name: &Ident) -> Option<(Span, String)> {
    let mut trees = tokens.clone().into_iter();
    let TokenTree::Ident(word) = trees.next()? else {
        return None;
    };
    let next = trees.next()?;
    let is_plan =
        matches!(&next, TokenTree::Punct(bang) if word == "plan" && bang.as_char() == '!');
    let is_moved = matches!(&next, TokenTree::Ident(moved) if word == "async" && moved == "move");
    let next = if is_plan || is_moved {
        trees.next()?
    } else {
        next
    };
    let TokenTree::Group(block) = next else {
        return None;
    };
    if is_plan {
        return Some((
            word.span(),
            format!(
                "steps inside a step are a block\nhelp: write the braces alone: `step {name} = {{ … }};`"
            ),
        ));
    }
    let is_block = block.delimiter() == Delimiter::Brace;
    let has_steps = || is_block && scan::has_steps(&block);
    let message = match word.to_string().as_str() {
        "do" if is_block => format!(
            "a loop begins with `loop`\nhelp: write `#[at_most(100)] step {name} = loop {{ Tool {{ … }} }} while condition;`"
        ),
        "try" if is_block && trees.next().is_some() => format!(
            "a step has no `try`: the run fails if the step fails\nhelp: write `#[catch] step {name} = Tool {{ … }};`, and the failure is a value"
        ),
        "async" | "unsafe" if has_steps() => {
            format!(
                "a block has no `{word}`\nhelp: write the braces alone: `step {name} = {{ … }};`"
            )
        }
        "try" if has_steps() => format!(
            "a block has no `try`: the run fails if one of its steps fails\nhelp: write `#[catch] step {name} = {{ … }};`, and the failure is a value"
        ),
        _ => return None,
    };
    Some((word.span(), message))
}

/// What Rust has for control flow, and what a plan has instead.
fn other_control_flow(tokens: &TokenStream, name: &Ident) -> Option<(Span, String)> {
    let word = match tokens.clone().into_iter().next()? {
        TokenTree::Ident(word) => word,
        TokenTree::Group(list)
            if list.delimiter() == Delimiter::Bracket && tool_path(list.stream()).is_some() =>
        {
            return Some((
                list.span(),
                "a step makes one call: give each of these calls a step of its own, or make one for each element of a list: `for x in list { Tool { … } }`".to_owned(),
            ));
        }
        _ => return None,
    };
    let instead = match word.to_string().as_str() {
        "match" => {
            let help = format!("step {name}: Type = match … {{ … }};");
            return Some((
                word.span(),
                format!(
                    "a `match` between calls compares with variants without fields, numbers or truth values, and has at least two arms\n\
                     help: for other patterns, write `if let … {{ … }} else if … {{ … }} else {{ … }}`\n\
                     help: to compute a value with `match`, give the step a type: `{help}`"
                ),
            ));
        }
        "while" => {
            return Some((
                word.span(),
                format!(
                    "a step repeats calls with `loop`, whose condition is asked after each round\n\
                     help: write `#[at_most(100)] step {name} = loop {{ Tool {{ … }} }} while condition;`"
                ),
            ));
        }
        "async" | "try" | "unsafe" => {
            "write the call alone: the run awaits it, and fails if it fails"
        }
        "return" => "write the call without the `return`",
        _ => return None,
    };
    Some((word.span(), format!("a step has no `{word}`: {instead}")))
}

/// The call in `Tool { … }.await?` and in `function(…).await?`, and the tokens after it.
fn without_waiting(tokens: TokenStream) -> (TokenStream, TokenStream) {
    let waits = match tokens.clone().into_iter().last() {
        Some(TokenTree::Punct(last)) => last.as_char() == '?',
        Some(TokenTree::Ident(last)) => last == "await",
        Some(TokenTree::Group(last)) => last.delimiter() == Delimiter::Parenthesis,
        _ => false,
    };
    let call = waits.then(|| syn::parse2::<syn::Expr>(tokens.clone()).ok());
    let Some(mut call) = call.flatten() else {
        return (tokens, TokenStream::new());
    };
    let mut after = TokenStream::new();
    loop {
        let (inner, postfix) = match call {
            syn::Expr::Await(waits) => {
                let (dot, keyword) = (waits.dot_token, waits.await_token);
                (*waits.base, quote!(#dot #keyword))
            }
            syn::Expr::Try(asks) => (*asks.expr, asks.question_token.to_token_stream()),
            syn::Expr::MethodCall(of)
                if ["run", "call", "unwrap", "expect"].contains(&&*text_of(&of.method))
                    || is_attribute(&of.method) =>
            {
                let mut postfix = TokenStream::new();
                of.dot_token.to_tokens(&mut postfix);
                of.method.to_tokens(&mut postfix);
                let args = of.args;
                of.paren_token
                    .surround(&mut postfix, |inside| args.to_tokens(inside));
                (*of.receiver, postfix)
            }
            syn::Expr::Struct(_) => return (call.into_token_stream(), after),
            syn::Expr::Call(_) if function(call.to_token_stream()).is_some() => {
                return (call.into_token_stream(), after);
            }
            _ => return (tokens, TokenStream::new()),
        };
        after = quote!(#postfix #after);
        call = inner;
    }
}

/// Returns the attributes that replace the methods after a call: `#[retry(3)]` for `.retry(3)`.
fn attributes_in(after: &TokenStream) -> String {
    let trees: Vec<TokenTree> = after.clone().into_iter().collect();
    let attributes = trees.windows(2).filter_map(|pair| match pair {
        [TokenTree::Ident(name), TokenTree::Group(arguments)] if is_attribute(name) => {
            Some(match tidy(&arguments.stream()) {
                arguments if arguments.is_empty() => format!("#[{name}]"),
                arguments => format!("#[{name}({arguments})]"),
            })
        }
        _ => None,
    });
    attributes.collect::<Vec<_>>().join(" ")
}

fn is_attribute(name: &Ident) -> bool {
    policy::KNOWN.contains(&&*text_of(name))
}

/// `list.iter().map(|x| Tool { … })`, which is a `for`.
fn call_for_each(tokens: TokenStream, name: &Ident) -> Option<(Span, String)> {
    let mut expr = syn::parse2(tokens).ok()?;
    loop {
        let syn::Expr::MethodCall(method) = expr else {
            return None;
        };
        if let Some(syn::Expr::Closure(closure)) = method.args.first()
            && let Some(pattern) = closure.inputs.first()
            && let Some(call) = only_call(&closure.body)
        {
            let mut list = *method.receiver;
            while let syn::Expr::MethodCall(through) = &list
                && ["iter", "into_iter", "iter_mut"].contains(&&*text_of(&through.method))
            {
                list = (*through.receiver).clone();
            }
            let [pattern, list, call] =
                [pattern.to_token_stream(), list.to_token_stream(), call].map(|it| value_text(&it));
            return Some((
                method.method.span(),
                format!(
                    "a step calls a tool for each element of a list with `for`\nhelp: `step {name} = for {pattern} in {list} {{ {call} }};`"
                ),
            ));
        }
        expr = *method.receiver;
    }
}

/// The literal that is all that a closure gives.
fn only_call(body: &syn::Expr) -> Option<TokenStream> {
    match body {
        syn::Expr::Struct(call) => Some(call.to_token_stream()),
        syn::Expr::Block(block) => match &*block.block.stmts {
            [syn::Stmt::Expr(inner, _)] => only_call(inner),
            _ => None,
        },
        _ => None,
    }
}

/// How tokens that are meant as a step are written as one.
pub(super) fn as_step(tokens: &TokenStream) -> String {
    let written = value_text(tokens);
    match syn::parse2(tokens.clone()) {
        Ok(syn::Expr::Struct(_)) => format!("help: a step is `step name = {written};`"),
        Ok(_) => format!("help: a computed step is `step name: Type = {written};`"),
        Err(_) => "help: a step is `step name = Tool { … };`".to_owned(),
    }
}

/// Whether the expression is a path that names a type: `Refresh`, `tools::Refresh`.
fn is_unit(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Path(path) if path.qself.is_none() && path.path.segments.last().is_some_and(|last| {
        let name = text_of(&last.ident);
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

/// The path `Tool::new`, as in other languages, and the `Tool` in it.
fn constructed(tokens: TokenStream) -> Option<(Path, Path)> {
    const WORDS: [&str; 7] = ["new", "default", "from", "create", "call", "run", "invoke"];
    let (name, path) = called(tokens)?;
    let mut tool = path.clone();
    tool.segments.pop();
    tool.segments.pop_punct();
    let is_type = scan::value::is_type_name(&tool.segments.last()?.ident);
    (is_type && WORDS.contains(&&*name)).then_some((path, tool))
}

/// The function that is called by `name(…)`, or as if it were a tool by `name { … }`.
fn function(tokens: TokenStream) -> Option<(String, Path)> {
    called(tokens).filter(|(name, _)| !name.starts_with(char::is_uppercase))
}

/// Says of `name { … }` how a call is written.
pub(super) fn lowercase(tokens: &TokenStream) -> Option<(Path, String)> {
    let (name, path) = function(tokens.clone())?;
    let tool = name.to_upper_camel_case();
    let message = format!(
        "`{name}` is a function, but a call is the struct of its arguments\n\
         help: `#[tool]` makes `{tool}` of `async fn {name}`: write `{tool} {{ … }}`"
    );
    let is_struct = matches!(tokens.clone().into_iter().last(), Some(TokenTree::Group(last)) if last.delimiter() == Delimiter::Brace);
    is_struct.then_some((path, message))
}

/// Whether tokens are `Tool { … }`, and perhaps `.await` or `?` after it.
pub(super) fn is_call(tokens: &TokenStream) -> bool {
    let (call, _) = without_waiting(tokens.clone());
    matches!(syn::parse2(call), Ok(syn::Expr::Struct(_)))
}

/// What is called by `name(…)` or `name { … }`.
fn called(tokens: TokenStream) -> Option<(String, Path)> {
    let parser = |input: ParseStream<'_>| {
        let path = input.call(Path::parse_mod_style)?;
        let group = input.parse::<proc_macro2::Group>()?;
        let called = input.is_empty() && group.delimiter() != Delimiter::Bracket;
        input.parse::<TokenStream>()?;
        Ok(called.then(|| (last_name(&path), path)))
    };
    parser.parse2(tokens).ok().flatten()
}
