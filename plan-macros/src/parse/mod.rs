//! From tokens to [`ast`](crate::ast). Every stage of it records what is wrong and goes on with what follows.

mod amount;
mod attribute;
mod awaited;
mod call;
mod flow;
mod format;
pub(crate) mod functions;
mod head;
mod json;
mod literal;
mod other_words;
pub(crate) mod owned;
mod policy;
mod policy_checks;
mod reference;
mod tail;
mod test;
mod token_text;
mod types;
mod value;

pub(crate) use amount::duration_in;
pub(crate) use flow::{fields_in, names_in, pattern_text};
pub(crate) use head::krate;
pub(crate) use test::binds_one;
pub(crate) use token_text::{path_text, tidy, value_text};

use crate::ast::{Body, Header, Plan, Step, Tail, Value};
use crate::report::Report;
pub(crate) use crate::scan::is_source_name;
use crate::scan::{self, PlanTokens, Statement, StatementKind};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use syn::Type;

/// Reads the parts of `plan!`; `None` if not even its form is known.
pub(crate) fn parse(source: PlanTokens, report: &mut Report) -> Option<Plan> {
    let krate = krate(&source.inner, report);
    if source.head.is_none() && source.statements.is_empty() {
        report.error_at(
            Span::call_site(),
            "a plan needs at least one step: `plan! { Name(input: Type) -> Output { step name = Tool { … }; … } }`",
        );
        return None;
    }
    if let (
        None,
        [
            Statement {
                attrs,
                kind: StatementKind::Other(tokens),
                ..
            },
        ],
    ) = (&source.head, &*source.statements)
        && attrs.is_empty()
        && let Some(name) = type_name(tokens)
    {
        report.error(
            tokens,
            format!("expected the inputs and the steps of the plan\nhelp: `{name}(input: Type) -> Output {{ step … }}`"),
        );
        return None;
    }
    let head = match source.head {
        Some(head) => Some(head::head(head, report)?),
        None => None,
    };
    let mut broken = Vec::new();
    let mut in_body = Report::default();
    let (steps, tail) = statements(source.statements, head.as_ref(), &mut broken, &mut in_body);
    if !head.as_ref().is_some_and(|head| head.unclear_body) {
        report.extend(in_body);
    }
    Some(Plan {
        krate,
        head,
        steps,
        tail,
        broken,
        bound: Vec::new(),
        unused: Vec::new(),
        braces: Vec::new(),
    })
}

fn statements(
    statements: Vec<Statement>,
    head: Option<&Header>,
    broken: &mut Vec<Ident>,
    report: &mut Report,
) -> (Vec<Step>, Option<Tail>) {
    let mut ended = false;
    let mut steps = Vec::new();
    let mut tail: Option<Tail> = None;
    // Whether attributes belong to what is in the place of the tail.
    let mut stray_attrs = false;
    let mut is_unclear = false;
    let mut keywords = scan::keywords(&statements);
    let inputs = head.iter().flat_map(|head| &head.inputs);
    let inputs = inputs.filter(|input| scan::is_keyword(&input.name));
    keywords.extend(inputs.map(|input| input.name.to_string()));
    let mut before = report.len();
    for statement in statements {
        ended |= !statement.semicolon;
        before = report.len();
        // A keyword as a name is one mistake, where the name is given.
        let is_unreadable = statement.mentions(&keywords);
        let Statement {
            attrs,
            kind,
            semicolon,
            end,
        } = statement;
        match kind {
            StatementKind::Step(step) => {
                let stray = tail.take();
                let is_part = stray
                    .as_ref()
                    .is_some_and(|tail| stray_attrs || is_part(&tail.tokens));
                stray_attrs = false;
                // It may be a part of the step before it, of which something was reported.
                let before_it = steps.last();
                let is_reported =
                    before_it.is_some_and(|step: &Step| matches!(step.body, Body::Broken(_)));
                if let Some(tail) = stray
                    && !matches!(tail.value, Value::Broken)
                    && !is_reported
                {
                    report.error(
                        tail.tokens,
                        "a plan's output is its last expression: move it after the last step, or make it a step\n\
                         help: `step name: Type = …;` is a computed step",
                    );
                }
                let has_attrs = !attrs.is_empty();
                let mut read = flow::step(attrs, step, semicolon, end, broken, report);
                if is_unclear {
                    read.iter_mut().for_each(Step::forget_type);
                }
                // After a doubled `step`, the attributes are those of the next step.
                is_unclear = read.is_none() && has_attrs && !semicolon;
                if is_unreadable {
                    report.drop_since(before);
                    read.iter_mut().for_each(Step::forget);
                }
                if is_part {
                    // It is not known to which step it belongs.
                    let beside = steps.len().saturating_sub(1);
                    steps.extend(read);
                    steps[beside..].iter_mut().for_each(Step::forget);
                } else {
                    steps.extend(read);
                }
            }
            StatementKind::Other(tokens) => {
                ended = true;
                stray_attrs = !attrs.is_empty();
                let mut value = tail::tail(attrs, tokens, semicolon, end, report);
                if is_unreadable {
                    report.drop_since(before);
                    value = value.map(|tail| Tail {
                        value: Value::Broken,
                        ..tail
                    });
                }
                if let (Some(_), Some(second)) = (&tail, &value) {
                    report.error(
                        &second.tokens,
                        "a plan has one output, its last expression; this is a second one",
                    );
                    continue;
                }
                tail = value;
            }
        }
    }
    // What is wrong with the last statement may be that it has taken the output.
    if let Some(head) = head
        && (tail.is_some() || report.len() == before)
    {
        check_output(head, tail.as_ref(), ended, &steps, report);
    }
    (steps, tail)
}

/// Reports a declared output without a last expression, and a last expression without a declared output.
fn check_output(
    head: &Header,
    tail: Option<&Tail>,
    ended: bool,
    steps: &[Step],
    report: &mut Report,
) {
    match (&head.output, tail) {
        (Some(ty), None) if !ended && !is_nothing(ty) => {
            let last = steps
                .last()
                .map_or_else(|| "…".to_owned(), |step| step.name.to_string());
            report.error(
                ty,
                format!(
                    "the plan declares this output, but has no last expression that returns it\n\
                     help: end the plan with a value, without `;`: `{last}`"
                ),
            );
        }
        (None, Some(_)) if head.unclear => {}
        (None, Some(tail)) => {
            report.error(
                &tail.tokens,
                format!(
                    "the plan returns this output, but does not declare its type\n\
                     help: write the type after the inputs: `{}(…) -> Type {{ … }}`",
                    head.name
                ),
            );
        }
        _ => {}
    }
}

/// The name that is all of the tokens, if it is that of a type and not of a constant.
fn type_name(tokens: &TokenStream) -> Option<Ident> {
    let name: Ident = syn::parse2(tokens.clone()).ok()?;
    let text = name.to_string();
    let is_constant = text.len() > 1 && !text.contains(char::is_lowercase);
    (scan::value::is_type_name(&name) && !is_constant).then_some(name)
}

/// Whether tokens between two steps seem to be a part of one: they start with brackets.
fn is_part(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    matches!(first, Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::Parenthesis)
}

/// Whether the type is `()`.
fn is_nothing(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The tokens of a brace group.
fn braced(tree: &TokenTree) -> Option<TokenStream> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}
