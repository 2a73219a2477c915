//! Functions with a syntax error: rustc reports the error before it calls this macro, and plans still find the tool.

use super::function;
use super::parameters::{self, Parameters};
use crate::host;
use crate::syntax::tokens::{Tokens, enclosed};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::{Expr, ItemFn, Stmt, parse_quote};

/// `#[tool]` on tokens that syn cannot parse.
pub(super) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let Some(function) = Function::find(&item) else {
        return item;
    };
    if let Ok(parsed) = function.parse(&function.parameters) {
        return function::expand(options, parsed, None);
    }
    // An editor expects all tokens in the expansion.
    let nothing = Group::new(Delimiter::Parenthesis, TokenStream::new());
    match function.parse(&nothing) {
        Ok(mut parsed) if !host::is_editor() => {
            if let Some((inputs, is_body_valid)) = parameters::corrected(&function.parameters) {
                parsed.sig.inputs = inputs;
                parsed.attrs.push(parse_quote!(#[allow(unused_variables)]));
                if !is_body_valid {
                    parsed.block = parse_quote!({ ::core::unimplemented!() });
                }
                return function::expand(options, parsed, None);
            }
            let (inputs, parameters) = Parameters::read(&function.parameters);
            parsed.sig.inputs = inputs;
            function::expand(options, parsed, Some(&parameters))
        }
        _ => item,
    }
}

/// The parts of a function's tokens.
struct Function {
    /// The tokens before the parameters.
    before: TokenStream,
    parameters: Group,
    /// The tokens between the parameters and the body.
    after: TokenStream,
    body: Group,
}

impl Function {
    fn find(item: &TokenStream) -> Option<Self> {
        let mut tokens = Tokens::new(item.clone());
        let mut before = tokens.take_until(|tokens| tokens.is_ident(0, "fn"));
        let is_inputs = |it: &Tokens| it.peek_group(0, Delimiter::Parenthesis).is_some();
        before.extend(tokens.take_until(is_inputs));
        let Some(TokenTree::Group(parameters)) = tokens.next() else {
            return None;
        };
        let after = tokens.take_until(|tokens| tokens.is_braces(0));
        let body = tokens.next_braces()?;
        tokens.is_empty().then_some(Self {
            before,
            parameters,
            after,
            body,
        })
    }

    /// Parses the function except its body, which stays unchanged.
    fn parse(&self, parameters: &Group) -> syn::Result<ItemFn> {
        let Self {
            before,
            after,
            body,
            ..
        } = self;
        let empty = enclosed(Delimiter::Brace, TokenStream::new(), body.span());
        let mut parsed: ItemFn = syn::parse2(quote!(#before #parameters #after #empty))?;
        let body = Expr::Verbatim(body.stream());
        parsed.block.stmts.push(Stmt::Expr(body, None));
        Ok(parsed)
    }
}
