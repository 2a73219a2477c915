//! What the signature of a function says of a tool, and what a tool cannot have.

use crate::docs::text_of;
use crate::parse::functions;
use crate::parse::owned::{self, is_borrowed_value, may_be_application};
use crate::report::Report;
use plan_graph::similar;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, FnArg, Ident, ItemFn, Lifetime, Meta, Pat, PatType, PatWild, PathSegment,
    ReturnType, Safety, Token, Type, TypeImplTrait, TypeParamBound, TypePath, TypeReference,
    parse_quote,
};

/// What a function says of the tool that it is.
pub(super) struct Signature {
    /// The type that the first parameter refers to.
    pub(super) application: Option<Application>,
    pub(super) arguments: Vec<Argument>,
    /// The parameter that gets the context of the call.
    pub(super) context: Option<ContextParameter>,
    /// The return type, if it is one that a tool can have.
    pub(super) output: Option<Type>,
}

/// The application, with a name for every lifetime that its type leaves unnamed.
pub(super) struct Application {
    pub(super) ty: Type,
    pub(super) lifetimes: Vec<Lifetime>,
}

/// A parameter with `#[context]`.
pub(super) struct ContextParameter {
    /// How many arguments are before it.
    pub(super) place: usize,
    pub(super) ty: Type,
}

pub(super) struct Argument {
    pub(super) attrs: Vec<Attribute>,
    pub(super) ident: Ident,
    /// Its type, if it is one that an argument can have.
    pub(super) ty: Option<Type>,
}

/// Reads the signature, adds all that a tool cannot have to `report`, and takes the attributes that are meant for the
/// struct off the parameters.
pub(super) fn read(item: &mut ItemFn, report: &mut Report) -> Signature {
    qualifiers(item, report);
    let mut signature = Signature {
        application: None,
        arguments: Vec::new(),
        context: None,
        output: None,
    };
    for (i, input) in item.sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(input) = input {
            correct_context(input, report);
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
                    let read = argument(input, report);
                    let mut others = signature.arguments.iter();
                    match read {
                        Some(it) if others.any(|other| other.ident == it.ident) => {
                            let name = text_of(&it.ident);
                            report.error(
                                &it.ident,
                                format!("the tool has more than one argument named `{name}`\nhelp: give this one another name"),
                            );
                            // A second error of rustc would repeat the message.
                            *input.pat = Pat::Wild(PatWild {
                                attrs: Vec::new(),
                                underscore_token: Token![_](it.ident.span()),
                            });
                        }
                        read => signature.arguments.extend(read),
                    }
                }
            },
        }
    }
    if let Some(variadic) = &item.sig.variadic {
        report.error(variadic, "a tool has a fixed list of arguments");
    }
    signature.output = output(item, report);
    if !item.sig.generics.params.is_empty() {
        // The types mean nothing outside of the function.
        signature.output = None;
        for argument in &mut signature.arguments {
            argument.ty = None;
        }
    }
    signature
}

impl Signature {
    /// Replaces each `_` in the signature, which is in place of a type that was reported.
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

/// The attribute of the parameter that gets the context of the call.
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
    if sig.asyncness.is_none() {
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
    if !no_impl_trait(&ty, report) {
        return None;
    }
    let mut lifetimes = Lifetimes(Vec::new());
    lifetimes.visit_type_mut(&mut ty);
    lifetimes.bind_object(&mut ty);
    Some(Application {
        ty,
        lifetimes: lifetimes.0,
    })
}

/// The type without the parentheses of `&(dyn Mail + Sync)`.
fn unwrapped(ty: Type) -> Type {
    match ty {
        Type::Paren(paren) => unwrapped(*paren.elem),
        Type::Group(group) => unwrapped(*group.elem),
        ty => ty,
    }
}

fn argument(input: &mut PatType, report: &mut Report) -> Option<Argument> {
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
            report.error(pat, "an argument needs a name, which plans use");
            None
        }
        other => {
            report.error(
                other,
                "an argument must be a plain name, since plans use it\nhelp: destructure it in the body",
            );
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
        && no_impl_trait(&input.ty, report);
    let ty = good.then(|| (*input.ty).clone());
    if !owned::is_sized(&input.ty, &mut Report::default()) {
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
                crate::parse::tidy(&input.to_token_stream())
            ),
        );
    }
    !is_context
}

fn has_context_type(input: &PatType) -> bool {
    let Type::Path(path) = &*input.ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "CallContext" && last.arguments.is_none())
}

/// Reports an attribute that is meant as `#[context]`, and corrects the attribute.
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
    match &mut item.sig.output {
        ReturnType::Type(_, ty) => {
            let good = is_owned(ty, report) & no_impl_trait(ty, report);
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

/// Whether an argument or the output has a type with this name.
pub(super) fn mentions(sig: &syn::Signature, name: &Ident) -> bool {
    struct Mentions<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for Mentions<'_> {
        fn visit_type_path(&mut self, path: &'ast TypePath) {
            let path_alone = path.path.leading_colon.is_none() && path.path.segments.len() == 1;
            self.1 |= path_alone && path.path.segments[0].ident == *self.0;
            visit::visit_type_path(self, path);
        }
    }
    let mut mentions = Mentions(name, false);
    for input in &sig.inputs {
        if let FnArg::Typed(input) = input
            && !matches!(&*input.ty, Type::Reference(_))
        {
            mentions.visit_type(&input.ty);
        }
    }
    mentions.visit_return_type(&sig.output);
    mentions.1
}

/// Attributes that a parameter has for the field that becomes of it.
pub(super) fn is_for_struct(attr: &Attribute) -> bool {
    ["doc", "serde", "shape"]
        .iter()
        .any(|name| attr.path().is_ident(name))
}

pub(super) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg")
}

fn is_owned(ty: &Type, report: &mut Report) -> bool {
    Borrows::found(ty, true, report) & owned::is_sized(ty, report)
}

/// The same of a struct with `#[derive(Tool)]`, whose lifetimes serde may read: it makes an owned `Cow<'a, str>`.
pub(super) fn is_owned_in_struct(ty: &Type, report: &mut Report) -> bool {
    Borrows::found(ty, false, report) & owned::is_sized(ty, report)
}

fn no_impl_trait(ty: &Type, report: &mut Report) -> bool {
    let mut found = ImplTraits(Vec::new());
    found.visit_type(ty);
    for ty in &found.0 {
        report.error(
            ty,
            "the arguments and the output of a tool must have types that can be named\nhelp: write the concrete type",
        );
    }
    found.0.is_empty()
}

struct Borrows<'a> {
    report: &'a mut Report,
    /// Whether it is the signature of a function, and not a struct.
    of_function: bool,
    owned: bool,
}

impl<'a> Borrows<'a> {
    fn found(ty: &Type, of_function: bool, report: &'a mut Report) -> bool {
        let mut borrows = Self {
            report,
            of_function,
            owned: true,
        };
        borrows.visit_type(ty);
        borrows.owned
    }
}

impl<'ast> Visit<'ast> for Borrows<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.owned = false;
        let instead = owned::instead(&reference.elem);
        let only = if self.of_function {
            "; only the first parameter, the application, is borrowed"
        } else {
            ""
        };
        self.report.error(
            reference,
            format_args!(
                "the arguments and the output of a tool must be owned: they are deserialized from JSON and outlive the call\nhelp: write {instead}{only}"
            ),
        );
    }

    fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
        if self.of_function || segment.ident != "PhantomData" {
            visit::visit_path_segment(self, segment);
        }
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if self.of_function && lifetime.ident != "static" {
            self.owned = false;
            self.report.error(
                lifetime,
                "the arguments and the output of a tool must be owned: they are deserialized from JSON and outlive the call\nhelp: write a type without borrows, or use `'static`",
            );
        }
    }
}

struct ImplTraits(Vec<TypeImplTrait>);

impl<'ast> Visit<'ast> for ImplTraits {
    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        self.0.push(ty.clone());
        visit::visit_type_impl_trait(self, ty);
    }
}

/// Names the lifetimes that a parameter's type may leave unnamed and an `impl` may not.
struct Lifetimes(Vec<Lifetime>);

impl Lifetimes {
    fn fresh(&mut self, span: proc_macro2::Span) -> Lifetime {
        let lifetime = Lifetime::new(&format!("'__app{}", self.0.len()), span);
        self.0.push(lifetime.clone());
        lifetime
    }

    /// In `&dyn Mail`, the object lives as long as the reference; in an `impl` it would be `'static`.
    fn bind_object(&mut self, ty: &mut Type) {
        if let Type::TraitObject(object) = ty {
            let bound = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Lifetime(_));
            if !object.bounds.iter().any(bound) {
                let lifetime = self.fresh(object.span());
                object.bounds.push(TypeParamBound::Lifetime(lifetime));
            }
        }
    }
}

impl VisitMut for Lifetimes {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if lifetime.ident == "_" {
            *lifetime = self.fresh(lifetime.span());
        }
    }

    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        if reference.lifetime.is_none() {
            reference.lifetime = Some(self.fresh(reference.and_token.span));
        }
        visit_mut::visit_type_reference_mut(self, reference);
    }
}
