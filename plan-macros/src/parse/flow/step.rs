//! `step name = …;` and `step name: Type = …;`.

use super::super::{owned, policy, policy_checks, value};
use super::WorkReader;
use crate::ast::{Body, Step};
use crate::mistakes::{self, HyphenatedName, Position};
use crate::report::Report;
use crate::syntax::tokens::{Tokens, first, is_word, only};
use crate::syntax::{Statement, StepTokens};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Type;

/// Reads the steps of a plan or of a block, one after the other.
#[derive(Default)]
pub(in crate::parse) struct StepReader {
    /// The unreadable names of steps, and `_` for a step without a name.
    pub(in crate::parse) broken: Vec<Ident>,
    is_unclear: bool,
}

impl StepReader {
    /// Reads a step. If it has no semicolon, its value is all up to the end of the statement.
    pub(in crate::parse) fn read(
        &mut self,
        statement: &Statement,
        source: &StepTokens,
        report: &mut Report,
    ) -> Option<Step> {
        let mut read = self.step(statement, source, report);
        if self.is_unclear {
            read.iter_mut().for_each(Step::forget_type);
        }
        // After a doubled `step`, the attributes belong to the next step.
        self.is_unclear = read.is_none() && !statement.attrs.is_empty() && !statement.semicolon;
        read
    }

    fn step(
        &mut self,
        statement: &Statement,
        source: &StepTokens,
        report: &mut Report,
    ) -> Option<Step> {
        let attributes = policy::parse(statement.attrs.clone(), source.name.as_ref(), report);
        // The first error in the tokens of a step makes the tokens after it look wrong, so later errors are dropped.
        let before = report.len();
        let (name, mistakes) = mistakes::step::name(source, statement.end);
        report.extend(mistakes);
        let Some(name) = name else {
            report.drop_cascade(before);
            let names = mistakes::step::names_in_place(source.extra.clone(), statement.end);
            self.broken.extend(names);
            return None;
        };
        let mut step = Step {
            ty: ty(source, &name, report),
            name,
            ..attributes.step
        };
        match source.equals {
            Some(equals) => step.read_work(source, equals, statement, report),
            None => self.without_equals(source, &step.name, report),
        }
        let is_unclear = report.drop_cascade(before);
        if !is_unclear {
            policy_checks::body(&step.policy, &step.role, &step.body, report);
        }
        if attributes.unclear {
            step.forget_type();
        }
        if is_unclear || matches!(step.body, Body::Broken(_)) {
            step.forget();
        }
        Some(step)
    }

    fn without_equals(&mut self, source: &StepTokens, name: &Ident, report: &mut Report) {
        if let Some(written) = HyphenatedName::new(name, &source.extra) {
            report.push(written.mistake);
            self.broken.extend(written.parts);
        } else if source.ty.is_none() {
            let at = first(&source.extra).map_or(name.span(), |tree| tree.span());
            let message =
                format!("expected `=` and the body of the step: `step {name} = Tool {{ … }};`");
            report.error_at(at, message);
        }
    }
}

impl Step {
    /// Reads the tokens after the `=`.
    fn read_work(
        &mut self,
        source: &StepTokens,
        equals: Span,
        statement: &Statement,
        report: &mut Report,
    ) {
        let (name, end) = (&self.name, statement.end);
        let (written, extra) = (&source.value, &source.extra);
        let written_type = source.ty.as_ref().map(|(_, ty)| ty);
        let mut value = Tokens::new(quote!(#written #extra));
        report.extend(mistakes::step::doubled_equals(equals, &mut value));
        let misplaced = value.attributes();
        let value = value.rest();
        if !misplaced.is_empty() {
            let late = mistakes::step::late_attributes(&misplaced, name, written_type, &value);
            report.push(late);
        }
        let ended = statement.semicolon || value.is_empty();
        report.extend(mistakes::step::end(source, ended, end));
        if value.is_empty() {
            let message = format!("expected the body of the step: `step {name} = Tool {{ … }};`");
            report.error_at(equals, message);
            return;
        }
        let body = match written_type {
            None => {
                let step = name;
                WorkReader { step, report }.work(value, end, Position::Statement)
            }
            Some(ty) => computed(value, end, ty, name, report),
        };
        if written_type.is_none() || self.ty.is_some() {
            self.body = body;
        }
    }
}

/// Reads the value of a step with a type.
fn computed(
    value: TokenStream,
    end: Span,
    ty: &TokenStream,
    name: &Ident,
    report: &mut Report,
) -> Body {
    if let Some(word) = only(&value).filter(|word| is_word(word, "await")) {
        return Body::Await(word.span());
    }
    let wrong = mistakes::step::work_with_type(&value, ty, name)
        .or_else(|| mistakes::foreign::with_type(&value, name));
    if let Some(wrong) = wrong {
        report.push(wrong);
        return Body::Broken(None);
    }
    Body::Compute(value::all(value, end, Position::Statement.end(), report))
}

/// Reads the type after the colon.
fn ty(source: &StepTokens, name: &Ident, report: &mut Report) -> Option<Type> {
    let (colon, ty) = source.ty.clone()?;
    let is_empty = ty.is_empty();
    if is_empty && mistakes::is_call(&source.value) {
        let message =
            format!("a step that calls a tool has no type\nhelp: write `step {name} = …;`");
        report.error_at(colon, message);
        return None;
    }
    if source.equals.is_none() {
        report.push(mistakes::step::no_value(ty, colon, name));
        return None;
    }
    let ty = owned::read(ty);
    if let Err(at) = &ty {
        report.error_at(
            if is_empty { colon } else { *at },
            format!("expected the type of the computed step: `step {name}: Type = …;`"),
        );
    }
    ty.ok().filter(|ty| owned::is_owned(ty, report))
}
