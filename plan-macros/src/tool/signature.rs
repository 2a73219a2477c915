//! The contract of a tool from a function's signature, and errors about signatures that a tool cannot have.

use super::types::{self, Lifetimes, has_no_impl_trait, is_owned};
use crate::docs::{is_named, text_of};
use crate::parse::functions;
use crate::parse::owned::{self, is_borrowed_value, may_be_application};
use crate::report::Report;
use plan_graph::similar;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Ident, ItemFn, Lifetime, Meta, Pat, PatType, PatWild, ReturnType, Safety,
    Token, Type, TypeReference, parse_quote,
};

/// The parts of a function that define its tool.
#[derive(Default)]
pub(super) struct Signature {
    /// The type that the first parameter refers to.
    pub(super) application: Option<Application>,
    pub(super) arguments: Vec<Argument>,
    /// The parameter that gets the context of the call.
    pub(super) context: Option<ContextParameter>,
    /// The return type, if a tool can have it.
    pub(super) output: Option<Type>,
}

/// The application, with a name for every lifetime that its type leaves unnamed.
pub(super) struct Application {
    pub(super) ty: Type,
    pub(super) lifetimes: Vec<Lifetime>,
}

/// A parameter with `#[context]`.
pub(super) struct ContextParameter {
    /// The number of arguments before the context.
    pub(super) place: usize,
    pub(super) ty: Type,
}

pub(super) struct Argument {
    pub(super) attrs: Vec<Attribute>,
    pub(super) ident: Ident,
    /// The type of the argument, if an argument can have it.
    pub(super) ty: Option<Type>,
}

/// Reads the signature, reports each part that a tool cannot have, and moves the attributes for the struct off the
/// parameters.
pub(super) fn read(item: &mut ItemFn, report: &mut Report) -> Signature {
    qualifiers(item, report);
    let mut signature = Signature::default();
    for (i, input) in item.sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(input) = input {
            correct_context(input, report);
            correct_reference(input, i == 0, report);
        }
        match input {
            FnArg::Receiver(receiver) => report.error(
                receiver,
                "a tool is a free function\nhelp: move it out of the `impl`, and take the application as the first parameter: `app: &App`",
            ),
            FnArg::Typed(input) if input.attrs.iter().any(is_context) => {
                context(input, report);
                let place = signature.arguments.len();
                let ty = (*input.ty).clone();
                if signature.context.replace(ContextParameter { place, ty }).is_some() {
                    report.error(input, "a tool has one context\nhelp: remove this parameter");
                }
            }
            FnArg::Typed(input) => match &*input.ty {
                Type::Reference(reference) if i == 0 && !is_borrowed_value(&reference.elem) => {
                    let reference = reference.clone();
                    let no_generics = item.sig.generics.params.is_empty();
                    signature.application = application(&input.attrs, reference, no_generics, report);
                    input.attrs.retain(|attr| !is_for_struct(attr));
                }
                Type::Reference(reference)
                    if signature.application.is_none() && may_be_application(&reference.elem) =>
                {
                    let (pat, ty) = (&input.pat, &reference.elem);
                    report.error(
                        &input.ty,
                        format_args!(
                            "the application is the first parameter, and all others are owned\nhelp: if this is the application, move it to the front; if it is an argument, write `{}: {}`",
                            pat.to_token_stream(),
                            ty.to_token_stream(),
                        ),
                    );
                    input.attrs.retain(|attr| !is_for_struct(attr));
                }
                _ => {
                    if let Some(argument) = argument(input, i == 0, report) {
                        signature.add(argument, &mut input.pat, report);
                    }
                }
            },
        }
    }
    // rustc would report a second error.
    if let Some(variadic) = item.sig.variadic.take() {
        report.error(
            variadic,
            "a tool has a fixed list of arguments\nhelp: write `name: Vec<Type>`",
        );
    }
    signature.output = output(item, report);
    if !item.sig.generics.params.is_empty() {
        // The types mean nothing outside of the function.
        signature.output = None;
        signature.application = None;
        for argument in &mut signature.arguments {
            argument.ty = None;
        }
    }
    signature
}

impl Signature {
    /// Adds an argument with a new name.
    fn add(&mut self, argument: Argument, pat: &mut Pat, report: &mut Report) {
        let ident = &argument.ident;
        if self.arguments.iter().all(|other| other.ident != *ident) {
            self.arguments.push(argument);
            return;
        }
        let name = text_of(ident);
        report.error(
            ident,
            format!("the tool has more than one argument named `{name}`\nhelp: give this one another name"),
        );
        // A second error of rustc would repeat the message.
        *pat = wild(ident.span());
    }

    /// Replaces each `_` in the signature, which stands for a rejected type.
    pub(super) fn fill(&mut self, item: &mut ItemFn, unknown: &TokenStream) {
        let fill = |ty: &mut Type| {
            if matches!(ty, Type::Infer(_)) {
                *ty = Type::Verbatim(unknown.clone());
            }
        };
        for argument in &mut self.arguments {
            argument.ty.take_if(|ty| matches!(ty, Type::Infer(_)));
        }
        for input in &mut item.sig.inputs {
            if let FnArg::Typed(input) = input {
                fill(&mut input.ty);
            }
        }
        if let ReturnType::Type(_, ty) = &mut item.sig.output {
            fill(ty);
        }
    }
}

fn wild(at: Span) -> Pat {
    Pat::Wild(PatWild {
        attrs: Vec::new(),
        underscore_token: Token![_](at),
    })
}

/// Reports `&app: App`, and moves the `&` to the type.
fn correct_reference(input: &mut PatType, is_first: bool, report: &mut Report) {
    let Pat::Reference(reference) = &*input.pat else {
        return;
    };
    if !is_first || !matches!(&*reference.pat, Pat::Ident(_)) {
        return;
    }
    let (pat, ty) = (&reference.pat, &input.ty);
    let written = crate::parse::tidy(quote!(#pat: &#ty));
    report.error(
        reference,
        format_args!("the `&` of the application is before its type\nhelp: write `{written}`"),
    );
    input.ty = parse_quote!(&#ty);
    input.pat = reference.pat.clone();
}

/// Returns `true` for the attribute of the parameter that receives the context of the call.
fn is_context(attr: &Attribute) -> bool {
    attr.path().is_ident("context")
}

/// Takes the attributes off the context that are not for rustc.
fn context(input: &mut PatType, report: &mut Report) {
    for attr in &input.attrs {
        if is_context(attr) && !matches!(attr.meta, Meta::Path(_)) {
            report.error(
                attr,
                "`#[context]` has no options\nhelp: write `#[context]`",
            );
        } else if attr.path().is_ident("serde") {
            report.error(
                attr,
                "this parameter is the context of the call, not an argument of the tool",
            );
        }
    }
    input
        .attrs
        .retain(|attr| !is_context(attr) && !is_for_struct(attr));
}

fn qualifiers(item: &ItemFn, report: &mut Report) {
    let sig = &item.sig;
    if let Some(constness) = &sig.constness {
        report.error(
            constness,
            "a tool cannot be `const`: it runs when its step runs",
        );
    }
    if let Safety::Unsafe(safety) = &sig.safety {
        report.error(
            safety,
            "a tool cannot be `unsafe`: plans call it with any output of earlier steps",
        );
    }
    if let Some(abi) = &sig.abi {
        report.error(abi, "a tool cannot have an ABI: it is called from Rust");
    }
    if sig.asyncness.is_none() && types::future(&sig.output).is_none() {
        report.error(
            sig.fn_token,
            format_args!("a tool must be async\nhelp: write `async fn {}`", sig.ident),
        );
    }
    if !sig.generics.params.is_empty() {
        report.error(
            &sig.generics.params,
            "a tool is one type with one name, so its function cannot be generic\nhelp: write the concrete types; for a generic tool, write a struct with `#[derive(Tool)]` and `impl Call<App>` for it",
        );
    } else if let Some(clause) = &sig.generics.where_clause {
        report.error(
            clause,
            "a tool cannot be generic, so it needs no `where` clause",
        );
    }
}

fn application(
    attrs: &[Attribute],
    reference: TypeReference,
    refuse_lifetime: bool,
    report: &mut Report,
) -> Option<Application> {
    for attr in attrs {
        if attr.path().is_ident("serde") {
            report.error(
                attr,
                "this parameter is the application, not an argument of the tool",
            );
        }
    }
    if let Some(mutability) = reference.mutability {
        report.error(
            mutability,
            "steps run concurrently, so they share the application\nhelp: write `&` without `mut`, and put mutable state into a `Mutex` or use a channel",
        );
        return None;
    }
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident != "_"
    {
        if refuse_lifetime {
            report.error(
                lifetime,
                "a tool borrows its application for one call\nhelp: remove the lifetime",
            );
        }
        return None;
    }
    let mut ty = unwrapped(*reference.elem);
    if !has_no_impl_trait(&ty, report) {
        return None;
    }
    let lifetimes = Lifetimes::named_in(&mut ty);
    Some(Application { ty, lifetimes })
}

/// Removes the parentheses of `&(dyn Mail + Sync)`.
fn unwrapped(ty: Type) -> Type {
    match ty {
        Type::Paren(paren) => unwrapped(*paren.elem),
        Type::Group(group) => unwrapped(*group.elem),
        ty => ty,
    }
}

fn argument(input: &mut PatType, is_first: bool, report: &mut Report) -> Option<Argument> {
    let ident = match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        Pat::Ident(pat) => {
            report.error(
                pat,
                "an argument must be a plain name\nhelp: bind it in the body",
            );
            None
        }
        Pat::Wild(pat) => {
            let ty = input.ty.to_token_stream();
            report.error(
                pat,
                if is_first && may_be_application(&input.ty) {
                    format!("an argument needs a name, which plans use\nhelp: if this is the application, borrow it: `_: &{ty}`")
                } else {
                    "an argument needs a name, which plans use".to_owned()
                },
            );
            None
        }
        other => {
            report.error(
                other,
                "an argument must be a plain name, since plans use it\nhelp: destructure it in the body",
            );
            if matches!(other, Pat::Lit(_)) {
                // rustc would report a second error.
                *input.pat = wild(other.span());
            }
            None
        }
    };
    let (attrs, rest) = input.attrs.drain(..).partition(is_for_struct);
    input.attrs = rest;
    let mut attrs: Vec<Attribute> = attrs;
    attrs.extend(input.attrs.iter().filter(|attr| is_cfg(attr)).cloned());
    let name = ident.as_ref().map(text_of).unwrap_or_default();
    let refused = functions::READ;
    let is_as_its_type = functions::refuse(&attrs, "argument", &name, &input.ty, refused, report);
    // rustc would report a second error.
    attrs.retain(|attr| is_as_its_type || !attr.path().is_ident("serde"));
    let good = is_as_its_type
        && is_no_context(input, report)
        && is_owned(&input.ty, report)
        && has_no_impl_trait(&input.ty, report);
    let ty = good.then(|| (*input.ty).clone());
    let mut reported = Report::default();
    if !owned::is_sized(&input.ty, &mut reported)
        || !owned::has_own_parameters(&input.ty, &mut reported)
    {
        *input.ty = parse_quote!(_);
    }
    Some(Argument {
        attrs,
        ident: ident?,
        ty,
    })
}

/// Reports a `CallContext` among the arguments, which no plan can give.
fn is_no_context(input: &PatType, report: &mut Report) -> bool {
    let is_context = has_context_type(input);
    if is_context {
        report.error(
            input,
            format_args!(
                "no plan can give a `CallContext`: it is not an argument\nhelp: write `#[context] {}`",
                crate::parse::tidy(input)
            ),
        );
    }
    !is_context
}

fn has_context_type(input: &PatType) -> bool {
    let last = owned::last_segment(&input.ty);
    last.is_some_and(|last| last.ident == "CallContext" && last.arguments.is_none())
}

/// Reports an attribute that resembles `#[context]`, and corrects the attribute.
fn correct_context(input: &mut PatType, report: &mut Report) {
    if !has_context_type(input) || input.attrs.iter().any(is_context) {
        return;
    }
    for attr in &mut input.attrs {
        let name = attr.path().get_ident().map(Ident::to_string);
        let Some(name) = name.filter(|name| similar(name, ["context"]).is_some()) else {
            continue;
        };
        report.error(
            attr.path(),
            format_args!("a parameter has no attribute `{name}`\nhelp: write `#[context]`"),
        );
        *attr = parse_quote!(#[context]);
    }
}

fn output(item: &mut ItemFn, report: &mut Report) -> Option<Type> {
    if let Some(output) = types::future(&item.sig.output) {
        let (ty, name) = (&item.sig.output, &item.sig.ident);
        report.error(
            ty,
            format_args!("a tool is an `async fn`, which returns the output of its future\nhelp: write `async fn {name}(…) -> {output}`"),
        );
        item.sig.output = parse_quote!(-> _);
        return None;
    }
    match &mut item.sig.output {
        ReturnType::Type(_, ty) => {
            let good = is_owned(ty, report) & has_no_impl_trait(ty, report);
            if !good {
                // rustc has other words for a reference without a lifetime, and for a type without a size.
                **ty = parse_quote!(_);
                return None;
            }
            Some((**ty).clone())
        }
        ReturnType::Default => {
            report.error(
                &item.sig.ident,
                format_args!(
                    "a tool must return a `Result`, so that it can fail\nhelp: write `-> plan_runtime::Result<()>` and end `{}` with `Ok(())`",
                    item.sig.ident
                ),
            );
            None
        }
    }
}

/// Returns `true` for an attribute that belongs to the field of the parameter in the generated struct.
pub(super) fn is_for_struct(attr: &Attribute) -> bool {
    is_named(attr, "doc serde shape")
}

pub(super) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}
