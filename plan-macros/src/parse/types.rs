//! The types that an author writes: of inputs, of the output, of computed steps.

use super::owned::{self, each_type, type_arguments};
use crate::report::Report;
use crate::syntax::text::tidy;
use crate::syntax::tokens::{drain, end_of};
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Type;
use syn::parse::{ParseStream, Parser};

/// Reads a type that consists of all the tokens, or returns the span of the unreadable token.
pub(super) fn read(tokens: TokenStream) -> Result<Type, Span> {
    let last = end_of(&tokens).unwrap_or_else(Span::call_site);
    let parser = |input: ParseStream<'_>| {
        let ty = input.parse::<Type>();
        // syn has no span for a token that is missing at the end.
        let at = if input.is_empty() { last } else { input.span() };
        let rest = drain(input);
        Ok(ty.ok().filter(|_| rest.is_empty()).ok_or(at))
    };
    parser.parse2(tokens).unwrap_or(Err(last))
}

/// Reports an input that no plan can have. The application comes from `run`.
pub(super) fn is_input(name: &Ident, ty: &Type, report: &mut Report) -> bool {
    match ty {
        Type::Reference(reference) if owned::may_be_application(&reference.elem) => {
            let elem = shown(&reference.elem);
            report.error(
                ty,
                format!("a plan owns its values, so their types cannot be references\nhelp: if `{name}` is the application, remove this input and write `run(&{name})`; if it is a value, write `{elem}`"),
            );
            false
        }
        ty => is_owned(ty, report),
    }
}

/// Reports a type that a value of a plan cannot have.
pub(super) fn is_owned(ty: &Type, report: &mut Report) -> bool {
    let before = report.len();
    if let Type::TraitObject(_) = ty {
        report.error(
            ty,
            "a plan's values are written as JSON and read again, so each has one type that is known: write that instead of `dyn`",
        );
    } else {
        each_type(ty, &mut |ty| is_named(ty, report));
        owned::is_sized(ty, report);
        owned::has_own_parameters(ty, report);
    }
    report.len() == before
}

/// Reports a reference, `impl` and `_`. Returns `true` if the types inside the type are values as well.
fn is_named(ty: &Type, report: &mut Report) -> bool {
    let message = match ty {
        Type::Reference(reference) => format!(
            "a plan owns its values, so their types cannot be references\nhelp: write {}",
            owned::instead(&reference.elem)
        ),
        Type::ImplTrait(_) => {
            "a plan's values have types that are written out: write the type instead of `impl`"
                .to_owned()
        }
        Type::Infer(_) => "a plan's values have types that are written out, not `_`".to_owned(),
        ty => return !matches!(ty, Type::FnPtr(_) | Type::TraitObject(_)),
    };
    report.error(ty, message);
    false
}

/// Returns the `T` of a `Result<T>`.
pub(super) fn result(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let mut arguments = type_arguments(last);
    let value = arguments.next().filter(|_| last.ident == "Result");
    value.filter(|_| arguments.next().is_none())
}

/// Returns a type as written.
pub(super) fn shown(ty: &Type) -> String {
    tidy(&ty.to_token_stream())
}
