//! The types in the signature of a tool.

use crate::parse::owned::{self, each_type};
use crate::parse::tidy;
use crate::report::Report;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericArgument, Ident, Lifetime, PathArguments, PathSegment, ReturnType, Signature,
    Type, TypeParamBound, TypeReference,
};

/// Returns `true` if an argument or the output has a type with this name.
pub(super) fn mentions(sig: &Signature, name: &Ident) -> bool {
    let mut found = false;
    let mut find = |ty: &Type| {
        if let Type::Path(path) = ty {
            let is_alone = path.path.leading_colon.is_none() && path.path.segments.len() == 1;
            found |= is_alone && path.path.segments[0].ident == *name;
        }
        true
    };
    for input in &sig.inputs {
        if let FnArg::Typed(input) = input
            && !matches!(&*input.ty, Type::Reference(_))
        {
            each_type(&input.ty, &mut find);
        }
    }
    if let ReturnType::Type(_, output) = &sig.output {
        each_type(output, &mut find);
    }
    found
}

pub(super) fn is_owned(ty: &Type, report: &mut Report) -> bool {
    Borrows::found(ty, true, report)
        & owned::is_sized(ty, report)
        & owned::has_own_parameters(ty, report)
}

/// Returns `true` for an owned type in a struct with `#[derive(Tool)]`. Its lifetimes are allowed, since serde makes an owned `Cow<'a, str>`.
pub(super) fn is_owned_in_struct(ty: &Type, report: &mut Report) -> bool {
    Borrows::found(ty, false, report) & owned::is_sized(ty, report)
}

pub(super) fn has_no_impl_trait(ty: &Type, report: &mut Report) -> bool {
    let before = report.len();
    each_type(ty, &mut |ty| {
        if matches!(ty, Type::ImplTrait(_)) {
            report.error(
                ty,
                "the arguments and the output of a tool must have types that can be named\nhelp: write the concrete type",
            );
        }
        true
    });
    report.len() == before
}

struct Borrows<'a> {
    report: &'a mut Report,
    /// `true` in the signature of a function, `false` in a struct.
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

/// Returns the output of a future that a function returns by name: `T` in `impl Future<Output = T>`, boxed or not.
pub(super) fn future(output: &ReturnType) -> Option<String> {
    struct Futures(Option<String>);
    impl<'ast> Visit<'ast> for Futures {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            if let ("Future", PathArguments::AngleBracketed(arguments)) =
                (&*segment.ident.to_string(), &segment.arguments)
            {
                self.0 = arguments.args.iter().find_map(|argument| match argument {
                    GenericArgument::AssocType(output) => Some(tidy(&output.ty)),
                    _ => None,
                });
            } else {
                visit::visit_path_segment(self, segment);
            }
        }
    }
    let mut futures = Futures(None);
    futures.visit_return_type(output);
    futures.0
}

/// The new names of lifetimes without a name, which an `impl` must name.
pub(super) struct Lifetimes(Vec<Lifetime>);

impl Lifetimes {
    /// Gives names to all lifetimes of a type, and returns the new names.
    pub(super) fn named_in(ty: &mut Type) -> Vec<Lifetime> {
        let mut lifetimes = Self(Vec::new());
        lifetimes.visit_type_mut(ty);
        lifetimes.bind_object(ty);
        lifetimes.0
    }

    fn fresh(&mut self, span: Span) -> Lifetime {
        let lifetime = Lifetime::new(&format!("'__app{}", self.0.len()), span);
        self.0.push(lifetime.clone());
        lifetime
    }

    /// Adds a lifetime to the object in `&dyn Mail`, because an `impl` would use `'static`.
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
