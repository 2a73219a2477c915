//! Functions with a syntax error: rustc reports the error before it calls this macro, and plans still find the tool.

use super::function;
use crate::ide;
use crate::scan::tokens::Tokens;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Expr, FnArg, ItemFn, Stmt, Token, parse_quote};

/// `#[tool]` on tokens that syn cannot parse.
pub(super) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let Some(function) = Function::find(&item) else {
        return item;
    };
    if let Ok(parsed) = function.parse(&function.parameters) {
        return function::expand(options, parsed, None);
    }
    // An editor searches the unchanged tokens for the cursor.
    let nothing = Group::new(Delimiter::Parenthesis, TokenStream::new());
    match function.parse(&nothing) {
        Ok(mut parsed) if !ide::is_wanted() => {
            let (inputs, parameters) = Parameters::read(&function.parameters);
            parsed.sig.inputs = inputs;
            function::expand(options, parsed, Some(&parameters))
        }
        _ => item,
    }
}

/// The parts of a function's tokens.
struct Function {
    /// All before the parameters.
    before: TokenStream,
    parameters: Group,
    /// All between the parameters and the body.
    after: TokenStream,
    body: Group,
}

impl Function {
    fn find(item: &TokenStream) -> Option<Self> {
        let mut tokens = Tokens::new(item.clone());
        let mut before = tokens.take_until(|tokens| tokens.is_ident(0, "fn"));
        before.extend(tokens.take_until(is_parentheses));
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

    /// Parses all but the body, which stays as it is.
    fn parse(&self, parameters: &Group) -> syn::Result<ItemFn> {
        let Self {
            before,
            after,
            body,
            ..
        } = self;
        let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
        empty.set_span(body.span());
        let mut parsed: ItemFn = syn::parse2(quote!(#before #parameters #after #empty))?;
        let body = Expr::Verbatim(body.stream());
        parsed.block.stmts.push(Stmt::Expr(body, None));
        Ok(parsed)
    }
}

fn is_parentheses(tokens: &Tokens) -> bool {
    tokens.peek_group(0, Delimiter::Parenthesis).is_some()
}

/// Parameters without attributes, after a syntax error in one of them.
pub(super) struct Parameters(Group);

impl Parameters {
    /// Reads the parameters that have a name. If the type of a parameter cannot be parsed, the type is `_`.
    fn read(parameters: &Group) -> (Punctuated<FnArg, Token![,]>, Self) {
        let mut tokens = Tokens::new(parameters.stream());
        let mut inputs = Punctuated::new();
        while !tokens.is_empty() {
            let part = tokens.take_type(|tokens| tokens.is_punct(0, ','));
            let is_whole = syn::parse2::<FnArg>(part.clone()).is_ok();
            let mut part = Tokens::new(part);
            while !part.is_empty() {
                // A comma may be missing, or `>` before it.
                let mut one = part.attributes();
                one.extend(part.next());
                one.extend(part.next());
                one.extend(part.take_until(|tokens| !is_whole && begins(tokens)));
                inputs.extend(parameter(one, inputs.is_empty()));
            }
            tokens.next();
        }
        let mut bare = Group::new(
            Delimiter::Parenthesis,
            without_attributes(parameters.stream()),
        );
        // A parameter may lack its type at the end.
        bare.set_span(parameters.span_close());
        (inputs, Self(bare))
    }

    /// Returns code in an unused constant. rustc has reported the syntax error, and does not know the type of the parameter.
    pub(super) fn silent(&self, check: &TokenStream) -> TokenStream {
        let parameters = &self.0;
        quote! {
            #check::editor::items! { fn __unparsed #parameters {} }
            let _ = __unparsed as *const ();
            ::core::assert! { false, "the parameters cannot be parsed" }
        }
    }
}

/// Returns `true` if a parameter begins: `name:`.
fn begins(tokens: &Tokens) -> bool {
    tokens.peek_ident(0).is_some() && tokens.is_punct(1, ':') && !tokens.is_punct(2, ':')
}

fn parameter(tokens: TokenStream, is_first: bool) -> Option<FnArg> {
    if let Ok(parsed) = syn::parse2(tokens.clone()) {
        return Some(parsed);
    }
    let mut tokens = Tokens::new(tokens);
    tokens.attributes();
    let name = tokens.next_ident()?;
    let is_reference = |tree| matches!(tree, TokenTree::Punct(sign) if sign.as_char() == '&');
    // The application is not among the arguments.
    let is_application = is_first && tokens.rest().into_iter().any(is_reference);
    (!is_application).then(|| parse_quote!(#name: _))
}

/// The parameters without attributes that are for the struct of the arguments.
fn without_attributes(parameters: TokenStream) -> TokenStream {
    let mut tokens = Tokens::new(parameters);
    let mut rest = TokenStream::new();
    while !tokens.is_empty() {
        if tokens.is_punct(0, '#') && tokens.peek_group(1, Delimiter::Bracket).is_some() {
            tokens.next();
            tokens.next();
        } else {
            rest.extend(tokens.next());
        }
    }
    rest
}
