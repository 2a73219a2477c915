//! Values: the names of references and expressions.

use super::super::facts::ComputedFacts;
use super::super::{
    ComputedNames, Meaning, Mention, Outcome, Source, braces, caught, computed, each, roles,
};
use super::Resolver;
use super::blocks::role_in;
use crate::ast::{
    Computed, Fields, Format, FormatPart, Hop, Json, Reference, Role, Scalar, Test, Value,
};
use crate::parse::tidy;
use crate::syntax::value::{self as syntax, ValueKind};
use proc_macro2::Span;
use quote::ToTokens;
use syn::{Expr, Ident, Lit};

impl<'t> Resolver<'_, 't> {
    pub(super) fn fields(&mut self, fields: &'t Fields) {
        match fields {
            Fields::Named(_, fields, _) => {
                for field in fields {
                    self.value(&field.value);
                }
                for pair in fields.windows(2) {
                    if self.names.is_unknown(&pair[1]) {
                        // `a: b,c` may be `a: b.c`.
                        self.names.facts.broken.insert(&pair[0].value, ());
                    }
                }
            }
            Fields::Unnamed(_, values) => values.iter().for_each(|value| self.value(value)),
            Fields::Unit => {}
        }
    }

    /// Resolves an amount of a policy, which the run evaluates at the start of the step.
    pub(super) fn amount(&mut self, amount: &'t Value) {
        let before = self.mentions.len();
        self.value(amount);
        let steps = self.mentions[before..]
            .iter()
            .filter(|mention| matches!(mention.source, Source::Step(_)));
        let steps: Vec<Ident> = steps.map(|mention| mention.name.clone()).collect();
        for step in &steps {
            let message = format!(
                "`{step}` is a step; policies take constants and inputs\nhelp: make it an input"
            );
            self.report.error(step, message);
        }
        let bound = match self.names.value(amount) {
            Value::Reference(reference) => {
                let local = self.names.facts.locals.get(reference);
                local.map(|_| &reference.root)
            }
            Value::Computed(computed) => {
                let facts = self.names.facts.computed.get(computed);
                let local = facts.and_then(|facts| facts.names.locals.first());
                local.map(|(name, _)| name)
            }
            _ => None,
        };
        if let Some(name) = bound {
            let message = format!(
                "`{name}` is bound inside the plan; policies take constants and inputs\nhelp: make it an input"
            );
            self.report.error(name, message);
        }
        if !steps.is_empty() || bound.is_some() {
            self.mentions.truncate(before);
            self.names.facts.broken.insert(amount, ());
        }
    }

    /// Resolves a value that must be `true` or `false`.
    pub(super) fn truth(&mut self, value: &'t Value) {
        self.value(value);
        if let Value::Reference(reference) = self.names.value(value)
            && self.names.outcome(reference) == Outcome::One
        {
            let message = caught::no_condition(reference);
            self.report.error(&reference.root, message);
            self.names.facts.broken.insert(value, ());
        }
    }

    pub(super) fn value(&mut self, value: &'t Value) {
        let before = self.report.len();
        if !self.parts_of(value) {
            self.names.facts.broken.insert(value, ());
        }
        // Two uses of one unknown name are one error.
        self.report.keep_one_of_each(before);
    }

    /// Returns `false` for a value with an error.
    fn parts_of(&mut self, value: &'t Value) -> bool {
        match value {
            Value::Scalar(Scalar {
                lit: Lit::Str(text),
                ..
            }) => {
                let meant = braces::meant(text, &|name| self.shown(name));
                let meant = meant.map(|call| (text.span(), call));
                self.names.facts.braces.extend(meant);
            }
            Value::Scalar(_) | Value::None(_) | Value::Broken => {}
            Value::Some(_, _, value) => self.value(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                let before = self.report.len();
                values.iter().for_each(|value| self.value(value));
                // `(a,b)` may be `a.b`, so the number of values is unknown.
                let is_broken = |value| matches!(self.names.value(value), Value::Broken);
                return self.report.len() == before || !values.iter().any(is_broken);
            }
            Value::Literal(literal) => self.fields(&literal.fields),
            Value::Json(_, json) => self.json(json),
            Value::Format(format) => self.format(format),
            Value::Reference(reference) => return self.reference(reference),
            Value::Computed(computed) => {
                let borrowed = borrowed(&computed.expr);
                let ok = self.computed(computed);
                let facts = self.names.facts.computed.get(computed);
                let names = facts.map(|facts| &facts.names);
                let has_names = |it: &ComputedNames| it.sources.len() + it.locals.len() > 0;
                if let Some((at, owned)) = borrowed
                    && ok
                    && names.is_some_and(has_names)
                {
                    let message = format!(
                        "a plan passes values, not references to them\nhelp: write `{owned}`"
                    );
                    self.report.error_at(at, message);
                    return false;
                }
                return ok;
            }
        }
        true
    }

    /// Resolves the arguments of `format!`, which may borrow values.
    fn format(&mut self, format: &'t Format) {
        for (place, value) in format.args.iter().enumerate() {
            match value {
                Value::Computed(computed) => {
                    if !self.computed(computed) {
                        self.names.facts.broken.insert(value, ());
                    }
                }
                value => self.value(value),
            }
            let is_shown = |part: &FormatPart| matches!(part, FormatPart::Placeholder { arg, spec } if *arg == place && !spec.ends_with('?'));
            if let Value::Reference(reference) = self.names.value(value)
                && self.names.outcome(reference) == Outcome::One
                && format.parts.iter().any(is_shown)
            {
                let written = reference.written();
                self.report.error(
                    &reference.root,
                    format!("`{written}` may have failed: it is a `Result`, which `{{}}` cannot show\nhelp: write `{written}?`, which fails if `{written}` failed, or `{{:?}}`"),
                );
                self.names.facts.broken.insert(value, ());
            }
        }
    }

    fn json(&mut self, json: &'t Json) {
        match json {
            Json::Null => {}
            Json::Value(value) => self.value(value),
            Json::List(elements) => elements.iter().for_each(|element| self.json(element)),
            Json::Object(members) => members.iter().for_each(|(_, member)| self.json(member)),
        }
    }

    /// Returns the form in which `format!` can show a name of the plan.
    fn shown(&self, name: &Ident) -> Option<braces::Shown> {
        if self.frames.get(name).is_some() {
            return Some(braces::Shown::default());
        }
        let source = self.names.get_in(self.frames.scope, name)?;
        Some(braces::Shown {
            lists: caught::lists(self.names, name, source, self.role_of(source)),
            form: braces::form(self.names, source),
        })
    }

    /// Returns the role of the step around a value, in the block of the source.
    fn role_of(&self, source: Source) -> &Role {
        role_in(&self.blocks, self.names.scope_of(source))
    }

    /// Returns `false` for a reference with an error, which is reported.
    pub(super) fn reference(&mut self, reference: &'t Reference) -> bool {
        let name = &reference.root;
        match self.names.find(name, &self.frames) {
            Meaning::Local(local) => {
                self.names.facts.locals.insert(reference, local);
                self.frames.mention(name);
                self.capture_local(name, local);
            }
            Meaning::Source(source) => {
                self.mentions.push(Mention {
                    name: name.clone(),
                    source,
                    whole: reference.hops.is_empty(),
                });
                self.capture_source(name, source);
                let role = self.role_of(source);
                if roles::is_late(self.names, source, role) {
                    return false;
                }
                if let Some(at) = caught::each_meant(self.names, reference, source, role) {
                    self.means_each(source, at, &reference.written());
                    return false;
                }
                if let Some((at, message)) = caught::mistake(self.names, reference, source, role) {
                    self.report.error_at(at, message);
                    return false;
                }
                let outcome = caught::outcome(self.names, reference, source, role);
                self.names.facts.outcomes.insert(reference, outcome);
            }
            Meaning::Broken => {
                let asks = matches!(
                    reference.hops.first(),
                    Some(Hop::Optional(_) | Hop::Outcome(..))
                );
                let mut elements = self.elements.iter_mut().rev();
                if let Some((_, asked)) = elements.find(|(element, _)| element == name) {
                    *asked |= asks;
                }
                return false;
            }
            Meaning::Unknown => {
                let (message, _) = self.names.unknown(name, &self.frames);
                self.report.error(name, message);
                return false;
            }
        }
        true
    }

    /// Returns `false` for an expression with an error, which is reported.
    pub(super) fn computed(&mut self, computed: &'t Computed) -> bool {
        let (names, frames) = (&*self.names, &self.frames);
        let blocks = &*self.blocks;
        let is_caught = |name: &Ident| {
            let source = names.get_in(frames.scope, name);
            source.is_some_and(|source| {
                let role = role_in(blocks, names.scope_of(source));
                caught::is_caught(names, name, source, role)
            })
        };
        let each = caught::each_meant_in(names, &computed.expr, |name| {
            let source = names.get_in(frames.scope, name);
            source.filter(|_| frames.get(name).is_none() && is_caught(name))
        });
        for (element, asked) in &mut self.elements {
            *asked |= each::asks(&computed.expr, element);
        }
        let (facts, ok) = computed::analyze(computed, names, frames, &is_caught, self.report);
        for (name, local) in &facts.names.locals {
            self.frames.mention(name);
            self.capture_local(name, *local);
        }
        let mut sources = Vec::new();
        for name in &facts.names.sources {
            if let Some(source) = self.names.get_in(self.frames.scope, name) {
                self.capture_source(name, source);
                sources.push((name, source));
            }
        }
        let is_late =
            |(_, source): &(_, Source)| roles::is_late(self.names, *source, self.role_of(*source));
        let is_late = sources.iter().any(is_late);
        if let Some((source, at, written)) = each.filter(|_| !is_late) {
            self.means_each(source, at, &written);
            return false;
        }
        let role_of = |source| self.role_of(source);
        let mistake = caught::mistake_in(self.names, &facts.names, &sources, role_of);
        if let Some((at, message)) = mistake.filter(|_| !is_late) {
            self.report.error_at(at, message);
            return false;
        }
        if let Some(test) = &computed.test
            && let Some(reference) = self.caught_truth(test).filter(|_| !is_late)
        {
            self.report
                .error(&reference.root, caught::no_condition(&reference));
            return false;
        }
        if ok {
            let mentions = sources.into_iter().map(|(name, source)| Mention {
                name: name.clone(),
                source,
                whole: true,
            });
            self.mentions.extend(mentions);
        }
        let is_test = facts.is_test && self.test(computed);
        let facts = ComputedFacts { is_test, ..facts };
        self.names.facts.computed.insert(computed, facts);
        ok && !is_late
    }

    /// Resolves the references of a test. Returns `false` if a name is unknown.
    fn test(&mut self, computed: &'t Computed) -> bool {
        let mut is_known = true;
        if let Some(test) = &computed.test {
            test.references(
                &mut |reference| match self.names.find(&reference.root, &self.frames) {
                    Meaning::Local(local) => self.names.facts.locals.insert(reference, local),
                    Meaning::Source(_) => {}
                    Meaning::Broken | Meaning::Unknown => is_known = false,
                },
            );
        }
        is_known
    }

    /// Returns the first operand of a test that is the `Result` of a step where the test needs a `bool`.
    fn caught_truth(&self, test: &Test) -> Option<Reference> {
        let is_caught = |reference: &&Reference| {
            let Meaning::Source(source) = self.names.find(&reference.root, &self.frames) else {
                return false;
            };
            caught::outcome(self.names, reference, source, self.role_of(source)) == Outcome::One
        };
        caught::truths(test).into_iter().find(is_caught).cloned()
    }
}

/// Returns the span of `&` in a borrowed place expression, and the expression. No argument takes a reference.
fn borrowed(expr: &Expr) -> Option<(Span, String)> {
    let Expr::Reference(reference) = expr else {
        return None;
    };
    let (item, rest) = syntax::value(reference.expr.to_token_stream());
    let is_place = matches!(item.kind, ValueKind::Reference(..));
    (is_place && item.extra.is_empty() && rest.is_empty())
        .then(|| (reference.and_token.span, tidy(&reference.expr)))
}
