//! The types that values can have: owned, and of a known size.

use super::tidy;
use crate::docs::is_among;
use crate::report::Report;
use crate::syntax::tokens::{drain, end_of};
use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{GenericArgument, Ident, PathArguments, PathSegment, Type, TypePath};

/// Types that JSON can hold, if it can hold their parameters.
pub(crate) const KNOWN: &str = "bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize str String Value Option \
    Vec VecDeque Box BTreeMap BTreeSet HashMap HashSet";

/// Reports each type without a size in a position that needs a size. Returns `true` if there is no such type.
pub(crate) fn is_sized(ty: &Type, report: &mut Report) -> bool {
    let mut found = Vec::new();
    unsized_in(ty, &mut found);
    for ty in &found {
        report.error(
            ty,
            format_args!(
                "`{}` has no known size, so no value has this type\nhelp: write {}",
                tidy(ty),
                instead(ty)
            ),
        );
    }
    found.is_empty()
}

/// Reports types of the standard library with too many parameters, and returns `true` if there are none. rustc would
/// repeat the error for each use of the type.
pub(crate) fn has_own_parameters(ty: &Type, report: &mut Report) -> bool {
    let before = report.len();
    each_type(ty, &mut |ty| {
        let Type::Path(path) = ty else { return true };
        let mut segments = path.path.segments.iter();
        let extra = segments.find_map(|it| Some((it, extra_parameters(it)?)));
        if let Some((segment, message)) = &extra {
            report.error(segment, message);
        }
        extra.is_none()
    });
    report.len() == before
}

/// Calls `f` with a type, and with the types inside each type for which `f` returns `true`.
pub(crate) fn each_type(ty: &Type, f: &mut dyn FnMut(&Type) -> bool) {
    struct Visited<'f>(&'f mut dyn FnMut(&Type) -> bool);
    impl<'ast> Visit<'ast> for Visited<'_> {
        fn visit_type(&mut self, ty: &'ast Type) {
            if (self.0)(ty) {
                visit::visit_type(self, ty);
            }
        }
    }
    Visited(f).visit_type(ty);
}

/// Returns the last name of a path, with its parameters.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Returns the parameters of a `Result`.
pub(crate) fn result(ty: &Type) -> Option<Vec<&Type>> {
    let result = last_segment(ty).filter(|last| last.ident == "Result")?;
    Some(type_arguments(result).collect())
}

/// Returns the types among the parameters of a path.
pub(crate) fn type_arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    let arguments = arguments.into_iter().flatten();
    arguments.filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns two counts of the parameters of a standard type: types of values, and hashers or allocators.
pub(crate) fn parameters(name: &Ident) -> Option<(usize, usize)> {
    match &*name.to_string() {
        "Option" => Some((1, 0)),
        "Vec" | "VecDeque" | "Box" | "BTreeSet" | "HashSet" => Some((1, 1)),
        "BTreeMap" | "HashMap" => Some((2, 1)),
        _ => None,
    }
}

/// Returns the error of a standard type with too many parameters.
fn extra_parameters(segment: &PathSegment) -> Option<String> {
    let name = &segment.ident;
    let (values, others) = parameters(name)?;
    let types: Vec<&Type> = type_arguments(segment).collect();
    // No hasher and no allocator has the name of a type of values.
    let is_of_values = |ty: &&Type| last_segment(ty).is_some_and(is_container);
    if types.len() <= values
        || types.len() <= values + others && !types[values..].iter().any(is_of_values)
    {
        return None;
    }
    let shown = |types: &[&Type]| -> String {
        let types = types.iter().map(tidy);
        types.collect::<Vec<_>>().join(", ")
    };
    let key = match values {
        1 => String::new(),
        _ => format!("{}, ", shown(&types[..1])),
    };
    let plural = if values == 1 { "type" } else { "types" };
    let tuple = shown(&types[values - 1..]);
    Some(format!(
        "`{name}` takes {values} {plural}, not {}\nhelp: for a tuple, write `{name}<{key}({tuple})>`",
        types.len()
    ))
}

/// Returns the type that replaces a reference to `ty`, with its backticks.
pub(crate) fn instead(ty: &Type) -> String {
    let shown = match ty {
        Type::Slice(slice) => format!("Vec<{}>", tidy(&slice.elem)),
        Type::Path(path) => match unsized_path(path) {
            Some(owned) => owned.to_owned(),
            None => tidy(path),
        },
        Type::TraitObject(_) => return "the concrete type".to_owned(),
        _ => return "the type without `&`".to_owned(),
    };
    format!("`{shown}`")
}

fn unsized_in<'a>(ty: &'a Type, found: &mut Vec<&'a Type>) {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => found.push(ty),
        Type::Path(path) if unsized_path(path).is_some() => found.push(ty),
        Type::Path(_) => {
            if let Some(last) = last_segment(ty) {
                unsized_in_arguments(last, found);
            }
        }
        Type::Paren(paren) => unsized_in(&paren.elem, found),
        Type::Group(group) => unsized_in(&group.elem, found),
        Type::Array(array) => unsized_in(&array.elem, found),
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| unsized_in(ty, found)),
        _ => {}
    }
}

fn unsized_in_arguments<'a>(segment: &'a PathSegment, found: &mut Vec<&'a Type>) {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return;
    };
    let points = is_among(&segment.ident, "Box Rc Arc Cow");
    if !points && !is_container(segment) {
        return;
    }
    for argument in &arguments.args {
        match argument {
            GenericArgument::Type(Type::Slice(slice)) if points => unsized_in(&slice.elem, found),
            GenericArgument::Type(Type::TraitObject(_)) if points => {}
            GenericArgument::Type(Type::Path(path)) if points && unsized_path(path).is_some() => {}
            GenericArgument::Type(ty) => unsized_in(ty, found),
            _ => {}
        }
    }
}

/// Returns `true` for a type of the standard library whose parameters are the types of its values.
pub(crate) fn is_container(segment: &PathSegment) -> bool {
    is_among(&segment.ident, KNOWN) || is_among(&segment.ident, "Rc Arc Result")
}

/// Returns the owned type that replaces an unsized type of the standard library.
fn unsized_path(path: &TypePath) -> Option<&'static str> {
    if path.path.is_ident("str") {
        return Some("String");
    }
    let mut segments = path.path.segments.iter().rev().map(|it| &it.ident);
    let (name, module): (&Ident, &Ident) = (segments.next()?, segments.next()?);
    match (&*module.to_string(), &*name.to_string()) {
        ("path", "Path") => Some("std::path::PathBuf"),
        ("ffi", "OsStr") => Some("std::ffi::OsString"),
        ("ffi", "CStr") => Some("std::ffi::CString"),
        _ => None,
    }
}

/// Returns `true` for `str` and slices, which are often borrowed as arguments.
pub(crate) fn is_borrowed_value(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.is_ident("str") || path.path.is_ident("String"),
        Type::Slice(_) | Type::Array(_) => true,
        _ => false,
    }
}

/// Returns `true` if `&ty` is probably the application.
pub(crate) fn may_be_application(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let name = path.path.get_ident().map(Ident::to_string);
    !is_borrowed_value(ty) && name.is_some_and(|name| name.starts_with(char::is_uppercase))
}

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
        Type::Reference(reference) if may_be_application(&reference.elem) => {
            let elem = tidy(&reference.elem);
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
        is_sized(ty, report);
        has_own_parameters(ty, report);
    }
    report.len() == before
}

/// Reports a reference, `impl` and `_`. Returns `true` if the types inside the type are values as well.
fn is_named(ty: &Type, report: &mut Report) -> bool {
    let message = match ty {
        Type::Reference(reference) => format!(
            "a plan owns its values, so their types cannot be references\nhelp: write {}",
            instead(&reference.elem)
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
