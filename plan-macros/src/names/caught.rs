//! Steps whose failures are values, and references to either the `Result` or its content.

use super::{ComputedNames, Names, Outcome, Source, each};
use crate::ast::{Body, Extent, Hop, Reference, Role, Step, Test};
use crate::docs::text_of;
use plan_graph::StepAttribute;
use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Member};

/// Returns the span of `#[catch]` on a step that is one `Result` of a list, if a reference needs the `Result` of
/// each element.
pub(super) fn each_meant(
    names: &Names<'_>,
    reference: &Reference,
    source: Source,
    role: &Role,
) -> Option<Span> {
    let (at, depth) = one_list(names.step(source)?)?;
    if !is_caught(names, &reference.root, source, role) {
        return None;
    }
    let is_question = matches!(
        reference.hops.get(depth)?,
        Hop::Optional(_) | Hop::Outcome(..)
    );
    (is_question && reference.hops[..depth].iter().all(is_list)).then_some(at)
}

/// Returns the step and its `#[catch]` if Rust code needs the `Result` of each element, with the code.
pub(super) fn each_meant_in(
    names: &Names<'_>,
    expr: &Expr,
    source: impl Fn(&Ident) -> Option<Source>,
) -> Option<(Source, Span, String)> {
    let named = |name: &Ident| {
        let source = source(name)?;
        Some((source, list(names, source)?))
    };
    let (name, written) = each::asked(expr, &|name| named(name).is_some())?;
    let (source, at) = named(&name)?;
    Some((source, at, written))
}

/// Returns the span of `#[catch]` on a step that is one `Result` of a list without inner lists.
pub(super) fn list(names: &Names<'_>, source: Source) -> Option<Span> {
    let (at, depth) = one_list(names.step(source)?)?;
    (depth == 1).then_some(at)
}

/// Returns the number of lists around the `Result` of a step, for a reader with this role. Returns `None` if the
/// step is no `Result`.
pub(super) fn lists(names: &Names<'_>, name: &Ident, source: Source, role: &Role) -> Option<usize> {
    let step = names.step(source)?;
    let lists = lists_of(step);
    match role {
        Role::Always if !matches!(step.role, Role::Undo(_)) => Some(0),
        // The undo step sees the output of the call.
        Role::Undo(undone) if undone.unraw() == name.unraw() => lists.filter(|lists| *lists > 0),
        _ => lists,
    }
}

/// Returns the span and the message of an error in a reference into a `Result`.
pub(super) fn mistake(
    names: &Names<'_>,
    reference: &Reference,
    source: Source,
    role: &Role,
) -> Option<(Span, String)> {
    let lists = lists(names, &reference.root, source, role)?;
    if !reference.hops.get(..lists)?.iter().all(is_list) {
        return None;
    }
    let hop = reference.hops.get(lists)?;
    let at = match hop {
        Hop::Field(_, Member::Named(name)) => name.span(),
        Hop::Field(_, member) => member.span(),
        Hop::Index(bracket, _) | Hop::Key(bracket, _) | Hop::Each(bracket) => bracket.span.join(),
        Hop::Get(_, method, _) | Hop::Pointer(_, method, _) => method.span(),
        Hop::Optional(_) | Hop::Outcome(..) => return None,
    };
    let (before, whole) = (reference.written_to(lists), reference.written());
    let rest = &whole[before.len()..];
    let each = match (hop, names.step(source).and_then(one_list)) {
        (Hop::Index(..) | Hop::Each(_), Some((_, 1))) => {
            let element = reference.written_to(lists + 1);
            let rest = &whole[element.len()..];
            format!(
                "\nhelp: for a `Result` of each element, write `#[catch(each)]` on `{before}`, and `{element}?{rest}` here"
            )
        }
        _ => String::new(),
    };
    let message = format!(
        "`{before}` may have failed: it is a `Result`\n\
         help: write `{before}?{rest}`, which fails if `{before}` failed, or `{before}.ok()?{rest}`, which is optional{each}"
    );
    Some((at, message))
}

/// Returns the failures among the values of a reference.
pub(super) fn outcome(
    names: &Names<'_>,
    reference: &Reference,
    source: Source,
    role: &Role,
) -> Outcome {
    let lists = lists(names, &reference.root, source, role);
    let step = names.step(source);
    let is_optional = step.is_some_and(|step| step.policy.is_optional());
    if lists.is_some_and(|lists| reference.hops.len() == lists)
        && reference.hops.iter().all(is_list)
    {
        Outcome::One
    } else if lists == Some(1) && reference.hops.is_empty() && !is_optional {
        Outcome::Each
    } else {
        Outcome::None
    }
}

/// Returns `true` if a name belongs to a step that is a `Result`.
pub(super) fn is_caught(names: &Names<'_>, name: &Ident, source: Source, role: &Role) -> bool {
    lists(names, name, source, role) == Some(0)
}

/// Like [`mistake`], for references in Rust code.
pub(super) fn mistake_in<'r>(
    names: &Names<'_>,
    computed: &ComputedNames,
    sources: &[(&Ident, Source)],
    role: impl Fn(Source) -> &'r Role,
) -> Option<(Span, String)> {
    let is_caught = |name: &Ident| {
        let mut sources = sources.iter();
        let source = sources.find(|(known, _)| known.unraw() == name.unraw());
        source.is_some_and(|(_, source)| self::is_caught(names, name, *source, role(*source)))
    };
    let is_local = |name: &Ident| computed.locals.iter().any(|(local, _)| local == name);
    let mut fields = computed.fields.iter();
    let (name, member) = fields.find(|(name, _)| is_caught(name) && !is_local(name))?;
    let (name, field) = (text_of(name), member.to_token_stream());
    let message = format!(
        "`{name}` may have failed: it is a `Result`\n\
         help: write `{name}?.{field}`, which fails if `{name}` failed, or match on the result: `match &{name} {{ Ok(it) => it.{field}, Err(failure) => … }}`"
    );
    Some((member.span(), message))
}

/// Writes the error about a `#[catch]` for code that needs the `Result` of each element.
pub(super) fn means_each(written: &str) -> String {
    format!(
        "`#[catch]` gives one `Result` for the whole `for`, but `{written}` needs a `Result` for each element\n\
         help: write `#[catch(each)]`"
    )
}

/// Returns the references of a test whose values must be `true` or `false`.
pub(super) fn truths(test: &Test) -> Vec<&Reference> {
    match test {
        Test::Reference(reference) => vec![reference],
        Test::All(tests) | Test::Any(tests) => tests.iter().flat_map(truths).collect(),
        Test::Not(test) => truths(test),
        Test::Compare(..)
        | Test::Ask(..)
        | Test::Some(_)
        | Test::Outcome(_)
        | Test::Scalar(_)
        | Test::Constant(_) => Vec::new(),
    }
}

/// Writes the error for the `Result` of a step as a condition.
pub(super) fn no_condition(reference: &Reference) -> String {
    let written = reference.written();
    format!(
        "`{written}` may have failed: it is a `Result`, not a condition\n\
         help: write `{written}.is_ok()`, or `{written}?` if the value of the step is a `bool`"
    )
}

/// Returns the number of lists around the `Result` of a step, or `None` if the step returns no `Result`.
fn lists_of(step: &Step) -> Option<usize> {
    match step.policy.catch {
        Extent::Nothing => None,
        Extent::Whole => Some(0),
        Extent::Each => Some(innermost(&step.body).0).filter(|depth| *depth > 0),
    }
}

/// Returns the span of the attribute and the depth of nested lists, for a step whose output is one `Result` of a list.
fn one_list(step: &Step) -> Option<(Span, usize)> {
    let at = step.policy.place(StepAttribute::Catch);
    let at = at.filter(|_| lists_of(step) == Some(0))?;
    let (depth, element) = innermost(&step.body);
    // A `?` after an element may take a value out of an `Option`.
    (depth > 0 && !element.may_be_absent()).then_some((at, depth))
}

/// Returns the depth of nested `for`s, and the body of the innermost `for`.
fn innermost(mut body: &Body) -> (usize, &Body) {
    let mut depth = 0;
    while let Body::For(repeat) = body {
        (depth, body) = (depth + 1, &repeat.body);
    }
    (depth, body)
}

fn is_list(hop: &Hop) -> bool {
    matches!(hop, Hop::Index(..) | Hop::Each(_))
}
