//! Properties of the source of a `plan!`: it is Rust, and no string of the plan is code in it.

use super::{generate, reached, reader};
use plan_runtime::Plan;
use plan_runtime::plan::{Body, Condition, Entry, Key, Part, RustText, Template, Test};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::sync::Arc;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Block, Expr, Ident, Lit, Pat, Stmt, Token, Type, Visibility, braced, parenthesized,
};

/// The macros that a plan's source may call.
const MACROS: [&str; 5] = ["plan", "json", "format", "vec", "matches"];

/// Checks the source of the plan in a document.
pub fn to_rust(data: &[u8]) {
    let Some(text) = generate::text(data, generate::plan) else {
        return;
    };
    let Ok(document) = reader().read(&text) else {
        return;
    };
    let plan = document.plan();
    let Ok(source) = plan_rust::to_rust(plan) else {
        return;
    };
    let tokens: TokenStream = source
        .parse()
        .unwrap_or_else(|error| panic!("{error}: {source}"));
    let parsed: Source =
        syn::parse2(tokens.clone()).unwrap_or_else(|error| panic!("{error}: {source}"));
    if is_foreign(plan) {
        return;
    }
    reached();
    assert_eq!(parsed.inputs, plan.inputs.len(), "{source}");
    assert_eq!(parsed.steps, plan.steps.len(), "{source}");
    only_known(&tokens, &source);
    let (mut literals, mut texts) = (Vec::new(), Vec::new());
    collect_literals(&tokens, &mut literals);
    each_action(plan, &mut |args| collect_texts(args, &mut texts));
    for text in texts {
        let is_there = literals.iter().any(|literal| text.is_in(literal));
        assert!(is_there, "{text:?} is not in {source}");
    }
    let mut plain = plan.clone();
    without_texts(&mut plain);
    let other = plan_rust::to_rust(&plain)
        .unwrap_or_else(|lacking| panic!("only with its texts: {lacking}\n{source}"));
    let other = other
        .parse()
        .unwrap_or_else(|error| panic!("{error}: {other}"));
    assert_eq!(skeleton(tokens), skeleton(other), "{source}");
}

/// Returns `true` if the plan has parts that only Rust can express, so that they must be code.
fn is_foreign(plan: &Plan) -> bool {
    let is_plain = |name: &str| name.is_empty() || syn::parse_str::<Ident>(name).is_ok();
    let types = plan.inputs.iter().map(|input| &input.type_name);
    let foreign_type = types
        .chain([&plan.output.type_name])
        .any(|ty| !is_plain(ty));
    foreign_type || is_foreign_work(plan)
}

fn is_foreign_work(plan: &Plan) -> bool {
    let fallbacks = plan.steps.iter().flat_map(|step| &step.policy.fallback);
    has_code(&plan.output.value)
        || fallbacks.into_iter().any(has_code)
        || plan.steps.iter().any(|step| is_foreign_body(&step.body))
}

fn is_foreign_body(body: &Body) -> bool {
    let is_name = |pattern: &str| syn::parse_str::<Ident>(pattern).is_ok();
    match body {
        Body::Action(action) => has_code(&action.args),
        Body::If(branches) => branches.iter().any(|branch| {
            let mut conditions = branch.conditions.iter();
            conditions.any(|condition| {
                matches!(condition, Condition::Let { .. }) || has_code(condition.template())
            }) || is_foreign_body(&branch.body)
        }),
        Body::For(each) => {
            !is_name(&each.pattern) || has_code(&each.list) || is_foreign_body(&each.body)
        }
        Body::Await(wait) => !is_name(&wait.type_name),
        Body::Block(block) => has_code(&block.inputs) || is_foreign_work(&block.plan),
        Body::Loop(repeat) => {
            let round = &repeat.round;
            has_code(&repeat.again) || has_code(&round.inputs) || is_foreign_work(&round.plan)
        }
        other => panic!("{other:?}"),
    }
}

fn has_code(template: &Template) -> bool {
    match template {
        Template::Computed(_) => true,
        Template::List(items) => items.iter().any(has_code),
        Template::Tagged(_, content) => content.as_deref().is_some_and(has_code),
        Template::Object(entries) => entries.iter().any(|entry| has_code(&entry.value)),
        Template::Test(test) => test.operands().iter().any(has_code),
        Template::Text(parts) => parts
            .iter()
            .any(|part| matches!(part, Part::Value { value, .. } if has_code(value))),
        _ => false,
    }
}

/// Replaces all strings of a plan, so that its source changes only in them.
fn without_texts(plan: &mut Plan) {
    plan.description = RustText::default();
    for input in &mut plan.inputs {
        input.description = RustText::default();
    }
    without_texts_of_steps(plan);
}

fn without_texts_of_steps(plan: &mut Plan) {
    for step in &mut plan.steps {
        step.intent = RustText::default();
        without_texts_in(&mut step.body);
        if let Some(fallback) = &mut Arc::make_mut(&mut step.policy).fallback {
            replace(fallback, true);
        }
    }
    replace(&mut plan.output.value, true);
}

fn without_texts_in(body: &mut Body) {
    match body {
        Body::Action(action) => replace(&mut action.args, false),
        Body::If(branches) => {
            for branch in branches {
                for condition in &mut branch.conditions {
                    if let Condition::Holds(value) = condition {
                        replace(value, true);
                    }
                }
                without_texts_in(&mut branch.body);
            }
        }
        Body::For(each) => {
            replace(&mut each.list, true);
            without_texts_in(&mut each.body);
        }
        Body::Await(_) => {}
        // The inputs of a block contain no strings, only names.
        Body::Block(block) => without_texts_of_steps(&mut block.plan),
        Body::Loop(repeat) => {
            replace(&mut repeat.again, true);
            without_texts_of_steps(&mut repeat.round.plan);
        }
        other => panic!("{other:?}"),
    }
}

/// Replaces the strings in a template. With `keys`, also replaces the names of members, which are not names of
/// arguments then.
fn replace(template: &mut Template, keys: bool) {
    match template {
        Template::String(text) => *text = "text".to_owned(),
        Template::List(items) => items.iter_mut().for_each(|item| replace(item, true)),
        Template::Tagged(_, content) => content.iter_mut().for_each(|item| replace(item, true)),
        Template::Object(entries) => {
            for (index, Entry { key, value, .. }) in entries.iter_mut().enumerate() {
                replace(value, true);
                if let Key::Name(name) = key
                    && keys
                {
                    *name = format!("key {index}");
                }
            }
        }
        Template::Text(parts) => {
            for part in parts {
                match part {
                    Part::Literal(text) => *text = "text".to_owned(),
                    Part::Value { value, .. } => replace(value, true),
                }
            }
        }
        Template::Test(test) => match &mut **test {
            Test::All(operands) | Test::Any(operands) => {
                operands.iter_mut().for_each(|it| replace(it, true));
            }
            Test::Compare(operands, _) => operands.iter_mut().for_each(|it| replace(it, true)),
            Test::Not(operand) | Test::Ask(_, operand) => replace(operand, true),
            other => panic!("{other:?}"),
        },
        _ => {}
    }
}

/// A string of a plan in its source.
#[derive(Debug)]
enum Text<'p> {
    Whole(&'p str),
    /// A part of a `format!`, or of a string without values.
    Part(&'p str),
}

impl Text<'_> {
    fn is_in(&self, literal: &str) -> bool {
        match self {
            Self::Whole(text) => literal == *text,
            Self::Part(text) => {
                let escaped = text.replace('{', "{{").replace('}', "}}");
                literal.contains(&escaped) || literal.contains(*text)
            }
        }
    }
}

fn each_action<'p>(plan: &'p Plan, f: &mut impl FnMut(&'p Template)) {
    for action in plan.steps.iter().flat_map(|step| step.actions()) {
        f(&action.args);
    }
}

fn collect_texts<'p>(template: &'p Template, texts: &mut Vec<Text<'p>>) {
    match template {
        Template::String(text) => texts.push(Text::Whole(text)),
        Template::List(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Template::Object(entries) => {
            for entry in entries {
                collect_texts(&entry.value, texts);
            }
        }
        Template::Text(parts) => {
            for part in parts {
                if let Part::Literal(text) = part {
                    texts.push(Text::Part(text));
                }
            }
        }
        Template::Test(test) => {
            for operand in test.operands() {
                collect_texts(operand, texts);
            }
        }
        _ => {}
    }
}

fn collect_literals(tokens: &TokenStream, literals: &mut Vec<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => collect_literals(&group.stream(), literals),
            TokenTree::Literal(literal) => {
                if let Lit::Str(text) = Lit::new(literal) {
                    literals.push(text.value());
                }
            }
            _ => {}
        }
    }
}

/// Returns all tokens except strings, doc comments and trailing commas, which depend on the length of a line.
fn skeleton(tokens: TokenStream) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let is_doc =
                    matches!(tokens.peek(), Some(TokenTree::Group(group)) if is_doc(group));
                if is_doc {
                    drop(tokens.next());
                } else {
                    all.push("#".to_owned());
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                all.push(open.to_owned());
                let mut inner = skeleton(group.stream());
                if inner.last().is_some_and(|last| last == ",") {
                    inner.pop();
                }
                all.append(&mut inner);
                all.push(close.to_owned());
            }
            TokenTree::Literal(literal) => {
                let written = literal.to_string();
                let is_text = written.ends_with(['"', '#']);
                all.push(if is_text { "\"\"".to_owned() } else { written });
            }
            other => all.push(other.to_string()),
        }
    }
    all
}

fn is_doc(group: &proc_macro2::Group) -> bool {
    let first = group.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

/// Checks that the source calls only the macros that a plan needs, and contains no `unsafe`.
fn only_known(tokens: &TokenStream, source: &str) {
    let mut before: Option<String> = None;
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) => only_known(&group.stream(), source),
            TokenTree::Ident(name) => assert_ne!(name.to_string(), "unsafe", "{source}"),
            TokenTree::Punct(punct) if punct.as_char() == '!' => {
                let calls = punct.spacing() == Spacing::Alone
                    && matches!(tokens.peek(), Some(TokenTree::Group(_)));
                if let Some(name) = before.filter(|_| calls) {
                    assert!(MACROS.contains(&name.as_str()), "`{name}!` in {source}");
                }
            }
            _ => {}
        }
        before = match token {
            TokenTree::Ident(name) => Some(name.to_string()),
            _ => None,
        };
    }
}

/// The number of parts in a plan's source.
struct Source {
    inputs: usize,
    steps: usize,
}

impl Parse for Source {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if name != "plan" {
            return Err(syn::Error::new(name.span(), "expected `plan!`"));
        }
        input.parse::<Token![!]>()?;
        let plan;
        braced!(plan in input);
        plan.call(Attribute::parse_outer)?;
        plan.parse::<Visibility>()?;
        plan.parse::<Ident>()?;
        let list;
        parenthesized!(list in plan);
        let inputs = list.parse_terminated(Input::parse, Token![,])?.len();
        if plan.peek(Token![->]) {
            plan.parse::<Token![->]>()?;
            plan.parse::<Type>()?;
        }
        let steps;
        braced!(steps in plan);
        if !plan.is_empty() {
            return Err(plan.error("expected the end of the plan"));
        }
        let count = steps_of(&steps)?;
        let rest: Vec<Stmt> = steps.call(Block::parse_within)?;
        match rest.as_slice() {
            [] | [Stmt::Expr(_, None) | Stmt::Macro(_)] => Ok(Self {
                inputs,
                steps: count,
            }),
            _ => Err(steps.error("expected the output")),
        }
    }
}

/// Reads the steps of a plan or a block, and returns their number.
fn steps_of(input: ParseStream<'_>) -> syn::Result<usize> {
    let mut count = 0;
    loop {
        let attributes = input.call(Attribute::parse_outer)?;
        if attributes.is_empty() && !is_step(input) {
            return Ok(count);
        }
        count += 1;
        input.parse::<Ident>()?;
        input.parse::<Ident>()?;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            input.parse::<Type>()?;
        }
        input.parse::<Token![=]>()?;
        if input.peek(Token![await]) {
            input.parse::<Token![await]>()?;
        } else if input.peek(Token![loop]) {
            repeat(input)?;
        } else {
            body(input)?;
        }
        input.parse::<Token![;]>()?;
    }
}

/// Reads the work of a step: Rust, or Rust with blocks of steps in its braces.
fn body(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    if ahead.parse::<Expr>().is_ok() {
        input.advance_to(&ahead);
        return Ok(());
    }
    if input.peek(Token![for]) {
        input.parse::<Token![for]>()?;
        Pat::parse_single(input)?;
        input.parse::<Token![in]>()?;
        Expr::parse_without_eager_brace(input)?;
        return block(input);
    }
    if !input.peek(Token![if]) {
        return block(input);
    }
    loop {
        if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            Expr::parse_without_eager_brace(input)?;
        }
        block(input)?;
        if !input.peek(Token![else]) {
            return Ok(());
        }
        input.parse::<Token![else]>()?;
    }
}

fn repeat(input: ParseStream<'_>) -> syn::Result<()> {
    input.parse::<Token![loop]>()?;
    if input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        input.parse::<Ident>()?;
        input.parse::<Token![|]>()?;
    }
    block(input)?;
    input.parse::<Token![while]>()?;
    input.parse::<Expr>().map(drop)
}

fn block(input: ParseStream<'_>) -> syn::Result<()> {
    let inside;
    braced!(inside in input);
    steps_of(&inside)?;
    if !inside.is_empty() {
        body(&inside)?;
    }
    if inside.is_empty() {
        return Ok(());
    }
    Err(inside.error("expected the end of the block"))
}

/// Returns `true` before `step name`. The value of a step that has the name `step` is no such start.
fn is_step(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Ident>().is_ok_and(|word| word == "step") && ahead.parse::<Ident>().is_ok()
}

struct Input;

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Ident>()?;
        input.parse::<Token![:]>()?;
        input.parse::<Type>()?;
        Ok(Self)
    }
}
