//! `pub Name(input: Type) -> Output { … }`, and `#![plan(…)]` before it.

use super::attribute::attributes;
use super::{functions, owned, tidy};
use crate::ast::{Header, Input, Inputs};
use crate::docs::text_of;
use crate::mistakes;
use crate::report::{Mistake, Report, mistake};
use crate::syntax::tokens::{Tokens, first, is_sign, starts_with};
use crate::syntax::{HeadTokens, InputTokens};
use plan_graph::StepAttribute;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Attribute, Ident, LitStr, Path, Token, Type, Visibility};

/// `#![plan(crate = path)]` at the very start.
pub(crate) fn krate(attrs: &[TokenStream], report: &mut Report) -> Option<Path> {
    let mut krate = None;
    for attr in attrs {
        let attr = Attribute::parse_inner.parse2(attr.clone());
        let Some(attr) = report.ok(attr.map(|mut attrs| attrs.remove(0))) else {
            continue;
        };
        if !attr.path().is_ident("plan") {
            let message = "the only inner attribute of a plan is `#![plan(crate = path)]`";
            report.error(attr, message);
            continue;
        }
        let parsed = attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                let message = "expected `crate = path`, the path of the crate `plan-runtime`";
                return Err(meta.error(message));
            }
            let value = meta.value()?;
            krate = Some(if value.peek(LitStr) {
                value.parse::<LitStr>()?.parse_with(Path::parse_mod_style)?
            } else {
                value.call(Path::parse_mod_style)?
            });
            Ok(())
        });
        report.ok(parsed);
    }
    krate
}

/// `pub Name(inputs) -> Output { … }`; `None` if it has no name that a struct can have.
pub(super) fn head(source: HeadTokens, report: &mut Report) -> Option<Header> {
    let mut items = Tokens::new(source.items.clone());
    if items.is_ident(0, "pub") {
        items.next();
    }
    if let Some(statement) = mistakes::statement(&items.rest()) {
        report.push(statement);
    }
    let before = report.len();
    if let Some(word) = report.ok(mistakes::head::before_name(&source))? {
        report.push(word);
    }
    let no_name = |at: &Span| mistakes::head::no_name(*at, source.inputs.is_some());
    let name = report.ok(source.name.as_ref().map_err(no_name))?.clone();
    if let Some(keyword) = mistakes::keyword(&name, "plan") {
        report.push(keyword);
        return None;
    }
    let given = report.len();
    let mut inputs = Inputs {
        unclear: source.inputs.is_none(),
        ..Inputs::default()
    };
    inputs.read(source.inputs.as_deref().unwrap_or_default(), report);
    let is_generic = !source.generics.is_empty();
    if is_generic {
        report.drop_since(given);
        let message = "a plan cannot be generic: its inputs and its output have concrete types";
        report.error(&source.generics, message);
        let read = inputs.read.drain(..).map(|input| input.name);
        inputs.broken.extend(read);
    }
    // If a part of the head lacks its brackets, the parser takes it for another part.
    let start = report.len();
    let extra = first(&source.extra);
    // The inputs may be in the second pair of parentheses.
    let is_doubled = matches!(&extra, Some(TokenTree::Group(_)));
    inputs.unclear |= is_doubled;
    report.extend(mistakes::head::before_output(&source, &name));
    // Without braces, the tokens of the type may contain anything. The type may also be a generic parameter.
    let is_read = source.braces && extra.is_none() && !is_generic;
    let arrow = source.output.is_some();
    let output = source.output.clone().filter(|_| is_read);
    let unclear_body = matches!(&output, Some((_, ty)) if owned::read(ty.clone()).is_err());
    let output = output.and_then(|(arrow, ty)| report.ok(self::output(arrow, ty)));
    let output = output.filter(|ty| owned::is_owned(ty, report));
    report.extend(mistakes::head::after_output(&source));
    report.drop_cascade(if is_doubled { given } else { start });
    let mut attrs = attributes(source.attrs, report).unwrap_or_default();
    attrs.retain(|attr| is_not_of_step(attr, "a plan", report));
    for attr in &mut attrs {
        report.extend(mistakes::head::repeated_derives(attr, "a plan"));
    }
    let vis = report.ok(Visibility::parse.parse2(source.vis));
    Some(Header {
        items: source.items,
        attrs,
        vis: vis.unwrap_or(Visibility::Inherited),
        name,
        inputs,
        unclear_body,
        may_have_output: arrow || report.len() > before,
        output,
    })
}

/// Reads the type after `->`.
fn output(arrow: Span, ty: TokenStream) -> Result<Type, Mistake> {
    if ty.is_empty() {
        let message = "expected the type of the plan's output after `->`";
        return Err(Mistake::at(arrow, message));
    }
    let message = "the type of the plan's output is not valid: write `-> Type`";
    let ty = owned::read(ty).map_err(|at| Mistake::at(at, message))?;
    match owned::result(&ty).as_deref() {
        Some([value]) => Err(mistake!(
            &ty,
            "a plan's output is the value of its last expression, and `run` adds the `Result`\nhelp: write `-> {}`",
            tidy(value)
        )),
        _ => Ok(ty),
    }
}

/// Reports an attribute that only steps have, or that rustc would apply to one of the items that the plan expands to.
fn is_not_of_step(attr: &Attribute, what: &str, report: &mut Report) -> bool {
    let name = attr.path().get_ident().map(Ident::to_string);
    let message = match name.as_deref() {
        Some("cfg") => format!(
            "{what} cannot have `#[cfg(…)]`: a plan has the same parts in every build\nhelp: write `#[cfg(…)]` above `plan!`"
        ),
        Some(name) if StepAttribute::named(name).is_some() => {
            format!("`#[{name}]` is for steps: {what} does not have it")
        }
        _ => return true,
    };
    report.error(attr.path(), message);
    false
}

impl Inputs {
    fn read(&mut self, source: &[InputTokens], report: &mut Report) {
        let next = source.iter().skip(1).map(Some).chain([None]);
        let mut was_wrong = false;
        for (one, next) in source.iter().zip(next) {
            let before = report.len();
            let is_part = is_part(one, was_wrong);
            let (name, ty, extra) = (&one.name, &one.ty, &one.extra);
            let mut tokens = Tokens::new(one.before.clone());
            let attrs = attributes(tokens.attributes(), report).unwrap_or_default();
            let word = tokens.rest();
            let tokens = quote!(#word #name #ty #extra);
            if let (true, Some(comma)) = (tokens.is_empty(), &one.comma) {
                let message = "expected an input before this comma: `name: Type`";
                report.push(Mistake::new(comma, message).certain());
                continue;
            }
            match input(tokens) {
                Ok(input) => self.push(Input { attrs, ..input }, report),
                Err(mistake) => {
                    // The input may contain the inputs after it.
                    let mut types = one.ty.clone().into_iter();
                    self.unclear |= types.any(|tree| is_sign(&tree, ','));
                    // A reference to the input is no error.
                    self.broken.extend(one.name.clone());
                    if !(is_part && was_wrong) {
                        report.push(mistake);
                    }
                    if is_part {
                        // The parameter may be a part of the previous input.
                        self.unclear = true;
                        self.broken.extend(self.read.pop().map(|input| input.name));
                    }
                }
            }
            was_wrong = report.len() > before || is_part;
            if let (None, Some(next), false) = (&one.comma, next, was_wrong) {
                report.error(&next.name, "expected `,` before this input");
            }
        }
    }

    fn push(&mut self, mut input: Input, report: &mut Report) {
        input
            .attrs
            .retain(|attr| is_not_of_step(attr, "an input", report));
        let (name, refused) = (text_of(&input.name), functions::READ_OR_WRITE);
        if !functions::refuse(&input.attrs, "input", &name, &input.ty, refused, report) {
            input.attrs.retain(|attr| !attr.path().is_ident("serde"));
        }
        if owned::is_input(&input.name, &input.ty, report) {
            self.read.push(input);
        } else {
            self.broken.push(input.name);
        }
    }
}

/// Returns `true` for an input that may be a part of the input before it.
fn is_part(input: &InputTokens, was_wrong: bool) -> bool {
    match &input.name {
        Some(name) => {
            let is_type = was_wrong || name.to_string().starts_with(char::is_uppercase);
            is_type && name != "self" && !starts_with(&input.ty, ':')
        }
        None => !starts_with(&input.ty, '&'),
    }
}

/// `name: Type`
fn input(tokens: TokenStream) -> syn::Result<Input> {
    let parser = |input: ParseStream<'_>| {
        if input.peek(Token![self]) || input.peek(Token![mut]) || input.peek(Token![pub]) {
            return Err(input.error("expected the name of an input"));
        }
        let name = input.call(Ident::parse_any)?;
        input.parse::<Token![:]>()?;
        let (attrs, ty) = (Vec::new(), input.parse()?);
        Ok(Input { attrs, name, ty })
    };
    let input = parser.parse2(tokens.clone());
    input.map_err(|error| mistakes::head::not_an_input(tokens, error))
}
