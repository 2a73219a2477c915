//! The parser from tokens to [`ast`](crate::ast). The parser records an error in a part, and continues with the next part.

mod amount;
mod attribute;
mod flow;
mod format;
pub(crate) mod functions;
mod head;
mod json;
mod literal;
pub(crate) mod owned;
mod policy;
mod policy_checks;
mod value;

pub(crate) use crate::syntax::pattern::{binds_one, fields_in, names_in};
pub(crate) use crate::syntax::reference::is_source_name;
pub(crate) use crate::syntax::text::{tidy, value_text};
pub(crate) use amount::duration_in;
pub(crate) use head::krate;

use crate::ast::{Body, Header, Plan, Step, Tail, Value};
use crate::mistakes::{is_call, tail as mistakes};
use crate::report::{Mistake, Report, mistake};
use crate::syntax::{self, PlanTokens, Statement, StatementKind, StepTokens};
use flow::StepReader;
use proc_macro2::{Ident, Span, TokenStream};
use syn::Type;

/// Reads the parts of `plan!`. Returns `None` if the form of the input is unknown.
pub(crate) fn parse(source: PlanTokens, report: &mut Report) -> Option<Plan> {
    let krate = krate(&source.inner, report);
    if let Some(begun) = begun(&source) {
        report.push(begun);
        return None;
    }
    let head = match source.head {
        Some(head) => Some(head::head(head, report)?),
        None => None,
    };
    let mut in_body = Report::default();
    let mut body = PlanBody::default();
    body.read(source.statements, head.as_ref(), &mut in_body);
    if !head.as_ref().is_some_and(|head| head.unclear_body) {
        report.extend(in_body);
    }
    Some(Plan {
        krate,
        head,
        steps: body.steps,
        tail: body.tail,
        broken: body.reader.broken,
    })
}

/// Returns a step with a doc comment and attributes alone.
pub(crate) fn attributes(attrs: TokenStream, report: &mut Report) -> Step {
    policy::parse(attrs, None, report).step
}

/// Returns the error of a plan without steps, or with a name alone.
fn begun(source: &PlanTokens) -> Option<Mistake> {
    match (&source.head, &*source.statements) {
        (None, []) => Some(Mistake::at(
            Span::call_site(),
            "a plan needs at least one step: `plan! { Name(input: Type) -> Output { step name = Tool { … }; … } }`",
        )),
        (
            None,
            [
                Statement {
                    attrs,
                    kind: StatementKind::Other(tokens),
                    ..
                },
            ],
        ) if attrs.is_empty() => {
            let name = type_name(tokens)?;
            Some(mistake!(
                tokens,
                "expected the inputs and the steps of the plan\nhelp: `{name}(input: Type) -> Output {{ step … }}`"
            ))
        }
        _ => None,
    }
}

/// The steps of a plan, and its last expression.
#[derive(Default)]
struct PlanBody {
    reader: StepReader,
    steps: Vec<Step>,
    tail: Option<Tail>,
    /// `true` if attributes precede the tail.
    stray_attrs: bool,
}

impl PlanBody {
    fn read(&mut self, statements: Vec<Statement>, head: Option<&Header>, report: &mut Report) {
        let mut keywords = syntax::keywords(&statements);
        let inputs = head.iter().flat_map(|head| &head.inputs.read);
        let inputs = inputs.filter(|input| syntax::is_keyword(&input.name));
        keywords.extend(inputs.map(|input| input.name.to_string()));
        let mut ended = false;
        let mut before = report.len();
        for statement in &statements {
            before = report.len();
            // A keyword as a name is reported once, at its declaration.
            let is_unreadable = statement.mentions(&keywords);
            ended |= !statement.semicolon;
            match &statement.kind {
                StatementKind::Step(step) => self.step(statement, step, is_unreadable, report),
                StatementKind::Other(tokens) => {
                    ended = true;
                    self.tail(statement, tokens, is_unreadable, report);
                }
            }
        }
        // An error in the last statement may mean that the statement contains the output.
        if let Some(head) = head
            && (self.tail.is_some() || report.len() == before)
        {
            report.extend(self.wrong_output(head, ended));
        }
    }

    fn step(
        &mut self,
        statement: &Statement,
        source: &StepTokens,
        is_unreadable: bool,
        report: &mut Report,
    ) {
        let before = report.len();
        let is_part = self.refuse_tail(report);
        let mut read = self.reader.read(statement, source, report);
        if is_unreadable {
            report.drop_since(before);
            read.iter_mut().for_each(Step::forget);
        }
        let beside = self.steps.len().saturating_sub(1);
        self.steps.extend(read);
        if is_part {
            // The statement may belong to either step.
            self.steps[beside..].iter_mut().for_each(Step::forget);
        }
    }

    /// Reports a last expression before a step. Returns `true` if the expression may be a part of that step.
    fn refuse_tail(&mut self, report: &mut Report) -> bool {
        let stray_attrs = std::mem::take(&mut self.stray_attrs);
        let Some(tail) = self.tail.take() else {
            return false;
        };
        // The expression may be a part of the previous step, which has an error already.
        let before = self.steps.last();
        let is_reported = before.is_some_and(|step| matches!(step.body, Body::Broken(_)));
        let is_part = stray_attrs || mistakes::is_part(&tail.tokens);
        if !matches!(tail.value, Value::Broken) && !is_reported {
            report.error(
                tail.tokens,
                "a plan's output is its last expression: move it after the last step, or make it a step\n\
                 help: `step name: Type = …;` is a computed step",
            );
        }
        is_part
    }

    fn tail(
        &mut self,
        statement: &Statement,
        tokens: &TokenStream,
        is_unreadable: bool,
        report: &mut Report,
    ) {
        let before = report.len();
        self.stray_attrs = !statement.attrs.is_empty();
        let mut tail = last_expression(statement, tokens, report);
        if is_unreadable {
            report.drop_since(before);
            tail.iter_mut().for_each(|tail| tail.value = Value::Broken);
        }
        match (&self.tail, &tail) {
            (Some(_), Some(second)) => report.error(
                &second.tokens,
                "a plan has one output, its last expression; this is a second one",
            ),
            _ => self.tail = tail,
        }
    }

    /// Returns the error of a declared output without a last expression, and of a last expression without a declared output.
    fn wrong_output(&self, head: &Header, ended: bool) -> Option<Mistake> {
        match (&head.output, &self.tail) {
            (Some(ty), None) if !ended && !matches!(ty, Type::Tuple(it) if it.elems.is_empty()) => {
                let last = self.steps.last();
                let last = last.map_or_else(|| "…".to_owned(), |step| step.name.to_string());
                Some(mistake!(
                    ty,
                    "the plan declares this output, but has no last expression that returns it\n\
                         help: end the plan with a value, without `;`: `{last}`"
                ))
            }
            (None, Some(tail)) if !head.may_have_output => Some(mistake!(
                &tail.tokens,
                "the plan returns this output, but does not declare its type\n\
                     help: write the type after the inputs: `{}(…) -> Type {{ … }}`",
                head.name
            )),
            _ => None,
        }
    }
}

/// Reads the final expression.
fn last_expression(
    statement: &Statement,
    tokens: &TokenStream,
    report: &mut Report,
) -> Option<Tail> {
    let tail = |value| {
        Some(Tail {
            value,
            tokens: tokens.clone(),
        })
    };
    if !statement.attrs.is_empty() {
        let last = mistakes::last_attribute(&statement.attrs);
        report.push(mistakes::attributes(last, statement, tokens));
        // A call and a statement are no output.
        let is_output = !tokens.is_empty() && !statement.semicolon && !is_call(tokens);
        return is_output.then_some(Value::Broken).and_then(tail);
    }
    if let Some(mistake) = mistakes::in_plan(statement, tokens) {
        report.push(mistake);
        return None;
    }
    if tokens.is_empty() {
        return None;
    }
    let before = report.len();
    let value = value::all(tokens.clone(), statement.end, "the end of the plan", report);
    tail(if report.drop_cascade(before) {
        Value::Broken
    } else {
        value
    })
}

/// Returns the name, if the tokens are a single name of a type, and not of a constant.
fn type_name(tokens: &TokenStream) -> Option<Ident> {
    let name: Ident = syn::parse2(tokens.clone()).ok()?;
    let text = name.to_string();
    let is_constant = text.len() > 1 && !text.contains(char::is_lowercase);
    (syntax::value::is_type_name(&name) && !is_constant).then_some(name)
}
